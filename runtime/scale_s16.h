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

typedef struct {
    CtnScaleS16 a, b, output;
    int32_t up, min, max;
} CtnSumS16;

/* Of an argument list of a sum; output_zero_point is 0. */
#define CTN_SUM_S16(x)                                                                             \
    {                                                                                              \
        {(x)->a_multiplier, -(x)->a_shift}, {(x)->b_multiplier, -(x)->b_shift},                    \
            {(x)->output_multiplier, -(x)->output_shift}, 1 << (x)->left_shift, (x)->clamp_min,    \
            (x)->clamp_max                                                                         \
    }

static inline int32_t ctn_sum_s16(const CtnSumS16 *s, int32_t a, int32_t b) {
    int32_t sum = ctn_scale_s16(a * s->up, s->a) + ctn_scale_s16(b * s->up, s->b);
    return ctn_clamp(ctn_scale_s16(sum, s->output), s->min, s->max);
}

#endif
