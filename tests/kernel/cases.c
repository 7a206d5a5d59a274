/* The cases: a maker per kernel draws shapes and numbers from one generator, seeded by kernel and
 * index, so that host and chip see the same. Accumulators stay within int32 by construction. */
#include "kernel/maker.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

uint32_t next(Maker *m) { /* xorshift64* */
    m->state ^= m->state >> 12;
    m->state ^= m->state << 25;
    m->state ^= m->state >> 27;
    return (uint32_t)((m->state * 0x2545f4914f6cdd1dULL) >> 32);
}

int32_t between(Maker *m, int32_t low, int32_t high) {
    return (int32_t)(low + (int64_t)(next(m) % ((uint32_t)high - (uint32_t)low + 1)));
}

bool chance(Maker *m, int percent) {
    return between(m, 1, 100) <= percent;
}

Value *tensor(Maker *m, const char *name, DType dtype, int64_t count) {
    return value_new(m->g, name, type_make(dtype, 1, &count));
}

static void constant(Call *call, uint32_t *field, DType dtype, int64_t count, const void *data) {
    call_const(call, field, "constant", dtype, data, count * dtype_size(dtype), dtype_size(dtype));
}

void random_table(Maker *m, Call *call, uint32_t *field, int percent) {
    if (!chance(m, percent)) {
        call_absent(call, field);
        return;
    }
    int8_t entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = (int8_t)next(m);
    constant(call, field, DT_I8, 256, entry);
}

void random_clamp(Maker *m, int32_t *min, int32_t *max) {
    *min = -128;
    *max = 127;
    if (chance(m, 50))
        *min = between(m, -128, 0);
    if (chance(m, 30))
        *max = between(m, 1, 127);
}

/* The end of a store: any clamp, or a table over all of 8 or 10 bits. */
static void random_store(Maker *m, Call *call, int32_t *min, int32_t *max, uint32_t *table) {
    call_absent(call, table);
    if (!chance(m, 30)) {
        random_clamp(m, min, max);
        return;
    }
    int bits = chance(m, 50) ? 8 : 10;
    *min = -(1 << (bits - 1));
    *max = (1 << (bits - 1)) - 1;
    int8_t entry[1024];
    for (int i = 0; i < 1 << bits; i++)
        entry[i] = (int8_t)next(m);
    constant(call, table, DT_I8, 1 << bits, entry);
}

int32_t random_zero_point(Maker *m) {
    return chance(m, 20) ? (chance(m, 50) ? -128 : 127) : between(m, -128, 127);
}

static bool has_int4_weights(int kernel) {
    return kernel == CTN_KERNEL_conv2d_s8w4 || kernel == CTN_KERNEL_depthwise_conv2d_s8w4 ||
           kernel == CTN_KERNEL_linear_s8w4;
}

static uint8_t *nibbles(Maker *m, const int8_t *w, int64_t count) {
    uint8_t *packed = NEW_ARRAY(m->c, uint8_t, (count + 1) / 2);
    for (int64_t i = 0; i < count; i++)
        packed[i / 2] |= (uint8_t)((w[i] & 15) << (i % 2 ? 4 : 0));
    return packed;
}

/* Weights, biases and factors of `channels` outputs with `depth` products each. The factors bring
 * sums to about the output's range; some are far off. */
static void channel_constants(Maker *m, Call *call, int64_t channels, int64_t depth,
                              uint32_t *weights, uint32_t *bias, uint32_t *multiplier,
                              uint32_t *shift) {
    int8_t *w = NEW_ARRAY(m->c, int8_t, channels * depth);
    int32_t *b = NEW_ARRAY(m->c, int32_t, channels), *f = NEW_ARRAY(m->c, int32_t, channels);
    int8_t *s = NEW_ARRAY(m->c, int8_t, channels);
    bool left = chance(m, 10), by_tap = call->kernel == CTN_KERNEL_depthwise_conv2d_s8 ||
                                        call->kernel == CTN_KERNEL_depthwise_conv2d_s8w4;
    int32_t top = has_int4_weights(call->kernel) ? 7 : 127;
    int bits = 0;
    while (bits < 20 && ((int64_t)1 << bits) < depth)
        bits++;
    for (int64_t i = 0; i < channels * depth; i++)
        w[i] = (int8_t)(m->extreme ? (chance(m, 50) ? top : -top) : between(m, -top, top));
    for (int64_t i = 0; i < channels; i++) {
        b[i] = between(m, -65536, 65536);
        f[i] = between(m, 1 << 30, 0x7fffffff);
        s[i] = (int8_t)(between(m, -7, -4) - bits / 2);
        if (chance(m, 5))
            s[i] = (int8_t)(chance(m, 50) ? -31 : -20);
        if (!left && chance(m, 5)) { /* as good as constant: the bias is all there is */
            b[i] = between(m, -(1 << 30), 1 << 30);
            s[i] = (int8_t)between(m, -28, -20);
            bool zeros = chance(m, 70);
            for (int64_t k = 0; zeros && k < depth; k++)
                w[by_tap ? k * channels + i : i * depth + k] = 0;
        }
        if (left)
            s[i] = (int8_t)between(m, 0, 4); /* depth * 255 * 127 + 2^16 < 2^27 */
    }
    if (chance(m, 5))
        f[0] = 0;
    if (top == 7)
        constant(call, weights, DT_U8, (channels * depth + 1) / 2, nibbles(m, w, channels * depth));
    else
        constant(call, weights, DT_I8, channels * depth, w);
    if (chance(m, 85))
        constant(call, bias, DT_I32, channels, b);
    else
        call_absent(call, bias);
    constant(call, multiplier, DT_I32, channels, f);
    constant(call, shift, DT_I8, channels, s);
}

/* ---- convolutions -------------------------------------------------------------------------- */

/* what random shapes seldom hit: one pixel, blocks that come out even, first layers, padding wider
 * than the image, tails of every block size */
static const Window edges[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 4, 4, 16, 16, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 5, 5, 64, 20, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 3, 3, 33, 7, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 8, 8, 3, 8, 3, 3, 2, 2, 0, 0, 1, 1, 1, 1, 1},
    {1, 6, 7, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 12, 5, 1, 8, 10, 4, 2, 2, 4, 1, 5, 2, 1, 1, 1},
    {1, 2, 2, 4, 4, 5, 5, 1, 1, 4, 4, 4, 4, 1, 1, 1},
    {2, 5, 4, 8, 12, 3, 2, 2, 1, 1, 0, 1, 1, 2, 1, 1},
    {1, 6, 6, 8, 8, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2, 2},
    {1, 7, 7, 20, 6, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1},
    {1, 1, 9, 24, 5, 1, 3, 1, 1, 0, 1, 0, 1, 1, 1, 1},
    {1, 8, 8, 64, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 9, 9, 48, 17, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1, 1},
    {1, 10, 9, 32, 36, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {1, 16, 16, 3, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 3, 3, 300, 5, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 3, 3, 260, 4, 2, 2, 1, 1, 1, 1, 0, 0, 1, 1, 1},
};

static Window random_window(Maker *m) {
    Window w = {.batches = chance(m, 15) ? 2 : 1,
                .in_h = between(m, 1, 9),
                .in_w = between(m, 1, 9),
                .in_c = between(m, 1, 20),
                .out_c = between(m, 1, 20),
                .kernel_h = between(m, 1, 4),
                .kernel_w = between(m, 1, 4),
                .stride_h = between(m, 1, 3),
                .stride_w = between(m, 1, 3),
                .dilation_h = chance(m, 20) ? 2 : 1,
                .dilation_w = chance(m, 20) ? 2 : 1,
                .groups = 1};
    if (chance(m, 30))
        w.in_c = 4 * between(m, 1, 9);
    if (chance(m, 30))
        w.out_c = 4 * between(m, 1, 9);
    w.pad_top = between(m, 0, w.kernel_h - 1) * w.dilation_h;
    w.pad_bottom = between(m, 0, w.kernel_h - 1) * w.dilation_h;
    w.pad_left = between(m, 0, w.kernel_w - 1) * w.dilation_w;
    w.pad_right = between(m, 0, w.kernel_w - 1) * w.dilation_w;
    return w;
}

