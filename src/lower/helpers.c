/* What lower functions share: fixed-point factors, the clamp and table of a store, table entries,
 * and broadcast strides. All numbers that kernels see are made here. */
#include "fix.h"
#include "lower/lower.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define TABLE_OPERANDS 6

/* multiplier: mantissa * 2^31, rounded half away from zero, with real = multiplier * 2^(shift-31).
 */
void multiplier_from(double real, int32_t *multiplier, int32_t *shift) {
    int exponent = 0;
    double mantissa = frexp(real, &exponent);
    int64_t q = llround(mantissa * 2147483648.0);
    if (q == 2147483648LL) {
        q /= 2;
        exponent++;
    }
    if (exponent < -31) { /* the product rounds to zero whatever the accumulator; the shift stays
                             one to the right, which the fast kernels ask for */
        exponent = -1;
        q = 0;
    }
    *multiplier = (int32_t)q;
    *shift = exponent;
}

double value_scale(const Value *v) {
    assert(v->grid && v->grid->part_count > 0);
    return v->grid->part[0].scale;
}

int32_t value_zero_point(const Value *v) {
    assert(v->grid && v->grid->part_count > 0);
    return v->grid->part[0].zero_point;
}

static bool value_is_wide(const Value *v) {
    return v->grid && value_storage(v) == DT_I16;
}

bool node_is_wide(const Node *n) {
    bool wide = value_is_wide(n->out[0]) || value_is_wide(node_result(n));
    for (int k = 0, count = node_operand_count(n); k < count; k++)
        wide = wide || value_is_wide(node_operand(n, k));
    return wide;
}

static void grid_limits(const Grid *grid, double *low, double *high) {
    int bits = grid->bits == 4 ? 8 : grid->bits;
    *high = ldexp(1, bits - 1) - 1;
    *low = -ldexp(1, bits - 1);
}

static double grid_quantize(const Grid *grid, double real) {
    double low, high;
    grid_limits(grid, &low, &high);
    double q = round(real / grid->part[0].scale) + grid->part[0].zero_point;
    return q < low ? low : q > high ? high : q;
}

/* ---- tables ------------------------------------------------------------------------------- */

static double operand_value(const Arg *arg, const double *value) {
    double constant;
    switch (arg->kind) {
    case ARG_VALUE:
        return value_is_scalar_constant(arg->u.value, &constant) ? constant
                                                                 : value[arg->u.value->id];
    case ARG_INT:
        return (double)arg->u.i;
    case ARG_FLOAT:
        return arg->u.f;
    case ARG_BOOL:
        return arg->u.b;
    default:
        return NAN; /* an absent optional operand */
    }
}

static double node_map(const Node *n, const double *value) {
    const Schema *schema = op_schema(n->op);
    double in[TABLE_OPERANDS];
    int count = 0;
    for (int i = 0; i < schema->arg_count; i++)
        if (schema->arg[i].type == T_TENSOR && count < TABLE_OPERANDS)
            in[count++] = operand_value(&n->arg[i], value);
    double y = n->op->map(n, in);
    DType dtype = n->out[0]->type.dtype;
    if (dtype == DT_BOOL)
        return y != 0;
    return dtype_is_float(dtype) ? y : trunc(y);
}

double table_body_eval(const Node *table, double x) {
    const Graph *body = table->body;
    enum { STACK_VALUES = 64 };
    double few[STACK_VALUES];
    double *value =
        body->value_count <= STACK_VALUES ? few : NEW_ARRAY(body->c, double, body->value_count);
    value[body->input[0].u.value->id] = x;
    for (const Node *n = body->first; n; n = n->next)
        value[n->out[0]->id] = node_map(n, value);
    return operand_value(&body->output[0], value);
}

/* The function at each q of the input grid; poles are infinite, and what is undefined (NaN)
 * continues the nearest defined entry. */
