/* The kernels between widths of 8 and 16 bits once more, in 128-bit arithmetic (wide.h). */
#include "kernel/wide_math.h"

#include <math.h>
#include <string.h>

static int64_t load(const void *p, int32_t bytes, int64_t i) {
    return bytes == 2 ? ((const int16_t *)p)[i] : ((const int8_t *)p)[i];
}

static void put(void *p, int32_t bytes, int64_t i, int64_t q) {
    if (bytes == 2)
        ((int16_t *)p)[i] = (int16_t)q;
    else
        ((int8_t *)p)[i] = (int8_t)q;
}

static void save(void *p, int32_t bytes, int64_t i, int64_t q, int32_t low, int32_t high) {
    put(p, bytes, i, wide_limit(q, low, high));
}

/* sum * multiplier * 2^(shift - 31), half up, within +-2^30 */
static int64_t scaled(Wide sum, int32_t multiplier, int32_t shift) {
    Wide product = sum * multiplier, unit = (Wide)1 << (31 - shift);
    return wide_limit(wide_floor_div(product + unit / 2, unit), -(1 << 30), 1 << 30);
}

/* With a function in the store what is saved is that of the clamped number. */
#define SAVE_MAPPED(a, f, i, q) WIDE_MAPPED(a, f, i, wide_limit(q, (a)->clamp_min, (a)->clamp_max))

void wide_linear_s16(const CtnLinearS16Args *a, const CtnFrame *f) {
    const int8_t *w = ctn_at(f, a->weights), *shift = ctn_at(f, a->shift);
    const int32_t *bias = ctn_at(f, a->bias), *multiplier = ctn_at(f, a->multiplier);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t n = 0; n < a->columns; n++) {
            Wide sum = bias ? bias[n] : 0;
            for (int64_t k = 0; k < a->depth; k++)
                sum += (load(ctn_at(f, a->input), a->input_bytes, r * a->depth + k) -
                        a->input_zero_point) *
                       w[n * a->depth + k];
            SAVE_MAPPED(a, f, r * a->columns + n,
                        scaled(sum, multiplier[n], shift[n]) + a->output_zero_point);
        }
}

static Wide conv_sum(const CtnConv2dS16Args *a, const CtnFrame *f, int64_t b, int64_t oy,
                     int64_t ox, int64_t o) {
    const int8_t *w = ctn_at(f, a->weights);
    int64_t depth = a->in_c / a->groups, first = o / (a->out_c / a->groups) * depth;
    Wide sum = 0;
    for (int64_t ky = 0; ky < a->kernel_h; ky++)
        for (int64_t kx = 0; kx < a->kernel_w; kx++) {
            int64_t y = oy * a->stride_h - a->pad_top + ky * a->dilation_h;
            int64_t x = ox * a->stride_w - a->pad_left + kx * a->dilation_w;
            if (y < 0 || y >= a->in_h || x < 0 || x >= a->in_w)
                continue;
            for (int64_t i = 0; i < depth; i++)
                sum += (load(ctn_at(f, a->input), a->input_bytes,
                             ((b * a->in_h + y) * a->in_w + x) * a->in_c + first + i) -
                        a->input_zero_point) *
                       w[((o * a->kernel_h + ky) * a->kernel_w + kx) * depth + i];
        }
    return sum;
}

void wide_conv2d_s16(const CtnConv2dS16Args *a, const CtnFrame *f) {
    const int8_t *shift = ctn_at(f, a->shift);
    const int32_t *bias = ctn_at(f, a->bias), *multiplier = ctn_at(f, a->multiplier);
    int64_t at = 0;
    for (int64_t b = 0; b < a->batches; b++)
        for (int64_t oy = 0; oy < a->out_h; oy++)
            for (int64_t ox = 0; ox < a->out_w; ox++)
                for (int64_t o = 0; o < a->out_c; o++) {
                    Wide sum = conv_sum(a, f, b, oy, ox, o) + (bias ? bias[o] : 0);
                    SAVE_MAPPED(a, f, at,
                                scaled(sum, multiplier[o], shift[o]) + a->output_zero_point);
                    at++;
                }
}

static int64_t offset_of(int rank, const int32_t *dim, const int32_t *stride, int64_t flat) {
    int64_t offset = 0;
    for (int d = rank - 1; d >= 0; d--) {
        offset += flat % dim[d] * stride[d];
        flat /= dim[d];
    }
    return offset;
}

static int64_t count_of(int rank, const int32_t *dim) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= dim[d];
    return n;
}

