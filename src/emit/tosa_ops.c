/* The operators of a quantized graph in TOSA's: one function for each core row, in the arithmetic
 * of docs/numerics.md. */
#include "emit/tosa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 2^30 * 2^(1 - 31) keeps the number. */
int tosa_widened(Tosa *t, int tensor, int32_t zero_point, int left) {
    int32_t multiplier = 1 << 30, shift = left + 1;
    return tosa_rescale(t, tensor, TOSA_INT32, zero_point, 0, 1, &multiplier, &shift);
}

int tosa_pair(Tosa *t, TosaKind kind, int a, int b, const TosaDims *dims) {
    return tosa_add(t, kind, NULL, 2, (int[]){a, b}, TOSA_INT32, dims);
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

static int weights_of(Tosa *t, const Node *n, const LayerWindow *k, bool depthwise) {
    TosaDims dims = {4, {k->out_c, k->kernel[0], k->kernel[1], k->depth}};
    if (depthwise)
        dims = (TosaDims){4, {k->kernel[0], k->kernel[1], k->in_c, k->out_c / k->in_c}};
    return tosa_const(t, TOSA_INT8, &dims, layer_weights(t->c, n, k, depthwise));
}

/* The value as N, height, width, C. */
int tosa_image(Tosa *t, const Value *v) {
    static const int8_t two[MAX_RANK] = {0, 2, 3, 1}, one[MAX_RANK] = {0, 2, 1};
    int tensor = tosa_value_in(t, v, v->type.rank == 4 ? two : one);
    TosaDims d = tosa_dims(t, tensor);
    if (d.rank == 4)
        return tensor;
    return tosa_reshape(t, tensor, &(TosaDims){4, {d.dim[0], 1, d.dim[1], d.dim[2]}});
}

/* And back into the order and rank of n's output. */
int tosa_image_back(Tosa *t, const Node *n, int tensor) {
    static const int8_t two[MAX_RANK] = {0, 2, 3, 1}, one[MAX_RANK] = {0, 2, 1};
    const Value *v = n->out[0];
    const int8_t *order = v->type.rank == 4 ? two : one;
    TosaDims dims = {v->type.rank, {0}};
    int32_t perm[MAX_RANK];
    for (int k = 0; k < v->type.rank; k++) {
        dims.dim[k] = v->type.dim[order[k]];
        for (int j = 0; j < v->type.rank; j++)
            if (order[j] == v->order[k])
                perm[k] = j;
    }
    return tosa_transpose(t, tosa_reshape(t, tensor, &dims), perm);
}

/* TOSA wants windows that end where the padded image does: less padding at the end, and rows and
 * columns that no window reaches taken off. */
static int end_exactly(Tosa *t, int tensor, const LayerWindow *k, int32_t pad[4]) {
    TosaDims dims = tosa_dims(t, tensor);
    bool cut = false;
    for (int a = 0; a < 2; a++) {
        int64_t reach = (k->out[a] - 1) * k->stride[a] + (k->kernel[a] - 1) * k->dilation[a] + 1;
        int64_t end = reach - k->side[2 * a] - k->in[a];
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

static bool write_conv(Tosa *t, Node *n) {
    LayerWindow k = layer_window(n);
    bool depthwise = k.groups == k.in_c && k.groups > 1;
    if (!layer_fits(n) || (k.groups > 1 && !depthwise))
        return false;
    TosaAttributes a = {0};
    for (int i = 0; i < 2; i++) {
        a.stride[i] = (int32_t)k.stride[i];
        a.dilation[i] = (int32_t)k.dilation[i];
    }
    int image = end_exactly(t, tosa_image(t, node_operand(n, 0)), &k, a.pad);
    int in[] = {image, weights_of(t, n, &k, depthwise), bias_of(t, n, k.out_c),
                tosa_number(t, TOSA_INT8, value_zero_point(node_operand(n, 0))),
                tosa_number(t, TOSA_INT8, 0)};
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k.out[0], k.out[1], k.out_c}};
    int sums =
        tosa_add(t, depthwise ? TOSA_DEPTHWISE_CONV2D : TOSA_CONV2D, &a, 5, in, TOSA_INT32, &dims);
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
    int in[] = {image, weights_of(t, n, &k, false), bias_of(t, n, k.out_c),
                tosa_number(t, TOSA_INT8, value_zero_point(node_operand(n, 0))),
                tosa_number(t, TOSA_INT8, 0)};
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k.out[0], k.out[1], k.out_c}};
    int sums = tosa_add(t, TOSA_TRANSPOSE_CONV2D, &a, 5, in, TOSA_INT32, &dims);
    tosa_store(t, n, tosa_image_back(t, n, requantized(t, n, sums, k.out_c)));
    return true;
}

