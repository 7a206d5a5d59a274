/* Lowering of pointwise operators that are not tables: two varying operands, or a constant that
 * differs from element to element. The loop runs over the output's physical dimensions; operands
 * come with broadcast strides. A value without a grid that fits a byte (bool, int8) counts as int8
 * with scale 1; wider integers go through one kernel that computes in 64 bits. */
#include "lower/pointwise.h"
#include "ops/ops.h"

#include <math.h>
#include <string.h>

enum { POINTWISE_RANK = 6 };      /* dimensions of the kernels' loops */
enum { PRODUCT_SHIFT_MOST = 15 }; /* a product of int8: its shift to the left is held at this */

typedef enum { FORM_NONE, FORM_S8, FORM_S16, FORM_MAP_S16, FORM_INTEGER } Form;

static double scale_of(const Value *v) {
    return v->grid ? value_scale(v) : 1;
}

static int32_t zero_point_of(const Value *v) {
    return v->grid ? value_zero_point(v) : 0;
}

static bool is_byte(const Value *v) {
    DType t = value_storage(v);
    return t == DT_I8 || t == DT_BOOL;
}

static bool is_s16(const Value *v) {
    return v->grid && value_storage(v) == DT_I16;
}

static bool is_plain_integer(const Value *v) {
    return !v->grid && !dtype_is_float(v->type.dtype);
}

/* With a function in the store all operands have 16 bits, or all 8. */
static Form form_of_map(const Node *n) {
    bool s8 = true, s16 = true;
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        s8 = s8 && is_byte(node_operand(n, k));
        s16 = s16 && is_s16(node_operand(n, k));
    }
    return s8 || s16 ? FORM_MAP_S16 : FORM_NONE;
}

/* Which kernels fit the operands (and the output, unless it is a truth value). */
static Form form_of(const Node *n) {
    const Value *out = node_result(n);
    bool s8 = is_byte(out), s16 = is_s16(out) || out->type.dtype == DT_BOOL;
    bool integer = is_plain_integer(out);
    if (store_maps_s16(n))
        return form_of_map(n);
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        const Value *v = node_operand(n, k);
        s8 = s8 && is_byte(v);
        s16 = s16 && is_s16(v);
        integer = integer && is_plain_integer(v);
    }
    if (integer)
        return FORM_INTEGER;
    return s8 ? FORM_S8 : s16 ? FORM_S16 : FORM_NONE;
}

static void refuse(C *c, const Node *n, const char *why) {
    Text t = text_new(c);
    for (int k = 0, count = node_operand_count(n); k < count; k++)
        text_add(&t, "%s%s", k ? " and " : "", dtype_name(node_operand(n, k)->type.dtype));
    diag_error(c, DIAG_MODEL, &n->loc, "%s of %s giving %s has no integer form%s%s",
               node_operator(n), text_string(&t), dtype_name(node_result(n)->type.dtype),
               why ? ": " : "", why ? why : "");
}

/* ---- integers as they are ----------------------------------------------------------------- */

/* Mirrors CtnIntegerOp: by the operator's name, without overload. */
static const struct {
    const char *name;
    CtnIntegerOp op;
} integer_op[] = {
    {"aten::add", CTN_INTEGER_ADD},
    {"aten::sub", CTN_INTEGER_SUB},
    {"aten::subtract", CTN_INTEGER_SUB},
    {"aten::rsub", CTN_INTEGER_RSUB},
    {"aten::mul", CTN_INTEGER_MUL},
    {"aten::multiply", CTN_INTEGER_MUL},
    {"aten::floor_divide", CTN_INTEGER_FLOOR_DIVIDE},
    {"aten::remainder", CTN_INTEGER_REMAINDER},
    {"aten::fmod", CTN_INTEGER_FMOD},
    {"aten::maximum", CTN_INTEGER_MAX},
    {"aten::max", CTN_INTEGER_MAX},
    {"aten::fmax", CTN_INTEGER_MAX},
    {"aten::minimum", CTN_INTEGER_MIN},
    {"aten::min", CTN_INTEGER_MIN},
    {"aten::fmin", CTN_INTEGER_MIN},
    {"aten::bitwise_and", CTN_INTEGER_AND},
    {"aten::__and__", CTN_INTEGER_AND},
    {"aten::bitwise_or", CTN_INTEGER_OR},
    {"aten::__or__", CTN_INTEGER_OR},
    {"aten::bitwise_xor", CTN_INTEGER_XOR},
    {"aten::__xor__", CTN_INTEGER_XOR},
    {"aten::bitwise_left_shift", CTN_INTEGER_SHIFT_LEFT},
    {"aten::__lshift__", CTN_INTEGER_SHIFT_LEFT},
    {"aten::bitwise_right_shift", CTN_INTEGER_SHIFT_RIGHT},
    {"aten::__rshift__", CTN_INTEGER_SHIFT_RIGHT},
    {"aten::pow", CTN_INTEGER_POW},
    {"aten::gcd", CTN_INTEGER_GCD},
    {"aten::lcm", CTN_INTEGER_LCM},
    {"aten::logical_and", CTN_INTEGER_LOGICAL_AND},
    {"aten::logical_or", CTN_INTEGER_LOGICAL_OR},
    {"aten::logical_xor", CTN_INTEGER_LOGICAL_XOR},
    {"aten::eq", CTN_INTEGER_EQ},
    {"aten::ne", CTN_INTEGER_NE},
    {"aten::not_equal", CTN_INTEGER_NE},
    {"aten::lt", CTN_INTEGER_LT},
    {"aten::less", CTN_INTEGER_LT},
    {"aten::le", CTN_INTEGER_LE},
    {"aten::less_equal", CTN_INTEGER_LE},
    {"aten::gt", CTN_INTEGER_GT},
    {"aten::greater", CTN_INTEGER_GT},
    {"aten::ge", CTN_INTEGER_GE},
    {"aten::greater_equal", CTN_INTEGER_GE},
};

