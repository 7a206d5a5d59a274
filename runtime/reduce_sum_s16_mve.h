/* Sum or mean of int8 values over dimensions, to 8 or 16 bits, by MVE: eight neighbouring outputs
 * at a time. A kernel defines before what reduce_sum_s16.h asks for. */
#ifndef CTN_REDUCE_SUM_S16_MVE_H
#define CTN_REDUCE_SUM_S16_MVE_H

#include "sums_mve.h"
#include "wide.h"

static inline void reduce_sum(const SumArgs *a, const CtnFrame *frame, const void *map) {
    static const int32_t still[6] = {0};
    const int8_t *input = ctn_at(frame, a->input);
    void *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, offset = 0, zero = 0, at = 0;
    int32_t zeros = ctn_sum_count(a->reduced) * a->input_zero_point;
    if (ctn_is_empty(6, a->dim))
        return;
    do
        for (int32_t c = 0, lanes; c < a->dim[5]; c += lanes) {
            CtnSums s;
            lanes = a->dim[5] - c < CTN_SUM_LANES ? a->dim[5] - c : CTN_SUM_LANES;
            ctn_sums_of(&s, input + offset + c, lanes, a->reduced, a->reduced_stride);
            for (int32_t i = 0; i < lanes; i++) {
                int32_t q = ctn_requantize_wide(s.sum[i] - zeros, a->multiplier, a->shift);
                q = ctn_clamp(q + a->output_zero_point, a->clamp_min, a->clamp_max);
                ctn_store_wide(output, a->output_bytes, at++, SUM_STORED(map, q));
            }
        }
    while (ctn_step(5, a->dim, index, a->in_stride, &offset, still, &zero));
}

#endif
