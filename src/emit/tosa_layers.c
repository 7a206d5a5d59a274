/* Convolutions, linear layers and products of matrices in TOSA. Sums of int8 have 32 bits; sums
 * with int16 have 48, of which a RESCALE takes factors of 16 bits only: they are first made 32
 * bits, which loses nothing where the weights prove that no sum is larger. */
#include "emit/tosa.h"

#include <math.h>
#include <stdlib.h>

/* ---- sums and what becomes of them ----------------------------------------------------------- */

/* Products with int16 are summed in 48 bits. */
static TosaType sums_type(const Node *n) {
    return layer_int16(node_operand(n, 0)) ? TOSA_INT48 : TOSA_INT32;
}

/* By how many bits numbers below `most` are more than 32. */
static int bits_beyond(double most) {
    int bits = 0;
    while (most >= ldexp(1, 31 + bits))
        bits++;
    return bits;
}

/* The largest sum that int16 can make of weights and bias. */
static double largest_sum(C *c, const Node *n, int64_t channels) {
    const int8_t *w = layer_bytes(c, n);
    const int32_t *bias = layer_bias(c, n, channels);
    int64_t each = array_count(node_in(n, "weight")->constant) / channels;
    double largest = 0;
    for (int64_t o = 0; o < channels; o++) {
        double sum = fabs((double)bias[o]);
        for (int64_t i = 0; i < each; i++)
            sum += 32768.0 * abs(w[o * each + i]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* The bits that sums of a layer with constant weights lose when 32 hold them: of int8 none. */
static int layer_lost(C *c, const Node *n, int64_t channels) {
    return sums_type(n) == TOSA_INT48 ? bits_beyond(largest_sum(c, n, channels)) : 0;
}

/* Sums in steps of 2^lost on the grid of n's output, rounded once. */
static int requantized_once(Tosa *t, const Node *n, int sums, int lost, int count,
                            const int32_t *multiplier, int32_t *shift) {
    const Value *y = n->out[0];
    for (int i = 0; i < count; i++)
        shift[i] += lost;
    return tosa_rescale_once(t, sums, tosa_type(y), value_zero_point(y), count, multiplier, shift);
}

/* The sums that layer_sums gives on the grid of the layer's output; they are [.., channels]. */
static int requantized(Tosa *t, const Node *n, int sums, int64_t channels) {
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, channels);
    int32_t *shift = NEW_ARRAY(t->c, int32_t, channels);
    layer_factors(n, channels, multiplier, shift);
    if (node_is_wide(n))
        return requantized_once(t, n, sums, layer_lost(t->c, n, channels), (int)channels,
                                multiplier, shift);
    return tosa_rescale(t, sums, TOSA_INT8, 0, value_zero_point(n->out[0]), (int)channels,
                        multiplier, shift);
}

static int bias_tensor(Tosa *t, const Node *n, int64_t channels, const int32_t *bias) {
    enum { WIDE = 6 };
    TosaDims dims = {1, {channels}};
    if (sums_type(n) == TOSA_INT32)
        return tosa_const(t, TOSA_INT32, &dims, bias);
    uint8_t *data = c_alloc(t->c, (size_t)channels * WIDE);
    for (int64_t i = 0; i < channels; i++)
        for (int k = 0; k < WIDE; k++)
            data[i * WIDE + k] = (uint8_t)((uint64_t)(int64_t)bias[i] >> (8 * k));
    return tosa_const(t, TOSA_INT48, &dims, data);
}

static int zero_of(Tosa *t, const Value *v) {
    return tosa_number(t, tosa_type(v), value_zero_point(v));
}

/* A layer of n's input, weights and bias, in 32 bits. */
static int layer_sums(Tosa *t, const Node *n, TosaKind kind, const TosaAttributes *a, int image,
                      int weights, int bias, const TosaDims *dims) {
    int in[] = {image, weights, bias, zero_of(t, node_operand(n, 0)), tosa_number(t, TOSA_INT8, 0)};
    int sums = tosa_add(t, kind, a, 5, in, sums_type(n), dims);
    if (sums_type(n) == TOSA_INT32)
        return sums;
    return tosa_narrowed(t, sums, layer_lost(t->c, n, node_in(n, "weight")->type.dim[0]));
}

/* In 8 or 16 bits, by weights that are constants. */
static bool layer_is_known(const Node *n) {
    return layer_quantized(node_operand(n, 0)) && layer_quantized(n->out[0]) && layer_constant(n);
}

/* ---- convolutions --------------------------------------------------------------------------- */

static int weights_of(Tosa *t, const int8_t *weights, const LayerWindow *k, bool depthwise) {
    TosaDims dims = {4, {k->out_c, k->kernel[0], k->kernel[1], k->depth}};
    if (depthwise)
        dims = (TosaDims){4, {k->kernel[0], k->kernel[1], k->in_c, k->out_c / k->in_c}};
    return tosa_const(t, TOSA_INT8, &dims, weights);
}

TosaAttributes tosa_window(const LayerWindow *k) {
    TosaAttributes a = {0};
    for (int i = 0; i < 2; i++) {
        a.kernel[i] = (int32_t)k->kernel[i];
        a.stride[i] = k->out[i] == 1 ? 1 : (int32_t)k->stride[i];
        a.dilation[i] = (int32_t)k->dilation[i];
    }
    return a;
}

int tosa_end_exactly(Tosa *t, int tensor, const LayerWindow *k, int32_t pad[4]) {
    TosaDims dims = tosa_dims(t, tensor);
    bool cut = false;
    for (int a = 0; a < 2; a++) {
        int64_t end = window_overhang(k, a);
        pad[2 * a] = (int32_t)k->side[2 * a];
        pad[2 * a + 1] = (int32_t)(end > 0 ? end : 0);
        if (end < 0)
            dims.dim[1 + a] += end;
        cut = cut || end < 0;
    }
    if (!cut)
        return tensor;
    const int64_t start[4] = {0};
    int in[] = {tensor, tosa_shape(t, 4, start), tosa_shape(t, 4, dims.dim)};
    return tosa_add(t, TOSA_SLICE, NULL, 3, in, t->p.tensor[tensor].type, &dims);
}

/* Sums of the window's channels over an image that ends exactly. */
static int conv_sums(Tosa *t, const Node *n, const LayerWindow *k, int image,
                     const TosaAttributes *a, const int8_t *weights, const int32_t *bias) {
    bool depthwise = k->groups == k->in_c && k->groups > 1;
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k->out[0], k->out[1], k->out_c}};
    return layer_sums(t, n, depthwise ? TOSA_DEPTHWISE_CONV2D : TOSA_CONV2D, a, image,
                      weights_of(t, weights, k, depthwise), bias_tensor(t, n, k->out_c, bias),
                      &dims);
}

