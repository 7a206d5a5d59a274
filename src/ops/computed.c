/* Convolutions as others: transposed ones as plain ones, and those whose weights are not constant
 * but computed by the graph as a product: the windows of the input as columns, times the weights as
 * a matrix. Pass decompose makes such nodes of ATen's. */
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
    return MAKE(row, arg_value(x), arg_value(reversed_weight(c, g, n, w)),
                bias ? arg_value(bias) : arg_none(), arg_ints(c, lists, one),
                arg_ints(c, 2 * lists, side), arg_ints(c, lists, v->dilation + first),
                arg_int(v->groups));
}

/* ---- with computed weights ------------------------------------------------------------------ */

/* [N][C][H][W], or with one spatial dim [N][C][L], which is a height of one. */
static Value *with_height(Graph *g, Node *n, Value *v) {
    return v->type.rank == 4 ? v : MAKE("aten::unsqueeze", arg_value(v), arg_int(2));
}

static Value *padded(C *c, Graph *g, Node *n, Value *x) {
    int64_t side[4];
    node_ints(n, "padding", side, 4);
    if (side[0] == 0 && side[1] == 0 && side[2] == 0 && side[3] == 0)
        return x;
    int64_t from_last[4] = {side[2], side[3], side[0], side[1]};
    return MAKE("aten::constant_pad_nd", arg_value(x), arg_ints(c, 4, from_last), arg_float(0));
}

static int64_t windows_along(const Node *n, const Value *x, const Value *w, int axis) {
    int64_t stride[2], dilation[2];
    node_ints(n, "stride", stride, 2);
    node_ints(n, "dilation", dilation, 2);
    int64_t reach = dilation[axis] * (w->type.dim[2 + axis] - 1);
    return (x->type.dim[2 + axis] - reach - 1) / stride[axis] + 1;
}

static void computed_decompose(C *c, Graph *g, Node *n) {
    bool flat = node_in(n, "input")->type.rank == 3;
    Value *x = padded(c, g, n, with_height(g, n, node_in(n, "input")));
    Value *w = with_height(g, n, node_in(n, "weight")), *bias = node_in(n, "bias");
    int64_t groups = node_int(n, "groups"), batch = x->type.dim[0], out_c = w->type.dim[0];
    int64_t depth = w->type.dim[1] * w->type.dim[2] * w->type.dim[3], zero[2] = {0, 0};
    int64_t out[4] = {batch, out_c, windows_along(n, x, w, 0), windows_along(n, x, w, 1)};
    int64_t columns[4] = {batch, groups, depth, out[2] * out[3]};
    int64_t matrix[4] = {1, groups, out_c / groups, depth};
    Value *taken = MAKE("aten::im2col", arg_value(x), arg_ints(c, 2, w->type.dim + 2),
                        *node_arg(n, "dilation"), arg_ints(c, 2, zero), *node_arg(n, "stride"));
    taken = MAKE("aten::reshape", arg_value(taken), arg_ints(c, 4, columns));
    w = MAKE("aten::reshape", arg_value(w), arg_ints(c, 4, matrix));
    Value *y = MAKE("aten::matmul", arg_value(w), arg_value(taken));
    int64_t line[3] = {batch, out_c, out[3]};
    y = flat ? MAKE("aten::reshape", arg_value(y), arg_ints(c, 3, line))
             : MAKE("aten::reshape", arg_value(y), arg_ints(c, 4, out));
    if (bias) {
        int64_t channels[4] = {1, out_c, 1, 1};
        bias = MAKE("aten::reshape", arg_value(bias), arg_ints(c, flat ? 3 : 4, channels));
        y = MAKE("aten::add.Tensor", arg_value(y), arg_value(bias));
    }
    value_replace(g, n->out[0], y);
}

static const Op rows[] = {
    {.schema = "corten::computed_conv2d(Tensor input, Tensor weight, Tensor? bias, int[2] stride, "
               "int[4] padding, int[2] dilation, int groups) -> Tensor",
     COMPOSITE(computed_decompose)},
};

OPS_FAMILY(computed, rows);