bool integer_op_find(const Node *n, CtnIntegerOp *op) {
    const char *name = op_schema(n->op)->name;
    if (text_equal(name, "aten::div") || text_equal(name, "aten::divide")) {
        bool floors = text_equal(node_string(n, "rounding_mode"), "floor");
        *op = floors ? CTN_INTEGER_FLOOR_DIVIDE : CTN_INTEGER_TRUNC_DIVIDE;
        return true; /* without a mode the result is no integer */
    }
    for (size_t k = 0; k < COUNT_OF(integer_op); k++)
        if (text_equal(integer_op[k].name, name)) {
            *op = integer_op[k].op;
            return true;
        }
    return false;
}

/* One operand: a value, or a number as a constant that every element reads. */
static void integer_operand(Call *call, const Node *n, const Arg *arg, const char *name,
                            uint32_t *field, int32_t *type, int32_t *dim, int32_t *stride) {
    if (arg->kind == ARG_VALUE) {
        call_in(call, field, arg->u.value);
        *type = value_storage(arg->u.value);
        broadcast_strides(arg->u.value, node_result(n), POINTWISE_RANK, dim, stride);
        return;
    }
    int64_t number = arg->kind == ARG_BOOL ? arg->u.b : arg->u.i;
    call_const(call, field, name, DT_I64, &number, sizeof number, 8);
    *type = DT_I64;
}

static void lower_integer(C *c, Graph *g, Node *n) {
    CtnIntegerOp op;
    bool numbers = n->arg[0].kind != ARG_FLOAT && n->arg[1].kind != ARG_FLOAT;
    if (!integer_op_find(n, &op) || !numbers) {
        refuse(c, n, NULL);
        return;
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_integer);
    CtnIntegerArgs *a = call->args;
    const Schema *schema = op_schema(n->op);
    integer_operand(call, n, &n->arg[0], schema->arg[0].name, &a->a, &a->a_type, a->dim,
                    a->a_stride);
    integer_operand(call, n, &n->arg[1], schema->arg[1].name, &a->b, &a->b_type, a->dim,
                    a->b_stride);
    call_out(call, &a->output, node_result(n));
    a->output_type = value_storage(node_result(n));
    a->op = op;
    bool scaled = schema->arg_count > 2 && text_equal(schema->arg[2].name, "alpha");
    a->alpha = scaled ? (int32_t)node_int(n, "alpha") : 1;
}

/* ---- one integer operand ------------------------------------------------------------------- */

typedef struct { /* the running result, at first x, op number (or op x) */
    CtnIntegerOp op;
    bool with_self;
    int64_t number;
} Step;

enum { MAX_STEPS = 2 };

