/* Softmax by a table of exponentials, for every level: the distance of a byte to its row's maximum
 * has at most 256 values. exponentials: int32 [entries], exp of distance 0, 1, ... in Q0.31; what
 * lies further off is worth nothing.
 *
 * With e >= 0 and scale >= 0 both roundings of softmax_s8 are half up, and nested floors are one:
 * (scale * e + 2^30 + 2^(30 + bits)) / 2^(31 + bits). The sum holds exp(0) / 2^12, so
 * 23 <= bits; the numerator is below 2^62 + 2^62. */
#include "ctn.h"
#include "exp.h"

enum { SUM_BITS = 12 };

static int32_t greatest(const int8_t *input, int32_t count) {
    int32_t max = -128;
    for (int32_t i = 0; i < count; i++)
        max = input[i] > max ? input[i] : max;
    return max;
}

static uint32_t sum_of(const int8_t *input, int32_t count, int32_t max, const int32_t *exponential,
                       uint32_t entries) {
    uint32_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        uint32_t distance = (uint32_t)(max - input[i]);
        if (distance < entries)
            sum += ((uint32_t)exponential[distance] + (1u << (SUM_BITS - 1))) >> SUM_BITS;
    }
    return sum;
}

static void softmax_row(const int8_t *input, int8_t *output, int32_t count,
                        const int32_t *exponential, uint32_t entries) {
    int32_t max = greatest(input, count);
    uint32_t sum = sum_of(input, count, max, exponential, entries);
    int headroom = ctn_leading_zeros(sum);
    int32_t fraction = (int32_t)((sum << headroom) - 0x80000000u);
    int32_t scale = ctn_reciprocal_one_plus(fraction);
    int32_t bits = SUM_BITS - headroom + 23;
    if (bits > 31) { /* every value is less than half a step */
        bits = 31;
        scale = 0;
    }
    int64_t round = ((int64_t)1 << 30) + ((int64_t)1 << (30 + bits));
    for (int32_t i = 0; i < count; i++) {
        uint32_t distance = (uint32_t)(max - input[i]);
        int32_t q = -128;
        if (distance < entries)
            q += (int32_t)(((int64_t)scale * exponential[distance] + round) >> 32) >> (bits - 1);
        output[i] = (int8_t)(q > 127 ? 127 : q);
    }
}

void ctn_softmax_s8_v6m(const CtnSoftmaxS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int32_t *exponential = ctn_at(frame, a->exponentials);
    int8_t *output = ctn_at(frame, a->output);
    uint32_t entries = a->diff_min <= -255 ? 256u : (uint32_t)(1 - a->diff_min);
    for (int32_t row = 0; row < a->rows; row++, input += a->row_size, output += a->row_size)
        softmax_row(input, output, a->row_size, exponential, entries);
}
