/* Maximum over windows, eight or four channels at a time, on a level whose header of words was
 * included before (ctn_max4, ctn_min4: of four signed bytes); the last four channels may overlap
 * those before, so there are at least four. */
#ifndef CTN_MAX_POOL_S8_H
#define CTN_MAX_POOL_S8_H

#include "ctn.h"
#include "fix.h"
#include "loop.h"
#include "word.h"

typedef struct {
    const int8_t *first; /* tap that lies in the image */
    int32_t lines, taps; /* per line */
    int32_t line_step, tap_step;
} CtnPoolWindow;

enum { CTN_POOL_LOWEST = -0x7f7f7f80 }; /* four bytes of -128 */

static inline void ctn_pool_8(const CtnPoolWindow *w, int32_t channel, uint32_t max[2]) {
    uint32_t low = (uint32_t)CTN_POOL_LOWEST, high = low;
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

static inline uint32_t ctn_pool_4(const CtnPoolWindow *w, int32_t channel) {
    uint32_t max = (uint32_t)CTN_POOL_LOWEST;
    const int8_t *line = w->first + channel;
    for (int32_t y = w->lines; y > 0; y--, line += w->line_step) {
        const int8_t *q = line;
        for (int32_t x = w->taps; x > 0; x--, q += w->tap_step)
            max = ctn_max4(max, ctn_load_word(q));
    }
    return max;
}

static inline void ctn_pool_store(const CtnMaxPool2dS8Args *a, int8_t *output, uint32_t max,
                                  const int8_t *table) {
    if (!table && a->clamp_max - a->clamp_min == 255) {
        ctn_store_word(output, max);
        return;
    }
    if (!table) {
        uint32_t low = (uint8_t)a->clamp_min * 0x01010101u;
        uint32_t high = (uint8_t)a->clamp_max * 0x01010101u;
        ctn_store_word(output, ctn_min4(ctn_max4(max, low), high));
        return;
    }
    for (int i = 0; i < 4; i++)
        output[i] = ctn_finish_s8((int8_t)(max >> 8 * i), a->clamp_min, a->clamp_max, table);
}

static inline void ctn_pool_pixel(const CtnMaxPool2dS8Args *a, const CtnPoolWindow *w,
                                  int8_t *output, const int8_t *table) {
    int32_t c = 0;
    for (; c <= a->channels - 8; c += 8) {
        uint32_t max[2];
        ctn_pool_8(w, c, max);
        ctn_pool_store(a, output + c, max[0], table);
        ctn_pool_store(a, output + c + 4, max[1], table);
    }
    for (; c < a->channels; c += 4) {
        int32_t first = c > a->channels - 4 ? a->channels - 4 : c;
        ctn_pool_store(a, output + first, ctn_pool_4(w, first), table);
    }
}

static inline void ctn_max_pool_s8(const CtnMaxPool2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    CtnPoolWindow w = {.line_step = a->dilation_h * a->in_w * a->channels,
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
                ctn_pool_pixel(a, &w, output, table);
            }
        }
    }
}

#endif