void wide_matmul_s16(const CtnMatmulS16Args *a, const CtnFrame *f) {
    int64_t at = 0;
    for (int64_t b = 0; b < count_of(4, a->batch); b++)
        for (int64_t m = 0; m < a->rows; m++)
            for (int64_t n = 0; n < a->columns; n++) {
                int64_t l = offset_of(4, a->batch, a->lhs_batch_stride, b) + m * a->lhs_row_stride;
                int64_t r =
                    offset_of(4, a->batch, a->rhs_batch_stride, b) + n * a->rhs_column_stride;
                Wide sum = 0;
                for (int64_t k = 0; k < a->depth; k++)
                    sum +=
                        (Wide)(load(ctn_at(f, a->lhs), a->lhs_bytes, l + k * a->lhs_depth_stride) -
                               a->lhs_zero_point) *
                        (load(ctn_at(f, a->rhs), a->rhs_bytes, r + k * a->rhs_depth_stride) -
                         a->rhs_zero_point);
                save(ctn_at(f, a->output), a->output_bytes, at++,
                     scaled(sum, a->multiplier, a->shift) + a->output_zero_point, a->clamp_min,
                     a->clamp_max);
            }
}

/* The sum i, not clamped. */
static int64_t reduced_sum(const CtnReduceSumS16Args *a, const CtnFrame *f, int64_t i) {
    Wide sum = 0;
    for (int64_t k = 0; k < count_of(6, a->reduced); k++)
        sum += load(ctn_at(f, a->input), a->input_bytes,
                    offset_of(6, a->dim, a->in_stride, i) +
                        offset_of(6, a->reduced, a->reduced_stride, k)) -
               a->input_zero_point;
    return scaled(sum, a->multiplier, a->shift) + a->output_zero_point;
}

void wide_reduce_sum_s16(const CtnReduceSumS16Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < count_of(6, a->dim); i++)
        save(ctn_at(f, a->output), a->output_bytes, i, reduced_sum(a, f, i), a->clamp_min,
             a->clamp_max);
}

void wide_reduce_sum_map_s16(const CtnReduceSumMapS16Args *a, const CtnFrame *f) {
    CtnReduceSumS16Args same;
    memcpy(&same, a, sizeof same);
    for (int64_t i = 0; i < count_of(6, a->dim); i++)
        SAVE_MAPPED(a, f, i, reduced_sum(&same, f, i));
}

static int64_t avg_divisor(const CtnAvgPool2dS16Args *a, int64_t y0, int64_t x0, int64_t taps) {
    if (a->divisor > 0)
        return a->divisor;
    if (!a->include_padding)
        return taps;
    int64_t count = 0;
    for (int64_t y = y0; y < y0 + a->kernel_h; y++)
        for (int64_t x = x0; x < x0 + a->kernel_w; x++)
            count += y < a->in_h + a->pad_bottom && x < a->in_w + a->pad_right;
    return count;
}

static int64_t avg_at(const CtnAvgPool2dS16Args *a, const CtnFrame *f, int64_t b, int64_t oy,
                      int64_t ox, int64_t c) {
    int64_t y0 = oy * a->stride_h - a->pad_top, x0 = ox * a->stride_w - a->pad_left;
    int64_t taps = 0;
    Wide sum = 0;
    for (int64_t y = y0; y < y0 + a->kernel_h; y++)
        for (int64_t x = x0; x < x0 + a->kernel_w; x++)
            if (y >= 0 && y < a->in_h && x >= 0 && x < a->in_w) {
                taps++;
                sum += load(ctn_at(f, a->input), a->input_bytes,
                            ((b * a->in_h + y) * a->in_w + x) * a->channels + c) -
                       a->input_zero_point;
            }
    Wide divisor = avg_divisor(a, y0, x0, taps), mean = 0;
    if (divisor > 0) {
        mean = sum * 65536;
        mean = (mean < 0 ? mean - divisor / 2 : mean + divisor / 2) / divisor;
    }
    return scaled(mean, a->multiplier, a->shift) + a->output_zero_point;
}

/* Mean i, not clamped. */
static int64_t avg_of(const CtnAvgPool2dS16Args *a, const CtnFrame *f, int64_t i) {
    int64_t pixel = i / a->channels, row = pixel / a->out_w;
    return avg_at(a, f, row / a->out_h, row % a->out_h, pixel % a->out_w, i % a->channels);
}

void wide_avg_pool2d_s16(const CtnAvgPool2dS16Args *a, const CtnFrame *f) {
    int64_t count = (int64_t)a->batches * a->out_h * a->out_w * a->channels;
    for (int64_t i = 0; i < count; i++)
        save(ctn_at(f, a->output), a->output_bytes, i, avg_of(a, f, i), a->clamp_min, a->clamp_max);
}

