/* Softmax over rows with a mask and any output grid. As softmax_s8: exponentials of the distance
 * to the row's maximum, summed with 12 integer bits (rows are below 4096 values), times a
 * reciprocal; then one requantization. */
#include "ctn.h"
#include "exp.h"

enum { SUM_BITS = 12, PROBABILITY_BITS = 24 };

static int counts(const CtnMaskedSoftmaxS8Args *a, const uint8_t *mask, int32_t i) {
    return !mask || (mask[i] != 0) != (a->mask_hides != 0);
}

static int32_t exp_of(const CtnMaskedSoftmaxS8Args *a, int32_t diff) {
    return ctn_exp_distance(diff, a->multiplier, a->shift);
}

static void softmax_row(const CtnMaskedSoftmaxS8Args *a, const int8_t *input, const uint8_t *mask,
                        int8_t *output) {
    int32_t max = -128, sum = 0;
    for (int32_t i = 0; i < a->row_size; i++)
        if (counts(a, mask, i) && input[i] > max)
            max = input[i];
    for (int32_t i = 0; i < a->row_size; i++)
        if (counts(a, mask, i) && input[i] - max >= a->diff_min)
            sum += ctn_div_pow2(exp_of(a, input[i] - max), SUM_BITS);
    int32_t scale = 0, bits = PROBABILITY_BITS;
    if (sum > 0) { /* the maximum itself adds one: 2^19 at least, so that 7 <= bits <= 19 */
        int headroom = ctn_leading_zeros((uint32_t)sum);
        scale = ctn_reciprocal_one_plus((int32_t)(((uint32_t)sum << headroom) - 0x80000000u));
        bits = SUM_BITS - headroom + 31 - PROBABILITY_BITS;
    }
    for (int32_t i = 0; i < a->row_size; i++) {
        int32_t p = 0, diff = input[i] - max;
        if (counts(a, mask, i) && diff >= a->diff_min)
            p = ctn_div_pow2(ctn_mul_high(scale, exp_of(a, diff)), bits);
        int32_t q = ctn_requantize(p, a->output_multiplier, a->output_shift);
        output[i] = (int8_t)ctn_clamp(q + a->output_zero_point, -128, 127);
    }
}

void ctn_masked_softmax_s8(const CtnMaskedSoftmaxS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const uint8_t *mask = ctn_at(frame, a->mask);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t row = 0; row < a->rows; row++)
        softmax_row(a, input + row * a->row_size,
                    mask ? mask + row % a->mask_rows * a->row_size : mask,
                    output + row * a->row_size);
}
