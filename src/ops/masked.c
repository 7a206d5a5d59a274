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

static const Op rows[] = {
    {.schema = "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar "
               "fill) -> Tensor",
     COMPOSITE(masked_index_decompose)},
    {.schema = "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] "
               "indices, Tensor values) -> Tensor",
     COMPOSITE(masked_add_decompose)},
};

OPS_FAMILY(masked, rows);
