/* Normalization in plain C: groups may lie anyhow. */
#include "layer_norm_s8.h"

static CtnNorm statistics_of(const CtnLayerNormS8Args *a, const int8_t *input) {
    static const int32_t still[4] = {0};
    int32_t index[4] = {0}, offset = 0, zero = 0;
    int64_t sum = 0, squares = 0;
    do {
        int32_t q = input[offset] - a->input_zero_point;
        sum += q;
        squares += q * q;
    } while (ctn_step(4, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    return ctn_norm_of(a, sum, squares);
}

static int32_t shift_rounded(int64_t v, int bits) {
    return (int32_t)((v + ((int64_t)1 << (bits - 1))) >> bits);
}

static void normalize(const CtnLayerNormS8Args *a, const CtnFrame *frame, const int8_t *input,
                      int32_t parameter, int8_t *output) {
    const int16_t *gamma = ctn_at(frame, a->gamma);
    const int32_t *beta = ctn_at(frame, a->beta);
    const int8_t *table = ctn_at(frame, a->table);
    CtnNorm s = statistics_of(a, input);
    int32_t index[4] = {0}, offset = 0;
    do {
        int64_t away = (int64_t)(input[offset] - a->input_zero_point) * a->count - s.sum;
        int32_t x = shift_rounded(away * s.reciprocal, 62 - CTN_NORM_BITS - s.exponent);
        if (gamma)
            x = shift_rounded((int64_t)x * gamma[parameter], CTN_NORM_BITS);
        if (beta)
            x += beta[parameter];
        x = ctn_requantize(x, a->multiplier, a->shift) + a->output_zero_point;
        output[offset] = ctn_finish_s8(x, a->clamp_min, a->clamp_max, table);
    } while (ctn_step(4, a->reduced, index, a->reduced_stride, &offset, a->reduced_parameter_stride,
                      &parameter));
}

void ctn_layer_norm_s8(const CtnLayerNormS8Args *a, const CtnFrame *frame) {
    ctn_norm_all(a, frame, normalize);
}
