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

static void msort_shape(C *c, Node *n) {
    (void)c;
    const Type *t = &node_in(n, "self")->type;
    node_set_type(n, 0, t->dtype, t->rank, t->dim);
}

static void msort_eval(C *c, Node *n) {
    const Array *in = eval_in(c, n, "self");
    rank_lines(c, in, 0, in->rank > 0 ? in->dim[0] : 1, false, eval_out(c, n, 0), NULL);
}

/* ---- one element of the order -----------------------------------------------------------------
 */

/* The type of a reduction along dim. */
static void pick_shape(C *c, Node *n) {
    Type t = node_in(n, "self")->type;
    int dim = ranked_dim(c, n);
    if (t.rank > 0 && t.dim[dim] == 0)
        movement_refuse(c, n, "a dimension of 0 elements");
    if (t.rank > 0 && node_bool(n, "keepdim"))
        t.dim[dim] = 1;
    else if (t.rank > 0) {
        for (int d = dim; d + 1 < t.rank; d++)
            t.dim[d] = t.dim[d + 1];
        t.rank--;
    }
    node_set_type(n, 0, t.dtype, t.rank, t.dim);
    node_set_type(n, 1, DT_I64, t.rank, t.dim);
}

/* The k-th (from 0) of each line, or NaN if there is one. */
static void pick(C *c, const Array *in, int dim, int64_t k, Array *values, Array *indices) {
    int64_t dims[MAX_RANK], size = in->rank > 0 ? in->dim[dim] : 1, inner = 1;
    for (int d = 0; d < in->rank; d++) {
        dims[d] = in->dim[d];
        inner *= d > dim ? in->dim[d] : 1;
    }
    Array *sorted = array_new(c, in->dtype, in->rank, dims);
    Array *order = array_new(c, DT_I64, in->rank, dims);
    rank_lines(c, in, dim, size, false, sorted, order);
    for (int64_t i = 0; i < array_count(values); i++) {
        int64_t line = i / inner * size * inner + i % inner, last = line + (size - 1) * inner;
        bool nan = isnan(array_get(sorted, last)); /* NaN sorts last */
        int64_t at = nan ? last : line + k * inner;
        elements_copy(values, i, sorted, at, 1);
        if (indices)
            array_set_int(indices, i, array_get_int(order, at));
    }
}

static void kthvalue_shape(C *c, Node *n) {
    const Type *t = &node_in(n, "self")->type;
    int64_t k = node_int(n, "k"), size = t->rank > 0 ? t->dim[ranked_dim(c, n)] : 1;
    if (k < 1 || k > size)
        movement_refuse(c, n, "element %lld of %lld", (long long)k, (long long)size);
    pick_shape(c, n);
}

static void kthvalue_eval(C *c, Node *n) {
    const Array *in = eval_in(c, n, "self");
    pick(c, in, ranked_dim(c, n), node_int(n, "k") - 1, eval_out(c, n, 0), eval_out(c, n, 1));
}

static void median_dim_eval(C *c, Node *n) {
    const Array *in = eval_in(c, n, "self");
    int dim = ranked_dim(c, n);
    int64_t size = in->rank > 0 ? in->dim[dim] : 1;
    pick(c, in, dim, (size - 1) / 2, eval_out(c, n, 0), eval_out(c, n, 1));
}

static void median_shape(C *c, Node *n) {
    const Type *t = &node_in(n, "self")->type;
    if (type_count(t) == 0)
        movement_refuse(c, n, "no elements");
    node_set_type(n, 0, t->dtype, 0, NULL);
}

static void median_eval(C *c, Node *n) {
    Array flat = *eval_in(c, n, "self");
    flat.dim[0] = array_count(&flat);
    flat.rank = 1;
    pick(c, &flat, 0, (flat.dim[0] - 1) / 2, eval_out(c, n, 0), NULL);
}

/* ---- in float ---------------------------------------------------------------------------------
 */

