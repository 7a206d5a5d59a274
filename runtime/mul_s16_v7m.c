/* Product of two int16 activations on ARMv7-M (scale_s16.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "scale_s16.h"

static void run(const void *user, const int16_t *a, const int16_t *b, int16_t *output,
                int32_t count) {
    const CtnMulS16Args *args = user;
    const CtnScaleS16 scale = {args->multiplier, -args->shift};
    int32_t min = args->clamp_min, max = args->clamp_max;
    int32_t a_step = args->a_stride[5], b_step = args->b_stride[5];
    for (; count > 0; count--, a += a_step, b += b_step)
        *output++ = (int16_t)ctn_clamp(ctn_scale_s16(*a * *b, scale), min, max);
}

void ctn_mul_s16_v7m(const CtnMulS16Args *a, const CtnFrame *frame) {
    const CtnRunsS16 runs = {
        ctn_at(frame, a->a), ctn_at(frame, a->b), ctn_at(frame, a->output), a->dim,
        a->a_stride,         a->b_stride};
    ctn_runs_s16(&runs, run, a);
}
#endif
