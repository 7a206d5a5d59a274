/* Sum or mean over dimensions, from and to 8 or 16 bits: a mean of int8 values has bits below the
 * input's step that an int16 keeps. A kernel defines before:
 *
 *   SumArgs             its arguments
 *   SUM_STORED(map, q)  what it stores of q */
#ifndef CTN_REDUCE_SUM_S16_H
#define CTN_REDUCE_SUM_S16_H

#include "loop.h"
#include "wide.h"

static const int32_t still[6] = {0};

static int64_t sum_of(const SumArgs *a, const void *input, int32_t offset) {
    int32_t index[5] = {0}, zero = 0;
    int64_t sum = 0;
    if (ctn_is_empty(6, a->reduced))
        return 0;
    do {
        int32_t at = offset;
        for (int32_t i = 0; i < a->reduced[5]; i++, at += a->reduced_stride[5])
            sum += ctn_load_wide(input, a->input_bytes, at) - a->input_zero_point;
    } while (ctn_step(5, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    return sum;
}

static inline void reduce_sum(const SumArgs *a, const CtnFrame *frame, const void *map) {
    const void *input = ctn_at(frame, a->input);
    void *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0, at = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        int32_t q = ctn_requantize_wide(sum_of(a, input, offset), a->multiplier, a->shift);
        q = ctn_clamp(q + a->output_zero_point, a->clamp_min, a->clamp_max);
        ctn_store_wide(output, a->output_bytes, at++, SUM_STORED(map, q));
    } while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}

#endif