static void table_reals(const Node *table, const Grid *in, int low, int count, double *real) {
    for (int i = 0; i < count; i++)
        real[i] = table_body_eval(table, in->part[0].scale * (low + i - in->part[0].zero_point));
    for (int i = 0; i < count; i++) {
        if (!isnan(real[i]))
            continue;
        for (int d = 1; d < count && isnan(real[i]); d++) {
            if (i + d < count && !isnan(real[i + d]))
                real[i] = real[i + d];
            else if (i - d >= 0 && !isnan(real[i - d]))
                real[i] = real[i - d];
        }
        if (isnan(real[i]))
            real[i] = 0; /* nowhere defined */
    }
}

int table_fill(C *c, const Node *table, const Grid *in, const Grid *out,
               int8_t entry[TABLE_ENTRIES]) {
    (void)c;
    double real[TABLE_ENTRIES], low, high;
    grid_limits(in, &low, &high);
    int count = (int)(high - low) + 1;
    assert(count <= TABLE_ENTRIES);
    table_reals(table, in, (int)low, count, real);
    for (int i = 0; i < count; i++)
        entry[i] = (int8_t)grid_quantize(out, real[i]);
    return count;
}

void table_requantize(const Grid *in, const Grid *out, int8_t entry[256]) {
    int32_t multiplier, shift;
    multiplier_from(in->part[0].scale / out->part[0].scale, &multiplier, &shift);
    for (int i = 0; i < 256; i++) {
        int32_t q = ctn_requantize(i - 128 - in->part[0].zero_point, multiplier, shift) +
                    out->part[0].zero_point;
        entry[i] = (int8_t)(q < -128 ? -128 : q > 127 ? 127 : q);
    }
}

/* ---- the store of a kernel ----------------------------------------------------------------- */

/* A fused clamp is a table whose body clamps (passes/fuse.c), or an aten clamp: either way its
 * effect on the grid is the image of the two ends. */
static bool epilogue_is_clamp(const Node *epilogue) {
    return epilogue && epilogue->op->map && !node_is(epilogue, "corten::table");
}

void store_clamp(const Node *n, int32_t *min, int32_t *max) {
    const Node *epilogue = node_epilogue(n);
    const Value *out = epilogue_is_clamp(epilogue) ? epilogue->out[0] : n->out[0];
    double low = -128, high = 127;
    if (out->grid)
        grid_limits(out->grid, &low, &high);
    if (epilogue_is_clamp(epilogue)) {
        double in[TABLE_OPERANDS] = {0};
        const Schema *schema = op_schema(epilogue->op);
        /* operand 0 is the value between; a clamp's others are numbers */
        for (int i = 1, k = 1; i < schema->arg_count; i++)
            if (schema->arg[i].type == T_TENSOR && k < TABLE_OPERANDS)
                in[k++] = operand_value(&epilogue->arg[i], NULL);
        in[0] = -HUGE_VAL;
        low = grid_quantize(out->grid, epilogue->op->map(epilogue, in));
        in[0] = HUGE_VAL;
        high = grid_quantize(out->grid, epilogue->op->map(epilogue, in));
    }
    *min = (int32_t)low;
    *max = (int32_t)high;
}

void store_table(C *c, Call *call, uint32_t *field, const Node *n) {
    const Node *epilogue = node_epilogue(n);
    if (!epilogue || !node_is(epilogue, "corten::table")) {
        call_absent(call, field);
        return;
    }
    int8_t entry[TABLE_ENTRIES];
    int count = table_fill(c, epilogue, n->out[0]->grid, epilogue->out[0]->grid, entry);
    call_const(call, field, "table", DT_I8, entry, count, 1);
}

/* ---- broadcasting -------------------------------------------------------------------------- */

void broadcast_strides(const Value *v, const Value *out, int want, int32_t *dim, int32_t *stride) {
    int64_t own[MAX_RANK];
    value_strides(v, own);
    int rank = out->type.rank;
    assert(rank <= want);
    for (int k = 0; k < want; k++) {
        dim[k] = 1;
        stride[k] = 0;
    }
    for (int k = 0; k < rank; k++) {
        int d = out->order[k];             /* logical dim of out at physical position k */
        int e = d - (rank - v->type.rank); /* the same dim of v, aligned at the right */
        dim[want - rank + k] = (int32_t)out->type.dim[d];
        if (e >= 0 && v->type.dim[e] > 1)
            stride[want - rank + k] = (int32_t)own[e];
    }
}
