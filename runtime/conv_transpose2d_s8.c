/* Transposed convolution in plain C, as a gather: every output sums the taps that reach it, so no
 * accumulator image is needed. The host has proven that bias plus the sum fits int32. */
#include "ctn.h"
#include "fix.h"

/* The input row or column that tap k reads for output position o, or -1. */
static int32_t source(int32_t o, int32_t pad, int32_t k, int32_t dilation, int32_t stride,
                      int32_t size) {
    int32_t t = o + pad - k * dilation;
    if (t < 0 || t % stride != 0)
        return -1;
    t /= stride;
    return t < size ? t : -1;
}

static int32_t tap_sum(const CtnConvTranspose2dS8Args *a, const int8_t *image,
                       const int8_t *weights, int32_t oy, int32_t ox) {
    int32_t depth = a->in_c / a->groups;
    int32_t sum = 0;
    for (int32_t ky = 0; ky < a->kernel_h; ky++) {
        int32_t y = source(oy, a->pad_top, ky, a->dilation_h, a->stride_h, a->in_h);
        if (y < 0)
            continue;
        for (int32_t kx = 0; kx < a->kernel_w; kx++) {
            int32_t x = source(ox, a->pad_left, kx, a->dilation_w, a->stride_w, a->in_w);
            if (x < 0)
                continue;
            const int8_t *q = image + (y * a->in_w + x) * a->in_c;
            const int8_t *w = weights + (ky * a->kernel_w + kx) * depth;
            for (int32_t c = 0; c < depth; c++)
                sum += (q[c] - a->input_zero_point) * w[c];
        }
    }
    return sum;
}

void ctn_conv_transpose2d_s8(const CtnConvTranspose2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *weights = ctn_at(frame, a->weights);
    const int32_t *bias = ctn_at(frame, a->bias);
    const int32_t *multiplier = ctn_at(frame, a->multiplier);
    const int8_t *shift = ctn_at(frame, a->shift);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t depth = a->in_c / a->groups, group_out = a->out_c / a->groups;
    int32_t filter = a->kernel_h * a->kernel_w * depth;
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->in_c) {
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            for (int32_t ox = 0; ox < a->out_w; ox++) {
                for (int32_t oc = 0; oc < a->out_c; oc++) {
                    const int8_t *image = input + oc / group_out * depth;
                    int32_t sum = tap_sum(a, image, weights + oc * filter, oy, ox);
                    sum = ctn_requantize(sum + (bias ? bias[oc] : 0), multiplier[oc], shift[oc]);
                    *output++ = ctn_finish_s8(sum + a->output_zero_point, a->clamp_min,
                                              a->clamp_max, table);
                }
            }
        }
    }
}
