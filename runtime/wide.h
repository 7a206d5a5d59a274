/* Activations of 8 or 16 bits side by side: what the kernels named _s16 share. A width is 1 or 2
 * bytes and known per call; int16 has zero point 0. Sums are kept in 64 bits, since a product of an
 * int16 and a weight takes 22 bits, one of two int16 30. */
#ifndef CTN_WIDE_H
#define CTN_WIDE_H

#include "fix.h"

static inline int32_t ctn_load_wide(const void *q, int32_t bytes, int32_t i) {
    return bytes == 2 ? ((const int16_t *)q)[i] : ((const int8_t *)q)[i];
}

static inline void ctn_store_wide(void *q, int32_t bytes, int32_t i, int32_t v) {
    if (bytes == 2)
        ((int16_t *)q)[i] = (int16_t)v;
    else
        ((int8_t *)q)[i] = (int8_t)v;
}

/* Sum of (q - zero_point) * weight over count neighbours. 256 products of an int16 and a weight
 * stay within 2^30: so many are summed in 32 bits. */
static inline int64_t ctn_dot_wide(const void *q, int32_t bytes, int32_t zero_point,
                                   const int8_t *weight, int32_t count) {
    enum { PRODUCTS = 256 };
    const int16_t *q16 = q;
    const int8_t *q8 = q;
    int64_t sum = 0;
    for (int32_t done = 0; done < count;) {
        int32_t end = count - done > PRODUCTS ? done + PRODUCTS : count, part = 0;
        if (bytes == 2)
            for (; done < end; done++)
                part += q16[done] * weight[done];
        else
            for (; done < end; done++)
                part += (q8[done] - zero_point) * weight[done];
        sum += part;
    }
    return sum;
}

/* v * multiplier * 2^(shift - 31), rounded once, half up, and kept within +-2^30. |v| < 2^46,
 * -31 <= shift <= 14. The 16 low bits of v are multiplied apart so that each product fits; what
 * is cut off below them cannot change the rounding of an integer plus one half. */
static inline int32_t ctn_requantize_wide(int64_t v, int32_t multiplier, int32_t shift) {
    const int64_t limit = 1 << 30;
    int64_t t = (v >> 16) * multiplier + (((v & 0xffff) * multiplier) >> 16);
    int32_t right = 15 - shift;
    t = (t + ((int64_t)1 << (right - 1))) >> right;
    return (int32_t)(t < -limit ? -limit : t > limit ? limit : t);
}

#endif
