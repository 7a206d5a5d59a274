/* Sum of two int16 activations by MVE, four elements at a time. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "runs_s16.h"
#include "scale_s16_mve.h"

static void run(const void *user, const int16_t *a, const int16_t *b, int16_t *output,
                int32_t count) {
    const CtnAddS16Args *args = user;
    const CtnScaleMve scale_a = ctn_scale_begin(args->a_multiplier, args->a_shift);
    const CtnScaleMve scale_b = ctn_scale_begin(args->b_multiplier, args->b_shift);
    const CtnScaleMve scale = ctn_scale_begin(args->output_multiplier, args->output_shift);
    const int32x4_t min = vdupq_n_s32(args->clamp_min), max = vdupq_n_s32(args->clamp_max);
    const int32x4_t up = vdupq_n_s32(args->left_shift);
    for (int32_t i = 0; i < count; i += 4) {
        mve_pred16_t live = vctp32q((uint32_t)(count - i));
        int32x4_t x = ctn_load_s16(a, args->a_stride[5], i, live);
        int32x4_t y = ctn_load_s16(b, args->b_stride[5], i, live);
        x = ctn_scale(vshlq_s32(x, up), &scale_a);
        y = ctn_scale(vshlq_s32(y, up), &scale_b);
        x = ctn_scale(vaddq_s32(x, y), &scale);
        vstrhq_p_s32(output + i, vminq_s32(vmaxq_s32(x, min), max), live);
    }
}

void ctn_add_s16_mve(const CtnAddS16Args *a, const CtnFrame *frame) {
    const CtnRunsS16 runs = {
        ctn_at(frame, a->a), ctn_at(frame, a->b), ctn_at(frame, a->output), a->dim,
        a->a_stride,         a->b_stride};
    ctn_runs_s16(&runs, run, a);
}
#endif
