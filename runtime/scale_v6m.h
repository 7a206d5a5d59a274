/* Scaling on ARMv6-M, which has no long products: by halves of 16 bits. */
#ifndef CTN_SCALE_V6M_H
#define CTN_SCALE_V6M_H

#include <stdint.h>

/* (a * b + addend * 2^32 + 2^31) / 2^32, rounded down, for |a| < 2^29 and 0 <= b. With a =
 * h * 2^16 + l, -2^15 <= l < 2^15, |h| <= 2^13, the bracket stays within 2^29 + 2^30 + 2^16. */
static inline int32_t ctn_smmlar(int32_t a, int32_t b, int32_t addend) {
    int32_t l = (int16_t)a, h = (a - l) >> 16, low = b & 0xffff, high = b >> 16;
    int32_t middle = h * low + l * high + ((l * low) >> 16) + (1 << 15);
    return h * high + addend + (middle >> 16);
}

/* v / 2, rounded down, saturated to int8. */
static inline int32_t ctn_ssat8_half(int32_t v) {
    v >>= 1;
    return (int8_t)v == v ? v : v >> 31 ^ 127;
}

#endif
