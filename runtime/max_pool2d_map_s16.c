/* Maximum over windows of 8 or 16 bits with a function of it in its store (map_s16.h). Padding is
 * skipped, so it never wins; a window without any tap gives the smallest value. */
#include "ctn.h"
#include "loop.h"
#include "map_s16.h"
#include "wide.h"

typedef struct {
    CtnSpan ky, kx;
    int32_t y0, x0, image;
} Place;

static int32_t best_of(const CtnMaxPool2dMapS16Args *a, const void *input, const Place *p,
                       int32_t channel) {
    int32_t best = -32768;
    for (int32_t ky = p->ky.first; ky < p->ky.end; ky++) {
        int32_t row = p->image + (p->y0 + ky * a->dilation_h) * a->in_w + p->x0;
        for (int32_t kx = p->kx.first; kx < p->kx.end; kx++) {
            int32_t at = (row + kx * a->dilation_w) * a->channels + channel;
            int32_t q = ctn_load_wide(input, a->input_bytes, at);
            best = q > best ? q : best;
        }
    }
    return ctn_clamp(best, a->clamp_min, a->clamp_max);
}

void ctn_max_pool2d_map_s16(const CtnMaxPool2dMapS16Args *a, const CtnFrame *frame) {
    const CtnMapS16 map = CTN_MAP_S16(a, frame);
    const void *input = ctn_at(frame, a->input);
    void *output = ctn_at(frame, a->output);
    Place p = {{0, 0}, {0, 0}, 0, 0, 0};
    int32_t at = 0;
    for (int32_t b = 0; b < a->batches; b++, p.image += a->in_h * a->in_w) {
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            p.y0 = oy * a->stride_h - a->pad_top;
            p.ky = ctn_span(p.y0, a->dilation_h, a->kernel_h, a->in_h);
            for (int32_t ox = 0; ox < a->out_w; ox++) {
                p.x0 = ox * a->stride_w - a->pad_left;
                p.kx = ctn_span(p.x0, a->dilation_w, a->kernel_w, a->in_w);
                for (int32_t c = 0; c < a->channels; c++) {
                    int32_t q = best_of(a, input, &p, c);
                    q = a->input_bytes == 1 ? ctn_map_byte(q) : q;
                    ctn_store_wide(output, a->output_bytes, at++, ctn_map_s16(&map, q));
                }
            }
        }
    }
}
