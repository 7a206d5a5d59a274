/* The kernels in wide arithmetic: what plain C is compared with. */
#include "kernel/wide.h"

#include "base/base.h"
#include "kernel/wide_rows.h"
#include "kernel/wide_s16.h"
#include "residual_s8.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef __int128 Wide;

static int64_t floor_div(Wide a, Wide b) { /* b > 0 */
    Wide q = a / b;
    return (int64_t)(a % b < 0 ? q - 1 : q);
}

static int64_t half_away(Wide a, Wide b) { /* b > 0 */
    return a < 0 ? -floor_div(-2 * a + b, 2 * b) : floor_div(2 * a + b, 2 * b);
}

int64_t wide_requantize(int64_t v, int32_t multiplier, int32_t shift) {
    Wide product = (Wide)v * multiplier * ((Wide)1 << (shift > 0 ? shift : 0));
    int64_t high = floor_div(product + ((Wide)1 << 30), (Wide)1 << 31);
    return half_away(high, (Wide)1 << (shift < 0 ? -shift : 0));
}

static int64_t limit(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

static int8_t finish(int64_t v, int32_t low, int32_t high, const int8_t *table) {
    int64_t q = limit(v, low, high);
    return table ? table[q - low] : (int8_t)q;
}

/* ---- convolutions: all as one in three dimensions ------------------------------------------ */

typedef struct {
    const int8_t *input, *weights, *table;
    const int32_t *bias, *multiplier;
    const int8_t *shift;
    int8_t *output;
    int64_t batches, in[3], in_c, out[3], out_c, kernel[3], stride[3], pad[3], dilation[3], groups;
    int64_t input_zero_point, output_zero_point;
    int32_t clamp_min, clamp_max;
    bool transposed, taps_first; /* weights [taps][out_c] */
    bool nibbles;                /* two weights a byte */
} Conv;

static int64_t weight_at(const Conv *v, int64_t i) {
    if (!v->nibbles)
        return v->weights[i];
    int64_t bits = (uint8_t)v->weights[i / 2] / (i % 2 ? 16 : 1) % 16;
    return 16 * (bits < 8 ? bits : bits - 16);
}

/* The input position of a tap along one dimension, or -1. */
static int64_t tap_source(const Conv *v, int d, int64_t out, int64_t tap) {
    int64_t at = out * v->stride[d] - v->pad[d] + tap * v->dilation[d];
    if (v->transposed) {
        at = -1;
        for (int64_t i = 0; i < v->in[d]; i++) /* input i reaches these outputs */
            if (i * v->stride[d] + tap * v->dilation[d] - v->pad[d] == out)
                at = i;
    }
    return at >= 0 && at < v->in[d] ? at : -1;
}

static int64_t conv_sum(const Conv *v, int64_t b, const int64_t *o, int64_t oc) {
    int64_t depth = v->in_c / v->groups, group = oc / (v->out_c / v->groups), sum = 0;
    int64_t taps = v->kernel[0] * v->kernel[1] * v->kernel[2];
    for (int64_t t = 0; t < taps; t++) {
        int64_t z = tap_source(v, 0, o[0], t / v->kernel[2] / v->kernel[1]);
        int64_t y = tap_source(v, 1, o[1], t / v->kernel[2] % v->kernel[1]);
        int64_t x = tap_source(v, 2, o[2], t % v->kernel[2]);
        if (z < 0 || y < 0 || x < 0)
            continue;
        for (int64_t c = 0; c < depth; c++) {
            int64_t pixel = ((b * v->in[0] + z) * v->in[1] + y) * v->in[2] + x;
            int64_t q = v->input[pixel * v->in_c + group * depth + c];
            int64_t w =
                weight_at(v, v->taps_first ? t * v->out_c + oc : (oc * taps + t) * depth + c);
            sum += (q - v->input_zero_point) * w;
        }
    }
    return sum;
}

static void conv_run(const Conv *v) {
    int8_t *output = v->output;
    for (int64_t b = 0; b < v->batches; b++)
        for (int64_t z = 0; z < v->out[0]; z++)
            for (int64_t y = 0; y < v->out[1]; y++)
                for (int64_t x = 0; x < v->out[2]; x++)
                    for (int64_t oc = 0; oc < v->out_c; oc++) {
                        int64_t sum = conv_sum(v, b, (int64_t[]){z, y, x}, oc);
                        sum = wide_requantize(sum + (v->bias ? v->bias[oc] : 0), v->multiplier[oc],
                                              v->shift[oc]);
                        *output++ = finish(sum + v->output_zero_point, v->clamp_min, v->clamp_max,
                                           v->table);
                    }
}

#define CONV(a, f)                                                                                 \
    .input = ctn_at(f, (a)->input), .weights = ctn_at(f, (a)->weights),                            \
    .bias = ctn_at(f, (a)->bias), .multiplier = ctn_at(f, (a)->multiplier),                        \
    .shift = ctn_at(f, (a)->shift), .table = ctn_at(f, (a)->table),                                \
    .output = ctn_at(f, (a)->output), .batches = (a)->batches, .in_c = (a)->in_c,                  \
    .out_c = (a)->out_c, .input_zero_point = (a)->input_zero_point,                                \
    .output_zero_point = (a)->output_zero_point, .clamp_min = (a)->clamp_min,                      \
    .clamp_max = (a)->clamp_max
#define PLANE(a)                                                                                   \
    .in = {1, (a)->in_h, (a)->in_w}, .out = {1, (a)->out_h, (a)->out_w},                           \
    .kernel = {1, (a)->kernel_h, (a)->kernel_w}, .stride = {1, (a)->stride_h, (a)->stride_w},      \
    .pad = {0, (a)->pad_top, (a)->pad_left}, .dilation = {1, (a)->dilation_h, (a)->dilation_w}

static void wide_conv2d_s8(const CtnConv2dS8Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->groups});
}

