/* Mean over windows from and to 8 or 16 bits. As in avg_pool2d_s8 a padding tap that counts is
 * worth the zero point, so only real taps add to the sum of corrected values. A mean of int8 values
 * has bits below the input's step that an int16 keeps: it is taken in steps of 2^-16. Windows are
 * below 2^15 taps.
 * A kernel defines before:
 *
 *   AvgArgs             its arguments
 *   AVG_STORED(map, q)  what it stores of q */
#ifndef CTN_AVG_POOL2D_S16_H
#define CTN_AVG_POOL2D_S16_H

#include "loop.h"
#include "wide.h"

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* What the sum of a window is divided by; windows end at the padded image (ceil mode). */
static int32_t divisor_of(const AvgArgs *a, int32_t y0, int32_t x0, int32_t taps) {
    if (a->divisor > 0)
        return a->divisor;
    if (!a->include_padding)
        return taps;
    int32_t height = least(y0 + a->kernel_h, a->in_h + a->pad_bottom) - y0;
    int32_t width = least(x0 + a->kernel_w, a->in_w + a->pad_right) - x0;
    return height * width;
}

/* sum * 2^16 / divisor, rounded half away from zero; |sum| < 2^31, divisor > 0. Behind the point
 * bit by bit: a division of 64 bits would be a large function of the compiler's library. */
static int64_t mean_of(int32_t sum, int32_t divisor) {
    enum { FRACTION = 16 };
    uint32_t size = sum < 0 ? -(uint32_t)sum : (uint32_t)sum, by = (uint32_t)divisor;
    uint32_t rest = size % by, fraction = 0;
    for (int bit = 0; bit < FRACTION; bit++) {
        rest <<= 1; /* below 2^32, for it was below the divisor */
        fraction <<= 1;
        if (rest >= by) {
            rest -= by;
            fraction++;
        }
    }
    int64_t mean = ((int64_t)(size / by) << FRACTION) + fraction + (2 * rest >= by);
    return sum < 0 ? -mean : mean;
}

/* count values a step apart. */
static int32_t row_sum(const void *input, int32_t bytes, int32_t at, int32_t step, int32_t count) {
    const int16_t *q16 = input;
    const int8_t *q8 = input;
    int32_t sum = 0;
    if (bytes == 2)
        for (q16 += at; count > 0; count--, q16 += step)
            sum += *q16;
    else
        for (q8 += at; count > 0; count--, q8 += step)
            sum += *q8;
    return sum;
}

static void pixel(const AvgArgs *a, const void *input, int32_t image, int32_t y0, int32_t x0,
                  void *output, int32_t out, const void *map) {
    CtnSpan ky_span = ctn_span(y0, 1, a->kernel_h, a->in_h);
    CtnSpan kx_span = ctn_span(x0, 1, a->kernel_w, a->in_w);
    int32_t taps = (ky_span.end - ky_span.first) * (kx_span.end - kx_span.first);
    int32_t divisor = divisor_of(a, y0, x0, taps);
    for (int32_t c = 0; c < a->channels; c++) {
        int32_t sum = -taps * a->input_zero_point;
        for (int32_t ky = ky_span.first; ky < ky_span.end; ky++) {
            int32_t at = image + ((y0 + ky) * a->in_w + x0 + kx_span.first) * a->channels + c;
            sum += row_sum(input, a->input_bytes, at, a->channels, kx_span.end - kx_span.first);
        }
        int64_t mean = divisor > 0 ? mean_of(sum, divisor) : 0;
        int32_t q = ctn_requantize_wide(mean, a->multiplier, a->shift);
        q = ctn_clamp(q + a->output_zero_point, a->clamp_min, a->clamp_max);
        ctn_store_wide(output, a->output_bytes, out + c, AVG_STORED(map, q));
    }
}

static inline void avg_pool(const AvgArgs *a, const CtnFrame *frame, const void *map) {
    const void *input = ctn_at(frame, a->input);
    void *output = ctn_at(frame, a->output);
    int32_t at = 0;
    for (int32_t b = 0; b < a->batches; b++)
        for (int32_t oy = 0; oy < a->out_h; oy++)
            for (int32_t ox = 0; ox < a->out_w; ox++, at += a->channels)
                pixel(a, input, b * a->in_h * a->in_w * a->channels, oy * a->stride_h - a->pad_top,
                      ox * a->stride_w - a->pad_left, output, at, map);
}

#endif
