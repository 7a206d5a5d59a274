/* Depthwise convolution between 8 and 16 bits: for each output pixel a list of the taps that lie in
 * the image, then the channels, some at a time, by a loop that a level may bring (CTN_TAPS_LEVEL):
 *
 *   taps_run(t, channels, at)   channels of one pixel from the first on whose results begin at
 *                               element `at`; returns how many it has done
 *
 * A product is below 2^22, and the host has proven at most 500 taps: sums stay within int32. */
#ifndef CTN_TAPS_S16_H
#define CTN_TAPS_S16_H

#include "ctn.h"
#include "loop.h"
#include "rows_s16.h"

typedef struct {
    int32_t input, weight; /* elements from the image's and the weights' first */
} CtnTapS16;

typedef struct {
    const CtnConv2dS16Args *a;
    const CtnRows *rows;
    const void *image;
    CtnTapS16 *tap;
    int32_t count;
} CtnTapsS16;

/* Sums of `count` channels from one on. */
static inline void taps_store(const CtnTapsS16 *t, int32_t at, int32_t channel, const int32_t *sum,
                              int32_t count) {
    if (t->rows->narrow)
        ctn_rows_finish(t->rows, sum, channel, count, at);
    else
        for (int32_t i = 0; i < count; i++)
            ctn_rows_store_wide(t->rows, at, channel + i, sum[i]);
}

#ifdef CTN_TAPS_LEVEL
static inline int32_t taps_run(const CtnTapsS16 *t, int32_t channels, int32_t at);
#else
static inline int32_t taps_run(const CtnTapsS16 *t, int32_t channels, int32_t at) {
    (void)t, (void)channels, (void)at;
    return 0;
}
#endif

static inline void taps_list(CtnTapsS16 *t, int32_t oy, int32_t ox) {
    const CtnConv2dS16Args *a = t->a;
    int32_t y0 = oy * a->stride_h - a->pad_top, x0 = ox * a->stride_w - a->pad_left;
    CtnSpan down = ctn_span(y0, a->dilation_h, a->kernel_h, a->in_h);
    CtnSpan across = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
    CtnTapS16 *tap = t->tap;
    for (int32_t ky = down.first; ky < down.end; ky++)
        for (int32_t kx = across.first; kx < across.end; kx++, tap++) {
            tap->input = ((y0 + ky * a->dilation_h) * a->in_w + x0 + kx * a->dilation_w) * a->in_c;
            tap->weight = (ky * a->kernel_w + kx) * a->out_c;
        }
    t->count = (int32_t)(tap - t->tap);
}

/* Four channels, each with an input of its own. */
__attribute__((noinline)) static void taps_four(const CtnTapsS16 *t, int32_t c, int32_t *sum) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const int8_t *weights = t->rows->weights + c;
    const CtnTapS16 *end = t->tap + t->count;
    if (t->a->input_bytes == 2) {
        const int16_t *image = (const int16_t *)t->image + c;
        for (const CtnTapS16 *tap = t->tap; tap < end; tap++) {
            const int16_t *x = image + tap->input;
            const int8_t *w = weights + tap->weight;
            s0 += x[0] * w[0];
            s1 += x[1] * w[1];
            s2 += x[2] * w[2];
            s3 += x[3] * w[3];
        }
    } else {
        const int8_t *image = (const int8_t *)t->image + c;
        int32_t zero = t->a->input_zero_point;
        for (const CtnTapS16 *tap = t->tap; tap < end; tap++) {
            const int8_t *x = image + tap->input, *w = weights + tap->weight;
            s0 += (x[0] - zero) * w[0];
            s1 += (x[1] - zero) * w[1];
            s2 += (x[2] - zero) * w[2];
            s3 += (x[3] - zero) * w[3];
        }
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

static inline void taps_one(const CtnTapsS16 *t, int32_t c, int32_t input, int32_t at) {
    int32_t sum = 0;
    for (int32_t i = 0; i < t->count; i++) {
        int32_t q = ctn_load_wide(t->image, t->a->input_bytes, t->tap[i].input + input);
        sum += (q - t->a->input_zero_point) * t->rows->weights[t->tap[i].weight + c];
    }
    taps_store(t, at, c, &sum, 1);
}

static inline void taps_pixel(const CtnTapsS16 *t, int32_t at) {
    int32_t channels = t->a->out_c, c = 0;
    if (channels == t->a->in_c) {
        c = taps_run(t, channels, at);
        while (c + 4 <= channels) {
            int32_t sum[CTN_ROWS_BATCH], count = 0;
            for (; count < CTN_ROWS_BATCH && c + count + 4 <= channels; count += 4)
                taps_four(t, c + count, sum + count);
            taps_store(t, at, c, sum, count);
            c += count;
        }
        for (; c < channels; c++)
            taps_one(t, c, c, at);
        return;
    }
    int32_t per_input = channels / t->a->in_c;
    for (int32_t input = 0; c < channels; input++)
        for (int32_t i = 0; i < per_input; i++, c++)
            taps_one(t, c, input, at);
}

static inline void depthwise_by_taps(const CtnConv2dS16Args *a, const CtnFrame *frame,
                                     const CtnRows *rows) {
    CtnTapsS16 t = {.a = a, .rows = rows, .tap = ctn_at(frame, a->scratch)};
    const uint8_t *image = ctn_at(frame, a->input);
    int32_t at = 0;
    for (int32_t b = 0; b < a->batches; b++) {
        t.image = image + b * a->in_h * a->in_w * a->in_c * a->input_bytes;
        for (int32_t oy = 0; oy < a->out_h; oy++)
            for (int32_t ox = 0; ox < a->out_w; ox++, at += a->out_c) {
                taps_list(&t, oy, ox);
                taps_pixel(&t, at);
            }
    }
}

#endif
