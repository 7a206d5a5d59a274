/* Matrix products. All ATen rows decompose into two internal ones: `corten::linear`, whose weight
 * is a constant [columns][depth] with a scale per column, and `corten::matmul`, a product of two
 * activations whose operands may lie in any physical order. */
#include "lower/float.h"
#include "ops/ops.h"

#include <string.h>

static Value *transposed(C *c, Graph *g, Node *n, Value *v, int a, int b) {
    (void)c;
    return MAKE("aten::transpose.int", arg_value(v), arg_int(a), arg_int(b));
}

/* [rows][columns] -> [columns][rows], data and pinned grid, so that it stays a constant. */
static Value *constant_transposed(C *c, Graph *g, const Value *v) {
    int64_t dim[2] = {v->type.dim[1], v->type.dim[0]};
    Array *a = array_new(c, v->constant->dtype, 2, dim);
    size_t size = (size_t)dtype_size(a->dtype);
    for (int64_t i = 0; i < dim[0]; i++)
        for (int64_t k = 0; k < dim[1]; k++)
            memcpy((char *)a->data + (size_t)(i * dim[1] + k) * size,
                   (const char *)v->constant->data + (size_t)(k * dim[0] + i) * size, size);
    Value *made = value_constant(g, v->name, a);
    made->type = type_make(v->type.dtype, 2, dim);
    if (v->grid) {
        made->grid = c_memdup(c, v->grid, sizeof *v->grid);
        made->grid->part = c_memdup(c, v->grid->part, sizeof(Part) * (size_t)v->grid->part_count);
        for (int k = 0; k < made->grid->part_count; k++)
            if (made->grid->part[k].axis >= 0)
                made->grid->part[k].axis = 1 - made->grid->part[k].axis;
    }
    return made;
}

static bool floats_needed(C *c, const Node *n, const Type *a, const Type *b) {
    if (dtype_is_float(a->dtype) && dtype_is_float(b->dtype))
        return true;
    diag_error(c, DIAG_MODEL, &n->loc, "matrix product of %s and %s: only float tensors have one",
               dtype_name(a->dtype), dtype_name(b->dtype));
    return false;
}

static bool shapes_mismatch(C *c, const Node *n, const Type *a, const Type *b) {
    diag_error(c, DIAG_MODEL, &n->loc, "matrix product of %s and %s: shapes do not fit",
               shape_text(c, a->rank, a->dim), shape_text(c, b->rank, b->dim));
    return false;
}

/* ---- corten::linear ------------------------------------------------------------------------- */

static void linear_shape(C *c, Node *n) {
    const Type *x = &node_in(n, "input")->type, *w = &node_in(n, "weight")->type;
    const Value *bias = node_in(n, "bias");
    shape_same(c, n);
    if (!floats_needed(c, n, x, w))
        return;
    if (x->rank < 1 || w->rank != 2 || x->dim[x->rank - 1] != w->dim[1]) {
        shapes_mismatch(c, n, x, w);
        return;
    }
    if (bias && (bias->type.rank != 1 || bias->type.dim[0] != w->dim[0])) {
        diag_error(c, DIAG_MODEL, &n->loc, "bias %s does not fit %lld columns",
                   shape_text(c, bias->type.rank, bias->type.dim), (long long)w->dim[0]);
        return;
    }
    Type out = *x;
    out.dim[out.rank - 1] = w->dim[0];
    node_set_type(n, 0, out.dtype, out.rank, out.dim);
}

static void linear_eval(C *c, Node *n) {
    const Array *x = eval_in(c, n, "input"), *w = eval_in(c, n, "weight");
    const Array *bias = eval_in(c, n, "bias");
    float *y = eval_out(c, n, 0)->data;
    int64_t columns = w->dim[0], depth = w->dim[1];
    int64_t rows = dims_count(x->rank - 1, x->dim);
    for (int64_t r = 0; bias && r < rows; r++)
        memcpy(y + r * columns, bias->data, (size_t)columns * sizeof(float));
    float_gemm(false, true, rows, columns, depth, x->data, depth, w->data, depth,
               bias ? 1.0f : 0.0f, y, columns);
}

