/* Sum of two activations by MVE, four at a time. Operand a is dense; b is dense or one value along
 * the runs. At least one operand has a shift of 0, as the larger scale is half of the common one.
 */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "fix.h"
#include "loop.h"
#include "scale_mve.h"

typedef struct {
    const CtnAddS8Args *a;
    const int8_t *table;
    int32x4_t unit, min, max;
} Sum;

static inline int32x4_t operand_a(const Sum *s, int32x4_t q, int shifts) {
    const CtnAddS8Args *a = s->a;
    q = vmlasq_n_s32(q, s->unit, -a->a_zero_point * (1 << a->left_shift));
    return ctn_scale_mve(q, a->a_multiplier, a->a_shift, shifts);
}

static inline int32x4_t operand_b(const Sum *s, int32x4_t q, int shifts) {
    const CtnAddS8Args *a = s->a;
    q = vmlasq_n_s32(q, s->unit, -a->b_zero_point * (1 << a->left_shift));
    return ctn_scale_mve(q, a->b_multiplier, a->b_shift, shifts);
}

static inline void finish(const Sum *s, int32x4_t sum, int8_t *to, mve_pred16_t live) {
    const CtnAddS8Args *a = s->a;
    sum = ctn_scale_mve(sum, a->output_multiplier, a->output_shift, 1);
    sum = vaddq_n_s32(sum, a->output_zero_point);
    ctn_store_mve(to, sum, s->min, s->max, s->table, a->clamp_min, live);
}

static inline void run(const Sum *s, const int8_t *p, const int8_t *q, int dense, int8_t *to,
                       int32_t count, int a_shifts, int b_shifts) {
    int32x4_t fixed = operand_b(s, vdupq_n_s32(*q), b_shifts);
    for (; count > 0; count -= 4, p += 4, q += dense ? 4 : 0, to += 4) {
        mve_pred16_t live = vctp32q((uint32_t)count);
        int32x4_t x = operand_a(s, vldrbq_z_s32(p, live), a_shifts);
        int32x4_t y = dense ? operand_b(s, vldrbq_z_s32(q, live), b_shifts) : fixed;
        finish(s, vaddq_s32(x, y), to, live);
    }
}

void ctn_add_s8_mve(const CtnAddS8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->a);
    const int8_t *rhs = ctn_at(frame, a->b);
    int8_t *output = ctn_at(frame, a->output);
    const Sum s = {a, ctn_at(frame, a->table), vdupq_n_s32(1 << a->left_shift),
                   vdupq_n_s32(a->clamp_min), vdupq_n_s32(a->clamp_max)};
    int32_t index[6] = {0}, l = 0, r = 0, count;
    if (ctn_is_empty(6, a->dim))
        return;
    int outer = 6 - ctn_run_dims(6, a->dim, a->a_stride, a->b_stride, &count);
    do {
        if (a->a_shift < 0)
            run(&s, lhs + l, rhs + r, a->b_stride[5], output, count, 1, 0);
        else if (a->b_shift < 0)
            run(&s, lhs + l, rhs + r, a->b_stride[5], output, count, 0, 1);
        else
            run(&s, lhs + l, rhs + r, a->b_stride[5], output, count, 0, 0);
        output += count;
    } while (ctn_step(outer, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
#endif
