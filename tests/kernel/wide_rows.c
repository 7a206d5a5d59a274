/* The references of the kernels whose cases rows.c draws, for wide_run. */
#include "kernel/wide_math.h"

#include <math.h>
#include <string.h>

void wide_argmax(const CtnArgmaxArgs *a, const CtnFrame *f) {
    const int8_t *bytes = ctn_at(f, a->input);
    const int16_t *halves = ctn_at(f, a->input);
    int64_t *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t base = wide_offset(6, a->dim, a->in_stride, i), best = a->count - 1;
        for (int64_t k = a->count - 1; k >= 0; k--) { /* backwards, so that the first one stays */
            int64_t at = base + k * a->stride, best_at = base + best * a->stride;
            int q = a->input_bytes == 2 ? halves[at] : bytes[at];
            int top = a->input_bytes == 2 ? halves[best_at] : bytes[best_at];
            best = (a->mode ? q <= top : q >= top) ? k : best;
        }
        output[i] = best;
    }
}

void wide_cumsum_s8(const CtnCumsumS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++)
        for (int64_t k = 0; k < a->count; k++) {
            int64_t sum = 0;
            for (int64_t j = 0; j <= k; j++)
                sum += input[wide_offset(6, a->dim, a->in_stride, i) + j * a->in_step] -
                       a->input_zero_point;
            int64_t q = wide_requantize(sum, a->multiplier, a->shift) + a->output_zero_point;
            output[wide_offset(6, a->dim, a->out_stride, i) + k * a->out_step] =
                (int8_t)wide_limit(q, -128, 127);
        }
}

/* The first and the end of what output `i` of `out` covers of `in`: i * in / out rounded down, and
 * (i + 1) * in / out rounded up. */
static int64_t first_of(int64_t i, int64_t in, int64_t out) {
    return (int64_t)floor((double)(i * in) / (double)out);
}

static int64_t end_of(int64_t i, int64_t in, int64_t out) {
    return (int64_t)ceil((double)((i + 1) * in) / (double)out);
}

static double adaptive_value(const CtnAdaptivePool2dS8Args *a, const int8_t *plane, int64_t oy,
                             int64_t ox) {
    int64_t count = 0, sum = 0, top = -128;
    for (int64_t y = first_of(oy, a->in_h, a->out_h); y < end_of(oy, a->in_h, a->out_h); y++)
        for (int64_t x = first_of(ox, a->in_w, a->out_w); x < end_of(ox, a->in_w, a->out_w); x++) {
            int q = plane[(y * a->in_w + x) * a->channels];
            sum += q;
            top = q > top ? q : top;
            count++;
        }
    return a->mode ? (double)top : (double)sum / (double)count;
}

void wide_adaptive_pool2d_s8(const CtnAdaptivePool2dS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    int64_t places = (int64_t)a->out_h * a->out_w;
    for (int64_t i = 0; i < a->batches * places * a->channels; i++) {
        int64_t c = i % a->channels, place = i / a->channels % places;
        const int8_t *image = input + i / a->channels / places * a->in_h * a->in_w * a->channels;
        /* halves go away from zero, as round() has them */
        double value = adaptive_value(a, image + c, place / a->out_w, place % a->out_w);
        int64_t q = llround(value);
        if (a->multiplier != 0)
            q = wide_requantize(llround((value - a->input_zero_point) * (a->mode ? 1 : 256)),
                                a->multiplier, a->shift) +
                a->output_zero_point;
        output[i] = (int8_t)wide_limit(q, a->clamp_min, a->clamp_max);
    }
}

void wide_adaptive_max_indices_s8(const CtnAdaptiveMaxIndicesS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int64_t *output = ctn_at(f, a->output), places = (int64_t)a->out_h * a->out_w;
    for (int64_t i = 0; i < a->batches * places * a->channels; i++) {
        int64_t c = i % a->channels, oy = i / a->channels % places / a->out_w;
        int64_t ox = i / a->channels % places % a->out_w, best = -1;
        const int8_t *plane =
            input + i / a->channels / places * a->in_h * a->in_w * a->channels + c;
        for (int64_t at = 0; at < (int64_t)a->in_h * a->in_w; at++) {
            int64_t y = at / a->in_w, x = at % a->in_w;
            bool covered =
                y >= first_of(oy, a->in_h, a->out_h) && y < end_of(oy, a->in_h, a->out_h) &&
                x >= first_of(ox, a->in_w, a->out_w) && x < end_of(ox, a->in_w, a->out_w);
            if (covered && (best < 0 || plane[at * a->channels] > plane[best * a->channels]))
                best = at;
        }
        output[i] = best;
    }
}

