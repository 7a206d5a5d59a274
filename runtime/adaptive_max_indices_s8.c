/* Where the maxima of adaptive_pool2d_s8's windows lie: the first of equal ones. */
#include "ctn.h"

static int32_t place(const CtnAdaptiveMaxIndicesS8Args *a, const int8_t *input, int32_t oy,
                     int32_t ox) {
    int32_t y1 = ((oy + 1) * a->in_h + a->out_h - 1) / a->out_h;
    int32_t x1 = ((ox + 1) * a->in_w + a->out_w - 1) / a->out_w;
    int32_t x0 = ox * a->in_w / a->out_w, best = oy * a->in_h / a->out_h * a->in_w + x0;
    for (int32_t y = oy * a->in_h / a->out_h; y < y1; y++)
        for (int32_t x = x0; x < x1; x++)
            if (input[(y * a->in_w + x) * a->channels] > input[best * a->channels])
                best = y * a->in_w + x;
    return best;
}

void ctn_adaptive_max_indices_s8(const CtnAdaptiveMaxIndicesS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int64_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels)
        for (int32_t oy = 0; oy < a->out_h; oy++)
            for (int32_t ox = 0; ox < a->out_w; ox++)
                for (int32_t c = 0; c < a->channels; c++)
                    *output++ = place(a, input + c, oy, ox);
}
