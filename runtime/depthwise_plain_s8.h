/* Depthwise convolution in plain C with weights of 8 or 4 bits: the definition that every variant
 * equals. Weights lie [kernel_h][kernel_w][out_c], so neighbouring channels are neighbours. */
#ifndef CTN_DEPTHWISE_PLAIN_S8_H
#define CTN_DEPTHWISE_PLAIN_S8_H

#include "ctn.h"
#include "fix.h"
#include "loop.h"
#include "nibble.h"

/* The products of output channel oc; `image` points at the first element of its input. */
static inline int32_t ctn_depthwise_tap_sum(const CtnDepthwiseConv2dS8Args *a, const int8_t *image,
                                            const int8_t *weights, int32_t oc, int32_t y0,
                                            int32_t x0, CtnSpan ky_span, CtnSpan kx_span,
                                            int nibbles) {
    int32_t sum = 0;
    for (int32_t ky = ky_span.first; ky < ky_span.end; ky++) {
        const int8_t *q =
            image +
            ((y0 + ky * a->dilation_h) * a->in_w + x0 + kx_span.first * a->dilation_w) * a->in_c;
        int32_t w = (ky * a->kernel_w + kx_span.first) * a->out_c + oc;
        for (int32_t kx = kx_span.first; kx < kx_span.end; kx++) {
            sum += (*q - a->input_zero_point) * ctn_weight(weights, w, nibbles);
            q += a->dilation_w * a->in_c;
            w += a->out_c;
        }
    }
    return sum;
}

static inline void ctn_depthwise_plain(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame,
                                       int nibbles) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *weights = ctn_at(frame, a->weights);
    const int32_t *bias = ctn_at(frame, a->bias);
    const int32_t *multiplier = ctn_at(frame, a->multiplier);
    const int8_t *shift = ctn_at(frame, a->shift);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t per_input = a->out_c / a->in_c;
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->in_c) {
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            int32_t y0 = oy * a->stride_h - a->pad_top;
            CtnSpan ky = ctn_span(y0, a->dilation_h, a->kernel_h, a->in_h);
            for (int32_t ox = 0; ox < a->out_w; ox++) {
                int32_t x0 = ox * a->stride_w - a->pad_left;
                CtnSpan kx = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
                for (int32_t oc = 0; oc < a->out_c; oc++) {
                    const int8_t *image = input + (per_input == 1 ? oc : oc / per_input);
                    int32_t sum =
                        ctn_depthwise_tap_sum(a, image, weights, oc, y0, x0, ky, kx, nibbles);
                    sum = ctn_requantize(sum + (bias ? bias[oc] : 0), multiplier[oc], shift[oc]);
                    *output++ = ctn_finish_s8(sum + a->output_zero_point, a->clamp_min,
                                              a->clamp_max, table);
                }
            }
        }
    }
}

#endif
