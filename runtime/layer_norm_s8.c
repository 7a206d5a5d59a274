/* Normalization of groups of elements by their mean and variance, in integers throughout. With n
 * elements q (corrected by the zero point, 9 bits) the exact n^2 * variance is
 * n * sum(q^2) - sum(q)^2, below 2^60 for n below 2^22; so an element is (n * q - sum) divided by
 * the square root of that, whatever the input's scale. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

enum { ELEMENT_BITS = 16 }; /* fraction bits of a normalized element: |x| < 2^11 */

typedef struct { /* 1 / sqrt(v) = reciprocal * 2^(exponent - 62), 2^30 < reciprocal <= 2^31 */
    int64_t sum, reciprocal;
    int exponent;
} Statistics;

static uint32_t square_root(uint64_t v) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= v)
            root |= bit;
    return (uint32_t)root;
}

static Statistics statistics_of(const CtnLayerNormS8Args *a, const int8_t *input) {
    static const int32_t still[4] = {0};
    int32_t index[4] = {0}, offset = 0, zero = 0;
    int64_t sum = 0, squares = 0;
    do {
        int32_t q = input[offset] - a->input_zero_point;
        sum += q;
        squares += q * q;
    } while (ctn_step(4, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    Statistics s = {a->centered ? sum : 0, 0, 0};
    uint64_t epsilon = (uint64_t)(uint32_t)a->epsilon_high << 32 | (uint32_t)a->epsilon_low;
    uint64_t v = (uint64_t)(squares * a->count - s.sum * s.sum) + epsilon;
    if (v == 0)
        v = 1; /* all elements are zero then */
    while (v < (uint64_t)1 << 62) {
        v <<= 2;
        s.exponent++;
    }
    s.reciprocal = (int64_t)(((uint64_t)1 << 62) / square_root(v));
    return s;
}

static int32_t shift_rounded(int64_t v, int bits) {
    return (int32_t)((v + ((int64_t)1 << (bits - 1))) >> bits);
}

static void normalize(const CtnLayerNormS8Args *a, const int8_t *input, int32_t parameter,
                      const CtnFrame *frame, int8_t *output) {
    const int16_t *gamma = ctn_at(frame, a->gamma);
    const int32_t *beta = ctn_at(frame, a->beta);
    const int8_t *table = ctn_at(frame, a->table);
    Statistics s = statistics_of(a, input);
    int32_t index[4] = {0}, offset = 0;
    do {
        int64_t away = (int64_t)(input[offset] - a->input_zero_point) * a->count - s.sum;
        int32_t x = shift_rounded(away * s.reciprocal, 62 - ELEMENT_BITS - s.exponent);
        if (gamma)
            x = shift_rounded((int64_t)x * gamma[parameter], ELEMENT_BITS);
        if (beta)
            x += beta[parameter];
        x = ctn_requantize(x, a->multiplier, a->shift) + a->output_zero_point;
        output[offset] = ctn_finish_s8(x, a->clamp_min, a->clamp_max, table);
    } while (ctn_step(4, a->reduced, index, a->reduced_stride, &offset, a->reduced_parameter_stride,
                      &parameter));
}

void ctn_layer_norm_s8(const CtnLayerNormS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[4] = {0}, offset = 0, parameter = 0;
    if (ctn_is_empty(4, a->dim) || ctn_is_empty(4, a->reduced))
        return;
    do {
        normalize(a, input + offset, parameter, frame, output + offset);
    } while (ctn_step(4, a->dim, index, a->stride, &offset, a->parameter_stride, &parameter));
}
