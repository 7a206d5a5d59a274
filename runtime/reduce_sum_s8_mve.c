/* Sum or mean over dimensions by MVE, eight neighbouring outputs at a time. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "fix.h"
#include "sums_mve.h"

static void outputs(const CtnReduceSumS8Args *a, const int8_t *input, int32_t lanes, int32_t zeros,
                    const int8_t *table, int8_t *output) {
    CtnSums s;
    ctn_sums_of(&s, input, lanes, a->reduced, a->reduced_stride);
    for (int32_t i = 0; i < lanes; i++) {
        int32_t sum = ctn_requantize(s.sum[i] - zeros, a->multiplier, a->shift);
        output[i] = ctn_finish_s8(sum + a->output_zero_point, a->clamp_min, a->clamp_max, table);
    }
}

void ctn_reduce_sum_s8_mve(const CtnReduceSumS8Args *a, const CtnFrame *frame) {
    static const int32_t still[6] = {0};
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, offset = 0, zero = 0;
    int32_t zeros = ctn_sum_count(a->reduced) * a->input_zero_point;
    if (ctn_is_empty(6, a->dim))
        return;
    do
        for (int32_t c = 0, lanes; c < a->dim[5]; c += lanes, output += lanes) {
            lanes = a->dim[5] - c < CTN_SUM_LANES ? a->dim[5] - c : CTN_SUM_LANES;
            outputs(a, input + offset + c, lanes, zeros, table, output);
        }
    while (ctn_step(5, a->dim, index, a->in_stride, &offset, still, &zero));
}
#endif
