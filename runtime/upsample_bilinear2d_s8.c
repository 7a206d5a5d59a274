/* Bilinear upsampling, channels last. Weights have 12 bits, so that a pixel of four neighbours,
 * |q| <= 128, stays within 128 * 2^24 = 2^31 below zero and 127 * 2^24 + 2^23 above. */
#include "bilinear.h"
#include "ctn.h"

/* v / 2^24, rounded half away from zero. */
static int32_t rounded(int32_t v) {
    const int32_t half = 1 << (2 * CTN_BILINEAR_BITS - 1);
    return (v < 0 ? v + (half - 1) : v + half) >> (2 * CTN_BILINEAR_BITS);
}

void ctn_upsample_bilinear2d_s8(const CtnUpsampleBilinear2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int32_t *rows = ctn_at(frame, a->rows), *columns = ctn_at(frame, a->columns);
    int8_t *output = ctn_at(frame, a->output);
    int32_t line = a->in_w * a->channels;
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * line)
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            CtnBilinearTap y = ctn_bilinear_tap(rows[oy], a->in_h);
            const int8_t *above = input + y.low * line, *below = input + y.high * line;
            for (int32_t ox = 0; ox < a->out_w; ox++) {
                CtnBilinearTap x = ctn_bilinear_tap(columns[ox], a->in_w);
                int32_t left = x.low * a->channels, right = x.high * a->channels;
                for (int32_t c = 0; c < a->channels; c++) {
                    int32_t top = ctn_bilinear_mix(above[left + c], above[right + c], x.weight);
                    int32_t bottom = ctn_bilinear_mix(below[left + c], below[right + c], x.weight);
                    *output++ = (int8_t)rounded(ctn_bilinear_mix(top, bottom, y.weight));
                }
            }
        }
}
