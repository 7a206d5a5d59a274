/* Softmax and its logarithm over any dim. Short rows have the fixed output grid 1/256, -128; in
 * long ones all values are small, so they get a calibrated grid. Masks that are filled in or added
 * before it are taken into it by pass masks. */
#include "lower/float.h"
#include "ops/ops.h"

#include <string.h>

#define SHORT_ROW 32
#define ROW_LIMIT 4096 /* the kernels' sums of exponentials have 12 integer bits */

static void softmax_shape(C *c, Node *n) {
    const Type *x = &node_in(n, "input")->type;
    if (!dtype_is_float(x->dtype))
        diag_error(c, DIAG_MODEL, &n->loc, "softmax of %s: needs float elements",
                   dtype_name(x->dtype));
    shape_same(c, n);
}

/* ---- float reference ------------------------------------------------------------------------ */

typedef struct { /* rows of `size` values `step` apart; `inner` of them interleave */
    int64_t outer, size, inner;
} Rows;

static Rows rows_of(const Node *n) {
    const Type *x = &node_in(n, "input")->type;
    int dim = (int)node_int(n, "dim");
    Rows r = {1, x->rank ? x->dim[dim] : 1, 1};
    for (int k = 0; k < x->rank; k++)
        *(k < dim ? &r.outer : &r.inner) *= k == dim ? 1 : x->dim[k];
    return r;
}

static bool is_visible(const Array *mask, int64_t at, bool hides) {
    return !mask || (array_get(mask, at % array_count(mask)) != 0) != hides;
}

static void softmax_row(const Rows *r, const float *x, double beta, const Array *mask,
                        int64_t mask_at, bool hides, bool logarithm, float *y) {
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < r->size; i++)
        if (is_visible(mask, mask_at + i, hides) && x[i * r->inner] > top)
            top = x[i * r->inner];
    for (int64_t i = 0; i < r->size; i++)
        if (is_visible(mask, mask_at + i, hides))
            sum += exp(beta * (x[i * r->inner] - top));
    for (int64_t i = 0; i < r->size; i++) {
        bool visible = is_visible(mask, mask_at + i, hides);
        double away = beta * (x[i * r->inner] - top);
        y[i * r->inner] = (float)(logarithm ? away - log(sum) : visible ? exp(away) / sum : 0.0);
    }
}

static void softmax_run(C *c, Node *n, double beta, const Array *mask, bool hides, bool logarithm) {
    const float *x = eval_in(c, n, "input")->data;
    float *y = eval_out(c, n, 0)->data;
    Rows r = rows_of(n);
    for (int64_t o = 0; o < r.outer; o++)
        for (int64_t i = 0; i < r.inner; i++) {
            int64_t at = o * r.size * r.inner + i;
            softmax_row(&r, x + at, beta, mask, o * r.size, hides, logarithm, y + at);
        }
}

static void softmax_eval(C *c, Node *n) {
    softmax_run(c, n, node_double(n, "beta"), eval_in(c, n, "mask"), node_bool(n, "mask_hides"),
                false);
}

static void log_softmax_eval(C *c, Node *n) {
    softmax_run(c, n, 1, NULL, false, true);
}

/* ---- masks ---------------------------------------------------------------------------------- */

/* Of a constant: each number where it would be in a larger shape. */
static Value *spread_constant(C *c, Graph *g, const Value *v, int rank, const int64_t *shape) {
    Strided s = strided_dense(v->type.rank, v->type.dim);
    Array *spread = array_new(c, v->type.dtype, rank, shape);
    Strided to = strided_dense(rank, shape);
    for (int k = 0; k < rank; k++) {
        int own = k - (rank - v->type.rank);
        to.stride[k] = own < 0 || v->type.dim[own] == 1 ? 0 : s.stride[own];
    }
    eval_strided(spread, v->constant, &to);
    return value_constant(g, v->name, spread);
}

Value *softmax_mask_rows(C *c, Graph *g, Node *n, Value *mask, const Type *x) {
    int64_t shape[MAX_RANK];
    int first = x->rank; /* the outermost dim that the mask does not repeat over */
    for (int k = 0; k < mask->type.rank; k++)
        if (mask->type.dim[k] != 1 && x->rank - mask->type.rank + k < first)
            first = x->rank - mask->type.rank + k;
    if (first > x->rank - 1)
        first = x->rank - 1;
    for (int k = first; k < x->rank; k++)
        shape[k - first] = x->dim[k];
    int rank = x->rank - first;
    bool whole = mask->type.rank == rank && memcmp(shape, mask->type.dim, (size_t)rank * 8) == 0;
    if (whole)
        return mask;
    if (mask->constant && mask->type.rank <= rank)
        return spread_constant(c, g, mask, rank, shape);
    int own = mask->type.rank; /* leading ones away, then spread */
    if (own > rank) {
        mask =
            MAKE("aten::reshape", arg_value(mask), arg_ints(c, rank, mask->type.dim + own - rank));
        own = rank;
    }
    return MAKE("aten::clone",
                arg_value(MAKE("aten::expand", arg_value(mask), arg_ints(c, rank, shape))));
}

