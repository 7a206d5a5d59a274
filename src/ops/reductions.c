/* ATen's reductions over dims, as the rows of reduce.c: a scaled sum (sum, mean, and what is built
 * of them: variances, norms), an extremum (amax, any ...), the place of an extremum, a running sum.
 */
#include "ops/ops.h"

#include <string.h>

static Arg dims_arg(C *c, const Dims *d, int rank) {
    int64_t list[MAX_RANK];
    int count = 0;
    for (int k = 0; k < rank; k++)
        if (d->reduced[k])
            list[count++] = k;
    return arg_ints(c, count, list);
}

bool keepdim_of(const Node *n) {
    return node_takes(n, "keepdim") && node_bool(n, "keepdim");
}

static Value *convert(Graph *g, Node *n, Value *x, DType dtype) {
    return x->type.dtype == dtype ? x : MAKE("aten::to.dtype", arg_value(x), arg_dtype(dtype));
}

/* The operand in the dtype that the sum has: `dtype`, its own if float, else int64. */
static Value *summand(Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    if (node_takes(n, "dtype") && node_arg(n, "dtype")->kind == ARG_DTYPE)
        return convert(g, n, x, node_arg(n, "dtype")->u.dtype);
    return dtype_is_float(x->type.dtype) ? x : convert(g, n, x, DT_I64);
}

Value *sum_node(C *c, Graph *g, Node *n, Value *x, const Dims *d, bool keepdim, double factor) {
    return MAKE("corten::reduce_sum", arg_value(x), dims_arg(c, d, x->type.rank), arg_bool(keepdim),
                arg_float(factor));
}

/* Kernels compare bytes that have a sign, and integers of 32 bits and more. */
static Value *max_node(C *c, Graph *g, Node *n, Value *x, const Dims *d, bool keepdim,
                       bool minimum) {
    if (x->type.dtype == DT_U8 || x->type.dtype == DT_I16)
        return convert(g, n, max_node(c, g, n, convert(g, n, x, DT_I32), d, keepdim, minimum),
                       x->type.dtype);
    return MAKE("corten::reduce_max", arg_value(x), dims_arg(c, d, x->type.rank), arg_bool(keepdim),
                arg_bool(minimum));
}

static void sum_decompose(C *c, Graph *g, Node *n) {
    Value *x = summand(g, n);
    Dims d = dims_read(c, n, "dim", &x->type);
    value_replace(g, n->out[0], sum_node(c, g, n, x, &d, keepdim_of(n), 1));
}

/* The sum over the dims that a broadcast from `size` would have spread. */
static void sum_to_size_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int64_t size[MAX_RANK];
    int count = node_ints(n, "size", size, MAX_RANK), more = x->type.rank - count;
    Dims d = {0};
    bool fits = more >= 0;
    for (int k = 0; fits && k < x->type.rank; k++) {
        fits = k < more || size[k - more] == 1 || size[k - more] == x->type.dim[k];
        d.reduced[k] = k < more || size[k - more] != x->type.dim[k];
    }
    if (!fits) {
        movement_refuse(c, n, "%s to size %s", shape_text(c, x->type.rank, x->type.dim),
                        shape_text(c, count, size));
        return;
    }
    if (memcmp(d.reduced, (bool[MAX_RANK]){false}, sizeof d.reduced) != 0)
        x = sum_node(c, g, n, dtype_is_float(x->type.dtype) ? x : convert(g, n, x, DT_I64), &d,
                     true, 1);
    value_replace(g, n->out[0], MAKE("aten::reshape", arg_value(x), arg_ints(c, count, size)));
}

static Value *mean_node(C *c, Graph *g, Node *n, Value *x, const Dims *d, bool keepdim) {
    if (!dtype_is_float(x->type.dtype) || d->count == 0)
        diag_error(c, DIAG_MODEL, &n->loc, "mean of %s%s: needs float elements",
                   dtype_name(x->type.dtype), shape_text(c, x->type.rank, x->type.dim));
    return sum_node(c, g, n, x, d, keepdim, d->count ? 1.0 / (double)d->count : 0);
}

