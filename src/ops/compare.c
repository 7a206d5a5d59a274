/* Comparisons, choices, logical and bitwise operators. Comparisons give bool; bitwise operators on
 * bools are the logical ones; a choice has the promoted type of its branches. */
#include "lower/pointwise.h"
#include "ops/ops.h"

/* ---- comparisons -------------------------------------------------------------------------- */

#define COMPARISON(name, operator)                                                                 \
    static double map_##name(const Node *n, const double *in) {                                    \
        (void)n;                                                                                   \
        return in[0] operator in[1];                                                               \
    }                                                                                              \
    static double map_##name##_scalar(const Node *n, const double *in) {                           \
        return in[0] operator node_double(n, "other");                                             \
    }

COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

static double map_isclose(const Node *n, const double *in) {
    double a = in[0], b = in[1];
    if (isnan(a) && isnan(b))
        return node_bool(n, "equal_nan");
    if (a == b)
        return 1;
    double allowed = node_double(n, "atol") + fabs(node_double(n, "rtol") * b);
    return isfinite(a - b) && fabs(a - b) <= allowed;
}

/* ---- logical and bitwise ------------------------------------------------------------------ */

static double map_logical_and(const Node *n, const double *in) {
    (void)n;
    return in[0] != 0 && in[1] != 0;
}

static double map_logical_or(const Node *n, const double *in) {
    (void)n;
    return in[0] != 0 || in[1] != 0;
}

static double map_logical_xor(const Node *n, const double *in) {
    (void)n;
    return (in[0] != 0) != (in[1] != 0);
}

/* PyTorch's shifts: a count out of range shifts everything out. */
static int64_t shift_left(int64_t a, int64_t b, int bits) {
    return b < 0 || b >= bits ? 0 : (int64_t)((uint64_t)a << b);
}

static int64_t shift_right(int64_t a, int64_t b, int bits) {
    return a >> (b < 0 || b >= bits ? bits - 1 : b);
}

static int result_bits(const Node *n) {
    return 8 * dtype_size(n->out[0]->type.dtype);
}

static int64_t and_of(int64_t a, int64_t b, int bits) {
    (void)bits;
    return a & b;
}

static int64_t or_of(int64_t a, int64_t b, int bits) {
    (void)bits;
    return a | b;
}

static int64_t xor_of(int64_t a, int64_t b, int bits) {
    (void)bits;
    return a ^ b;
}

#define BITWISE(name, function)                                                                    \
    static double name##_of_numbers(const Node *n, double a, double b) {                           \
        int64_t r = function((int64_t)a, (int64_t)b, result_bits(n));                              \
        return number_wrap(n->out[0]->type.dtype, (double)r);                                      \
    }                                                                                              \
    static double map_##name(const Node *n, const double *in) {                                    \
        return name##_of_numbers(n, in[0], in[1]);                                                 \
    }                                                                                              \
    static double map_##name##_scalar(const Node *n, const double *in) {                           \
        return name##_of_numbers(n, in[0], node_double(n, "other"));                               \
    }                                                                                              \
    static double map_##name##_of_scalar(const Node *n, const double *in) {                        \
        return name##_of_numbers(n, node_double(n, "self"), in[0]);                                \
    }

BITWISE(and, and_of)
BITWISE(or, or_of)
BITWISE(xor, xor_of)
BITWISE(shift_left, shift_left)
BITWISE(shift_right, shift_right)

/* ---- choices ------------------------------------------------------------------------------ */

static double map_where(const Node *n, const double *in) {
    (void)n;
    return in[0] != 0 ? in[1] : in[2];
}

static double map_where_scalar_other(const Node *n, const double *in) {
    return in[0] != 0 ? in[1] : node_double(n, "other");
}

static double map_where_scalar_self(const Node *n, const double *in) {
    return in[0] != 0 ? node_double(n, "self") : in[1];
}

static double map_where_scalar(const Node *n, const double *in) {
    return node_double(n, in[0] != 0 ? "self" : "other");
}

static double map_masked_fill(const Node *n, const double *in) {
    (void)n;
    return in[1] != 0 ? in[2] : in[0];
}