/* The first `keep` of each line, and their places; either output may be NULL. */
static CtnSortF32Args *rank_float(Graph *g, Node *n, int dim, int64_t keep, bool descending,
                                  Value *values, Value *indices) {
    Value *in = node_in(n, "self");
    const Type *t = &in->type;
    C *c = g->c;
    Call *call = call_new(c, g, n, CTN_KERNEL_sort_f32);
    CtnSortF32Args *a = call->args;
    a->outer = a->inner = 1;
    a->count = t->rank > 0 ? (int32_t)t->dim[dim] : 1;
    for (int d = 0; d < t->rank; d++)
        *(d < dim ? &a->outer : &a->inner) *= d == dim ? 1 : (int32_t)t->dim[d];
    a->keep = (int32_t)keep;
    a->descending = descending;
    a->pick = -1;
    call_in(call, &a->input, in);
    if (values)
        call_out(call, &a->values, values);
    if (indices)
        call_out(call, &a->output, indices);
    call_scratch(call, &a->scratch, keep * 4 + 4, 4);
    return a;
}

static int64_t line_size(const Node *n, int dim) {
    const Type *t = &node_in(n, "self")->type;
    return t->rank > 0 ? t->dim[dim] : 1;
}

static void sort_lower_float(C *c, Graph *g, Node *n) {
    int dim = ranked_dim(c, n);
    rank_float(g, n, dim, line_size(n, dim), node_bool(n, "descending"), n->out[0], n->out[1]);
}

static void argsort_lower_float(C *c, Graph *g, Node *n) {
    int dim = ranked_dim(c, n);
    rank_float(g, n, dim, line_size(n, dim), node_bool(n, "descending"), NULL, n->out[0]);
}

static void topk_lower_float(C *c, Graph *g, Node *n) {
    rank_float(g, n, ranked_dim(c, n), node_int(n, "k"), node_bool(n, "largest"), n->out[0],
               n->out[1]);
}

static void pick_float(C *c, Graph *g, Node *n, int64_t k) {
    int dim = ranked_dim(c, n);
    rank_float(g, n, dim, line_size(n, dim), false, n->out[0], n->out[1])->pick = (int32_t)k;
}

static void kthvalue_lower_float(C *c, Graph *g, Node *n) {
    pick_float(c, g, n, node_int(n, "k") - 1);
}

static void median_dim_lower_float(C *c, Graph *g, Node *n) {
    pick_float(c, g, n, (line_size(n, ranked_dim(c, n)) - 1) / 2);
}

/* Of all elements, as one line. */
static void median_lower_float(C *c, Graph *g, Node *n) {
    (void)c;
    int32_t count = (int32_t)type_count(&node_in(n, "self")->type);
    CtnSortF32Args *a = rank_float(g, n, 0, count, false, n->out[0], NULL);
    a->outer = a->inner = 1;
    a->count = count;
    a->pick = (count - 1) / 2;
}

static void msort_lower_float(C *c, Graph *g, Node *n) {
    (void)c;
    rank_float(g, n, 0, line_size(n, 0), false, n->out[0], NULL);
}

#define RANKS(text, op)                                                                            \
    {                                                                                              \
        .schema = text, .shape = op##_shape, .eval = op##_eval, .quant = {.out = {Q_SAME}},        \
        .lower_float = op##_lower_float,                                                           \
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
     .lower_float = argsort_lower_float,
     .no_integer_form = "the order of its output depends on data"},
    {.schema = "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool "
               "descending=False) -> Tensor",
     .shape = argsort_shape,
     .eval = argsort_eval,
     .lower_float = argsort_lower_float,
     .no_integer_form = "the order of its output depends on data"},
    RANKS("aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
          "(Tensor values, Tensor indices)",
          topk),
    RANKS("aten::msort(Tensor self) -> Tensor", msort),
    RANKS("aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor "
          "values, Tensor indices)",
          kthvalue),
    {.schema = "aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
               "Tensor indices)",
     .shape = pick_shape,
     .eval = median_dim_eval,
     .lower_float = median_dim_lower_float,
     .quant = {.out = {Q_SAME}},
     .no_integer_form = "the order of its elements depends on data"},
    RANKS("aten::median(Tensor self) -> Tensor", median),
};

OPS_FAMILY(sort, rows);
