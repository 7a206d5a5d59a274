/* Convolutions as others: transposed ones as plain ones, those over time, batch and channels as
 * ones over batch, channels and time, and those whose weights are not constant but computed by the
 * graph as a product: the windows of the input as columns, times the weights as a matrix. Pass
 * decompose makes such nodes of ATen's. */
#include "ops/convolution.h"

#include <string.h>

/* ---- transposed ----------------------------------------------------------------------------- */

/* The filter reversed along every axis: [out_c][in_c / groups][taps], each block of taps. */
static Value *reversed_weight(C *c, Graph *g, Node *n, Value *w) {
    int64_t axes[AXES] = {2, 3, 4};
    if (!w->constant)
        return MAKE("aten::flip", arg_value(w), arg_ints(c, w->type.rank - 2, axes));
    Array *a = array_new(c, w->constant->dtype, w->type.rank, w->type.dim);
    int64_t taps = dims_count(w->type.rank - 2, w->type.dim + 2);
    int64_t count = array_count(a), size = dtype_size(a->dtype);
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)a->data + i * size,
               (const char *)w->constant->data + (i / taps * taps + taps - 1 - i % taps) * size,
               (size_t)size);
    Value *made = value_constant(g, w->name, a);
    made->type = w->type;
    made->grid = w->grid;
    return made;
}

/* stride - 1 zeros behind every element of one axis. */
static Value *stretched(C *c, Graph *g, Node *n, Value *x, int dim, int64_t stride) {
    int64_t shape[MAX_RANK], pad[2] = {0, stride - 1};
    if (stride == 1)
        return x;
    memcpy(shape, x->type.dim, sizeof shape);
    shape[dim] *= stride;
    int rank = x->type.rank;
    Value *apart = MAKE("aten::unsqueeze", arg_value(x), arg_int(dim + 1));
    int64_t side[2 * MAX_RANK] = {0}; /* from the last dim on */
    side[2 * (rank - dim - 1) + 1] = pad[1];
    Value *padded = MAKE("aten::constant_pad_nd", arg_value(apart),
                         arg_ints(c, 2 * (rank - dim), side), arg_float(0));
    return MAKE("aten::reshape", arg_value(padded), arg_ints(c, rank, shape));
}

Value *transposed_by_stretching(C *c, Graph *g, Node *n, const Conv *v, const char *row, int lists,
                                Value *x, Value *w, Value *bias) {
    int64_t one[AXES] = {1, 1, 1}, side[2 * AXES];
    int first = AXES - lists, absent = AXES - v->spatial;
    for (int a = first; a < AXES; a++) {
        int64_t reach = v->dilation[a] * (v->kernel[a] - 1), stride = v->stride[a];
        if (a >= absent)
            x = stretched(c, g, n, x, a - absent + 2, stride);
        side[2 * (a - first)] = reach - v->before[a];
        side[2 * (a - first) + 1] = reach - v->after[a] - (a >= absent ? stride - 1 : 0);
    }
    return MAKE(row, arg_value(x), arg_value(reversed_weight(c, g, n, w)), arg_value(bias),
                arg_ints(c, lists, one), arg_ints(c, 2 * lists, side),
                arg_ints(c, lists, v->dilation + first), arg_int(v->groups));
}

/* ---- with computed weights ------------------------------------------------------------------ */

/* [N][C][H][W], or with one spatial dim [N][C][L], which is a height of one. */
static Value *with_height(Graph *g, Node *n, Value *v) {
    return v->type.rank == 4 ? v : MAKE("aten::unsqueeze", arg_value(v), arg_int(2));
}

static Value *padded(C *c, Graph *g, Node *n, Value *x) {
    int64_t side[2 * AXES], from_last[2 * AXES];
    int count = node_ints(n, "padding", side, 2 * AXES);
    bool any = false;
    for (int i = 0; i < count; i++) {
        from_last[i] = side[count - 2 - i / 2 * 2 + i % 2];
        any = any || side[i] != 0;
    }
    return any ? MAKE("aten::constant_pad_nd", arg_value(x), arg_ints(c, count, from_last),
                      arg_float(0))
               : x;
}