static const struct {
    const char *name;
    int count;
    Step step[MAX_STEPS];
} integer_steps[] = {
    {"aten::neg", 1, {{CTN_INTEGER_RSUB, false, 0}}},
    {"aten::negative", 1, {{CTN_INTEGER_RSUB, false, 0}}},
    {"aten::abs", 2, {{CTN_INTEGER_RSUB, false, 0}, {CTN_INTEGER_MAX, true, 0}}},
    {"aten::absolute", 2, {{CTN_INTEGER_RSUB, false, 0}, {CTN_INTEGER_MAX, true, 0}}},
    {"aten::sign", 2, {{CTN_INTEGER_MAX, false, -1}, {CTN_INTEGER_MIN, false, 1}}},
    {"aten::sgn", 2, {{CTN_INTEGER_MAX, false, -1}, {CTN_INTEGER_MIN, false, 1}}},
    {"aten::square", 1, {{CTN_INTEGER_MUL, true, 0}}},
    {"aten::relu", 1, {{CTN_INTEGER_MAX, false, 0}}},
    {"aten::bitwise_not", 1, {{CTN_INTEGER_XOR, false, -1}}},
    {"aten::logical_not", 1, {{CTN_INTEGER_EQ, false, 0}}},
    {"aten::_to_copy", 1, {{CTN_INTEGER_ADD, false, 0}}},
    {"aten::ceil", 1, {{CTN_INTEGER_ADD, false, 0}}},
    {"aten::floor", 1, {{CTN_INTEGER_ADD, false, 0}}},
    {"aten::round", 1, {{CTN_INTEGER_ADD, false, 0}}},
    {"aten::trunc", 1, {{CTN_INTEGER_ADD, false, 0}}},
    {"aten::fix", 1, {{CTN_INTEGER_ADD, false, 0}}},
    {"aten::nan_to_num", 1, {{CTN_INTEGER_ADD, false, 0}}},
    {"aten::signbit", 1, {{CTN_INTEGER_LT, false, 0}}},
    {"aten::isfinite", 1, {{CTN_INTEGER_EQ, true, 0}}},
    {"aten::isnan", 1, {{CTN_INTEGER_NE, true, 0}}},
    {"aten::isinf", 1, {{CTN_INTEGER_NE, true, 0}}},
    {"aten::isposinf", 1, {{CTN_INTEGER_NE, true, 0}}},
    {"aten::isneginf", 1, {{CTN_INTEGER_NE, true, 0}}},
};

static int bound_steps(const Node *n, Step *step) {
    int count = 0;
    if (!text_equal(op_schema(n->op)->name, "aten::clamp_max") && node_has(n, "min"))
        step[count++] = (Step){.op = CTN_INTEGER_MAX, .number = node_int(n, "min")};
    if (!text_equal(op_schema(n->op)->name, "aten::clamp_min") && node_has(n, "max"))
        step[count++] = (Step){.op = CTN_INTEGER_MIN, .number = node_int(n, "max")};
    return count;
}

static int hardtanh_steps(const Node *n, Step *step) {
    step[0] = (Step){.op = CTN_INTEGER_MAX, .number = (int64_t)node_double(n, "min_val")};
    step[1] = (Step){.op = CTN_INTEGER_MIN, .number = (int64_t)node_double(n, "max_val")};
    return 2;
}

static int steps_of(const Node *n, Step *step) {
    const char *name = op_schema(n->op)->name;
    for (size_t k = 0; k < COUNT_OF(integer_steps); k++)
        if (text_equal(integer_steps[k].name, name)) {
            for (int i = 0; i < MAX_STEPS; i++)
                step[i] = integer_steps[k].step[i];
            return integer_steps[k].count;
        }
    static const char *const clamps[] = {"aten::clamp", "aten::clip", "aten::clamp_min",
                                         "aten::clamp_max"};
    for (size_t k = 0; k < COUNT_OF(clamps); k++)
        if (text_equal(clamps[k], name))
            return bound_steps(n, step);
    return text_equal(name, "aten::hardtanh") ? hardtanh_steps(n, step) : 0;
}

/* v / scale for the integers v of the operand. Numbers beyond 2^17 steps are beyond any grid. */
static void lower_quantize_integer(C *c, Graph *g, Node *n) {
    Value *in = node_operand(n, 0), *out = n->out[0];
    double scale = value_scale(out);
    Call *call = call_new(c, g, n, CTN_KERNEL_quantize_integer);
    CtnQuantizeIntegerArgs *a = call->args;
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    a->count = (int32_t)type_count(&out->type);
    a->input_type = in->type.dtype;
    a->output_bytes = dtype_size(value_storage(out));
    a->limit = (int32_t)fmin(ceil(scale * 0x1p17), 0x1p30);
    multiplier_from(1 / scale, &a->multiplier, &a->shift);
    a->zero_point = value_zero_point(out);
}

