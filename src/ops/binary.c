/* Arithmetic of two or three tensors, each row one function of the operands' real numbers. Integer
 * results wrap as in torch; division by an integer zero gives zero here (torch raises). With one
 * varying operand a node becomes a table; with two it needs a kernel, named by its lower. */
#include "lower/pointwise.h"
#include "ops/ops.h"

static double wrap(const Node *n, double x) {
    return number_wrap(n->out[0]->type.dtype, x);
}

static bool is_integer(const Node *n) {
    return !dtype_is_float(n->out[0]->type.dtype);
}

/* Each name_of is a function of two operands; BINARY makes the maps for `other` as a tensor and as
 * a number. */
#define BINARY(name)                                                                               \
    static double map_##name(const Node *n, const double *in) {                                    \
        return name##_of(n, in[0], in[1]);                                                         \
    }
#define BINARY_SCALAR(name, argument)                                                              \
    static double map_##name##_scalar(const Node *n, const double *in) {                           \
        return name##_of(n, in[0], node_double(n, argument));                                      \
    }

static double add_of(const Node *n, double a, double b) {
    return wrap(n, a + b * node_double(n, "alpha"));
}
BINARY(add)
BINARY_SCALAR(add, "other")

static double sub_of(const Node *n, double a, double b) {
    return wrap(n, a - b * node_double(n, "alpha"));
}
BINARY(sub)
BINARY_SCALAR(sub, "other")

static double rsub_of(const Node *n, double a, double b) {
    return wrap(n, b - a * node_double(n, "alpha"));
}
BINARY(rsub)
BINARY_SCALAR(rsub, "other")

static double mul_of(const Node *n, double a, double b) {
    return wrap(n, a * b);
}
BINARY(mul)
BINARY_SCALAR(mul, "other")

/* ---- divisions ---------------------------------------------------------------------------- */

static double div_of(const Node *n, double a, double b) {
    (void)n;
    return a / b;
}
BINARY(div)
BINARY_SCALAR(div, "other")

/* As torch and Python: from the exact remainder, so that the quotient is not rounded up first. */
static double floor_divide_of(const Node *n, double a, double b) {
    if (b == 0)
        return is_integer(n) ? 0 : a / b;
    double rest = fmod(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0))
        quotient -= 1;
    return isfinite(quotient) ? round(quotient) : quotient;
}
BINARY(floor_divide)
BINARY_SCALAR(floor_divide, "other")

static double div_mode_of(const Node *n, double a, double b) {
    if (!node_has(n, "rounding_mode"))
        return a / b;
    if (text_equal(node_string(n, "rounding_mode"), "floor"))
        return floor_divide_of(n, a, b);
    return b == 0 && is_integer(n) ? 0 : trunc(a / b);
}
BINARY(div_mode)
BINARY_SCALAR(div_mode, "other")

static void shape_div_mode(C *c, Node *n) {
    if (node_has(n, "rounding_mode"))
        shape_broadcast(c, n);
    else
        shape_broadcast_float(c, n);
}

static double fmod_of(const Node *n, double a, double b) {
    return b == 0 && is_integer(n) ? 0 : fmod(a, b);
}
BINARY(fmod)
BINARY_SCALAR(fmod, "other")

/* the sign of the divisor */
static double remainder_of(const Node *n, double a, double b) {
    double rest = fmod_of(n, a, b);
    return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}
BINARY(remainder)
BINARY_SCALAR(remainder, "other")

static double map_remainder_of_scalar(const Node *n, const double *in) {
    return remainder_of(n, node_double(n, "self"), in[0]);
}

/* ---- powers ------------------------------------------------------------------------------- */

static double pow_of(const Node *n, double a, double b) {
    double r = pow(a, b);
    if (!is_integer(n))
        return r;
    return isfinite(r) ? wrap(n, trunc(r)) : 0; /* negative powers of 0 */
}
BINARY(pow)
BINARY_SCALAR(pow, "exponent")

static double map_pow_of_scalar(const Node *n, const double *in) {
    return pow_of(n, node_double(n, "self"), in[0]);
}

static void shape_float_power(C *c, Node *n) {
    shape_broadcast(c, n);
    n->out[0]->type.dtype = DT_F64;
}

