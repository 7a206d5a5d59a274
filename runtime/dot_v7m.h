/* The matrix block of ARMv7-M without DSP: four rows of activations times columns of int8 weights,
 * requantized and stored. Convolutions and products of matrices are made of it.
 *
 * Two rows share a multiplication. Rows are expanded in pairs to words a0 + a1 * 2^23, so that
 * SMLAL with a weight w adds a0 * w to the low 23 bits of a 64-bit sum and a1 * w to those above.
 * Over CTN_DOT_DEPTH products of int8 the low sum stays within 255 * 2^14 < 2^22, so it is the
 * low 23 bits taken as signed, and what is left of the 64-bit sum is exactly the other. Deeper
 * rows are cut into segments whose sums are added up in memory.
 *
 * Instructions are not cycles here: a Cortex-M3 takes 2 for MLA and 4 to 7 for SMLAL, as its
 * operands need. At 4 a step of eight products takes about 23, as two by four MLAs with their six
 * loads do; at 7 it takes 35.
 *
 * Weights are one stream, in the order of use. For each pair of columns: per step of depth a byte
 * of each; int32 twice the bias of both, the input's zero point folded in; then, in the last
 * segment only, int32 multiplier of both and bytes n - 1 of both, for a right shift by n. An odd
 * last column has the same with one of each. (Nothing is aligned: these levels need not.)
 *
 * Store. With S = 2 * sum, the host has proven |S| < 2^31 and 1 <= n <= 20. The high word of
 * S * m + 2^31 is t = ctn_mul_high(sum, m), |t| < 2^30. Added to it is C = (2 * zero_point + 1) *
 * 2^(n-1), |C| < 2^30, the rounding and the zero point in one. A negative t must round half away
 * from zero, hence one less; the sign of S serves, for S < 0 with t = 0 gives zero either way. */
#ifndef CTN_DOT_V7M_H
#define CTN_DOT_V7M_H

#include <stdint.h>

enum {
    CTN_DOT_DEPTH = 255, /* products of a segment at most */
    CTN_DOT_UNROLL = 16,
    CTN_DOT_ROWS = 4
};

typedef enum {
    CTN_SUM_WHOLE, /* the only segment */
    CTN_SUM_PART,  /* adds to `sums`: another segment follows */
    CTN_SUM_LAST,  /* begins with `sums` */
} CtnSum;

/* All words, in the order of the block's stack. */
typedef struct {
    uint32_t entry, passes; /* of the unrolled loop (ctn_dot_depth_v7m) */
    uint32_t sum;           /* CtnSum: an enum may be a byte */
    uint32_t tail;          /* CtnTail */
    const int32_t *pairs;   /* [depth][2]: rows 0 and 1, rows 2 and 3 */
    int32_t zero;           /* 2 * output zero point + 1 */
    const int8_t *weights_end;
    const int8_t *table; /* at the entry of result 0 */
    int32_t *sums;       /* [pairs of columns][8] */
    int8_t *row[4];      /* of outputs; rows that are the same are stored twice */
    int32_t column;      /* the first one's place in the rows */
    const int8_t *weights;
} CtnDotV7m;

/* How many products one segment takes; an even share of what there is. */
static inline int32_t ctn_dot_share(int32_t count, int32_t most) {
    int32_t segments = (count + most - 1) / most;
    return (count + segments - 1) / segments;
}

/* The parts that no block changes. */
CtnDotV7m ctn_dot_begin_v7m(int32_t output_zero_point, int32_t clamp_max, const int8_t *table);
/* The loop for rows of depth products, 1 <= depth <= CTN_DOT_DEPTH. */
void ctn_dot_depth_v7m(CtnDotV7m *dot, int32_t depth);
/* One segment against `columns` columns; moves dot->weights behind their stream. */
void ctn_dot_block_v7m(CtnDotV7m *dot, int32_t depth, int32_t columns);

/* Expands four rows of count bytes. */
void ctn_expand_v7m(const int8_t *const row[4], int32_t *pairs, int32_t count);
/* All pairs of columns from weights to weights_end; neither is empty. */
void ctn_dot_4x2_v7m(const CtnDotV7m *dot);

#endif
