/* Means and maxima over windows, or the places of the maxima, in float32. NaN wins a maximum. */
#include "float32.h"

#include "ctn.h"
#include "loop.h"

enum { MODE_MEAN, MODE_MAXIMUM, MODE_PLACE };

typedef struct { /* along one axis: rows first, first + step ... below end */
    int32_t first, end, step, count;
} Side;

static Side side_of(const CtnPoolF32Args *a, int d, int32_t o) {
    Side s;
    if (a->adaptive) {
        s.first = o * a->in[d] / a->out[d];
        s.end = ctn_div_up((o + 1) * a->in[d], a->out[d]);
        s.step = 1;
        s.count = s.end - s.first;
        return s;
    }
    int32_t start = o * a->stride[d] - a->pad_before[d];
    CtnSpan taps = ctn_span(start, a->dilation[d], a->kernel[d], a->in[d]);
    s.first = start + taps.first * a->dilation[d];
    s.end = start + (taps.end - 1) * a->dilation[d] + 1;
    s.step = a->dilation[d];
    s.count = taps.end - taps.first;
    if (a->include_padding) {
        int32_t stop = start + a->kernel[d], last = a->in[d] + a->pad_after[d];
        s.count = (stop > last ? last : stop) - start;
    }
    return s;
}

static float mean(const CtnPoolF32Args *a, const float *plane, Side rows, Side columns) {
    float sum = 0.0f;
    for (int32_t y = rows.first; y < rows.end; y += rows.step)
        for (int32_t x = columns.first; x < columns.end; x += columns.step)
            sum += plane[(y * a->in[1] + x) * a->channels];
    return ctn_settle(sum / (float)(rows.count * columns.count));
}

/* The first maximum's place, or -1 if the window has no taps. */
static int32_t place(const CtnPoolF32Args *a, const float *plane, Side rows, Side columns) {
    int32_t best = -1;
    for (int32_t y = rows.first; y < rows.end; y += rows.step)
        for (int32_t x = columns.first; x < columns.end; x += columns.step) {
            int32_t at = y * a->in[1] + x;
            float v = plane[at * a->channels];
            if (best < 0 || v > plane[best * a->channels] || ctn_is_nan(v))
                best = at;
        }
    return best;
}

void ctn_pool_f32(const CtnPoolF32Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    float *output = ctn_at(frame, a->output);
    int64_t *places = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in[0] * a->in[1] * a->channels)
        for (int32_t y = 0; y < a->out[0]; y++)
            for (int32_t x = 0; x < a->out[1]; x++) {
                Side rows = side_of(a, 0, y), columns = side_of(a, 1, x);
                for (int32_t c = 0; c < a->channels; c++) {
                    int32_t best = a->mode == MODE_MEAN ? 0 : place(a, input + c, rows, columns);
                    if (a->mode == MODE_MEAN)
                        *output++ = mean(a, input + c, rows, columns);
                    else if (a->mode == MODE_MAXIMUM)
                        *output++ =
                            best < 0 ? -CTN_INFINITY : ctn_settle(input[best * a->channels + c]);
                    else
                        *places++ = best;
                }
            }
}
