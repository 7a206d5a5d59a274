/* Sums and products of int16 on the scalar levels: what does not change from element to element is
 * kept in registers. */
#ifndef CTN_SCALE_S16_H
#define CTN_SCALE_S16_H

#include "ctn.h"
#include "fix.h"
#include "runs_s16.h"

typedef struct {
    int32_t multiplier, right; /* right shift, 0 or more */
} CtnScaleS16;

/* ctn_requantize where the shift is known to go to the right: adding 2^(n-1) rounds half up, one
 * less for negative values half away from zero. */
static inline int32_t ctn_scale_s16(int32_t v, CtnScaleS16 s) {
    int32_t t = ctn_mul_high(v, s.multiplier);
    if (s.right == 0)
        return t;
    return (((t + (t >> 31)) >> (s.right - 1)) + 1) >> 1;
}

static inline void add_run(const void *user, const int16_t *a, const int16_t *b, int16_t *output,
                           int32_t count) {
    const CtnAddS16Args *args = user;
    const CtnScaleS16 scale_a = {args->a_multiplier, -args->a_shift};
    const CtnScaleS16 scale_b = {args->b_multiplier, -args->b_shift};
    const CtnScaleS16 scale = {args->output_multiplier, -args->output_shift};
    int32_t min = args->clamp_min, max = args->clamp_max, up = 1 << args->left_shift;
    int32_t a_step = args->a_stride[5], b_step = args->b_stride[5];
    for (; count > 0; count--, a += a_step, b += b_step) {
        int32_t sum = ctn_scale_s16(*a * up, scale_a) + ctn_scale_s16(*b * up, scale_b);
        *output++ = (int16_t)ctn_clamp(ctn_scale_s16(sum, scale), min, max);
    }
}

static inline void mul_run(const void *user, const int16_t *a, const int16_t *b, int16_t *output,
                           int32_t count) {
    const CtnMulS16Args *args = user;
    const CtnScaleS16 scale = {args->multiplier, -args->shift};
    int32_t min = args->clamp_min, max = args->clamp_max;
    int32_t a_step = args->a_stride[5], b_step = args->b_stride[5];
    for (; count > 0; count--, a += a_step, b += b_step)
        *output++ = (int16_t)ctn_clamp(ctn_scale_s16(*a * *b, scale), min, max);
}

#endif
