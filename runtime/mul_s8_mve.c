/* Product of two activations by MVE, four at a time. Operand a is dense; b is dense or one value
 * along the runs. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "fix.h"
#include "loop.h"
#include "scale_mve.h"

static void run(const CtnMulS8Args *a, const int8_t *p, const int8_t *q, const int8_t *table,
                int8_t *to, int32_t count) {
    const int32x4_t min = vdupq_n_s32(a->clamp_min), max = vdupq_n_s32(a->clamp_max);
    int32x4_t y = vdupq_n_s32(*q - a->b_zero_point);
    int32_t step = a->b_stride[5] ? 4 : 0;
    for (; count > 0; count -= 4, p += 4, q += step, to += 4) {
        mve_pred16_t live = vctp32q((uint32_t)count);
        int32x4_t x = vsubq_n_s32(vldrbq_z_s32(p, live), a->a_zero_point);
        if (step)
            y = vsubq_n_s32(vldrbq_z_s32(q, live), a->b_zero_point);
        x = ctn_scale_mve(vmulq_s32(x, y), a->multiplier, a->shift, 1);
        x = vaddq_n_s32(x, a->output_zero_point);
        ctn_store_mve(to, x, min, max, table, a->clamp_min, live);
    }
}

void ctn_mul_s8_mve(const CtnMulS8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->a);
    const int8_t *rhs = ctn_at(frame, a->b);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, l = 0, r = 0, count;
    if (ctn_is_empty(6, a->dim))
        return;
    int outer = 6 - ctn_run_dims(6, a->dim, a->a_stride, a->b_stride, &count);
    do {
        run(a, lhs + l, rhs + r, table, output, count);
        output += count;
    } while (ctn_step(outer, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
#endif
