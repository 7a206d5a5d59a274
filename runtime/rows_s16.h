/* Rows of int16 values times channels of int8 weights: what the variants of layers between 8 and 16
 * bits share. A level defines two loops before it includes this, for counts that are multiples of
 * CTN_ROWS_UNIT; sums wrap, but over CTN_ROWS_PART products they stay below 2^30:
 *
 *   dot_2x2(x0, x1, w, pitch, count, s)   s[0], s[1] = x0 times the channels at w and w + pitch;
 *                                         s[CTN_ROWS_BATCH] and the next likewise for x1
 *   dot_1x4(x, w, pitch, count, s)        s[0] .. s[3] = x times four channels
 *
 * Channels are filled up to a depth that is a multiple of CTN_ROWS_UNIT, and their number to one of
 * CTN_ROWS_CHANNELS; the weights there are zeros. Values have their zero point taken off. */
#ifndef CTN_ROWS_S16_H
#define CTN_ROWS_S16_H

#include "rows_size_s16.h"
#include "wide.h"

/* With CTN_ROWS_MAP the store applies a function. */
#ifdef CTN_ROWS_MAP
#include "map_s16.h"
#define CTN_ROWS_MAPPED(r, q) ctn_map_s16(&(r)->map, q)
#else
#define CTN_ROWS_MAPPED(r, q) (q)
#endif

typedef struct {
    const int8_t *weights; /* [channels][depth] */
    const int32_t *bias, *multiplier;
    const int8_t *shift;
    void *output;
    int32_t channels, depth, output_bytes, zero_point, min, max;
    int32_t narrow;      /* all sums fit int32 and all shifts are -2 or less */
    const int8_t *table; /* for levels whose store has one */
#ifdef CTN_ROWS_MAP
    CtnMapS16 map;
#endif
} CtnRows;

#ifndef CTN_ROWS_PAIR
#define CTN_ROWS_PAIR(depth) (2 * (depth)) /* bytes of weights of two channels */
#endif

/* sum * multiplier * 2^(shift - 31), rounded half up: the high word of the product rounded down,
 * then rounded half up by the rest of the shift, which is at least 1. */
static inline int32_t ctn_rows_requantize(int32_t sum, int32_t multiplier, int32_t shift) {
    int32_t high = (int32_t)(((int64_t)sum * multiplier) >> 32);
    return ((high >> (-2 - shift)) + 1) >> 1;
}

static inline void ctn_rows_put(const CtnRows *r, int32_t at, int32_t q) {
    q = ctn_clamp(q + r->zero_point, r->min, r->max);
    ctn_store_wide(r->output, r->output_bytes, at, CTN_ROWS_MAPPED(r, q));
}

/* Out of line: it is long, and called from loops that a compiler unrolls. */
__attribute__((noinline, unused)) static void ctn_rows_store_wide(const CtnRows *r, int32_t at,
                                                                  int32_t channel, int64_t sum) {
    ctn_rows_put(
        r, at + channel,
        ctn_requantize_wide(sum + r->bias[channel], r->multiplier[channel], r->shift[channel]));
}

#ifdef CTN_ROWS_LEVEL
static void ctn_rows_finish(const CtnRows *r, const int32_t *sum, int32_t channel, int32_t count,
                            int32_t at);
#else
/* Stores narrow sums of `count` channels from one on; `at` is the first channel's element. */
__attribute__((noinline, unused)) static void
ctn_rows_finish(const CtnRows *r, const int32_t *sum, int32_t channel, int32_t count, int32_t at) {
    const int32_t *bias = r->bias + channel, *multiplier = r->multiplier + channel;
    const int8_t *shift = r->shift + channel;
    int32_t zero_point = r->zero_point, min = r->min, max = r->max;
    at += channel;
    if (r->output_bytes == 2) {
        int16_t *output = (int16_t *)r->output + at;
        for (; count > 0; count--) {
            int32_t q = ctn_rows_requantize(*sum++ + *bias++, *multiplier++, *shift++);
            q = ctn_clamp(q + zero_point, min, max);
            *output++ = (int16_t)CTN_ROWS_MAPPED(r, q);
        }
    } else {
        int8_t *output = (int8_t *)r->output + at;
        for (; count > 0; count--) {
            int32_t q = ctn_rows_requantize(*sum++ + *bias++, *multiplier++, *shift++);
            q = ctn_clamp(q + zero_point, min, max);
            *output++ = (int8_t)CTN_ROWS_MAPPED(r, q);
        }
    }
}
#endif

