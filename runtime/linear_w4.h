/* Fully connected layer with 4-bit weights on the scalar levels, four columns at a time straight
 * from the input's bytes. Two columns share a byte b = 16 * w1 + w0, which stands for 16 times its
 * weights (nibble.h): sums S are taken of q * b and L of q * w0, from which those of the columns
 * are S - L and 16 * L. |q * b| < 2^14: the host has proven that sums fit int32.
 *
 * weights: [pairs of columns][depth], an even number of pairs; bias has -input_zero_point * (sum of
 * weights) in it. */
#ifndef CTN_LINEAR_W4_H
#define CTN_LINEAR_W4_H

#include "ctn.h"
#include "fix.h"

typedef struct {
    int32_t whole[2], low[2];
} CtnPairsW4;

static inline void pairs_step(CtnPairsW4 *p, int32_t q, int32_t first, int32_t second) {
    p->whole[0] += q * first;
    p->low[0] += q * ((int32_t)((uint32_t)first << 28) >> 28);
    p->whole[1] += q * second;
    p->low[1] += q * ((int32_t)((uint32_t)second << 28) >> 28);
}

__attribute__((noinline)) static void four_columns(const int8_t *input, const int8_t *weights,
                                                   int32_t depth, int32_t sum[4]) {
    const int8_t *w = weights, *v = weights + depth;
    CtnPairsW4 p = {{0, 0}, {0, 0}};
    for (; depth >= 4; depth -= 4, input += 4, w += 4, v += 4)
        for (int i = 0; i < 4; i++)
            pairs_step(&p, input[i], w[i], v[i]);
    for (; depth > 0; depth--)
        pairs_step(&p, *input++, *w++, *v++);
    for (int i = 0; i < 2; i++) {
        sum[2 * i] = 16 * p.low[i];
        sum[2 * i + 1] = p.whole[i] - p.low[i];
    }
}

static inline void linear_w4(const CtnLinearS8W4Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input), *table = ctn_at(frame, a->table);
    const int32_t *bias = ctn_at(frame, a->bias), *multiplier = ctn_at(frame, a->multiplier);
    const int8_t *shift = ctn_at(frame, a->shift);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t row = 0; row < a->rows; row++, input += a->depth) {
        const int8_t *weights = ctn_at(frame, a->weights);
        for (int32_t n = 0; n < a->columns; n += 4, weights += 2 * a->depth) {
            int32_t sum[4];
            four_columns(input, weights, a->depth, sum);
            for (int32_t c = n; c < n + 4 && c < a->columns; c++) {
                int32_t q = ctn_requantize(sum[c - n] + bias[c], multiplier[c], shift[c]);
                *output++ =
                    ctn_finish_s8(q + a->output_zero_point, a->clamp_min, a->clamp_max, table);
            }
        }
    }
}

#endif
