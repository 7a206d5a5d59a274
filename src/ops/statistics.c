/* Variances and quantiles, built of other rows. */
#include "ops/ops.h"

/* ---- variance -------------------------------------------------------------------------------- */

/* How much less than the count a variance divides by. */
static double correction_of(const Node *n) {
    if (node_takes(n, "unbiased"))
        return node_bool(n, "unbiased");
    return node_has(n, "correction") ? node_double(n, "correction") : 1;
}

/* var, std and, with two outputs, var_mean, std_mean: the scaled sum of squared distances to the
 * mean. */
static void variance_decompose(C *c, Graph *g, Node *n, bool root) {
    Value *x = node_in(n, "self");
    Dims d = dims_read(c, n, "dim", &x->type);
    double divisor = (double)d.count - correction_of(n);
    if (!dtype_is_float(x->type.dtype) || d.count == 0 || divisor <= 0) {
        diag_error(c, DIAG_MODEL, &n->loc,
                   "variance of %s over %lld elements with correction %g is not defined",
                   dtype_name(x->type.dtype), (long long)d.count, correction_of(n));
        return;
    }
    double share = 1 / (double)d.count;
    Value *mean = sum_node(c, g, n, x, &d, true, share);
    Value *away = MAKE("aten::sub.Tensor", arg_value(x), arg_value(mean));
    Value *square = MAKE("aten::mul.Tensor", arg_value(away), arg_value(away));
    Value *y = sum_node(c, g, n, square, &d, keepdim_of(n), 1 / divisor);
    value_replace(g, n->out[0], root ? MAKE("aten::sqrt", arg_value(y)) : y);
    if (n->out_count > 1)
        value_replace(g, n->out[1], keepdim_of(n) ? mean : sum_node(c, g, n, x, &d, false, share));
}

static void var_decompose(C *c, Graph *g, Node *n) {
    variance_decompose(c, g, n, false);
}

static void std_decompose(C *c, Graph *g, Node *n) {
    variance_decompose(c, g, n, true);
}

/* ---- quantiles ------------------------------------------------------------------------------- */

static const char *const interpolations[] = {"linear", "lower", "higher", "nearest", "midpoint"};
enum { LINEAR, LOWER, HIGHER, NEAREST, MIDPOINT, INTERPOLATIONS };

/* The fractions that are asked for; 0 with a diagnostic if they are no such constants. */
static int64_t fractions_of(C *c, const Node *n, double **fraction) {
    Value *q = node_in(n, "q");
    int64_t count = q ? type_count(&q->type) : 1;
    if (q && (!q->constant || q->grid || q->type.rank > 1)) {
        movement_refuse(c, n, "q must be constant, a number or a vector");
        return 0;
    }
    *fraction = NEW_ARRAY(c, double, count);
    for (int64_t k = 0; k < count; k++) {
        (*fraction)[k] = q ? array_get(q->constant, k) : node_double(n, "q");
        if (!((*fraction)[k] >= 0 && (*fraction)[k] <= 1)) {
            movement_refuse(c, n, "q=%g is not between 0 and 1", (*fraction)[k]);
            return 0;
        }
    }
    return count;
}

/* Between which two elements of `size` sorted ones each fraction lies, and how far behind the
 * first: of float32 numbers, as torch has them. */