static int64_t windows_along(const Node *n, const Value *x, const Value *w, int axis) {
    int64_t stride[AXES], dilation[AXES];
    node_ints(n, "stride", stride, AXES);
    node_ints(n, "dilation", dilation, AXES);
    int64_t reach = dilation[axis] * (w->type.dim[2 + axis] - 1);
    return (x->type.dim[2 + axis] - reach - 1) / stride[axis] + 1;
}

/* The last two of a node's lists of two or three ints, which are those of the planes. */
static Arg of_planes(C *c, const Node *n, const char *name) {
    int64_t list[AXES];
    int count = node_ints(n, name, list, AXES);
    return arg_ints(c, 2, list + count - 2);
}

/* x [batch][channels][H][W] as [batch][channels * taps][windows]. */
static Value *columns_of(C *c, Graph *g, Node *n, Value *x, const int64_t *kernel) {
    int64_t zero[2] = {0, 0};
    return MAKE("aten::im2col", arg_value(x), arg_ints(c, 2, kernel), of_planes(c, n, "dilation"),
                arg_ints(c, 2, zero), of_planes(c, n, "stride"));
}

/* [batch][groups][depth][windows], by the weights: [batch][groups][out_c / groups][windows]. */
static Value *weighted(C *c, Graph *g, Node *n, Value *columns, Value *w, int64_t groups) {
    int64_t matrix[4] = {1, groups, w->type.dim[0] / groups, -1};
    w = MAKE("aten::reshape", arg_value(w), arg_ints(c, 4, matrix));
    return MAKE("aten::matmul", arg_value(w), arg_value(columns));
}

static Value *with_bias(C *c, Graph *g, Node *n, Value *y, Value *bias) {
    int64_t channels[5] = {1, -1, 1, 1, 1};
    if (!bias)
        return y;
    bias = MAKE("aten::reshape", arg_value(bias), arg_ints(c, y->type.rank, channels));
    return MAKE("aten::add.Tensor", arg_value(y), arg_value(bias));
}

static void computed_decompose(C *c, Graph *g, Node *n) {
    bool flat = node_in(n, "input")->type.rank == 3;
    Value *x = padded(c, g, n, with_height(g, n, node_in(n, "input")));
    Value *w = with_height(g, n, node_in(n, "weight"));
    int64_t groups = node_int(n, "groups"), batch = x->type.dim[0], out_c = w->type.dim[0];
    int64_t out[4] = {batch, out_c, windows_along(n, x, w, 0), windows_along(n, x, w, 1)};
    int64_t line[3] = {batch, out_c, out[3]}, columns[4] = {batch, groups, -1, out[2] * out[3]};
    Value *y = columns_of(c, g, n, x, w->type.dim + 2);
    y = weighted(c, g, n, MAKE("aten::reshape", arg_value(y), arg_ints(c, 4, columns)), w, groups);
    y = MAKE("aten::reshape", arg_value(y), arg_ints(c, flat ? 3 : 4, flat ? line : out));
    value_replace(g, n->out[0], with_bias(c, g, n, y, node_in(n, "bias")));
}

/* A solid's windows by the planes that they begin in, each plane a sample of its own: the columns
 * of each of their planes one behind the other. */
