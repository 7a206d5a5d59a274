/* Maximum over windows of int16. Padding is skipped, so it never wins; a window without any tap
 * gives the smallest value. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

/* One output pixel: channels lie side by side in input and output. */
static void pixel(const CtnMaxPool2dS16Args *a, const int16_t *input, int32_t y0, int32_t x0,
                  CtnSpan ky_span, CtnSpan kx_span, int16_t *output) {
    for (int32_t c = 0; c < a->channels; c++)
        output[c] = -32768;
    for (int32_t ky = ky_span.first; ky < ky_span.end; ky++) {
        for (int32_t kx = kx_span.first; kx < kx_span.end; kx++) {
            const int16_t *q =
                input +
                ((y0 + ky * a->dilation_h) * a->in_w + x0 + kx * a->dilation_w) * a->channels;
            for (int32_t c = 0; c < a->channels; c++)
                output[c] = q[c] > output[c] ? q[c] : output[c];
        }
    }
}

void ctn_max_pool2d_s16(const CtnMaxPool2dS16Args *a, const CtnFrame *frame) {
    const int16_t *input = ctn_at(frame, a->input);
    int16_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels) {
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            int32_t y0 = oy * a->stride_h - a->pad_top;
            CtnSpan ky = ctn_span(y0, a->dilation_h, a->kernel_h, a->in_h);
            for (int32_t ox = 0; ox < a->out_w; ox++, output += a->channels) {
                int32_t x0 = ox * a->stride_w - a->pad_left;
                CtnSpan kx = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
                pixel(a, input, y0, x0, ky, kx, output);
                for (int32_t c = 0; c < a->channels; c++)
                    output[c] = (int16_t)ctn_clamp(output[c], a->clamp_min, a->clamp_max);
            }
        }
    }
}
