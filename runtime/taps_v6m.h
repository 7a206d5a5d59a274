/* The taps of a depthwise convolution on ARMv6-M. Words are b0 + b1 * 2^16 with b = a + 129, in
 * 1..256, so that one MULS by a weight multiplies two positions; a product is below 2^15 or
 * -2^15. A pair of sums is kept as T = sum of the words' products modulo 2^32 and H = sum of the
 * products >> 16, rounded down: one less than the second position's product wherever the first
 * one's is negative, and that is where the weight is, since b is never 0. So H plus the number of
 * negative weights is the second sum, and T less 2^16 times that the first.
 *
 * The stream: a word, 1 if all factors are narrow (store_v6m.h), else 0; for each channel int32
 * bias, the input's zero point and the 129 folded in; then the factors of each; then for each
 * channel a byte for each tap. Scratch holds the weights of a channel as words, for LDR takes an
 * immediate offset and LDRSB does not. */
#ifndef CTN_TAPS_V6M_H
#define CTN_TAPS_V6M_H

#include "store_v6m.h"
#include "taps.h"

enum {
    CTN_TAPS_MOST = 25, /* as many as the loop has */
    CTN_TAPS_OFFSET = 129
};

/* All words, in the order of the loop's stack. */
typedef struct {
    CtnStoreV6m store;
    uint32_t entry;         /* code of the taps left out */
    const int32_t *weights; /* less those left out */
    uint32_t first, second; /* T and H without a tap */
    const uint8_t *factor;
    CtnTapsBlock block;
} CtnTapsV6m;

/* The outputs of a block; there is at least one line. */
void ctn_taps_4_v6m(const CtnTapsV6m *taps);
void ctn_taps_expand_v6m(const int8_t *from, const int32_t *offset, uint32_t *to,
                         const CtnTapsRows *rows);

#endif