/* ---- choices ------------------------------------------------------------------------------ */

static double maximum_of(const Node *n, double a, double b) {
    (void)n;
    return isnan(a) || a > b ? a : b;
}
BINARY(maximum)

static double minimum_of(const Node *n, double a, double b) {
    (void)n;
    return isnan(a) || a < b ? a : b;
}
BINARY(minimum)

static double fmax_of(const Node *n, double a, double b) {
    (void)n;
    return fmax(a, b);
}
BINARY(fmax)

static double fmin_of(const Node *n, double a, double b) {
    (void)n;
    return fmin(a, b);
}
BINARY(fmin)

static double copysign_of(const Node *n, double a, double b) {
    (void)n;
    return copysign(a, b);
}
BINARY(copysign)
BINARY_SCALAR(copysign, "other")

static void decompose_heaviside(C *c, Graph *g, Node *n) {
    (void)c;
    Value *x = node_in(n, "self"), *values = node_in(n, "values");
    Value *zero = MAKE("aten::eq.Scalar", arg_value(x), arg_int(0));
    Value *step = MAKE("aten::gt.Scalar", arg_value(x), arg_int(0));
    step = value_converted(g, n, step, n->out[0]->type.dtype);
    value_replace(g, n->out[0],
                  MAKE("aten::where.self", arg_value(zero), arg_value(values), arg_value(step)));
}

/* ---- others ------------------------------------------------------------------------------- */

static double atan2_of(const Node *n, double a, double b) {
    (void)n;
    return atan2(a, b);
}
BINARY(atan2)

static double hypot_of(const Node *n, double a, double b) {
    (void)n;
    return hypot(a, b);
}
BINARY(hypot)

static double logaddexp_of(const Node *n, double a, double b) {
    (void)n;
    double high = fmax(a, b);
    return isinf(high) ? high : high + log1p(exp(-fabs(a - b)));
}
BINARY(logaddexp)

static double logaddexp2_of(const Node *n, double a, double b) {
    (void)n;
    double high = fmax(a, b);
    return isinf(high) ? high : high + log1p(exp2(-fabs(a - b))) / log(2);
}
BINARY(logaddexp2)

static double xlogy_of(const Node *n, double a, double b) {
    (void)n;
    return isnan(b) ? b : a == 0 ? 0 : a * log(b);
}
BINARY(xlogy)
BINARY_SCALAR(xlogy, "other")

static double map_xlogy_of_scalar(const Node *n, const double *in) {
    return xlogy_of(n, node_double(n, "self"), in[0]);
}

static double xlog1py_of(const Node *n, double a, double b) {
    (void)n;
    return isnan(b) ? b : a == 0 ? 0 : a * log1p(b);
}
BINARY(xlog1py)
BINARY_SCALAR(xlog1py, "other")

static double map_xlog1py_of_scalar(const Node *n, const double *in) {
    return xlog1py_of(n, node_double(n, "self"), in[0]);
}

static double gcd_of(const Node *n, double a, double b) {
    for (a = fabs(a), b = fabs(b); b != 0;) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return wrap(n, a);
}
BINARY(gcd)

static double lcm_of(const Node *n, double a, double b) {
    double divisor = gcd_of(n, a, b);
    return divisor == 0 ? 0 : wrap(n, fabs(a / divisor * b));
}
BINARY(lcm)

static double ldexp_of(const Node *n, double a, double b) {
    (void)n;
    return a * exp2(b);
}
BINARY(ldexp)

/* ---- three operands ----------------------------------------------------------------------- */

static double map_addcmul(const Node *n, const double *in) {
    return wrap(n, in[0] + node_double(n, "value") * in[1] * in[2]);
}

static double map_addcdiv(const Node *n, const double *in) {
    return in[0] + node_double(n, "value") * in[1] / in[2];
}

static double lerp_of(double start, double end, double weight) {
    return fabs(weight) < 0.5 ? start + weight * (end - start) : end - (end - start) * (1 - weight);
}

static double map_lerp(const Node *n, const double *in) {
    (void)n;
    return lerp_of(in[0], in[1], in[2]);
}

static double map_lerp_scalar(const Node *n, const double *in) {
    return lerp_of(in[0], in[1], node_double(n, "weight"));
}

