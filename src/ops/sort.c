/* Orders of elements along a dim: sort, argsort, topk. Which element comes first depends on data,
 * so there is no integer form; the float reference is torch's order with ties in order of index,
 * NaN above all numbers. */
#include "ops/ops.h"

#include <stdlib.h>

typedef struct {
    double value;
    int64_t index;
} Ranked;

static int compare_ranked(const Ranked *a, const Ranked *b, bool descending) {
    int sign = isnan(a->value) || isnan(b->value) ? isnan(a->value) - isnan(b->value)
                                                  : (a->value > b->value) - (a->value < b->value);
    if (sign != 0)
        return descending ? -sign : sign;
    return (a->index > b->index) - (a->index < b->index);
}

static int compare_up(const void *a, const void *b) {
    return compare_ranked(a, b, false);
}

static int compare_down(const void *a, const void *b) {
    return compare_ranked(a, b, true);
}

/* The first `keep` of each line along dim, into values and indices (either may be NULL). */
static void rank_lines(C *c, const Array *in, int dim, int64_t keep, bool descending, Array *values,
                       Array *indices) {
    int64_t size = in->rank > 0 ? in->dim[dim] : 1, inner = 1;
    for (int d = dim + 1; d < in->rank; d++)
        inner *= in->dim[d];
    int64_t lines = size > 0 ? array_count(in) / size : 0;
    Ranked *line = NEW_ARRAY(c, Ranked, size + 1);
    for (int64_t l = 0; l < lines; l++) {
        int64_t from = l / inner * size * inner + l % inner;
        int64_t to = l / inner * keep * inner + l % inner;
        for (int64_t i = 0; i < size; i++)
            line[i] = (Ranked){array_get(in, from + i * inner), i};
        qsort(line, (size_t)size, sizeof *line, descending ? compare_down : compare_up);
        for (int64_t i = 0; i < keep; i++) {
            if (values)
                elements_copy(values, to + i * inner, in, from + line[i].index * inner, 1);
            if (indices)
                array_set_int(indices, to + i * inner, line[i].index);
        }
    }
}

static int ranked_dim(C *c, const Node *n) {
    const Type *t = &node_in(n, "self")->type;
    return t->rank > 0 ? dim_wrap(c, n, node_int(n, "dim"), t->rank) : 0;
}

static void sort_shape(C *c, Node *n) {
    (void)c;
    const Type *t = &node_in(n, "self")->type;
    node_set_type(n, 0, t->dtype, t->rank, t->dim);
    node_set_type(n, 1, DT_I64, t->rank, t->dim);
}

static void sort_eval(C *c, Node *n) {
    const Array *in = eval_in(c, n, "self");
    int dim = ranked_dim(c, n);
    rank_lines(c, in, dim, in->rank > 0 ? in->dim[dim] : 1, node_bool(n, "descending"),
               eval_out(c, n, 0), eval_out(c, n, 1));
}

static void argsort_shape(C *c, Node *n) {
    (void)c;
    const Type *t = &node_in(n, "self")->type;
    node_set_type(n, 0, DT_I64, t->rank, t->dim);
}

static void argsort_eval(C *c, Node *n) {
    const Array *in = eval_in(c, n, "self");
    int dim = ranked_dim(c, n);
    rank_lines(c, in, dim, in->rank > 0 ? in->dim[dim] : 1, node_bool(n, "descending"), NULL,
               eval_out(c, n, 0));
}

static void topk_shape(C *c, Node *n) {
    Type t = node_in(n, "self")->type;
    int64_t k = node_int(n, "k"), size = t.rank > 0 ? t.dim[ranked_dim(c, n)] : 1;
    if (k < 0 || k > size)
        movement_refuse(c, n, "the first %lld of %lld elements", (long long)k, (long long)size);
    else if (t.rank > 0)
        t.dim[ranked_dim(c, n)] = k;
    node_set_type(n, 0, t.dtype, t.rank, t.dim);
    node_set_type(n, 1, DT_I64, t.rank, t.dim);
}

static void topk_eval(C *c, Node *n) {
    rank_lines(c, eval_in(c, n, "self"), ranked_dim(c, n), node_int(n, "k"),
               node_bool(n, "largest"), eval_out(c, n, 0), eval_out(c, n, 1));
}

#define RANKS(text, op)                                                                            \
    {                                                                                              \
        .schema = text, .shape = op##_shape, .eval = op##_eval, .quant = {.out = {Q_SAME}},        \
        .no_integer_form = "the order of its output depends on data"                               \
    }

static const Op rows[] = {
    RANKS("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
          "indices)",
          sort),
    RANKS("aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
          "(Tensor values, Tensor indices)",
          sort),
    {.schema = "aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
     .shape = argsort_shape,
     .eval = argsort_eval,
     .no_integer_form = "the order of its output depends on data"},
    {.schema = "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool "
               "descending=False) -> Tensor",
     .shape = argsort_shape,
     .eval = argsort_eval,
     .no_integer_form = "the order of its output depends on data"},
    RANKS("aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
          "(Tensor values, Tensor indices)",
          topk),
};

OPS_FAMILY(sort, rows);
