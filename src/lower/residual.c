/* Sums in the store of what makes one of their operands: x + conv(y) by one call, which writes no
 * result of the convolution. A call of add_s8 and that of its later operand become one where the
 * operand is read nowhere else, the other one exists by then, both are as large as the sum, the
 * level has a kernel for it that accepts the call, and that takes fewer instructions than both. */
#include "fix.h"
#include "lower/memory.h"
#include "lower/packing.h"
#include "lower/pointwise.h"
#include "residual_s8.h"

#include <string.h>

/* `same`: the kernel that takes the producer's call first; its fields are those of the fused one.
 */
static const struct {
    int producer, same, fused;
} kernels[] = {
    {CTN_KERNEL_conv2d_s8, CTN_KERNEL_conv2d_s8, CTN_KERNEL_conv2d_add_s8},
    {CTN_KERNEL_linear_s8, CTN_KERNEL_conv2d_s8, CTN_KERNEL_conv2d_add_s8},
    {CTN_KERNEL_conv2d_s8w4, CTN_KERNEL_conv2d_s8w4, CTN_KERNEL_conv2d_add_s8w4},
    {CTN_KERNEL_linear_s8w4, CTN_KERNEL_conv2d_s8w4, CTN_KERNEL_conv2d_add_s8w4},
};

int residual_producer(int kernel) {
    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        if (kernels[i].fused == kernel)
            return kernels[i].same;
    return -1;
}

static int fused_kernel(int producer) {
    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        if (kernels[i].producer == producer)
            return kernels[i].fused;
    return -1;
}

/* ---- which calls ---------------------------------------------------------------------------- */

/* The only call that writes b; NULL if there is none or another one. */
static Call *sole_writer(const Graph *g, const Buffer *b) {
    Call *found = NULL;
    for (Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++)
            if (call->ref[r].buffer == b && call->ref[r].writes) {
                if (found)
                    return NULL;
                found = call;
            }
    return found;
}

/* Is b, which `writer` writes, read but once, by `reader`, and by nobody outside? */
static bool is_between(const Graph *g, const Buffer *b, const Call *writer, const Call *reader) {
    int uses = 0;
    for (const Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++)
            if (call->ref[r].buffer == b) {
                uses++;
                if (call != writer && call != reader)
                    return false;
            }
    for (int i = 0; i < g->value_count; i++) {
        const Value *v = g->value[i];
        if (v->buffer == b && (v->output_count > 0 || v->role == ROLE_INPUT || v->initial))
            return false;
    }
    return uses == 2 && b->kind == BUFFER_VALUE;
}

/* Is all of b written before `call`? */
static bool exists_by(const Buffer *b, const Call *call) {
    for (const Call *later = call; later; later = later->next)
        for (int r = 0; r < later->ref_count; r++)
            if (later->ref[r].buffer == b && later->ref[r].writes)
                return false;
    return true;
}

static bool is_as_large(const Call *sum, const CallRef *operand, int64_t count) {
    const CtnAddS8Args *a = sum->args;
    int64_t elements = 1;
    for (int d = 0; d < 6; d++)
        elements *= a->dim[d];
    return elements == count && operand->offset == 0 && operand->buffer->bytes == count &&
           call_walks_densely(sum, "dim", "a_stride") && call_walks_densely(sum, "dim", "b_stride");
}

/* The call that makes the operand and whose store can do the sum, the other one being `skip`. */
static Call *producer_of(const Graph *g, const Call *sum, const CallRef *operand,
                         const CallRef *skip) {
    if (!operand || !skip || operand->buffer == skip->buffer)
        return NULL;
    Call *producer = sole_writer(g, operand->buffer);
    const CallRef *output = producer ? call_ref_named(producer, "output") : NULL;
    if (!output || fused_kernel(producer->kernel) < 0 || producer->index > sum->index ||
        output->buffer != operand->buffer || output->offset != 0)
        return NULL;
    bool fits = is_between(g, operand->buffer, producer, sum) &&
                exists_by(skip->buffer, producer) &&
                is_as_large(sum, operand, output->buffer->bytes);
    return fits ? producer : NULL;
}

/* ---- the call of both ----------------------------------------------------------------------- */

typedef struct {
    int32_t zero_point, multiplier, shift;
} Operand;