static Value *mean_operand(Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    if (node_takes(n, "dtype") && node_arg(n, "dtype")->kind == ARG_DTYPE)
        return convert(g, n, x, node_arg(n, "dtype")->u.dtype);
    return x;
}

static void mean_decompose(C *c, Graph *g, Node *n) {
    Value *x = mean_operand(g, n);
    Dims d = dims_read(c, n, "dim", &x->type);
    value_replace(g, n->out[0], mean_node(c, g, n, x, &d, keepdim_of(n)));
}

static void amax_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    Dims d = dims_read(c, n, "dim", &x->type);
    bool minimum = strstr(op_schema(n->op)->name, "min") != NULL;
    value_replace(g, n->out[0], max_node(c, g, n, x, &d, keepdim_of(n), minimum));
}

static void aminmax_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    Dims d = dims_read(c, n, "dim", &x->type);
    value_replace(g, n->out[0], max_node(c, g, n, x, &d, keepdim_of(n), true));
    value_replace(g, n->out[1], max_node(c, g, n, x, &d, keepdim_of(n), false));
}

/* Places are counted over all elements when there is no dim. */
static Value *place_node(C *c, Graph *g, Node *n, bool keepdim, bool minimum) {
    Value *x = node_in(n, "self");
    int rank = x->type.rank;
    int64_t all = -1, one[MAX_RANK];
    if (x->type.dtype == DT_U8) /* 0 .. 255 as -128 .. 127 */
        x = convert(g, n, MAKE("aten::bitwise_xor.Scalar", arg_value(x), arg_int(128)), DT_I8);
    if (node_has(n, "dim") && rank > 0)
        return MAKE("corten::argmax", arg_value(x),
                    arg_int(dim_wrap(c, n, node_int(n, "dim"), rank)), arg_bool(keepdim),
                    arg_bool(minimum));
    Value *flat = MAKE("aten::reshape", arg_value(x), arg_ints(c, 1, &all));
    Value *y =
        MAKE("corten::argmax", arg_value(flat), arg_int(0), arg_bool(false), arg_bool(minimum));
    for (int k = 0; k < rank; k++)
        one[k] = 1;
    return keepdim ? MAKE("aten::reshape", arg_value(y), arg_ints(c, rank, one)) : y;
}

static void argmax_decompose(C *c, Graph *g, Node *n) {
    bool minimum = strstr(op_schema(n->op)->name, "min") != NULL;
    value_replace(g, n->out[0], place_node(c, g, n, node_bool(n, "keepdim"), minimum));
}

/* max.dim, min.dim: the extremum and its place. */
static void max_dim_decompose(C *c, Graph *g, Node *n) {
    bool minimum = strstr(op_schema(n->op)->name, "min") != NULL;
    amax_decompose(c, g, n);
    value_replace(g, n->out[1], place_node(c, g, n, node_bool(n, "keepdim"), minimum));
}

/* any is the maximum of what is true, all the minimum. */
static void any_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    Dims d = dims_read(c, n, "dim", &x->type);
    if (x->type.dtype != DT_BOOL)
        x = MAKE("aten::ne.Scalar", arg_value(x), arg_int(0));
    bool all = strcmp(op_schema(n->op)->name, "aten::all") == 0;
    value_replace(g, n->out[0], max_node(c, g, n, x, &d, keepdim_of(n), all));
}

static Value *slice(Graph *g, Node *n, Value *x, int dim, int64_t start, int64_t stop) {
    return MAKE("aten::slice.Tensor", arg_value(x), arg_int(dim), arg_int(start), arg_int(stop));
}

