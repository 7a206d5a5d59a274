/* Mean over windows on DSP cores, four channels at a time; the last may overlap those before, so
 * there are at least four. Taps are summed as int16, which holds 255 of them, then in
 * int32. What is divided, and how, is as in avg_pool2d_s8.c. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dsp.h"
#include "fix.h"
#include "loop.h"
#include "word.h"

enum { TAPS_MAX = 255 };

typedef struct {
    const int8_t *first; /* tap that lies in the image */
    int32_t lines, taps; /* per line */
    int32_t divisor;
} Window;

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* Sums of four channels from `q` on, over `lines` lines. */
static void window_sum(const CtnAvgPool2dS8Args *a, const Window *w, const int8_t *q,
                       int32_t *sum) {
    int32_t step = a->channels, room = TAPS_MAX;
    uint32_t even = 0, odd = 0;
    for (int32_t y = w->lines; y > 0; y--, q += (a->in_w - w->taps) * step) {
        for (int32_t left = w->taps; left > 0;) {
            int32_t taps = least(left, room);
            left -= taps;
            room -= taps;
            for (; taps > 0; taps--, q += step) {
                uint32_t four = ctn_load_word(q);
                even = ctn_sxtab16(even, four);
                odd = ctn_sxtab16_odd(odd, four);
            }
            if (room > 0 && (y > 1 || left > 0))
                continue;
            sum[0] += (int16_t)even;
            sum[1] += (int16_t)odd;
            sum[2] += (int16_t)(even >> 16);
            sum[3] += (int16_t)(odd >> 16);
            even = odd = 0;
            room = TAPS_MAX;
        }
    }
}

static void channels(const CtnAvgPool2dS8Args *a, const Window *w, int32_t channel,
                     const int8_t *table, int8_t *output) {
    int32_t sum[4], padding = (w->divisor - w->lines * w->taps) * a->input_zero_point;
    for (int i = 0; i < 4; i++)
        sum[i] = padding;
    window_sum(a, w, w->first + channel, sum);
    for (int32_t i = 0; i < 4; i++) {
        int32_t mean = 0;
        if (a->multiplier == 0)
            mean = ctn_div(sum[i], w->divisor);
        else
            mean = ctn_requantize(
                       ctn_div((sum[i] - w->divisor * a->input_zero_point) * 256, w->divisor),
                       a->multiplier, a->shift) +
                   a->output_zero_point;
        output[channel + i] = ctn_finish_s8(mean, a->clamp_min, a->clamp_max, table);
    }
}

static Window window_at(const CtnAvgPool2dS8Args *a, const int8_t *input, int32_t oy, int32_t ox) {
    int32_t y0 = oy * a->stride_h - a->pad_top, x0 = ox * a->stride_w - a->pad_left;
    CtnSpan ky = ctn_span(y0, 1, a->kernel_h, a->in_h);
    CtnSpan kx = ctn_span(x0, 1, a->kernel_w, a->in_w);
    Window w = {.first = input + ((y0 + ky.first) * a->in_w + x0 + kx.first) * a->channels,
                .lines = ky.end - ky.first,
                .taps = kx.end - kx.first};
    w.divisor = w.lines * w.taps;
    if (a->divisor > 0)
        w.divisor = a->divisor;
    else if (a->include_padding) /* windows end at the padded image (ceil mode) */
        w.divisor = (least(y0 + a->kernel_h, a->in_h + a->pad_bottom) - y0) *
                    (least(x0 + a->kernel_w, a->in_w + a->pad_right) - x0);
    return w;
}

void ctn_avg_pool2d_s8_dsp(const CtnAvgPool2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels)
        for (int32_t oy = 0; oy < a->out_h; oy++)
            for (int32_t ox = 0; ox < a->out_w; ox++, output += a->channels) {
                Window w = window_at(a, input, oy, ox);
                for (int32_t c = 0; c < a->channels; c += 4)
                    channels(a, &w, least(c, a->channels - 4), table, output);
            }
}
#endif