/* Logical dims in the order of memory that n's output has. */
static int in_own_order(Tosa *t, const Node *n, int tensor) {
    const Value *y = n->out[0];
    TosaDims dims = {y->type.rank, {0}};
    int32_t perm[MAX_RANK];
    for (int d = 0; d < y->type.rank; d++) {
        dims.dim[d] = y->type.dim[d];
        perm[d] = y->order[d];
    }
    return tosa_transpose(t, tosa_reshape(t, tensor, &dims), perm);
}

static int in_logical_order(Tosa *t, const Value *v) {
    int8_t logical[MAX_RANK];
    for (int d = 0; d < MAX_RANK; d++)
        logical[d] = (int8_t)d;
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
    int pixels = tosa_reshape(t, in_logical_order(t, x), &(TosaDims){4, {rows, 1, 1, depth}});
    int weights =
        tosa_const(t, TOSA_INT8, &(TosaDims){4, {channels, 1, 1, depth}}, w->constant->data);
    int in[] = {pixels, weights, bias_of(t, n, channels),
                tosa_number(t, TOSA_INT8, value_zero_point(x)), tosa_number(t, TOSA_INT8, 0)};
    int sums =
        tosa_add(t, TOSA_CONV2D, &a, 5, in, TOSA_INT32, &(TosaDims){4, {rows, 1, 1, channels}});
    tosa_store(t, n, in_own_order(t, n, requantized(t, n, sums, channels)));
    return true;
}

/* Batches of both must be the same. */
static bool write_matmul(Tosa *t, Node *n) {
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    int rank = y->type.rank;
    if (!layer_int8(a) || !layer_int8(b) || !layer_int8(y) || a->type.rank != rank ||
        b->type.rank != rank)
        return false;
    int64_t batch = dims_count(rank - 2, y->type.dim);
    if (dims_count(rank - 2, a->type.dim) != batch || dims_count(rank - 2, b->type.dim) != batch)
        return false;
    int64_t rows = a->type.dim[rank - 2], depth = a->type.dim[rank - 1];
    int64_t columns = b->type.dim[rank - 1];
    int in[] = {tosa_reshape(t, in_logical_order(t, a), &(TosaDims){3, {batch, rows, depth}}),
                tosa_reshape(t, in_logical_order(t, b), &(TosaDims){3, {batch, depth, columns}}),
                tosa_number(t, TOSA_INT8, value_zero_point(a)),
                tosa_number(t, TOSA_INT8, value_zero_point(b))};
    int sums =
        tosa_add(t, TOSA_MATMUL, NULL, 4, in, TOSA_INT32, &(TosaDims){3, {batch, rows, columns}});
    double factor = value_scale(a) * value_scale(b) / value_scale(y);
    int out = tosa_rescale_by(t, sums, TOSA_INT8, 0, value_zero_point(y), factor);
    tosa_store(t, n, in_own_order(t, n, out));
    return true;
}

/* ---- pointwise ----------------------------------------------------------------------------- */

/* Operand k in the order and, but for broadcasting, the rank of n's output. */
static int operand(Tosa *t, const Node *n, int k) {
    const Value *v = node_operand(n, k), *y = n->out[0];
    int8_t order[MAX_RANK];
    int count = 0, missing = y->type.rank - v->type.rank;
    for (int i = 0; i < y->type.rank; i++)
        if (y->order[i] >= missing)
            order[count++] = (int8_t)(y->order[i] - missing);
    int tensor = tosa_value_in(t, v, order);
    TosaDims own = tosa_dims(t, tensor), dims = {y->type.rank, {0}};
    for (int i = 0, j = 0; i < y->type.rank; i++)
        dims.dim[i] = y->order[i] >= missing ? own.dim[j++] : 1;
    return tosa_reshape(t, tensor, &dims);
}

static bool operands_fit(const Node *n) {
    return node_operand_count(n) == 2 && layer_int8(node_operand(n, 0)) &&
           layer_int8(node_operand(n, 1)) && layer_int8(n->out[0]);
}

enum { ADD_SHIFT = 20 };

/* On the grid of n's output; a factor that is too large for TOSA or the kernel is held as the
 * kernel holds it. */
