/* Diagonals made and read, blocks on a diagonal, products of sets: all of them views, joins and
 * strided writes of other rows. */
#include "ops/ops.h"

/* Zeros of this shape. */
static Value *zeros(C *c, Graph *g, Node *n, DType dtype, int rank, const int64_t *dim) {
    return MAKE("aten::full", arg_ints(c, rank, dim), arg_int(0), arg_dtype(dtype));
}

static Value *written(C *c, Graph *g, Node *n, Value *into, Value *src, const Strided *at) {
    return MAKE("corten::strided_scatter", arg_value(into), arg_value(src),
                arg_ints(c, at->rank, at->dim), arg_ints(c, at->rank, at->stride),
                arg_int(at->offset));
}

/* x's last dim on the diagonal of two new dims a and b, `offset` above it. */
static Value *embedded(C *c, Graph *g, Node *n, Value *x, int64_t offset, int a, int b) {
    const Type t = x->type;
    Type out = {.dtype = t.dtype, .rank = t.rank + 1};
    int64_t size = t.dim[t.rank - 1] + (offset < 0 ? -offset : offset);
    for (int d = 0, k = 0; d < out.rank; d++)
        out.dim[d] = d == a || d == b ? size : t.dim[k++];
    Strided whole = strided_dense(out.rank, out.dim), at = {.rank = t.rank};
    for (int d = 0, k = 0; d < out.rank; d++)
        if (d != a && d != b)
            at.stride[k++] = whole.stride[d];
    at.stride[t.rank - 1] = whole.stride[a] + whole.stride[b];
    at.offset = offset < 0 ? -offset * whole.stride[a] : offset * whole.stride[b];
    for (int d = 0; d < t.rank; d++)
        at.dim[d] = t.dim[d];
    return written(c, g, n, zeros(c, g, n, t.dtype, out.rank, out.dim), x, &at);
}

static bool offset_is_small(C *c, const Node *n, int64_t offset) {
    return (offset > -32768 && offset < 32768) ||
           movement_refuse(c, n, "offset %lld", (long long)offset);
}

static void diag_embed_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int rank = x->type.rank;
    int64_t offset = node_int(n, "offset");
    if (rank < 1 || rank + 1 > MAX_RANK) {
        movement_refuse(c, n, "a tensor of rank %d", rank);
        return;
    }
    int a = dim_wrap(c, n, node_int(n, "dim1"), rank + 1);
    int b = dim_wrap(c, n, node_int(n, "dim2"), rank + 1);
    if (a == b)
        movement_refuse(c, n, "dim1 and dim2 are the same");
    else if (offset_is_small(c, n, offset))
        value_replace(g, n->out[0], embedded(c, g, n, x, offset, a, b));
}

/* A vector onto the diagonal of a matrix, or the diagonal of a matrix. */
static void diag_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int64_t offset = node_int(n, "diagonal");
    if (x->type.rank == 1 && offset_is_small(c, n, offset))
        value_replace(g, n->out[0], embedded(c, g, n, x, offset, 0, 1));
    else if (x->type.rank == 2)
        value_replace(g, n->out[0], MAKE("aten::diagonal", arg_value(x), arg_int(offset)));
    else
        movement_refuse(c, n, "a tensor of rank %d", x->type.rank);
}

static void trace_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    if (x->type.rank != 2) {
        movement_refuse(c, n, "a tensor of rank %d", x->type.rank);
        return;
    }
    x = MAKE("aten::diagonal", arg_value(x));
    value_replace(g, n->out[0], MAKE("aten::sum", arg_value(x)));
}

enum { MOST_BLOCKS = 256 };

/* Matrices along the diagonal of a larger one; vectors are rows. */
static void block_diag_decompose(C *c, Graph *g, Node *n) {
    Value *part[MOST_BLOCKS];
    int count = node_values(n, "tensors", part, MOST_BLOCKS);
    int64_t size[2] = {0, 0}, row = 0, column = 0;
    if (count < 1 || count > MOST_BLOCKS) {
        movement_refuse(c, n, "%d tensors, 1 to %d needed", count, MOST_BLOCKS);
        return;
    }
    for (int i = 0; i < count; i++) {
        part[i] = MAKE("aten::atleast_2d", arg_value(part[i]));
        size[0] += part[i]->type.dim[0];
        size[1] += part[i]->type.dim[1];
    }
    Value *out = zeros(c, g, n, part[0]->type.dtype, 2, size);
    for (int i = 0; i < count; i++) {
        const Type *t = &part[i]->type;
        Strided at = {.rank = 2,
                      .dim = {t->dim[0], t->dim[1]},
                      .stride = {size[1], 1},
                      .offset = row * size[1] + column};
        row += t->dim[0];
        column += t->dim[1];
        if (type_count(t) > 0)
            out = written(c, g, n, out, part[i], &at);
    }
    value_replace(g, n->out[0], out);
}

/* All pairs (triples ...) as rows: a mesh, flattened. One vector stays as it is. */
static void cartesian_prod_decompose(C *c, Graph *g, Node *n) {
    Value *part[MAX_RANK];
    int count = node_values(n, "tensors", part, MAX_RANK);
    if (count < 1 || count >= MAX_RANK) {
        movement_refuse(c, n, "%d tensors, 1 to %d needed", count, MAX_RANK - 1);
        return;
    }
    if (count == 1) {
        value_replace(g, n->out[0], MAKE("aten::alias", arg_value(part[0])));
        return;
    }
    Node *mesh = node_new(g, n, "aten::meshgrid", ARGS(arg_values(c, count, part)));
    int64_t column[2] = {-1, 1};
    for (int i = 0; i < count; i++)
        part[i] = MAKE("aten::reshape", arg_value(mesh->out[i]), arg_ints(c, 2, column));
    value_replace(g, n->out[0], MAKE("aten::cat", arg_values(c, count, part), arg_int(1)));
}

/* 1 where a class is the element's: its number compared with 0..classes-1. */
static void one_hot_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int64_t classes = node_int(n, "num_classes");
    if (classes < 1 || classes > INT32_MAX) {
        movement_refuse(c, n, "num_classes %lld: the size of its output depends on data",
                        (long long)classes);
        return;
    }
    Array *number = array_new(c, x->type.dtype, 1, &classes);
    for (int64_t i = 0; i < classes; i++)
        array_set_int(number, i, i);
    x = MAKE("aten::unsqueeze", arg_value(x), arg_int(-1));
    x = MAKE("aten::eq.Tensor", arg_value(x), arg_value(value_constant(g, "classes", number)));
    value_replace(g, n->out[0], MAKE("aten::_to_copy", arg_value(x), arg_dtype(DT_I64)));
}

static const Op rows[] = {
    {.schema = "aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
     COMPOSITE(diag_embed_decompose)},
    {.schema = "aten::diag(Tensor self, int diagonal=0) -> Tensor", COMPOSITE(diag_decompose)},
    {.schema = "aten::trace(Tensor self) -> Tensor", COMPOSITE(trace_decompose)},
    {.schema = "aten::block_diag(Tensor[] tensors) -> Tensor", COMPOSITE(block_diag_decompose)},
    {.schema = "aten::cartesian_prod(Tensor[] tensors) -> Tensor",
     COMPOSITE(cartesian_prod_decompose)},
    {.schema = "aten::one_hot(Tensor self, int num_classes=-1) -> Tensor",
     COMPOSITE(one_hot_decompose)},
};

OPS_FAMILY(diagonal, rows);