static void linear_lower_wide(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input"), *w = node_in(n, "weight");
    Call *call = call_new(c, g, n, CTN_KERNEL_linear_s16);
    CtnLinearS16Args *a = call->args;
    a->rows = (int32_t)dims_count(x->type.rank - 1, x->type.dim);
    a->depth = (int32_t)w->type.dim[1];
    a->columns = (int32_t)w->type.dim[0];
    a->input_bytes = dtype_size(value_storage(x));
    a->output_bytes = dtype_size(value_storage(node_result(n)));
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(n->out[0]);
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, x);
    call_out(call, &a->output, node_result(n));
    call_weights(c, call, n, w->type.dim[0], w->constant->data, type_count(&w->type),
                 (WeightFields){&a->weights, &a->bias, &a->multiplier, &a->shift});
    store_map_s16(c, call, n, &(MapFields){&a->table, &a->start, &a->piece, &a->pieces});
    call->macs = (int64_t)a->rows * a->depth * a->columns;
}

static void linear_lower(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input"), *w = node_in(n, "weight");
    if (!weights_are_int8(c, n, w))
        return;
    if (node_is_wide(n)) {
        linear_lower_wide(c, g, n);
        return;
    }
    Call *call =
        call_new(c, g, n, weights_are_int4(w) ? CTN_KERNEL_linear_s8w4 : CTN_KERNEL_linear_s8);
    CtnLinearS8Args *a = call->args; /* both have the same fields */
    a->rows = (int32_t)dims_count(x->type.rank - 1, x->type.dim);
    a->depth = (int32_t)w->type.dim[1];
    a->columns = (int32_t)w->type.dim[0];
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(n->out[0]);
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, x);
    call_out(call, &a->output, node_result(n));
    call_weights(c, call, n, w->type.dim[0], w->constant->data, type_count(&w->type),
                 (WeightFields){&a->weights, &a->bias, &a->multiplier, &a->shift});
    store_table(c, call, &a->table, n);
    call_absent(call, &a->scratch);
    call->macs = (int64_t)a->rows * a->depth * a->columns;
}

/* ---- corten::matmul ------------------------------------------------------------------------- */

#define MATMUL_BATCHES 4 /* batch dims of the kernel */

static void matmul_shape(C *c, Node *n) {
    const Type *a = &node_in(n, "lhs")->type, *b = &node_in(n, "rhs")->type;
    shape_same(c, n);
    if (!floats_needed(c, n, a, b))
        return;
    Type out = a->rank >= b->rank ? *a : *b;
    bool fits = a->rank >= 2 && b->rank >= 2 && a->dim[a->rank - 1] == b->dim[b->rank - 2];
    for (int k = 3; fits && k <= out.rank; k++) {
        int64_t p = k <= a->rank ? a->dim[a->rank - k] : 1;
        int64_t q = k <= b->rank ? b->dim[b->rank - k] : 1;
        fits = p == q || p == 1 || q == 1;
        out.dim[out.rank - k] = p == 1 ? q : p;
    }
    if (!fits) {
        shapes_mismatch(c, n, a, b);
        return;
    }
    out.dim[out.rank - 2] = a->dim[a->rank - 2];
    out.dim[out.rank - 1] = b->dim[b->rank - 1];
    node_set_type(n, 0, out.dtype, out.rank, out.dim);
}

/* Element strides of v's batch dims under the output's, 0 where it broadcasts. */
static void batch_strides(const Type *v, const int64_t *own, const Type *out, int64_t *stride) {
    for (int k = 0; k < out->rank - 2; k++) {
        int d = k - (out->rank - v->rank);
        stride[k] = d >= 0 && v->dim[d] > 1 ? own[d] : 0;
    }
}

static void contiguous_strides(const Type *t, int64_t *stride) {
    int64_t step = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        stride[d] = step;
        step *= t->dim[d];
    }
}

static void matmul_eval(C *c, Node *n) {
    const Type *a = &node_in(n, "lhs")->type, *b = &node_in(n, "rhs")->type;
    const Type *out = &n->out[0]->type;
    const float *x = eval_in(c, n, "lhs")->data, *w = eval_in(c, n, "rhs")->data;
    float *y = eval_out(c, n, 0)->data;
    int64_t own[MAX_RANK], a_stride[MAX_RANK], b_stride[MAX_RANK];
    contiguous_strides(a, own);
    batch_strides(a, own, out, a_stride);
    contiguous_strides(b, own);
    batch_strides(b, own, out, b_stride);
    int batches = out->rank - 2;
    int64_t rows = out->dim[batches], columns = out->dim[batches + 1];
    int64_t depth = a->dim[a->rank - 1];
    for (int64_t i = 0; i < dims_count(batches, out->dim); i++) {
        int64_t from_a = 0, from_b = 0;
        for (int64_t k = batches - 1, rest = i; k >= 0; rest /= out->dim[k], k--) {
            from_a += rest % out->dim[k] * a_stride[k];
            from_b += rest % out->dim[k] * b_stride[k];
        }
        float_gemm(false, false, rows, columns, depth, x + from_a, depth, w + from_b, columns, 0.0f,
                   y + i * rows * columns, columns);
    }
}