/* Each step after the first works in place on the result. */
void lower_integer_unary(C *c, Graph *g, Node *n) {
    Step step[MAX_STEPS];
    int count = steps_of(n, step);
    if (node_is(n, "aten::_to_copy") && n->out[0]->grid && is_plain_integer(node_operand(n, 0))) {
        lower_quantize_integer(c, g, n);
        return;
    }
    if (count == 0 || form_of(n) != FORM_INTEGER || n->out[0]->type.rank > POINTWISE_RANK) {
        refuse(c, n, NULL);
        return;
    }
    Arg x = arg_value(node_operand(n, 0)), result = arg_value(n->out[0]);
    for (int i = 0; i < count; i++) {
        Call *call = call_new(c, g, n, CTN_KERNEL_integer);
        CtnIntegerArgs *a = call->args;
        Arg number = arg_int(step[i].number);
        integer_operand(call, n, i ? &result : &x, "x", &a->a, &a->a_type, a->dim, a->a_stride);
        integer_operand(call, n, step[i].with_self ? &x : &number, "number", &a->b, &a->b_type,
                        a->dim, a->b_stride);
        call_out(call, &a->output, n->out[0]);
        a->output_type = value_storage(n->out[0]);
        a->op = step[i].op;
        a->alpha = 1;
    }
}

/* ---- what all calls share ------------------------------------------------------------------ */

/* The operands of a two-operand row; false (and a diagnostic) if one is not a value, the rank is
 * beyond the kernels' or the types fit no kernel. Integers are lowered here. */
static bool operands(C *c, Graph *g, Node *n, Form *form, Value **lhs, Value **rhs) {
    *form = form_of(n);
    if (node_result(n)->type.rank > POINTWISE_RANK) {
        refuse(c, n, "kernels take up to 6 dimensions");
        return false;
    }
    if (*form == FORM_INTEGER) {
        lower_integer(c, g, n);
        return false;
    }
    if (*form == FORM_NONE || node_operand_count(n) != 2) {
        refuse(c, n, NULL);
        return false;
    }
    *lhs = node_operand(n, 0);
    *rhs = node_operand(n, 1);
    return true;
}

/* The value whose grid the arithmetic ends on: with a fused table the one before it. */
static const Value *stored(const Node *n) {
    const Node *epilogue = node_epilogue(n);
    return epilogue && node_is(epilogue, "corten::table") ? n->out[0] : node_result(n);
}