/* self + value * (tensor1 op tensor2) */
static void decompose_addc(Graph *g, Node *n, const char *op) {
    Value *inner = node_value(g, n, op, ARGS(*node_arg(n, "tensor1"), *node_arg(n, "tensor2")));
    Value *sum = node_value(g, n, "aten::add.Tensor",
                            ARGS(*node_arg(n, "self"), arg_value(inner), *node_arg(n, "value")));
    value_replace(g, n->out[0], sum);
}

static void decompose_addcmul(C *c, Graph *g, Node *n) {
    (void)c;
    decompose_addc(g, n, "aten::mul.Tensor");
}

static void decompose_addcdiv(C *c, Graph *g, Node *n) {
    (void)c;
    decompose_addc(g, n, "aten::div.Tensor");
}

/* self + weight * (end - self) */
static void decompose_lerp(C *c, Graph *g, Node *n) {
    (void)c;
    Arg self = *node_arg(n, "self");
    Value *span = node_value(g, n, "aten::sub.Tensor", ARGS(*node_arg(n, "end"), self));
    Value *part =
        node_value(g, n, "aten::mul.Tensor", ARGS(arg_value(span), *node_arg(n, "weight")));
    value_replace(g, n->out[0], node_value(g, n, "aten::add.Tensor", ARGS(self, arg_value(part))));
}

/* ---- rows --------------------------------------------------------------------------------- */

#define FUSES OP_FUSES_CLAMP | OP_FUSES_TABLE | OP_WIDE_ALIKE
#define SUM(name) .traits = FUSES | OP_FUSES_MAP, .map = map_##name, .lower = lower_add
#define SUM_SCALAR(name) .map = map_##name##_scalar, .lower = lower_add
#define PRODUCT .traits = FUSES | OP_FUSES_MAP, .map = map_mul, .lower = lower_mul
#define QUOTIENT .traits = FUSES, .map = map_div, .shape = shape_broadcast_float, .lower = lower_div
#define QUOTIENT_SCALAR .map = map_div_scalar, .shape = shape_broadcast_float, .lower = lower_div
#define QUOTIENT_MODE .map = map_div_mode, .shape = shape_div_mode, .lower = lower_pointwise2
#define QUOTIENT_MODE_SCALAR                                                                       \
    .map = map_div_mode_scalar, .shape = shape_div_mode, .lower = lower_pointwise2
#define BY_TABLE2(name) .map = map_##name, .lower = lower_pointwise2