/* An image that is at least as large as the window. */
static void fit(Window *w) {
    int32_t need_h = (w->kernel_h - 1) * w->dilation_h + 1 - w->pad_top - w->pad_bottom;
    int32_t need_w = (w->kernel_w - 1) * w->dilation_w + 1 - w->pad_left - w->pad_right;
    w->in_h = w->in_h < need_h ? need_h : w->in_h;
    w->in_w = w->in_w < need_w ? need_w : w->in_w;
}

Window window_of(Maker *m) {
    Window w = m->index < (int)COUNT_OF(edges) ? edges[m->index] : random_window(m);
    fit(&w);
    return w;
}

int32_t out_size(int32_t in, int32_t before, int32_t after, int32_t kernel, int32_t dilation,
                 int32_t stride) {
    return (in + before + after - (kernel - 1) * dilation - 1) / stride + 1;
}

#define CHANNEL_FIELDS(m, call, a, w, depth)                                                       \
    do {                                                                                           \
        (a)->in_c = (w)->in_c;                                                                     \
        (a)->out_c = (w)->out_c;                                                                   \
        (a)->dilation_h = (w)->dilation_h;                                                         \
        (a)->dilation_w = (w)->dilation_w;                                                         \
        (a)->input_zero_point = random_zero_point(m);                                              \
        (a)->output_zero_point = random_zero_point(m);                                             \
        random_store(m, call, &(a)->clamp_min, &(a)->clamp_max, &(a)->table);                      \
        channel_constants(m, call, (a)->out_c, depth, &(a)->weights, &(a)->bias, &(a)->multiplier, \
                          &(a)->shift);                                                            \
                                                                                                   \
    } while (0)

static void conv2d(Maker *m, Call *call, bool transposed) {
    CtnConv2dS8Args *a = call->args;
    Window w = window_of(m);
    if (m->index >= (int)COUNT_OF(edges) && chance(m, 20)) {
        w.groups = between(m, 2, 3);
        w.in_c *= w.groups;
        w.out_c *= w.groups;
    }
    a->groups = w.groups;
    WINDOW_FIELDS(a, &w);
    if (transposed) {
        a->out_h = (w.in_h - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation_h + 1;
        a->out_w = (w.in_w - 1) * w.stride_w + (w.kernel_w - 1) * w.dilation_w + 1;
        a->pad_top = a->out_h > 1 ? w.pad_top % 2 : 0;
        a->pad_left = a->out_w > 1 ? w.pad_left % 2 : 0;
        a->out_h -= a->pad_top;
        a->out_w -= a->pad_left;
    }
    CHANNEL_FIELDS(m, call, a, &w, w.kernel_h * w.kernel_w * w.in_c / w.groups);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_h * a->out_w * a->out_c));
}

static void conv2d_s8(Maker *m, Call *call) {
    conv2d(m, call, false);
}

static void conv_transpose2d_s8(Maker *m, Call *call) {
    conv2d(m, call, true);
}

static void depthwise_conv2d_s8(Maker *m, Call *call) {
    CtnDepthwiseConv2dS8Args *a = call->args;
    Window w = window_of(m);
    w.out_c = w.in_c * (chance(m, 70) ? 1 : between(m, 2, 3));
    WINDOW_FIELDS(a, &w);
    CHANNEL_FIELDS(m, call, a, &w, w.kernel_h * w.kernel_w);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_h * a->out_w * a->out_c));
}

static void conv3d_s8(Maker *m, Call *call) {
    CtnConv3dS8Args *a = call->args;
    Window w = window_of(m);
    w.in_c = w.in_c % 6 + 1;
    w.out_c = w.out_c % 6 + 1;
    WINDOW_FIELDS(a, &w);
    a->in_d = between(m, 2, 4);
    a->kernel_d = between(m, 1, 3);
    a->stride_d = between(m, 1, 2);
    a->dilation_d = 1;
    a->pad_front = between(m, 0, a->kernel_d - 1);
    a->out_d = out_size(a->in_d, a->pad_front, 1, a->kernel_d, 1, a->stride_d);
    a->groups = 1;
    CHANNEL_FIELDS(m, call, a, &w, a->kernel_d * w.kernel_h * w.kernel_w * w.in_c);
    call_in(call, &a->input,
            tensor(m, "input", DT_I8, w.batches * a->in_d * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_d * a->out_h * a->out_w * a->out_c));
}

static void linear_s8(Maker *m, Call *call) {
    static const int32_t shape[][3] = {{1, 1, 1},    {1, 16, 4},  {1, 64, 12},
                                       {1, 640, 16}, {3, 37, 10}, {2, 128, 8},
                                       {1, 15, 5},   {4, 4, 4},   {5, 600, 7}};
    CtnLinearS8Args *a = call->args;
    bool edge = m->index < (int)COUNT_OF(shape);
    a->rows = edge ? shape[m->index][0] : between(m, 1, 5);
    a->depth = edge ? shape[m->index][1] : between(m, 1, 100);
    a->columns = edge ? shape[m->index][2] : between(m, 1, 24);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    channel_constants(m, call, a->columns, a->depth, &a->weights, &a->bias, &a->multiplier,
                      &a->shift);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->rows * a->depth));
    call_out(call, &a->output, tensor(m, "output", DT_I8, a->rows * a->columns));
}

/* ---- element by element -------------------------------------------------------------------- */

static void fill_dims(Maker *m, int rank, int32_t *dim) {
    for (int d = 0; d < rank; d++)
        dim[d] = chance(m, 30) ? between(m, 1, 4) : 1;
    dim[rank - 1] = between(m, 1, 40);
    if (chance(m, 3))
        dim[0] = 0;
}

static int64_t dense_strides(int rank, const int32_t *dim, int32_t *stride) {
    int64_t count = 1;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = (int32_t)count;
        count *= dim[d];
    }
    return count;
}

/* Strides of an operand that may be broadcast in some dims; its size. */
static int64_t operand_strides(Maker *m, int rank, const int32_t *dim, int32_t *stride) {
    int32_t own[8];
    bool all = chance(m, 60);
    for (int d = 0; d < rank; d++)
        own[d] = all || chance(m, 50) ? dim[d] : 1;
    int64_t count = dense_strides(rank, own, stride);
    for (int d = 0; d < rank; d++)
        if (own[d] == 1)
            stride[d] = 0;
    return count;
}

void random_factor(Maker *m, int32_t *multiplier, int32_t *shift, int32_t low, int32_t high) {
    *multiplier = between(m, 1 << 30, 0x7fffffff);
    *shift = between(m, low, high);
}

static void half_factor(int32_t *multiplier, int32_t *shift) {
    *multiplier = 1 << 30;
    *shift = 0;
}

static void add(Maker *m, Call *call, DType dtype) {
    CtnAddS8Args *a = call->args; /* add_s16 has the same fields */
    bool wide = dtype == DT_I16;
    fill_dims(m, 6, a->dim);
    int32_t dense[6];
    int64_t count = dense_strides(6, a->dim, dense);
    call_in(call, &a->a, tensor(m, "a", dtype, operand_strides(m, 6, a->dim, a->a_stride)));
    call_in(call, &a->b, tensor(m, "b", dtype, operand_strides(m, 6, a->dim, a->b_stride)));
    call_out(call, &a->output, tensor(m, "output", dtype, count));
    a->left_shift = wide ? 15 : 20;
    a->a_zero_point = wide ? 0 : random_zero_point(m);
    a->b_zero_point = wide ? 0 : random_zero_point(m);
    a->output_zero_point = wide ? 0 : random_zero_point(m);
    random_factor(m, &a->a_multiplier, &a->a_shift, -6, -1);
    random_factor(m, &a->b_multiplier, &a->b_shift, -6, -1);
    if (chance(m, 60)) /* the common scale is twice the larger one */
        half_factor(&a->a_multiplier, &a->a_shift);
    if (chance(m, 30))
        half_factor(&a->b_multiplier, &a->b_shift);
    if (chance(m, 30))
        a->b_multiplier = -a->b_multiplier;
    random_factor(m, &a->output_multiplier, &a->output_shift, wide ? -15 : -20, wide ? -12 : -17);
    call_absent(call, &a->table);
    if (wide) {
        random_clamp(m, &a->clamp_min, &a->clamp_max);
        a->clamp_min *= 256;
        a->clamp_max *= 256;
    } else {
        random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    }
}

