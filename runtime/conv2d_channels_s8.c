/* Some output channels of a convolution in plain C: those that the fast kernel of the others cannot
 * scale. The host has proven that bias plus the sum of products fits int32. */
#include "ctn.h"
#include "fix.h"

/* The row or column of the input at p, or -1. */
static int32_t source(int32_t p, int32_t ratio, int32_t size) {
    if (p < 0)
        return -1;
    if (ratio > 1) {
        if (p % ratio != 0)
            return -1;
        p /= ratio;
    }
    return p < size ? p : -1;
}

/* The products of one output channel; `image` is the first input channel of its group and
 * `weights` its filter. */
static int32_t tap_sum(const CtnConv2dChannelsS8Args *a, const int8_t *image, const int8_t *weights,
                       int32_t oy, int32_t ox) {
    int32_t depth = a->in_c / a->groups;
    int32_t sum = 0, first_x = a->start_w + ox * a->step_w, y_at = a->start_h + oy * a->step_h;
    for (int32_t ky = 0; ky < a->kernel_h; ky++, y_at += a->tap_h) {
        int32_t y = source(y_at, a->ratio_h, a->in_h), x_at = first_x;
        for (int32_t kx = 0; kx < a->kernel_w; kx++, x_at += a->tap_w, weights += depth) {
            int32_t x = y < 0 ? -1 : source(x_at, a->ratio_w, a->in_w);
            if (x < 0)
                continue;
            const int8_t *q = image + (y * a->in_w + x) * a->in_c;
            for (int32_t c = 0; c < depth; c++)
                sum += (q[c] - a->input_zero_point) * weights[c];
        }
    }
    return sum;
}

void ctn_conv2d_channels_s8(const CtnConv2dChannelsS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input), *weights = ctn_at(frame, a->weights);
    const int32_t *bias = ctn_at(frame, a->bias), *multiplier = ctn_at(frame, a->multiplier);
    const int32_t *channels = ctn_at(frame, a->channels);
    const int8_t *shift = ctn_at(frame, a->shift), *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t depth = a->in_c / a->groups, group_out = a->out_c / a->groups;
    int32_t filter = a->kernel_h * a->kernel_w * depth;
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->in_c) {
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            for (int32_t ox = 0; ox < a->out_w; ox++, output += a->out_c) {
                for (int32_t i = 0; i < a->channel_count; i++) {
                    const int8_t *image = input + channels[i] / group_out * depth;
                    int32_t sum = tap_sum(a, image, weights + i * filter, oy, ox);
                    sum = ctn_requantize(sum + (bias ? bias[i] : 0), multiplier[i], shift[i]);
                    output[channels[i]] = ctn_finish_s8(sum + a->output_zero_point, a->clamp_min,
                                                        a->clamp_max, table);
                }
            }
        }
    }
}