/* ---- decompose ------------------------------------------------------------------------------ */

Value *softmax_node(C *c, Graph *g, Node *n, Value *x, int dim, double beta, Value *mask,
                    bool hides) {
    if (mask)
        mask = softmax_mask_rows(c, g, n, mask, &x->type);
    int64_t size = x->type.rank ? x->type.dim[dim] : 1;
    const char *row = size <= SHORT_ROW ? "corten::softmax" : "corten::softmax_scaled";
    return MAKE(row, arg_value(x), arg_int(dim), arg_float(beta), arg_value(mask), arg_bool(hides));
}

/* The operand in the dtype that `dtype` asks for. */
static Value *operand(Graph *g, Node *n) {
    const Schema *s = op_schema(n->op);
    Value *x = node_in(n, "self");
    for (int i = 0; i < s->arg_count; i++)
        if (strcmp(s->arg[i].name, "dtype") == 0 && n->arg[i].kind == ARG_DTYPE &&
            n->arg[i].u.dtype != x->type.dtype)
            return MAKE("aten::to.dtype", arg_value(x), arg_dtype(n->arg[i].u.dtype));
    return x;
}

static void softmax_decompose(C *c, Graph *g, Node *n) {
    Value *x = operand(g, n);
    int dim = x->type.rank ? dim_wrap(c, n, node_int(n, "dim"), x->type.rank) : 0;
    value_replace(g, n->out[0], softmax_node(c, g, n, x, dim, 1, NULL, false));
}

static void log_softmax_decompose(C *c, Graph *g, Node *n) {
    Value *x = operand(g, n);
    int dim = x->type.rank ? dim_wrap(c, n, node_int(n, "dim"), x->type.rank) : 0;
    value_replace(g, n->out[0], MAKE("corten::log_softmax", arg_value(x), arg_int(dim)));
}

/* ---- lowering ------------------------------------------------------------------------------- */

void softmax_scaling(double scale, int32_t *multiplier, int32_t *shift, int32_t *diff_min) {
    double real = fmin(scale * (1 << 26), 2147483647.0);
    multiplier_from(real, multiplier, shift);
    if (*shift < 0) { /* a scale below 2^-26: all values are alike */
        *multiplier = 0;
        *shift = 0;
    }
    *diff_min = -(int32_t)floor(31.0 * (double)(1 << 26) / (double)((int64_t)1 << *shift));
}

static bool stored_alike(const Value *a, const Value *b) {
    int64_t p[MAX_RANK], q[MAX_RANK];
    value_strides(a, p);
    value_strides(b, q);
    for (int k = 0; k < a->type.rank; k++)
        if (a->type.dim[k] > 1 && p[k] != q[k])
            return false;
    return true;
}

/* A value like v with dim innermost, for kernels that want rows contiguous. */
static Value *with_rows(Graph *g, const Value *v, int dim) {
    Value *t = value_new(g, v->name, v->type);
    t->grid = v->grid;
    int rank = v->type.rank, k = 0;
    for (int d = 0; d < rank; d++)
        if (d != dim)
            t->order[k++] = (int8_t)d;
    if (rank > 0)
        t->order[k] = (int8_t)dim;
    return t;
}

static void copy_value(C *c, Graph *g, Node *n, Value *from, Value *to) {
    int64_t p[MAX_RANK], q[MAX_RANK];
    value_strides(from, p);
    value_strides(to, q);
    lower_copy(c, g, n, from, 0, p, to, 0, q, from->type.rank, from->type.dim);
}

static bool rows_contiguous(const Value *v, int dim) {
    int64_t stride[MAX_RANK];
    value_strides(v, stride);
    return v->type.rank == 0 || v->type.dim[dim] == 1 || stride[dim] == 1;
}

typedef struct {
    Value *in, *out; /* what the kernel reads and writes */
    Value *mask;     /* NULL: none */
    Rows rows;
} RowCall;

/* The mask by rows, in logical order. */
static Value *mask_begin(C *c, Graph *g, Node *n, Value *mask) {
    if (!mask || value_order_is_identity(mask))
        return mask;
    Value *rows = with_rows(g, mask, mask->type.rank - 1);
    copy_value(c, g, n, mask, rows);
    return rows;
}

