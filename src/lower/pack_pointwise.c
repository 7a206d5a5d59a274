/* Sums and products of two operands on MVE: the operand that is dense along the last dim becomes a;
 * of two, the one on the smaller scale. */
#include "lower/packing.h"

static void swap_ints(int32_t *a, int32_t *b, int count) {
    for (int i = 0; i < count; i++) {
        int32_t t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static void swap_refs(Call *call, const uint32_t *a, const uint32_t *b) {
    int at_a = (int)((const char *)a - (const char *)call->args);
    int at_b = (int)((const char *)b - (const char *)call->args);
    for (int i = 0; i < call->ref_count; i++)
        if (call->ref[i].field_offset == at_a)
            call->ref[i].field_offset = at_b;
        else if (call->ref[i].field_offset == at_b)
            call->ref[i].field_offset = at_a;
}

/* One operand has stride 1 in the last dim, the other 1 or 0. */
static bool runs_densely(const int32_t *a_stride, const int32_t *b_stride) {
    int32_t a = a_stride[5], b = b_stride[5];
    return (a == 1 && (b == 0 || b == 1)) || (a == 0 && b == 1);
}

bool add_runs(const Call *call) {
    const CtnAddS8Args *a = call->args;
    return runs_densely(a->a_stride, a->b_stride) && a->a_shift <= 0 && a->b_shift <= 0 &&
           (a->a_shift == 0 || a->b_shift == 0) && a->output_shift < 0;
}

void pack_add_runs(C *c, Graph *g, Call *call) {
    CtnAddS8Args *a = call->args;
    (void)c, (void)g;
    if (a->a_stride[5] == 1 && (a->b_stride[5] == 0 || a->a_shift < 0))
        return;
    swap_refs(call, &a->a, &a->b);
    swap_ints(a->a_stride, a->b_stride, 6);
    swap_ints(&a->a_zero_point, &a->b_zero_point, 1);
    swap_ints(&a->a_multiplier, &a->b_multiplier, 1);
    swap_ints(&a->a_shift, &a->b_shift, 1);
}

bool mul_runs(const Call *call) {
    const CtnMulS8Args *a = call->args;
    return runs_densely(a->a_stride, a->b_stride) && a->shift < 0;
}

void pack_mul_runs(C *c, Graph *g, Call *call) {
    CtnMulS8Args *a = call->args;
    (void)c, (void)g;
    if (a->a_stride[5] == 1)
        return;
    swap_refs(call, &a->a, &a->b);
    swap_ints(a->a_stride, a->b_stride, 6);
    swap_ints(&a->a_zero_point, &a->b_zero_point, 1);
}