/* The output's batch dims above 1 as the kernel's, adjacent ones merged where both operands step
 * alike. False if there are still too many. */
static bool matmul_batches(const Type *out, const int64_t *lhs, const int64_t *rhs,
                           CtnMatmulS8Args *a) {
    int used = MATMUL_BATCHES; /* filled from the innermost */
    for (int k = 0; k < MATMUL_BATCHES; k++) {
        a->batch[k] = 1;
        a->lhs_batch_stride[k] = a->rhs_batch_stride[k] = 0;
    }
    for (int k = out->rank - 3; k >= 0; k--) {
        if (out->dim[k] == 1)
            continue;
        if (used < MATMUL_BATCHES &&
            lhs[k] == (int64_t)a->lhs_batch_stride[used] * a->batch[used] &&
            rhs[k] == (int64_t)a->rhs_batch_stride[used] * a->batch[used]) {
            a->batch[used] *= (int32_t)out->dim[k];
            continue;
        }
        if (used == 0)
            return false;
        used--;
        a->batch[used] = (int32_t)out->dim[k];
        a->lhs_batch_stride[used] = (int32_t)lhs[k];
        a->rhs_batch_stride[used] = (int32_t)rhs[k];
    }
    return true;
}

/* Sizes and strides of both kernels. */
static void matmul_sizes(C *c, const Node *n, CtnMatmulS8Args *a) {
    const Value *lhs = node_in(n, "lhs"), *rhs = node_in(n, "rhs");
    const Type *out = &n->out[0]->type;
    int64_t own[MAX_RANK], lhs_batch[MAX_RANK], rhs_batch[MAX_RANK];
    value_strides(lhs, own);
    batch_strides(&lhs->type, own, out, lhs_batch);
    a->lhs_row_stride = (int32_t)own[lhs->type.rank - 2];
    a->lhs_depth_stride = (int32_t)own[lhs->type.rank - 1];
    value_strides(rhs, own);
    batch_strides(&rhs->type, own, out, rhs_batch);
    a->rhs_depth_stride = (int32_t)own[rhs->type.rank - 2];
    a->rhs_column_stride = (int32_t)own[rhs->type.rank - 1];
    if (!matmul_batches(out, lhs_batch, rhs_batch, a))
        diag_error(c, DIAG_MODEL, &n->loc, "matrix product over %s: more than %d batch dims",
                   shape_text(c, out->rank, out->dim), MATMUL_BATCHES);
    a->rows = (int32_t)out->dim[out->rank - 2];
    a->columns = (int32_t)out->dim[out->rank - 1];
    a->depth = (int32_t)lhs->type.dim[lhs->type.rank - 1];
}

/* ... and the numbers. */
static void matmul_fill(C *c, Node *n, CtnMatmulS8Args *a) {
    Value *lhs = node_in(n, "lhs"), *rhs = node_in(n, "rhs");
    matmul_sizes(c, n, a);
    a->lhs_zero_point = value_zero_point(lhs);
    a->rhs_zero_point = value_zero_point(rhs);
    a->output_zero_point = value_zero_point(n->out[0]);
    multiplier_from(value_scale(lhs) * value_scale(rhs) / value_scale(n->out[0]), &a->multiplier,
                    &a->shift);
    store_clamp(n, &a->clamp_min, &a->clamp_max);
}

