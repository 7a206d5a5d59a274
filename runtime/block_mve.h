/* What the assembly blocks of MVE and their twins in plain C share: the end of a sum. Kinds of end:
 * EXACT any clamp within int8; RELU zero point and clamp_min -128, clamp_max 127; TABLE indices
 * 0..clamp_max of a table, clamp_min being taken off zero point and clamps.
 *
 * Rounding. VQRDMULH is ctn_mul_high. A right shift by VRSHL rounds half up; taking 1 from negative
 * values before makes that half away from zero, as every shift is at least 1. Under RELU all
 * negative values end at the clamp, so they need no such care. */
#ifndef CTN_BLOCK_MVE_H
#define CTN_BLOCK_MVE_H

#if defined(CTN_EMULATE)
#include "fix.h"

typedef enum { EXACT, RELU, TABLE } CtnEnd;

static inline int32_t ctn_block_word(const int8_t *p) {
    int32_t v = 0;
    for (int i = 3; i >= 0; i--)
        v = (int32_t)((uint32_t)v << 8 | (uint8_t)p[i]);
    return v;
}

/* sum + bias, wrapping; then the factors; bias and multiplier point at the channel's own. */
static inline int8_t ctn_block_finish(CtnEnd end, int32_t sum, const int8_t *bias,
                                      const int8_t *multiplier, int32_t shift, int32_t zero_point,
                                      int32_t min, int32_t max, const int8_t *table) {
    sum = (int32_t)((uint32_t)sum + (uint32_t)ctn_block_word(bias));
    sum = ctn_requantize(sum, ctn_block_word(multiplier), shift);
    sum = ctn_clamp(sum, -32768, 32767) + zero_point;
    if (end == TABLE)
        return table[ctn_clamp(sum, 0, max)];
    return (int8_t)(end == RELU ? ctn_clamp(sum, -128, 127) : ctn_clamp(sum, min, max));
}

#else

/* q2, q3 are spare */
#define HALF_AWAY_Q0_Q1                                                                            \
    "vshr.s32 q2, q0, #31\n"                                                                       \
    "vadd.i32 q0, q0, q2\n"                                                                        \
    "vshr.s32 q3, q1, #31\n"                                                                       \
    "vadd.i32 q1, q1, q3\n"

/* q0, q1 to 16-bit lanes of q0, by turns, with the zero point in r0 */
#define NARROW_Q0_Q1                                                                               \
    "vqmovnb.s32 q0, q0\n"                                                                         \
    "vqmovnt.s32 q0, q1\n"                                                                         \
    "vqadd.s16 q0, q0, r0\n"

#endif
#endif