static void add_s8(Maker *m, Call *call) {
    add(m, call, DT_I8);
}

static void add_s16(Maker *m, Call *call) {
    add(m, call, DT_I16);
}

static void mul(Maker *m, Call *call, DType dtype) {
    CtnMulS8Args *a = call->args;
    bool wide = dtype == DT_I16;
    fill_dims(m, 6, a->dim);
    int32_t dense[6];
    int64_t count = dense_strides(6, a->dim, dense);
    call_in(call, &a->a, tensor(m, "a", dtype, operand_strides(m, 6, a->dim, a->a_stride)));
    call_in(call, &a->b, tensor(m, "b", dtype, operand_strides(m, 6, a->dim, a->b_stride)));
    call_out(call, &a->output, tensor(m, "output", dtype, count));
    a->a_zero_point = wide ? 0 : random_zero_point(m);
    a->b_zero_point = wide ? 0 : random_zero_point(m);
    a->output_zero_point = wide ? 0 : random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, wide ? -15 : -9, wide ? -10 : 1);
    call_absent(call, &a->table);
    if (wide) {
        random_clamp(m, &a->clamp_min, &a->clamp_max);
        a->clamp_min *= 256;
        a->clamp_max *= 256;
    } else {
        random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    }
}

static void mul_s8(Maker *m, Call *call) {
    mul(m, call, DT_I8);
}

static void mul_s16(Maker *m, Call *call) {
    mul(m, call, DT_I16);
}

/* Two operands and their loop; the fields stand alike in all these kernels' arguments. */
#define BINARY_FIELDS(m, call, args, in, out)                                                      \
    do {                                                                                           \
        int32_t dense[6];                                                                          \
        fill_dims(m, 6, (args)->dim);                                                              \
        call_in(call, &(args)->a,                                                                  \
                tensor(m, "a", in, operand_strides(m, 6, (args)->dim, (args)->a_stride)));         \
        call_in(call, &(args)->b,                                                                  \
                tensor(m, "b", in, operand_strides(m, 6, (args)->dim, (args)->b_stride)));         \
        call_out(call, &(args)->output,                                                            \
                 tensor(m, "output", out, dense_strides(6, (args)->dim, dense)));                  \
    } while (0)

static void div_s8(Maker *m, Call *call) {
    CtnDivS8Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I8, DT_I8);
    a->a_zero_point = random_zero_point(m);
    a->b_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, m->index % 5 ? 0 : -14, m->index % 5 ? 8 : 31);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
}

static void div_s16(Maker *m, Call *call) {
    CtnDivS16Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I16, DT_I16);
    random_factor(m, &a->multiplier, &a->shift, m->index % 5 ? 0 : -14, m->index % 5 ? 12 : 31);
    call_absent(call, &a->table);
    a->clamp_min = -32767;
    a->clamp_max = chance(m, 30) ? 1000 : 32767;
}

static void minmax_s8(Maker *m, Call *call) {
    CtnMinmaxS8Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I8, DT_I8);
    random_table(m, call, &a->a_table, 50);
    random_table(m, call, &a->b_table, 50);
    a->minimum = chance(m, 50);
}

static void minmax_s16(Maker *m, Call *call) {
    CtnMinmaxS16Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I16, DT_I16);
    random_factor(m, &a->a_multiplier, &a->a_shift, -4, 2);
    random_factor(m, &a->b_multiplier, &a->b_shift, -4, 2);
    a->minimum = chance(m, 50);
}

/* Narrow numbers, so that many pairs are equal. */
static void compare(Maker *m, Call *call, DType dtype, int32_t most) {
    CtnCompareS8Args *a = call->args;
    BINARY_FIELDS(m, call, a, dtype, DT_BOOL);
    a->a_factor = most;
    a->b_factor = chance(m, 50) ? most : between(m, 1, most);
    a->op = between(m, CTN_INTEGER_EQ, CTN_INTEGER_GE);
}

static void compare_s8(Maker *m, Call *call) {
    CtnCompareS8Args *a = call->args;
    compare(m, call, DT_I8, 1 << 22);
    a->a_zero_point = random_zero_point(m);
    a->b_zero_point = random_zero_point(m);
}

static void compare_s16(Maker *m, Call *call) {
    compare(m, call, DT_I16, 1 << 30);
}

static void logical_s8(Maker *m, Call *call) {
    CtnLogicalS8Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I8, DT_BOOL);
    a->a_zero_point = m->extreme ? -128 : random_zero_point(m);
    a->b_zero_point = m->extreme ? 127 : random_zero_point(m);
    a->op = between(m, CTN_INTEGER_LOGICAL_AND, CTN_INTEGER_LOGICAL_XOR);
}

static void where(Maker *m, Call *call) {
    CtnWhereArgs *a = call->args;
    static const DType type[4] = {DT_I8, DT_I16, DT_I32, DT_I64};
    DType t = type[between(m, 0, 3)];
    BINARY_FIELDS(m, call, a, t, t);
    int64_t count = operand_strides(m, 6, a->dim, a->condition_stride);
    Value *condition = tensor(m, "condition", DT_BOOL, count);
    call_in(call, &a->condition, condition);
    a->element_size = dtype_size(t);
    random_table(m, call, &a->a_table, t == DT_I8 ? 50 : 0);
    random_table(m, call, &a->b_table, t == DT_I8 ? 50 : 0);
}

static void prelu_s8(Maker *m, Call *call) {
    CtnPreluS8Args *a = call->args;
    int32_t dense[6], multiplier[8192], shift[8192];
    fill_dims(m, 6, a->dim);
    call_out(call, &a->output, tensor(m, "output", DT_I8, dense_strides(6, a->dim, dense)));
    call_in(call, &a->input,
            tensor(m, "input", DT_I8, operand_strides(m, 6, a->dim, a->in_stride)));
    int64_t slopes = 1;
    for (int d = 4; d < 6; d++) /* two dims have slopes of their own */
        slopes *= a->dim[d];
    a->channel_stride[5] = 1;
    a->channel_stride[4] = a->dim[5];
    for (int64_t i = 0; i < slopes; i++) {
        random_factor(m, &multiplier[i], &shift[i], -20, -14);
        multiplier[i] = chance(m, 20) ? -multiplier[i] : multiplier[i];
    }
    constant(call, &a->multiplier, DT_I32, slopes, multiplier);
    constant(call, &a->shift, DT_I32, slopes, shift);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->positive_multiplier, &a->positive_shift, -17, -14);
}

/* The second operand is a constant with few values, for the table's sake. */
static void pointwise2_s8(Maker *m, Call *call) {
    CtnPointwise2S8Args *a = call->args;
    enum { ROWS = 5 };
    int32_t dense[6];
    int8_t row[16384], entry[ROWS * 256];
    fill_dims(m, 6, a->dim);
    call_out(call, &a->output, tensor(m, "output", DT_I8, dense_strides(6, a->dim, dense)));
    call_in(call, &a->a, tensor(m, "a", DT_I8, operand_strides(m, 6, a->dim, a->a_stride)));
    a->b_stride[5] = 1;
    for (int32_t i = 0; i < a->dim[5]; i++)
        row[i] = (int8_t)(between(m, 0, ROWS - 1) - 128);
    for (int i = 0; i < ROWS * 256; i++)
        entry[i] = (int8_t)next(m);
    constant(call, &a->b, DT_I8, a->dim[5], row);
    constant(call, &a->table, DT_I8, ROWS * 256, entry);
}