/* What was stored, summed: two operands on a common scale. */
static void wide_residual(const uint32_t *first, const CtnFrame *f, int8_t *output, int64_t count) {
    const CtnResidualArgs *r = (const CtnResidualArgs *)(const void *)first;
    const int8_t *skip = ctn_at(f, r->skip);
    const int32_t *addends = ctn_at(f, r->addends);
    for (int64_t i = 0; i < count; i++) {
        int64_t x = r->looks_up_skip ? skip[i] : output[i],
                y = r->looks_up_skip ? output[i] : skip[i];
        int64_t sum = addends[x + 128] + y * r->factor;
        sum = wide_requantize(sum, r->sum_multiplier, r->sum_shift) + r->sum_zero_point;
        output[i] = finish(sum, r->sum_clamp_min, r->sum_clamp_max, ctn_at(f, r->sum_table));
    }
}

static void wide_conv2d_add_s8(const CtnConv2dAddS8Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->groups});
    wide_residual(&a->skip, f, ctn_at(f, a->output),
                  (int64_t)a->batches * a->out_h * a->out_w * a->out_c);
}

static void wide_conv2d_s8w4(const CtnConv2dS8W4Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->groups, .nibbles = true});
}

static void wide_conv_transpose2d_s8(const CtnConvTranspose2dS8Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->groups, .transposed = true});
}

static void wide_depthwise_conv2d_s8(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->in_c, .taps_first = true});
}

static void wide_depthwise_conv2d_s8w4(const CtnDepthwiseConv2dS8W4Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->in_c, .taps_first = true, .nibbles = true});
}

static void wide_conv3d_s8(const CtnConv3dS8Args *a, const CtnFrame *f) {
    conv_run(&(Conv){
        CONV(a, f), .in = {a->in_d, a->in_h, a->in_w}, .out = {a->out_d, a->out_h, a->out_w},
        .kernel = {a->kernel_d, a->kernel_h, a->kernel_w},
        .stride = {a->stride_d, a->stride_h, a->stride_w},
        .pad = {a->pad_front, a->pad_top, a->pad_left},
        .dilation = {a->dilation_d, a->dilation_h, a->dilation_w}, .groups = a->groups});
}

static void run_linear(const CtnLinearS8Args *a, const CtnFrame *f, bool nibbles) {
    conv_run(&(Conv){.input = ctn_at(f, a->input),
                     .weights = ctn_at(f, a->weights),
                     .bias = ctn_at(f, a->bias),
                     .multiplier = ctn_at(f, a->multiplier),
                     .shift = ctn_at(f, a->shift),
                     .table = ctn_at(f, a->table),
                     .output = ctn_at(f, a->output),
                     .batches = a->rows,
                     .in_c = a->depth,
                     .out_c = a->columns,
                     .in = {1, 1, 1},
                     .out = {1, 1, 1},
                     .kernel = {1, 1, 1},
                     .stride = {1, 1, 1},
                     .dilation = {1, 1, 1},
                     .groups = 1,
                     .input_zero_point = a->input_zero_point,
                     .output_zero_point = a->output_zero_point,
                     .clamp_min = a->clamp_min,
                     .clamp_max = a->clamp_max,
                     .nibbles = nibbles});
}

static void wide_linear_s8(const CtnLinearS8Args *a, const CtnFrame *f) {
    run_linear(a, f, false);
}

static void wide_linear_s8w4(const CtnLinearS8W4Args *a, const CtnFrame *f) {
    run_linear((const CtnLinearS8Args *)(const void *)a, f, true);
}

/* ---- strided walks: offsets from a flat index ----------------------------------------------- */

static int64_t count_of(int rank, const int32_t *dim) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= dim[d];
    return n;
}

static int64_t offset_of(int rank, const int32_t *dim, const int32_t *stride, int64_t flat) {
    int64_t offset = 0;
    for (int d = rank - 1; d >= 0; d--) {
        offset += flat % dim[d] * stride[d];
        flat /= dim[d];
    }
    return offset;
}

static void wide_matmul_s8(const CtnMatmulS8Args *a, const CtnFrame *f) {
    const int8_t *lhs = ctn_at(f, a->lhs), *rhs = ctn_at(f, a->rhs), *table = ctn_at(f, a->table);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t b = 0; b < count_of(4, a->batch); b++)
        for (int64_t m = 0; m < a->rows; m++)
            for (int64_t n = 0; n < a->columns; n++) {
                int64_t l = offset_of(4, a->batch, a->lhs_batch_stride, b), sum = 0;
                int64_t r = offset_of(4, a->batch, a->rhs_batch_stride, b);
                for (int64_t k = 0; k < a->depth; k++)
                    sum += (int64_t)(lhs[l + m * a->lhs_row_stride + k * a->lhs_depth_stride] -
                                     a->lhs_zero_point) *
                           (rhs[r + n * a->rhs_column_stride + k * a->rhs_depth_stride] -
                            a->rhs_zero_point);
                sum = wide_requantize(sum, a->multiplier, a->shift) + a->output_zero_point;
                *output++ = finish(sum, a->clamp_min, a->clamp_max, table);
            }
}