/* Operands with contiguous rows, alike in memory, in logical order beside a mask; copied if need
 * be. False if rows are too long. */
static bool rows_begin(C *c, Graph *g, Node *n, Value *mask, RowCall *r) {
    Value *x = node_in(n, "input"), *y = n->out[0];
    int dim = (int)node_int(n, "dim");
    *r = (RowCall){x, y, NULL, rows_of(n)};
    if (r->rows.size >= ROW_LIMIT && !n->float_kept) {
        diag_error(c, DIAG_MODEL, &n->loc,
                   "softmax over %lld values has no integer form: rows must be below %d",
                   (long long)r->rows.size, ROW_LIMIT);
        return false;
    }
    r->mask = mask_begin(c, g, n, mask);
    bool plain = !mask || value_order_is_identity(x);
    if (plain && rows_contiguous(x, dim) && stored_alike(x, y))
        return true;
    r->in = with_rows(g, x, dim);
    r->out = with_rows(g, y, dim);
    copy_value(c, g, n, x, r->in);
    return true;
}

static void rows_end(C *c, Graph *g, Node *n, const RowCall *r) {
    if (r->out != n->out[0])
        copy_value(c, g, n, r->out, n->out[0]);
}

/* The mask of n, its rows one after the other. */
static Value *mask_in_order(C *c, Graph *g, Node *n) {
    Value *mask = node_in(n, "mask");
    if (!mask || value_order_is_identity(mask))
        return mask;
    Value *rows = value_new(g, mask->name, mask->type);
    copy_value(c, g, n, mask, rows);
    return rows;
}

static void softmax_plain(C *c, Graph *g, Node *n, const RowCall *r) {
    Call *call = call_new(c, g, n, CTN_KERNEL_softmax_s8);
    CtnSoftmaxS8Args *a = call->args;
    a->rows = (int32_t)(r->rows.outer * r->rows.inner);
    a->row_size = (int32_t)r->rows.size;
    softmax_scaling(node_double(n, "beta") * value_scale(r->in), &a->multiplier, &a->shift,
                    &a->diff_min);
    call_in(call, &a->input, r->in);
    call_out(call, &a->output, r->out);
    call_absent(call, &a->scratch);
}

static int32_t mask_rows(const RowCall *r) {
    return r->mask ? (int32_t)(type_count(&r->mask->type) / r->rows.size) : 1;
}

static void softmax_masked(C *c, Graph *g, Node *n, const RowCall *r) {
    Call *call = call_new(c, g, n, CTN_KERNEL_masked_softmax_s8);
    CtnMaskedSoftmaxS8Args *a = call->args;
    a->rows = (int32_t)(r->rows.outer * r->rows.inner);
    a->row_size = (int32_t)r->rows.size;
    a->mask_rows = mask_rows(r);
    a->mask_hides = node_bool(n, "mask_hides");
    softmax_scaling(node_double(n, "beta") * value_scale(r->in), &a->multiplier, &a->shift,
                    &a->diff_min);
    a->output_zero_point = value_zero_point(r->out);
    multiplier_from(ldexp(1, -24) / value_scale(r->out), &a->output_multiplier, &a->output_shift);
    call_in(call, &a->input, r->in);
    call_out(call, &a->output, r->out);
    if (r->mask)
        call_in(call, &a->mask, r->mask);
    else
        call_absent(call, &a->mask);
}

static void softmax_wide(C *c, Graph *g, Node *n, const RowCall *r) {
    Call *call = call_new(c, g, n, CTN_KERNEL_softmax_s16);
    CtnSoftmaxS16Args *a = call->args;
    a->rows = (int32_t)(r->rows.outer * r->rows.inner);
    a->row_size = (int32_t)r->rows.size;
    a->mask_rows = mask_rows(r);
    a->mask_hides = node_bool(n, "mask_hides");
    a->input_bytes = dtype_size(value_storage(r->in));
    a->output_bytes = dtype_size(value_storage(r->out));
    softmax_scaling(node_double(n, "beta") * value_scale(r->in), &a->multiplier, &a->shift,
                    &a->diff_min);
    a->output_zero_point = value_zero_point(r->out);
    multiplier_from(ldexp(1, -24) / value_scale(r->out), &a->output_multiplier, &a->output_shift);
    call_in(call, &a->input, r->in);
    call_out(call, &a->output, r->out);
    if (r->mask)
        call_in(call, &a->mask, r->mask);
    else
        call_absent(call, &a->mask);
}

