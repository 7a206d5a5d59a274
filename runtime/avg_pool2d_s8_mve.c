/* Mean over windows by MVE, sixteen or eight channels at a time. Taps are summed as int16, which
 * holds the 255 of them that a window may have here. What is divided, and how, is as in
 * avg_pool2d_s8.c. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "fix.h"
#include "loop.h"
#include "mve.h"

typedef struct {
    const int8_t *first; /* tap that lies in the image */
    int32_t lines, taps; /* taps per line */
    int32_t line_step, tap_step;
    int32_t divisor;
} Window;

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static void sum_16(const Window *w, int32_t channel, int16_t *sum) {
    int16x8_t low = vdupq_n_s16(0), high = vdupq_n_s16(0);
    const int8_t *line = w->first + channel;
    int32_t step = w->tap_step;
    for (int32_t left = w->lines; left > 0; left--, line += w->line_step) {
        const int8_t *q = line;
        for (int32_t taps = w->taps; taps > 0; taps--, q += step) {
            low = vaddq_s16(low, vldrbq_s16(q));
            high = vaddq_s16(high, vldrbq_s16(q + 8));
        }
    }
    vstrhq_s16(sum, low);
    vstrhq_s16(sum + 8, high);
}

static void sum_rest(const Window *w, int32_t channel, int32_t count, int16_t *sum) {
    mve_pred16_t live = vctp16q((uint32_t)count);
    int16x8_t all = vdupq_n_s16(0);
    const int8_t *line = w->first + channel;
    for (int32_t left = w->lines; left > 0; left--, line += w->line_step) {
        const int8_t *q = line;
        for (int32_t taps = w->taps; taps > 0; taps--, q += w->tap_step)
            all = vaddq_s16(all, vldrbq_z_s16(q, live));
    }
    vstrhq_s16(sum, all);
}

static void finish(const CtnAvgPool2dS8Args *a, const Window *w, const int16_t *sums, int32_t count,
                   const int8_t *table, int8_t *output) {
    int32_t padding = (w->divisor - w->lines * w->taps) * a->input_zero_point;
    for (int32_t i = 0; i < count; i++) {
        int32_t sum = sums[i] + padding, mean = 0;
        if (a->multiplier == 0)
            mean = ctn_div(sum, w->divisor);
        else
            mean =
                ctn_requantize(ctn_div((sum - w->divisor * a->input_zero_point) * 256, w->divisor),
                               a->multiplier, a->shift) +
                a->output_zero_point;
        output[i] = ctn_finish_s8(mean, a->clamp_min, a->clamp_max, table);
    }
}

static Window window_at(const CtnAvgPool2dS8Args *a, const int8_t *input, int32_t oy, int32_t ox) {
    int32_t y0 = oy * a->stride_h - a->pad_top, x0 = ox * a->stride_w - a->pad_left;
    CtnSpan ky = ctn_span(y0, 1, a->kernel_h, a->in_h);
    CtnSpan kx = ctn_span(x0, 1, a->kernel_w, a->in_w);
    Window w = {.first = input + ((y0 + ky.first) * a->in_w + x0 + kx.first) * a->channels,
                .lines = ky.end - ky.first,
                .taps = kx.end - kx.first,
                .line_step = a->in_w * a->channels,
                .tap_step = a->channels};
    w.divisor = w.lines * w.taps;
    if (a->divisor > 0)
        w.divisor = a->divisor;
    else if (a->include_padding) /* windows end at the padded image (ceil mode) */
        w.divisor = (least(y0 + a->kernel_h, a->in_h + a->pad_bottom) - y0) *
                    (least(x0 + a->kernel_w, a->in_w + a->pad_right) - x0);
    return w;
}

void ctn_avg_pool2d_s8_mve(const CtnAvgPool2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels)
        for (int32_t oy = 0; oy < a->out_h; oy++)
            for (int32_t ox = 0; ox < a->out_w; ox++, output += a->channels) {
                Window w = window_at(a, input, oy, ox);
                int16_t sums[16];
                for (int32_t c = 0, count; c < a->channels; c += count) {
                    count = a->channels - c >= 16 ? 16 : least(a->channels - c, 8);
                    if (count == 16)
                        sum_16(&w, c, sums);
                    else
                        sum_rest(&w, c, count, sums);
                    finish(a, &w, sums, count, table, output + c);
                }
            }
}
#endif