/* The loop over the physical dims of the result. */
static void loop(const Node *n, const Value *v, int32_t *dim, int32_t *stride) {
    broadcast_strides(v, node_result(n), POINTWISE_RANK, dim, stride);
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void signed_multiplier(double real, int32_t *multiplier, int32_t *shift) {
    multiplier_from(fabs(real), multiplier, shift);
    if (real < 0)
        *multiplier = -*multiplier;
}

SumFactors sum_factors(double scale_a, double scale_b, double scale_out, int left_shift) {
    double common = 2 * fmax(fabs(scale_a), fabs(scale_b));
    return (SumFactors){scale_a / common, scale_b / common, common / ldexp(scale_out, left_shift)};
}

/* Of out = a * self + b * other. */
static void operand_factors(const Node *n, double *a, double *b) {
    const char *name = op_schema(n->op)->name;
    *a = 1;
    if (text_equal(name, "aten::lerp")) {
        *b = node_double(n, "weight");
        *a -= *b;
        return;
    }
    *b = node_double(n, "alpha") * (text_equal(name, "aten::add") ? 1 : -1);
    if (text_equal(name, "aten::rsub")) {
        *a = *b;
        *b = 1;
    }
}

SumFactors sum_of(const Node *n, int *left_shift) {
    const Value *lhs = node_operand(n, 0), *rhs = node_operand(n, 1), *out = stored(n);
    double a, b;
    operand_factors(n, &a, &b);
    *left_shift = is_s16(out) ? SUM_S16_LEFT : SUM_S8_LEFT;
    return sum_factors(scale_of(lhs) * a, scale_of(rhs) * b, scale_of(out), *left_shift);
}

static CtnKernelId add_kernel(Form form) {
    return form == FORM_MAP_S16 ? CTN_KERNEL_add_map_s16
           : form == FORM_S16   ? CTN_KERNEL_add_s16
                                : CTN_KERNEL_add_s8;
}

void lower_add(C *c, Graph *g, Node *n) {
    Form form;
    Value *lhs, *rhs;
    if (!operands(c, g, n, &form, &lhs, &rhs))
        return;
    const Value *out = stored(n);
    Call *call = call_new(c, g, n, add_kernel(form));
    CtnAddS8Args *a = call->args; /* all widths share its fields */
    call_in(call, &a->a, lhs);
    call_in(call, &a->b, rhs);
    call_out(call, &a->output, node_result(n));
    CtnAddMapS16Args *map = call->args;
    if (form == FORM_MAP_S16)
        STORE_MAP_S16(c, call, n, map, lhs);
    else
        store_table(c, call, &a->table, n);
    loop(n, lhs, a->dim, a->a_stride);
    loop(n, rhs, a->dim, a->b_stride);
    a->a_zero_point = zero_point_of(lhs);
    a->b_zero_point = zero_point_of(rhs);
    int left_shift;
    SumFactors f = sum_of(n, &left_shift);
    a->left_shift = left_shift;
    signed_multiplier(f.a, &a->a_multiplier, &a->a_shift);
    signed_multiplier(f.b, &a->b_multiplier, &a->b_shift);
    multiplier_from(f.output, &a->output_multiplier, &a->output_shift);
    a->output_zero_point = zero_point_of(out);
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    /* The sum is below 2^30, so one bit of left shift keeps it in int32. Where the result's steps
     * are finer than that, a step of an int8 operand (2^19 here) is far beyond its range anyway. */
    if (a->output_shift > SUM_SHIFT_MOST && is_s16(lhs))
        refuse(c, n, "the result's scale is too fine for its operands'");
    a->output_shift = a->output_shift > SUM_SHIFT_MOST ? SUM_SHIFT_MOST : a->output_shift;
}

/* ---- products and quotients ---------------------------------------------------------------- */

/* Neither operand has the result's shape. */
static bool both_spread(const Node *n, const Value *lhs, const Value *rhs) {
    int64_t count = type_count(&n->out[0]->type);
    return type_count(&lhs->type) < count && type_count(&rhs->type) < count;
}

/* All of the factor in the multiplier: the product is rounded once. */
static void multiplier_once(double real, int32_t *multiplier, int32_t *shift) {
    multiplier_from(real, multiplier, shift);
    if (*shift < 0 && real > ldexp(1, -16)) { /* 15 bits of it are left at least */
        *multiplier = (int32_t)llround(ldexp(real, 31));
        *shift = 0;
    }
}

void product_factor(const Node *n, int32_t *multiplier, int32_t *shift) {
    const Value *lhs = node_operand(n, 0), *rhs = node_operand(n, 1);
    double factor = scale_of(lhs) * scale_of(rhs) / scale_of(stored(n));
    if (both_spread(n, lhs, rhs)) /* no CMSIS-NN kernel does this: there is none to agree with */
        multiplier_once(factor, multiplier, shift);
    else
        multiplier_from(factor, multiplier, shift);
    /* Corrected int8 factors are within 255, their product below 2^16: 15 bits of left shift keep
     * it in int32 and carry any product but 0 beyond the result's range. */
    if (is_byte(lhs) && *shift > PRODUCT_SHIFT_MOST)
        *shift = PRODUCT_SHIFT_MOST;
}

/* All of a call of a product or a quotient but its factors; all kernels share mul_s8's fields. */
static void *mul_call(C *c, Graph *g, Node *n, CtnKernelId kernel, Value *lhs, Value *rhs) {
    Call *call = call_new(c, g, n, kernel);
    CtnMulS8Args *a = call->args;
    call_in(call, &a->a, lhs);
    call_in(call, &a->b, rhs);
    call_out(call, &a->output, node_result(n));
    CtnMulMapS16Args *map = call->args;
    if (kernel == CTN_KERNEL_mul_map_s16)
        STORE_MAP_S16(c, call, n, map, lhs);
    else
        store_table(c, call, &a->table, n);
    loop(n, lhs, a->dim, a->a_stride);
    loop(n, rhs, a->dim, a->b_stride);
    a->a_zero_point = zero_point_of(lhs);
    a->b_zero_point = zero_point_of(rhs);
    a->output_zero_point = zero_point_of(stored(n));
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    return a;
}

void lower_mul(C *c, Graph *g, Node *n) {
    Form form;
    Value *lhs, *rhs;
    if (!operands(c, g, n, &form, &lhs, &rhs))
        return;
    CtnKernelId kernel = form == FORM_MAP_S16 ? CTN_KERNEL_mul_map_s16
                         : form == FORM_S16   ? CTN_KERNEL_mul_s16
                                              : CTN_KERNEL_mul_s8;
    CtnMulS8Args *a = mul_call(c, g, n, kernel, lhs, rhs);
    product_factor(n, &a->multiplier, &a->shift);
    if (a->shift > 1 && is_s16(lhs)) /* a product has 30 bits */
        refuse(c, n, "the result's scale is too fine for its operands'");
}

void lower_div(C *c, Graph *g, Node *n) {
    Form form;
    Value *lhs, *rhs;
    if (!operands(c, g, n, &form, &lhs, &rhs))
        return;
    const Value *out = stored(n);
    CtnDivS8Args *a =
        mul_call(c, g, n, form == FORM_S16 ? CTN_KERNEL_div_s16 : CTN_KERNEL_div_s8, lhs, rhs);
    multiplier_from(scale_of(lhs) / (scale_of(rhs) * scale_of(out)), &a->multiplier, &a->shift);
    /* What the kernel divides by, (b - zb) * 2^(31 - shift), must stay below 2^62; a quotient of
     * 2^shift and more is beyond any grid, so nothing is lost by a smaller shift. */
    if (a->shift > 31)
        a->shift = 31;
    if (a->shift < -14)
        refuse(c, n, "the result's scale is too coarse for its operands'");
}

/* ---- choices ------------------------------------------------------------------------------- */

static bool same_grid(const Value *a, const Value *b) {
    return scale_of(a) == scale_of(b) && zero_point_of(a) == zero_point_of(b);
}

/* x as the result stores it */
int64_t choice_stored(const Value *out, double x) {
    if (!out->grid)
        return out->type.dtype == DT_BOOL ? x != 0 : isfinite(x) ? (int64_t)x : 0;
    double high = out->grid->dtype == DT_I16 ? 32767 : 127, low = -high - 1;
    double q = round(x / value_scale(out)) + value_zero_point(out);
    return (int64_t)fmin(fmax(q, low), high);
}

bool minmax_entries(const Value *v, const Value *out, int8_t entry[256]) {
    for (int q = -128; q < 128; q++)
        entry[q + 128] = (int8_t)choice_stored(out, scale_of(v) * (q - zero_point_of(v)));
    return !same_grid(v, out);
}

/* 256 entries that bring v to the result's grid; absent where it is there already. */
static void regrid_table(Call *call, uint32_t *field, const char *what, const Value *v,
                         const Value *out) {
    int8_t entry[256];
    if (minmax_entries(v, out, entry))
        call_const(call, field, what, DT_I8, entry, sizeof entry, 1);
    else
        call_absent(call, field);
}

static void lower_minmax(C *c, Graph *g, Node *n, bool minimum) {
    Form form;
    Value *lhs, *rhs;
    if (!operands(c, g, n, &form, &lhs, &rhs))
        return;
    Value *out = node_result(n);
    bool wide = form == FORM_S16;
    Call *call = call_new(c, g, n, wide ? CTN_KERNEL_minmax_s16 : CTN_KERNEL_minmax_s8);
    if (wide) {
        CtnMinmaxS16Args *a = call->args;
        call_in(call, &a->a, lhs);
        call_in(call, &a->b, rhs);
        call_out(call, &a->output, out);
        loop(n, lhs, a->dim, a->a_stride);
        loop(n, rhs, a->dim, a->b_stride);
        multiplier_from(scale_of(lhs) / scale_of(out), &a->a_multiplier, &a->a_shift);
        multiplier_from(scale_of(rhs) / scale_of(out), &a->b_multiplier, &a->b_shift);
        a->minimum = minimum;
        return;
    }
    CtnMinmaxS8Args *a = call->args;
    call_in(call, &a->a, lhs);
    call_in(call, &a->b, rhs);
    call_out(call, &a->output, out);
    regrid_table(call, &a->a_table, "a_table", lhs, out);
    regrid_table(call, &a->b_table, "b_table", rhs, out);
    loop(n, lhs, a->dim, a->a_stride);
    loop(n, rhs, a->dim, a->b_stride);
    a->minimum = minimum;
}

bool is_minimum(const Node *n) {
    return n->op->lower == lower_minimum;
}

void lower_maximum(C *c, Graph *g, Node *n) {
    lower_minmax(c, g, n, false);
}

void lower_minimum(C *c, Graph *g, Node *n) {
    lower_minmax(c, g, n, true);
}

/* ---- where --------------------------------------------------------------------------------- */

static bool choice_fits(const Value *v, const Value *out) {
    if (is_byte(v) && is_byte(out))
        return true;
    return value_storage(v) == value_storage(out) && (!v->grid == !out->grid) &&
           (!v->grid || same_grid(v, out));
}

bool choice_number(const Arg *arg, double *x) {
    const Value *v = arg->kind == ARG_VALUE ? arg->u.value : NULL;
    *x = arg->kind == ARG_FLOAT ? arg->u.f : arg->kind == ARG_BOOL ? arg->u.b : arg->u.i;
    return !v || (value_is_scalar_constant(v, x) && !v->grid);
}

/* One branch: a value, brought to the result's grid, or a number that every element reads. */
static bool choice_operand(C *c, Call *call, Node *n, const Arg *arg, const char *what,
                           uint32_t *field, uint32_t *table, int32_t *dim, int32_t *stride) {
    Value *out = node_result(n), *v = arg->kind == ARG_VALUE ? arg->u.value : NULL;
    double x;
    call_absent(call, table);
    if (choice_number(arg, &x)) {
        int64_t number = choice_stored(out, x); /* little-endian: its low bytes are the element */
        int bytes = dtype_size(value_storage(out));
        call_const(call, field, what, value_storage(out), &number, bytes, bytes);
        return true;
    }
    if (!choice_fits(v, out)) {
        refuse(c, n, "the branches need the type of the result");
        return false;
    }
    call_in(call, field, v);
    if (is_byte(v))
        regrid_table(call, table, what, v, out);
    loop(n, v, dim, stride);
    return true;
}

static void lower_choice(C *c, Graph *g, Node *n, Value *condition, const Arg *chosen,
                         const Arg *other) {
    Value *out = node_result(n);
    if (out->type.rank > POINTWISE_RANK || condition->grid ||
        dtype_size(condition->type.dtype) != 1) {
        refuse(c, n, NULL);
        return;
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_where);
    CtnWhereArgs *a = call->args;
    call_in(call, &a->condition, condition);
    call_out(call, &a->output, out);
    loop(n, condition, a->dim, a->condition_stride);
    a->element_size = dtype_size(value_storage(out));
    if (choice_operand(c, call, n, chosen, "a", &a->a, &a->a_table, a->dim, a->a_stride))
        choice_operand(c, call, n, other, "b", &a->b, &a->b_table, a->dim, a->b_stride);
}

void lower_where(C *c, Graph *g, Node *n) {
    lower_choice(c, g, n, node_in(n, "condition"), node_arg(n, "self"), node_arg(n, "other"));
}

void lower_masked_fill(C *c, Graph *g, Node *n) {
    lower_choice(c, g, n, node_in(n, "mask"), node_arg(n, "value"), node_arg(n, "self"));
}

/* ---- truth values --------------------------------------------------------------------------- */

void comparison_factors(const Node *n, int32_t factor[2]) {
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1);
    double unit = ldexp(1, is_s16(a) ? 30 : 22) / fmax(scale_of(a), scale_of(b));
    factor[0] = (int32_t)lround(scale_of(a) * unit);
    factor[1] = (int32_t)lround(scale_of(b) * unit);
}

