/* Fully connected layer in plain C with weights of 8 or 4 bits: the definition that every variant
 * equals. The host has proven that bias plus the sum of products fits int32. */
#ifndef CTN_LINEAR_PLAIN_S8_H
#define CTN_LINEAR_PLAIN_S8_H

#include "ctn.h"
#include "fix.h"
#include "nibble.h"

static inline void ctn_linear_plain(const CtnLinearS8Args *a, const CtnFrame *frame, int nibbles) {
    const int8_t *input = ctn_at(frame, a->input), *weights = ctn_at(frame, a->weights);
    const int32_t *bias = ctn_at(frame, a->bias);
    const int32_t *multiplier = ctn_at(frame, a->multiplier);
    const int8_t *shift = ctn_at(frame, a->shift);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t row = 0; row < a->rows; row++, input += a->depth) {
        int32_t w = 0;
        for (int32_t n = 0; n < a->columns; n++) {
            int32_t sum = bias ? bias[n] : 0;
            for (int32_t k = 0; k < a->depth; k++, w++)
                sum += (input[k] - a->input_zero_point) * ctn_weight(weights, w, nibbles);
            sum = ctn_requantize(sum, multiplier[n], shift[n]) + a->output_zero_point;
            *output++ = ctn_finish_s8(sum, a->clamp_min, a->clamp_max, table);
        }
    }
}

#endif