/* The operand with the larger scale has half of its value: the kernels multiply it by 2^19. */
static bool one_is_exact(const CtnAddS8Args *s) {
    return s->left_shift == SUM_S8_LEFT &&
           (add_is_exact(s->a_multiplier, s->a_shift) || add_is_exact(s->b_multiplier, s->b_shift));
}

static void fill_addends(Call *call, CtnResidualArgs *r, const CtnAddS8Args *s, bool b_is_made) {
    Operand a = {s->a_zero_point, s->a_multiplier, s->a_shift};
    Operand b = {s->b_zero_point, s->b_multiplier, s->b_shift};
    Operand made = b_is_made ? b : a, skip = b_is_made ? a : b;
    r->looks_up_skip = !add_is_exact(skip.multiplier, skip.shift);
    Operand x = r->looks_up_skip ? skip : made, y = r->looks_up_skip ? made : skip;
    r->factor = 1 << (SUM_S8_LEFT - 1);
    r->factor *= y.multiplier < 0 ? -1 : 1;
    int32_t addend[256];
    for (int i = 0; i < 256; i++)
        addend[i] = ctn_add_operand(i - 128, x.zero_point, s->left_shift, x.multiplier, x.shift) -
                    y.zero_point * r->factor;
    call_const(call, &r->addends, "addends", DT_I32, addend, sizeof addend, 4);
}

/* `call` with the sum in its store. */
static Call fused_call(C *c, const Call *call, const Call *sum, const CallRef *skip,
                       bool b_is_made) {
    Call fused = *call;
    const CtnAddS8Args *s = sum->args;
    fused.ref = c_memdup(c, call->ref, sizeof *call->ref * (size_t)call->ref_count);
    fused.ref_capacity = call->ref_count;
    if (call_ints(call, "rows"))
        linear_to_pixels(c, &fused);
    const void *args = fused.args;
    int bytes = fused.args_bytes;
    fused.kernel = fused_kernel(call->kernel);
    fused.args_bytes = kernel_at(fused.kernel)->args_bytes;
    fused.args = c_calloc(c, (size_t)fused.args_bytes, 1);
    memcpy(fused.args, args, (size_t)bytes);
    CtnResidualArgs *r = (CtnResidualArgs *)(void *)((char *)fused.args + bytes);
    uint32_t *output = (uint32_t *)fused.args + kernel_field(fused.kernel, "output")->offset / 4;
    call_take(&fused, output, call_ref_named(sum, "output"));
    call_take(&fused, &r->skip, skip);
    call_take(&fused, &r->sum_table, call_ref_named(sum, "table"));
    r->sum_multiplier = s->output_multiplier;
    r->sum_shift = s->output_shift;
    r->sum_zero_point = s->output_zero_point;
    r->sum_clamp_min = s->clamp_min;
    r->sum_clamp_max = s->clamp_max;
    fill_addends(&fused, r, s, b_is_made);
    fused.node = sum->node;
    fused.producer = call->node;
    fused.origins = origins_union(c, &call->origins, &sum->origins);
    fused.variant = NULL;
    return fused;
}

/* What was between has no memory any more. */
static void forget(Graph *g, const Buffer *between) {
    for (int i = 0; i < g->value_count; i++)
        if (g->value[i]->buffer == between) {
            g->value[i]->buffer = NULL;
            g->value[i]->unstored = true;
        }
}

static bool fuse(C *c, Graph *g, const Options *o, Call *sum, const char *made, const char *other) {
    const CallRef *operand = call_ref_named(sum, made), *skip = call_ref_named(sum, other);
    Call *call = producer_of(g, sum, operand, skip);
    if (!call || !one_is_exact(sum->args))
        return false;
    Call fused = fused_call(c, call, sum, skip, *made == 'b');
    fused.variant = variant_choose(&fused, o->isa);
    double before = call_instructions(g, call, o) + call_instructions(g, sum, o);
    if (!(call_instructions(g, &fused, o) < before))
        return false;
    Buffer *between = operand->buffer;
    *call = fused;
    sum->node->summed = true;
    forget(g, between);
    call_remove(g, sum);
    return true;
}

void residuals_fuse(C *c, Graph *g, const Options *o) {
    graph_index(g);
    for (Call *call = g->first_call, *next; call; call = next) {
        next = call->next;
        if (call->kernel == CTN_KERNEL_add_s8 && call->node && !fuse(c, g, o, call, "b", "a"))
            fuse(c, g, o, call, "a", "b");
    }
}