/* Element i of an int8 or int16 array. */
static int64_t element(const void *p, bool wide, int64_t i) {
    return wide ? ((const int16_t *)p)[i] : ((const int8_t *)p)[i];
}

static void store(void *p, bool wide, int64_t i, int64_t q, int32_t low, const void *table) {
    if (wide)
        ((int16_t *)p)[i] = (int16_t)q;
    else
        ((int8_t *)p)[i] = table ? ((const int8_t *)table)[q - low] : (int8_t)q;
}

static void add(const CtnAddS8Args *a, const CtnFrame *f, bool wide) {
    void *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t p = element(ctn_at(f, a->a), wide, offset_of(6, a->dim, a->a_stride, i));
        int64_t q = element(ctn_at(f, a->b), wide, offset_of(6, a->dim, a->b_stride, i));
        int64_t unit = (int64_t)1 << a->left_shift;
        int64_t sum = wide_requantize((p - a->a_zero_point) * unit, a->a_multiplier, a->a_shift) +
                      wide_requantize((q - a->b_zero_point) * unit, a->b_multiplier, a->b_shift);
        sum = wide_requantize(sum, a->output_multiplier, a->output_shift) + a->output_zero_point;
        store(output, wide, i, limit(sum, a->clamp_min, a->clamp_max), a->clamp_min,
              ctn_at(f, a->table));
    }
}

static void wide_add_s8(const CtnAddS8Args *a, const CtnFrame *f) {
    add(a, f, false);
}

static void wide_add_s16(const CtnAddS16Args *a, const CtnFrame *f) {
    CtnAddS8Args same;
    memcpy(&same, a, sizeof same);
    add(&same, f, true);
}

static void mul(const CtnMulS8Args *a, const CtnFrame *f, bool wide) {
    void *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t p = element(ctn_at(f, a->a), wide, offset_of(6, a->dim, a->a_stride, i));
        int64_t q = element(ctn_at(f, a->b), wide, offset_of(6, a->dim, a->b_stride, i));
        int64_t product = (p - a->a_zero_point) * (q - a->b_zero_point);
        product = wide_requantize(product, a->multiplier, a->shift) + a->output_zero_point;
        store(output, wide, i, limit(product, a->clamp_min, a->clamp_max), a->clamp_min,
              ctn_at(f, a->table));
    }
}

static void wide_mul_s8(const CtnMulS8Args *a, const CtnFrame *f) {
    mul(a, f, false);
}

static void wide_mul_s16(const CtnMulS16Args *a, const CtnFrame *f) {
    CtnMulS8Args same;
    memcpy(&same, a, sizeof same);
    mul(&same, f, true);
}

/* a * factor / b, with factor = multiplier * 2^(shift - 31) */
static void divide(const CtnDivS8Args *a, const CtnFrame *f, bool wide) {
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        Wide top =
            element(ctn_at(f, a->a), wide, offset_of(6, a->dim, a->a_stride, i)) - a->a_zero_point;
        Wide bottom =
            element(ctn_at(f, a->b), wide, offset_of(6, a->dim, a->b_stride, i)) - a->b_zero_point;
        top *= (Wide)a->multiplier * ((Wide)1 << (a->shift + 14));
        bottom *= (Wide)1 << 45;
        int64_t q = bottom == 0  ? 0
                    : bottom < 0 ? half_away(-top, -bottom)
                                 : half_away(top, bottom);
        q = limit(q + a->output_zero_point, a->clamp_min, a->clamp_max);
        store(ctn_at(f, a->output), wide, i, q, a->clamp_min, ctn_at(f, a->table));
    }
}

static void wide_div_s8(const CtnDivS8Args *a, const CtnFrame *f) {
    divide(a, f, false);
}

static void wide_div_s16(const CtnDivS16Args *a, const CtnFrame *f) {
    CtnDivS8Args same;
    memcpy(&same, a, sizeof same);
    divide(&same, f, true);
}

static int64_t mapped(const int8_t *table, int64_t q) {
    return table ? table[q + 128] : q;
}

static void wide_minmax_s8(const CtnMinmaxS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t p = element(ctn_at(f, a->a), false, offset_of(6, a->dim, a->a_stride, i));
        int64_t q = element(ctn_at(f, a->b), false, offset_of(6, a->dim, a->b_stride, i));
        p = mapped(ctn_at(f, a->a_table), p);
        q = mapped(ctn_at(f, a->b_table), q);
        ((int8_t *)ctn_at(f, a->output))[i] = (int8_t)((a->minimum ? p < q : p > q) ? p : q);
    }
}

static void wide_minmax_s16(const CtnMinmaxS16Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t p = element(ctn_at(f, a->a), true, offset_of(6, a->dim, a->a_stride, i));
        int64_t q = element(ctn_at(f, a->b), true, offset_of(6, a->dim, a->b_stride, i));
        p = limit(wide_requantize(p, a->a_multiplier, a->a_shift), -32767, 32767);
        q = limit(wide_requantize(q, a->b_multiplier, a->b_shift), -32767, 32767);
        ((int16_t *)ctn_at(f, a->output))[i] = (int16_t)((a->minimum ? p < q : p > q) ? p : q);
    }
}

