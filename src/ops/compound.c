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
    if (node_int(n, "n") > 0) /* else what is given beside it does not count */
        x = joined(c, g, n, x, dim);
    for (int64_t k = node_int(n, "n"); k > 0 && x->type.dim[dim] > 0; k--) {
        int64_t size = x->type.dim[dim];
        const char *op = x->type.dtype == DT_BOOL ? "aten::logical_xor" : "aten::sub.Tensor";
        x = binary(g, n, op, slice(g, n, x, dim, 1, size), slice(g, n, x, dim, 0, size - 1));
    }
    value_replace(g, n->out[0], x);
}

/* ---- products ------------------------------------------------------------------------------ */

static void decompose_add_relu(C *c, Graph *g, Node *n) {
    (void)c;
    Arg sum[] = {*node_arg(n, "self"), *node_arg(n, "other"), *node_arg(n, "alpha")};
    bool number = !node_in(n, "other");
    Value *v = node_value(g, n, number ? "aten::add.Scalar" : "aten::add.Tensor", 3, sum);
    value_replace(g, n->out[0], unary(g, n, "aten::relu", v));
}

/* The first dim of size 3, where none is given. */
static int cross_dim(C *c, const Node *n, const Type *t) {
    const Arg *a = node_arg(n, "dim");
    if (a->kind == ARG_INT)
        return dim_wrap(c, n, a->u.i, t->rank);
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] == 3)
            return d;
    return -1;
}

/* a[1] * b[2] - a[2] * b[1] and so on: both turned by one and two. */
static void decompose_cross(C *c, Graph *g, Node *n) {
    Value *a = node_in(n, "self"), *b = node_in(n, "other"), *turned[2][2];
    int dim = cross_dim(c, n, &a->type);
    if (dim < 0 || a->type.dim[dim] != 3 || b->type.rank != a->type.rank) {
        diag_error(c, DIAG_MODEL, &n->loc, "cross of %s: dim needs size 3",
                   shape_text(c, a->type.rank, a->type.dim));
        return;
    }
    for (int64_t k = 0, along = dim; k < 2; k++) {
        int64_t shift = -1 - k;
        turned[k][0] =
            MAKE("aten::roll", arg_value(a), arg_ints(c, 1, &shift), arg_ints(c, 1, &along));
        turned[k][1] =
            MAKE("aten::roll", arg_value(b), arg_ints(c, 1, &shift), arg_ints(c, 1, &along));
    }
    value_replace(g, n->out[0],
                  binary(g, n, "aten::sub.Tensor",
                         binary(g, n, "aten::mul.Tensor", turned[0][0], turned[1][1]),
                         binary(g, n, "aten::mul.Tensor", turned[1][0], turned[0][1])));
}

/* Each dim of a and, inside of it, that of b; the shorter one gets dims of size 1 in front. */
static void decompose_kron(C *c, Graph *g, Node *n) {
    Value *part[2] = {node_in(n, "self"), node_in(n, "other")};
    int rank = part[0]->type.rank > part[1]->type.rank ? part[0]->type.rank : part[1]->type.rank;
    int64_t whole[MAX_RANK];
    if (2 * rank > MAX_RANK) {
        diag_error(c, DIAG_MODEL, &n->loc, "kron of rank %d, at most %d", rank, MAX_RANK / 2);
        return;
    }
    for (int k = 0; k < 2; k++) {
        const Type *t = &part[k]->type;
        int64_t apart[MAX_RANK];
        for (int d = 0; d < rank; d++) {
            int64_t size = d < rank - t->rank ? 1 : t->dim[d - (rank - t->rank)];
            apart[2 * d + k] = size;
            apart[2 * d + 1 - k] = 1;
            whole[d] = k == 0 ? size : whole[d] * size;
        }
        part[k] = MAKE("aten::reshape", arg_value(part[k]), arg_ints(c, 2 * rank, apart));
    }
    Value *product = binary(g, n, "aten::mul.Tensor", part[0], part[1]);
    value_replace(g, n->out[0],
                  MAKE("aten::reshape", arg_value(product), arg_ints(c, rank, whole)));
}

static void decompose_vander(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "x");
    int64_t count = node_has(n, "N") ? node_int(n, "N") : type_count(&x->type);
    Array *power = array_new(c, DT_I64, 1, &count);
    for (int64_t i = 0; i < count; i++)
        array_set_int(power, i, node_bool(n, "increasing") ? i : count - 1 - i);
    x = MAKE("aten::unsqueeze", arg_value(x), arg_int(-1));
    value_replace(g, n->out[0],
                  binary(g, n, "aten::pow.Tensor_Tensor", x, value_constant(g, "power", power)));
}

static void decompose_diagflat(C *c, Graph *g, Node *n) {
    int64_t flat = -1;
    Value *x = MAKE("aten::reshape", arg_value(node_in(n, "self")), arg_ints(c, 1, &flat));
    value_replace(g, n->out[0], MAKE("aten::diag_embed", arg_value(x), *node_arg(n, "offset")));
}

/* ---- without what is not a number ----------------------------------------------------------- */

static Value *numbers_only(Graph *g, Node *n, Value *x) {
    Value *nan = unary(g, n, "aten::isnan", x);
    return MAKE("aten::masked_fill.Scalar", arg_value(x), arg_value(nan), arg_float(0));
}

