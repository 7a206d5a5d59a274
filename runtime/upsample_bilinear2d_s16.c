/* Bilinear upsampling of int16, channels last: as upsample_bilinear2d_s8, but four neighbours of 16
 * bits by two weights of 12 bits need 40. */
#include "ctn.h"

enum { WEIGHT_BITS = 12, ONE = 1 << WEIGHT_BITS };

typedef struct {
    int32_t low, high, weight; /* weight of high; ONE - weight of low */
} Tap;

static Tap tap_of(int32_t packed, int32_t size) {
    Tap t = {packed >> (WEIGHT_BITS + 1), 0, packed & (2 * ONE - 1)};
    t.high = t.low < size - 1 ? t.low + 1 : t.low;
    return t;
}

/* Along a row: 28 bits. */
static int32_t across(int32_t low, int32_t high, int32_t weight) {
    return low * (ONE - weight) + high * weight;
}

/* Between two rows, / 2^24, rounded half away from zero. */
static int16_t down(int32_t top, int32_t bottom, int32_t weight) {
    const int64_t half = (int64_t)1 << (2 * WEIGHT_BITS - 1);
    int64_t v = (int64_t)top * (ONE - weight) + (int64_t)bottom * weight;
    return (int16_t)((v < 0 ? v + (half - 1) : v + half) >> (2 * WEIGHT_BITS));
}

void ctn_upsample_bilinear2d_s16(const CtnUpsampleBilinear2dS16Args *a, const CtnFrame *frame) {
    const int16_t *input = ctn_at(frame, a->input);
    const int32_t *rows = ctn_at(frame, a->rows), *columns = ctn_at(frame, a->columns);
    int16_t *output = ctn_at(frame, a->output);
    int32_t line = a->in_w * a->channels;
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * line)
        for (int32_t oy = 0; oy < a->out_h; oy++) {
            Tap y = tap_of(rows[oy], a->in_h);
            const int16_t *above = input + y.low * line, *below = input + y.high * line;
            for (int32_t ox = 0; ox < a->out_w; ox++) {
                Tap x = tap_of(columns[ox], a->in_w);
                int32_t left = x.low * a->channels, right = x.high * a->channels;
                for (int32_t c = 0; c < a->channels; c++) {
                    int32_t top = across(above[left + c], above[right + c], x.weight);
                    int32_t bottom = across(below[left + c], below[right + c], x.weight);
                    *output++ = down(top, bottom, y.weight);
                }
            }
        }
}