/* Each group is a convolution of its own over a slice of the channels. */
static int group_sums(Tosa *t, const Node *n, const LayerWindow *k, int image,
                      const TosaAttributes *a, const int8_t *weights, const int32_t *bias) {
    LayerWindow one = *k;
    int *sums = NEW_ARRAY(t->c, int, k->groups);
    one.out_c = k->out_c / k->groups;
    one.in_c = k->depth;
    one.groups = 1;
    int64_t each = one.out_c * k->kernel[0] * k->kernel[1] * k->depth;
    TosaDims dims = tosa_dims(t, image);
    dims.dim[3] = k->depth;
    for (int64_t i = 0; i < k->groups; i++) {
        const int64_t start[4] = {0, 0, 0, i * k->depth};
        int in[] = {image, tosa_shape(t, 4, start), tosa_shape(t, 4, dims.dim)};
        int slice = tosa_add(t, TOSA_SLICE, NULL, 3, in, t->p.tensor[image].type, &dims);
        sums[i] = conv_sums(t, n, &one, slice, a, weights + i * each, bias + i * one.out_c);
    }
    return tosa_joined(t, 3, (int)k->groups, sums);
}

bool tosa_conv(Tosa *t, Node *n) {
    LayerWindow k = layer_window(n);
    if (!layer_is_known(n) || node_operand(n, 0)->type.rank > 4)
        return false;
    TosaAttributes a = tosa_window(&k);
    int image = tosa_end_exactly(t, tosa_image(t, node_operand(n, 0)), &k, a.pad);
    bool split = k.groups > 1 && k.groups < k.in_c;
    const int8_t *weights = layer_weights(t->c, n, &k, k.groups > 1 && !split);
    const int32_t *bias = layer_bias(t->c, n, k.out_c);
    int sums = split ? group_sums(t, n, &k, image, &a, weights, bias)
                     : conv_sums(t, n, &k, image, &a, weights, bias);
    tosa_store(t, n, tosa_image_back(t, n, requantized(t, n, sums, k.out_c)));
    return true;
}

bool tosa_conv_transpose(Tosa *t, Node *n) {
    LayerWindow k = layer_window(n);
    if (!layer_fits(n) || (t->refusal = layer_whole_refusal(t->c, &k)))
        return false;
    const int8_t *weights = layer_whole_weights(t->c, n, &k);
    TosaAttributes a = {0};
    for (int i = 0; i < 2; i++) {
        a.stride[i] = (int32_t)k.stride[i];
        a.pad[2 * i] = (int32_t)-k.side[2 * i];
        int64_t whole = (k.in[i] - 1) * k.stride[i] + k.kernel[i];
        a.pad[2 * i + 1] = (int32_t)(k.out[i] - whole + k.side[2 * i]);
        if (-a.pad[2 * i] >= k.kernel[i] || -a.pad[2 * i + 1] >= k.kernel[i])
            return false;
    }
    int image = tosa_image(t, node_operand(n, 0));
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k.out[0], k.out[1], k.out_c}};
    int sums = layer_sums(t, n, TOSA_TRANSPOSE_CONV2D, &a, image, weights_of(t, weights, &k, false),
                          bias_tensor(t, n, k.out_c, layer_bias(t->c, n, k.out_c)), &dims);
    tosa_store(t, n, tosa_image_back(t, n, requantized(t, n, sums, k.out_c)));
    return true;
}

