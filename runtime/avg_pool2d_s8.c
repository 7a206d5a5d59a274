/* Mean over windows in plain C. A padding tap that counts is worth the zero point; so the divisor,
 * whatever it is, leaves divisor - taps times the zero point to be added to the raw sum. Windows
 * are below 2^15 taps, so that sums fit int32 in steps of 1/256. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* What the sum of a window is divided by; windows end at the padded image (ceil mode). */
static int32_t divisor_of(const CtnAvgPool2dS8Args *a, int32_t y0, int32_t x0, int32_t taps) {
    if (a->divisor > 0)
        return a->divisor;
    if (!a->include_padding)
        return taps;
    int32_t height = least(y0 + a->kernel_h, a->in_h + a->pad_bottom) - y0;
    int32_t width = least(x0 + a->kernel_w, a->in_w + a->pad_right) - x0;
    return height * width;
}

static void pixel(const CtnAvgPool2dS8Args *a, const int8_t *input, int32_t y0, int32_t x0,
                  const int8_t *table, int8_t *output) {
    CtnSpan ky_span = ctn_span(y0, 1, a->kernel_h, a->in_h);
    CtnSpan kx_span = ctn_span(x0, 1, a->kernel_w, a->in_w);
    int32_t taps = (ky_span.end - ky_span.first) * (kx_span.end - kx_span.first);
    int32_t divisor = divisor_of(a, y0, x0, taps);
    for (int32_t c = 0; c < a->channels; c++) {
        int32_t sum = (divisor - taps) * a->input_zero_point;
        for (int32_t ky = ky_span.first; ky < ky_span.end; ky++) {
            const int8_t *q = input + ((y0 + ky) * a->in_w + x0 + kx_span.first) * a->channels + c;
            for (int32_t kx = kx_span.first; kx < kx_span.end; kx++, q += a->channels)
                sum += *q;
        }
        int32_t mean = 0;
        if (a->multiplier == 0)
            mean = ctn_div(sum, divisor);
        else
            mean = ctn_requantize(ctn_div((sum - divisor * a->input_zero_point) * 256, divisor),
                                  a->multiplier, a->shift) +
                   a->output_zero_point;
        output[c] = ctn_finish_s8(mean, a->clamp_min, a->clamp_max, table);
    }
}

void ctn_avg_pool2d_s8(const CtnAvgPool2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels)
        for (int32_t oy = 0; oy < a->out_h; oy++)
            for (int32_t ox = 0; ox < a->out_w; ox++, output += a->channels)
                pixel(a, input, oy * a->stride_h - a->pad_top, ox * a->stride_w - a->pad_left,
                      table, output);
}
