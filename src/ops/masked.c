/* Reads and adds at indices that are only meant where a mask is true, as decompositions of paddings
 * and resampling write them. Elsewhere indices may lie outside: they are moved to the border, and
 * what is read there is replaced, what is added is nothing. */
#include "ops/ops.h"

/* The listed indices, each held within its dim. */
static Arg indices_held(C *c, Graph *g, Node *n) {
    const Type *self = &node_in(n, "self")->type;
    Arg list = *node_arg(n, "indices");
    list.u.list.item =
        c_memdup(c, list.u.list.item, (size_t)list.u.list.count * sizeof *list.u.list.item);
    for (int i = 0; i < list.u.list.count && i < self->rank; i++) {
        Arg *a = &list.u.list.item[i];
        if (a->kind == ARG_VALUE)
            *a = arg_value(MAKE("aten::clamp", *a, arg_int(0), arg_int(self->dim[i] - 1)));
    }
    return list;
}

static Value *outside(Graph *g, Node *n) {
    return MAKE("aten::logical_not", arg_value(node_in(n, "mask")));
}

static void masked_index_decompose(C *c, Graph *g, Node *n) {
    Value *y = MAKE("aten::index.Tensor", arg_value(node_in(n, "self")), indices_held(c, g, n));
    value_replace(g, n->out[0],
                  MAKE("aten::masked_fill.Scalar", arg_value(y), arg_value(outside(g, n)),
                       *node_arg(n, "fill")));
}

static void masked_add_decompose(C *c, Graph *g, Node *n) {
    Value *values = MAKE("aten::masked_fill.Scalar", arg_value(node_in(n, "values")),
                         arg_value(outside(g, n)), arg_int(0));
    value_replace(g, n->out[0],
                  MAKE("aten::index_put", arg_value(node_in(n, "self")), indices_held(c, g, n),
                       arg_value(values), arg_bool(true)));
}

/* ---- what is hidden from extrema ------------------------------------------------------------ */

/* Where y's elements are in a, which broadcasts to it. */
static Strided broadcast_picture(const Array *a, const Array *y) {
    Strided s = {.rank = y->rank}, own = strided_dense(a->rank, a->dim);
    for (int d = 0; d < a->rank; d++)
        s.stride[y->rank - a->rank + d] = a->dim[d] == 1 ? 0 : own.stride[d];
    return s;
}

static void hide_shape(C *c, Node *n) {
    shape_broadcast_first(c, n);
}

/* Beyond all of the input by a part of what it spreads. */
static double beyond(const Array *x, bool above) {
    double low = 0, high = 0;
    for (int64_t i = 0; i < array_count(x); i++) {
        double v = array_get(x, i);
        if (isfinite(v)) {
            low = fmin(low, v);
            high = fmax(high, v);
        }
    }
    return above ? high + (high - low) / 64 : low - (high - low) / 64;
}

static void hide_eval(C *c, Node *n) {
    const Array *x = eval_in(c, n, "input"), *mask = eval_in(c, n, "mask");
    Array *y = eval_out(c, n, 0);
    double hidden = beyond(x, node_bool(n, "above"));
    Strided to = strided_dense(y->rank, y->dim);
    Strided of_x = broadcast_picture(x, y), of_mask = broadcast_picture(mask, y);
    for (int64_t i = 0; i < array_count(y); i++) {
        int64_t rest = i, at_x = 0, at_mask = 0;
        for (int d = 0; d < y->rank; d++) {
            int64_t index = rest / to.stride[d];
            rest %= to.stride[d];
            at_x += index * of_x.stride[d];
            at_mask += index * of_mask.stride[d];
        }
        array_set(y, i, array_get(mask, at_mask) != 0 ? hidden : array_get(x, at_x));
    }
}

static const Op rows[] = {
    {.schema = "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar "
               "fill) -> Tensor",
     COMPOSITE(masked_index_decompose)},
    {.schema = "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] "
               "indices, Tensor values) -> Tensor",
     COMPOSITE(masked_add_decompose)},
    /* The input, but just beyond all of it where the mask is true: below, or above. Between passes
     * fills and seen_masks only. */
    {.schema = "corten::hide(Tensor input, Tensor mask, bool above) -> Tensor",
     .shape = hide_shape,
     .eval = hide_eval,
     .quant = {.in = {Q_ACT, Q_RAW}, .out = {Q_ACT}},
     .no_integer_form = "it is filled in when calibration has seen it"},
};

OPS_FAMILY(masked, rows);
