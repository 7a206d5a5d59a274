/* Convolutions of one tap are products of matrices: all pixels can lie in one row, of which kernels
 * and strips take as many at a time as suits them. So linear layers of several rows are such. */
#include "lower/memory.h"
#include "lower/packing.h"

#include <string.h>

bool conv2d_is_matrix(const CtnConv2dS8Args *a) {
    return a->kernel_h == 1 && a->kernel_w == 1 && a->stride_h == 1 && a->stride_w == 1 &&
           a->out_h == a->in_h && a->out_w == a->in_w;
}

void conv2d_to_one_row(Call *call, int block) {
    CtnConv2dS8Args *a = call->args;
    a->in_w = a->out_w = a->in_h * a->in_w * a->batches;
    a->in_h = a->out_h = a->batches = 1;
    call->block = block;
}

static void set_number(Call *call, const char *name, int32_t number) {
    const KernelField *f = kernel_field(call->kernel, name);
    ((int32_t *)call->args)[f->offset / 4] = number;
}

void linear_becomes_conv2d(C *c, Graph *g, Call *call, int kernel) {
    static const char *const ones[] = {"batches",    "in_h",     "out_h",    "kernel_h",
                                       "kernel_w",   "stride_h", "stride_w", "dilation_h",
                                       "dilation_w", "groups"};
    const Kernel *linear = kernel_at(call->kernel), *conv = kernel_at(kernel);
    const char *isa = call->variant->isa;
    const int32_t *old = call->args, rows = *call_ints(call, "rows");
    const int32_t depth = *call_ints(call, "depth"), columns = *call_ints(call, "columns");
    int32_t *args = c_calloc(c, (size_t)conv->args_bytes, 1);
    for (int r = 0; r < call->ref_count; r++)
        call->ref[r].field_offset = -1 - call->ref[r].field_offset; /* still the linear kernel's */
    for (int i = 0; i < linear->field_count; i++) {
        int from = linear->field[i].offset;
        const KernelField *to = kernel_field(kernel, linear->field[i].name);
        if (!to)
            continue;
        args[to->offset / 4] = old[from / 4];
        for (int r = 0; r < call->ref_count; r++)
            if (call->ref[r].field_offset == -1 - from)
                call->ref[r].field_offset = to->offset;
    }
    call->kernel = kernel;
    call->args = args;
    call->args_bytes = conv->args_bytes;
    for (size_t i = 0; i < COUNT_OF(ones); i++)
        set_number(call, ones[i], 1);
    set_number(call, "in_w", rows);
    set_number(call, "out_w", rows);
    set_number(call, "in_c", depth);
    set_number(call, "out_c", columns);
    call->variant = variant_choose(call, isa);
    call->variant->pack(c, g, call);
}