void wide_max_pool2d_indices_s8(const CtnMaxPool2dIndicesS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int64_t *output = ctn_at(f, a->output), places = (int64_t)a->out_h * a->out_w;
    for (int64_t i = 0; i < a->batches * places * a->channels; i++) {
        int64_t c = i % a->channels, oy = i / a->channels % places / a->out_w;
        int64_t ox = i / a->channels % places % a->out_w, best = -1;
        const int8_t *plane =
            input + i / a->channels / places * a->in_h * a->in_w * a->channels + c;
        for (int64_t tap = 0; tap < (int64_t)a->kernel_h * a->kernel_w; tap++) {
            int64_t y = oy * a->stride_h - a->pad_top + tap / a->kernel_w * a->dilation_h;
            int64_t x = ox * a->stride_w - a->pad_left + tap % a->kernel_w * a->dilation_w;
            if (y < 0 || y >= a->in_h || x < 0 || x >= a->in_w)
                continue;
            int64_t at = y * a->in_w + x;
            if (best < 0 || plane[at * a->channels] > plane[best * a->channels])
                best = at;
        }
        output[i] = best;
    }
}

static int64_t integer_at(const void *base, int64_t i, int32_t size) {
    int64_t v64;
    int32_t v32;
    if (size == 1)
        return ((const int8_t *)base)[i];
    if (size == 4) {
        memcpy(&v32, (const char *)base + 4 * i, 4);
        return v32;
    }
    memcpy(&v64, (const char *)base + 8 * i, 8);
    return v64;
}

void wide_reduce_int(const CtnReduceIntArgs *a, const CtnFrame *f) {
    const void *input = ctn_at(f, a->input);
    char *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        uint64_t sum = 0;
        int64_t high = INT64_MIN, low = INT64_MAX, base = wide_offset(6, a->dim, a->in_stride, i);
        for (int64_t k = 0; k < wide_count(6, a->reduced); k++) {
            int64_t at = base + wide_offset(6, a->reduced, a->reduced_stride, k);
            int64_t v = integer_at(input, at, a->in_size);
            sum += (uint64_t)v;
            high = v > high ? v : high;
            low = v < low ? v : low;
        }
        int64_t result = a->mode == 0 ? (int64_t)sum : a->mode == 1 ? high : low;
        memcpy(output + i * a->out_size, &result, (size_t)a->out_size); /* little endian */
    }
}

/* ---- softmax in real numbers ---------------------------------------------------------------- */

void wide_masked_softmax_s8(const CtnMaskedSoftmaxS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    const uint8_t *mask = ctn_at(f, a->mask);
    int8_t *output = ctn_at(f, a->output);
    double step = ldexp(a->multiplier, a->shift - 31 - 26);
    double steps = ldexp(a->output_multiplier, a->output_shift - 31 + 24);
    for (int64_t row = 0; row < a->rows; row++, input += a->row_size, output += a->row_size) {
        const uint8_t *own = mask ? mask + row % a->mask_rows * a->row_size : NULL;
        double sum = 0;
        int best = -128;
        for (int64_t i = 0; i < a->row_size; i++)
            if ((!own || (own[i] != 0) != (a->mask_hides != 0)) && input[i] > best)
                best = input[i];
        for (int64_t i = 0; i < a->row_size; i++)
            if (!own || (own[i] != 0) != (a->mask_hides != 0))
                sum += exp(step * (input[i] - best));
        for (int64_t i = 0; i < a->row_size; i++) {
            bool counts = !own || (own[i] != 0) != (a->mask_hides != 0);
            double p = counts ? exp(step * (input[i] - best)) / sum : 0;
            output[i] = (int8_t)wide_limit(llround(p * steps) + a->output_zero_point, -128, 127);
        }
    }
}

void wide_log_softmax_s8(const CtnLogSoftmaxS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    double scale = ldexp(a->multiplier, a->shift - 31 - 26);
    double ratio = ldexp(a->ratio_multiplier, a->ratio_shift - 31);
    for (int64_t row = 0; row < a->rows; row++, input += a->row_size, output += a->row_size) {
        double sum = 0;
        int best = -128;
        for (int64_t i = 0; i < a->row_size; i++)
            best = input[i] > best ? input[i] : best;
        for (int64_t i = 0; i < a->row_size; i++)
            sum += exp(scale * (input[i] - best));
        for (int64_t i = 0; i < a->row_size; i++) {
            double real = scale * (input[i] - best) - log(sum);
            output[i] =
                (int8_t)wide_limit(llround(real * ratio / scale) + a->output_zero_point, -128, 127);
        }
    }
}
