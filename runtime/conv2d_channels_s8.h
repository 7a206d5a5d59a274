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

/* The products of one output channel; `image` is the first input channel that it reads and
 * `weights` its filter. */
static inline int32_t ctn_channel_sum(const CtnConv2dChannelsS8Args *a, const int8_t *image,
                                      const int8_t *weights, int32_t down, int32_t across) {
    const int32_t depth = a->depth;
    int32_t sum = 0;
    for (int32_t ky = a->kernel_h; ky > 0; ky--, down += a->tap_h) {
        int32_t y = ctn_channel_source(down, a->ratio_h, a->in_h), at = across;
        for (int32_t kx = a->kernel_w; kx > 0; kx--, at += a->tap_w, weights += depth) {
            int32_t x = y < 0 ? -1 : ctn_channel_source(at, a->ratio_w, a->in_w);
            if (x >= 0)
                sum += ctn_channel_dot(image + (y * a->in_w + x) * a->in_c, weights, depth,
                                       a->input_zero_point);
        }
    }
    return sum;
}

/* All listed channels of the output position whose window begins at (down, across). */
static inline void ctn_channel_pixel(const CtnConv2dChannelsS8Args *a, const CtnFrame *frame,
                                     const int8_t *input, int32_t down, int32_t across,
                                     int8_t *output) {
    const int8_t *weights = ctn_at(frame, a->weights);
    const int32_t *bias = ctn_at(frame, a->bias), *multiplier = ctn_at(frame, a->multiplier);
    const int32_t *channel = ctn_at(frame, a->channels);
    const int8_t *shift = ctn_at(frame, a->shift), *table = ctn_at(frame, a->table);
    const int32_t filter = a->kernel_h * a->kernel_w * a->depth;
    for (int32_t i = 0; i < a->channel_count; i++, channel += 2, weights += filter) {
        int32_t sum = ctn_channel_sum(a, input + channel[1], weights, down, across);
        sum = ctn_requantize(sum + (bias ? bias[i] : 0), multiplier[i], shift[i]);
        output[channel[0]] =
            ctn_finish_s8(sum + a->output_zero_point, a->clamp_min, a->clamp_max, table);
    }
}

static inline void ctn_conv2d_channels(const CtnConv2dChannelsS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->in_c)
        for (int32_t oy = 0, down = a->start_h; oy < a->out_h; oy++, down += a->step_h)
            for (int32_t ox = 0, across = a->start_w; ox < a->out_w; ox++, across += a->step_w) {
                ctn_channel_pixel(a, frame, input, down, across, output);
                output += a->out_c;
            }
}

#endif