static bool holds(int op, int64_t p, int64_t q) {
    switch (op) {
    case CTN_INTEGER_EQ:
        return p == q;
    case CTN_INTEGER_NE:
        return p != q;
    case CTN_INTEGER_LT:
        return p < q;
    case CTN_INTEGER_LE:
        return p <= q;
    case CTN_INTEGER_GT:
        return p > q;
    case CTN_INTEGER_GE:
        return p >= q;
    case CTN_INTEGER_LOGICAL_AND:
        return p && q;
    case CTN_INTEGER_LOGICAL_OR:
        return p || q;
    default:
        return (p != 0) != (q != 0);
    }
}

static void compare(const CtnCompareS8Args *a, const CtnFrame *f, bool wide) {
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t p = element(ctn_at(f, a->a), wide, offset_of(6, a->dim, a->a_stride, i));
        int64_t q = element(ctn_at(f, a->b), wide, offset_of(6, a->dim, a->b_stride, i));
        ((uint8_t *)ctn_at(f, a->output))[i] =
            holds(a->op, (p - a->a_zero_point) * a->a_factor, (q - a->b_zero_point) * a->b_factor);
    }
}

static void wide_compare_s8(const CtnCompareS8Args *a, const CtnFrame *f) {
    compare(a, f, false);
}

static void wide_compare_s16(const CtnCompareS16Args *a, const CtnFrame *f) {
    CtnCompareS8Args same;
    memcpy(&same, a, sizeof same);
    compare(&same, f, true);
}

static void wide_logical_s8(const CtnLogicalS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t p = element(ctn_at(f, a->a), false, offset_of(6, a->dim, a->a_stride, i));
        int64_t q = element(ctn_at(f, a->b), false, offset_of(6, a->dim, a->b_stride, i));
        ((uint8_t *)ctn_at(f, a->output))[i] =
            holds(a->op, p - a->a_zero_point, q - a->b_zero_point);
    }
}

static void wide_where(const CtnWhereArgs *a, const CtnFrame *f) {
    const char *condition = ctn_at(f, a->condition);
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        bool yes = condition[offset_of(6, a->dim, a->condition_stride, i)] != 0;
        const char *in = ctn_at(f, yes ? a->a : a->b);
        char *out = (char *)ctn_at(f, a->output) + i * a->element_size;
        int64_t at = offset_of(6, a->dim, yes ? a->a_stride : a->b_stride, i);
        memcpy(out, in + at * a->element_size, (size_t)a->element_size);
        if (a->element_size == 1)
            *out = (char)mapped(ctn_at(f, yes ? a->a_table : a->b_table), (int8_t)*out);
    }
}

static void wide_prelu_s8(const CtnPreluS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t q = element(ctn_at(f, a->input), false, offset_of(6, a->dim, a->in_stride, i));
        int64_t c = offset_of(6, a->dim, a->channel_stride, i);
        int64_t v = (q - a->input_zero_point) * 65536;
        v = v >= 0 ? wide_requantize(v, a->positive_multiplier, a->positive_shift)
                   : wide_requantize(v, ((int32_t *)ctn_at(f, a->multiplier))[c],
                                     ((int32_t *)ctn_at(f, a->shift))[c]);
        ((int8_t *)ctn_at(f, a->output))[i] = (int8_t)limit(v + a->output_zero_point, -128, 127);
    }
}

static void wide_pointwise2_s8(const CtnPointwise2S8Args *a, const CtnFrame *f) {
    const int8_t *table = ctn_at(f, a->table);
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t p = element(ctn_at(f, a->a), false, offset_of(6, a->dim, a->a_stride, i));
        int64_t q = element(ctn_at(f, a->b), false, offset_of(6, a->dim, a->b_stride, i));
        ((int8_t *)ctn_at(f, a->output))[i] = table[256 * (q + 128) + p + 128];
    }
}

static int64_t load(const void *base, int64_t i, int32_t type) {
    Array a = {.dtype = (DType)type, .rank = 1, .dim = {i + 1}, .data = (void *)base};
    return type == DT_BOOL ? ((const uint8_t *)base)[i] : array_get_int(&a, i);
}

