/* Maximum over windows on DSP cores, eight or four channels at a time; the last four may overlap
 * those before, so there are at least four. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dsp.h"
#include "fix.h"
#include "loop.h"
#include "word.h"

typedef struct {
    const int8_t *first; /* tap that lies in the image */
    int32_t lines, taps; /* per line */
    int32_t line_step, tap_step;
} Window;

static const uint32_t lowest = 0x80808080u;

static void pool_8(const Window *w, int32_t channel, uint32_t max[2]) {
    uint32_t low = lowest, high = lowest;
    const int8_t *line = w->first + channel;
    for (int32_t y = w->lines; y > 0; y--, line += w->line_step) {
        const int8_t *q = line;
        for (int32_t x = w->taps; x > 0; x--, q += w->tap_step) {
            low = ctn_max4(low, ctn_load_word(q));
            high = ctn_max4(high, ctn_load_word(q + 4));
        }
    }
    max[0] = low;
    max[1] = high;
}

static uint32_t pool_4(const Window *w, int32_t channel) {
    uint32_t max = lowest;
    const int8_t *line = w->first + channel;
    for (int32_t y = w->lines; y > 0; y--, line += w->line_step) {
        const int8_t *q = line;
        for (int32_t x = w->taps; x > 0; x--, q += w->tap_step)
            max = ctn_max4(max, ctn_load_word(q));
    }
    return max;
}

static void store(const CtnMaxPool2dS8Args *a, int8_t *output, uint32_t max, const int8_t *table) {
    if (!table) {
        uint32_t low = (uint8_t)a->clamp_min * 0x01010101u;
        uint32_t high = (uint8_t)a->clamp_max * 0x01010101u;
        ctn_store_word(output, ctn_min4(ctn_max4(max, low), high));
        return;
    }
    for (int i = 0; i < 4; i++)
        output[i] = ctn_finish_s8((int8_t)(max >> 8 * i), a->clamp_min, a->clamp_max, table);
}

static void pixel(const CtnMaxPool2dS8Args *a, const Window *w, int8_t *output,
                  const int8_t *table) {
    int32_t c = 0;
    for (; c <= a->channels - 8; c += 8) {
        uint32_t max[2];
        pool_8(w, c, max);
        store(a, output + c, max[0], table);
        store(a, output + c + 4, max[1], table);
    }
    for (; c < a->channels; c += 4) {
        int32_t first = c > a->channels - 4 ? a->channels - 4 : c;
        store(a, output + first, pool_4(w, first), table);
    }
}

void ctn_max_pool2d_s8_dsp(const CtnMaxPool2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    Window w = {.line_step = a->dilation_h * a->in_w * a->channels,
                .tap_step = a->dilation_w * a->channels};
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels) {
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            int32_t y0 = oy * a->stride_h - a->pad_top;
            CtnSpan ky = ctn_span(y0, a->dilation_h, a->kernel_h, a->in_h);
            w.lines = ky.end - ky.first;
            const int8_t *line = input + (y0 + ky.first * a->dilation_h) * a->in_w * a->channels;
            for (int32_t ox = 0; ox < a->out_w; ox++, output += a->channels) {
                int32_t x0 = ox * a->stride_w - a->pad_left;
                CtnSpan kx = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
                w.taps = kx.end - kx.first;
                w.first = line + (x0 + kx.first * a->dilation_w) * a->channels;
                pixel(a, &w, output, table);
            }
        }
    }
}
#endif
