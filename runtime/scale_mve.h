/* Requantizing four sums by MVE (fix.h): VQRDMULH is ctn_mul_high; a right shift by VRSHL rounds
 * half up, and taking 1 from negative values before makes that half away from zero. */
#ifndef CTN_SCALE_MVE_H
#define CTN_SCALE_MVE_H

#include "mve.h"

/* Flags that a caller gives as constants vanish. */
#define CTN_INLINE static inline __attribute__((always_inline))

/* shift <= 0; `shifts` says whether it is below 0 and is a constant to the compiler. */
CTN_INLINE int32x4_t ctn_scale_mve(int32x4_t v, int32_t multiplier, int32_t shift, int shifts) {
    v = vqrdmulhq_n_s32(v, multiplier);
    if (shifts)
        v = vrshlq_n_s32(vaddq_s32(v, vshrq_n_s32(v, 31)), shift);
    return v;
}

/* Clamps and looks up; `first` is clamp_min, what the table's first entry stands for. */
CTN_INLINE int32x4_t ctn_end_mve(int32x4_t v, int32x4_t min, int32x4_t max, const int8_t *table,
                                 int32_t first) {
    v = vminq_s32(vmaxq_s32(v, min), max);
    if (table)
        v = vldrbq_gather_offset_s32(table, vreinterpretq_u32_s32(vsubq_n_s32(v, first)));
    return v;
}

#endif
