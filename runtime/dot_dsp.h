/* The matrix block of the DSP level: three rows of activations times columns of int8 weights,
 * requantized and stored. It is what convolutions and products of matrices are made of.
 *
 * Rows are expanded: each byte q becomes the int16 2 * (q + 128), so that sums are doubled (what
 * SMMLAR's rounding wants) and no sign needs to be extended. Four bytes of depth are a step: 24
 * bytes, for each of the three rows the words (b0, b2) and (b1, b3), as SXTB16 yields weights.
 *
 * Weights of a pair of columns are one stream, so a single pointer walks through all that is
 * needed: int32 twice the bias of both (the offset of the activations folded in); per step four
 * bytes of each; multiplier of the first; shifts of both in the low bytes of a word; multiplier of
 * the second. An odd last column has its own stream: bias, four bytes per step, multiplier, shift.
 *
 * Store. With S = 2 * sum, the host has proven |S| < 2^31 and n >= 1 for a right shift by n (the
 * stream holds n - 1). SMMLAR gives t = (S * m + 2^31) / 2^32 = ctn_mul_high(sum, m), plus
 * C = (2 * zero_point + 1) * 2^(n-1), the rounding and the zero point in one; |t| + |C| < 2^31, so
 * proven, too. A negative t must round half away from zero, hence one less; the sign of S serves,
 * for S < 0 with t = 0 gives zero either way. */
#ifndef CTN_DOT_DSP_H
#define CTN_DOT_DSP_H

#include <stdint.h>

typedef enum {
    CTN_STORE_S8,       /* saturated */
    CTN_STORE_S8_RELU,  /* zero point -128: negative results saturate however they round */
    CTN_STORE_TABLE,    /* saturated, then mapped */
    CTN_STORE_TABLE_10, /* saturated to 10 bits, then mapped */
} CtnStoreDsp;

/* In the order of the block's stack: all words. */
typedef struct {
    uint32_t entry; /* into the unrolled loop */
    uint32_t store; /* CtnStoreDsp, which may be a byte */
    const uint8_t *weights_end;
    const uint32_t *rows, *rows_end;
    int32_t zero; /* 2 * output zero point + 1 */
    int8_t *output;
    int32_t output_stride; /* between rows; 0 stores only the first */
    const int8_t *table;   /* at the entry of result 0 */
    const uint8_t *weights;
} CtnDotDsp;

/* Steps of the unrolled loop, 80 bytes each: a power of two. */
#ifdef __OPTIMIZE_SIZE__
#define CTN_DOT_UNROLLED "2"
enum { CTN_DOT_UNROLL = 2 };
#else
#define CTN_DOT_UNROLLED "16"
enum { CTN_DOT_UNROLL = 16 };
#endif

enum {
    CTN_DOT_ROWS = 3,
    CTN_DOT_STEP_WORDS = 2 * CTN_DOT_ROWS,
    CTN_DOT_STEP_CODE = 80, /* bytes of code of a step */
    CTN_DOT_STEP_CODE_S16 = 64,
    CTN_DOT_PAIR_BYTES = 20,  /* of a pair's stream, and 8 per step */
    CTN_DOT_SINGLE_BYTES = 12 /* of the odd column's, and 4 per step */
};

/* Bytes [0, bytes) of a row into its place in the steps; the last step is filled up. */
void ctn_expand_dsp(const int8_t *row, uint32_t *steps, int32_t bytes);
/* Three rows of 2 * words + shared words, each `words` words after the one before: `shared` words
 * are in all three. words > 0. */
void ctn_expand_three_dsp(const int8_t *first, uint32_t *steps, int32_t words, int32_t shared);
/* A row of bytes that are all q, a whole number of steps. */
void ctn_expand_fill_dsp(int32_t q, uint32_t *steps, int32_t count);
/* All pairs from weights to weights_end; output is that of the first column. */
void ctn_dot_3x2_dsp(const CtnDotDsp *dot);
/* The same for int16 weights, in the order of the rows: per step two words of each column. */
void ctn_dot_3x2_s16_dsp(const CtnDotDsp *dot);
/* One column. */
void ctn_dot_3x1_dsp(const CtnDotDsp *dot);

/* What the blocks store for one doubled sum; shift: that of a stream. */
int8_t ctn_dot_store(const CtnDotDsp *dot, int32_t sum, int32_t multiplier, uint32_t shift);

/* The parts that no block changes. */
CtnDotDsp ctn_dot_begin(uint32_t *rows, int32_t steps, int32_t output_zero_point, int32_t clamp_max,
                        const int8_t *table);
/* A block against `columns` columns, whose streams start at weights. */
void ctn_dot_block(CtnDotDsp *dot, const uint8_t *weights, int32_t columns, int8_t *output);

/* The blocks for one kind of weights. */
typedef struct {
    /* A block against `columns` columns, whose streams start at weights. */
    void (*block)(CtnDotDsp *dot, const uint8_t *weights, int32_t columns, int8_t *output);
    int32_t step_bytes; /* of a pair's stream */
} CtnDotKindDsp;

extern const CtnDotKindDsp ctn_dot_s8_dsp;

/* Columns of an activation that are packed at once, in pairs of int16, in about 4 KB. */
static inline int32_t ctn_dot_columns_s16(int32_t columns, int32_t steps) {
    int32_t pairs = 4096 / (CTN_DOT_PAIR_BYTES + 16 * steps), all = (columns + 1) / 2;
    return 2 * (pairs < 1 ? 1 : pairs < all ? pairs : all);
}

static inline int32_t ctn_dot_steps(int32_t bytes) {
    return (bytes + 3) >> 2;
}

static inline int32_t ctn_dot_kind_bytes(int32_t columns, int32_t steps, int32_t step_bytes) {
    return (columns >> 1) * (CTN_DOT_PAIR_BYTES + step_bytes * steps) +
           (columns & 1) * (CTN_DOT_SINGLE_BYTES + 4 * steps);
}

static inline int32_t ctn_dot_stream_bytes(int32_t columns, int32_t steps) {
    return ctn_dot_kind_bytes(columns, steps, 8);
}

#endif
