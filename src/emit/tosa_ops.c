/* The operators of a quantized graph in TOSA's: one function for each core row, in the arithmetic
 * of docs/numerics.md. */
#include "emit/tosa.h"

/* 2^30 * 2^(1 - 31) keeps the number. */
int tosa_widened(Tosa *t, int tensor, int32_t zero_point, int left) {
    int32_t multiplier = 1 << 30, shift = left + 1;
    return tosa_rescale(t, tensor, TOSA_INT32, zero_point, 0, 1, &multiplier, &shift);
}

static TosaDims spread(const Tosa *t, int a, int b) {
    TosaDims x = tosa_dims(t, a), y = tosa_dims(t, b);
    for (int d = 0; d < x.rank; d++)
        x.dim[d] = x.dim[d] == 1 ? y.dim[d] : x.dim[d];
    return x;
}

int tosa_pair(Tosa *t, TosaKind kind, int a, int b) {
    TosaDims dims = spread(t, a, b);
    return tosa_add(t, kind, NULL, 2, (int[]){a, b}, t->p.tensor[a].type, &dims);
}

int tosa_product(Tosa *t, int a, int b, int shift) {
    TosaDims dims = spread(t, a, b);
    int in[] = {a, b, tosa_number(t, TOSA_INT8, shift)};
    return tosa_add(t, TOSA_MUL, NULL, 3, in, TOSA_INT32, &dims);
}

int tosa_shifted_right(Tosa *t, int a, int bits) {
    TosaDims dims = spread(t, a, bits);
    return tosa_add(t, TOSA_ARITHMETIC_RIGHT_SHIFT, &(TosaAttributes){.round = true}, 2,
                    (int[]){a, bits}, TOSA_INT32, &dims);
}

int tosa_ranked(Tosa *t, int tensor, int rank) {
    TosaDims own = tosa_dims(t, tensor), dims = {rank, {0}};
    for (int d = 0; d < rank; d++)
        dims.dim[d] = d < rank - own.rank ? 1 : own.dim[d - (rank - own.rank)];
    return tosa_reshape(t, tensor, &dims);
}

int tosa_number_like(Tosa *t, int tensor, int32_t value) {
    return tosa_ranked(t, tosa_number(t, TOSA_INT32, value), tosa_dims(t, tensor).rank);
}

/* ---- convolutions and linear layers -------------------------------------------------------- */

/* int32 sums of a layer with constant weights on the grid of its output; `tensor` is [.., out_c].
 */
static int requantized(Tosa *t, const Node *n, int tensor, int64_t channels) {
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, channels);
    int32_t *shift = NEW_ARRAY(t->c, int32_t, channels);
    layer_factors(n, channels, multiplier, shift);
    return tosa_rescale(t, tensor, TOSA_INT8, 0, value_zero_point(n->out[0]), (int)channels,
                        multiplier, shift);
}

static int bias_of(Tosa *t, const Node *n, int64_t channels) {
    return tosa_const(t, TOSA_INT32, &(TosaDims){1, {channels}}, layer_bias(t->c, n, channels));
}

static int weights_of(Tosa *t, const int8_t *weights, const LayerWindow *k, bool depthwise) {
    TosaDims dims = {4, {k->out_c, k->kernel[0], k->kernel[1], k->depth}};
    if (depthwise)
        dims = (TosaDims){4, {k->kernel[0], k->kernel[1], k->in_c, k->out_c / k->in_c}};
    return tosa_const(t, TOSA_INT8, &dims, weights);
}

/* The value as N, height, width, C. */
int tosa_image(Tosa *t, const Value *v) {
    int8_t order[MAX_RANK];
    order_channels_last(v->type.rank, order);
    int tensor = tosa_value_in(t, v, order);
    TosaDims d = tosa_dims(t, tensor);
    if (d.rank == 4)
        return tensor;
    return tosa_reshape(t, tensor, &(TosaDims){4, {d.dim[0], 1, d.dim[1], d.dim[2]}});
}

int tosa_from_order(Tosa *t, const Node *n, const int8_t *order, int tensor) {
    const Value *v = n->out[0];
    TosaDims dims = {v->type.rank, {0}};
    int32_t perm[MAX_RANK];
    for (int k = 0; k < v->type.rank; k++) {
        dims.dim[k] = v->type.dim[order[k]];
        perm[k] = order_place(order, v->order[k]);
    }
    return tosa_transpose(t, tosa_reshape(t, tensor, &dims), perm);
}

