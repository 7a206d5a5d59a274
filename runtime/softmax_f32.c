/* Softmax or its logarithm over contiguous rows, in float32. Output may be the input's memory: each
 * number is read for the last time just before it is replaced. */
#include "float32.h"

#include "ctn.h"

static int counts(const CtnSoftmaxF32Args *a, const uint8_t *mask, int32_t i) {
    return !mask || (mask[i] != 0) != (a->mask_hides != 0);
}

static void softmax_row(const CtnSoftmaxF32Args *a, const float *input, const uint8_t *mask,
                        float *output) {
    float beta = ctn_from_bits((uint32_t)a->beta), top = -CTN_INFINITY, sum = 0.0f;
    for (int32_t i = 0; i < a->row_size; i++)
        if (counts(a, mask, i) && (input[i] > top || ctn_is_nan(input[i])))
            top = input[i];
    for (int32_t i = 0; i < a->row_size; i++) {
        float away = beta * (input[i] - top);
        float e = counts(a, mask, i) ? ctn_exp(away) : 0.0f;
        sum += e;
        output[i] = a->logarithm ? away : e;
    }
    float shift = a->logarithm ? ctn_log(sum) : 0.0f;
    for (int32_t i = 0; i < a->row_size; i++) {
        float y = a->logarithm ? output[i] - shift : counts(a, mask, i) ? output[i] / sum : 0.0f;
        output[i] = ctn_settle(y);
    }
}

void ctn_softmax_f32(const CtnSoftmaxF32Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    const uint8_t *mask = ctn_at(frame, a->mask);
    float *output = ctn_at(frame, a->output);
    for (int32_t row = 0; row < a->rows; row++)
        softmax_row(a, input + row * a->row_size,
                    mask ? mask + row % a->mask_rows * a->row_size : mask,
                    output + row * a->row_size);
}
