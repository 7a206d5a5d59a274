/* Distances and norms, built of other rows. */
#include "ops/ops.h"

#include <string.h>

static bool both_float(C *c, const Node *n) {
    return (dtype_is_float(node_operand(n, 0)->type.dtype) &&
            dtype_is_float(node_operand(n, 1)->type.dtype)) ||
           movement_refuse(c, n, "needs float tensors");
}

static Value *norm_over(C *c, Graph *g, Node *n, Value *x, double p, int64_t dim, bool keepdim) {
    return MAKE("aten::linalg_vector_norm", arg_value(x), arg_float(p), arg_ints(c, 1, &dim),
                arg_bool(keepdim));
}

/* [..., P, M] and [..., R, M]: the norms of all differences, [..., P, R] */
static void cdist_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 0), *b = node_operand(n, 1);
    int rank = a->type.rank > b->type.rank ? a->type.rank : b->type.rank;
    if (!both_float(c, n))
        return;
    if (a->type.rank < 2 || b->type.rank < 2 || rank + 1 > MAX_RANK) {
        movement_refuse(c, n, "needs tensors of rank 2 to 7");
        return;
    }
    a = MAKE("aten::unsqueeze", arg_value(a), arg_int(-2));
    b = MAKE("aten::unsqueeze", arg_value(b), arg_int(-3));
    Value *away = MAKE("aten::sub.Tensor", arg_value(a), arg_value(b));
    value_replace(g, n->out[0], norm_over(c, g, n, away, node_double(n, "p"), -1, false));
}

enum { MOST_ROWS = 4096 };

/* The norms of the differences of all pairs of rows: [0] - [1], [0] - [2] ... */
static void pdist_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_operand(n, 0);
    if (x->type.rank != 2 || !dtype_is_float(x->type.dtype)) {
        movement_refuse(c, n, "needs a float matrix");
        return;
    }
    int64_t rows = x->type.dim[0], count = rows * (rows - 1) / 2, k = 0;
    if (rows > MOST_ROWS) {
        movement_refuse(c, n, "more than %d rows", MOST_ROWS);
        return;
    }
    Array *first = array_new(c, DT_I64, 1, &count), *second = array_new(c, DT_I64, 1, &count);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i + 1; j < rows; j++, k++) {
            array_set_int(first, k, i);
            array_set_int(second, k, j);
        }
    Value *a = MAKE("aten::index_select", arg_value(x), arg_int(0),
                    arg_value(value_constant(g, "first", first)));
    Value *b = MAKE("aten::index_select", arg_value(x), arg_int(0),
                    arg_value(value_constant(g, "second", second)));
    Value *away = MAKE("aten::sub.Tensor", arg_value(a), arg_value(b));
    value_replace(g, n->out[0], norm_over(c, g, n, away, node_double(n, "p"), 1, false));
}

static void pairwise_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 0), *b = node_operand(n, 1);
    if (!both_float(c, n))
        return;
    Value *away = MAKE("aten::sub.Tensor", arg_value(a), arg_value(b));
    away = MAKE("aten::add.Tensor", arg_value(away), arg_float(node_double(n, "eps")));
    value_replace(g, n->out[0],
                  norm_over(c, g, n, away, node_double(n, "p"), -1, node_bool(n, "keepdim")));
}

static void dist_decompose(C *c, Graph *g, Node *n) {
    if (!both_float(c, n))
        return;
    Value *away =
        MAKE("aten::sub.Tensor", arg_value(node_operand(n, 0)), arg_value(node_operand(n, 1)));
    value_replace(
        g, n->out[0],
        MAKE("aten::linalg_vector_norm", arg_value(away), arg_float(node_double(n, "p"))));
}

static Value *dot_over(C *c, Graph *g, Node *n, Value *a, Value *b, int64_t dim) {
    Value *product = MAKE("aten::mul.Tensor", arg_value(a), arg_value(b));
    return MAKE("aten::sum.dim_IntList", arg_value(product), arg_ints(c, 1, &dim));
}

static void vecdot_decompose(C *c, Graph *g, Node *n) {
    if (both_float(c, n))
        value_replace(
            g, n->out[0],
            dot_over(c, g, n, node_operand(n, 0), node_operand(n, 1), node_int(n, "dim")));
}

static void frobenius_decompose(C *c, Graph *g, Node *n) {
    (void)c;
    value_replace(g, n->out[0],
                  MAKE("aten::linalg_vector_norm", arg_value(node_operand(n, 0)), arg_float(2),
                       *node_arg(n, "dim"), arg_bool(node_bool(n, "keepdim"))));
}

/* v * g / |v|, the norm over all dims but one. */
static void weight_norm_decompose(C *c, Graph *g, Node *n) {
    Value *v = node_operand(n, 0);
    int64_t dim[MAX_RANK];
    int count = 0, kept = v->type.rank ? dim_wrap(c, n, node_int(n, "dim"), v->type.rank) : 0;
    for (int k = 0; k < v->type.rank; k++)
        if (k != kept)
            dim[count++] = k;
    Value *size = MAKE("aten::linalg_vector_norm", arg_value(v), arg_float(2),
                       arg_ints(c, count, dim), arg_bool(true));
    Value *ratio = MAKE("aten::div.Tensor", arg_value(node_operand(n, 1)), arg_value(size));
    value_replace(g, n->out[0], MAKE("aten::mul.Tensor", arg_value(v), arg_value(ratio)));
}

static const Op rows[] = {
    {.schema = "aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
     COMPOSITE(cdist_decompose)},
    {.schema = "aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
     COMPOSITE(cdist_decompose)},
    {.schema = "aten::pdist(Tensor self, float p=2.) -> Tensor", COMPOSITE(pdist_decompose)},
    {.schema = "aten::_pdist_forward(Tensor self, float p=2.) -> Tensor",
     COMPOSITE(pdist_decompose)},
    {.schema = "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float "
               "eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor",
     COMPOSITE(pairwise_decompose)},
    {.schema = "aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
     COMPOSITE(dist_decompose)},
    {.schema = "aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
     COMPOSITE(vecdot_decompose)},
    {.schema = "aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
     COMPOSITE(frobenius_decompose)},
    {.schema = "aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
     COMPOSITE(weight_norm_decompose)},
};

OPS_FAMILY(distance, rows);
