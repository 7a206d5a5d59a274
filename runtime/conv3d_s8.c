/* Convolution over depth, height and width in plain C. The host has proven that bias plus the sum
 * of products fits int32. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

typedef struct { /* one output position: the window's corner in the input and its live taps */
    int32_t z0, y0, x0;
    CtnSpan kz, ky, kx;
} Window;

static int32_t tap_sum(const CtnConv3dS8Args *a, const int8_t *image, const int8_t *weights,
                       const Window *at) {
    int32_t depth = a->in_c / a->groups;
    int32_t sum = 0;
    for (int32_t kz = at->kz.first; kz < at->kz.end; kz++) {
        int32_t z = at->z0 + kz * a->dilation_d;
        for (int32_t ky = at->ky.first; ky < at->ky.end; ky++) {
            int32_t y = at->y0 + ky * a->dilation_h;
            for (int32_t kx = at->kx.first; kx < at->kx.end; kx++) {
                int32_t x = at->x0 + kx * a->dilation_w;
                const int8_t *q = image + ((z * a->in_h + y) * a->in_w + x) * a->in_c;
                const int8_t *w = weights + ((kz * a->kernel_h + ky) * a->kernel_w + kx) * depth;
                for (int32_t c = 0; c < depth; c++)
                    sum += (q[c] - a->input_zero_point) * w[c];
            }
        }
    }
    return sum;
}

/* All channels of one output position. */
static void pixel(const CtnConv3dS8Args *a, const CtnFrame *frame, const int8_t *input,
                  const Window *at, int8_t *output) {
    const int8_t *weights = ctn_at(frame, a->weights);
    const int32_t *bias = ctn_at(frame, a->bias);
    const int32_t *multiplier = ctn_at(frame, a->multiplier);
    const int8_t *shift = ctn_at(frame, a->shift);
    const int8_t *table = ctn_at(frame, a->table);
    int32_t depth = a->in_c / a->groups, group_out = a->out_c / a->groups;
    int32_t filter = a->kernel_d * a->kernel_h * a->kernel_w * depth;
    for (int32_t oc = 0; oc < a->out_c; oc++) {
        int32_t sum = tap_sum(a, input + oc / group_out * depth, weights + oc * filter, at);
        sum = ctn_requantize(sum + (bias ? bias[oc] : 0), multiplier[oc], shift[oc]);
        output[oc] = ctn_finish_s8(sum + a->output_zero_point, a->clamp_min, a->clamp_max, table);
    }
}

void ctn_conv3d_s8(const CtnConv3dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    Window at;
    for (int32_t b = 0; b < a->batches; b++, input += a->in_d * a->in_h * a->in_w * a->in_c) {
        for (int32_t oz = 0; oz < a->out_d; oz++) {
            at.z0 = oz * a->stride_d - a->pad_front;
            at.kz = ctn_span(at.z0, a->dilation_d, a->kernel_d, a->in_d);
            for (int32_t oy = 0; oy < a->out_h; oy++) {
                at.y0 = oy * a->stride_h - a->pad_top;
                at.ky = ctn_span(at.y0, a->dilation_h, a->kernel_h, a->in_h);
                for (int32_t ox = 0; ox < a->out_w; ox++, output += a->out_c) {
                    at.x0 = ox * a->stride_w - a->pad_left;
                    at.kx = ctn_span(at.x0, a->dilation_w, a->kernel_w, a->in_w);
                    pixel(a, frame, input, &at, output);
                }
            }
        }
    }
}
