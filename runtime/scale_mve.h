/* Requantizing four sums by MVE (fix.h): VQRDMULH is ctn_mul_high; a right shift by VRSHL rounds
 * half up, and taking 1 from negative values before makes that half away from zero. */
#ifndef CTN_SCALE_MVE_H
#define CTN_SCALE_MVE_H

#include "mve.h"

/* shift <= 0; `shifts` says whether it is below 0 and is a constant to the compiler. */
static inline int32x4_t ctn_scale_mve(int32x4_t v, int32_t multiplier, int32_t shift, int shifts) {
    v = vqrdmulhq_n_s32(v, multiplier);
    if (shifts)
        v = vrshlq_n_s32(vaddq_s32(v, vshrq_n_s32(v, 31)), shift);
    return v;
}

/* The last step of a store: four bytes, clamped and looked up. `first` is clamp_min with a table.
 */
static inline void ctn_store_mve(int8_t *to, int32x4_t v, int32x4_t min, int32x4_t max,
                                 const int8_t *table, int32_t first, mve_pred16_t live) {
    v = vminq_s32(vmaxq_s32(v, min), max);
    if (table)
        v = vldrbq_gather_offset_s32(table, vreinterpretq_u32_s32(vsubq_n_s32(v, first)));
    vstrbq_p_s32(to, v, live);
}

#endif
