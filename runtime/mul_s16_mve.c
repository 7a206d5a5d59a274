/* Product of two int16 activations by MVE, four elements at a time; a product is below 2^30. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "runs_s16.h"
#include "scale_s16_mve.h"

static void run(const void *user, const int16_t *a, const int16_t *b, int16_t *output,
                int32_t count) {
    const CtnMulS16Args *args = user;
    const CtnScaleMve scale = ctn_scale_begin(args->multiplier, args->shift);
    const int32x4_t min = vdupq_n_s32(args->clamp_min), max = vdupq_n_s32(args->clamp_max);
    for (int32_t i = 0; i < count; i += 4) {
        mve_pred16_t live = vctp32q((uint32_t)(count - i));
        int32x4_t x = ctn_load_s16(a, args->a_stride[5], i, live);
        int32x4_t y = ctn_load_s16(b, args->b_stride[5], i, live);
        x = ctn_scale(vmulq_s32(x, y), &scale);
        vstrhq_p_s32(output + i, vminq_s32(vmaxq_s32(x, min), max), live);
    }
}

void ctn_mul_s16_mve(const CtnMulS16Args *a, const CtnFrame *frame) {
    const CtnRunsS16 runs = {
        ctn_at(frame, a->a), ctn_at(frame, a->b), ctn_at(frame, a->output), a->dim,
        a->a_stride,         a->b_stride};
    ctn_runs_s16(&runs, run, a);
}
#endif