static void matmul_lower_wide(C *c, Graph *g, Node *n) {
    Value *lhs = node_in(n, "lhs"), *rhs = node_in(n, "rhs");
    Call *call = call_new(c, g, n, CTN_KERNEL_matmul_s16);
    CtnMatmulS16Args *a = call->args;
    CtnMatmulS8Args narrow = {0};
    matmul_fill(c, n, &narrow);
    for (int k = 0; k < MATMUL_BATCHES; k++) {
        a->batch[k] = narrow.batch[k];
        a->lhs_batch_stride[k] = narrow.lhs_batch_stride[k];
        a->rhs_batch_stride[k] = narrow.rhs_batch_stride[k];
    }
    a->rows = narrow.rows;
    a->depth = narrow.depth;
    a->columns = narrow.columns;
    a->lhs_row_stride = narrow.lhs_row_stride;
    a->lhs_depth_stride = narrow.lhs_depth_stride;
    a->rhs_depth_stride = narrow.rhs_depth_stride;
    a->rhs_column_stride = narrow.rhs_column_stride;
    a->lhs_bytes = dtype_size(value_storage(lhs));
    a->rhs_bytes = dtype_size(value_storage(rhs));
    a->output_bytes = dtype_size(value_storage(node_result(n)));
    a->lhs_zero_point = narrow.lhs_zero_point;
    a->rhs_zero_point = narrow.rhs_zero_point;
    a->output_zero_point = narrow.output_zero_point;
    a->multiplier = narrow.multiplier;
    a->shift = narrow.shift;
    a->clamp_min = narrow.clamp_min;
    a->clamp_max = narrow.clamp_max;
    if (a->shift > 14)
        diag_error(c, DIAG_MODEL, &n->loc,
                   "matrix product: the result's scale is too fine for its operands'");
    call_in(call, &a->lhs, lhs);
    call_in(call, &a->rhs, rhs);
    call_out(call, &a->output, node_result(n));
    call->macs = type_count(&n->out[0]->type) * a->depth;
}

static void matmul_lower(C *c, Graph *g, Node *n) {
    if (node_is_wide(n)) {
        matmul_lower_wide(c, g, n);
        return;
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_matmul_s8);
    CtnMatmulS8Args *a = call->args;
    matmul_fill(c, n, a);
    call_in(call, &a->lhs, node_in(n, "lhs"));
    call_in(call, &a->rhs, node_in(n, "rhs"));
    call_out(call, &a->output, node_result(n));
    store_table(c, call, &a->table, n);
    call_absent(call, &a->scratch);
    call->macs = type_count(&n->out[0]->type) * a->depth;
}

/* ---- in float -------------------------------------------------------------------------------- */

static void linear_lower_float(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input"), *w = node_in(n, "weight");
    Call *call = call_new(c, g, n, CTN_KERNEL_matmul_f32);
    CtnMatmulF32Args *a = call->args;
    for (int k = 0; k < MATMUL_BATCHES; k++)
        a->batch[k] = 1;
    a->rows = (int32_t)dims_count(x->type.rank - 1, x->type.dim);
    a->depth = a->lhs_row_stride = a->rhs_column_stride = (int32_t)w->type.dim[1];
    a->columns = (int32_t)w->type.dim[0];
    a->lhs_depth_stride = a->rhs_depth_stride = 1;
    call_in(call, &a->lhs, x);
    call_floats(c, call, &a->rhs, "weight", w);
    call_floats(c, call, &a->bias, "bias", node_in(n, "bias"));
    call_out(call, &a->output, n->out[0]);
    call->macs = (int64_t)a->rows * a->depth * a->columns;
}

static void matmul_lower_float(C *c, Graph *g, Node *n) {
    Value *lhs = node_in(n, "lhs"), *rhs = node_in(n, "rhs");
    CtnMatmulS8Args m;
    Call *call = call_new(c, g, n, CTN_KERNEL_matmul_f32);
    CtnMatmulF32Args *a = call->args;
    matmul_sizes(c, n, &m);
    memcpy(a->batch, m.batch, sizeof a->batch);
    memcpy(a->lhs_batch_stride, m.lhs_batch_stride, sizeof a->batch);
    memcpy(a->rhs_batch_stride, m.rhs_batch_stride, sizeof a->batch);
    a->rows = m.rows;
    a->depth = m.depth;
    a->columns = m.columns;
    a->lhs_row_stride = m.lhs_row_stride;
    a->lhs_depth_stride = m.lhs_depth_stride;
    a->rhs_depth_stride = m.rhs_depth_stride;
    a->rhs_column_stride = m.rhs_column_stride;
    call_in(call, &a->lhs, lhs);
    call_in(call, &a->rhs, rhs);
    call_out(call, &a->output, n->out[0]);
    call->macs = type_count(&n->out[0]->type) * a->depth;
}

/* ---- ATen's products ------------------------------------------------------------------------ */

/* a * b for ranks of two and more. A constant [depth][columns] on the right is a weight. */
static Value *product(C *c, Graph *g, Node *n, Value *a, Value *b) {
    if (b->constant && b->type.rank == 2)
        return MAKE("corten::linear", arg_value(a), arg_value(constant_transposed(c, g, b)),
                    arg_none());
    return MAKE("corten::matmul", arg_value(a), arg_value(b));
}