static int stored(Tosa *t, const Node *n, int tensor, double factor, int32_t most) {
    int32_t multiplier, shift;
    multiplier_from(factor, &multiplier, &shift);
    shift = shift > most ? most : shift;
    return tosa_rescale(t, tensor, TOSA_INT8, 0, value_zero_point(n->out[0]), 1, &multiplier,
                        &shift);
}

/* (q - zero_point) * 2^20, negated if the factor is, then on the common scale. */
static int addend(Tosa *t, const Node *n, int k, double factor) {
    int wide = tosa_widened(t, operand(t, n, k), value_zero_point(node_operand(n, k)), ADD_SHIFT);
    TosaDims dims = tosa_dims(t, wide);
    if (factor < 0)
        wide = tosa_pair(t, TOSA_SUB, tosa_ranked(t, tosa_number(t, TOSA_INT32, 0), dims.rank),
                         wide, &dims);
    return tosa_rescale_by(t, wide, TOSA_INT32, 0, 0, fabs(factor));
}

/* factor_a * a + factor_b * b */
static bool write_sum(Tosa *t, Node *n, double factor_a, double factor_b) {
    if (!operands_fit(n))
        return false;
    double a = factor_a * value_scale(node_operand(n, 0));
    double b = factor_b * value_scale(node_operand(n, 1));
    double common = 2 * fmax(fabs(a), fabs(b));
    TosaDims dims = tosa_dims_of(n->out[0]);
    int sum =
        tosa_pair(t, TOSA_ADD, addend(t, n, 0, a / common), addend(t, n, 1, b / common), &dims);
    double factor = ldexp(common / value_scale(n->out[0]), -ADD_SHIFT);
    tosa_store(t, n, stored(t, n, sum, factor, 1));
    return true;
}

static bool write_add(Tosa *t, Node *n) {
    return write_sum(t, n, 1, node_double(n, "alpha"));
}

static bool write_sub(Tosa *t, Node *n) {
    return write_sum(t, n, 1, -node_double(n, "alpha"));
}

static bool write_mul(Tosa *t, Node *n) {
    if (!operands_fit(n))
        return false;
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    TosaDims dims = tosa_dims_of(y);
    int in[] = {tosa_widened(t, operand(t, n, 0), value_zero_point(a), 0),
                tosa_widened(t, operand(t, n, 1), value_zero_point(b), 0),
                tosa_number(t, TOSA_INT8, 0)};
    int product = tosa_add(t, TOSA_MUL, NULL, 3, in, TOSA_INT32, &dims);
    double factor = value_scale(a) * value_scale(b) / value_scale(y);
    tosa_store(t, n, stored(t, n, product, factor, 15));
    return true;
}

static bool write_table(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int8_t entry[TABLE_ENTRIES];
    if (!layer_int8(x) || !layer_int8(y) || table_fill(t->c, n, x->grid, y->grid, entry) != 256)
        return false;
    tosa_store(t, n, tosa_lookup(t, operand(t, n, 0), entry));
    return true;
}

/* ---- pools and reductions ------------------------------------------------------------------ */

static bool write_max_pool(Tosa *t, Node *n) {
    LayerWindow k;
    if (!pool_window(n, &k) || k.dilation[0] > 1 || k.dilation[1] > 1 ||
        !grids_equal(node_operand(n, 0), n->out[0]))
        return false;
    TosaAttributes a = {0};
    for (int i = 0; i < 2; i++) {
        a.kernel[i] = (int32_t)k.kernel[i];
        a.stride[i] = (int32_t)k.stride[i];
    }
    int image = end_exactly(t, tosa_image(t, node_operand(n, 0)), &k, a.pad);
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k.out[0], k.out[1], k.out_c}};
    int out = tosa_add(t, TOSA_MAX_POOL2D, &a, 1, &image, TOSA_INT8, &dims);
    tosa_store(t, n, tosa_image_back(t, n, out));
    return true;
}

enum { MEAN_STEPS = 64 };

/* TOSA's own average rounds differently: here sums, in steps of 1/64 so that the first of the two
 * roundings cannot reach the next half, divided half away from zero. Windows of one size only. */