static const DType integer_type[6] = {DT_U8, DT_I8, DT_I16, DT_I32, DT_I64, DT_BOOL};

static void integer(Maker *m, Call *call) {
    CtnIntegerArgs *a = call->args;
    a->op = m->index % (CTN_INTEGER_GE + 1);
    DType in = integer_type[between(m, 0, 5)], out = integer_type[between(m, 0, 5)];
    if (a->op >= CTN_INTEGER_LOGICAL_AND)
        out = DT_BOOL;
    BINARY_FIELDS(m, call, a, in, out);
    a->a_type = a->b_type = in;
    a->output_type = out;
    a->alpha = chance(m, 50) ? 1 : between(m, -9, 9);
}

static void quantize_integer(Maker *m, Call *call) {
    CtnQuantizeIntegerArgs *a = call->args;
    DType in = integer_type[between(m, 0, 5)], out = chance(m, 70) ? DT_I8 : DT_I16;
    a->count = between(m, 0, 300);
    a->input_type = in;
    a->output_bytes = dtype_size(out);
    random_factor(m, &a->multiplier, &a->shift, m->index % 4 ? -8 : -31, m->index % 4 ? 2 : 30);
    a->limit = a->shift > 0 ? 0x7fffffff >> a->shift : 1 << 30;
    a->zero_point = out == DT_I8 ? random_zero_point(m) : 0;
    call_in(call, &a->input, tensor(m, "input", in, a->count));
    call_out(call, &a->output, tensor(m, "output", out, a->count));
}

static void rescale(Maker *m, Call *call) {
    CtnRescaleArgs *a = call->args;
    DType in = chance(m, 50) ? DT_I8 : DT_I16, out = chance(m, 50) ? DT_I8 : DT_I16;
    a->count = between(m, 0, 300);
    a->input_bytes = dtype_size(in);
    a->output_bytes = dtype_size(out);
    a->input_zero_point = in == DT_I8 ? random_zero_point(m) : 0;
    a->output_zero_point = out == DT_I8 ? random_zero_point(m) : 0;
    random_factor(m, &a->multiplier, &a->shift, -12, m->index % 5 ? 2 : 14);
    call_in(call, &a->input, tensor(m, "input", in, a->count));
    call_out(call, &a->output, tensor(m, "output", out, a->count));
}

static void table_s8(Maker *m, Call *call) {
    CtnTableS8Args *a = call->args;
    static const DType type[4] = {DT_I8, DT_I16, DT_I32, DT_I64};
    int k = m->index % 4 == 3 ? between(m, 1, 3) : 0;
    a->count = m->index < 20 ? m->index : between(m, 1, 300);
    a->entry_size = dtype_size(type[k]);
    uint32_t entry[512];
    for (int i = 0; i < 512; i++)
        entry[i] = next(m);
    constant(call, &a->table, type[k], 256, entry);
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->count));
    call_out(call, &a->output, tensor(m, "output", type[k], a->count));
}

static void table_s16(Maker *m, Call *call) {
    CtnTableS16Args *a = call->args;
    a->count = between(m, 0, 300);
    int16_t entry[513];
    for (int i = 0; i < 513; i++)
        entry[i] = (int16_t)next(m);
    constant(call, &a->table, DT_I16, 513, entry);
    call_in(call, &a->input, tensor(m, "input", DT_I16, a->count));
    call_out(call, &a->output, tensor(m, "output", DT_I16, a->count));
}

/* ---- recurrence ---------------------------------------------------------------------------- */

/* A matrix's rows of gates with factors to Q15.16. */
static void gate_constants(Maker *m, Call *call, int64_t rows, int64_t depth, uint32_t *weights,
                           uint32_t *multiplier, uint32_t *shift) {
    int8_t *w = NEW_ARRAY(m->c, int8_t, rows * depth), *s = NEW_ARRAY(m->c, int8_t, rows);
    int32_t *f = NEW_ARRAY(m->c, int32_t, rows);
    for (int64_t i = 0; i < rows * depth; i++)
        w[i] = (int8_t)between(m, -127, 127);
    for (int64_t i = 0; i < rows; i++) {
        f[i] = between(m, 1 << 30, 0x7fffffff);
        s[i] = (int8_t)between(m, -3, 3);
    }
    constant(call, weights, DT_I8, rows * depth, w);
    constant(call, multiplier, DT_I32, rows, f);
    constant(call, shift, DT_I8, rows, s);
}

static void gate_table(Call *call, uint32_t *field, int32_t middle, int32_t slope) {
    int16_t entry[513];
    for (int i = 0; i < 513; i++)
        entry[i] = (int16_t)(middle + slope * (i - 256) + (i * 37 & 63) - 32);
    constant(call, field, DT_I16, 513, entry);
}

/* Half of the time; else it is zeros. */
static bool state_before(Maker *m, Call *call, uint32_t *field, DType dtype, int64_t count) {
    call_absent(call, field);
    bool given = chance(m, 50);
    if (given)
        call_in(call, field, tensor(m, "state", dtype, count));
    return given;
}

/* The int16 state, then the int8 outputs behind it: one tensor, which tests compare as bytes. */
static void recurrent_outputs(Maker *m, Call *call, int64_t outputs, int64_t states,
                              uint32_t *output, uint32_t *state) {
    Value *all = tensor(m, "output", DT_I8, outputs + 2 * states);
    call_out(call, state, all);
    call_out_at(call, output, all, 2 * states);
}

static void lstm_s8(Maker *m, Call *call) {
    CtnLstmS8Args *a = call->args;
    a->steps = between(m, 1, 3);
    a->batches = between(m, 1, 2);
    a->in_size = between(m, 1, 40);
    a->size = chance(m, 70) ? 4 * between(m, 1, 9) : between(m, 1, 20);
    a->reverse = chance(m, 50);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    int64_t states = (int64_t)a->batches * a->size, gates = 4LL * a->size;
    gate_constants(m, call, gates, a->in_size, &a->x_weights, &a->x_multiplier, &a->x_shift);
    gate_constants(m, call, gates, a->size, &a->h_weights, &a->h_multiplier, &a->h_shift);
    int32_t *bias = NEW_ARRAY(m->c, int32_t, gates);
    for (int64_t i = 0; i < gates; i++)
        bias[i] = between(m, -(1 << 18), 1 << 18);
    constant(call, &a->bias, DT_I32, gates, bias);
    gate_table(call, &a->sigmoid, 16384, 60);
    gate_table(call, &a->tangent, 0, 120);
    if (state_before(m, call, &a->h0, DT_I8, states))
        a->h0_zero_point = random_zero_point(m);
    state_before(m, call, &a->c0, DT_I16, states);
    random_factor(m, &a->h0_multiplier, &a->h0_shift, -2, 1);
    random_factor(m, &a->multiplier, &a->shift, -24, -20);
    a->cell_bits = between(m, 0, 12);
    recurrent_outputs(m, call, a->steps * states, states, &a->output, &a->cell);
    call_in(call, &a->input,
            tensor(m, "input", DT_I8, (int64_t)a->steps * a->batches * a->in_size));
}

/* ---- movement ------------------------------------------------------------------------------ */

static const DType sized[4] = {DT_I8, DT_I16, DT_I32, DT_I64};

