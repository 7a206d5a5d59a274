/* Weights of 4 bits, two a byte: the even one in the low bits. */
#ifndef CTN_NIBBLE_H
#define CTN_NIBBLE_H

#include <stdint.h>

static inline int32_t ctn_nibble(const uint8_t *weights, int32_t i) {
    int32_t bits = weights[i >> 1] >> (i & 1 ? 4 : 0) & 15;
    return (bits ^ 8) - 8;
}

#endif
