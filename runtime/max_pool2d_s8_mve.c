/* Maximum over windows by MVE, sixteen channels at a time. A table has 256 entries here, so that a
 * byte is an index. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "mve.h"

typedef struct {
    const int8_t *first; /* tap that lies in the image */
    int32_t lines, taps; /* taps per line */
    int32_t line_step, tap_step;
} Window;

typedef struct {
    int8x16_t min, max;
    const int8_t *table;
} End;

static void store(const End *end, int8_t *to, int8x16_t q, mve_pred16_t live) {
    q = vminq_s8(vmaxq_s8(q, end->min), end->max);
    if (end->table)
        q = vldrbq_gather_offset_s8(end->table, vreinterpretq_u8_s8(vsubq_s8(q, end->min)));
    vstrbq_p_s8(to, q, live);
}

static void pool_16(const Window *w, int32_t channel, const End *end, int8_t *output) {
    int8x16_t best = vdupq_n_s8(-128);
    const int8_t *line = w->first + channel;
    int32_t step = w->tap_step;
    for (int32_t left = w->lines; left > 0; left--, line += w->line_step) {
        const int8_t *q = line;
        for (int32_t taps = w->taps; taps > 0; taps--, q += step)
            best = vmaxq_s8(best, vldrbq_s8(q));
    }
    store(end, output + channel, best, vctp8q(16));
}

static void pool_rest(const Window *w, int32_t channel, int32_t count, const End *end,
                      int8_t *output) {
    mve_pred16_t live = vctp8q((uint32_t)count);
    int8x16_t best = vdupq_n_s8(-128);
    const int8_t *line = w->first + channel;
    for (int32_t left = w->lines; left > 0; left--, line += w->line_step) {
        const int8_t *q = line;
        for (int32_t taps = w->taps; taps > 0; taps--, q += w->tap_step)
            best = vmaxq_s8(best, vldrbq_z_s8(q, live));
    }
    store(end, output + channel, best, live);
}

void ctn_max_pool2d_s8_mve(const CtnMaxPool2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    const End end = {vdupq_n_s8((int8_t)a->clamp_min), vdupq_n_s8((int8_t)a->clamp_max),
                     ctn_at(frame, a->table)};
    Window w = {.line_step = a->dilation_h * a->in_w * a->channels,
                .tap_step = a->dilation_w * a->channels};
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels)
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            int32_t y0 = oy * a->stride_h - a->pad_top;
            CtnSpan ky = ctn_span(y0, a->dilation_h, a->kernel_h, a->in_h);
            w.lines = ky.end - ky.first;
            for (int32_t ox = 0; ox < a->out_w; ox++, output += a->channels) {
                int32_t x0 = ox * a->stride_w - a->pad_left, c = 0;
                CtnSpan kx = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
                w.taps = kx.end - kx.first;
                w.first = input + (y0 * a->in_w + x0) * a->channels + ky.first * w.line_step +
                          kx.first * w.tap_step;
                for (; c <= a->channels - 16; c += 16)
                    pool_16(&w, c, &end, output);
                if (c < a->channels)
                    pool_rest(&w, c, a->channels - c, &end, output);
            }
        }
}
#endif
