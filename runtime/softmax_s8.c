/* Softmax over rows, bit for bit arm_softmax_s8: exponentials of the distance to the row's
 * maximum, summed with 12 integer bits, times a reciprocal. Rows are below 4096 values, so that the
 * sum fits int32. Output scale 1/256, zero point -128. Distances below diff_min are worth nothing.
 */
#include "ctn.h"
#include "exp.h"

enum { SUM_BITS = 12 };

static int32_t exp_of(const CtnSoftmaxS8Args *a, int32_t diff) {
    return ctn_exp_distance(diff, a->multiplier, a->shift);
}

static void softmax_row(const CtnSoftmaxS8Args *a, const int8_t *input, int8_t *output) {
    int32_t max = -128, sum = 0;
    for (int32_t i = 0; i < a->row_size; i++)
        max = input[i] > max ? input[i] : max;
    for (int32_t i = 0; i < a->row_size; i++)
        if (input[i] - max >= a->diff_min)
            sum += ctn_div_pow2(exp_of(a, input[i] - max), SUM_BITS);
    int headroom = ctn_leading_zeros((uint32_t)sum);
    /* the sum is 1.f * 2^(SUM_BITS - headroom): keep f as Q0.31 */
    int32_t fraction = (int32_t)(((uint32_t)sum << headroom) - 0x80000000u);
    int32_t scale = ctn_reciprocal_one_plus(fraction);
    int32_t bits = SUM_BITS - headroom + 23;
    for (int32_t i = 0; i < a->row_size; i++) {
        int32_t q = -128, diff = input[i] - max;
        if (diff >= a->diff_min && bits <= 31) /* beyond: less than half a step */
            q += ctn_div_pow2(ctn_mul_high(scale, exp_of(a, diff)), bits);
        output[i] = (int8_t)ctn_clamp(q, -128, 127);
    }
}

void ctn_softmax_s8(const CtnSoftmaxS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t row = 0; row < a->rows; row++)
        softmax_row(a, input + row * a->row_size, output + row * a->row_size);
}
