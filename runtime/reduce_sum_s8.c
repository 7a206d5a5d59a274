/* Sum or mean over dimensions; below 2^23 elements the sum of corrected values fits int32. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

static const int32_t still[6] = {0};

static int32_t sum_of(const CtnReduceSumS8Args *a, const int8_t *input) {
    int32_t index[5] = {0}, offset = 0, zero = 0, sum = 0;
    if (ctn_is_empty(6, a->reduced))
        return 0;
    do {
        const int8_t *q = input + offset;
        for (int32_t i = 0; i < a->reduced[5]; i++, q += a->reduced_stride[5])
            sum += *q - a->input_zero_point;
    } while (ctn_step(5, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    return sum;
}

void ctn_reduce_sum_s8(const CtnReduceSumS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        int32_t sum = ctn_requantize(sum_of(a, input + offset), a->multiplier, a->shift);
        *output++ = ctn_finish_s8(sum + a->output_zero_point, a->clamp_min, a->clamp_max, table);
    } while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}