static Wide floor_quotient(Wide a, Wide b) {
    Wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Modulo 2^64, by halving the exponent. */
static Wide integer_power(Wide p, Wide q) {
    if (q < 0)
        return p == 1 || (p == -1 && q % 2 == 0) ? 1 : p == -1 ? -1 : 0;
    if (q == 0)
        return 1;
    uint64_t half = (uint64_t)integer_power(p, q / 2);
    return (Wide)(half * half * (q % 2 ? (uint64_t)p : 1));
}

static Wide integer_divisor(Wide p, Wide q) {
    return q == 0 ? (p < 0 ? -p : p) : integer_divisor(q, p % q);
}

static Wide integer_multiple(Wide p, Wide q) {
    Wide product = p * q, divisor = integer_divisor(p, q);
    return divisor == 0 ? 0 : (product < 0 ? -product : product) / divisor;
}

/* Without bound; the store takes the result modulo the output's width. */
static Wide integer_result(const CtnIntegerArgs *a, Wide p, Wide q) {
    bool out_of_range = q < 0 || q > 63;
    switch (a->op) {
    case CTN_INTEGER_ADD:
        return p + a->alpha * q;
    case CTN_INTEGER_SUB:
        return p - a->alpha * q;
    case CTN_INTEGER_RSUB:
        return q - a->alpha * p;
    case CTN_INTEGER_MUL:
        return p * q;
    case CTN_INTEGER_FLOOR_DIVIDE:
        return q == 0 ? 0 : floor_quotient(p, q);
    case CTN_INTEGER_TRUNC_DIVIDE:
        return q == 0 ? 0 : p / q;
    case CTN_INTEGER_REMAINDER:
        return q == 0 ? 0 : p - q * floor_quotient(p, q);
    case CTN_INTEGER_FMOD:
        return q == 0 ? 0 : p % q;
    case CTN_INTEGER_MAX:
        return p > q ? p : q;
    case CTN_INTEGER_MIN:
        return p < q ? p : q;
    case CTN_INTEGER_AND:
        return p & q;
    case CTN_INTEGER_OR:
        return p | q;
    case CTN_INTEGER_XOR:
        return p ^ q;
    case CTN_INTEGER_SHIFT_LEFT:
        return out_of_range ? 0 : p * ((Wide)1 << (int)q);
    case CTN_INTEGER_SHIFT_RIGHT:
        return out_of_range ? (p < 0 ? -1 : 0) : floor_quotient(p, (Wide)1 << (int)q);
    case CTN_INTEGER_POW:
        return integer_power(p, q);
    case CTN_INTEGER_GCD:
        return integer_divisor(p, q);
    case CTN_INTEGER_LCM:
        return integer_multiple(p, q);
    default:
        return holds(a->op, (int64_t)p, (int64_t)q);
    }
}

static void wide_integer(const CtnIntegerArgs *a, const CtnFrame *f) {
    int size = dtype_size((DType)a->output_type);
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t p = load(ctn_at(f, a->a), offset_of(6, a->dim, a->a_stride, i), a->a_type);
        int64_t q = load(ctn_at(f, a->b), offset_of(6, a->dim, a->b_stride, i), a->b_type);
        uint64_t r = (uint64_t)integer_result(a, p, q);
        if (a->output_type == DT_BOOL)
            r = r != 0;
        memcpy((char *)ctn_at(f, a->output) + i * size, &r, (size_t)size);
    }
}

static void wide_quantize_integer(const CtnQuantizeIntegerArgs *a, const CtnFrame *f) {
    bool wide = a->output_bytes == 2;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t v = limit(load(ctn_at(f, a->input), i, a->input_type), -a->limit, a->limit);
        int64_t q = half_away((Wide)v * a->multiplier, (Wide)1 << (31 - a->shift));
        q = limit(q + a->zero_point, wide ? -32767 : -128, wide ? 32767 : 127);
        store(ctn_at(f, a->output), wide, i, q, 0, NULL);
    }
}

static void wide_rescale(const CtnRescaleArgs *a, const CtnFrame *f) {
    bool wide = a->output_bytes == 2;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t q = element(ctn_at(f, a->input), a->input_bytes == 2, i) - a->input_zero_point;
        q = wide_requantize(q, a->multiplier, a->shift) + a->output_zero_point;
        q = limit(q, wide ? -32767 : -128, wide ? 32767 : 127);
        store(ctn_at(f, a->output), wide, i, q, 0, NULL);
    }
}

/* Linear between 513 entries, rounded half up. */
static int64_t interpolated(const int16_t *table, int64_t q) {
    q = limit(q, -32768, 32767) + 32768;
    const int16_t *e = table + q / 128;
    return e[0] + floor_div(2 * (e[1] - e[0]) * (q % 128) + 128, 256);
}

static int64_t gate_sum(const CtnFrame *f, uint32_t weights, uint32_t multiplier, uint32_t shift,
                        int64_t row, int64_t depth, const int8_t *x, int32_t zero_point) {
    const int8_t *w = (const int8_t *)ctn_at(f, weights) + row * depth;
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; k++)
        sum += (x[k] - zero_point) * w[k];
    return wide_requantize(sum, ((const int32_t *)ctn_at(f, multiplier))[row],
                           ((const int8_t *)ctn_at(f, shift))[row]);
}

/* Unit j of a sequence in step t: c before and after, of cell_bits; h: the states before, or NULL.
 */