static void softmax_lower(C *c, Graph *g, Node *n) {
    Value *mask = mask_in_order(c, g, n), *y = n->out[0];
    RowCall r;
    if (!rows_begin(c, g, n, mask, &r))
        return;
    if (node_is_wide(n))
        softmax_wide(c, g, n, &r);
    else if (!mask && value_scale(y) == 1.0 / 256 && value_zero_point(y) == -128)
        softmax_plain(c, g, n, &r);
    else
        softmax_masked(c, g, n, &r);
    rows_end(c, g, n, &r);
}

static void log_softmax_lower(C *c, Graph *g, Node *n) {
    RowCall r;
    if (!rows_begin(c, g, n, NULL, &r))
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_log_softmax_s8);
    CtnLogSoftmaxS8Args *a = call->args;
    a->rows = (int32_t)(r.rows.outer * r.rows.inner);
    a->row_size = (int32_t)r.rows.size;
    softmax_scaling(value_scale(r.in), &a->multiplier, &a->shift, &a->diff_min);
    a->output_zero_point = value_zero_point(r.out);
    multiplier_from(value_scale(r.in) / value_scale(r.out), &a->ratio_multiplier, &a->ratio_shift);
    multiplier_from(ldexp(1, 8 - 26) / value_scale(r.out), &a->log_multiplier, &a->log_shift);
    call_in(call, &a->input, r.in);
    call_out(call, &a->output, r.out);
    rows_end(c, g, n, &r);
}

static void softmax_float(C *c, Graph *g, Node *n, double beta, Value *mask, bool hides,
                          bool logarithm) {
    RowCall r;
    if (!rows_begin(c, g, n, mask, &r))
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_softmax_f32);
    CtnSoftmaxF32Args *a = call->args;
    a->rows = (int32_t)(r.rows.outer * r.rows.inner);
    a->row_size = (int32_t)r.rows.size;
    a->mask_rows = mask_rows(&r);
    a->mask_hides = hides;
    a->beta = float_bits(beta);
    a->logarithm = logarithm;
    call_in(call, &a->input, r.in);
    call_out(call, &a->output, r.out);
    if (r.mask)
        call_in(call, &a->mask, r.mask);
    rows_end(c, g, n, &r);
}

static void softmax_lower_float(C *c, Graph *g, Node *n) {
    softmax_float(c, g, n, node_double(n, "beta"), mask_in_order(c, g, n),
                  node_bool(n, "mask_hides"), false);
}

static void log_softmax_lower_float(C *c, Graph *g, Node *n) {
    softmax_float(c, g, n, 1, NULL, false, true);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define SOFTMAX_CORE                                                                               \
    .traits = OP_ANY_ORDER | OP_WIDE_IN | OP_WIDE_OUT, .shape = softmax_shape,                     \
    .eval = softmax_eval, .lower = softmax_lower, .lower_float = softmax_lower_float

static const Op rows[] = {
    {.schema = "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(softmax_decompose)},
    {.schema = "aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
     COMPOSITE(softmax_decompose)},
    {.schema = "aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(softmax_decompose)},
    {.schema = "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(softmax_decompose)},
    {.schema = "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     COMPOSITE(log_softmax_decompose)},
    {.schema = "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
     COMPOSITE(log_softmax_decompose)},
    {.schema = "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> "
               "Tensor",
     COMPOSITE(log_softmax_decompose)},
    /* softmax of beta * input. mask: bool of the last dims of the input, repeated over the others
     * (dim is then the last); values count where its truth differs from mask_hides. Rows without
     * any are zero. */
    {.schema =
         "corten::softmax(Tensor input, int dim, float beta, Tensor? mask, bool mask_hides) -> "
         "Tensor",
     SOFTMAX_CORE,
     .quant = {.in = {Q_ACT, Q_DEFAULT, Q_DEFAULT, Q_RAW},
               .out = {Q_FIXED},
               .scale = 1.0 / 256,
               .zero_point = -128}},
    {.schema = "corten::softmax_scaled(Tensor input, int dim, float beta, Tensor? mask, bool "
               "mask_hides) -> Tensor",
     SOFTMAX_CORE,
     .quant = {.in = {Q_ACT, Q_DEFAULT, Q_DEFAULT, Q_RAW},
               .out = {Q_ACT},
               .scale = 1.0 / 256, /* where a profile fixes it */
               .zero_point = -128}},
    {.schema = "corten::log_softmax(Tensor input, int dim) -> Tensor",
     .traits = OP_ANY_ORDER,
     .shape = softmax_shape,
     .eval = log_softmax_eval,
     .quant = {.in = {Q_ACT}, .out = {Q_ACT}},
     .lower = log_softmax_lower,
     .lower_float = log_softmax_lower_float},
};

OPS_FAMILY(softmax, rows);