int tosa_image_back(Tosa *t, const Node *n, int tensor) {
    int8_t order[MAX_RANK];
    order_channels_last(n->out[0]->type.rank, order);
    return tosa_from_order(t, n, order, tensor);
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
    int in[] = {image, weights_of(t, weights, k, depthwise),
                tosa_const(t, TOSA_INT32, &(TosaDims){1, {k->out_c}}, bias),
                tosa_number(t, TOSA_INT8, value_zero_point(node_operand(n, 0))),
                tosa_number(t, TOSA_INT8, 0)};
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k->out[0], k->out[1], k->out_c}};
    return tosa_add(t, depthwise ? TOSA_DEPTHWISE_CONV2D : TOSA_CONV2D, a, 5, in, TOSA_INT32,
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
        int slice = tosa_add(t, TOSA_SLICE, NULL, 3, in, TOSA_INT8, &dims);
        sums[i] = conv_sums(t, n, &one, slice, a, weights + i * each, bias + i * one.out_c);
    }
    TosaDims all = {4, {dims.dim[0], k->out[0], k->out[1], k->out_c}};
    return tosa_add(t, TOSA_CONCAT, &(TosaAttributes){.axis = 3}, (int)k->groups, sums, TOSA_INT32,
                    &all);
}

static bool write_conv(Tosa *t, Node *n) {
    LayerWindow k = layer_window(n);
    if (!layer_fits(n) || node_operand(n, 0)->type.rank > 4)
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

static bool write_conv_transpose(Tosa *t, Node *n) {
    LayerWindow k = layer_window(n);
    if (!layer_fits(n) || k.groups > 1 || k.dilation[0] > 1 || k.dilation[1] > 1)
        return false;
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
    int in[] = {image, weights_of(t, layer_weights(t->c, n, &k, false), &k, false),
                bias_of(t, n, k.out_c),
                tosa_number(t, TOSA_INT8, value_zero_point(node_operand(n, 0))),
                tosa_number(t, TOSA_INT8, 0)};
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k.out[0], k.out[1], k.out_c}};
    int sums = tosa_add(t, TOSA_TRANSPOSE_CONV2D, &a, 5, in, TOSA_INT32, &dims);
    tosa_store(t, n, tosa_image_back(t, n, requantized(t, n, sums, k.out_c)));
    return true;
}

int tosa_in_own_order(Tosa *t, const Node *n, int tensor) {
    int8_t logical[MAX_RANK];
    order_identity(logical);
    return tosa_from_order(t, n, logical, tensor);
}

int tosa_in_logical_order(Tosa *t, const Value *v) {
    int8_t logical[MAX_RANK];
    order_identity(logical);
    return tosa_value_in(t, v, logical);
}

/* A linear layer is a convolution of one pixel. */
static bool write_linear(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *w = node_in(n, "weight");
    if (!layer_fits(n))
        return false;
    int64_t depth = w->type.dim[1], channels = w->type.dim[0];
    int64_t rows = dims_count(x->type.rank - 1, x->type.dim);
    TosaAttributes a = {.stride = {1, 1}, .dilation = {1, 1}};
    int pixels = tosa_reshape(t, tosa_in_logical_order(t, x), &(TosaDims){4, {rows, 1, 1, depth}});
    int weights =
        tosa_const(t, TOSA_INT8, &(TosaDims){4, {channels, 1, 1, depth}}, w->constant->data);
    int in[] = {pixels, weights, bias_of(t, n, channels),
                tosa_number(t, TOSA_INT8, value_zero_point(x)), tosa_number(t, TOSA_INT8, 0)};
    int sums =
        tosa_add(t, TOSA_CONV2D, &a, 5, in, TOSA_INT32, &(TosaDims){4, {rows, 1, 1, channels}});
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
            tensor = tosa_add(t, TOSA_CONCAT, &(TosaAttributes){.axis = d}, (int)times, copy,
                              TOSA_INT8, &dims);
    }
    int64_t batch = dims_count(rank - 2, y->type.dim);
    return tosa_reshape(t, tensor, &(TosaDims){3, {batch, dims.dim[rank - 2], dims.dim[rank - 1]}});
}

static bool write_matmul(Tosa *t, Node *n) {
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    int rank = y->type.rank;
    if (!layer_int8(a) || !layer_int8(b) || !layer_int8(y) || rank < 2 || a->type.rank < 2 ||
        b->type.rank < 2)
        return false;
    int in[] = {factor_of(t, a, y), factor_of(t, b, y),
                tosa_number(t, TOSA_INT8, value_zero_point(a)),
                tosa_number(t, TOSA_INT8, value_zero_point(b))};
    TosaDims dims = {
        3, {dims_count(rank - 2, y->type.dim), y->type.dim[rank - 2], y->type.dim[rank - 1]}};
    int sums = tosa_add(t, TOSA_MATMUL, NULL, 4, in, TOSA_INT32, &dims);
    double factor = value_scale(a) * value_scale(b) / value_scale(y);
    int out = tosa_rescale_by(t, sums, TOSA_INT8, 0, value_zero_point(y), factor);
    tosa_store(t, n, tosa_in_own_order(t, n, out));
    return true;
}