static inline int32_t ctn_rows_least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* Two rows, whose results begin at elements at0 and at1 of the output. */
static inline void ctn_rows_two_narrow(const CtnRows *r, const int16_t *x0, const int16_t *x1,
                                       int32_t at0, int32_t at1) {
    int32_t sum[2 * CTN_ROWS_BATCH], depth = r->depth;
    const int8_t *w = r->weights;
    for (int32_t c = 0; c < r->channels; c += CTN_ROWS_BATCH) {
        int32_t count = ctn_rows_least(r->channels - c, CTN_ROWS_BATCH);
        for (int32_t i = 0; i < count; i += 2, w += CTN_ROWS_PAIR(depth))
            dot_2x2(x0, x1, w, depth, depth, sum + i);
        ctn_rows_finish(r, sum, c, count, at0);
        ctn_rows_finish(r, sum + CTN_ROWS_BATCH, c, count, at1);
    }
}

/* The same for sums of any size. */
static inline void ctn_rows_two_wide(const CtnRows *r, const int16_t *x0, const int16_t *x1,
                                     int32_t at0, int32_t at1) {
    int32_t part[2 * CTN_ROWS_BATCH];
    for (int32_t c = 0; c < r->channels; c += 2) {
        const int8_t *w = r->weights + c * r->depth;
        int64_t sum[4] = {0};
        for (int32_t k = 0; k < r->depth; k += CTN_ROWS_PART) {
            dot_2x2(x0 + k, x1 + k, w + k, r->depth, ctn_rows_least(r->depth - k, CTN_ROWS_PART),
                    part);
            for (int i = 0; i < 4; i++)
                sum[i] += part[i >> 1 ? CTN_ROWS_BATCH + (i & 1) : i];
        }
        for (int i = 0; i < 2 && c + i < r->channels; i++) {
            ctn_rows_store_wide(r, at0, c + i, sum[i]);
            ctn_rows_store_wide(r, at1, c + i, sum[2 + i]);
        }
    }
}

static inline void ctn_rows_two(const CtnRows *r, const int16_t *x0, const int16_t *x1, int32_t at0,
                                int32_t at1) {
    if (r->narrow)
        ctn_rows_two_narrow(r, x0, x1, at0, at1);
    else
        ctn_rows_two_wide(r, x0, x1, at0, at1);
}

static inline void ctn_rows_one_wide(const CtnRows *r, const int16_t *x, int32_t at) {
    for (int32_t c = 0; c < r->channels; c += CTN_ROWS_CHANNELS) {
        const int8_t *w = r->weights + c * r->depth;
        int64_t sum[CTN_ROWS_CHANNELS];
        for (int i = 0; i < CTN_ROWS_CHANNELS; i++)
            sum[i] = 0;
        for (int32_t k = 0; k < r->depth; k += CTN_ROWS_PART) {
            int32_t part[CTN_ROWS_CHANNELS];
            dot_1x4(x + k, w + k, r->depth, ctn_rows_least(r->depth - k, CTN_ROWS_PART), part);
            for (int i = 0; i < CTN_ROWS_CHANNELS; i++)
                sum[i] += part[i];
        }
        for (int i = 0; i < CTN_ROWS_CHANNELS && c + i < r->channels; i++)
            ctn_rows_store_wide(r, at, c + i, sum[i]);
    }
}

static inline void ctn_rows_one(const CtnRows *r, const int16_t *x, int32_t at) {
    int32_t sum[CTN_ROWS_BATCH];
    const int8_t *w = r->weights;
    if (!r->narrow) {
        ctn_rows_one_wide(r, x, at);
        return;
    }
    for (int32_t c = 0; c < r->channels; c += CTN_ROWS_BATCH) {
        int32_t count = ctn_rows_least(r->channels - c, CTN_ROWS_BATCH);
        for (int32_t i = 0; i < count; i += CTN_ROWS_CHANNELS, w += 2 * CTN_ROWS_PAIR(r->depth))
            dot_1x4(x, w, r->depth, r->depth, sum + i);
        ctn_rows_finish(r, sum, c, count, at);
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