/* A permutation of a dense tensor, some dims running backwards. */
static void copy(Maker *m, Call *call) {
    CtnCopyArgs *a = call->args;
    DType type = sized[between(m, 0, 3)];
    fill_dims(m, 8, a->dim);
    int64_t count = dense_strides(8, a->dim, a->out_stride);
    int order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (chance(m, 60))
        for (int d = 7; d > 0; d--) {
            int k = between(m, 0, d), t = order[d];
            order[d] = order[k];
            order[k] = t;
        }
    int32_t permuted[8], stride[8];
    for (int d = 0; d < 8; d++)
        permuted[d] = a->dim[order[d]];
    dense_strides(8, permuted, stride);
    int64_t start = 0;
    for (int d = 0; d < 8; d++)
        a->in_stride[order[d]] = stride[d];
    for (int d = 0; d < 8; d++)
        if (chance(m, 20) && a->dim[d] > 0) {
            start += (int64_t)a->in_stride[d] * (a->dim[d] - 1);
            a->in_stride[d] = -a->in_stride[d];
        }
    a->element_size = dtype_size(type);
    random_table(m, call, &a->table, type == DT_I8 ? 40 : 0);
    call_in_at(call, &a->input, tensor(m, "input", type, count), start * a->element_size);
    call_out(call, &a->output, tensor(m, "output", type, count));
}

static void gather(Maker *m, Call *call) {
    CtnGatherArgs *a = call->args;
    DType type = sized[between(m, 0, 3)];
    int32_t indices[256], used = 0;
    int64_t reach = 0;
    fill_dims(m, 8, a->dim);
    for (int d = 0; d < 8; d++) {
        a->index_start[d] = -1;
        a->in_stride[d] = between(m, 0, 3);
        if (chance(m, 40)) {
            a->index_start[d] = used;
            for (int32_t i = 0; i < a->dim[d]; i++)
                indices[used++] = between(m, 0, 20);
            reach += 20;
        } else if (a->dim[d] > 0) {
            reach += a->in_stride[d] * (a->dim[d] - 1);
        }
    }
    int32_t dense[8];
    int64_t count = dense_strides(8, a->dim, dense);
    a->element_size = dtype_size(type);
    if (used > 0)
        constant(call, &a->indices, DT_I32, used, indices);
    else
        call_absent(call, &a->indices);
    call_in(call, &a->input, tensor(m, "input", type, reach + 1));
    call_out(call, &a->output, tensor(m, "output", type, count));
}

static void fill(Maker *m, Call *call) {
    CtnFillArgs *a = call->args;
    DType type = sized[between(m, 0, 3)];
    a->element_size = dtype_size(type);
    a->count = between(m, 0, 300);
    a->value = (int32_t)next(m);
    a->runs = chance(m, 50) ? 1 : between(m, 0, 5);
    a->stride = a->count + between(m, 0, 9);
    call_out(call, &a->output, tensor(m, "output", type, (int64_t)a->runs * a->stride));
}

/* Indices are random bits, so that most lie outside. */
static void take(Maker *m, Call *call) {
    CtnTakeArgs *a = call->args;
    DType type = sized[between(m, 0, 3)], index = chance(m, 50) ? DT_I64 : DT_I32;
    a->element_size = dtype_size(type);
    a->index_size = dtype_size(index);
    a->outer = between(m, 0, 3);
    a->rows = between(m, 1, 9);
    a->count = between(m, 0, 7);
    a->inner = between(m, 0, 9);
    a->each = chance(m, 40);
    int64_t out = (int64_t)a->outer * a->count * a->inner;
    call_in(call, &a->input, tensor(m, "input", type, (int64_t)a->outer * a->rows * a->inner));
    call_in(call, &a->indices, tensor(m, "indices", index, a->each ? out : a->count));
    call_out(call, &a->output, tensor(m, "output", type, out));
}

static void taps(Maker *m, Call *call, uint32_t *field, int32_t size, int32_t count) {
    int32_t tap[16];
    for (int32_t i = 0; i < count; i++)
        tap[i] = between(m, 0, size - 1) << 13 | between(m, 0, 4096);
    constant(call, field, DT_I32, count, tap);
}

static void upsample_bilinear2d(Maker *m, Call *call, DType type) {
    CtnUpsampleBilinear2dS8Args *a = call->args;
    a->batches = between(m, 0, 2);
    a->in_h = between(m, 1, 5);
    a->in_w = between(m, 1, 5);
    a->channels = between(m, 1, 9);
    a->out_h = between(m, 1, 9);
    a->out_w = between(m, 1, 9);
    taps(m, call, &a->rows, a->in_h, a->out_h);
    taps(m, call, &a->columns, a->in_w, a->out_w);
    int64_t pixels = (int64_t)a->batches * a->channels;
    call_in(call, &a->input, tensor(m, "input", type, pixels * a->in_h * a->in_w));
    call_out(call, &a->output, tensor(m, "output", type, pixels * a->out_h * a->out_w));
}

static void upsample_bilinear2d_s8(Maker *m, Call *call) {
    upsample_bilinear2d(m, call, DT_I8);
}

static void upsample_bilinear2d_s16(Maker *m, Call *call) {
    upsample_bilinear2d(m, call, DT_I16);
}

/* ---- pools, reductions, products, softmax -------------------------------------------------- */

static void max_pool2d_s8(Maker *m, Call *call) {
    CtnMaxPool2dS8Args *a = call->args;
    Window w = window_of(m);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->dilation_h = w.dilation_h;
    a->dilation_w = w.dilation_w;
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_h * a->out_w * w.in_c));
}

static void avg_pool2d_s8(Maker *m, Call *call) {
    CtnAvgPool2dS8Args *a = call->args;
    Window w = window_of(m);
    w.pad_top /= w.dilation_h; /* below the kernel, so that each window has a tap */
    w.pad_bottom /= w.dilation_h;
    w.pad_left /= w.dilation_w;
    w.pad_right /= w.dilation_w;
    w.dilation_h = w.dilation_w = 1;
    if (m->index == 0) { /* more taps than int16 sums */
        w.in_h = w.kernel_h = 17;
        w.in_w = w.kernel_w = 18;
        w.in_c = 21;
    }
    fit(&w);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->pad_bottom = w.pad_bottom;
    a->pad_right = w.pad_right;
    a->include_padding = chance(m, 50);
    a->divisor = chance(m, 20) ? between(m, 1, 20) : 0;
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = a->input_zero_point;
    if (chance(m, 40)) {
        random_factor(m, &a->multiplier, &a->shift, -2, 1);
        a->output_zero_point = random_zero_point(m);
    }
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_h * a->out_w * w.in_c));
}

/* Some dims of a dense tensor of rank 5 are reduced. */
int64_t split_dims(Maker *m, int32_t *dim, int32_t *stride, int32_t *reduced,
                   int32_t *reduced_stride, int64_t *outputs) {
    int32_t size[5], dense[5];
    int kept = 0, gone = 0;
    for (int d = 0; d < 6; d++) {
        dim[d] = reduced[d] = 1;
        stride[d] = reduced_stride[d] = 0;
    }
    for (int d = 0; d < 5; d++)
        size[d] = between(m, 1, 5);
    int64_t count = dense_strides(5, size, dense);
    *outputs = 1;
    for (int d = 4; d >= 0; d--) {
        if (chance(m, 50)) {
            reduced[5 - gone] = size[d];
            reduced_stride[5 - gone++] = dense[d];
        } else {
            dim[5 - kept] = size[d];
            stride[5 - kept++] = dense[d];
            *outputs *= size[d];
        }
    }
    return count;
}

static void reduce_sum_s8(Maker *m, Call *call) {
    CtnReduceSumS8Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, -9, 1);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_in(call, &a->input, tensor(m, "input", DT_I8, count));
    call_out(call, &a->output, tensor(m, "output", DT_I8, outputs));
}

static void reduce_max_s8(Maker *m, Call *call) {
    CtnReduceMaxS8Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    a->mode = between(m, 0, 1);
    random_table(m, call, &a->table, 30);
    call_in(call, &a->input, tensor(m, "input", DT_I8, count));
    call_out(call, &a->output, tensor(m, "output", DT_I8, outputs));
}

