/* Running sums in float32. */
#include "float32.h"

#include "ctn.h"
#include "loop.h"

void ctn_cumsum_f32(const CtnCumsumF32Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    float *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, from = 0, to = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        float sum = 0.0f;
        for (int32_t i = 0; i < a->count; i++) {
            sum += input[from + i * a->in_step];
            output[to + i * a->out_step] = ctn_settle(sum);
        }
    } while (ctn_step(6, a->dim, index, a->in_stride, &from, a->out_stride, &to));
}
