/* References of pools, reductions and softmax. */
#include "kernel/wide_math.h"

#include <math.h>

void wide_max_pool2d_s8(const CtnMaxPool2dS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t b = 0; b < a->batches; b++)
        for (int64_t oy = 0; oy < a->out_h; oy++)
            for (int64_t ox = 0; ox < a->out_w; ox++)
                for (int64_t c = 0; c < a->channels; c++) {
                    int best = -128;
                    for (int64_t k = 0; k < a->kernel_h * a->kernel_w; k++) {
                        int64_t y = oy * a->stride_h - a->pad_top + k / a->kernel_w * a->dilation_h;
                        int64_t x =
                            ox * a->stride_w - a->pad_left + k % a->kernel_w * a->dilation_w;
                        if (y < 0 || x < 0 || y >= a->in_h || x >= a->in_w)
                            continue;
                        int q = input[((b * a->in_h + y) * a->in_w + x) * a->channels + c];
                        best = q > best ? q : best;
                    }
                    *output++ = wide_finish(best, a->clamp_min, a->clamp_max, ctn_at(f, a->table));
                }
}

/* The mean of real numbers on the input's grid, where padding is real zero. */
static int64_t window_mean(const CtnAvgPool2dS8Args *a, const int8_t *image, int64_t y0, int64_t x0,
                           int64_t c) {
    int64_t counted = 0, sum = 0; /* of q - zero point */
    for (int64_t y = y0; y < y0 + a->kernel_h; y++)
        for (int64_t x = x0; x < x0 + a->kernel_w; x++) {
            bool inside = y >= 0 && x >= 0 && y < a->in_h && x < a->in_w;
            bool padded = y < a->in_h + a->pad_bottom && x < a->in_w + a->pad_right;
            counted += inside || (a->include_padding && padded);
            if (inside)
                sum += image[(y * a->in_w + x) * a->channels + c] - a->input_zero_point;
        }
    int64_t divisor = a->divisor > 0 ? a->divisor : counted;
    if (a->multiplier)
        return wide_half_away((Wide)sum * 256, divisor);
    return wide_half_away((Wide)sum + (Wide)divisor * a->input_zero_point, divisor);
}

void wide_avg_pool2d_s8(const CtnAvgPool2dS8Args *a, const CtnFrame *f) {
    int8_t *output = ctn_at(f, a->output);
    for (int64_t b = 0; b < a->batches; b++)
        for (int64_t oy = 0; oy < a->out_h; oy++)
            for (int64_t ox = 0; ox < a->out_w; ox++)
                for (int64_t c = 0; c < a->channels; c++) {
                    const int8_t *image =
                        (const int8_t *)ctn_at(f, a->input) + b * a->in_h * a->in_w * a->channels;
                    int64_t mean = window_mean(a, image, oy * a->stride_h - a->pad_top,
                                               ox * a->stride_w - a->pad_left, c);
                    if (a->multiplier)
                        mean =
                            wide_requantize(mean, a->multiplier, a->shift) + a->output_zero_point;
                    *output++ = wide_finish(mean, a->clamp_min, a->clamp_max, ctn_at(f, a->table));
                }
}

void wide_reduce_sum_s8(const CtnReduceSumS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < wide_count(6, a->reduced); k++)
            sum += input[wide_offset(6, a->dim, a->in_stride, i) +
                         wide_offset(6, a->reduced, a->reduced_stride, k)] -
                   a->input_zero_point;
        sum = wide_requantize(sum, a->multiplier, a->shift) + a->output_zero_point;
        *output++ = wide_finish(sum, a->clamp_min, a->clamp_max, ctn_at(f, a->table));
    }
}

void wide_reduce_max_s8(const CtnReduceMaxS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int best = a->mode ? 127 : -128;
        for (int64_t k = 0; k < wide_count(6, a->reduced); k++) {
            int q = input[wide_offset(6, a->dim, a->in_stride, i) +
                          wide_offset(6, a->reduced, a->reduced_stride, k)];
            best = (a->mode ? q < best : q > best) ? q : best;
        }
        *output++ = wide_finish(best, -128, 127, ctn_at(f, a->table));
    }
}

void wide_reduce_max_s16(const CtnReduceMaxS16Args *a, const CtnFrame *f) {
    const int16_t *input = ctn_at(f, a->input);
    int16_t *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int best = a->mode ? 32767 : -32767;
        for (int64_t k = 0; k < wide_count(6, a->reduced); k++) {
            int q = input[wide_offset(6, a->dim, a->in_stride, i) +
                          wide_offset(6, a->reduced, a->reduced_stride, k)];
            best = (a->mode ? q < best : q > best) ? q : best;
        }
        *output++ = (int16_t)best;
    }
}

/* The real softmax; the kernel's polynomials stay within one step of it. */
void wide_softmax_s8(const CtnSoftmaxS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    double step = ldexp(a->multiplier, a->shift - 31 - 26);
    for (int64_t row = 0; row < a->rows; row++, input += a->row_size, output += a->row_size) {
        int best = -128;
        double sum = 0;
        for (int64_t i = 0; i < a->row_size; i++)
            best = input[i] > best ? input[i] : best;
        for (int64_t i = 0; i < a->row_size; i++)
            sum += exp(step * (input[i] - best));
        for (int64_t i = 0; i < a->row_size; i++)
            output[i] = (int8_t)wide_limit(llround(256 * exp(step * (input[i] - best)) / sum) - 128,
                                           -128, 127);
    }
}