static void matmul_s8(Maker *m, Call *call) {
    CtnMatmulS8Args *a = call->args;
    a->rows = between(m, 1, 9);
    a->depth = between(m, 1, 40);
    a->columns = between(m, 1, 9);
    if (m->index == 0) { /* more columns than a variant packs at a time */
        a->depth = 300;
        a->columns = 25;
    }
    if (m->index == 1)
        a->columns = 1;
    for (int d = 0; d < 4; d++)
        a->batch[d] = d == 0 && chance(m, 50) ? 2 : 1;
    int64_t lhs = a->rows * a->depth, rhs = a->depth * a->columns;
    bool shared = chance(m, 30), lhs_turned = chance(m, 30), rhs_turned = chance(m, 50);
    a->lhs_batch_stride[0] = (int32_t)lhs;
    a->rhs_batch_stride[0] = shared ? 0 : (int32_t)rhs;
    a->lhs_row_stride = lhs_turned ? 1 : a->depth;
    a->lhs_depth_stride = lhs_turned ? a->rows : 1;
    a->rhs_depth_stride = rhs_turned ? 1 : a->columns;
    a->rhs_column_stride = rhs_turned ? a->depth : 1;
    a->lhs_zero_point = random_zero_point(m);
    a->rhs_zero_point = chance(m, 30) ? 0 : random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, -12, -5);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_absent(call, &a->scratch);
    call_in(call, &a->lhs, tensor(m, "lhs", DT_I8, a->batch[0] * lhs));
    call_in(call, &a->rhs, tensor(m, "rhs", DT_I8, shared ? rhs : a->batch[0] * rhs));
    call_out(call, &a->output, tensor(m, "output", DT_I8, a->batch[0] * a->rows * a->columns));
}

static void softmax_s8(Maker *m, Call *call) {
    CtnSoftmaxS8Args *a = call->args;
    a->rows = between(m, 1, 4);
    a->row_size = m->index == 0 ? 1 : m->index == 1 ? 1500 : between(m, 1, 80);
    /* beta * scale * 2^26 as a factor above one, and the distance that no longer counts */
    a->multiplier = between(m, 1 << 30, 0x7fffffff);
    a->shift = between(m, 17, 24);
    int64_t reach = (int64_t)31 << (31 - 5 - a->shift);
    a->diff_min = reach > 255 ? -255 : (int32_t)-reach;
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->rows * a->row_size));
    call_out(call, &a->output, tensor(m, "output", DT_I8, a->rows * a->row_size));
}

/* ---- the boundary -------------------------------------------------------------------------- */

static int32_t float_bits(float f) {
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void quantize(Maker *m, Call *call, DType type) {
    CtnQuantizeS8Args *a = call->args;
    a->count = between(m, 0, 60);
    /* inputs are random bits, thus of any magnitude, infinite and NaN included */
    a->inverse_scale = float_bits((float)between(m, 1, 4000) / 256.0f);
    a->zero_point = type == DT_I16 ? 0 : random_zero_point(m);
    call_in(call, &a->input, tensor(m, "floats", DT_F32, a->count));
    call_out(call, &a->output, tensor(m, "output", type, a->count));
}

static void quantize_s8(Maker *m, Call *call) {
    quantize(m, call, DT_I8);
}

static void quantize_s16(Maker *m, Call *call) {
    quantize(m, call, DT_I16);
}

static void dequantize(Maker *m, Call *call, DType type) {
    CtnDequantizeS8Args *a = call->args;
    a->count = between(m, 0, 60);
    a->scale = float_bits((float)between(m, 1, 4000) / 4096.0f);
    a->zero_point = type == DT_I16 ? 0 : random_zero_point(m);
    call_in(call, &a->input, tensor(m, "input", type, a->count));
    call_out(call, &a->output, tensor(m, "output", DT_F32, a->count));
}

static void dequantize_s8(Maker *m, Call *call) {
    dequantize(m, call, DT_I8);
}

static void dequantize_s16(Maker *m, Call *call) {
    dequantize(m, call, DT_I16);
}

/* ---- between 8 and 16 bits ------------------------------------------------------------------ */

static DType wide_type(int32_t bytes) {
    return bytes == 2 ? DT_I16 : DT_I8;
}

/* The width of an operand and the zero point that goes with it. */
static void random_width(Maker *m, int32_t *bytes, int32_t *zero_point) {
    *bytes = chance(m, 65) ? 2 : 1;
    *zero_point = *bytes == 2 ? 0 : random_zero_point(m);
}

static void wide_clamp(Maker *m, int32_t bytes, int32_t *min, int32_t *max) {
    random_clamp(m, min, max);
    *min *= bytes == 2 ? 256 : 1;
    *max = bytes == 2 ? *max * 258 : *max;
}

#define WIDE_ENDS(m, a)                                                                            \
    do {                                                                                           \
        random_width(m, &(a)->input_bytes, &(a)->input_zero_point);                                \
        random_width(m, &(a)->output_bytes, &(a)->output_zero_point);                              \
        wide_clamp(m, (a)->output_bytes, &(a)->clamp_min, &(a)->clamp_max);                        \
    } while (0)
#define WIDE_TENSORS(m, call, a, inputs, outputs)                                                  \
    do {                                                                                           \
        call_in(call, &(a)->input, tensor(m, "input", wide_type((a)->input_bytes), inputs));       \
        call_out(call, &(a)->output, tensor(m, "output", wide_type((a)->output_bytes), outputs));  \
    } while (0)

static void linear_s16(Maker *m, Call *call) {
    CtnLinearS16Args *a = call->args;
    a->rows = between(m, 1, 4);
    a->depth = m->index == 0 ? 700 : between(m, 1, 300); /* several blocks of 32-bit sums */
    a->columns = between(m, 1, 12);
    WIDE_ENDS(m, a);
    channel_constants(m, call, a->columns, a->depth, &a->weights, &a->bias, &a->multiplier,
                      &a->shift);
    WIDE_TENSORS(m, call, a, a->rows * a->depth, a->rows * a->columns);
}

static void conv2d_s16(Maker *m, Call *call) {
    CtnConv2dS16Args *a = call->args;
    Window w = window_of(m);
    a->groups = chance(m, 30) ? w.in_c : 1; /* depthwise */
    if (a->groups > 1)
        w.out_c = w.in_c * between(m, 1, 2);
    WINDOW_FIELDS(a, &w);
    a->in_c = w.in_c;
    a->out_c = w.out_c;
    a->dilation_h = w.dilation_h;
    a->dilation_w = w.dilation_w;
    WIDE_ENDS(m, a);
    channel_constants(m, call, a->out_c, w.kernel_h * w.kernel_w * w.in_c / a->groups, &a->weights,
                      &a->bias, &a->multiplier, &a->shift);
    WIDE_TENSORS(m, call, a, w.batches * w.in_h * w.in_w * w.in_c,
                 a->batches * a->out_h * a->out_w * a->out_c);
}

static void matmul_s16(Maker *m, Call *call) {
    CtnMatmulS16Args *a = call->args;
    a->rows = between(m, 1, 9);
    a->depth = between(m, 1, 40);
    a->columns = between(m, 1, 9);
    for (int d = 0; d < 4; d++)
        a->batch[d] = d == 0 && chance(m, 50) ? 2 : 1;
    int64_t lhs = a->rows * a->depth, rhs = a->depth * a->columns;
    bool turned = chance(m, 50);
    a->lhs_batch_stride[0] = (int32_t)lhs;
    a->rhs_batch_stride[0] = (int32_t)rhs;
    a->lhs_row_stride = a->depth;
    a->lhs_depth_stride = 1;
    a->rhs_depth_stride = turned ? 1 : a->columns;
    a->rhs_column_stride = turned ? a->depth : 1;
    random_width(m, &a->lhs_bytes, &a->lhs_zero_point);
    random_width(m, &a->rhs_bytes, &a->rhs_zero_point);
    random_width(m, &a->output_bytes, &a->output_zero_point);
    wide_clamp(m, a->output_bytes, &a->clamp_min, &a->clamp_max);
    random_factor(m, &a->multiplier, &a->shift, -20, -2);
    call_in(call, &a->lhs, tensor(m, "lhs", wide_type(a->lhs_bytes), a->batch[0] * lhs));
    call_in(call, &a->rhs, tensor(m, "rhs", wide_type(a->rhs_bytes), a->batch[0] * rhs));
    call_out(call, &a->output,
             tensor(m, "output", wide_type(a->output_bytes), a->batch[0] * a->rows * a->columns));
}

static void avg_pool2d_s16(Maker *m, Call *call) {
    CtnAvgPool2dS16Args *a = call->args;
    Window w = window_of(m);
    w.pad_top /= w.dilation_h; /* below the kernel, so that each window has a tap */
    w.pad_bottom /= w.dilation_h;
    w.pad_left /= w.dilation_w;
    w.pad_right /= w.dilation_w;
    w.dilation_h = w.dilation_w = 1;
    fit(&w);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->pad_bottom = w.pad_bottom;
    a->pad_right = w.pad_right;
    a->include_padding = chance(m, 50);
    a->divisor = chance(m, 20) ? between(m, 1, 20) : 0;
    WIDE_ENDS(m, a);
    random_factor(m, &a->multiplier, &a->shift, -24, -8);
    WIDE_TENSORS(m, call, a, w.batches * w.in_h * w.in_w * w.in_c,
                 a->batches * a->out_h * a->out_w * w.in_c);
}

static void max_pool2d_s16(Maker *m, Call *call) {
    CtnMaxPool2dS16Args *a = call->args;
    Window w = window_of(m);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->dilation_h = w.dilation_h;
    a->dilation_w = w.dilation_w;
    wide_clamp(m, 2, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, tensor(m, "input", DT_I16, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I16, a->batches * a->out_h * a->out_w * w.in_c));
}

static void reduce_sum_s16(Maker *m, Call *call) {
    CtnReduceSumS16Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    WIDE_ENDS(m, a);
    random_factor(m, &a->multiplier, &a->shift, -9, 4);
    WIDE_TENSORS(m, call, a, count, outputs);
}

static void softmax_s16(Maker *m, Call *call) {
    CtnSoftmaxS16Args *a = call->args;
    a->rows = between(m, 1, 4);
    a->row_size = m->index == 0 ? 1 : m->index == 1 ? 1500 : between(m, 1, 80);
    a->mask_rows = between(m, 1, 3);
    a->mask_hides = chance(m, 50);
    a->input_bytes = chance(m, 65) ? 2 : 1;
    a->output_bytes = chance(m, 65) ? 2 : 1;
    a->output_zero_point = a->output_bytes == 2 ? 0 : -128;
    a->output_multiplier = 1 << 30; /* 2^-24 to 2^-8, or to 2^-15 */
    a->output_shift = a->output_bytes == 2 ? -8 : -15;
    a->multiplier = between(m, 1 << 30, 0x7fffffff);
    a->shift = a->input_bytes == 2 ? between(m, 9, 16) : between(m, 17, 24);
    a->diff_min = -(int32_t)(((int64_t)31 << 26) >> a->shift);
    if (chance(m, 40))
        call_in(call, &a->mask, tensor(m, "mask", DT_BOOL, a->mask_rows * a->row_size));
    else
        call_absent(call, &a->mask);
    WIDE_TENSORS(m, call, a, a->rows * a->row_size, a->rows * a->row_size);
}

#define MAKER(name) [CTN_KERNEL_##name] = name
/* ---- norms and recurrent layers ------------------------------------------------------------ */

static void layer_norm_s8(Maker *m, Call *call) {
    CtnLayerNormS8Args *a = call->args;
    for (int d = 0; d < 4; d++) {
        a->dim[d] = a->reduced[d] = 1;
        a->stride[d] = a->reduced_stride[d] = 0;
        a->parameter_stride[d] = a->reduced_parameter_stride[d] = 0;
    }
    a->dim[3] = between(m, 1, 9);
    a->count = a->reduced[3] = a->stride[3] = between(m, 1, 70);
    a->reduced_stride[3] = a->reduced_parameter_stride[3] = 1;
    a->centered = chance(m, 80);
    a->epsilon_low = between(m, 1, 1000);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, -11, -9);
    int16_t gamma[70];
    int32_t beta[70];
    for (int i = 0; i < 70; i++) {
        gamma[i] = (int16_t)between(m, -32767, 32767);
        beta[i] = between(m, -20000, 20000);
    }
    call_absent(call, &a->gamma);
    call_absent(call, &a->beta);
    if (chance(m, 80))
        constant(call, &a->gamma, DT_I16, a->count, gamma);
    if (chance(m, 80))
        constant(call, &a->beta, DT_I32, a->count, beta);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_in(call, &a->input, tensor(m, "input", DT_I8, (int64_t)a->dim[3] * a->count));
    call_out(call, &a->output, tensor(m, "output", DT_I8, (int64_t)a->dim[3] * a->count));
}

