/* Bilinear upsampling of int16, channels last: as upsample_bilinear2d_s8, but four neighbours of 16
 * bits by two weights of 12 bits need 40. */
#include "bilinear.h"
#include "ctn.h"

/* Between two rows, / 2^24, rounded half away from zero. */
static int16_t down(int32_t top, int32_t bottom, int32_t weight) {
    const int64_t half = (int64_t)1 << (2 * CTN_BILINEAR_BITS - 1);
    int64_t v = (int64_t)top * (CTN_BILINEAR_ONE - weight) + (int64_t)bottom * weight;
    return (int16_t)((v < 0 ? v + (half - 1) : v + half) >> (2 * CTN_BILINEAR_BITS));
}

void ctn_upsample_bilinear2d_s16(const CtnUpsampleBilinear2dS16Args *a, const CtnFrame *frame) {
    const int16_t *input = ctn_at(frame, a->input);
    const int32_t *rows = ctn_at(frame, a->rows), *columns = ctn_at(frame, a->columns);
    int16_t *output = ctn_at(frame, a->output);
    int32_t line = a->in_w * a->channels;
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * line)
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            CtnBilinearTap y = ctn_bilinear_tap(rows[oy], a->in_h);
            const int16_t *above = input + y.low * line, *below = input + y.high * line;
            for (int32_t ox = 0; ox < a->out_w; ox++) {
                CtnBilinearTap x = ctn_bilinear_tap(columns[ox], a->in_w);
                int32_t left = x.low * a->channels, right = x.high * a->channels;
                for (int32_t c = 0; c < a->channels; c++) {
                    int32_t top = ctn_bilinear_mix(above[left + c], above[right + c], x.weight);
                    int32_t bottom = ctn_bilinear_mix(below[left + c], below[right + c], x.weight);
                    *output++ = down(top, bottom, y.weight);
                }
            }
        }
}
