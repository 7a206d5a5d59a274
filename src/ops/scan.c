/* Running products, extrema and log-sums along a dim, and integrals: each step combines the last
 * result with the next slice, and the results are joined. Each row is only its decomposition. */
#include "ops/ops.h"

enum { MOST_STEPS = 256 };

typedef struct {
    Value *x;
    int dim;
    int64_t count;
    Value *slice[MOST_STEPS], *index[MOST_STEPS];
} Scan;

/* False: a diagnostic is recorded. Of rank 0 there is nothing to run along. */
static bool scan_open(C *c, Graph *g, Node *n, Value *x, Scan *s) {
    s->x = x;
    s->dim = dim_wrap(c, n, node_int(n, "dim"), x->type.rank);
    s->count = x->type.rank > 0 ? x->type.dim[s->dim] : 1;
    if (s->count < 1 || s->count > MOST_STEPS)
        return movement_refuse(c, n, "no integer form: dim=%d has %lld elements, 1 to %d needed",
                               s->dim, (long long)s->count, MOST_STEPS);
    for (int64_t i = 0; i < s->count; i++)
        s->slice[i] = x->type.rank == 0 ? x
                                        : MAKE("aten::narrow", arg_value(x), arg_int(s->dim),
                                               arg_int(i), arg_int(1));
    return true;
}

static Value *scan_joined(C *c, Graph *g, Node *n, const Scan *s, Value *const *part) {
    return s->x->type.rank == 0
               ? part[0]
               : MAKE("aten::cat", arg_values(c, (int)s->count, part), arg_int(s->dim));
}

/* The dtype that sums and products of x have. */
static Value *counted(Graph *g, Node *n, Value *x) {
    DType dtype = dtype_is_float(x->type.dtype) ? x->type.dtype : DT_I64;
    if (node_arg(n, "dtype")->kind == ARG_DTYPE)
        dtype = node_arg(n, "dtype")->u.dtype;
    return value_converted(g, n, x, dtype);
}

static void scan_by(C *c, Graph *g, Node *n, Value *x, const char *row) {
    Scan s;
    if (!scan_open(c, g, n, x, &s))
        return;
    for (int64_t i = 1; i < s.count; i++)
        s.slice[i] = MAKE(row, arg_value(s.slice[i - 1]), arg_value(s.slice[i]));
    value_replace(g, n->out[0], scan_joined(c, g, n, &s, s.slice));
}

static void decompose_cumprod(C *c, Graph *g, Node *n) {
    scan_by(c, g, n, counted(g, n, node_in(n, "self")), "aten::mul.Tensor");
}

static void decompose_logcumsumexp(C *c, Graph *g, Node *n) {
    scan_by(c, g, n, node_in(n, "self"), "aten::logaddexp");
}

/* The extremum so far, and the last place where it was reached. */
static void scan_extrema(C *c, Graph *g, Node *n, const char *choice, const char *reached) {
    Scan s;
    if (!scan_open(c, g, n, node_in(n, "self"), &s))
        return;
    Type place = s.slice[0]->type;
    for (int64_t i = 0; i < s.count; i++) {
        Array *number = array_new(c, DT_I64, place.rank, place.dim);
        for (int64_t k = 0; k < array_count(number); k++)
            array_set_int(number, k, i);
        s.index[i] = value_constant(g, "index", number);
        if (i == 0)
            continue;
        Value *is_new = MAKE(reached, arg_value(s.slice[i]), arg_value(s.slice[i - 1]));
        s.index[i] = MAKE("aten::where.self", arg_value(is_new), arg_value(s.index[i]),
                          arg_value(s.index[i - 1]));
        s.slice[i] = MAKE(choice, arg_value(s.slice[i - 1]), arg_value(s.slice[i]));
    }
    value_replace(g, n->out[0], scan_joined(c, g, n, &s, s.slice));
    value_replace(g, n->out[1], scan_joined(c, g, n, &s, s.index));
}