static void gru_s8(Maker *m, Call *call) {
    CtnGruS8Args *a = call->args;
    a->steps = between(m, 1, 4);
    a->batches = chance(m, 20) ? 2 : 1;
    a->in_size = between(m, 1, 40);
    a->size = between(m, 1, 40);
    a->reverse = chance(m, 30);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    int64_t gates = 3 * (int64_t)a->size, states = (int64_t)a->batches * a->size;
    gate_constants(m, call, gates, a->in_size, &a->x_weights, &a->x_multiplier, &a->x_shift);
    gate_constants(m, call, gates, a->size, &a->h_weights, &a->h_multiplier, &a->h_shift);
    int32_t *bias = NEW_ARRAY(m->c, int32_t, gates);
    for (int64_t i = 0; i < gates; i++)
        bias[i] = between(m, -65536, 65536);
    constant(call, &a->bias, DT_I32, gates, bias);
    gate_table(call, &a->sigmoid, 16384, 60);
    gate_table(call, &a->tangent, 0, 120);
    a->state_bits = between(m, 12, 15);
    random_factor(m, &a->multiplier, &a->shift, 6 - a->state_bits, 8 - a->state_bits);
    call_absent(call, &a->scratch);
    if (state_before(m, call, &a->h0, DT_I16, states))
        call_scratch(call, &a->scratch, states, 4);
    recurrent_outputs(m, call, a->steps * states, states, &a->output, &a->state);
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->steps * a->batches * a->in_size));
}

static void (*const makers[CTN_KERNEL_COUNT])(Maker *, Call *) = {
    [CTN_KERNEL_layer_norm_s8] = layer_norm_s8,
    [CTN_KERNEL_gru_s8] = gru_s8,
    MAKER(conv2d_s8),
    MAKER(depthwise_conv2d_s8),
    MAKER(conv3d_s8),
    MAKER(conv_transpose2d_s8),
    MAKER(linear_s8),
    MAKER(matmul_s8),
    MAKER(add_s8),
    MAKER(add_s16),
    MAKER(mul_s8),
    MAKER(mul_s16),
    MAKER(div_s8),
    MAKER(div_s16),
    MAKER(minmax_s8),
    MAKER(minmax_s16),
    MAKER(compare_s8),
    MAKER(compare_s16),
    MAKER(logical_s8),
    MAKER(where),
    MAKER(prelu_s8),
    MAKER(pointwise2_s8),
    MAKER(integer),
    MAKER(quantize_integer),
    MAKER(rescale),
    MAKER(table_s8),
    MAKER(table_s16),
    MAKER(copy),
    MAKER(gather),
    MAKER(fill),
    MAKER(take),
    MAKER(upsample_bilinear2d_s8),
    MAKER(upsample_bilinear2d_s16),
    MAKER(max_pool2d_s8),
    MAKER(avg_pool2d_s8),
    MAKER(reduce_sum_s8),
    MAKER(reduce_max_s8),
    MAKER(softmax_s8),
    MAKER(lstm_s8),
    MAKER(quantize_s8),
    MAKER(dequantize_s8),
    MAKER(quantize_s16),
    MAKER(dequantize_s16),
    MAKER(linear_s16),
    MAKER(conv2d_s16),
    MAKER(matmul_s16),
    MAKER(reduce_sum_s16),
    MAKER(avg_pool2d_s16),
    MAKER(max_pool2d_s16),
    MAKER(softmax_s16),
    [CTN_KERNEL_argmax_s8] = make_argmax_s8,
    [CTN_KERNEL_cumsum_s8] = make_cumsum_s8,
    [CTN_KERNEL_adaptive_pool2d_s8] = make_adaptive_pool2d_s8,
    [CTN_KERNEL_adaptive_max_indices_s8] = make_adaptive_max_indices_s8,
    [CTN_KERNEL_max_pool2d_indices_s8] = make_max_pool2d_indices_s8,
    [CTN_KERNEL_reduce_int] = make_reduce_int,
    [CTN_KERNEL_masked_softmax_s8] = make_masked_softmax_s8,
    [CTN_KERNEL_log_softmax_s8] = make_log_softmax_s8,
    [CTN_KERNEL_conv2d_s8w4] = conv2d_s8,
    [CTN_KERNEL_depthwise_conv2d_s8w4] = depthwise_conv2d_s8,
    [CTN_KERNEL_linear_s8w4] = linear_s8,
};

