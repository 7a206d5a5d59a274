/* References of what multiplies: convolutions, all as one in three dimensions, linear layers and
 * products of activations. */
#include "kernel/wide_math.h"
#include "residual_s8.h"

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
                        *output++ = wide_finish(sum + v->output_zero_point, v->clamp_min,
                                                v->clamp_max, v->table);
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

void wide_conv2d_s8(const CtnConv2dS8Args *a, const CtnFrame *f) {
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
        output[i] = wide_finish(sum, r->sum_clamp_min, r->sum_clamp_max, ctn_at(f, r->sum_table));
    }
}

void wide_conv2d_add_s8(const CtnConv2dAddS8Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->groups});
    wide_residual(&a->skip, f, ctn_at(f, a->output),
                  (int64_t)a->batches * a->out_h * a->out_w * a->out_c);
}

/* The input position of a tap, or -1: what ctn.h says of conv2d_channels_s8. */
static int64_t channel_source(int64_t p, int64_t ratio, int64_t size) {
    for (int64_t i = 0; i < size; i++)
        if (i * ratio == p)
            return i;
    return -1;
}

static int64_t channel_sum(const CtnConv2dChannelsS8Args *a, const CtnFrame *f, int64_t pixel,
                           int64_t i) {
    const int8_t *input = ctn_at(f, a->input), *weights = ctn_at(f, a->weights);
    const int32_t *channels = ctn_at(f, a->channels);
    int64_t depth = a->depth, first = channels[2 * i + 1], sum = 0;
    int64_t b = pixel / a->out_w / a->out_h, oy = pixel / a->out_w % a->out_h;
    int64_t ox = pixel % a->out_w, taps = (int64_t)a->kernel_h * a->kernel_w;
    for (int64_t t = 0; t < taps; t++) {
        int64_t down = a->start_h + oy * a->step_h + t / a->kernel_w * a->tap_h;
        int64_t across = a->start_w + ox * a->step_w + t % a->kernel_w * a->tap_w;
        int64_t y = channel_source(down, a->ratio_h, a->in_h);
        int64_t x = channel_source(across, a->ratio_w, a->in_w);
        for (int64_t c = 0; y >= 0 && x >= 0 && c < depth; c++)
            sum += (input[((b * a->in_h + y) * a->in_w + x) * a->in_c + first + c] -
                    a->input_zero_point) *
                   (int64_t)weights[(i * taps + t) * depth + c];
    }
    return sum;
}

void wide_conv2d_channels_s8(const CtnConv2dChannelsS8Args *a, const CtnFrame *f) {
    const int32_t *channels = ctn_at(f, a->channels), *bias = ctn_at(f, a->bias);
    const int32_t *multiplier = ctn_at(f, a->multiplier);
    const int8_t *shift = ctn_at(f, a->shift);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t pixel = 0; pixel < (int64_t)a->batches * a->out_h * a->out_w; pixel++)
        for (int64_t i = 0; i < a->channel_count; i++) {
            int64_t sum = channel_sum(a, f, pixel, i) + (bias ? bias[i] : 0);
            sum = wide_requantize(sum, multiplier[i], shift[i]) + a->output_zero_point;
            output[pixel * a->out_c + channels[2 * i]] =
                wide_finish(sum, a->clamp_min, a->clamp_max, ctn_at(f, a->table));
        }
}

void wide_conv2d_s8w4(const CtnConv2dS8W4Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->groups, .nibbles = true});
}

void wide_conv2d_add_s8w4(const CtnConv2dAddS8W4Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->groups, .nibbles = true});
    wide_residual(&a->skip, f, ctn_at(f, a->output),
                  (int64_t)a->batches * a->out_h * a->out_w * a->out_c);
}

void wide_conv_transpose2d_s8(const CtnConvTranspose2dS8Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->groups, .transposed = true});
}

void wide_depthwise_conv2d_s8(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->in_c, .taps_first = true});
}

void wide_depthwise_conv2d_s8w4(const CtnDepthwiseConv2dS8W4Args *a, const CtnFrame *f) {
    conv_run(&(Conv){CONV(a, f), PLANE(a), .groups = a->in_c, .taps_first = true, .nibbles = true});
}

void wide_conv3d_s8(const CtnConv3dS8Args *a, const CtnFrame *f) {
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

void wide_linear_s8(const CtnLinearS8Args *a, const CtnFrame *f) {
    run_linear(a, f, false);
}

void wide_linear_s8w4(const CtnLinearS8W4Args *a, const CtnFrame *f) {
    run_linear((const CtnLinearS8Args *)(const void *)a, f, true);
}

void wide_matmul_s8(const CtnMatmulS8Args *a, const CtnFrame *f) {
    const int8_t *lhs = ctn_at(f, a->lhs), *rhs = ctn_at(f, a->rhs), *table = ctn_at(f, a->table);
    int8_t *output = ctn_at(f, a->output);
    for (int64_t b = 0; b < wide_count(4, a->batch); b++)
        for (int64_t m = 0; m < a->rows; m++)
            for (int64_t n = 0; n < a->columns; n++) {
                int64_t l = wide_offset(4, a->batch, a->lhs_batch_stride, b), sum = 0;
                int64_t r = wide_offset(4, a->batch, a->rhs_batch_stride, b);
                for (int64_t k = 0; k < a->depth; k++)
                    sum += (int64_t)(lhs[l + m * a->lhs_row_stride + k * a->lhs_depth_stride] -
                                     a->lhs_zero_point) *
                           (rhs[r + n * a->rhs_column_stride + k * a->rhs_depth_stride] -
                            a->rhs_zero_point);
                sum = wide_requantize(sum, a->multiplier, a->shift) + a->output_zero_point;
                *output++ = wide_finish(sum, a->clamp_min, a->clamp_max, table);
            }
}
