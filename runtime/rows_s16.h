/* Rows of int16 values times channels of int8 weights: what the variants of layers between 8 and 16
 * bits share. A level defines two loops before it includes this, for counts that are multiples of
 * CTN_ROWS_UNIT and at most CTN_ROWS_PART, so that sums of products stay below 2^30:
 *
 *   dot_2x2(x0, x1, w0, w1, count, sum)   adds both rows times w0 to sum[0], sum[1], times w1 to
 *                                         sum[2], sum[3]
 *   dot_1x4(x, w, pitch, count, sum)      adds a row times four channels, pitch bytes apart
 *
 * Rows and channels are filled up to a depth that is a multiple of CTN_ROWS_UNIT; the weights there
 * are zeros. Values have their zero point taken off. */
#ifndef CTN_ROWS_S16_H
#define CTN_ROWS_S16_H

#include "wide.h"

enum { CTN_ROWS_UNIT = 8, CTN_ROWS_PART = 256 };

static inline int32_t ctn_rows_depth(int32_t depth) {
    return (depth + CTN_ROWS_UNIT - 1) & ~(CTN_ROWS_UNIT - 1);
}

typedef struct {
    const int8_t *weights; /* [channels][depth] */
    const int32_t *bias, *multiplier;
    const int8_t *shift;
    void *output;
    int32_t channels, depth, output_bytes, zero_point, min, max;
    int32_t narrow; /* all sums fit int32 and all shifts are -2 or less */
} CtnRows;

/* sum * multiplier * 2^(shift - 31), rounded half up: the high word of the product rounded down,
 * then rounded half up by the rest of the shift, which is at least 1. */
static inline int32_t ctn_rows_requantize(int32_t sum, int32_t multiplier, int32_t shift) {
    int32_t high = (int32_t)(((int64_t)sum * multiplier) >> 32), rest = -1 - shift;
    return (high + (1 << (rest - 1))) >> rest;
}

static inline void ctn_rows_store(const CtnRows *r, int32_t at, int32_t channel, int64_t sum) {
    int32_t q, multiplier = r->multiplier[channel], shift = r->shift[channel];
    if (r->narrow)
        q = ctn_rows_requantize((int32_t)sum + r->bias[channel], multiplier, shift);
    else
        q = ctn_requantize_wide(sum + r->bias[channel], multiplier, shift);
    q = ctn_clamp(q + r->zero_point, r->min, r->max);
    ctn_store_wide(r->output, r->output_bytes, at + channel, q);
}

/* Two rows, whose results begin at elements at0 and at1 of the output. */
static inline void ctn_rows_two(const CtnRows *r, const int16_t *x0, const int16_t *x1, int32_t at0,
                                int32_t at1) {
    for (int32_t c = 0; c < r->channels; c += 2) {
        int32_t second = c + 1 < r->channels ? c + 1 : c;
        const int8_t *w0 = r->weights + c * r->depth, *w1 = r->weights + second * r->depth;
        int64_t sum[4] = {0};
        for (int32_t k = 0; k < r->depth; k += CTN_ROWS_PART) {
            int32_t left = r->depth - k, part[4] = {0};
            dot_2x2(x0 + k, x1 + k, w0 + k, w1 + k, left < CTN_ROWS_PART ? left : CTN_ROWS_PART,
                    part);
            for (int i = 0; i < 4; i++)
                sum[i] += part[i];
        }
        ctn_rows_store(r, at0, c, sum[0]);
        ctn_rows_store(r, at1, c, sum[1]);
        ctn_rows_store(r, at0, second, sum[2]);
        ctn_rows_store(r, at1, second, sum[3]);
    }
}

static inline void ctn_rows_one(const CtnRows *r, const int16_t *x, int32_t at) {
    int32_t c = 0;
    for (; c + 4 <= r->channels; c += 4) {
        const int8_t *w = r->weights + c * r->depth;
        int64_t sum[4] = {0};
        for (int32_t k = 0; k < r->depth; k += CTN_ROWS_PART) {
            int32_t left = r->depth - k, part[4] = {0};
            dot_1x4(x + k, w + k, r->depth, left < CTN_ROWS_PART ? left : CTN_ROWS_PART, part);
            for (int i = 0; i < 4; i++)
                sum[i] += part[i];
        }
        for (int i = 0; i < 4; i++)
            ctn_rows_store(r, at, c + i, sum[i]);
    }
    CtnRows rest = *r;
    for (; c < r->channels; c += 2) {
        int32_t count = r->channels - c;
        rest.weights = r->weights + c * r->depth;
        rest.bias = r->bias + c;
        rest.multiplier = r->multiplier + c;
        rest.shift = r->shift + c;
        rest.channels = count < 2 ? count : 2;
        ctn_rows_two(&rest, x, x, at + c, at + c);
    }
}

/* Elements first .. first + count of an activation, less its zero point; moves *to behind them. */
static inline void ctn_rows_take(int16_t **to, const void *from, int32_t bytes, int32_t zero_point,
                                 int32_t first, int32_t count) {
    int16_t *end = *to;
    if (bytes == 2) {
        const int16_t *x = (const int16_t *)from + first;
        for (; count >= 4; count -= 4, x += 4, end += 4) {
            end[0] = x[0];
            end[1] = x[1];
            end[2] = x[2];
            end[3] = x[3];
        }
        for (; count > 0; count--)
            *end++ = *x++;
    } else {
        const int8_t *x = (const int8_t *)from + first;
        for (; count > 0; count--)
            *end++ = (int16_t)(*x++ - zero_point);
    }
    *to = end;
}

static inline void ctn_rows_zeros(int16_t **to, int32_t count) {
    for (; count > 0; count--)
        *(*to)++ = 0;
}

#endif