void lower_compare(C *c, Graph *g, Node *n) {
    Form form;
    Value *lhs, *rhs;
    CtnIntegerOp op = CTN_INTEGER_EQ;
    if (!operands(c, g, n, &form, &lhs, &rhs))
        return;
    integer_op_find(n, &op);
    bool wide = form == FORM_S16;
    int32_t factor[2];
    comparison_factors(n, factor);
    Call *call = call_new(c, g, n, wide ? CTN_KERNEL_compare_s16 : CTN_KERNEL_compare_s8);
    CtnCompareS8Args *a = call->args; /* both widths share the argument list */
    call_in(call, &a->a, lhs);
    call_in(call, &a->b, rhs);
    call_out(call, &a->output, node_result(n));
    loop(n, lhs, a->dim, a->a_stride);
    loop(n, rhs, a->dim, a->b_stride);
    a->a_zero_point = zero_point_of(lhs);
    a->b_zero_point = zero_point_of(rhs);
    a->a_factor = factor[0];
    a->b_factor = factor[1];
    a->op = op;
}

/* Whether q is the zero point is all that counts. */
void lower_logical(C *c, Graph *g, Node *n) {
    Form form;
    Value *lhs, *rhs;
    CtnIntegerOp op = CTN_INTEGER_LOGICAL_AND;
    if (!operands(c, g, n, &form, &lhs, &rhs))
        return;
    if (form == FORM_S16) {
        refuse(c, n, NULL);
        return;
    }
    integer_op_find(n, &op);
    Call *call = call_new(c, g, n, CTN_KERNEL_logical_s8);
    CtnLogicalS8Args *a = call->args;
    call_in(call, &a->a, lhs);
    call_in(call, &a->b, rhs);
    call_out(call, &a->output, node_result(n));
    loop(n, lhs, a->dim, a->a_stride);
    loop(n, rhs, a->dim, a->b_stride);
    a->a_zero_point = zero_point_of(lhs);
    a->b_zero_point = zero_point_of(rhs);
    a->op = op;
}