static Value *sorted_at(C *c, Graph *g, Node *n, Value *sorted, int dim, int64_t count,
                        const double *fraction, int kind) {
    int64_t size = sorted->type.dim[dim], along[MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    Array *low = array_new(c, DT_I64, 1, &count), *high = array_new(c, DT_I64, 1, &count);
    along[dim] = count;
    Array *weight = array_new(c, DT_F32, sorted->type.rank, along);
    for (int64_t k = 0; k < count; k++) {
        float place = (float)fraction[k] * (float)(size - 1), first = floorf(place);
        if (kind == NEAREST)
            first = place = rintf(place);
        array_set_int(low, k, (int64_t)(kind == HIGHER ? ceilf(place) : first));
        array_set_int(high, k, (int64_t)ceilf(place));
        array_set(weight, k, kind == MIDPOINT ? 0.5 : (double)(place - first));
    }
    Value *a = MAKE("aten::index_select", arg_value(sorted), arg_int(dim),
                    arg_value(value_constant(g, "low", low)));
    if (kind != LINEAR && kind != MIDPOINT)
        return a;
    Value *b = MAKE("aten::index_select", arg_value(sorted), arg_int(dim),
                    arg_value(value_constant(g, "high", high)));
    return MAKE("aten::lerp.Tensor", arg_value(a), arg_value(b),
                arg_value(value_constant(g, "weight", weight)));
}

static void quantile_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self"), *q = node_in(n, "q");
    const char *word = node_string(n, "interpolation");
    int kind = 0, rank = x->type.rank;
    double *fraction = NULL;
    int64_t count = fractions_of(c, n, &fraction), all = -1;
    while (kind < INTERPOLATIONS && !text_equal(word, interpolations[kind]))
        kind++;
    if (kind == INTERPOLATIONS || type_count(&x->type) == 0) {
        movement_refuse(c, n, "interpolation=\"%s\" of %s", word, shape_text(c, rank, x->type.dim));
        return;
    }
    if (count == 0)
        return;
    bool flat = !node_has(n, "dim") || rank == 0;
    if (flat)
        x = MAKE("aten::reshape", arg_value(x), arg_ints(c, 1, &all));
    int dim = flat ? 0 : dim_wrap(c, n, node_int(n, "dim"), rank);
    Value *sorted = MAKE("aten::sort", arg_value(x), arg_int(dim), arg_bool(false));
    Value *y = sorted_at(c, g, n, sorted, dim, count, fraction, kind);
    y = MAKE("aten::movedim.int", arg_value(y), arg_int(dim), arg_int(0));
    int64_t shape[MAX_RANK];
    int out = 0;
    if (q && q->type.rank == 1)
        shape[out++] = count;
    for (int k = 0; k < rank; k++)
        if (k != dim && !flat)
            shape[out++] = x->type.dim[k];
        else if (node_bool(n, "keepdim"))
            shape[out++] = 1;
    value_replace(g, n->out[0], MAKE("aten::reshape", arg_value(y), arg_ints(c, out, shape)));
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const Op rows[] = {
    {.schema = "aten::var(Tensor self, bool unbiased=True) -> Tensor", COMPOSITE(var_decompose)},
    {.schema = "aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
               "Tensor",
     COMPOSITE(var_decompose)},
    {.schema = "aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
               "bool keepdim=False) -> Tensor",
     COMPOSITE(var_decompose)},
    {.schema = "aten::std(Tensor self, bool unbiased=True) -> Tensor", COMPOSITE(std_decompose)},
    {.schema = "aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
               "Tensor",
     COMPOSITE(std_decompose)},
    {.schema = "aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
               "bool keepdim=False) -> Tensor",
     COMPOSITE(std_decompose)},
    {.schema = "aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
     COMPOSITE(var_decompose)},
    {.schema = "aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
               "keepdim=False) -> (Tensor, Tensor)",
     COMPOSITE(var_decompose)},
    {.schema = "aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
     COMPOSITE(std_decompose)},
    {.schema = "aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
               "keepdim=False) -> (Tensor, Tensor)",
     COMPOSITE(std_decompose)},
    {.schema = "aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? "
               "correction=None, bool keepdim=False) -> (Tensor, Tensor)",
     COMPOSITE(var_decompose)},
    {.schema = "aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? "
               "correction=None, bool keepdim=False) -> (Tensor, Tensor)",
     COMPOSITE(std_decompose)},
    {.schema = "aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
               "interpolation=\"linear\") -> Tensor",
     COMPOSITE(quantile_decompose)},
    {.schema = "aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
               "str interpolation=\"linear\") -> Tensor",
     COMPOSITE(quantile_decompose)},
};

OPS_FAMILY(statistics, rows);
