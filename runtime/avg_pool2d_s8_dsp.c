/* Mean over windows on DSP cores, eight or four channels at a time; the last four may overlap those
 * before, so there are at least four. Taps are summed as int16, which holds 255 of them, then in
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

static void widen(int32_t *sum, uint32_t even, uint32_t odd) {
    sum[0] += (int16_t)even;
    sum[1] += (int16_t)odd;
    sum[2] += (int16_t)(even >> 16);
    sum[3] += (int16_t)(odd >> 16);
}

/* Sums of eight channels over `taps` taps of one line. */
static void line_sum_8(const int8_t *q, int32_t taps, int32_t step, uint32_t *pairs) {
    uint32_t p0 = pairs[0], p1 = pairs[1], p2 = pairs[2], p3 = pairs[3];
    for (; taps > 0; taps--, q += step) {
        uint32_t low = ctn_load_word(q), high = ctn_load_word(q + 4);
        p0 = ctn_sxtab16(p0, low);
        p1 = ctn_sxtab16_odd(p1, low);
        p2 = ctn_sxtab16(p2, high);
        p3 = ctn_sxtab16_odd(p3, high);
    }
    pairs[0] = p0;
    pairs[1] = p1;
    pairs[2] = p2;
    pairs[3] = p3;
}

static void line_sum_4(const int8_t *q, int32_t taps, int32_t step, uint32_t *pairs) {
    for (; taps > 0; taps--, q += step) {
        uint32_t low = ctn_load_word(q);
        pairs[0] = ctn_sxtab16(pairs[0], low);
        pairs[1] = ctn_sxtab16_odd(pairs[1], low);
    }
}

/* Sums of `count` channels, 4 or 8, from `channel` on. */
static void window_sum(const CtnAvgPool2dS8Args *a, const Window *w, int32_t channel, int32_t count,
                       int32_t *sum) {
    uint32_t pairs[4] = {0};
    int32_t room = TAPS_MAX;
    const int8_t *line = w->first + channel;
    for (int32_t y = 0; y < w->lines; y++, line += a->in_w * a->channels) {
        const int8_t *q = line;
        for (int32_t left = w->taps, taps; left > 0; left -= taps) {
            taps = least(left, room);
            if (count == 8)
                line_sum_8(q, taps, a->channels, pairs);
            else
                line_sum_4(q, taps, a->channels, pairs);
            q += taps * a->channels;
            room -= taps;
            if (room == 0 || (y == w->lines - 1 && taps == left)) {
                widen(sum, pairs[0], pairs[1]);
                if (count == 8)
                    widen(sum + 4, pairs[2], pairs[3]);
                pairs[0] = pairs[1] = pairs[2] = pairs[3] = 0;
                room = TAPS_MAX;
            }
        }
    }
}

static void channels(const CtnAvgPool2dS8Args *a, const Window *w, int32_t channel, int32_t count,
                     const int8_t *table, int8_t *output) {
    int32_t sum[8], padding = (w->divisor - w->lines * w->taps) * a->input_zero_point;
    for (int i = 0; i < 8; i++)
        sum[i] = padding;
    window_sum(a, w, channel, count, sum);
    for (int32_t i = 0; i < count; i++) {
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
                int32_t c = 0;
                for (; c <= a->channels - 8; c += 8)
                    channels(a, &w, c, 8, table, output);
                for (; c < a->channels; c += 4)
                    channels(a, &w, least(c, a->channels - 4), 4, table, output);
            }
}
#endif
