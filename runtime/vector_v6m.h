/* One row of int8 activations times columns of int8 weights on ARMv6-M, requantized and stored:
 * fully connected layers.
 *
 * MULS destroys a weight, never the activation, so eight columns share the load of an activation.
 * Weights are bytes w + 128; 128 times the sum of all activations is taken off again.
 *
 * The stream begins with a word: 1 if all factors are narrow (store_v6m.h), else 0. Columns follow
 * in eights, then four, then one by one. A group of g columns: int32 bias of each, the input's zero
 * point folded in; per step of depth g bytes; zeros up to a multiple of 4; factors of each; zeros
 * up to a multiple of 4. */
#ifndef CTN_VECTOR_V6M_H
#define CTN_VECTOR_V6M_H

#include "store_v6m.h"

/* All words, in the order of the loop's stack. */
typedef struct {
    CtnStoreV6m store;
    uint32_t entry8, passes8, skip8; /* of the loop for eights: code, bytes of weights left out */
    uint32_t entry4, passes4, skip4; /* of that for four */
    uint32_t eights, fours;          /* groups of columns */
    uint32_t sum;                    /* 128 times that of the activations */
    const int8_t *input;
    int8_t *output;
    const uint8_t *weights;
} CtnVectorV6m;

static inline int32_t ctn_vector_group(int32_t depth, int32_t columns) {
    return ((depth * columns + 3) & ~3) + ctn_store_columns_v6m(columns);
}

/* All eights and the four; there is at least one. */
void ctn_vector_8_v6m(const CtnVectorV6m *vector);
/* All columns of one row, whose stream starts at `stream`, behind the head. */
void ctn_vector_row_v6m(CtnVectorV6m *vector, const uint8_t *stream, const int8_t *input,
                        int32_t depth, int32_t columns, int8_t *output);

#endif