static void decompose_cummax(C *c, Graph *g, Node *n) {
    scan_extrema(c, g, n, "aten::maximum", "aten::ge.Tensor");
}

static void decompose_cummin(C *c, Graph *g, Node *n) {
    scan_extrema(c, g, n, "aten::minimum", "aten::le.Tensor");
}

/* ---- integrals ------------------------------------------------------------------------------ */

static Value *part_of(Graph *g, Node *n, Value *x, int dim, int64_t start, int64_t length) {
    return MAKE("aten::narrow", arg_value(x), arg_int(dim), arg_int(start), arg_int(length));
}

/* (y[i] + y[i + 1]) * step / 2 along dim; NULL: nothing to add up. */
static Value *trapezoids(C *c, Graph *g, Node *n) {
    Value *y = node_in(n, "y");
    int dim = dim_wrap(c, n, node_int(n, "dim"), y->type.rank);
    int64_t count = y->type.rank > 0 ? y->type.dim[dim] : 0;
    if (count < 2) {
        movement_refuse(c, n, "dim=%d has %lld elements, 2 needed", dim, (long long)count);
        return NULL;
    }
    Value *sum = MAKE("aten::add.Tensor", arg_value(part_of(g, n, y, dim, 0, count - 1)),
                      arg_value(part_of(g, n, y, dim, 1, count - 1)));
    if (node_takes(n, "dx"))
        return MAKE("aten::mul.Scalar", arg_value(sum), arg_float(node_double(n, "dx") / 2));
    Value *x = node_in(n, "x");
    int own = x->type.rank == y->type.rank ? dim : 0;
    Value *step = MAKE("aten::sub.Tensor", arg_value(part_of(g, n, x, own, 1, count - 1)),
                       arg_value(part_of(g, n, x, own, 0, count - 1)));
    if (x->type.rank == 1 && y->type.rank > 1) {
        int64_t along[MAX_RANK];
        for (int d = 0; d < y->type.rank; d++)
            along[d] = d == dim ? count - 1 : 1;
        step = MAKE("aten::view", arg_value(step), arg_ints(c, y->type.rank, along));
    }
    step = MAKE("aten::mul.Scalar", arg_value(step), arg_float(0.5));
    return MAKE("aten::mul.Tensor", arg_value(sum), arg_value(step));
}

static void decompose_trapezoid(C *c, Graph *g, Node *n) {
    Value *area = trapezoids(c, g, n);
    int64_t dim = node_int(n, "dim");
    if (area)
        value_replace(g, n->out[0],
                      MAKE("aten::sum.dim_IntList", arg_value(area), arg_ints(c, 1, &dim)));
}

static void decompose_cumulative_trapezoid(C *c, Graph *g, Node *n) {
    Value *area = trapezoids(c, g, n);
    if (area)
        value_replace(g, n->out[0], MAKE("aten::cumsum", arg_value(area), *node_arg(n, "dim")));
}

static const Op rows[] = {
    {.schema = "aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(decompose_cumprod)},
    {.schema = "aten::logcumsumexp(Tensor self, int dim) -> Tensor",
     COMPOSITE(decompose_logcumsumexp)},
    {.schema = "aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
     COMPOSITE(decompose_cummax)},
    {.schema = "aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
     COMPOSITE(decompose_cummin)},
    {.schema = "aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
     COMPOSITE(decompose_trapezoid)},
    {.schema = "aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
     COMPOSITE(decompose_trapezoid)},
    {.schema = "aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
     COMPOSITE(decompose_trapezoid)},
    {.schema = "aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor",
     COMPOSITE(decompose_trapezoid)},
    {.schema = "aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
     COMPOSITE(decompose_cumulative_trapezoid)},
    {.schema = "aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
     COMPOSITE(decompose_cumulative_trapezoid)},
};

OPS_FAMILY(scan, rows);