/* factor * v, without a node for a factor of one */
static Value *scaled(Graph *g, Node *n, Value *v, double factor) {
    bool whole = !dtype_is_float(v->type.dtype) && factor == rint(factor);
    Arg by = whole ? arg_int((int64_t)factor) : arg_float(factor);
    return factor == 1 ? v : MAKE("aten::mul.Tensor", arg_value(v), by);
}

static void matmul_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 0), *b = node_operand(n, 1);
    int a_rank = a->type.rank, b_rank = b->type.rank;
    if (a_rank < 1 || b_rank < 1) {
        shapes_mismatch(c, n, &a->type, &b->type);
        return;
    }
    if (a_rank == 1)
        a = MAKE("aten::unsqueeze", arg_value(a), arg_int(0));
    if (b_rank == 1)
        b = MAKE("aten::unsqueeze", arg_value(b), arg_int(1));
    Value *y = product(c, g, n, a, b);
    if (b_rank == 1)
        y = MAKE("aten::squeeze.dim", arg_value(y), arg_int(-1));
    if (a_rank == 1)
        y = MAKE("aten::squeeze.dim", arg_value(y), arg_int(b_rank == 1 ? -1 : -2));
    value_replace(g, n->out[0], y);
}

/* mm, bmm, mv, dot: matmul of ranks that are fixed. */
static bool ranks_are(C *c, const Node *n, const Value *a, int a_rank, const Value *b, int b_rank) {
    if (a->type.rank == a_rank && b->type.rank == b_rank)
        return true;
    return shapes_mismatch(c, n, &a->type, &b->type);
}

static void mm_decompose(C *c, Graph *g, Node *n) {
    if (ranks_are(c, n, node_operand(n, 0), 2, node_operand(n, 1), 2))
        matmul_decompose(c, g, n);
}

static void bmm_decompose(C *c, Graph *g, Node *n) {
    if (ranks_are(c, n, node_operand(n, 0), 3, node_operand(n, 1), 3))
        matmul_decompose(c, g, n);
}

static void mv_decompose(C *c, Graph *g, Node *n) {
    if (ranks_are(c, n, node_operand(n, 0), 2, node_operand(n, 1), 1))
        matmul_decompose(c, g, n);
}

static void dot_decompose(C *c, Graph *g, Node *n) {
    if (ranks_are(c, n, node_operand(n, 0), 1, node_operand(n, 1), 1))
        matmul_decompose(c, g, n);
}

static void linear_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input"), *w = node_in(n, "weight"), *bias = node_in(n, "bias");
    int w_rank = w->type.rank;
    if (x->type.rank < 1 || w_rank < 1 || w_rank > 2) {
        shapes_mismatch(c, n, &x->type, &w->type);
        return;
    }
    if (w_rank == 1)
        w = MAKE("aten::unsqueeze", arg_value(w), arg_int(0));
    Value *y;
    if (w->constant && (!bias || (bias->constant && bias->type.rank == 1))) {
        y = MAKE("corten::linear", arg_value(x), arg_value(w), arg_value(bias));
    } else {
        bool vector = x->type.rank == 1;
        if (vector)
            x = MAKE("aten::unsqueeze", arg_value(x), arg_int(0));
        y = MAKE("corten::matmul", arg_value(x), arg_value(transposed(c, g, n, w, 0, 1)));
        if (vector)
            y = MAKE("aten::squeeze.dim", arg_value(y), arg_int(0));
        if (bias)
            y = MAKE("aten::add.Tensor", arg_value(y), arg_value(bias));
    }
    if (w_rank == 1)
        y = MAKE("aten::squeeze.dim", arg_value(y), arg_int(-1));
    value_replace(g, n->out[0], y);
}

/* beta * self + alpha * product, or the product alone when beta is 0 (self may then be NaN). */
static void add_product(Graph *g, Node *n, Value *product_value) {
    double beta = node_double(n, "beta"), alpha = node_double(n, "alpha");
    Value *y = scaled(g, n, product_value, alpha);
    if (beta != 0)
        y = MAKE("aten::add.Tensor", arg_value(scaled(g, n, node_in(n, "self"), beta)),
                 arg_value(y));
    value_replace(g, n->out[0], y);
}