static void computed3d_decompose(C *c, Graph *g, Node *n) {
    Value *x = padded(c, g, n, node_in(n, "input")), *w = node_in(n, "weight");
    int64_t groups = node_int(n, "groups"), batch = x->type.dim[0], stride[AXES], dilation[AXES];
    int64_t depth = windows_along(n, x, w, 0), kernel = w->type.dim[2];
    int64_t out[5] = {batch, depth, w->type.dim[0], windows_along(n, x, w, 1),
                      windows_along(n, x, w, 2)};
    int64_t planes[4] = {batch * depth, x->type.dim[1], x->type.dim[3], x->type.dim[4]};
    int64_t taps = w->type.dim[3] * w->type.dim[4], windows = out[3] * out[4];
    int64_t apart[6] = {planes[0], groups, w->type.dim[1], 1, taps, windows};
    int64_t columns[4] = {planes[0], groups, w->type.dim[1] * kernel * taps, windows};
    node_ints(n, "stride", stride, AXES);
    node_ints(n, "dilation", dilation, AXES);
    Value **part = NEW_ARRAY(c, Value *, kernel);
    for (int64_t k = 0; k < kernel; k++) {
        int64_t start = k * dilation[0], stop = start + (depth - 1) * stride[0] + 1;
        Value *y = MAKE("aten::slice.Tensor", arg_value(x), arg_int(2), arg_int(start),
                        arg_int(stop), arg_int(stride[0]));
        y = MAKE("aten::transpose.int", arg_value(y), arg_int(1), arg_int(2));
        y = MAKE("aten::reshape", arg_value(y), arg_ints(c, 4, planes));
        y = columns_of(c, g, n, y, w->type.dim + 3);
        part[k] = MAKE("aten::reshape", arg_value(y), arg_ints(c, 6, apart));
    }
    Value *y = MAKE("aten::cat", arg_values(c, (int)kernel, part), arg_int(3));
    y = weighted(c, g, n, MAKE("aten::reshape", arg_value(y), arg_ints(c, 4, columns)), w, groups);
    y = MAKE("aten::reshape", arg_value(y), arg_ints(c, 5, out));
    y = MAKE("aten::transpose.int", arg_value(y), arg_int(1), arg_int(2));
    value_replace(g, n->out[0], with_bias(c, g, n, y, node_in(n, "bias")));
}

/* ---- over time, batch and channels ---------------------------------------------------------- */

/* [taps][in_c][out_c] as [out_c][in_c][taps]. */
static Value *time_weight(C *c, Graph *g, Node *n, Value *w) {
    int64_t turned[3] = {2, 1, 0};
    const int64_t *d = w->type.dim, dim[3] = {d[2], d[1], d[0]};
    if (!w->constant || w->grid)
        return MAKE("aten::permute", arg_value(w), arg_ints(c, 3, turned));
    Strided picture = {
        .rank = 3, .dim = {dim[0], dim[1], dim[2]}, .stride = {1, d[2], d[1] * d[2]}};
    Array *a = array_new(c, w->constant->dtype, 3, dim);
    eval_strided(a, w->constant, &picture);
    return value_constant(g, w->name, a);
}

static void time_batch_channels_decompose(C *c, Graph *g, Node *n) {
    int64_t inwards[3] = {1, 2, 0}, outwards[3] = {2, 0, 1}, one = 1, pad = node_int(n, "pad");
    Value *x = node_in(n, "self"), *w = node_in(n, "weight");
    if (x->type.rank != 3 || w->type.rank != 3) {
        diag_error(c, DIAG_MODEL, &n->loc, "conv_tbc of input %s with weight %s: both need rank 3",
                   shape_text(c, x->type.rank, x->type.dim),
                   shape_text(c, w->type.rank, w->type.dim));
        return;
    }
    x = MAKE("aten::permute", arg_value(x), arg_ints(c, 3, inwards));
    Value *y = MAKE("aten::conv1d", arg_value(x), arg_value(time_weight(c, g, n, w)),
                    arg_value(node_in(n, "bias")), arg_ints(c, 1, &one), arg_ints(c, 1, &pad));
    value_replace(g, n->out[0], MAKE("aten::permute", arg_value(y), arg_ints(c, 3, outwards)));
}

static const Op rows[] = {
    {.schema = "aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
     COMPOSITE(time_batch_channels_decompose)},
    {.schema = "corten::computed_conv2d(Tensor input, Tensor weight, Tensor? bias, int[2] stride, "
               "int[4] padding, int[2] dilation, int groups) -> Tensor",
     COMPOSITE(computed_decompose)},
    {.schema = "corten::computed_conv3d(Tensor input, Tensor weight, Tensor? bias, int[3] stride, "
               "int[6] padding, int[3] dilation, int groups) -> Tensor",
     COMPOSITE(computed3d_decompose)},
};

OPS_FAMILY(computed, rows);