static bool write_avg_pool(Tosa *t, Node *n) {
    LayerWindow k;
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!pool_window(n, &k))
        return false;
    bool padded = k.side[0] || k.side[1] || k.side[2] || k.side[3];
    int64_t taps = k.kernel[0] * k.kernel[1];
    for (int a = 0; a < 2; a++)
        if (padded || (k.out[a] - 1) * k.stride[a] + k.kernel[a] > k.in[a])
            return false;
    int8_t *ones = c_alloc(t->c, (size_t)(taps * k.in_c));
    memset(ones, MEAN_STEPS, (size_t)(taps * k.in_c));
    TosaAttributes a = {.stride = {(int32_t)k.stride[0], (int32_t)k.stride[1]}, .dilation = {1, 1}};
    int image = end_exactly(t, tosa_image(t, x), &k, a.pad);
    bool same = grids_equal(x, y);
    int in[] = {
        image,
        tosa_const(t, TOSA_INT8, &(TosaDims){4, {k.kernel[0], k.kernel[1], k.in_c, 1}}, ones),
        tosa_const(t, TOSA_INT32, &(TosaDims){1, {k.in_c}}, NEW_ARRAY(t->c, int32_t, k.in_c)),
        tosa_number(t, TOSA_INT8, same ? 0 : value_zero_point(x)), tosa_number(t, TOSA_INT8, 0)};
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k.out[0], k.out[1], k.out_c}};
    int sums = tosa_add(t, TOSA_DEPTHWISE_CONV2D, &a, 5, in, TOSA_INT32, &dims);
    double divided = 1.0 / (double)(taps * MEAN_STEPS);
    int mean = same ? tosa_rescale_by(t, sums, TOSA_INT8, 0, 0, divided)
                    : tosa_rescale_by(t, tosa_rescale_by(t, sums, TOSA_INT32, 0, 0, 256 * divided),
                                      TOSA_INT8, 0, value_zero_point(y),
                                      value_scale(x) / value_scale(y) / 256);
    tosa_store(t, n, tosa_image_back(t, n, mean));
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
        TosaAttributes a = {0};
        for (int p = 0; p < x->type.rank; p++)
            if (x->order[p] == wanted)
                a.axis = p;
        if (dims.dim[a.axis] == 1)
            continue;
        dims.dim[a.axis] = 1;
        tensor = tosa_add(t, kind, &a, 1, &tensor, type, &dims);
    }
    return tensor;
}

/* From x's order with ones to the order of n's output. */
static int reduced_back(Tosa *t, const Node *n, int tensor) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int32_t perm[MAX_RANK];
    for (int d = 0; d < x->type.rank; d++)
        for (int p = 0; p < x->type.rank; p++)
            if (x->order[p] == (y->type.rank == x->type.rank ? y->order[d] : d))
                perm[d] = p;
    int logical = tosa_transpose(t, tensor, perm);
    if (y->type.rank == x->type.rank)
        return logical;
    TosaDims dims = {y->type.rank, {0}};
    memcpy(dims.dim, y->type.dim, sizeof dims.dim);
    int32_t order[MAX_RANK];
    for (int d = 0; d < y->type.rank; d++)
        order[d] = y->order[d];
    return tosa_transpose(t, tosa_reshape(t, logical, &dims), order);
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

static bool write_reduce_max(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!layer_int8(x) || !layer_int8(y) || node_bool(n, "minimum") || !grids_equal(x, y))
        return false;
    int most = reduced(t, n, TOSA_REDUCE_MAX, tosa_value(t, x), TOSA_INT8);
    tosa_store(t, n, reduced_back(t, n, most));
    return true;
}

/* ---- the list ------------------------------------------------------------------------------ */

static const struct {
    const char *row;
    bool (*write)(Tosa *t, Node *n);
} writers[] = {
    {"aten::add", write_add},
    {"aten::cat", tosa_cat},
    {"aten::mul", write_mul},
    {"aten::sub", write_sub},
    {"corten::avg_pool2d", write_avg_pool},
    {"corten::conv2d", write_conv},
    {"corten::conv_transpose2d", write_conv_transpose},
    {"corten::linear", write_linear},
    {"corten::matmul", write_matmul},
    {"corten::max_pool2d", write_max_pool},
    {"corten::reduce_max", write_reduce_max},
    {"corten::reduce_sum", write_reduce_sum},
    {"corten::softmax", tosa_softmax},
    {"corten::softmax_scaled", tosa_softmax},
    {"corten::table", write_table},
};

bool tosa_node(Tosa *t, Node *n) {
    for (size_t i = 0; i < COUNT_OF(writers); i++)
        if (node_is(n, writers[i].row))
            return writers[i].write(t, n);
    return (n->op->traits & OP_MOVES_DATA) && tosa_movement(t, n);
}
