/* Pools of a given output size: windows of unlike sizes that cover the whole image. Means on
 * another grid are requantized in steps of 1/256 (of fewer than 2^15 numbers). */
#include "ctn.h"
#include "fix.h"

typedef struct {
    int32_t first, end;
} Window;

static Window window(int32_t i, int32_t in, int32_t out) {
    Window w = {i * in / out, ((i + 1) * in + out - 1) / out};
    return w;
}

static int32_t mean_of(const CtnAdaptivePool2dS8Args *a, const int8_t *input, Window y, Window x) {
    int32_t sum = 0;
    for (int32_t h = y.first; h < y.end; h++)
        for (int32_t w = x.first; w < x.end; w++)
            sum += input[(h * a->in_w + w) * a->channels];
    int32_t count = (y.end - y.first) * (x.end - x.first);
    return a->multiplier == 0 ? ctn_div(sum, count)
                              : ctn_div((sum - count * a->input_zero_point) * 256, count);
}

static int32_t max_of(const CtnAdaptivePool2dS8Args *a, const int8_t *input, Window y, Window x) {
    int32_t max = -128;
    for (int32_t h = y.first; h < y.end; h++)
        for (int32_t w = x.first; w < x.end; w++) {
            int32_t q = input[(h * a->in_w + w) * a->channels];
            max = q > max ? q : max;
        }
    return a->multiplier == 0 ? max : max - a->input_zero_point;
}

void ctn_adaptive_pool2d_s8(const CtnAdaptivePool2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels)
        for (int32_t oy = 0; oy < a->out_h; oy++)
            for (int32_t ox = 0; ox < a->out_w; ox++)
                for (int32_t c = 0; c < a->channels; c++) {
                    Window y = window(oy, a->in_h, a->out_h), x = window(ox, a->in_w, a->out_w);
                    int32_t q = a->mode ? max_of(a, input + c, y, x) : mean_of(a, input + c, y, x);
                    if (a->multiplier != 0)
                        q = ctn_requantize(q, a->multiplier, a->shift) + a->output_zero_point;
                    *output++ = ctn_finish_s8(q, a->clamp_min, a->clamp_max, table);
                }
}
