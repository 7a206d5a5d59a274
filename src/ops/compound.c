/* Composites of pointwise operators, slices and reductions: gated units, differences along a
 * dimension, distances and losses. Each row is only its decomposition; shape and float values
 * follow from it. */
#include "ops/ops.h"

static Value *unary(Graph *g, Node *n, const char *op, Value *x) {
    return node_value(g, n, op, ARGS(arg_value(x)));
}

static Value *binary(Graph *g, Node *n, const char *op, Value *a, Value *b) {
    return node_value(g, n, op, ARGS(arg_value(a), arg_value(b)));
}

static Value *slice(Graph *g, Node *n, Value *x, int dim, int64_t start, int64_t end) {
    return node_value(g, n, "aten::slice.Tensor",
                      ARGS(arg_value(x), arg_int(dim), arg_int(start), arg_int(end)));
}

/* The first half times the sigmoid of the second. */
static void decompose_glu(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int dim = dim_wrap(c, n, node_int(n, "dim"), x->type.rank);
    int64_t size = x->type.rank > 0 ? x->type.dim[dim] : 1;
    if (size % 2 != 0) {
        diag_error(c, DIAG_MODEL, &n->loc, "glu of a dimension of size %lld, which is odd",
                   (long long)size);
        return;
    }
    Value *gate = unary(g, n, "aten::sigmoid", slice(g, n, x, dim, size / 2, size));
    value_replace(g, n->out[0],
                  binary(g, n, "aten::mul.Tensor", slice(g, n, x, dim, 0, size / 2), gate));
}

static Value *joined(C *c, Graph *g, Node *n, Value *x, int dim) {
    Value *part[3];
    int count = 0;
    if (node_has(n, "prepend"))
        part[count++] = node_in(n, "prepend");
    part[count++] = x;
    if (node_has(n, "append"))
        part[count++] = node_in(n, "append");
    if (count == 1)
        return x;
    return node_value(g, n, "aten::cat", ARGS(arg_values(c, count, part), arg_int(dim)));
}

static void decompose_diff(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int dim = dim_wrap(c, n, node_int(n, "dim"), x->type.rank);
    x = joined(c, g, n, x, dim);
    for (int64_t k = node_int(n, "n"); k > 0 && x->type.dim[dim] > 0; k--) {
        int64_t size = x->type.dim[dim];
        const char *op = x->type.dtype == DT_BOOL ? "aten::logical_xor" : "aten::sub.Tensor";
        x = binary(g, n, op, slice(g, n, x, dim, 1, size), slice(g, n, x, dim, 0, size - 1));
    }
    value_replace(g, n->out[0], x);
}

/* ---- losses -------------------------------------------------------------------------------- */

/* 0: none, 1: mean, 2: sum, as torch numbers them */
static void replace_reduced(Graph *g, Node *n, Value *x) {
    int64_t reduction = node_int(n, "reduction");
    if (reduction != 0)
        x = unary(g, n, reduction == 1 ? "aten::mean" : "aten::sum", x);
    value_replace(g, n->out[0], x);
}

static Value *difference(Graph *g, Node *n) {
    return binary(g, n, "aten::sub.Tensor", node_in(n, "self"), node_in(n, "target"));
}

static void decompose_mse_loss(C *c, Graph *g, Node *n) {
    (void)c;
    replace_reduced(g, n, unary(g, n, "aten::square", difference(g, n)));
}

static void decompose_l1_loss(C *c, Graph *g, Node *n) {
    (void)c;
    replace_reduced(g, n, unary(g, n, "aten::abs", difference(g, n)));
}

/* With d the difference and m = min(|d|, knee): factor * m * (|d| - m / 2), which is d^2 / 2 up to
 * the knee and a line beyond. */
static Value *rounded_corner(Graph *g, Node *n, double knee, double factor) {
    Value *d = unary(g, n, "aten::abs", difference(g, n));
    Value *m = node_value(g, n, "aten::clamp_max", ARGS(arg_value(d), arg_float(knee)));
    Value *rest =
        node_value(g, n, "aten::sub.Tensor", ARGS(arg_value(d), arg_value(m), arg_float(0.5)));
    Value *y = binary(g, n, "aten::mul.Tensor", m, rest);
    return node_value(g, n, "aten::mul.Scalar", ARGS(arg_value(y), arg_float(factor)));
}

static void decompose_smooth_l1_loss(C *c, Graph *g, Node *n) {
    double beta = node_double(n, "beta");
    if (beta == 0)
        decompose_l1_loss(c, g, n);
    else
        replace_reduced(g, n, rounded_corner(g, n, beta, 1 / beta));
}

static void decompose_huber_loss(C *c, Graph *g, Node *n) {
    (void)c;
    replace_reduced(g, n, rounded_corner(g, n, node_double(n, "delta"), 1));
}

/* ---- similarity ----------------------------------------------------------------------------- */

static Value *sum_along(C *c, Graph *g, Node *n, Value *x, int64_t dim) {
    return node_value(g, n, "aten::sum.dim_IntList", ARGS(arg_value(x), arg_ints(c, 1, &dim)));
}

static Value *length_along(C *c, Graph *g, Node *n, Value *x, int64_t dim) {
    Value *length =
        unary(g, n, "aten::sqrt", sum_along(c, g, n, unary(g, n, "aten::square", x), dim));
    return node_value(g, n, "aten::clamp_min", ARGS(arg_value(length), *node_arg(n, "eps")));
}

static void decompose_cosine_similarity(C *c, Graph *g, Node *n) {
    Value *a = node_in(n, "x1"), *b = node_in(n, "x2");
    int64_t dim = node_int(n, "dim");
    Value *dot = sum_along(c, g, n, binary(g, n, "aten::mul.Tensor", a, b), dim);
    Value *lengths = binary(g, n, "aten::mul.Tensor", length_along(c, g, n, a, dim),
                            length_along(c, g, n, b, dim));
    value_replace(g, n->out[0], binary(g, n, "aten::div.Tensor", dot, lengths));
}

static const Op rows[] = {
    {.schema = "aten::glu(Tensor self, int dim=-1) -> Tensor", COMPOSITE(decompose_glu)},
    {.schema = "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? "
               "append=None) -> Tensor",
     COMPOSITE(decompose_diff)},
    {.schema = "aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     COMPOSITE(decompose_mse_loss)},
    {.schema = "aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     COMPOSITE(decompose_l1_loss)},
    {.schema = "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) "
               "-> Tensor",
     COMPOSITE(decompose_smooth_l1_loss)},
    {.schema = "aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> "
               "Tensor",
     COMPOSITE(decompose_huber_loss)},
    {.schema = "aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> "
               "Tensor",
     COMPOSITE(decompose_cosine_similarity)},
};

OPS_FAMILY(compound, rows);