/* Bitwise operators work on plain integers only. */
void lower_bitwise(C *c, Graph *g, Node *n) {
    if (form_of(n) == FORM_INTEGER && node_result(n)->type.rank <= POINTWISE_RANK)
        lower_integer(c, g, n);
    else
        refuse(c, n, NULL);
}

/* ---- prelu ---------------------------------------------------------------------------------- */

/* Real number k of a constant, whatever its grid. */
static double constant_real(const Value *v, int64_t k) {
    double q = array_get(v->constant, k);
    if (!v->grid)
        return q;
    const Part *part = v->grid->part;
    int64_t inner = 1;
    for (int d = v->type.rank - 1; d > part->axis && part->axis >= 0; d--)
        inner *= v->type.dim[d];
    int64_t at = part->axis < 0 ? 0 : k / inner % v->type.dim[part->axis];
    for (int p = 1; p < v->grid->part_count && at >= part->stop; p++)
        part++;
    return part->scale * (q - part->zero_point);
}

/* Slopes of their own, spread by broadcasting; positive inputs keep slope 1. */
void lower_prelu(C *c, Graph *g, Node *n) {
    Value *in = node_in(n, "self"), *weight = node_in(n, "weight"), *out = node_result(n);
    if (!weight->constant || !is_byte(in) || !is_byte(out) || out->type.rank > POINTWISE_RANK) {
        refuse(c, n, weight->constant ? NULL : "the slopes must be constant");
        return;
    }
    int64_t count = type_count(&weight->type);
    int32_t *multiplier = NEW_ARRAY(c, int32_t, count);
    int32_t *shift = NEW_ARRAY(c, int32_t, count);
    double ratio = ldexp(scale_of(in) / scale_of(out), -PRELU_BITS), steepest = ratio;
    for (int64_t k = 0; k < count; k++) {
        double slope = ratio * constant_real(weight, k);
        signed_multiplier(slope, &multiplier[k], &shift[k]);
        steepest = fmax(steepest, fabs(slope));
    }
    if (steepest >= 0x1p6) { /* 255 * 2^16 must survive a left shift */
        refuse(c, n, "a slope is too steep for the scales");
        return;
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_prelu_s8);
    CtnPreluS8Args *a = call->args;
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    call_const(call, &a->multiplier, "multiplier", DT_I32, multiplier, count * 4, 4);
    call_const(call, &a->shift, "shift", DT_I32, shift, count * 4, 4);
    loop(n, in, a->dim, a->in_stride);
    loop(n, weight, a->dim, a->channel_stride);
    a->input_zero_point = zero_point_of(in);
    a->output_zero_point = zero_point_of(out);
    multiplier_from(ratio, &a->positive_multiplier, &a->positive_shift);
}

