/* Max unpooling: zeros, with each element at the place that a max pool has given for it. */
#include "ops/ops.h"

static void unpool_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self"), *places = node_in(n, "indices");
    int64_t size[3], whole[MAX_RANK], zeros[MAX_RANK], flat[MAX_RANK], count = 1;
    int spatial = node_ints(n, "output_size", size, 3), rank = x->type.rank;
    int outer = rank - spatial; /* channels, and perhaps a batch */
    if (outer < 1 || outer > 2 || !dtype_is_float(x->type.dtype) ||
        type_count(&x->type) != type_count(&places->type)) {
        movement_refuse(c, n, "input %s with indices %s", shape_text(c, rank, x->type.dim),
                        shape_text(c, places->type.rank, places->type.dim));
        return;
    }
    for (int i = 0; i < spatial; i++) {
        if (size[i] < 1 || size[i] > INT32_MAX / count) {
            movement_refuse(c, n, "output_size %s", shape_text(c, spatial, size));
            return;
        }
        count *= size[i];
        whole[outer + i] = size[i];
    }
    for (int d = 0; d < outer; d++)
        whole[d] = zeros[d] = flat[d] = x->type.dim[d];
    zeros[outer] = count;
    flat[outer] = -1;
    Value *y = MAKE(
        "aten::scatter.src",
        arg_value(MAKE("aten::full", arg_ints(c, outer + 1, zeros), arg_float(0))), arg_int(outer),
        arg_value(MAKE("aten::reshape", arg_value(places), arg_ints(c, outer + 1, flat))),
        arg_value(MAKE("aten::reshape", arg_value(x), arg_ints(c, outer + 1, flat))));
    value_replace(g, n->out[0], MAKE("aten::reshape", arg_value(y), arg_ints(c, rank, whole)));
}

static const Op rows[] = {
    {.schema = "aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
     COMPOSITE(unpool_decompose)},
    {.schema = "aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] "
               "stride, int[3] padding) -> Tensor",
     COMPOSITE(unpool_decompose)},
};

OPS_FAMILY(unpool, rows);
