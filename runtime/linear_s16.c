/* Fully connected layer between activations of 8 or 16 bits, weights int8. */
#include "ctn.h"
#include "map_s16.h"
#include "wide.h"

void ctn_linear_s16(const CtnLinearS16Args *a, const CtnFrame *frame) {
    const uint8_t *input = ctn_at(frame, a->input);
    const int32_t *bias = ctn_at(frame, a->bias);
    const int32_t *multiplier = ctn_at(frame, a->multiplier);
    const int8_t *shift = ctn_at(frame, a->shift);
    const CtnMapS16 map = CTN_MAP_S16(a, frame);
    void *output = ctn_at(frame, a->output);
    int32_t at = 0;
    for (int32_t row = 0; row < a->rows; row++, input += a->depth * a->input_bytes) {
        const int8_t *weights = ctn_at(frame, a->weights);
        for (int32_t n = 0; n < a->columns; n++, weights += a->depth) {
            int64_t sum =
                ctn_dot_wide(input, a->input_bytes, a->input_zero_point, weights, a->depth);
            int32_t q = ctn_requantize_wide(sum + (bias ? bias[n] : 0), multiplier[n], shift[n]);
            q = ctn_clamp(q + a->output_zero_point, a->clamp_min, a->clamp_max);
            ctn_store_wide(output, a->output_bytes, at++, ctn_map_s16(&map, q));
        }
    }
}