/* addmm of a constant matrix and vector is a linear layer. */
static void addmm_decompose(C *c, Graph *g, Node *n) {
    Value *bias = node_in(n, "self"), *a = node_operand(n, 1), *b = node_operand(n, 2);
    if (!ranks_are(c, n, a, 2, b, 2))
        return;
    bool plain = node_double(n, "beta") == 1 && node_double(n, "alpha") == 1;
    if (plain && b->constant && bias->constant && bias->type.rank == 1 &&
        bias->type.dim[0] == b->type.dim[1])
        value_replace(g, n->out[0],
                      MAKE("corten::linear", arg_value(a), arg_value(constant_transposed(c, g, b)),
                           arg_value(bias)));
    else
        add_product(g, n, product(c, g, n, a, b));
}

/* addmm and relu or gelu. */
static void addmm_activation_decompose(C *c, Graph *g, Node *n) {
    (void)c;
    Value *y = MAKE("aten::addmm", *node_arg(n, "self"), *node_arg(n, "mat1"), *node_arg(n, "mat2"),
                    *node_arg(n, "beta"), *node_arg(n, "alpha"));
    value_replace(g, n->out[0],
                  node_bool(n, "use_gelu") ? MAKE("aten::gelu", arg_value(y))
                                           : MAKE("aten::relu", arg_value(y)));
}

static void addmv_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 1), *b = node_operand(n, 2);
    if (ranks_are(c, n, a, 2, b, 1))
        add_product(g, n, MAKE("aten::matmul", arg_value(a), arg_value(b)));
}

static void baddbmm_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 1), *b = node_operand(n, 2);
    if (ranks_are(c, n, a, 3, b, 3))
        add_product(g, n, product(c, g, n, a, b));
}

/* The sum over batches of a product is one product: batch and depth are summed alike. */
static void addbmm_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 1), *b = node_operand(n, 2);
    if (!ranks_are(c, n, a, 3, b, 3))
        return;
    const int64_t *p = a->type.dim, *q = b->type.dim;
    if (p[0] != q[0] || p[2] != q[1]) {
        shapes_mismatch(c, n, &a->type, &b->type);
        return;
    }
    int64_t left[2] = {p[1], p[0] * p[2]}, right[2] = {q[0] * q[1], q[2]};
    a = MAKE("aten::reshape", arg_value(transposed(c, g, n, a, 0, 1)), arg_ints(c, 2, left));
    b = MAKE("aten::reshape", arg_value(b), arg_ints(c, 2, right));
    add_product(g, n, product(c, g, n, a, b));
}

static void outer_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 0), *b = node_operand(n, 1);
    if (!ranks_are(c, n, a, 1, b, 1))
        return;
    a = MAKE("aten::unsqueeze", arg_value(a), arg_int(1));
    value_replace(g, n->out[0], MAKE("aten::mul.Tensor", arg_value(a), arg_value(b)));
}

/* Of bools beta and alpha are true or false, products are "and", sums "or". */
static void addr_of_bools(Graph *g, Node *n, Value *product_value) {
    Value *self = node_in(n, "self");
    self = MAKE("aten::logical_and", arg_value(self), arg_bool(node_double(n, "beta") != 0));
    Value *y =
        MAKE("aten::logical_and", arg_value(product_value), arg_bool(node_double(n, "alpha") != 0));
    value_replace(g, n->out[0], MAKE("aten::logical_or", arg_value(self), arg_value(y)));
}

/* beta * self + alpha * the outer product of two vectors */
static void addr_decompose(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *a = node_operand(n, 1), *b = node_operand(n, 2);
    if (!ranks_are(c, n, a, 1, b, 1))
        return;
    if (self->type.dtype == DT_BOOL && a->type.dtype == DT_BOOL && b->type.dtype == DT_BOOL)
        addr_of_bools(g, n, MAKE("aten::outer", arg_value(a), arg_value(b)));
    else
        add_product(g, n, MAKE("aten::outer", arg_value(a), arg_value(b)));
}

/* Sums over the last dim of both: [..., K] and [..., K]. */
static void inner_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 0), *b = node_operand(n, 1);
    if (a->type.rank == 0 || b->type.rank == 0) {
        value_replace(g, n->out[0], MAKE("aten::mul.Tensor", arg_value(a), arg_value(b)));
        return;
    }
    int64_t last = -1;
    value_replace(g, n->out[0],
                  MAKE("aten::tensordot", arg_value(a), arg_value(b), arg_ints(c, 1, &last),
                       arg_ints(c, 1, &last)));
}

/* v with the listed dims behind (or, `front`, before) the others, as a matrix; the sizes of the
 * others are appended to `size`. */
