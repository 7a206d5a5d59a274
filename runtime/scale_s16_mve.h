/* Fixed-point factors by MVE, four lanes at a time: VQRDMULH is ctn_mul_high; a right shift by
 * VRSHL rounds half up, and taking 1 from negative values before makes that half away from zero. */
#ifndef CTN_SCALE_S16_MVE_H
#define CTN_SCALE_S16_MVE_H

#include "mve.h"

typedef struct {
    int32_t multiplier;
    int32x4_t shift, away; /* shift <= 0; away: all ones if it is below 0 */
} CtnScaleMve;

static inline CtnScaleMve ctn_scale_begin(int32_t multiplier, int32_t shift) {
    CtnScaleMve s = {multiplier, vdupq_n_s32(shift), vdupq_n_s32(shift < 0 ? -1 : 0)};
    return s;
}

static inline int32x4_t ctn_scale(int32x4_t v, const CtnScaleMve *s) {
    v = vqrdmulhq_n_s32(v, s->multiplier);
    v = vaddq_s32(v, vandq_s32(vshrq_n_s32(v, 31), s->away));
    return vrshlq_s32(v, s->shift);
}

/* Four elements from i on, or one for all if they have a step of 0. */
static inline int32x4_t ctn_load_s16(const int16_t *p, int32_t step, int32_t i, mve_pred16_t live) {
    return step ? vldrhq_z_s32(p + i, live) : vdupq_n_s32(*p);
}

#endif