void wide_avg_pool2d_map_s16(const CtnAvgPool2dMapS16Args *a, const CtnFrame *f) {
    CtnAvgPool2dS16Args same;
    memcpy(&same, a, sizeof same);
    int64_t count = (int64_t)a->batches * a->out_h * a->out_w * a->channels;
    for (int64_t i = 0; i < count; i++)
        SAVE_MAPPED(a, f, i, avg_of(&same, f, i));
}

/* The maximum of window i of bytes or of int16, not clamped. */
static int64_t max_of(const CtnMaxPool2dS16Args *a, const CtnFrame *f, int32_t bytes, int64_t i) {
    int64_t c = i % a->channels, ox = i / a->channels % a->out_w;
    int64_t oy = i / a->channels / a->out_w % a->out_h;
    int64_t b = i / a->channels / a->out_w / a->out_h, best = -32768;
    for (int64_t ky = 0; ky < a->kernel_h; ky++)
        for (int64_t kx = 0; kx < a->kernel_w; kx++) {
            int64_t y = oy * a->stride_h - a->pad_top + ky * a->dilation_h;
            int64_t x = ox * a->stride_w - a->pad_left + kx * a->dilation_w;
            if (y < 0 || y >= a->in_h || x < 0 || x >= a->in_w)
                continue;
            int64_t q = load(ctn_at(f, a->input), bytes,
                             ((b * a->in_h + y) * a->in_w + x) * a->channels + c);
            best = q > best ? q : best;
        }
    return best;
}

void wide_max_pool2d_s16(const CtnMaxPool2dS16Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < (int64_t)a->batches * a->out_h * a->out_w * a->channels; i++)
        save(ctn_at(f, a->output), 2, i, max_of(a, f, 2, i), a->clamp_min, a->clamp_max);
}

/* A byte's entry lies 128 places behind the last one's. */
static int64_t place_of(int32_t bytes, int64_t q) {
    return bytes == 2 ? q : (q + 128) * 128 - 32768;
}

void wide_max_pool2d_map_s16(const CtnMaxPool2dMapS16Args *a, const CtnFrame *f) {
    CtnMaxPool2dS16Args same;
    memcpy(&same, a, sizeof same);
    for (int64_t i = 0; i < (int64_t)a->batches * a->out_h * a->out_w * a->channels; i++) {
        int64_t q = wide_limit(max_of(&same, f, a->input_bytes, i), a->clamp_min, a->clamp_max);
        WIDE_MAPPED(a, f, i, place_of(a->input_bytes, q));
    }
}

void wide_reduce_max_map_s16(const CtnReduceMaxMapS16Args *a, const CtnFrame *f) {
    int64_t most = a->input_bytes == 2 ? 32767 : 127;
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t best = a->mode ? most : -most;
        for (int64_t k = 0; k < count_of(6, a->reduced); k++) {
            int64_t q = load(ctn_at(f, a->input), a->input_bytes,
                             offset_of(6, a->dim, a->in_stride, i) +
                                 offset_of(6, a->reduced, a->reduced_stride, k));
            best = (a->mode ? q < best : q > best) ? q : best;
        }
        WIDE_MAPPED(a, f, i, place_of(a->input_bytes, best));
    }
}

static bool counts(const CtnSoftmaxS16Args *a, const uint8_t *mask, int64_t i) {
    return !mask || (mask[i] != 0) != (a->mask_hides != 0);
}

/* The real softmax; the kernel's polynomials stay within two steps of 2^-15. */
void wide_softmax_s16(const CtnSoftmaxS16Args *a, const CtnFrame *f) {
    double step = ldexp(a->multiplier, a->shift - 31 - 26);
    double scale = ldexp(a->output_multiplier, a->output_shift - 31 + 24);
    int32_t low = a->output_bytes == 2 ? -32767 : -128, high = a->output_bytes == 2 ? 32767 : 127;
    for (int64_t row = 0; row < a->rows; row++) {
        const uint8_t *mask = ctn_at(f, a->mask);
        int64_t best = -32768, start = row * a->row_size;
        double sum = 0;
        if (mask)
            mask += row % a->mask_rows * a->row_size;
        for (int64_t i = 0; i < a->row_size; i++) {
            int64_t q = load(ctn_at(f, a->input), a->input_bytes, start + i);
            best = counts(a, mask, i) && q > best ? q : best;
        }
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i < a->row_size; i++) {
                int64_t q = load(ctn_at(f, a->input), a->input_bytes, start + i);
                double e = counts(a, mask, i) ? exp(step * (double)(q - best)) : 0;
                sum += pass ? 0 : e;
                if (pass)
                    save(ctn_at(f, a->output), a->output_bytes, start + i,
                         llround(sum > 0 ? scale * e / sum : 0) + a->output_zero_point, low, high);
            }
    }
}
