/* The matrix block of ARMv6-M: two rows of activations times columns of int8 weights, requantized
 * and stored. Convolutions and products of matrices are made of it.
 *
 * Both factors are unsigned bytes, a + 128 and w + 128, and both rows share a multiplication: they
 * are expanded to words a0 + a1 * 2^16, whose products p with w are a0 * w + a1 * w * 2^16, each
 * below 2^16. A pair of sums is kept as T = sum of p modulo 2^32 and H = sum of p >> 16. H is the
 * second row's sum, T - H * 2^16 the first one's. (Four instructions for two products; separately
 * they take five, for MULS destroys a factor.)
 *
 * As (a + 128) * (w + 128) = (a + 128) * w + 128 * (a + 128), 128 times the sum of a row's bytes is
 * taken off its sums; the rest of the offset is folded into the bias. Sums are modulo 2^32, H below
 * 2^32 for rows of less than 2^16 bytes.
 *
 * The stream begins with a word: 1 if all factors are narrow, else 0. Columns follow in fours, then
 * two, then one, as many as are left over. A group of g columns: int32 bias of each; per step of
 * depth, of which there is an even number, g bytes; zeros up to a multiple of 4; the factors of
 * each column for the store of store_v6m.h; zeros up to a multiple of 4. */
#ifndef CTN_DOT_V6M_H
#define CTN_DOT_V6M_H

#include "store_v6m.h"

enum { CTN_DOT_ROWS = 2, CTN_DOT_HEAD = 4 };

/* All words, in the order of the block's stack. */
typedef struct {
    CtnStoreV6m store;
    uint32_t entry4, passes4, skip4; /* of the loop for fours: code, bytes of weights left out */
    uint32_t entry2, passes2, skip2; /* of that for two */
    uint32_t fours, twos;            /* groups of columns */
    const uint32_t *rows;            /* [depth] */
    uint32_t sum[CTN_DOT_ROWS];      /* 128 times those of the rows' bytes */
    int8_t *output[CTN_DOT_ROWS];
    const uint8_t *weights;
    /* of the layer, not on the stack */
    const uint8_t *stream; /* behind its head */
    int32_t depth, columns;
    uint32_t bytes; /* of a block's fours and two */
} CtnDotV6m;

static inline int32_t ctn_dot_even(int32_t depth) {
    return (depth + 1) & ~1;
}

/* Bytes of a stream's group. */
static inline int32_t ctn_dot_group(int32_t depth, int32_t columns) {
    return ((ctn_dot_even(depth) * columns + 3) & ~3) + ctn_store_columns_v6m(columns);
}

/* A layer of blocks with rows of depth bytes and `columns` columns; `stream` is at its head. */
CtnDotV6m ctn_dot_begin_v6m(const uint8_t *stream, int32_t depth, int32_t columns,
                            int32_t output_zero_point, int32_t clamp_max, const int8_t *table);
/* Two rows, expanded to an even depth, against all columns of a block; moves dot->weights behind
 * their stream. */
void ctn_dot_block_v6m(CtnDotV6m *dot, uint32_t *rows);
/* Expands count bytes of two rows; adds their sums to sum[]. */
void ctn_expand_v6m(const int8_t *const row[CTN_DOT_ROWS], uint32_t *to, int32_t count,
                    uint32_t sum[CTN_DOT_ROWS]);
/* At most CTN_DOT_RUN bytes; the result holds both sums, 16 bits each. */
uint32_t ctn_expand_run_v6m(const int8_t *row0, const int8_t *row1, uint32_t *to, int32_t count);
enum { CTN_DOT_RUN = 256 };
/* All fours and the two; there is at least one. */
void ctn_dot_2x4_v6m(const CtnDotV6m *dot);

#endif
