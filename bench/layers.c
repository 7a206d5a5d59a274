/* The layers: calls as lowering makes them, for the shapes that CMSIS-NN was counted with, and
 * those that only networks have. Zero points are -128, so the input offset is 128 and clamps are
 * -128..127, as there. */
#include "bench.h"
#include "fix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONV(name, h, w, c, n, kh, kw, stride, pad)                                                \
    { name, CTN_KERNEL_conv2d_s8, h, w, c, n, kh, kw, stride, pad }
/* With an addition in its store. */
#define CONV_ADD(name, h, w, c, n, kh, kw, stride, pad)                                            \
    { name "+add", CTN_KERNEL_conv2d_add_s8, h, w, c, n, kh, kw, stride, pad }
#define DEPTHWISE(name, h, w, c, kh, kw, stride, pad)                                              \
    { name, CTN_KERNEL_depthwise_conv2d_s8, h, w, c, c, kh, kw, stride, pad }
#define LINEAR(name, depth, columns)                                                               \
    { name, CTN_KERNEL_linear_s8, 1, 1, depth, columns, 1, 1, 1, 0 }
#define FLAT(name, kernel, count)                                                                  \
    { name, CTN_KERNEL_##kernel, 1, 1, count, count, 1, 1, 1, 0 }
#define POOL(name, kernel, h, w, c, k, stride, pad)                                                \
    { name, CTN_KERNEL_##kernel, h, w, c, c, k, k, stride, pad }

/* The same layer with weights of 4 bits, and with activations of 16. */
#define CONV_WIDTHS(name, ...)                                                                     \
    {name "/w4", CTN_KERNEL_conv2d_s8w4, __VA_ARGS__}, {                                           \
        name "/a16", CTN_KERNEL_conv2d_s16, __VA_ARGS__                                            \
    }
#define DEPTHWISE_WIDTHS(name, h, w, c, ...)                                                       \
    {name "/w4", CTN_KERNEL_depthwise_conv2d_s8w4, h, w, c, c, __VA_ARGS__}, {                     \
        name "/a16", CTN_KERNEL_conv2d_s16, h, w, c, -c, __VA_ARGS__                               \
    }
#define LINEAR_WIDTHS(name, depth, columns)                                                        \
    {name "/w4", CTN_KERNEL_linear_s8w4, 1, 1, depth, columns, 1, 1, 1, 0}, {                      \
        name "/a16", CTN_KERNEL_linear_s16, 1, 1, depth, columns, 1, 1, 1, 0                       \
    }

/* An output has (in + 2 * pad - k) / stride + 1 places; where that leaves one side unpadded, the
 * table's pad is the smaller one and `in` counts (SAME padding with even sizes). */
const Layer layer_table[] = {
    CONV("conv3x3_s1_16x16x16_16", 16, 16, 16, 16, 3, 3, 1, 1),
    CONV("conv3x3_s1_32x32x3_16", 32, 32, 3, 16, 3, 3, 1, 1),
    CONV("conv3x3_s1_8x8x64_64", 8, 8, 64, 64, 3, 3, 1, 1),
    CONV("conv3x3_s2_48x48x8_16", 48, 48, 8, 16, 3, 3, 2, 0),
    CONV("conv1x1_16x16x32_64", 16, 16, 32, 64, 1, 1, 1, 0),
    CONV("conv1x1_25x5x64_64", 25, 5, 64, 64, 1, 1, 1, 0),
    CONV("conv1x1_6x6x128_128", 6, 6, 128, 128, 1, 1, 1, 0),
    CONV("conv1x1_40x40x64_64", 40, 40, 64, 64, 1, 1, 1, 0),
    CONV("conv10x4_s2_49x10x1_64", 49, 10, 1, 64, 10, 4, 2, 4),
    /* a depthwise layer of one channel is a convolution */
    CONV("dw10x4_s2_49x10x1_m64", 49, 10, 1, 64, 10, 4, 2, 4),
    DEPTHWISE("dw3x3_s1_25x5x64", 25, 5, 64, 3, 3, 1, 1),
    DEPTHWISE("dw3x3_s1_48x48x8", 48, 48, 8, 3, 3, 1, 1),
    DEPTHWISE("dw3x3_s2_12x12x64", 12, 12, 64, 3, 3, 2, 0),
    DEPTHWISE("dw3x3_s1_40x40x32", 40, 40, 32, 3, 3, 1, 1),
    DEPTHWISE("dw5x5_s1_20x20x40", 20, 20, 40, 5, 5, 1, 2),
    LINEAR("fc_640_128_pertensor", 640, 128),
    LINEAR("fc_640_128_perchannel", 640, 128),
    LINEAR("fc_128_128_pertensor", 128, 128),
    LINEAR("fc_128_128_perchannel", 128, 128),
    LINEAR("fc_64_12_pertensor", 64, 12),
    LINEAR("fc_64_12_perchannel", 64, 12),
    LINEAR("fc_4000_12_pertensor", 4000, 12),
    LINEAR("fc_4000_12_perchannel", 4000, 12),
    FLAT("add_8192", add_s8, 8192),
    FLAT("mul_8192", mul_s8, 8192),
    POOL("avgpool8x8_8x8x64", avg_pool2d_s8, 8, 8, 64, 8, 1, 0),
    POOL("maxpool2x2_s2_32x32x16", max_pool2d_s8, 32, 32, 16, 2, 2, 0),
    POOL("maxpool5x5_s1p2_20x20x64", max_pool2d_s8, 20, 20, 64, 5, 1, 2),
    {"softmax_1x12", CTN_KERNEL_softmax_s8, 1, 1, 12, 12, 1, 1, 1, 0},
    {"softmax_196x196", CTN_KERNEL_softmax_s8, 196, 1, 196, 196, 1, 1, 1, 0},
    /* rows, depth, columns; pad: the right operand's zero point */
    {"bmm_16x32x16_rhs0", CTN_KERNEL_matmul_s8, 16, 1, 32, 16, 1, 1, 1, 0},
    {"bmm_16x32x16_rhsoff", CTN_KERNEL_matmul_s8, 16, 1, 32, 16, 1, 1, 1, 7},
    {"tconv2x2_s2_8x8x32_16", CTN_KERNEL_conv_transpose2d_s8, 8, 8, 32, 16, 2, 2, 2, 0},
    {"transpose_nhwc_nchw_16x16x32", CTN_KERNEL_copy, 16, 16, 32, 32, 1, 1, 1, 0},
    FLAT("lut_plain_8192", table_s8, 8192),
    FLAT("lut_executorch_8192", table_s8, 8192),
    /* steps of 10, input of 32, state of 64 */
    {"lstm_t10_i32_h64", CTN_KERNEL_lstm_s8, 10, 1, 32, 64, 1, 1, 1, 0},
    /* parts of a padding: a line and a pixel of zero points above and as much below, two pixels
     * between lines, and the image within them; n: how often, one line apart */
    {"pad1_edge", CTN_KERNEL_fill, 1, 19, 32, 1, 1, 1, 1, 0},
    {"pad1_gaps", CTN_KERNEL_fill, 1, 2, 32, 15, 1, 1, 1, 0},
    {"pad1_copy", CTN_KERNEL_copy, 16, 16, 32, 32, 1, 1, 1, 1},
    /* eight groups, as in ResNeXt and ShuffleNet */
    CONV("conv3x3_g8_14x14x128_128", 14, 14, 128, -128, 3, 3, 1, 1),
    CONV("conv1x1_g8_14x14x128_128", 14, 14, 128, -128, 1, 1, 1, 0),
    CONV("conv3x3_g8_14x14x32_32", 14, 14, 32, -32, 3, 3, 1, 1),
    /* of the networks alone */
    CONV("conv3x3_s1_32x32x16_16", 32, 32, 16, 16, 3, 3, 1, 1),
    CONV("conv3x3_s2_32x32x16_32", 32, 32, 16, 32, 3, 3, 2, 0),
    CONV("conv3x3_s1_16x16x32_32", 16, 16, 32, 32, 3, 3, 1, 1),
    CONV("conv1x1_s2_32x32x16_32", 32, 32, 16, 32, 1, 1, 2, 0),
    CONV("conv3x3_s2_16x16x32_64", 16, 16, 32, 64, 3, 3, 2, 0),
    CONV("conv1x1_s2_16x16x32_64", 16, 16, 32, 64, 1, 1, 2, 0),
    CONV_ADD("conv3x3_s1_32x32x16_16", 32, 32, 16, 16, 3, 3, 1, 1),
    CONV_ADD("conv1x1_s2_32x32x16_32", 32, 32, 16, 32, 1, 1, 2, 0),
    CONV_ADD("conv1x1_s2_16x16x32_64", 16, 16, 32, 64, 1, 1, 2, 0),
    CONV_ADD("conv1x1_25x5x64_64", 25, 5, 64, 64, 1, 1, 1, 0),
    CONV("conv3x3_s2_96x96x3_8", 96, 96, 3, 8, 3, 3, 2, 0),
    CONV("conv1x1_48x48x8_16", 48, 48, 8, 16, 1, 1, 1, 0),
    CONV("conv1x1_24x24x16_32", 24, 24, 16, 32, 1, 1, 1, 0),
    CONV("conv1x1_24x24x32_32", 24, 24, 32, 32, 1, 1, 1, 0),
    CONV("conv1x1_12x12x32_64", 12, 12, 32, 64, 1, 1, 1, 0),
    CONV("conv1x1_12x12x64_64", 12, 12, 64, 64, 1, 1, 1, 0),
    CONV("conv1x1_6x6x64_128", 6, 6, 64, 128, 1, 1, 1, 0),
    CONV("conv1x1_3x3x128_256", 3, 3, 128, 256, 1, 1, 1, 0),
    CONV("conv1x1_3x3x256_256", 3, 3, 256, 256, 1, 1, 1, 0),
    DEPTHWISE("dw3x3_s2_48x48x16", 48, 48, 16, 3, 3, 2, 0),
    DEPTHWISE("dw3x3_s1_24x24x32", 24, 24, 32, 3, 3, 1, 1),
    DEPTHWISE("dw3x3_s2_24x24x32", 24, 24, 32, 3, 3, 2, 0),
    DEPTHWISE("dw3x3_s1_12x12x64", 12, 12, 64, 3, 3, 1, 1),
    DEPTHWISE("dw3x3_s1_6x6x128", 6, 6, 128, 3, 3, 1, 1),
    DEPTHWISE("dw3x3_s2_6x6x128", 6, 6, 128, 3, 3, 2, 0),
    DEPTHWISE("dw3x3_s1_3x3x256", 3, 3, 256, 3, 3, 1, 1),
    POOL("avgpool25x5_25x5x64", avg_pool2d_s8, 25, 5, 64, 25, 1, 0),
    POOL("avgpool3x3_3x3x256", avg_pool2d_s8, 3, 3, 256, 3, 1, 0),
    LINEAR("fc_64_10", 64, 10),
    LINEAR("fc_256_2", 256, 2),
    LINEAR("fc_128_8", 128, 8),
    LINEAR("fc_8_128", 8, 128),
    LINEAR("fc_128_640", 128, 640),
    FLAT("add_16384", add_s8, 16384),
    FLAT("add_4096", add_s8, 4096),
    /* other widths, beside the same layer in int8 */
    CONV_WIDTHS("conv3x3_s1_16x16x16_16", 16, 16, 16, 16, 3, 3, 1, 1),
    CONV_WIDTHS("conv3x3_s1_32x32x3_16", 32, 32, 3, 16, 3, 3, 1, 1),
    CONV_WIDTHS("conv3x3_s1_8x8x64_64", 8, 8, 64, 64, 3, 3, 1, 1),
    CONV_WIDTHS("conv1x1_16x16x32_64", 16, 16, 32, 64, 1, 1, 1, 0),
    CONV_WIDTHS("conv1x1_25x5x64_64", 25, 5, 64, 64, 1, 1, 1, 0),
    CONV_WIDTHS("conv1x1_6x6x128_128", 6, 6, 128, 128, 1, 1, 1, 0),
    CONV_WIDTHS("conv10x4_s2_49x10x1_64", 49, 10, 1, 64, 10, 4, 2, 4),
    DEPTHWISE_WIDTHS("dw3x3_s1_25x5x64", 25, 5, 64, 3, 3, 1, 1),
    DEPTHWISE_WIDTHS("dw3x3_s1_48x48x8", 48, 48, 8, 3, 3, 1, 1),
    DEPTHWISE_WIDTHS("dw3x3_s2_12x12x64", 12, 12, 64, 3, 3, 2, 0),
    LINEAR_WIDTHS("fc_640_128_perchannel", 640, 128),
    LINEAR_WIDTHS("fc_128_128_perchannel", 128, 128),
    LINEAR_WIDTHS("fc_64_12_perchannel", 64, 12),
    LINEAR_WIDTHS("fc_4000_12_perchannel", 4000, 12),
    FLAT("add_8192/a16", add_s16, 8192),
    FLAT("mul_8192/a16", mul_s16, 8192),
    FLAT("lut_plain_8192/a16", table_s16, 8192),
    FLAT("lut_pieces_8192/a16", pieces_s16, 8192),
};
const int layer_count = COUNT_OF(layer_table);

/* A layer of two calls, and the four networks of MLPerf Tiny, whose clamps are in the producers. */
const Network network_table[] = {
    {"pad1_16x16x32", {{"pad1_edge", 2}, {"pad1_gaps", 1}, {"pad1_copy", 1}}},
    {"kws_dscnn",
     {{"conv10x4_s2_49x10x1_64", 1},
      {"dw3x3_s1_25x5x64", 4},
      {"conv1x1_25x5x64_64", 4},
      {"avgpool25x5_25x5x64", 1},
      {"fc_64_12_perchannel", 1},
      {"softmax_1x12", 1}}},
    {"ic_resnet8",
     {{"conv3x3_s1_32x32x3_16", 1},
      {"conv3x3_s1_32x32x16_16", 1},
      {"conv3x3_s1_32x32x16_16+add", 1},
      {"conv3x3_s2_32x32x16_32", 1},
      {"conv3x3_s1_16x16x32_32", 1},
      {"conv1x1_s2_32x32x16_32+add", 1},
      {"conv3x3_s2_16x16x32_64", 1},
      {"conv3x3_s1_8x8x64_64", 1},
      {"conv1x1_s2_16x16x32_64+add", 1},
      {"avgpool8x8_8x8x64", 1},
      {"fc_64_10", 1},
      {"softmax_1x12", 1}}},
    {"vww_mobilenet025",
     {{"conv3x3_s2_96x96x3_8", 1}, {"dw3x3_s1_48x48x8", 1},    {"conv1x1_48x48x8_16", 1},
      {"dw3x3_s2_48x48x16", 1},    {"conv1x1_24x24x16_32", 1}, {"dw3x3_s1_24x24x32", 1},
      {"conv1x1_24x24x32_32", 1},  {"dw3x3_s2_24x24x32", 1},   {"conv1x1_12x12x32_64", 1},
      {"dw3x3_s1_12x12x64", 1},    {"conv1x1_12x12x64_64", 1}, {"dw3x3_s2_12x12x64", 1},
      {"conv1x1_6x6x64_128", 1},   {"dw3x3_s1_6x6x128", 5},    {"conv1x1_6x6x128_128", 5},
      {"dw3x3_s2_6x6x128", 1},     {"conv1x1_3x3x128_256", 1}, {"dw3x3_s1_3x3x256", 1},
      {"conv1x1_3x3x256_256", 1},  {"avgpool3x3_3x3x256", 1},  {"fc_256_2", 1},
      {"softmax_1x12", 1}}},
    {"ad_autoencoder",
     {{"fc_640_128_perchannel", 1},
      {"fc_128_128_perchannel", 6},
      {"fc_128_8", 1},
      {"fc_8_128", 1},
      {"fc_128_640", 1}}},
};
const int network_count = COUNT_OF(network_table);

int layer_find(const char *name) {
    for (int i = 0; i < layer_count; i++)
        if (strcmp(layer_table[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- numbers ------------------------------------------------------------------------------- */

typedef struct {
    C *c;
    Graph *g;
    Call *call;
    const Layer *layer;
    uint64_t state;
    int64_t macs;
} Maker;

static uint32_t next(Maker *m) { /* xorshift64* */
    m->state ^= m->state >> 12;
    m->state ^= m->state << 25;
    m->state ^= m->state >> 27;
    return (uint32_t)((m->state * 0x2545f4914f6cdd1dULL) >> 32);
}

static DType activation(const Maker *m) {
    return strstr(m->layer->name, "/a16") ? DT_I16 : DT_I8;
}

static void input(Maker *m, uint32_t *field, int64_t count) {
    call_in(m->call, field, value_new(m->g, "input", type_make(activation(m), 1, &count)));
}

static void output(Maker *m, uint32_t *field, int64_t count) {
    call_out(m->call, field, value_new(m->g, "output", type_make(activation(m), 1, &count)));
}

/* A factor that brings sums of `depth` products of random bytes near the output's range. */
static int32_t shift_of(int64_t depth) {
    int bits = 0;
    while (((int64_t)1 << bits) < depth)
        bits++;
    return -7 - bits / 2;
}

static int32_t factor(Maker *m) {
    return (int32_t)(0x40000000u | (next(m) >> 2));
}

static void channels(Maker *m, int64_t count, int64_t depth, uint32_t *weights, uint32_t *bias,
                     uint32_t *multiplier, uint32_t *shift) {
    int8_t *w = NEW_ARRAY(m->c, int8_t, count * depth), *s = NEW_ARRAY(m->c, int8_t, count);
    int32_t *b = NEW_ARRAY(m->c, int32_t, count), *f = NEW_ARRAY(m->c, int32_t, count);
    bool int4 = strstr(m->layer->name, "/w4") != NULL;
    for (int64_t i = 0; i < count * depth; i++)
        w[i] = (int8_t)(next(m) % 255 - 127);
    for (int64_t i = 0; int4 && i < (count * depth + 1) / 2; i++) /* two of -7..7 a byte */
        w[i] = (int8_t)(((next(m) % 15 - 7) & 15) | (next(m) % 15 - 7) << 4);
    for (int64_t i = 0; i < count; i++) {
        b[i] = (int32_t)(next(m) % 2000) - 1000;
        f[i] = factor(m);
        s[i] = (int8_t)shift_of(depth);
    }
    call_const(m->call, weights, "weight", DT_I8, w, int4 ? (count * depth + 1) / 2 : count * depth,
               4);
    if (bias)
        call_const(m->call, bias, "bias", DT_I32, b, 4 * count, 4);
    call_const(m->call, multiplier, "multiplier", DT_I32, f, 4 * count, 4);
    call_const(m->call, shift, "shift", DT_I8, s, count, 1);
}

/* ---- calls --------------------------------------------------------------------------------- */

/* With `pad` on the side where it is smaller: TensorFlow's SAME for even sizes and stride 2. */
static int32_t places(int32_t in, int32_t k, int32_t stride, int32_t pad) {
    bool same = stride > 1 && in > k;
    return same ? (in + stride - 1) / stride : (in + 2 * pad - k) / stride + 1;
}

#define WINDOW(a, l)                                                                               \
    do {                                                                                           \
        (a)->batches = 1;                                                                          \
        (a)->in_h = (l)->h;                                                                        \
        (a)->in_w = (l)->w;                                                                        \
        (a)->kernel_h = (l)->kh;                                                                   \
        (a)->kernel_w = (l)->kw;                                                                   \
        (a)->stride_h = (a)->stride_w = (l)->stride;                                               \
        (a)->pad_top = (l)->pad;                                                                   \
        (a)->pad_left = (l)->kw < (l)->kh ? 1 : (l)->pad;                                          \
        (a)->out_h = places((l)->h, (l)->kh, (l)->stride, (l)->pad);                               \
        (a)->out_w = places((l)->w, (l)->kw, (l)->stride, (a)->pad_left);                          \
        (a)->clamp_min = -128;                                                                     \
        (a)->clamp_max = 127;                                                                      \
    } while (0)

#define CONVOLUTION(m, a, l, depth)                                                                \
    do {                                                                                           \
        WINDOW(a, l);                                                                              \
        (a)->in_c = (l)->c;                                                                        \
        (a)->out_c = (l)->n;                                                                       \
        (a)->dilation_h = (a)->dilation_w = 1;                                                     \
        (a)->input_zero_point = (a)->output_zero_point = -128;                                     \
        channels(m, (l)->n, depth, &(a)->weights, &(a)->bias, &(a)->multiplier, &(a)->shift);      \
        input(m, &(a)->input, (int64_t)(l)->h *(l)->w *(l)->c);                                    \
        (m)->macs = (int64_t)(a)->out_h * (a)->out_w * (l)->n * (depth);                           \
    } while (0)

#define WIDE(a)                                                                                    \
    do {                                                                                           \
        (a)->input_bytes = (a)->output_bytes = 2;                                                  \
        (a)->input_zero_point = (a)->output_zero_point = 0;                                        \
        (a)->clamp_min = -32767;                                                                   \
        (a)->clamp_max = 32767;                                                                    \
    } while (0)

/* n < 0: in eight groups. */
static void conv2d_s8(Maker *m) {
    CtnConv2dS8Args *a = m->call->args;
    Layer l = *m->layer;
    a->groups = l.n < 0 ? 8 : 1;
    l.n = abs(l.n);
    CONVOLUTION(m, a, &l, l.kh * l.kw * l.c / a->groups);
    output(m, &a->output, (int64_t)a->out_h * a->out_w * a->out_c);
}

/* The scales of an addition, in a common unit; the result's is of the sum. */
static const double scale_a = 0.021, scale_b = 0.034, scale_sum = 0.045;

static void conv2d_add_s8(Maker *m) {
    CtnConv2dAddS8Args *a = m->call->args;
    int32_t multiplier, shift, addend[256];
    conv2d_s8(m);
    multiplier_from(scale_a / (2 * scale_b), &multiplier, &shift);
    multiplier_from(2 * scale_b / (ldexp(1, 20) * scale_sum), &a->sum_multiplier, &a->sum_shift);
    a->factor = 1 << 19;
    a->sum_zero_point = a->sum_clamp_min = -128;
    a->sum_clamp_max = 127;
    for (int i = 0; i < 256; i++)
        addend[i] = ctn_add_operand(i - 128, -128, 20, multiplier, shift) + 128 * a->factor;
    call_const(m->call, &a->addends, "addends", DT_I32, addend, sizeof addend, 4);
    input(m, &a->skip, (int64_t)a->out_h * a->out_w * a->out_c);
}

/* Both sides int16; n < 0: depthwise. */
static void conv2d_s16(Maker *m) {
    CtnConv2dS16Args *a = m->call->args;
    Layer l = *m->layer;
    a->groups = l.n < 0 ? l.c : 1;
    l.n = l.n < 0 ? -l.n : l.n;
    CONVOLUTION(m, a, &l, l.kh * l.kw * l.c / a->groups);
    WIDE(a);
    output(m, &a->output, (int64_t)a->out_h * a->out_w * a->out_c);
}

static void conv_transpose2d_s8(Maker *m) {
    CtnConv2dS8Args *a = m->call->args;
    const Layer *l = m->layer;
    a->groups = 1;
    CONVOLUTION(m, a, l, l->kh * l->kw * l->c);
    a->out_h = l->h * l->stride;
    a->out_w = l->w * l->stride;
    m->macs = (int64_t)l->h * l->w * l->c * l->n * l->kh * l->kw;
    output(m, &a->output, (int64_t)a->out_h * a->out_w * a->out_c);
}

static void depthwise_conv2d_s8(Maker *m) {
    CtnDepthwiseConv2dS8Args *a = m->call->args;
    CONVOLUTION(m, a, m->layer, m->layer->kh * m->layer->kw);
    output(m, &a->output, (int64_t)a->out_h * a->out_w * a->out_c);
}

static void linear_s8(Maker *m) {
    CtnLinearS8Args *a = m->call->args;
    a->rows = m->layer->h;
    a->depth = m->layer->c;
    a->columns = m->layer->n;
    a->input_zero_point = a->output_zero_point = a->clamp_min = -128;
    a->clamp_max = 127;
    channels(m, a->columns, a->depth, &a->weights, &a->bias, &a->multiplier, &a->shift);
    m->macs = (int64_t)a->rows * a->depth * a->columns;
    input(m, &a->input, (int64_t)a->rows * a->depth);
    output(m, &a->output, (int64_t)a->rows * a->columns);
}

static void linear_s16(Maker *m) {
    CtnLinearS16Args *a = m->call->args;
    a->rows = 1;
    a->depth = m->layer->c;
    a->columns = m->layer->n;
    WIDE(a);
    channels(m, a->columns, a->depth, &a->weights, &a->bias, &a->multiplier, &a->shift);
    input(m, &a->input, a->depth);
    output(m, &a->output, a->columns);
    m->macs = (int64_t)a->depth * a->columns;
}

static void matmul_s8(Maker *m) {
    CtnMatmulS8Args *a = m->call->args;
    const Layer *l = m->layer;
    for (int d = 0; d < 4; d++)
        a->batch[d] = 1;
    a->rows = l->h;
    a->depth = a->lhs_row_stride = a->rhs_column_stride = l->c;
    a->columns = l->n;
    a->lhs_depth_stride = a->rhs_depth_stride = 1;
    a->lhs_zero_point = a->output_zero_point = a->clamp_min = -128;
    a->rhs_zero_point = l->pad;
    a->clamp_max = 127;
    a->multiplier = factor(m);
    a->shift = shift_of(a->depth);
    input(m, &a->lhs, (int64_t)a->rows * a->depth);
    input(m, &a->rhs, (int64_t)a->depth * a->columns);
    output(m, &a->output, (int64_t)a->rows * a->columns);
    m->macs = (int64_t)a->rows * a->depth * a->columns;
}

#define FLAT_OPERANDS(a, count)                                                                    \
    do {                                                                                           \
        for (int d = 0; d < 6; d++) {                                                              \
            (a)->dim[d] = d < 5 ? 1 : (count);                                                     \
            (a)->a_stride[d] = (a)->b_stride[d] = d == 5;                                          \
        }                                                                                          \
        (a)->a_zero_point = 3;                                                                     \
        (a)->b_zero_point = -5;                                                                    \
        (a)->output_zero_point = (a)->clamp_min = -128;                                            \
        (a)->clamp_max = 127;                                                                      \
    } while (0)

static void add_s8(Maker *m) {
    CtnAddS8Args *a = m->call->args;
    FLAT_OPERANDS(a, m->layer->c);
    const double twice = 2 * scale_b;
    a->left_shift = 20;
    multiplier_from(scale_a / twice, &a->a_multiplier, &a->a_shift);
    multiplier_from(scale_b / twice, &a->b_multiplier, &a->b_shift);
    multiplier_from(twice / (ldexp(1, 20) * scale_sum), &a->output_multiplier, &a->output_shift);
    input(m, &a->a, m->layer->c);
    input(m, &a->b, m->layer->c);
    output(m, &a->output, m->layer->c);
    m->macs = m->layer->c;
}

static void mul_s8(Maker *m) {
    CtnMulS8Args *a = m->call->args;
    FLAT_OPERANDS(a, m->layer->c);
    multiplier_from(0.011, &a->multiplier, &a->shift);
    input(m, &a->a, m->layer->c);
    input(m, &a->b, m->layer->c);
    output(m, &a->output, m->layer->c);
    m->macs = m->layer->c;
}

static void add_s16(Maker *m) {
    CtnAddS16Args *a = m->call->args;
    add_s8(m); /* the fields are the same */
    a->a_zero_point = a->b_zero_point = a->output_zero_point = 0;
    a->clamp_min = -32767;
    a->clamp_max = 32767;
    a->left_shift = 15;
    a->output_shift += 5;
}

static void mul_s16(Maker *m) {
    CtnMulS16Args *a = m->call->args;
    mul_s8(m);
    a->a_zero_point = a->b_zero_point = a->output_zero_point = 0;
    a->clamp_min = -32767;
    a->clamp_max = 32767;
    a->shift -= 8;
}

static void pieces_s16(Maker *m) {
    enum { PIECES = 48 };
    CtnPiecesS16Args *a = m->call->args;
    int16_t start[PIECES];
    int32_t piece[PIECES][4];
    for (int k = 0; k < PIECES; k++) {
        int32_t drawn[4] = {4, (int32_t)next(m) % 500000, (int32_t)next(m) % 30000,
                            (int32_t)next(m) % 30000};
        memcpy(piece[k], drawn, sizeof drawn);
        start[k] = (int16_t)(65536 / PIECES * k - 32768);
    }
    a->count = m->layer->c;
    a->pieces = PIECES;
    a->output_bytes = 2;
    call_const(m->call, &a->start, "starts", DT_I16, start, sizeof start, 2);
    call_const(m->call, &a->piece, "pieces", DT_I32, piece, sizeof piece, 4);
    input(m, &a->input, a->count);
    output(m, &a->output, a->count);
    m->macs = a->count;
}

static void table_s16(Maker *m) {
    CtnTableS16Args *a = m->call->args;
    int16_t entry[513];
    for (int i = 0; i < 513; i++)
        entry[i] = (int16_t)next(m);
    a->count = m->layer->c;
    call_const(m->call, &a->table, "table", DT_I16, entry, sizeof entry, 2);
    input(m, &a->input, a->count);
    output(m, &a->output, a->count);
    m->macs = a->count;
}

static void max_pool2d_s8(Maker *m) {
    CtnMaxPool2dS8Args *a = m->call->args;
    WINDOW(a, m->layer);
    a->pad_left = m->layer->pad;
    a->channels = m->layer->c;
    a->dilation_h = a->dilation_w = 1;
    input(m, &a->input, (int64_t)a->in_h * a->in_w * a->channels);
    m->macs = (int64_t)a->out_h * a->out_w * a->channels;
    output(m, &a->output, m->macs);
}

static void avg_pool2d_s8(Maker *m) {
    CtnAvgPool2dS8Args *a = m->call->args;
    WINDOW(a, m->layer);
    a->kernel_w = m->layer->w;
    a->out_h = a->out_w = 1;
    a->channels = m->layer->c;
    input(m, &a->input, (int64_t)a->in_h * a->in_w * a->channels);
    m->macs = a->channels;
    output(m, &a->output, m->macs);
}

static void softmax_s8(Maker *m) {
    CtnSoftmaxS8Args *a = m->call->args;
    a->rows = m->layer->h;
    a->row_size = m->layer->c;
    a->multiplier = 1536000000; /* a scale of about 0.18 */
    a->shift = 23;
    a->diff_min = -124;
    m->macs = (int64_t)a->rows * a->row_size;
    input(m, &a->input, m->macs);
    output(m, &a->output, m->macs);
}

static void table_s8(Maker *m) {
    CtnTableS8Args *a = m->call->args;
    int8_t entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = (int8_t)next(m);
    a->count = m->layer->c;
    a->entry_size = 1;
    call_const(m->call, &a->table, "table", DT_I8, entry, sizeof entry, 1);
    input(m, &a->input, a->count);
    output(m, &a->output, a->count);
    m->macs = a->count;
}

static void transpose(Maker *m) { /* [h][w][c] to [c][h][w] */
    CtnCopyArgs *a = m->call->args;
    const Layer *l = m->layer;
    a->dim[6] = l->c;
    a->dim[7] = l->h * l->w;
    a->in_stride[6] = 1;
    a->in_stride[7] = l->c;
    a->out_stride[6] = l->h * l->w;
    a->out_stride[7] = 1;
    m->macs = (int64_t)l->h * l->w * l->c;
    input(m, &a->input, m->macs);
    output(m, &a->output, m->macs);
}

static void into_padding(Maker *m) { /* all rows into an image that is wider and taller */
    CtnCopyArgs *a = m->call->args;
    const Layer *l = m->layer;
    int32_t row = (l->w + 2 * l->pad) * l->c;
    a->dim[6] = l->h;
    a->dim[7] = l->w * l->c;
    a->in_stride[6] = a->dim[7];
    a->out_stride[6] = row;
    a->in_stride[7] = a->out_stride[7] = 1;
    m->macs = (int64_t)l->h * l->w * l->c;
    input(m, &a->input, m->macs);
    output(m, &a->output, (int64_t)row * (l->h + 2 * l->pad));
    m->call->ref[m->call->ref_count - 1].offset = l->pad * (row + l->c);
}

static void copy(Maker *m) {
    CtnCopyArgs *a = m->call->args;
    for (int d = 0; d < 8; d++)
        a->dim[d] = 1;
    a->element_size = 1;
    if (m->layer->pad > 0)
        into_padding(m);
    else
        transpose(m);
}

static void fill(Maker *m) {
    CtnFillArgs *a = m->call->args;
    a->element_size = 1;
    a->value = -128;
    a->count = m->layer->h * m->layer->w * m->layer->c;
    a->runs = m->layer->n;
    a->stride = 18 * m->layer->c;
    m->macs = a->count * a->runs;
    output(m, &a->output, a->runs * a->stride);
}

/* Weights of the gates and their factors to Q15.16; tables of a line each. */
static void lstm_s8(Maker *m) {
    CtnLstmS8Args *a = m->call->args;
    const Layer *l = m->layer;
    int16_t sigmoid[513], tangent[513];
    a->steps = l->h;
    a->batches = 1;
    a->in_size = l->c;
    a->size = l->n;
    a->input_zero_point = 3;
    a->multiplier = 1 << 30;
    a->shift = -22;
    a->cell_bits = 11;
    channels(m, 4 * l->n, l->c, &a->x_weights, &a->bias, &a->x_multiplier, &a->x_shift);
    channels(m, 4 * l->n, l->n, &a->h_weights, NULL, &a->h_multiplier, &a->h_shift);
    for (int i = 0; i < 513; i++) {
        tangent[i] = (int16_t)(127 * (i - 256));
        sigmoid[i] = (int16_t)(tangent[i] / 2 + 16384);
    }
    call_const(m->call, &a->sigmoid, "sigmoid", DT_I16, sigmoid, sizeof sigmoid, 2);
    call_const(m->call, &a->tangent, "tangent", DT_I16, tangent, sizeof tangent, 2);
    m->macs = (int64_t)l->h * 4 * l->n * (l->c + l->n);
    int64_t units = l->n;
    call_out(m->call, &a->cell, value_new(m->g, "cell", type_make(DT_I16, 1, &units)));
    input(m, &a->input, (int64_t)l->h * l->c);
    output(m, &a->output, (int64_t)l->h * l->n);
}

static void make(Maker *m) {
    switch (m->layer->kernel) {
#define MAKE(name)                                                                                 \
    case CTN_KERNEL_##name:                                                                        \
        name(m);                                                                                   \
        break
        MAKE(conv2d_s8);
        MAKE(conv2d_add_s8);
        MAKE(conv_transpose2d_s8);
        MAKE(depthwise_conv2d_s8);
        MAKE(linear_s8);
        MAKE(matmul_s8);
        MAKE(add_s8);
        MAKE(mul_s8);
        MAKE(max_pool2d_s8);
        MAKE(avg_pool2d_s8);
        MAKE(softmax_s8);
        MAKE(table_s8);
        MAKE(copy);
        MAKE(fill);
        MAKE(lstm_s8);
        MAKE(conv2d_s16);
        MAKE(linear_s16);
        MAKE(add_s16);
        MAKE(mul_s16);
        MAKE(table_s16);
        MAKE(pieces_s16);
    case CTN_KERNEL_conv2d_s8w4:
        conv2d_s8(m);
        break;
    case CTN_KERNEL_conv2d_add_s8w4:
        conv2d_add_s8(m);
        break;
    case CTN_KERNEL_depthwise_conv2d_s8w4:
        depthwise_conv2d_s8(m);
        break;
    case CTN_KERNEL_linear_s8w4:
        linear_s8(m);
        break;
    default:
        break;
    }
}

/* ---- placing ------------------------------------------------------------------------------- */

static void place(Placed *p) {
    for (int i = 0; i < p->call->ref_count; i++) {
        const CallRef *ref = &p->call->ref[i];
        Buffer *b = ref->buffer;
        bool constant = b->kind == BUFFER_CONSTANT;
        int64_t *top = constant ? &p->weights_bytes : &p->arena_bytes;
        b->region = constant ? CTN_WEIGHTS : CTN_ARENA;
        b->offset = *top;
        *top = (b->offset + b->bytes + 15) / 16 * 16;
        uint32_t value = CTN_REF(b->region, b->offset + ref->offset);
        memcpy((char *)p->call->args + ref->field_offset, &value, sizeof value);
        if (b->kind == BUFFER_SCRATCH) {
            p->scratch_bytes = b->bytes;
        } else if (ref->writes) {
            p->output = b->offset;
            p->output_bytes = b->bytes;
        }
    }
}

static uint8_t *image(C *c, int64_t bytes) {
    uint8_t *p = c_alloc(c, (size_t)bytes + 64);
    return p + (64 - (uintptr_t)p % 64) % 64;
}

static void fill_images(Maker *m, Placed *p) {
    p->arena = image(m->c, p->arena_bytes);
    p->weights = image(m->c, p->weights_bytes);
    memset(p->arena, 0, (size_t)p->arena_bytes);
    memset(p->weights, 0, (size_t)p->weights_bytes);
    for (int i = 0; i < p->call->ref_count; i++) {
        const CallRef *ref = &p->call->ref[i];
        Buffer *b = ref->buffer;
        if (b->kind == BUFFER_CONSTANT)
            memcpy(p->weights + b->offset, b->data, (size_t)b->bytes);
        else if (!ref->writes)
            for (int64_t k = 0; k < b->bytes; k++) /* the same in every variant */
                p->arena[b->offset + k] =
                    (uint8_t)((uint32_t)(k * 37 + ref->field_offset * 11) * 2654435761u >> 24);
    }
}

static Maker maker_of(C *c, const Layer *layer) {
    Maker m = {.c = c, .g = graph_new(c, "bench"), .layer = layer, .state = 0x9e3779b97f4a7c15ULL};
    m.call = call_new(c, m.g, NULL, layer->kernel);
    make(&m);
    return m;
}

static Placed *pack_and_place(Maker *m) {
    Placed *p = NEW(m->c, Placed);
    p->call = m->call;
    p->macs = m->macs;
    p->call->variant->pack(m->c, m->g, p->call);
    place(p);
    fill_images(m, p);
    return p;
}

Placed *layer_place(C *c, const Layer *layer, const char *isa) {
    Maker m = maker_of(c, layer);
    variant_settle(m.call, isa);
    return pack_and_place(&m);
}

/* Pieces of equal length. */
static void set_pieces(Maker *m, uint32_t *start_field, uint32_t *piece_field, int32_t pieces) {
    int16_t *start = NEW_ARRAY(m->c, int16_t, pieces);
    int32_t *piece = NEW_ARRAY(m->c, int32_t, 4 * pieces);
    for (int32_t i = 0; i < pieces; i++) {
        start[i] = (int16_t)(i * (65536 / pieces) - 32768);
        piece[4 * i + 1] = 16 * start[i];
    }
    call_const(m->call, start_field, "starts", DT_I16, start, pieces * (int64_t)sizeof *start, 2);
    call_const(m->call, piece_field, "pieces", DT_I32, piece, 4 * pieces * (int64_t)sizeof *piece,
               4);
}

static void set_map(Maker *m, uint32_t *table, uint32_t *start, uint32_t *piece, int32_t pieces) {
    int16_t entry[513];
    for (int i = 0; i < 513; i++)
        entry[i] = (int16_t)next(m);
    if (pieces > 0)
        set_pieces(m, start, piece, pieces);
    else
        call_const(m->call, table, "table", DT_I16, entry, sizeof entry, 2);
}

Placed *layer_place_mapped(C *c, const Layer *layer, const char *isa, int32_t pieces) {
    Maker m = maker_of(c, layer);
    if (layer->kernel == CTN_KERNEL_conv2d_s16) {
        CtnConv2dS16Args *a = m.call->args;
        set_map(&m, &a->table, &a->start, &a->piece, a->pieces = pieces);
    } else {
        CtnLinearS16Args *a = m.call->args;
        set_map(&m, &a->table, &a->start, &a->piece, a->pieces = pieces);
    }
    variant_settle(m.call, isa);
    return pack_and_place(&m);
}

Placed *layer_place_as(C *c, const Layer *layer, const Variant *v) {
    Maker m = maker_of(c, layer);
    m.call->variant = v;
    return layer->kernel == v->kernel && v->accepts(m.call) ? pack_and_place(&m) : NULL;
}