/* ---- placing ------------------------------------------------------------------------------- */

enum { GAP = 32 };

/* A generator of its own for each buffer: packing adds, moves and swaps references, and the
 * operands of a variant must be those of plain C. */
static Maker maker_of(const Maker *m, const CallRef *ref) {
    Maker own = *m;
    own.state ^= 0x9e3779b97f4a7c15ULL * (uint64_t)(ref->buffer->id + 1);
    for (int i = 0; i < 4; i++)
        next(&own);
    return own;
}

/* Activations lie anywhere: bytes at any address, wider elements aligned to themselves. Constants
 * and scratch have the alignment that they asked for and no more. */
static void place(const Maker *m, int64_t *top, const CallRef *ref) {
    Buffer *b = ref->buffer;
    Maker own = maker_of(m, ref);
    int64_t at = (*top + 63) / 64 * 64;
    if (b->kind == BUFFER_VALUE)
        at += between(&own, 0, 15) * dtype_size(b->element);
    else if (b->align < 64)
        at += b->align;
    b->offset = at;
    b->region = b->kind == BUFFER_CONSTANT ? CTN_WEIGHTS : CTN_ARENA;
    *top = at + b->bytes + GAP;
}

static bool placed_before(const Call *call, int i) {
    for (int k = 0; k < i; k++)
        if (call->ref[k].buffer == call->ref[i].buffer)
            return true;
    return false;
}

static void place_buffers(const Maker *m, KernelCase *k) {
    int64_t arena = GAP, weights = 0;
    for (int i = 0; i < k->call->ref_count; i++) {
        const CallRef *ref = &k->call->ref[i];
        uint32_t value = CTN_NONE;
        if (ref->buffer) {
            Buffer *b = ref->buffer;
            if (!placed_before(k->call, i))
                place(m, b->kind == BUFFER_CONSTANT ? &weights : &arena, ref);
            value = CTN_REF(b->region, b->offset + ref->offset);
            if (b->kind == BUFFER_SCRATCH) {
                k->scratch = b->offset;
                k->scratch_bytes = b->bytes;
            } else if (ref->writes) {
                k->output = b->offset;
                k->output_bytes = b->bytes;
            }
        }
        memcpy((char *)k->call->args + ref->field_offset, &value, sizeof value);
    }
    k->arena_bytes = arena + 64;
    k->weights_bytes = weights + 64;
}

static uint8_t *image(C *c, int64_t bytes) {
    uint8_t *p = c_alloc(c, (size_t)bytes + 64);
    return p + (64 - (uintptr_t)p % 64) % 64;
}

static void fill_operand(const Maker *m, const CallRef *ref, uint8_t *to) {
    Maker own = maker_of(m, ref);
    const Buffer *b = ref->buffer;
    for (int64_t i = 0; i < b->bytes; i++)
        to[i] = (uint8_t)(m->extreme ? (chance(&own, 50) ? 127 : 128) : next(&own));
    if (b->element == DT_F32) /* a third near the output's range */
        for (int64_t f = 0; f < b->bytes / 4; f += 3) {
            float x = (float)between(&own, -4000, 4000) / 64.0f;
            memcpy(to + 4 * f, &x, 4);
        }
}

static void fill_images(const Maker *m, KernelCase *k) {
    k->arena = image(m->c, k->arena_bytes);
    k->weights = image(m->c, k->weights_bytes);
    Maker between_operands = *m; /* the arena's size is the variant's own */
    for (int64_t i = 0; i < k->arena_bytes; i++)
        k->arena[i] = (uint8_t)next(&between_operands);
    for (int i = 0; i < k->call->ref_count; i++) {
        const CallRef *ref = &k->call->ref[i];
        if (ref->buffer && ref->buffer->kind == BUFFER_CONSTANT)
            memcpy(k->weights + ref->buffer->offset, ref->buffer->data, (size_t)ref->buffer->bytes);
        else if (ref->buffer)
            fill_operand(m, ref, k->arena + ref->buffer->offset);
    }
}

int case_count(int kernel) {
    return !makers[kernel] ? 0 : kernel == CTN_KERNEL_copy ? 200 : 60;
}

KernelCase *case_make(C *c, const Variant *variant, int index) {
    Maker m = {.c = c, .g = graph_new(c, "case"), .index = index};
    m.state = 0x9e3779b97f4a7c15ULL * (uint64_t)(variant->kernel * 1000 + index + 1);
    m.extreme = index % 8 == 7;
    for (int i = 0; i < 8; i++)
        next(&m);
    KernelCase *k = NEW(c, KernelCase);
    k->graph = m.g;
    k->call = call_new(c, m.g, NULL, variant->kernel);
    k->call->variant = k->variant = variant;
    makers[variant->kernel](&m, k->call);
    if (!variant->accepts(k->call))
        return NULL;
    variant->pack(c, m.g, k->call);
    k->variant = k->call->variant; /* packing may turn a call into another kernel's */
    place_buffers(&m, k);
    fill_images(&m, k);
    return k;
}

/* Under the sanitizer only operands, output and scratch may be touched while a kernel runs. */
static void guard(const KernelCase *k, uint8_t *arena, bool on) {
#ifdef __SANITIZE_ADDRESS__
    if (!on) {
        __asan_unpoison_memory_region(arena, (size_t)k->arena_bytes);
        return;
    }
    __asan_poison_memory_region(arena, (size_t)k->arena_bytes);
    for (int i = 0; i < k->call->ref_count; i++) {
        const Buffer *b = k->call->ref[i].buffer;
        if (b && b->kind != BUFFER_CONSTANT)
            __asan_unpoison_memory_region(arena + b->offset, (size_t)b->bytes);
    }
#else
    (void)k, (void)arena, (void)on;
#endif
}

uint8_t *case_run(C *c, const KernelCase *k) {
    uint8_t *arena = image(c, k->arena_bytes);
    memcpy(arena, k->arena, (size_t)k->arena_bytes);
    CtnFrame frame = {{arena, NULL, k->weights}};
    guard(k, arena, true);
    k->variant->host(k->call->args, &frame);
    guard(k, arena, false);
    return arena;
}

int64_t case_stray_write(const KernelCase *k, const uint8_t *after) {
    for (int64_t i = 0; i < k->arena_bytes; i++) {
        bool may = (i >= k->output && i < k->output + k->output_bytes) ||
                   (i >= k->scratch && i < k->scratch + k->scratch_bytes);
        if (!may && after[i] != k->arena[i])
            return i;
    }
    return -1;
}
