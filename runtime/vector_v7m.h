/* One row of int8 activations times columns of int8 weights on ARMv7-M without DSP, requantized and
 * stored: fully connected layers.
 *
 * Two columns share a multiplication. A word of the stream holds a step of depth of four columns:
 * the bytes w0 + 128, w3, w2 + 128, w1. Its outer bytes are w0 + 128 + w1 * 2^24, those of the word
 * turned by 16 bits w2 + 128 + w3 * 2^24, so SMLAL with an activation a adds to two sums at once.
 * Over CTN_VECTOR_DEPTH steps the lower one stays within 256 * 255 * 128 < 2^23, so it is the low
 * 24 bits taken as signed. Afterwards 128 times the sum of all activations is taken off again.
 *
 * The stream of four columns: depth words; int32 twice the bias of each with the input's zero point
 * folded in; int32 multiplier of each; bytes n - 1 of each. Columns beyond fours follow one by
 * one: depth bytes, bias, multiplier, n - 1, not aligned. The store is that of dot_v7m.h. */
#ifndef CTN_VECTOR_V7M_H
#define CTN_VECTOR_V7M_H

#include <stdint.h>

enum {
    CTN_VECTOR_DEPTH = 256,
    CTN_VECTOR_FOUR = 36, /* bytes of four columns, and 4 per step of depth */
    CTN_VECTOR_ONE = 9    /* of one, and 1 per step */
};

/* All words, in the order of the loop's stack. */
typedef struct {
    const int8_t *input;
    int32_t depth;
    uint32_t tail; /* CtnTail of dot_v7m.h */
    int32_t zero;  /* 2 * output zero point + 1 */
    const int8_t *weights_end;
    const int8_t *table; /* at the entry of result 0 */
    int8_t *output;
    int32_t input_sum; /* 256 times */
    const int8_t *weights;
} CtnVectorV7m;

/* Columns in fours from weights, which is 4-byte aligned, to weights_end; neither is empty. */
void ctn_vector_4_v7m(const CtnVectorV7m *vector);

#endif