static int64_t lstm_unit(const CtnLstmS8Args *a, const CtnFrame *f, int32_t j, const int8_t *x,
                         const int8_t *h, bool first, int64_t *c) {
    const int16_t *sigmoid = ctn_at(f, a->sigmoid), *tangent = ctn_at(f, a->tangent);
    int64_t gate[4];
    for (int g = 0; g < 4; g++) {
        int64_t row = g * a->size + j, of_state = 0;
        if (h)
            of_state = gate_sum(f, a->h_weights, a->h_multiplier, a->h_shift, row, a->size, h,
                                first ? a->h0_zero_point : a->output_zero_point);
        if (h && first && a->h0_multiplier != 0)
            of_state = wide_requantize(of_state, a->h0_multiplier, a->h0_shift);
        int64_t sum = gate_sum(f, a->x_weights, a->x_multiplier, a->x_shift, row, a->in_size, x,
                               a->input_zero_point);
        sum += of_state + ((const int32_t *)ctn_at(f, a->bias))[row];
        gate[g] = interpolated(g == 2 ? tangent : sigmoid, half_away(sum, 16));
    }
    int64_t kept = half_away(gate[1] * *c, 1 << 15),
            fresh = half_away(gate[0] * gate[2], 1 << (30 - a->cell_bits));
    *c = limit(kept + fresh, -32768, 32767);
    int64_t squashed = interpolated(tangent, *c * (1 << (12 - a->cell_bits)));
    int64_t q = wide_requantize(gate[3] * squashed, a->multiplier, a->shift);
    return limit(q + a->output_zero_point, -128, 127);
}

static void wide_lstm_s8(const CtnLstmS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input), *h = ctn_at(f, a->h0);
    const int16_t *c0 = ctn_at(f, a->c0);
    int8_t *output = ctn_at(f, a->output);
    int32_t states = a->batches * a->size;
    int64_t c[2 * 64] = {0};
    for (int32_t i = 0; c0 && i < states; i++)
        c[i] = c0[i];
    for (int32_t k = 0; k < a->steps; k++) {
        int32_t t = a->reverse ? a->steps - 1 - k : k;
        for (int32_t i = 0; i < states; i++) {
            int32_t b = i / a->size;
            const int8_t *x = input + (t * a->batches + b) * a->in_size;
            output[t * states + i] =
                (int8_t)lstm_unit(a, f, i % a->size, x, h ? h + b * a->size : h, k == 0, &c[i]);
        }
        h = output + t * states;
    }
    for (int32_t i = 0; i < states; i++)
        ((int16_t *)ctn_at(f, a->cell))[i] = (int16_t)c[i];
}

static void wide_table_s8(const CtnTableS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    for (int64_t i = 0; i < a->count; i++)
        memcpy((char *)ctn_at(f, a->output) + i * a->entry_size,
               (const char *)ctn_at(f, a->table) + (input[i] + 128) * a->entry_size,
               (size_t)a->entry_size);
}

static void wide_table_s16(const CtnTableS16Args *a, const CtnFrame *f) {
    const int16_t *input = ctn_at(f, a->input), *table = ctn_at(f, a->table);
    for (int64_t i = 0; i < a->count; i++) {
        double position = (input[i] + 32768.0) / 128.0, low = floor(position);
        double y = table[(int)low] + (position - low) * (table[(int)low + 1] - table[(int)low]);
        ((int16_t *)ctn_at(f, a->output))[i] = (int16_t)floor(y + 0.5);
    }
}

static void wide_pieces_s16(const CtnPiecesS16Args *a, const CtnFrame *f) {
    const int16_t *input = ctn_at(f, a->input), *start = ctn_at(f, a->start);
    for (int64_t i = 0; i < a->count; i++) {
        int64_t k = a->pieces - 1;
        while (start[k] > input[i])
            k--;
        const int32_t *p = (const int32_t *)ctn_at(f, a->piece) + 4 * k;
        int64_t place = (int64_t)(input[i] - start[k]) << p[0];
        int64_t slope = p[2] + (int64_t)floor(ldexp((double)(p[3] * place), -15) + 0.5);
        int64_t y = p[1] + (int64_t)floor(ldexp((double)(slope * place), -15) + 0.5);
        int32_t q = (int32_t)floor(ldexp((double)y, -4) + 0.5);
        if (a->output_bytes == 2)
            ((int16_t *)ctn_at(f, a->output))[i] = (int16_t)q;
        else
            ((int8_t *)ctn_at(f, a->output))[i] = (int8_t)q;
    }
}

/* ---- movement ------------------------------------------------------------------------------ */

static void wide_copy(const CtnCopyArgs *a, const CtnFrame *f) {
    char *output = ctn_at(f, a->output);
    const char *input = ctn_at(f, a->input);
    const int8_t *table = ctn_at(f, a->table);
    for (int64_t i = 0; i < count_of(8, a->dim); i++) {
        char *to = output + offset_of(8, a->dim, a->out_stride, i) * a->element_size;
        memcpy(to, input + offset_of(8, a->dim, a->in_stride, i) * a->element_size,
               (size_t)a->element_size);
        if (table)
            *(int8_t *)to = table[*(int8_t *)to + 128];
    }
}

static void wide_gather(const CtnGatherArgs *a, const CtnFrame *f) {
    const int32_t *indices = ctn_at(f, a->indices);
    for (int64_t i = 0; i < count_of(8, a->dim); i++) {
        int64_t flat = i, from = 0;
        for (int d = 7; d >= 0; d--) {
            int64_t at = flat % a->dim[d];
            flat /= a->dim[d];
            from += a->index_start[d] < 0 ? at * a->in_stride[d] : indices[a->index_start[d] + at];
        }
        memcpy((char *)ctn_at(f, a->output) + i * a->element_size,
               (const char *)ctn_at(f, a->input) + from * a->element_size, (size_t)a->element_size);
    }
}