static Value *gathered(C *c, Graph *g, Node *n, Value *v, int count, const int64_t *dim, bool front,
                       int *rank, int64_t *size) {
    int64_t order[MAX_RANK], matrix[2] = {1, 1};
    bool listed[MAX_RANK] = {false};
    int kept = 0;
    for (int k = 0; k < count; k++)
        listed[dim[k]] = true;
    for (int k = 0; k < v->type.rank; k++)
        if (!listed[k]) {
            order[(front ? count : 0) + kept++] = k;
            matrix[front] *= v->type.dim[k];
            if (*rank < MAX_RANK)
                size[(*rank)++] = v->type.dim[k];
        }
    for (int k = 0; k < count; k++) {
        order[(front ? 0 : kept) + k] = dim[k];
        matrix[!front] *= v->type.dim[dim[k]];
    }
    Value *turned = MAKE("aten::permute", arg_value(v), arg_ints(c, v->type.rank, order));
    return MAKE("aten::reshape", arg_value(turned), arg_ints(c, 2, matrix));
}

static void tensordot_decompose(C *c, Graph *g, Node *n) {
    Value *a = node_operand(n, 0), *b = node_operand(n, 1);
    int64_t p[MAX_RANK], q[MAX_RANK], size[MAX_RANK];
    int count = node_ints(n, "dims_self", p, MAX_RANK), rank = 0;
    bool fits = count == node_ints(n, "dims_other", q, MAX_RANK) && count <= a->type.rank &&
                count <= b->type.rank && a->type.rank + b->type.rank - 2 * count <= MAX_RANK;
    bool seen_a[MAX_RANK] = {false}, seen_b[MAX_RANK] = {false};
    for (int k = 0; fits && k < count; k++) {
        p[k] = dim_wrap(c, n, p[k], a->type.rank);
        q[k] = dim_wrap(c, n, q[k], b->type.rank);
        fits = a->type.dim[p[k]] == b->type.dim[q[k]] && !seen_a[p[k]] && !seen_b[q[k]];
        seen_a[p[k]] = seen_b[q[k]] = true;
    }
    if (!fits) {
        shapes_mismatch(c, n, &a->type, &b->type);
        return;
    }
    Value *x = gathered(c, g, n, a, count, p, false, &rank, size);
    Value *y = gathered(c, g, n, b, count, q, true, &rank, size);
    Value *z = MAKE("aten::mm", arg_value(x), arg_value(y));
    value_replace(g, n->out[0], MAKE("aten::reshape", arg_value(z), arg_ints(c, rank, size)));
}

#define CHAIN_MOST 64

/* A product of several matrices, left to right. */
static void chain_decompose(C *c, Graph *g, Node *n) {
    Value *matrix[CHAIN_MOST];
    const char *list = node_is(n, "aten::chain_matmul") ? "matrices" : "tensors";
    int count = node_values(n, list, matrix, CHAIN_MOST);
    if (count < 1 || count >= CHAIN_MOST) {
        diag_error(c, DIAG_MODEL, &n->loc, "a product of %d matrices", count);
        return;
    }
    Value *y = matrix[0];
    for (int k = 1; k < count; k++)
        y = MAKE("aten::matmul", arg_value(y), arg_value(matrix[k]));
    value_replace(g, n->out[0], y);
}

/* out[..., k] = sum over i, j of x[..., i] * w[k][i][j] * y[..., j]: a linear layer on the outer
 * products of x and y. */
static void bilinear_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_operand(n, 0), *y = node_operand(n, 1), *w = node_in(n, "weight");
    const Value *bias = node_in(n, "bias");
    int rank = x->type.rank;
    if (rank < 1 || rank >= MAX_RANK || y->type.rank != rank || w->type.rank != 3 ||
        x->type.dim[rank - 1] != w->type.dim[1] || y->type.dim[rank - 1] != w->type.dim[2]) {
        shapes_mismatch(c, n, &x->type, &y->type);
        return;
    }
    int64_t dim[MAX_RANK], flat[2] = {w->type.dim[0], w->type.dim[1] * w->type.dim[2]};
    memcpy(dim, x->type.dim, sizeof dim);
    dim[rank - 1] = flat[1];
    Value *column = MAKE("aten::unsqueeze", arg_value(x), arg_int(-1));
    Value *row = MAKE("aten::unsqueeze", arg_value(y), arg_int(-2));
    Value *outer = MAKE("aten::mul.Tensor", arg_value(column), arg_value(row));
    outer = MAKE("aten::reshape", arg_value(outer), arg_ints(c, rank, dim));
    Value *matrix;
    if (w->constant) {
        Array *a = array_new(c, w->constant->dtype, 2, flat);
        memcpy(a->data, w->constant->data, (size_t)array_bytes(a));
        matrix = value_constant(g, w->name, a);
        matrix->type = type_make(w->type.dtype, 2, flat);
        matrix->grid = w->grid;
    } else {
        matrix = MAKE("aten::reshape", arg_value(w), arg_ints(c, 2, flat));
    }
    value_replace(
        g, n->out[0],
        MAKE("aten::linear", arg_value(outer), arg_value(matrix), arg_value((Value *)bias)));
}

