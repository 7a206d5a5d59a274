/* Convolution between activations of 8 or 16 bits, weights int8; also depthwise (groups = in_c). */
#include "ctn.h"
#include "loop.h"
#include "map_s16.h"
#include "wide.h"

/* The products of one output channel, whose group starts at element `image` of the input. */
static int64_t tap_sum(const CtnConv2dS16Args *a, const uint8_t *input, int32_t image,
                       const int8_t *weights, int32_t y0, int32_t x0, CtnSpan ky_span,
                       CtnSpan kx_span) {
    int32_t depth = a->in_c / a->groups;
    int64_t sum = 0;
    for (int32_t ky = ky_span.first; ky < ky_span.end; ky++) {
        int32_t y = y0 + ky * a->dilation_h;
        for (int32_t kx = kx_span.first; kx < kx_span.end; kx++) {
            int32_t at = image + (y * a->in_w + x0 + kx * a->dilation_w) * a->in_c;
            sum += ctn_dot_wide(input + at * a->input_bytes, a->input_bytes, a->input_zero_point,
                                weights + (ky * a->kernel_w + kx) * depth, depth);
        }
    }
    return sum;
}

void ctn_conv2d_s16(const CtnConv2dS16Args *a, const CtnFrame *frame) {
    const uint8_t *input = ctn_at(frame, a->input);
    const int8_t *weights = ctn_at(frame, a->weights);
    const int32_t *bias = ctn_at(frame, a->bias);
    const int32_t *multiplier = ctn_at(frame, a->multiplier);
    const int8_t *shift = ctn_at(frame, a->shift);
    const CtnMapS16 map = CTN_MAP_S16(a, frame);
    void *output = ctn_at(frame, a->output);
    int32_t depth = a->in_c / a->groups, group_out = a->out_c / a->groups, at = 0;
    int32_t filter = a->kernel_h * a->kernel_w * depth;
    for (int32_t b = 0; b < a->batches; b++) {
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            int32_t y0 = oy * a->stride_h - a->pad_top;
            CtnSpan ky = ctn_span(y0, a->dilation_h, a->kernel_h, a->in_h);
            for (int32_t ox = 0; ox < a->out_w; ox++) {
                int32_t x0 = ox * a->stride_w - a->pad_left;
                CtnSpan kx = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
                for (int32_t oc = 0; oc < a->out_c; oc++) {
                    int32_t image = b * a->in_h * a->in_w * a->in_c + oc / group_out * depth;
                    int64_t sum = tap_sum(a, input, image, weights + oc * filter, y0, x0, ky, kx);
                    int32_t q =
                        ctn_requantize_wide(sum + (bias ? bias[oc] : 0), multiplier[oc], shift[oc]);
                    q = ctn_clamp(q + a->output_zero_point, a->clamp_min, a->clamp_max);
                    ctn_store_wide(output, a->output_bytes, at++, ctn_map_s16(&map, q));
                }
            }
        }
    }
}