/* Halves are multiplied until one is left: as few roundings as there can be. */
static void prod_decompose(C *c, Graph *g, Node *n) {
    Value *x = summand(g, n);
    int64_t all = -1;
    bool flat = !node_takes(n, "dim") || x->type.rank == 0;
    if (flat)
        x = MAKE("aten::reshape", arg_value(x), arg_ints(c, 1, &all));
    int dim = flat ? 0 : dim_wrap(c, n, node_int(n, "dim"), x->type.rank);
    if (x->type.dim[dim] == 0) {
        diag_error(c, DIAG_MODEL, &n->loc, "the product of no elements is not supported");
        return;
    }
    Value *rest = NULL; /* what is left over where the number is odd */
    while (x->type.dim[dim] > 1) {
        int64_t size = x->type.dim[dim], half = size / 2;
        Value *odd = size % 2 ? slice(g, n, x, dim, 2 * half, size) : NULL;
        x = MAKE("aten::mul.Tensor", arg_value(slice(g, n, x, dim, 0, half)),
                 arg_value(slice(g, n, x, dim, half, 2 * half)));
        rest = rest && odd ? MAKE("aten::mul.Tensor", arg_value(rest), arg_value(odd))
               : odd       ? odd
                           : rest;
    }
    if (rest)
        x = MAKE("aten::mul.Tensor", arg_value(x), arg_value(rest));
    if (flat || !keepdim_of(n))
        x = MAKE("aten::squeeze.dim", arg_value(x), arg_int(dim));
    value_replace(g, n->out[0], x);
}

/* The running sum of integers, doubling how many elements each place has summed up: x plus x moved
 * by 1, 2, 4 ... places. */
static Value *running_sum(C *c, Graph *g, Node *n, Value *x, int dim) {
    int64_t size = x->type.dim[dim], side[2 * MAX_RANK] = {0}; /* of a pad, from the last dim on */
    int last = 2 * (x->type.rank - 1 - dim);
    for (int64_t step = 1; step < size; step *= 2) {
        side[last] = step;
        Value *moved = MAKE("aten::constant_pad_nd", arg_value(slice(g, n, x, dim, 0, size - step)),
                            arg_ints(c, last + 2, side), arg_int(0));
        x = MAKE("aten::add.Tensor", arg_value(x), arg_value(moved));
    }
    return x;
}

static void cumsum_decompose(C *c, Graph *g, Node *n) {
    Value *x = summand(g, n);
    int dim = x->type.rank ? dim_wrap(c, n, node_int(n, "dim"), x->type.rank) : 0;
    if (!dtype_is_float(x->type.dtype) && x->type.rank > 0) {
        value_replace(g, n->out[0], running_sum(c, g, n, x, dim));
        return;
    }
    value_replace(g, n->out[0], MAKE("corten::cumsum", arg_value(x), arg_int(dim)));
}

/* The p-norm over dims d. */
static Value *norm_node(C *c, Graph *g, Node *n, Value *x, const Dims *d, double p, bool keepdim) {
    if (p == 2) {
        Value *square = MAKE("aten::mul.Tensor", arg_value(x), arg_value(x));
        return MAKE("aten::sqrt", arg_value(sum_node(c, g, n, square, d, keepdim, 1)));
    }
    if (p == 0) {
        Value *some = MAKE("aten::ne.Scalar", arg_value(x), arg_int(0));
        return sum_node(c, g, n, convert(g, n, some, x->type.dtype), d, keepdim, 1);
    }
    Value *size = MAKE("aten::abs", arg_value(x));
    if (isinf(p))
        return max_node(c, g, n, size, d, keepdim, p < 0);
    if (p == 1)
        return sum_node(c, g, n, size, d, keepdim, 1);
    Value *power = MAKE("aten::pow.Tensor_Scalar", arg_value(size), arg_float(p));
    return MAKE("aten::pow.Tensor_Scalar", arg_value(sum_node(c, g, n, power, d, keepdim, 1)),
                arg_float(1 / p));
}

static void norm_decompose(C *c, Graph *g, Node *n) {
    const char *order = node_takes(n, "ord") ? "ord" : "p";
    Value *x = mean_operand(g, n);
    Dims d = dims_read(c, n, "dim", &x->type);
    double p = node_takes(n, order) && node_has(n, order) ? node_double(n, order) : 2;
    if (!dtype_is_float(x->type.dtype)) {
        diag_error(c, DIAG_MODEL, &n->loc, "norm of %s: needs float elements",
                   dtype_name(x->type.dtype));
        return;
    }
    value_replace(g, n->out[0], norm_node(c, g, n, x, &d, p, keepdim_of(n)));
}