static const Op rows[] = {
    {.schema = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     SUM(add)},
    {.schema = "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     SUM_SCALAR(add)},
    {.schema = "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     SUM(sub)},
    {.schema = "aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     SUM_SCALAR(sub)},
    {.schema = "aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     SUM(sub)},
    {.schema = "aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     SUM_SCALAR(sub)},
    {.schema = "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     SUM(rsub)},
    {.schema = "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     SUM_SCALAR(rsub)},
    {.schema = "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", PRODUCT},
    {.schema = "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor",
     .map = map_mul_scalar,
     .lower = lower_mul},
    {.schema = "aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", PRODUCT},
    {.schema = "aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor",
     .map = map_mul_scalar,
     .lower = lower_mul},
    {.schema = "aten::div.Tensor(Tensor self, Tensor other) -> Tensor", QUOTIENT},
    {.schema = "aten::div.Scalar(Tensor self, Scalar other) -> Tensor", QUOTIENT_SCALAR},
    {.schema = "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> "
               "Tensor",
     QUOTIENT_MODE},
    {.schema = "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> "
               "Tensor",
     QUOTIENT_MODE_SCALAR},
    {.schema = "aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", QUOTIENT},
    {.schema = "aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", QUOTIENT_SCALAR},
    {.schema = "aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> "
               "Tensor",
     QUOTIENT_MODE},
    {.schema = "aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> "
               "Tensor",
     QUOTIENT_MODE_SCALAR},
    {.schema = "aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", QUOTIENT},
    {.schema = "aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", QUOTIENT_SCALAR},
    {.schema = "aten::floor_divide(Tensor self, Tensor other) -> Tensor", BY_TABLE2(floor_divide)},
    {.schema = "aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
     BY_TABLE2(floor_divide_scalar)},
    {.schema = "aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", BY_TABLE2(fmod)},
    {.schema = "aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", BY_TABLE2(fmod_scalar)},
    {.schema = "aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", BY_TABLE2(remainder)},
    {.schema = "aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor",
     BY_TABLE2(remainder_scalar)},
    {.schema = "aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
     BY_TABLE2(remainder_of_scalar)},
    {.schema = "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", BY_TABLE2(pow)},
    {.schema = "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
     BY_TABLE2(pow_scalar)},
    {.schema = "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
     BY_TABLE2(pow_of_scalar)},
    {.schema = "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
     .shape = shape_float_power,
     BY_TABLE2(pow)},
    {.schema = "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
     .shape = shape_float_power,
     BY_TABLE2(pow_scalar)},
    {.schema = "aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
     .shape = shape_float_power,
     BY_TABLE2(pow_of_scalar)},
    {.schema = "aten::maximum(Tensor self, Tensor other) -> Tensor",
     .traits = OP_WIDE_ALIKE,
     .map = map_maximum,
     .lower = lower_maximum},
    {.schema = "aten::max.other(Tensor self, Tensor other) -> Tensor",
     .traits = OP_WIDE_ALIKE,
     .map = map_maximum,
     .lower = lower_maximum},
    {.schema = "aten::fmax(Tensor self, Tensor other) -> Tensor",
     .traits = OP_WIDE_ALIKE,
     .map = map_fmax,
     .lower = lower_maximum},
    {.schema = "aten::minimum(Tensor self, Tensor other) -> Tensor",
     .traits = OP_WIDE_ALIKE,
     .map = map_minimum,
     .lower = lower_minimum},
    {.schema = "aten::min.other(Tensor self, Tensor other) -> Tensor",
     .traits = OP_WIDE_ALIKE,
     .map = map_minimum,
     .lower = lower_minimum},
    {.schema = "aten::fmin(Tensor self, Tensor other) -> Tensor",
     .traits = OP_WIDE_ALIKE,
     .map = map_fmin,
     .lower = lower_minimum},
    {.schema = "aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(copysign)},
    {.schema = "aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(copysign_scalar)},
    {.schema = "aten::heaviside(Tensor self, Tensor values) -> Tensor",
     COMPOSITE(decompose_heaviside)},
    {.schema = "aten::atan2(Tensor self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(atan2)},
    {.schema = "aten::arctan2(Tensor self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(atan2)},
    {.schema = "aten::hypot(Tensor self, Tensor other) -> Tensor", BY_TABLE2(hypot)},
    {.schema = "aten::logaddexp(Tensor self, Tensor other) -> Tensor", BY_TABLE2(logaddexp)},
    {.schema = "aten::logaddexp2(Tensor self, Tensor other) -> Tensor", BY_TABLE2(logaddexp2)},
    {.schema = "aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlogy)},
    {.schema = "aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlogy_scalar)},
    {.schema = "aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlogy_of_scalar)},
    {.schema = "aten::special_xlogy(Tensor self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlogy)},
    {.schema = "aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlogy_scalar)},
    {.schema = "aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlogy_of_scalar)},
    {.schema = "aten::special_xlog1py(Tensor self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlog1py)},
    {.schema = "aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlog1py_scalar)},
    {.schema = "aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(xlog1py_of_scalar)},
    {.schema = "aten::gcd(Tensor self, Tensor other) -> Tensor",
     .map = map_gcd,
     .lower = lower_pointwise2},
    {.schema = "aten::lcm(Tensor self, Tensor other) -> Tensor",
     .map = map_lcm,
     .lower = lower_pointwise2},
    {.schema = "aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
     .shape = shape_broadcast_float,
     BY_TABLE2(ldexp)},
    {.schema = "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
               "Tensor",
     .map = map_addcmul,
     .decompose = decompose_addcmul},
    {.schema = "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
               "Tensor",
     .map = map_addcdiv,
     .shape = shape_broadcast_float,
     .decompose = decompose_addcdiv},
    {.schema = "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
     .traits = FUSES,
     .map = map_lerp_scalar,
     .lower = lower_add},
    {.schema = "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
     .map = map_lerp,
     .decompose = decompose_lerp},
};

OPS_FAMILY(binary, rows);