static void wide_fill(const CtnFillArgs *a, const CtnFrame *f) {
    int64_t value = a->value;
    for (int64_t i = 0; i < (int64_t)a->runs * a->count; i++)
        memcpy((char *)ctn_at(f, a->output) +
                   (i / a->count * a->stride + i % a->count) * a->element_size,
               &value, (size_t)a->element_size);
}

static void wide_take(const CtnTakeArgs *a, const CtnFrame *f) {
    const void *indices = ctn_at(f, a->indices);
    int64_t count = (int64_t)a->outer * a->count * a->inner;
    for (int64_t n = 0; n < count; n++) {
        int64_t o = n / a->inner / a->count, k = n / a->inner % a->count, which = a->each ? n : k;
        int64_t at = a->index_size == 8 ? ((const int64_t *)indices)[which]
                                        : ((const int32_t *)indices)[which];
        if (at < 0)
            at += a->rows;
        at = at < 0 ? 0 : at < a->rows ? at : a->rows - 1;
        memcpy((char *)ctn_at(f, a->output) + n * a->element_size,
               (const char *)ctn_at(f, a->input) +
                   ((o * a->rows + at) * a->inner + n % a->inner) * a->element_size,
               (size_t)a->element_size);
    }
}

/* The exact weighted mean of the four neighbours, rounded half away from zero. */
static void wide_upsample(const CtnUpsampleBilinear2dS8Args *a, const CtnFrame *f, bool wide) {
    const int32_t *rows = ctn_at(f, a->rows), *columns = ctn_at(f, a->columns);
    const void *input = ctn_at(f, a->input);
    void *output = ctn_at(f, a->output);
    int64_t count = (int64_t)a->batches * a->out_h * a->out_w * a->channels;
    for (int64_t n = 0; n < count; n++) {
        int64_t c = n % a->channels, ox = n / a->channels % a->out_w;
        int64_t oy = n / a->channels / a->out_w % a->out_h;
        int64_t b = n / a->channels / a->out_w / a->out_h;
        double sum = 0;
        for (int corner = 0; corner < 4; corner++) {
            int64_t y = rows[oy] / 8192, x = columns[ox] / 8192;
            double down = rows[oy] % 8192 / 4096.0, right = columns[ox] % 8192 / 4096.0;
            double weight = (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right);
            y = y + corner / 2 < a->in_h ? y + corner / 2 : a->in_h - 1;
            x = x + corner % 2 < a->in_w ? x + corner % 2 : a->in_w - 1;
            int64_t at = ((b * a->in_h + y) * a->in_w + x) * a->channels + c;
            sum += weight * (wide ? ((const int16_t *)input)[at] : ((const int8_t *)input)[at]);
        }
        if (wide)
            ((int16_t *)output)[n] = (int16_t)round(sum);
        else
            ((int8_t *)output)[n] = (int8_t)round(sum);
    }
}

static void wide_upsample_bilinear2d_s8(const CtnUpsampleBilinear2dS8Args *a, const CtnFrame *f) {
    wide_upsample(a, f, false);
}

static void wide_upsample_bilinear2d_s16(const CtnUpsampleBilinear2dS16Args *a, const CtnFrame *f) {
    wide_upsample((const void *)a, f, true);
}

/* ---- pools and reductions ------------------------------------------------------------------ */

static void wide_max_pool2d_s8(const CtnMaxPool2dS8Args *a, const CtnFrame *f) {
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
                    *output++ = finish(best, a->clamp_min, a->clamp_max, ctn_at(f, a->table));
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
        return half_away((Wide)sum * 256, divisor);
    return half_away((Wide)sum + (Wide)divisor * a->input_zero_point, divisor);
}

static void wide_avg_pool2d_s8(const CtnAvgPool2dS8Args *a, const CtnFrame *f) {
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
                    *output++ = finish(mean, a->clamp_min, a->clamp_max, ctn_at(f, a->table));
                }
}

static void wide_reduce_sum_s8(const CtnReduceSumS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < count_of(6, a->reduced); k++)
            sum += input[offset_of(6, a->dim, a->in_stride, i) +
                         offset_of(6, a->reduced, a->reduced_stride, k)] -
                   a->input_zero_point;
        sum = wide_requantize(sum, a->multiplier, a->shift) + a->output_zero_point;
        *output++ = finish(sum, a->clamp_min, a->clamp_max, ctn_at(f, a->table));
    }
}

static void wide_reduce_max_s8(const CtnReduceMaxS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int best = a->mode ? 127 : -128;
        for (int64_t k = 0; k < count_of(6, a->reduced); k++) {
            int q = input[offset_of(6, a->dim, a->in_stride, i) +
                          offset_of(6, a->reduced, a->reduced_stride, k)];
            best = (a->mode ? q < best : q > best) ? q : best;
        }
        *output++ = finish(best, -128, 127, ctn_at(f, a->table));
    }
}

static void wide_reduce_max_s16(const CtnReduceMaxS16Args *a, const CtnFrame *f) {
    const int16_t *input = ctn_at(f, a->input);
    int16_t *output = ctn_at(f, a->output);
    for (int64_t i = 0; i < count_of(6, a->dim); i++) {
        int best = a->mode ? 32767 : -32767;
        for (int64_t k = 0; k < count_of(6, a->reduced); k++) {
            int q = input[offset_of(6, a->dim, a->in_stride, i) +
                          offset_of(6, a->reduced, a->reduced_stride, k)];
            best = (a->mode ? q < best : q > best) ? q : best;
        }
        *output++ = (int16_t)best;
    }
}