/* log(sum(exp(x - max))) + max */
static void logsumexp_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    if (!dtype_is_float(x->type.dtype))
        x = convert(g, n, x, DT_F32);
    Dims d = dims_read(c, n, "dim", &x->type);
    bool keepdim = keepdim_of(n);
    Value *top = max_node(c, g, n, x, &d, true, false);
    Value *away = MAKE("aten::sub.Tensor", arg_value(x), arg_value(top));
    Value *sum = sum_node(c, g, n, MAKE("aten::exp", arg_value(away)), &d, keepdim, 1);
    Value *peak = keepdim ? top : max_node(c, g, n, x, &d, false, false);
    value_replace(
        g, n->out[0],
        MAKE("aten::add.Tensor", arg_value(MAKE("aten::log", arg_value(sum))), arg_value(peak)));
}

static void count_nonzero_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    Dims d = dims_read(c, n, "dim", &x->type);
    Value *some = MAKE("aten::ne.Scalar", arg_value(x), arg_int(0));
    value_replace(g, n->out[0], sum_node(c, g, n, convert(g, n, some, DT_I64), &d, false, 1));
}

/* ---- rows ----------------------------------------------------------------------------------- */

static const Op rows[] = {
    {.schema = "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(sum_decompose)},
    {.schema = "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
               "dtype=None) -> Tensor",
     COMPOSITE(sum_decompose)},
    {.schema = "aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor",
     COMPOSITE(sum_to_size_decompose)},
    {.schema = "aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(mean_decompose)},
    {.schema = "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
               "dtype=None) -> Tensor",
     COMPOSITE(mean_decompose)},
    {.schema = "aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
     COMPOSITE(amax_decompose)},
    {.schema = "aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
     COMPOSITE(amax_decompose)},
    {.schema = "aten::max(Tensor self) -> Tensor", COMPOSITE(amax_decompose)},
    {.schema = "aten::min(Tensor self) -> Tensor", COMPOSITE(amax_decompose)},
    {.schema = "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
               "indices)",
     COMPOSITE(max_dim_decompose)},
    {.schema = "aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
               "indices)",
     COMPOSITE(max_dim_decompose)},
    {.schema = "aten::_aminmax(Tensor self) -> (Tensor, Tensor)", COMPOSITE(aminmax_decompose)},
    {.schema = "aten::_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
     COMPOSITE(aminmax_decompose)},
    {.schema = "aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, "
               "Tensor max)",
     COMPOSITE(aminmax_decompose)},
    {.schema = "aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
     COMPOSITE(argmax_decompose)},
    {.schema = "aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
     COMPOSITE(argmax_decompose)},
    {.schema = "aten::any(Tensor self) -> Tensor", COMPOSITE(any_decompose)},
    {.schema = "aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
     COMPOSITE(any_decompose)},
    {.schema = "aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
     COMPOSITE(any_decompose)},
    {.schema = "aten::all(Tensor self) -> Tensor", COMPOSITE(any_decompose)},
    {.schema = "aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
     COMPOSITE(any_decompose)},
    {.schema = "aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
     COMPOSITE(any_decompose)},
    {.schema = "aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(prod_decompose)},
    {.schema = "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? "
               "dtype=None) -> Tensor",
     COMPOSITE(prod_decompose)},
    {.schema = "aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(cumsum_decompose)},
    {.schema = "aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", COMPOSITE(norm_decompose)},
    {.schema = "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) "
               "-> Tensor",
     COMPOSITE(norm_decompose)},
    {.schema = "aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
     COMPOSITE(norm_decompose)},
    {.schema = "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, "
               "*, ScalarType dtype) -> Tensor",
     COMPOSITE(norm_decompose)},
    {.schema = "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool "
               "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(norm_decompose)},
    {.schema = "aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
     COMPOSITE(logsumexp_decompose)},
    {.schema = "aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
     COMPOSITE(logsumexp_decompose)},
    {.schema = "aten::count_nonzero(Tensor self, int? dim=None) -> Tensor",
     COMPOSITE(count_nonzero_decompose)},
    {.schema = "aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
     COMPOSITE(count_nonzero_decompose)},
};

OPS_FAMILY(reductions, rows);
