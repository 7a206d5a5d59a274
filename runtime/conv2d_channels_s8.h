/* Some output channels of a convolution: those that the fast kernel of the others cannot scale.
 * Over ctn_channel_dot, which was defined before:
 *
 *   int32_t ctn_channel_dot(const int8_t *q, const int8_t *w, int32_t depth, int32_t zero_point)
 *
 * the sum of (q - zero_point) * w. The host has proven that bias plus the sum fits int32. */
#ifndef CTN_CONV2D_CHANNELS_S8_H
#define CTN_CONV2D_CHANNELS_S8_H

#include "ctn.h"
#include "fix.h"

/* The row or column of the input at p, or -1. */
static inline int32_t ctn_channel_source(int32_t p, int32_t ratio, int32_t size) {
    if (p < 0)
        return -1;
    if (ratio > 1) {
        if (p % ratio != 0)
            return -1;
        p /= ratio;
    }
    return p < size ? p : -1;
}

typedef struct { /* one output channel */
    const int8_t *weights, *table;
    int32_t bias, multiplier, shift;
} CtnChannel;

/* The products of one output position, whose window begins at (down, across); `image` is the first
 * input channel that is read. */
static inline int32_t ctn_channel_sum(const CtnConv2dChannelsS8Args *a, const int8_t *image,
                                      const int8_t *weights, int32_t down, int32_t across) {
    const int32_t depth = a->depth;
    int32_t sum = 0;
    for (int32_t ky = a->kernel_h; ky > 0; ky--, down += a->tap_h) {
        int32_t y = ctn_channel_source(down, a->ratio_h, a->in_h), at = across;
        if (y < 0) {
            weights += a->kernel_w * depth;
            continue;
        }
        const int8_t *row = image + y * a->in_w * a->in_c;
        for (int32_t kx = a->kernel_w; kx > 0; kx--, at += a->tap_w, weights += depth) {
            int32_t x = ctn_channel_source(at, a->ratio_w, a->in_w);
            if (x >= 0)
                sum += ctn_channel_dot(row + x * a->in_c, weights, depth, a->input_zero_point);
        }
    }
    return sum;
}

/* The channel of one image, pixel after pixel. */
static inline void ctn_channel_image(const CtnConv2dChannelsS8Args *a, const CtnChannel *channel,
                                     const int8_t *image, int8_t *output) {
    const CtnChannel c = *channel; /* a copy, which stores of bytes cannot change */
    for (int32_t oy = a->out_h, down = a->start_h; oy > 0; oy--, down += a->step_h)
        for (int32_t ox = a->out_w, across = a->start_w; ox > 0; ox--, across += a->step_w) {
            int32_t sum = ctn_channel_sum(a, image, c.weights, down, across);
            sum = ctn_requantize(sum + c.bias, c.multiplier, c.shift) + a->output_zero_point;
            *output = ctn_finish_s8(sum, a->clamp_min, a->clamp_max, c.table);
            output += a->out_c;
        }
}

static inline void ctn_conv2d_channels(const CtnConv2dChannelsS8Args *a, const CtnFrame *frame) {
    const int32_t *bias = ctn_at(frame, a->bias), *multiplier = ctn_at(frame, a->multiplier);
    const int32_t *channels = ctn_at(frame, a->channels);
    const int8_t *shift = ctn_at(frame, a->shift);
    CtnChannel c = {.weights = ctn_at(frame, a->weights), .table = ctn_at(frame, a->table)};
    for (int32_t i = 0; i < a->channel_count; i++, channels += 2) {
        const int8_t *input = (const int8_t *)ctn_at(frame, a->input) + channels[1];
        int8_t *output = (int8_t *)ctn_at(frame, a->output) + channels[0];
        c.bias = bias ? bias[i] : 0;
        c.multiplier = multiplier[i];
        c.shift = shift[i];
        for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->in_c) {
            ctn_channel_image(a, &c, input, output);
            output += a->out_h * a->out_w * a->out_c;
        }
        c.weights += a->kernel_h * a->kernel_w * a->depth;
    }
}

#endif
