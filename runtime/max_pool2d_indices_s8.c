/* Where the maxima of max_pool2d_s8 lie: the first of equal ones, in row-major order. */
#include "ctn.h"
#include "loop.h"

static int64_t place(const CtnMaxPool2dIndicesS8Args *a, const int8_t *input, int32_t y0,
                     int32_t x0) {
    CtnSpan rows = ctn_span(y0, a->dilation_h, a->kernel_h, a->in_h);
    CtnSpan columns = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
    int32_t best = -1;
    for (int32_t ky = rows.first; ky < rows.end; ky++)
        for (int32_t kx = columns.first; kx < columns.end; kx++) {
            int32_t at = (y0 + ky * a->dilation_h) * a->in_w + x0 + kx * a->dilation_w;
            if (best < 0 || input[at * a->channels] > input[best * a->channels])
                best = at;
        }
    return best;
}

void ctn_max_pool2d_indices_s8(const CtnMaxPool2dIndicesS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int64_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels)
        for (int32_t oy = 0; oy < a->out_h; oy++)
            for (int32_t ox = 0; ox < a->out_w; ox++)
                for (int32_t c = 0; c < a->channels; c++)
                    *output++ = place(a, input + c, oy * a->stride_h - a->pad_top,
                                      ox * a->stride_w - a->pad_left);
}
