/* PReLU: the slope below zero is the channel's. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

void ctn_prelu_s8(const CtnPreluS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int32_t *multiplier = ctn_at(frame, a->multiplier);
    const int32_t *shift = ctn_at(frame, a->shift);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, at = 0, first = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        const int8_t *p = input + at;
        int32_t channel = first;
        for (int32_t i = 0; i < a->dim[5]; i++) {
            int32_t v = (*p - a->input_zero_point) * 65536;
            v = v >= 0 ? ctn_requantize(v, a->positive_multiplier, a->positive_shift)
                       : ctn_requantize(v, multiplier[channel], shift[channel]);
            *output++ = (int8_t)ctn_clamp(v + a->output_zero_point, -128, 127);
            p += a->in_stride[5];
            channel += a->channel_stride[5];
        }
    } while (ctn_step(5, a->dim, index, a->in_stride, &at, a->channel_stride, &first));
}
