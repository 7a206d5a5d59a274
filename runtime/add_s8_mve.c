/* Sum of two activations by MVE, four at a time. Operand a is dense; b is dense or one value along
 * the runs. At least one operand has a shift of 0, as the larger scale is half of the common one;
 * the host makes it b where both are dense.
 *
 * What the loops need is copied to locals: their stores are of bytes, which may alias anything. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "scale_mve.h"

typedef struct {
    int32_t bias, multiplier, shift; /* bias is -zero_point * 2^left_shift */
} Operand;

typedef struct {
    Operand a, b;
    int32_t multiplier, shift, zero_point, min, max, unit;
    const int8_t *table;
} Sum;

CTN_INLINE int32x4_t operand(Operand o, int32_t unit, int32x4_t q, int shifts) {
    return ctn_scale_mve(vmlasq_n_s32(q, vdupq_n_s32(unit), o.bias), o.multiplier, o.shift, shifts);
}

CTN_INLINE int32x4_t finish(Sum s, int32x4_t x, int32x4_t y, int looks_up) {
    int32x4_t sum = ctn_scale_mve(vaddq_s32(x, y), s.multiplier, s.shift, 1);
    return ctn_end_mve(vaddq_n_s32(sum, s.zero_point), vdupq_n_s32(s.min), vdupq_n_s32(s.max),
                       looks_up ? s.table : 0, s.min);
}

/* Whole fours of two dense operands without a table, as the host orders them: a is on the smaller
 * scale. */
__attribute__((noinline)) static void run_fast(const Sum *all, const int8_t *p, const int8_t *q,
                                               int8_t *to, int32_t count) {
    const Sum s = *all;
    for (; count > 0; count -= 4, p += 4, q += 4, to += 4) {
        int32x4_t x = operand(s.a, s.unit, vldrbq_s32(p), 1);
        int32x4_t y = operand(s.b, s.unit, vldrbq_s32(q), 0);
        vstrbq_s32(to, finish(s, x, y, 0));
    }
}

/* Anything else, and what is left behind fours: all that varies is tested in the loop. `dense` is 0
 * where b is one value, else 1. */
__attribute__((noinline)) static void run_any(const Sum *s, const int8_t *p, const int8_t *q,
                                              int32_t dense, int8_t *to, int32_t count) {
    for (; count > 0; count -= 4, p += 4, q += 4 * dense, to += 4) {
        mve_pred16_t live = vctp32q((uint32_t)count);
        int32x4_t y = dense ? vldrbq_z_s32(q, live) : vdupq_n_s32(*q);
        int32x4_t x = operand(s->a, s->unit, vldrbq_z_s32(p, live), s->a.shift < 0);
        y = operand(s->b, s->unit, y, s->b.shift < 0);
        vstrbq_p_s32(to, finish(*s, x, y, s->table != 0), live);
    }
}

void ctn_add_s8_mve(const CtnAddS8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->a);
    const int8_t *rhs = ctn_at(frame, a->b);
    int8_t *output = ctn_at(frame, a->output);
    int32_t unit = (int32_t)1 << a->left_shift;
    const Sum s = {.a = {-a->a_zero_point * unit, a->a_multiplier, a->a_shift},
                   .b = {-a->b_zero_point * unit, a->b_multiplier, a->b_shift},
                   .multiplier = a->output_multiplier,
                   .shift = a->output_shift,
                   .zero_point = a->output_zero_point,
                   .min = a->clamp_min,
                   .max = a->clamp_max,
                   .unit = unit,
                   .table = ctn_at(frame, a->table)};
    int32_t index[6] = {0}, l = 0, r = 0, count, dense = a->b_stride[5];
    if (ctn_is_empty(6, a->dim))
        return;
    int outer = 6 - ctn_run_dims(6, a->dim, a->a_stride, a->b_stride, &count);
    int fast = !s.table && dense && a->a_shift < 0 && a->b_shift == 0;
    do {
        int32_t whole = fast ? count & ~3 : 0;
        if (whole > 0)
            run_fast(&s, lhs + l, rhs + r, output, whole);
        run_any(&s, lhs + l + whole, rhs + r + whole, dense, output + whole, count - whole);
        output += count;
    } while (ctn_step(outer, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
#endif