/* ---- rows ----------------------------------------------------------------------------------- */

static const Op rows[] = {
    {.schema = "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
     COMPOSITE(linear_decompose)},
    {.schema = "aten::matmul(Tensor self, Tensor other) -> Tensor", COMPOSITE(matmul_decompose)},
    {.schema = "aten::linalg_matmul(Tensor self, Tensor other) -> Tensor",
     COMPOSITE(matmul_decompose)},
    {.schema = "aten::mm(Tensor self, Tensor mat2) -> Tensor", COMPOSITE(mm_decompose)},
    {.schema = "aten::bmm(Tensor self, Tensor mat2) -> Tensor", COMPOSITE(bmm_decompose)},
    {.schema = "aten::mv(Tensor self, Tensor vec) -> Tensor", COMPOSITE(mv_decompose)},
    {.schema = "aten::dot(Tensor self, Tensor tensor) -> Tensor", COMPOSITE(dot_decompose)},
    {.schema = "aten::vdot(Tensor self, Tensor other) -> Tensor", COMPOSITE(dot_decompose)},
    {.schema = "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar "
               "alpha=1) -> Tensor",
     COMPOSITE(addmm_decompose)},
    {.schema = "aten::_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
               "Scalar alpha=1, bool use_gelu=False) -> Tensor",
     COMPOSITE(addmm_activation_decompose)},
    {.schema = "aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) "
               "-> Tensor",
     COMPOSITE(addmv_decompose)},
    {.schema = "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
               "alpha=1) -> Tensor",
     COMPOSITE(baddbmm_decompose)},
    {.schema = "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
               "alpha=1) -> Tensor",
     COMPOSITE(addbmm_decompose)},
    {.schema = "aten::outer(Tensor self, Tensor vec2) -> Tensor", COMPOSITE(outer_decompose)},
    {.schema = "aten::ger(Tensor self, Tensor vec2) -> Tensor", COMPOSITE(outer_decompose)},
    {.schema = "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar "
               "alpha=1) -> Tensor",
     COMPOSITE(addr_decompose)},
    {.schema = "aten::inner(Tensor self, Tensor other) -> Tensor", COMPOSITE(inner_decompose)},
    {.schema = "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> "
               "Tensor",
     COMPOSITE(tensordot_decompose)},
    {.schema = "aten::chain_matmul(Tensor[] matrices) -> Tensor", COMPOSITE(chain_decompose)},
    {.schema = "aten::linalg_multi_dot(Tensor[] tensors) -> Tensor", COMPOSITE(chain_decompose)},
    {.schema = "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> "
               "Tensor",
     COMPOSITE(bilinear_decompose)},
    {.schema = "corten::linear(Tensor input, Tensor weight, Tensor? bias) -> Tensor",
     .traits = OP_FUSES_CLAMP | OP_FUSES_TABLE | OP_FUSES_MAP | OP_WIDE_IN | OP_WIDE_OUT |
               OP_INT4_WEIGHTS,
     .shape = linear_shape,
     .eval = linear_eval,
     .quant = {.in = {Q_ACT, Q_WEIGHT, Q_BIAS}, .out = {Q_ACT}, .weight_axis = 0},
     .lower = linear_lower,
     .lower_float = linear_lower_float},
    {.schema = "corten::matmul(Tensor lhs, Tensor rhs) -> Tensor",
     .traits = OP_FUSES_CLAMP | OP_FUSES_TABLE | OP_ANY_ORDER | OP_LOGICAL_OUTPUT | OP_WIDE_IN |
               OP_WIDE_OUT,
     .shape = matmul_shape,
     .eval = matmul_eval,
     .quant = {.in = {Q_ACT, Q_ACT}, .out = {Q_ACT}},
     .lower = matmul_lower,
     .lower_float = matmul_lower_float},
};

OPS_FAMILY(linear, rows);