static double map_masked_fill_scalar(const Node *n, const double *in) {
    return in[1] != 0 ? node_double(n, "value") : in[0];
}

/* ---- rows --------------------------------------------------------------------------------- */

#define COMPARE(name) .map = map_##name, .shape = shape_broadcast_bool, .lower = lower_compare
#define LOGICAL(name) .map = map_##name, .shape = shape_broadcast_bool, .lower = lower_logical
#define BITS(name) .map = map_##name, .lower = lower_bitwise
#define BOTH(schema_name, name)                                                                    \
    {.schema = "aten::" schema_name ".Tensor(Tensor self, Tensor other) -> Tensor",                \
     COMPARE(name)},                                                                               \
    {                                                                                              \
        .schema = "aten::" schema_name ".Scalar(Tensor self, Scalar other) -> Tensor",             \
        COMPARE(name##_scalar)                                                                     \
    }
#define BITS_BOTH(schema_name, name)                                                               \
    {.schema = "aten::" schema_name ".Tensor(Tensor self, Tensor other) -> Tensor", BITS(name)}, { \
        .schema = "aten::" schema_name ".Scalar(Tensor self, Scalar other) -> Tensor",             \
        BITS(name##_scalar)                                                                        \
    }
#define BITS_OF_SCALAR(schema_name, name)                                                          \
    {                                                                                              \
        .schema = "aten::" schema_name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor",      \
        BITS(name##_of_scalar)                                                                     \
    }

static const Op rows[] = {
    BOTH("eq", eq),
    BOTH("ne", ne),
    BOTH("not_equal", ne),
    BOTH("lt", lt),
    BOTH("less", lt),
    BOTH("le", le),
    BOTH("less_equal", le),
    BOTH("gt", gt),
    BOTH("greater", gt),
    BOTH("ge", ge),
    BOTH("greater_equal", ge),
    {.schema = "aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
               "atol=1e-08, bool equal_nan=False) -> Tensor",
     .map = map_isclose,
     .shape = shape_broadcast_bool,
     .lower = lower_pointwise2},
    {.schema = "aten::logical_and(Tensor self, Tensor other) -> Tensor", LOGICAL(logical_and)},
    {.schema = "aten::logical_or(Tensor self, Tensor other) -> Tensor", LOGICAL(logical_or)},
    {.schema = "aten::logical_xor(Tensor self, Tensor other) -> Tensor", LOGICAL(logical_xor)},
    BITS_BOTH("bitwise_and", and),
    BITS_OF_SCALAR("bitwise_and", and),
    BITS_BOTH("bitwise_or", or),
    BITS_OF_SCALAR("bitwise_or", or),
    BITS_BOTH("bitwise_xor", xor),
    BITS_OF_SCALAR("bitwise_xor", xor),
    BITS_BOTH("__and__", and),
    BITS_BOTH("__or__", or),
    BITS_BOTH("__xor__", xor),
    BITS_BOTH("__lshift__", shift_left),
    BITS_BOTH("__rshift__", shift_right),
    {.schema = "aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
     BITS(shift_left)},
    {.schema = "aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
     BITS(shift_left_scalar)},
    BITS_OF_SCALAR("bitwise_left_shift", shift_left),
    {.schema = "aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
     BITS(shift_right)},
    {.schema = "aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
     BITS(shift_right_scalar)},
    BITS_OF_SCALAR("bitwise_right_shift", shift_right),
    {.schema = "aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
     .map = map_where,
     .lower = lower_where},
    {.schema = "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
     .map = map_where_scalar_other,
     .lower = lower_where},
    {.schema = "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
     .map = map_where_scalar_self,
     .lower = lower_where},
    {.schema = "aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
     .map = map_where_scalar,
     .lower = lower_where},
    {.schema = "aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
     .map = map_masked_fill_scalar,
     .shape = shape_broadcast_first,
     .lower = lower_masked_fill},
    {.schema = "aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
     .map = map_masked_fill,
     .shape = shape_broadcast_first,
     .lower = lower_masked_fill},
};

OPS_FAMILY(compare, rows);