static void decompose_nansum(C *c, Graph *g, Node *n) {
    (void)c;
    Value *x = node_in(n, "self");
    if (dtype_is_float(x->type.dtype))
        x = numbers_only(g, n, x);
    value_replace(g, n->out[0],
                  MAKE("aten::sum.dim_IntList", arg_value(x), *node_arg(n, "dim"),
                       *node_arg(n, "keepdim"), *node_arg(n, "dtype")));
}

static void decompose_nanmean(C *c, Graph *g, Node *n) {
    (void)c;
    Value *x = node_in(n, "self");
    Value *sum = MAKE("aten::sum.dim_IntList", arg_value(numbers_only(g, n, x)),
                      *node_arg(n, "dim"), *node_arg(n, "keepdim"), *node_arg(n, "dtype"));
    Value *count = MAKE("aten::logical_not", arg_value(unary(g, n, "aten::isnan", x)));
    count = MAKE("aten::sum.dim_IntList", arg_value(count), *node_arg(n, "dim"),
                 *node_arg(n, "keepdim"));
    value_replace(g, n->out[0], binary(g, n, "aten::div.Tensor", sum, count));
}

/* ---- limits of length ----------------------------------------------------------------------- */

/* Each slice along dim, made as long as maxnorm if it is longer. */
static void decompose_renorm(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int dim = dim_wrap(c, n, node_int(n, "dim"), x->type.rank), count = 0;
    int64_t others[MAX_RANK];
    double most = node_double(n, "maxnorm");
    for (int d = 0; d < x->type.rank; d++)
        if (d != dim)
            others[count++] = d;
    Value *length = MAKE("aten::linalg_vector_norm", arg_value(x), *node_arg(n, "p"),
                         arg_ints(c, count, others), arg_bool(true));
    length = MAKE("aten::clamp_min", arg_value(length), arg_float(most));
    Value *share = MAKE("aten::mul.Scalar", arg_value(unary(g, n, "aten::reciprocal", length)),
                        arg_float(most));
    value_replace(g, n->out[0], binary(g, n, "aten::mul.Tensor", x, share));
}

/* A constant mask of the main diagonal, which goes on from below a square if it wraps. */
static void decompose_fill_diagonal(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    const Type *t = &x->type;
    int64_t step = 0, place = 1, shortest = t->rank > 0 ? t->dim[0] : 0;
    for (int d = t->rank - 1; d >= 0; d--) {
        step += place;
        place *= t->dim[d];
        shortest = t->dim[d] < shortest ? t->dim[d] : shortest;
    }
    Array *mask = array_new(c, DT_BOOL, t->rank, t->dim);
    bool wraps = node_bool(n, "wrap") && t->rank == 2 && t->dim[0] > t->dim[1] + 1;
    for (int64_t i = 0; wraps ? i * step < array_count(mask) : i < shortest; i++)
        array_set_int(mask, i * step, 1);
    value_replace(g, n->out[0],
                  MAKE("aten::masked_fill.Scalar", arg_value(x),
                       arg_value(value_constant(g, "diagonal", mask)), *node_arg(n, "fill_value")));
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

static Value *expanded_to(C *c, Graph *g, Node *n, Value *x, const Type *t) {
    return node_value(g, n, "aten::expand", ARGS(arg_value(x), arg_ints(c, t->rank, t->dim)));
}

/* dim counts in what both operands broadcast to. */
static void decompose_cosine_similarity(C *c, Graph *g, Node *n) {
    Value *a = node_in(n, "x1"), *b = node_in(n, "x2");
    int64_t dim = node_int(n, "dim");
    Value *product = binary(g, n, "aten::mul.Tensor", a, b);
    a = expanded_to(c, g, n, a, &product->type);
    b = expanded_to(c, g, n, b, &product->type);
    Value *lengths = binary(g, n, "aten::mul.Tensor", length_along(c, g, n, a, dim),
                            length_along(c, g, n, b, dim));
    value_replace(g, n->out[0],
                  binary(g, n, "aten::div.Tensor", sum_along(c, g, n, product, dim), lengths));
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
    {.schema = "aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     COMPOSITE(decompose_add_relu)},
    {.schema = "aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     COMPOSITE(decompose_add_relu)},
    {.schema = "aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
     COMPOSITE(decompose_cross)},
    {.schema = "aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
     COMPOSITE(decompose_cross)},
    {.schema = "aten::kron(Tensor self, Tensor other) -> Tensor", COMPOSITE(decompose_kron)},
    {.schema = "aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
     COMPOSITE(decompose_vander)},
    {.schema = "aten::diagflat(Tensor self, int offset=0) -> Tensor",
     COMPOSITE(decompose_diagflat)},
    {.schema = "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
               "dtype=None) -> Tensor",
     COMPOSITE(decompose_nansum)},
    {.schema = "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
               "dtype=None) -> Tensor",
     COMPOSITE(decompose_nanmean)},
    {.schema = "aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
     COMPOSITE(decompose_renorm)},
    {.schema = "aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> "
               "Tensor(a!)",
     COMPOSITE(decompose_fill_diagonal)},
};

OPS_FAMILY(compound, rows);