/* The real softmax; the kernel's polynomials stay within one step of it. */
static void wide_softmax_s8(const CtnSoftmaxS8Args *a, const CtnFrame *f) {
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
            output[i] =
                (int8_t)limit(llround(256 * exp(step * (input[i] - best)) / sum) - 128, -128, 127);
    }
}

/* ---- the boundary -------------------------------------------------------------------------- */

static float bits_float(int32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static int64_t quantize(float x, int32_t inverse, int32_t zero_point, bool wide) {
    float t = rintf(x * bits_float(inverse));
    if (isnan(t))
        return zero_point;
    double q = (double)t + zero_point;
    return (int64_t)(wide ? fmin(fmax(q, -32767), 32767) : fmin(fmax(q, -128), 127));
}

static void wide_quantize_s8(const CtnQuantizeS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < a->count; i++)
        ((int8_t *)ctn_at(f, a->output))[i] = (int8_t)quantize(
            ((float *)ctn_at(f, a->input))[i], a->inverse_scale, a->zero_point, false);
}

static void wide_quantize_s16(const CtnQuantizeS16Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < a->count; i++)
        ((int16_t *)ctn_at(f, a->output))[i] = (int16_t)quantize(
            ((float *)ctn_at(f, a->input))[i], a->inverse_scale, a->zero_point, true);
}

static void wide_dequantize_s8(const CtnDequantizeS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < a->count; i++)
        ((float *)ctn_at(f, a->output))[i] =
            (float)((double)(((int8_t *)ctn_at(f, a->input))[i] - a->zero_point) *
                    bits_float(a->scale));
}

static void wide_dequantize_s16(const CtnDequantizeS16Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < a->count; i++)
        ((float *)ctn_at(f, a->output))[i] =
            (float)((double)(((int16_t *)ctn_at(f, a->input))[i] - a->zero_point) *
                    bits_float(a->scale));
}

#define WIDE_CASE(name)                                                                            \
    case CTN_KERNEL_##name:                                                                        \
        wide_##name(args, frame);                                                                  \
        break;

bool wide_knows(int id) {
    return id != CTN_KERNEL_layer_norm_s8 && id != CTN_KERNEL_gru_s8;
}

void wide_run(int id, const void *args, const CtnFrame *frame) {
    switch (id) {
        WIDE_CASE(conv2d_s8)
        WIDE_CASE(conv2d_add_s8)
        WIDE_CASE(depthwise_conv2d_s8)
        WIDE_CASE(conv3d_s8)
        WIDE_CASE(conv_transpose2d_s8)
        WIDE_CASE(linear_s8)
        WIDE_CASE(conv2d_s8w4)
        WIDE_CASE(depthwise_conv2d_s8w4)
        WIDE_CASE(linear_s8w4)
        WIDE_CASE(matmul_s8)
        WIDE_CASE(add_s8)
        WIDE_CASE(add_s16)
        WIDE_CASE(mul_s8)
        WIDE_CASE(mul_s16)
        WIDE_CASE(div_s8)
        WIDE_CASE(div_s16)
        WIDE_CASE(minmax_s8)
        WIDE_CASE(minmax_s16)
        WIDE_CASE(compare_s8)
        WIDE_CASE(compare_s16)
        WIDE_CASE(logical_s8)
        WIDE_CASE(where)
        WIDE_CASE(prelu_s8)
        WIDE_CASE(pointwise2_s8)
        WIDE_CASE(integer)
        WIDE_CASE(quantize_integer)
        WIDE_CASE(rescale)
        WIDE_CASE(table_s8)
        WIDE_CASE(lstm_s8)
        WIDE_CASE(table_s16)
        WIDE_CASE(pieces_s16)
        WIDE_CASE(copy)
        WIDE_CASE(gather)
        WIDE_CASE(fill)
        WIDE_CASE(take)
        WIDE_CASE(upsample_bilinear2d_s8)
        WIDE_CASE(upsample_bilinear2d_s16)
        WIDE_CASE(max_pool2d_s8)
        WIDE_CASE(avg_pool2d_s8)
        WIDE_CASE(reduce_sum_s8)
        WIDE_CASE(reduce_max_s8)
        WIDE_CASE(reduce_max_s16)
        WIDE_CASE(softmax_s8)
        WIDE_CASE(argmax)
        WIDE_CASE(cumsum_s8)
        WIDE_CASE(adaptive_pool2d_s8)
        WIDE_CASE(adaptive_max_indices_s8)
        WIDE_CASE(max_pool2d_indices_s8)
        WIDE_CASE(reduce_int)
        WIDE_CASE(masked_softmax_s8)
        WIDE_CASE(log_softmax_s8)
        WIDE_CASE(linear_s16)
        WIDE_CASE(conv2d_s16)
        WIDE_CASE(matmul_s16)
        WIDE_CASE(reduce_sum_s16)
        WIDE_CASE(avg_pool2d_s16)
        WIDE_CASE(max_pool2d_s16)
        WIDE_CASE(softmax_s16)
        WIDE_CASE(quantize_s8)
        WIDE_CASE(dequantize_s8)
        WIDE_CASE(quantize_s16)
        WIDE_CASE(dequantize_s16)
    }
}
