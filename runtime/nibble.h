/* Weights of 4 bits, two a byte, the even one in the low bits. They stand for 16 times their value:
 * sums, biases and factors are those of weights of 8 bits that are multiples of 16. */
#ifndef CTN_NIBBLE_H
#define CTN_NIBBLE_H

#include <stdint.h>

static inline int32_t ctn_nibble(const uint8_t *weights, int32_t i) {
    uint32_t both = weights[i >> 1];
    return (int8_t)(i & 1 ? both & 0xf0 : both << 4);
}

/* Weight i of either kind; `nibbles` is a constant to the compiler. */
static inline int32_t ctn_weight(const int8_t *weights, int32_t i, int nibbles) {
    return nibbles ? ctn_nibble((const uint8_t *)weights, i) : weights[i];
}

#endif
