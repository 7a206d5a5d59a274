/* Convolutions of one tap are products of matrices: all pixels can lie in one row, of which kernels
 * and strips take as many at a time as suits them. So linear layers of several rows are such. */
#include "dot_dsp.h"
#include "fix.h"
#include "lower/memory.h"
#include "lower/packing.h"

#include <string.h>

static int32_t *field_of(const Call *call, const char *name) {
    return (int32_t *)call->args + kernel_field(call->kernel, name)->offset / 4;
}

static uint32_t *ref_of(const Call *call, const char *name) {
    return (uint32_t *)field_of(call, name);
}

void constants_pack(Call *call, const char *what, DType element, const void *stream, int64_t bytes,
                    int align) {
    call_const(call, ref_of(call, "weights"), what, element, stream, bytes, align);
    call_absent(call, ref_of(call, "bias"));
    call_absent(call, ref_of(call, "multiplier"));
    call_absent(call, ref_of(call, "shift"));
}

void store_pack(Call *call) {
    int32_t *min = field_of(call, "clamp_min"), *max = field_of(call, "clamp_max");
    int8_t entry[256];
    if (call_ref_named(call, "table") || (*min == -128 && *max == 127))
        return;
    for (int i = 0; i < 256; i++)
        entry[i] = (int8_t)ctn_clamp(i - 128, *min, *max);
    call_const(call, ref_of(call, "table"), "clamp", DT_I8, entry, sizeof entry, 1);
    *min = -128;
    *max = 127;
}

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

static const struct {
    int linear, pixels, least; /* rows */
    const char *isa;           /* NULL: any level */
} as_pixels[] = {
    {CTN_KERNEL_linear_s8, CTN_KERNEL_conv2d_s8, CTN_DOT_ROWS, "dsp"},
    {CTN_KERNEL_linear_s8w4, CTN_KERNEL_conv2d_s8w4, CTN_DOT_ROWS, "dsp"},
    {CTN_KERNEL_linear_s16, CTN_KERNEL_conv2d_s16, 2, NULL},
};

bool linear_runs_as_pixels(const Call *call) {
    const char *isa = call->variant->isa;
    for (size_t i = 0; isa && i < COUNT_OF(as_pixels); i++)
        if (as_pixels[i].linear == call->kernel && *call_ints(call, "rows") >= as_pixels[i].least &&
            (!as_pixels[i].isa || strcmp(as_pixels[i].isa, isa) == 0))
            return true;
    return false;
}

static int pixels_of(int linear) {
    size_t i = 0;
    while (as_pixels[i].linear != linear)
        i++;
    return as_pixels[i].pixels;
}

void linear_to_pixels(C *c, Call *call) {
    const int kernel = pixels_of(call->kernel);
    static const char *const ones[] = {"batches",    "in_h",     "out_h",    "kernel_h",
                                       "kernel_w",   "stride_h", "stride_w", "dilation_h",
                                       "dilation_w", "groups"};
    const Kernel *linear = kernel_at(call->kernel), *conv = kernel_at(kernel);
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
        *field_of(call, ones[i]) = 1;
    *field_of(call, "in_w") = rows;
    *field_of(call, "out_w") = rows;
    *field_of(call, "in_c") = depth;
    *field_of(call, "out_c") = columns;
}

void pack_as_pixels(C *c, Graph *g, Call *call) {
    const char *isa = call->variant->isa;
    linear_to_pixels(c, call);
    call->variant = variant_choose(call, isa);
    call->variant->pack(c, g, call);
}
