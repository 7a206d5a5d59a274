/* Softmax over rows with or without a mask, from and to 8 or 16 bits: the arithmetic of
 * masked_softmax_s8. Rows are below 4096 values. */
#include "ctn.h"
#include "exp.h"
#include "wide.h"

enum { SUM_BITS = 12, PROBABILITY_BITS = 24 };

static int counts(const CtnSoftmaxS16Args *a, const uint8_t *mask, int32_t i) {
    return !mask || (mask[i] != 0) != (a->mask_hides != 0);
}

CTN_OUT_OF_LINE static int32_t exp_of(const CtnSoftmaxS16Args *a, int32_t diff) {
    return ctn_exp_distance(diff, a->multiplier, a->shift);
}

static void softmax_row(const CtnSoftmaxS16Args *a, const void *input, const uint8_t *mask,
                        void *output, int32_t start) {
    int32_t max = -32768, sum = 0;
    for (int32_t i = 0; i < a->row_size; i++) {
        int32_t q = ctn_load_wide(input, a->input_bytes, start + i);
        max = counts(a, mask, i) && q > max ? q : max;
    }
    for (int32_t i = 0; i < a->row_size; i++) {
        int32_t diff = ctn_load_wide(input, a->input_bytes, start + i) - max;
        if (counts(a, mask, i) && diff >= a->diff_min)
            sum += ctn_div_pow2(exp_of(a, diff), SUM_BITS);
    }
    int32_t scale = 0, bits = PROBABILITY_BITS;
    if (sum > 0) { /* the maximum itself adds one: 2^19 at least, so that 7 <= bits <= 19 */
        int headroom = ctn_leading_zeros((uint32_t)sum);
        scale = ctn_reciprocal_one_plus((int32_t)(((uint32_t)sum << headroom) - 0x80000000u));
        bits = SUM_BITS - headroom + 31 - PROBABILITY_BITS;
    }
    for (int32_t i = 0; i < a->row_size; i++) {
        int32_t p = 0, diff = ctn_load_wide(input, a->input_bytes, start + i) - max;
        if (counts(a, mask, i) && diff >= a->diff_min)
            p = ctn_div_pow2(ctn_mul_high(scale, exp_of(a, diff)), bits);
        int32_t q = ctn_requantize(p, a->output_multiplier, a->output_shift);
        q = a->output_bytes == 2 ? ctn_clamp(q, -32767, 32767)
                                 : ctn_clamp(q + a->output_zero_point, -128, 127);
        ctn_store_wide(output, a->output_bytes, start + i, q);
    }
}

void ctn_softmax_s16(const CtnSoftmaxS16Args *a, const CtnFrame *frame) {
    const void *input = ctn_at(frame, a->input);
    const uint8_t *mask = ctn_at(frame, a->mask);
    void *output = ctn_at(frame, a->output);
    for (int32_t row = 0; row < a->rows; row++)
        softmax_row(a, input, mask ? mask + row % a->mask_rows * a->row_size : mask, output,
                    row * a->row_size);
}
