/* What the variants of sums and products of two operands ask of a call, and the order of its dims
 * and operands. */
#include "lower/packing.h"

/* ---- MVE: what is dense along the last dim becomes a; of two, what has the smaller scale ----- */

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

/* ---- the other levels: a store that rounds once and needs a right shift ---------------------- */

/* Joins dimensions that both operands walk through as one, so that the last is long. */
static void join_dims(int32_t dim[6], int32_t a_stride[6], int32_t b_stride[6]) {
    int last = 5;
    for (int d = 4; d >= 0; d--) {
        if (dim[d] == 1)
            continue;
        bool joins =
            a_stride[d] == a_stride[last] * dim[last] && b_stride[d] == b_stride[last] * dim[last];
        if (dim[last] != 1 && !joins)
            last--;
        if (dim[last] == 1 || !joins) {
            int32_t size = dim[d], a = a_stride[d], b = b_stride[d];
            dim[d] = 1;
            dim[last] = size;
            a_stride[last] = a;
            b_stride[last] = b;
            continue;
        }
        dim[last] *= dim[d];
        dim[d] = 1;
    }
    for (int d = 0; d < last; d++)
        a_stride[d] = b_stride[d] = 0;
}

bool add_is_exact(int32_t multiplier, int32_t shift) {
    return shift == 0 && (multiplier == 1 << 30 || multiplier == -(1 << 30));
}

static bool add_is_fine(int32_t multiplier, int32_t shift) {
    return add_is_exact(multiplier, shift) ||
           (shift <= -1 && shift >= -30 && multiplier > INT32_MIN);
}

bool add_in_short_store(const Call *call) {
    const CtnAddS8Args *a = call->args;
    bool a_exact = add_is_exact(a->a_multiplier, a->a_shift);
    bool b_exact = add_is_exact(a->b_multiplier, a->b_shift);
    return a->left_shift == 20 && (a_exact || b_exact) &&
           add_is_fine(a->a_multiplier, a->a_shift) && add_is_fine(a->b_multiplier, a->b_shift) &&
           short_store_is_exact(1 << 28, a->output_multiplier, a->output_shift,
                                a->output_zero_point);
}

void pack_add_dims(C *c, Graph *g, Call *call) {
    (void)c, (void)g;
    CtnAddS8Args *a = call->args;
    join_dims(a->dim, a->a_stride, a->b_stride);
}

bool mul_in_short_store(const Call *call) {
    const CtnMulS8Args *a = call->args;
    return short_store_is_exact(255 * 255, a->multiplier, a->shift, a->output_zero_point);
}

void pack_mul_dims(C *c, Graph *g, Call *call) {
    (void)c, (void)g;
    CtnMulS8Args *a = call->args;
    join_dims(a->dim, a->a_stride, a->b_stride);
}
