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
    int32_t multiplier, shift, zero_point, first;
    const int8_t *table;
    int32x4_t unit, min, max;
} Sum;

CTN_INLINE int32x4_t operand(Operand o, int32x4_t unit, int32x4_t q, int shifts) {
    return ctn_scale_mve(vmlasq_n_s32(q, unit, o.bias), o.multiplier, o.shift, shifts);
}

CTN_INLINE int32x4_t finish(Sum s, int32x4_t x, int32x4_t y, int looks_up) {
    int32x4_t sum = ctn_scale_mve(vaddq_s32(x, y), s.multiplier, s.shift, 1);
    return ctn_end_mve(vaddq_n_s32(sum, s.zero_point), s.min, s.max, looks_up ? s.table : 0,
                       s.first);
}

/* The whole fours of a run; `y` is operand b where it is one value. The last three are constants
 * where this is expanded. */
CTN_INLINE void run(Sum s, const int8_t *p, const int8_t *q, int32x4_t y, int dense, int8_t *to,
                    int32_t count, int a_shifts, int b_shifts, int looks_up) {
    if (dense)
        for (; count >= 4; count -= 4, p += 4, q += 4, to += 4) {
            int32x4_t x = operand(s.a, s.unit, vldrbq_s32(p), a_shifts);
            y = operand(s.b, s.unit, vldrbq_s32(q), b_shifts);
            vstrbq_s32(to, finish(s, x, y, looks_up));
        }
    else
        for (; count >= 4; count -= 4, p += 4, to += 4) {
            int32x4_t x = operand(s.a, s.unit, vldrbq_s32(p), a_shifts);
            vstrbq_s32(to, finish(s, x, y, looks_up));
        }
}

/* As the host orders them: a is on the smaller scale. */
static void run_fast(const Sum *s, const int8_t *p, const int8_t *q, int32x4_t y, int dense,
                     int8_t *to, int32_t count) {
    run(*s, p, q, y, dense, to, count, 1, 0, 0);
}

/* Equal scales, the larger scale broadcast, a table: tested in the loop. */
static void run_any(const Sum *s, const int8_t *p, const int8_t *q, int32x4_t y, int dense,
                    int8_t *to, int32_t count) {
    run(*s, p, q, y, dense, to, count, s->a.shift < 0, s->b.shift < 0, s->table != 0);
}

/* The one to three elements behind the last whole four. */
static void run_rest(const Sum *s, const int8_t *p, const int8_t *q, int32x4_t y, int dense,
                     int8_t *to, int32_t count) {
    mve_pred16_t live = vctp32q((uint32_t)count);
    int32x4_t x = operand(s->a, s->unit, vldrbq_z_s32(p, live), s->a.shift < 0);
    if (dense)
        y = operand(s->b, s->unit, vldrbq_z_s32(q, live), s->b.shift < 0);
    vstrbq_p_s32(to, finish(*s, x, y, s->table != 0), live);
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
                   .first = a->clamp_min,
                   .table = ctn_at(frame, a->table),
                   .unit = vdupq_n_s32(unit),
                   .min = vdupq_n_s32(a->clamp_min),
                   .max = vdupq_n_s32(a->clamp_max)};
    int32_t index[6] = {0}, l = 0, r = 0, count, dense = a->b_stride[5];
    if (ctn_is_empty(6, a->dim))
        return;
    int outer = 6 - ctn_run_dims(6, a->dim, a->a_stride, a->b_stride, &count);
    int fast = !s.table && a->a_shift < 0 && a->b_shift == 0;
    do {
        const int8_t *p = lhs + l, *q = rhs + r;
        int32x4_t y = operand(s.b, s.unit, vdupq_n_s32(*q), s.b.shift < 0);
        int32_t whole = count & ~3, step = dense ? whole : 0;
        (fast ? run_fast : run_any)(&s, p, q, y, dense, output, whole);
        if (whole < count)
            run_rest(&s, p + whole, q + step, y, dense, output + whole, count - whole);
        output += count;
    } while (ctn_step(outer, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
#endif