/* ---- any function by a table ---------------------------------------------------------------- */

/* The map at two real numbers, as the result stores it; what is undefined gives real zero. */
static int8_t map_stored(const Node *n, double a, double b) {
    double in[2] = {a, b};
    double y = n->op->map(n, in);
    return (int8_t)choice_stored(node_result(n), isnan(y) ? 0 : y);
}

/* Which values the second operand can have: all 256, or those that a constant has. Fills
 * row[q + 128] with the row of value q in the table, -1 if it has none. */
static int table_rows(const Value *v, int16_t row[256]) {
    int count = 0;
    for (int q = 0; q < 256; q++)
        row[q] = v->constant ? -1 : (int16_t)count++;
    if (!v->constant)
        return count;
    for (int64_t k = 0, n = array_count(v->constant); k < n; k++) {
        int64_t q = array_get_int(v->constant, k) + 128;
        if (row[q] < 0)
            row[q] = (int16_t)count++;
    }
    return count;
}

void lower_pointwise2(C *c, Graph *g, Node *n) {
    Form form;
    Value *lhs, *rhs;
    if (!operands(c, g, n, &form, &lhs, &rhs))
        return;
    if (form == FORM_S16) {
        refuse(c, n, "a table over two int16 operands does not fit");
        return;
    }
    bool swapped = lhs->constant && !rhs->constant; /* rows belong to the constant one */
    Value *along = swapped ? rhs : lhs, *across = swapped ? lhs : rhs;
    int16_t row[256];
    int rows = table_rows(across, row);
    int8_t *table = NEW_ARRAY(c, int8_t, rows * 256);
    for (int q = -128; q < 128; q++) {
        double y = scale_of(across) * (q - zero_point_of(across));
        for (int p = -128; p < 128 && row[q + 128] >= 0; p++) {
            double x = scale_of(along) * (p - zero_point_of(along));
            table[row[q + 128] * 256 + p + 128] =
                swapped ? map_stored(n, y, x) : map_stored(n, x, y);
        }
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_pointwise2_s8);
    CtnPointwise2S8Args *a = call->args;
    call_in(call, &a->a, along);
    call_out(call, &a->output, node_result(n));
    call_const(call, &a->table, "table", DT_I8, table, (int64_t)rows * 256, 4);
    loop(n, along, a->dim, a->a_stride);
    loop(n, across, a->dim, a->b_stride);
    if (!across->constant) {
        call_in(call, &a->b, across);
        return;
    }
    int64_t count = array_count(across->constant);
    int8_t *index = NEW_ARRAY(c, int8_t, count);
    for (int64_t k = 0; k < count; k++)
        index[k] = (int8_t)(row[array_get_int(across->constant, k) + 128] - 128);
    call_const(call, &a->b, "rows", DT_I8, index, count, 1);
}
