/* Log-softmax over rows: the distance to the row's maximum less the logarithm of the sum of
 * exponentials. Rows are below 4096 values, so that the sum fits int32 with 12 integer bits. */
#include "ctn.h"
#include "exp.h"

enum { SUM_BITS = 12, STEP_BITS = 8 };

static int32_t exp_of(const CtnLogSoftmaxS8Args *a, int32_t diff) {
    return ctn_exp_distance(diff, a->multiplier, a->shift);
}

/* ln(v / 2^19) in Q5.26 for 2^19 <= v < 2^31: the binary logarithm bit by bit, since squaring the
 * mantissa doubles its logarithm, times ln 2. */
static int32_t logarithm(uint32_t v) {
    const int32_t ln2 = 1488522236; /* Q0.31 */
    int headroom = ctn_leading_zeros(v);
    uint32_t mantissa = v << headroom; /* 1 <= m < 2, Q1.31 */
    int32_t log2 = SUM_BITS - headroom;
    for (int i = 0; i < 26; i++) {
        uint64_t square = (uint64_t)mantissa * mantissa;
        int carry = (int)(square >> 63);
        mantissa = (uint32_t)(square >> (carry ? 32 : 31));
        log2 = log2 * 2 + carry;
    }
    return ctn_mul_high(log2, ln2);
}

static void log_softmax_row(const CtnLogSoftmaxS8Args *a, const int8_t *input, int8_t *output) {
    int32_t max = -128, sum = 0;
    for (int32_t i = 0; i < a->row_size; i++)
        max = input[i] > max ? input[i] : max;
    for (int32_t i = 0; i < a->row_size; i++)
        if (input[i] - max >= a->diff_min)
            sum += ctn_div_pow2(exp_of(a, input[i] - max), SUM_BITS);
    int32_t log = ctn_requantize(logarithm((uint32_t)sum), a->log_multiplier, a->log_shift);
    for (int32_t i = 0; i < a->row_size; i++) {
        int32_t diff = (input[i] - max) * (1 << STEP_BITS);
        int32_t steps = ctn_requantize(diff, a->ratio_multiplier, a->ratio_shift) - log;
        int32_t q = ctn_div_pow2(steps, STEP_BITS) + a->output_zero_point;
        output[i] = (int8_t)ctn_clamp(q, -128, 127);
    }
}

void ctn_log_softmax_s8(const CtnLogSoftmaxS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t row = 0; row < a->rows; row++)
        log_softmax_row(a, input + row * a->row_size, output + row * a->row_size);
}
