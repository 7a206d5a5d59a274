/* Running sums; below 2^23 values the sum of corrected values fits int32. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

void ctn_cumsum_s8(const CtnCumsumS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, from = 0, to = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        int32_t sum = 0;
        for (int32_t i = 0; i < a->count; i++) {
            sum += input[from + i * a->in_step] - a->input_zero_point;
            int32_t q = ctn_requantize(sum, a->multiplier, a->shift) + a->output_zero_point;
            output[to + i * a->out_step] = (int8_t)ctn_clamp(q, -128, 127);
        }
    } while (ctn_step(6, a->dim, index, a->in_stride, &from, a->out_stride, &to));
}