/* Reduces the dims that n names, one after the other; the tensor keeps them with a size of one. */
static int reduced(Tosa *t, const Node *n, TosaKind kind, int tensor, TosaType type) {
    const Value *x = node_operand(n, 0);
    int64_t dim[MAX_RANK];
    int count = node_ints(n, "dim", dim, MAX_RANK);
    TosaDims dims = tosa_dims(t, tensor);
    for (int i = 0; i < (count ? count : x->type.rank); i++) {
        int wanted = count ? dim_wrap(t->c, n, dim[i], x->type.rank) : i;
        TosaAttributes a = {.axis = order_place(x->order, wanted)};
        if (dims.dim[a.axis] == 1)
            continue;
        dims.dim[a.axis] = 1;
        tensor = tosa_add(t, kind, &a, 1, &tensor, type, &dims);
    }
    return tensor;
}

/* From x's order with ones to the order of n's output. */
static int reduced_back(Tosa *t, const Node *n, int tensor) {
    const Value *x = node_operand(n, 0);
    int32_t perm[MAX_RANK];
    if (n->out[0]->type.rank == x->type.rank)
        return tosa_from_order(t, n, x->order, tensor);
    for (int d = 0; d < x->type.rank; d++)
        perm[d] = order_place(x->order, d);
    return tosa_in_own_order(t, n, tosa_transpose(t, tensor, perm));
}

static bool write_reduce_sum(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!layer_int8(x) || !layer_int8(y))
        return false;
    int sum = reduced(t, n, TOSA_REDUCE_SUM,
                      tosa_widened(t, tosa_value(t, x), value_zero_point(x), 0), TOSA_INT32);
    double factor = node_double(n, "factor") * value_scale(x) / value_scale(y);
    sum = tosa_rescale_by(t, sum, TOSA_INT8, 0, value_zero_point(y), factor);
    tosa_store(t, n, reduced_back(t, n, sum));
    return true;
}

/* -1 - q: the least of some is the opposite of their opposites' greatest. */
static int opposite(Tosa *t, int tensor) {
    int8_t entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = (int8_t)(127 - i);
    return tosa_lookup(t, tensor, entry);
}

static bool write_reduce_max(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    bool least = node_bool(n, "minimum");
    if (!layer_int8(x) || !layer_int8(y) || !grids_equal(x, y))
        return false;
    int in = least ? opposite(t, tosa_value(t, x)) : tosa_value(t, x);
    int most = reduced(t, n, TOSA_REDUCE_MAX, in, TOSA_INT8);
    tosa_store(t, n, reduced_back(t, n, least ? opposite(t, most) : most));
    return true;
}

/* ---- the list ------------------------------------------------------------------------------ */

static const struct {
    const char *row;
    bool (*write)(Tosa *t, Node *n);
} writers[] = {
    {"aten::_prelu_kernel", tosa_write_prelu},
    {"aten::add", tosa_write_add},
    {"aten::cat", tosa_cat},
    {"aten::maximum", tosa_write_extreme},
    {"aten::minimum", tosa_write_extreme},
    {"aten::mul", tosa_write_mul},
    {"aten::sub", tosa_write_sub},
    {"aten::upsample_bilinear2d", tosa_bilinear},
    {"aten::upsample_linear1d", tosa_bilinear},
    {"corten::adaptive_pool2d", tosa_adaptive_pool},
    {"corten::avg_pool2d", tosa_avg_pool},
    {"corten::conv2d", write_conv},
    {"corten::conv_transpose2d", write_conv_transpose},
    {"corten::group_norm", tosa_norm},
    {"corten::layer_norm", tosa_norm},
    {"corten::linear", write_linear},
    {"corten::matmul", write_matmul},
    {"corten::max_pool2d", tosa_max_pool},
    {"corten::reduce_max", write_reduce_max},
    {"corten::reduce_sum", write_reduce_sum},
    {"corten::softmax", tosa_softmax},
    {"corten::softmax_scaled", tosa_softmax},
    {"corten::table", tosa_write_table},
};

bool tosa_node(Tosa *t, Node *n) {
    for (size_t i = 0; i < COUNT_OF(writers); i++)
        if (node_is(n, writers[i].row))
            return writers[i].write(t, n);
    return (n->op->traits & OP_MOVES_DATA) && tosa_movement(t, n);
}