/* ---- products of matrices -------------------------------------------------------------------- */

/* A linear layer is a convolution of one pixel. */
bool tosa_linear(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *w = node_in(n, "weight");
    if (!layer_is_known(n))
        return false;
    int64_t depth = w->type.dim[1], channels = w->type.dim[0];
    int64_t rows = dims_count(x->type.rank - 1, x->type.dim);
    TosaAttributes a = {.stride = {1, 1}, .dilation = {1, 1}};
    int pixels = tosa_reshape(t, tosa_in_logical_order(t, x), &(TosaDims){4, {rows, 1, 1, depth}});
    int weights =
        tosa_const(t, TOSA_INT8, &(TosaDims){4, {channels, 1, 1, depth}}, layer_bytes(t->c, n));
    int bias = bias_tensor(t, n, channels, layer_bias(t->c, n, channels));
    int sums = layer_sums(t, n, TOSA_CONV2D, &a, pixels, weights, bias,
                          &(TosaDims){4, {rows, 1, 1, channels}});
    tosa_store(t, n, tosa_in_own_order(t, n, requantized(t, n, sums, channels)));
    return true;
}

/* Factor v of y as [batches of y][rows][columns], repeated where it is broadcast. */
static int factor_of(Tosa *t, const Value *v, const Value *y) {
    int rank = y->type.rank;
    int tensor = tosa_ranked(t, tosa_in_logical_order(t, v), rank);
    TosaDims dims = tosa_dims(t, tensor);
    for (int d = 0; d < rank - 2; d++) {
        int64_t times = dims.dim[d] == y->type.dim[d] ? 1 : y->type.dim[d];
        int *copy = NEW_ARRAY(t->c, int, times);
        for (int64_t i = 0; i < times; i++)
            copy[i] = tensor;
        dims.dim[d] *= times;
        if (times > 1)
            tensor = tosa_joined(t, d, (int)times, copy);
    }
    int64_t batch = dims_count(rank - 2, y->type.dim);
    return tosa_reshape(t, tensor, &(TosaDims){3, {batch, dims.dim[rank - 2], dims.dim[rank - 1]}});
}

/* Of 16 bits if the other factor is: then without its zero point. */
static int wide_factor(Tosa *t, const Value *v, int tensor, bool wide) {
    const int32_t one = 1 << 30, shift = 1;
    if (!wide || layer_int16(v))
        return tensor;
    return tosa_rescale(t, tensor, TOSA_INT16, value_zero_point(v), 0, 1, &one, &shift);
}

bool tosa_matmul(Tosa *t, Node *n) {
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    int rank = y->type.rank;
    if (!layer_quantized(a) || !layer_quantized(b) || !layer_quantized(y) || rank < 2 ||
        a->type.rank < 2 || b->type.rank < 2)
        return false;
    bool wide = layer_int16(a) || layer_int16(b);
    TosaType type = wide ? TOSA_INT16 : TOSA_INT8;
    int in[] = {wide_factor(t, a, factor_of(t, a, y), wide),
                wide_factor(t, b, factor_of(t, b, y), wide),
                tosa_number(t, type, wide ? 0 : value_zero_point(a)),
                tosa_number(t, type, wide ? 0 : value_zero_point(b))};
    TosaDims dims = {
        3, {dims_count(rank - 2, y->type.dim), y->type.dim[rank - 2], y->type.dim[rank - 1]}};
    int out = tosa_add(t, TOSA_MATMUL, NULL, 4, in, wide ? TOSA_INT48 : TOSA_INT32, &dims);
    double factor = value_scale(a) * value_scale(b) / value_scale(y);
    if (node_is_wide(n)) {
        int32_t multiplier, shift;
        int lost = wide ? bits_beyond(ldexp((double)a->type.dim[a->type.rank - 1], 30)) : 0;
        multiplier_from(factor, &multiplier, &shift);
        out = wide ? tosa_narrowed(t, out, lost) : out;
        out = requantized_once(t, n, out, lost, 1, &multiplier, &shift);
    } else {
        out = tosa_rescale_by(t, out, TOSA_INT8, 0, value_zero_point(y), factor);
    }
    tosa_store(t, n, tosa_in_own_order(t, n, out));
    return true;
}
