/* Functions of one number. As with activations, each row is its formula: float results, folded
 * constants and tables follow from it. What has a lowering has it for integers that are too wide
 * for a table. */
#include <float.h>

#include "lower/pointwise.h"
#include "ops/ops.h"

static const double PI = 3.14159265358979323846;

/* ---- functions that C lacks --------------------------------------------------------------- */

/* Upwards by recurrence to x >= 10, there by its asymptotic series; below zero by reflection. */
static double digamma(double x) {
    if (x == 0)
        return copysign(INFINITY, -x);
    if (x < 0)
        return x == floor(x) ? NAN : digamma(1 - x) - PI / tan(PI * x);
    double sum = 0;
    for (; x < 10; x += 1)
        sum -= 1 / x;
    double y = 1 / (x * x);
    double series = 1.0 / 132;
    series = 1.0 / 240 - y * series;
    series = 1.0 / 252 - y * series;
    series = 1.0 / 120 - y * series;
    series = 1.0 / 12 - y * series;
    return sum + log(x) - 0.5 / x - y * series;
}

/* A start by Winitzki's formula, exact to 2e-3, then Newton steps on erf (erfc near the ends). */
static double erfinv(double x) {
    if (!(fabs(x) < 1))
        return fabs(x) == 1 ? copysign(INFINITY, x) : NAN;
    double a = 0.147, l = log1p(-x * x), t = 2 / (PI * a) + l / 2;
    double y = copysign(sqrt(sqrt(t * t - l / a) - t), x);
    for (int k = 0; k < 4; k++) {
        /* erf(y) - x, without cancellation near the ends */
        double error = x > 0.5 ? (1 - x) - erfc(y) : x < -0.5 ? erfc(-y) - (1 + x) : erf(y) - x;
        y -= error * exp(y * y) * sqrt(PI) / 2;
    }
    return y;
}

/* Derivative n >= 1 of digamma: upwards by recurrence to where the asymptotic series holds. */
static double polygamma(int64_t n, double x) {
    static const double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66};
    double factorial = tgamma((double)n), sum = 0; /* (n - 1)! */
    if (x <= 0 && x == floor(x))
        return n % 2 ? INFINITY : NAN;
    if (x < -1e4 || isnan(x))
        return NAN; /* torch's own value is noise there, and the way up is long */
    for (; x < 15 + (double)n; x += 1)
        sum += factorial * (double)n / pow(x, (double)n + 1);
    sum += factorial / pow(x, (double)n) + factorial * (double)n / (2 * pow(x, (double)n + 1));
    double ratio = factorial; /* (2k + n - 1)! / (2k)! */
    for (int k = 1; k <= (int)COUNT_OF(bernoulli); k++) {
        ratio *= (2.0 * k + (double)n - 2) / (2.0 * k - 1) * (2.0 * k + (double)n - 1) / (2.0 * k);
        sum += bernoulli[k - 1] * ratio / pow(x, 2.0 * k + (double)n);
    }
    return n % 2 ? sum : -sum;
}

static double log_gamma(double x) {
    int sign; /* lgamma() itself would keep it in a global */
    return lgamma_r(x, &sign);
}

/* Modified Bessel function of order zero, scaled by exp(-|x|): the power series, whose terms
 * are all positive, up to 30; the asymptotic series beyond. */
static double bessel_i0e(double x) {
    x = fabs(x);
    double sum = 1, term = 1;
    if (x <= 30) {
        for (int k = 1; k < 200 && term > sum * 1e-17; k++) {
            term *= (x / (2 * k)) * (x / (2 * k));
            sum += term;
        }
        return sum * exp(-x);
    }
    for (int k = 1; k < 15; k++) {
        term *= (2 * k - 1.0) * (2 * k - 1.0) / (8 * k * x);
        sum += term;
    }
    return sum / sqrt(2 * PI * x);
}

/* Order one, likewise; odd. */
static double bessel_i1e(double x) {
    double size = fabs(x), sum = size / 2, term = size / 2;
    if (size <= 30) {
        for (int k = 1; k < 200 && term > sum * 1e-17; k++) {
            term *= (size / 2) * (size / 2) / ((double)k * (k + 1));
            sum += term;
        }
        return copysign(sum * exp(-size), x);
    }
    sum = term = 1;
    for (int k = 1; k < 15; k++) {
        term *= -(4 - (2 * k - 1.0) * (2 * k - 1.0)) / (8 * k * size);
        sum += term;
    }
    return copysign(sum / sqrt(2 * PI * size), x);
}

/* exp(x^2) erfc(x); where erfc is nearly gone, by its asymptotic series. */
static double erfcx(double x) {
    if (x < 25)
        return exp(x * x) * erfc(x);
    double y = 1 / (2 * x * x);
    return (1 - y * (1 - 3 * y * (1 - 5 * y))) / (x * sqrt(PI));
}

/* ---- maps --------------------------------------------------------------------------------- */

#define MAP(name, expression)                                                                      \
    static double map_##name(const Node *n, const double *in) {                                    \
        double x = in[0];                                                                          \
        (void)n;                                                                                   \
        return expression;                                                                         \
    }

MAP(abs, number_wrap(n->out[0]->type.dtype, fabs(x)))
MAP(neg, number_wrap(n->out[0]->type.dtype, -x))
MAP(square, number_wrap(n->out[0]->type.dtype, x *x))
MAP(reciprocal, 1 / x)
MAP(exp, exp(x))
MAP(exp2, exp2(x))
MAP(expm1, expm1(x))
MAP(log, log(x))
MAP(log2, log2(x))
MAP(log10, log10(x))
MAP(log1p, log1p(x))
MAP(sqrt, sqrt(x))
MAP(rsqrt, 1 / sqrt(x))
MAP(sin, sin(x))
MAP(cos, cos(x))
MAP(tan, tan(x))
MAP(asin, asin(x))
MAP(acos, acos(x))
MAP(atan, atan(x))
MAP(sinh, sinh(x))
MAP(cosh, cosh(x))
MAP(asinh, asinh(x))
MAP(acosh, acosh(x))
MAP(atanh, atanh(x))
MAP(erf, erf(x))
MAP(erfc, erfc(x))
MAP(erfinv, erfinv(x))
MAP(lgamma, log_gamma(x))
MAP(digamma, digamma(x))
MAP(sinc, x == 0 ? 1 : sin(PI * x) / (PI * x))
MAP(erfcx, erfcx(x))
MAP(ndtri, sqrt(2) * erfinv(2 * x - 1))
MAP(log_ndtr, x < -1 ? log(erfcx(-x / sqrt(2)) / 2) - x * x / 2 : log1p(-erfc(x / sqrt(2)) / 2))
MAP(i1, bessel_i1e(x) * exp(fabs(x)))
MAP(i1e, bessel_i1e(x))
MAP(i0, bessel_i0e(x) * exp(fabs(x)))
MAP(i0e, bessel_i0e(x))
MAP(ndtr, 0.5 * erfc(-x / sqrt(2)))
MAP(entr, isnan(x) || x > 0 ? -x * log(x) : x == 0 ? 0 : -INFINITY)
MAP(angle, isnan(x) ? x : x < 0 ? PI : 0)
MAP(deg2rad, x *(PI / 180))
MAP(rad2deg, x *(180 / PI))
MAP(ceil, ceil(x))
MAP(floor, floor(x))
MAP(round, rint(x))
MAP(trunc, trunc(x))
MAP(frac, x - trunc(x))
MAP(sign, (x > 0) - (x < 0))
MAP(signbit, signbit(x) != 0)
MAP(isnan, isnan(x) != 0)
MAP(isinf, isinf(x) != 0)
MAP(isfinite, isfinite(x) != 0)
MAP(isposinf, isinf(x) && x > 0)
MAP(isneginf, isinf(x) && x < 0)
MAP(logical_not, x == 0)

static double map_bitwise_not(const Node *n, const double *in) {
    DType t = n->out[0]->type.dtype;
    return t == DT_BOOL ? in[0] == 0 : number_wrap(t, (double)~(int64_t)in[0]);
}

/* As torch, in float32: ties after scaling depend on it. */
static double map_round_decimals(const Node *n, const double *in) {
    int64_t decimals = node_int(n, "decimals");
    float scale = (float)pow(10, fabs((double)decimals)), x = (float)in[0];
    if (decimals == 0)
        return rintf(x);
    return decimals > 0 ? rintf(x * scale) / scale : rintf(x / scale) * scale;
}

static double map_polygamma(const Node *n, const double *in) {
    int64_t order = node_int(n, "n");
    return order == 0 ? digamma(in[0]) : polygamma(order, in[0]);
}

/* Argument limits that the sums of map_polygamma rest on. */
static void shape_polygamma(C *c, Node *n) {
    int64_t order = node_int(n, "n");
    if (order < 0 || order > 20)
        diag_error(c, DIAG_MODEL, &n->loc, "polygamma with n=%lld, needs 0 to 20",
                   (long long)order);
    shape_broadcast_float(c, n);
}

static double map_mvlgamma(const Node *n, const double *in) {
    int64_t p = node_int(n, "p");
    double sum = (double)(p * (p - 1)) / 4 * log(PI);
    for (int64_t k = 0; k < p; k++)
        sum += log_gamma(in[0] - (double)k / 2);
    return sum;
}

static void shape_mvlgamma(C *c, Node *n) {
    int64_t p = node_int(n, "p");
    if (p < 1 || p > 64)
        diag_error(c, DIAG_MODEL, &n->loc, "mvlgamma with p=%lld, needs 1 to 64", (long long)p);
    shape_broadcast_float(c, n);
}

static double map_logit(const Node *n, const double *in) {
    double x = in[0];
    if (node_has(n, "eps")) {
        double eps = node_double(n, "eps");
        x = x < eps ? eps : x > 1 - eps ? 1 - eps : x;
    }
    return log(x / (1 - x));
}

static double map_nan_to_num(const Node *n, const double *in) {
    double x = in[0];
    double largest = n->out[0]->type.dtype == DT_F64 ? DBL_MAX : FLT_MAX;
    if (isnan(x))
        return node_has(n, "nan") ? node_double(n, "nan") : 0;
    if (!isinf(x))
        return x;
    if (x > 0)
        return node_has(n, "posinf") ? node_double(n, "posinf") : largest;
    return node_has(n, "neginf") ? node_double(n, "neginf") : -largest;
}

/* ---- rows --------------------------------------------------------------------------------- */

#define ROW_AS(name, function)                                                                     \
    {                                                                                              \
        .schema = "aten::" #name "(Tensor self) -> Tensor", .map = map_##function,                 \
        .lower = lower_integer_unary                                                               \
    }
#define ROW(name) ROW_AS(name, name)
#define FLOAT_AS(name, function)                                                                   \
    {                                                                                              \
        .schema = "aten::" #name "(Tensor self) -> Tensor", .map = map_##function,                 \
        .shape = shape_broadcast_float                                                             \
    }
#define FLOAT(name) FLOAT_AS(name, name)
#define TEST(name)                                                                                 \
    {                                                                                              \
        .schema = "aten::" #name "(Tensor self) -> Tensor", .map = map_##name,                     \
        .shape = shape_broadcast_bool, .lower = lower_integer_unary                                \
    }
static const Op rows[] = {
    ROW(abs),
    ROW_AS(absolute, abs),
    ROW(neg),
    ROW_AS(negative, neg),
    ROW(square),
    ROW(ceil),
    ROW(floor),
    ROW(round),
    ROW(trunc),
    ROW_AS(fix, trunc),
    {.schema = "aten::frac(Tensor self) -> Tensor", .map = map_frac},
    ROW(sign),
    ROW_AS(sgn, sign),
    ROW(bitwise_not),
    FLOAT(reciprocal),
    FLOAT(exp),
    FLOAT(exp2),
    FLOAT(expm1),
    FLOAT(log),
    FLOAT(log2),
    FLOAT(log10),
    FLOAT(log1p),
    FLOAT(sqrt),
    FLOAT(rsqrt),
    FLOAT(sin),
    FLOAT(cos),
    FLOAT(tan),
    FLOAT(asin),
    FLOAT(acos),
    FLOAT(atan),
    FLOAT(sinh),
    FLOAT(cosh),
    FLOAT(asinh),
    FLOAT(acosh),
    FLOAT(atanh),
    FLOAT_AS(arcsin, asin),
    FLOAT_AS(arccos, acos),
    FLOAT_AS(arctan, atan),
    FLOAT_AS(arcsinh, asinh),
    FLOAT_AS(arccosh, acosh),
    FLOAT_AS(arctanh, atanh),
    FLOAT(erf),
    FLOAT(erfc),
    FLOAT(erfinv),
    FLOAT(lgamma),
    FLOAT(digamma),
    FLOAT(sinc),
    FLOAT(i0),
    FLOAT(angle),
    FLOAT(deg2rad),
    FLOAT(rad2deg),
    FLOAT_AS(special_erf, erf),
    FLOAT_AS(special_erfc, erfc),
    FLOAT_AS(special_erfinv, erfinv),
    FLOAT_AS(special_exp2, exp2),
    FLOAT_AS(special_expm1, expm1),
    FLOAT_AS(special_log1p, log1p),
    FLOAT_AS(special_gammaln, lgamma),
    FLOAT_AS(special_digamma, digamma),
    FLOAT_AS(special_psi, digamma),
    FLOAT_AS(special_sinc, sinc),
    FLOAT_AS(special_erfcx, erfcx),
    FLOAT_AS(special_ndtri, ndtri),
    FLOAT_AS(special_log_ndtr, log_ndtr),
    FLOAT_AS(special_i1, i1),
    FLOAT_AS(special_i1e, i1e),
    FLOAT_AS(special_i0, i0),
    FLOAT_AS(special_i0e, i0e),
    FLOAT_AS(special_ndtr, ndtr),
    FLOAT_AS(special_entr, entr),
    TEST(signbit),
    TEST(isnan),
    TEST(isinf),
    TEST(isfinite),
    TEST(isposinf),
    TEST(isneginf),
    {.schema = "aten::logical_not(Tensor self) -> Tensor",
     .map = map_logical_not,
     .shape = shape_broadcast_bool,
     .lower = lower_integer_unary},
    {.schema = "aten::round.decimals(Tensor self, *, int decimals) -> Tensor",
     .map = map_round_decimals},
    {.schema = "aten::special_round(Tensor self, *, int decimals=0) -> Tensor",
     .map = map_round_decimals},
    {.schema = "aten::logit(Tensor self, float? eps=None) -> Tensor",
     .map = map_logit,
     .shape = shape_broadcast_float},
    {.schema = "aten::special_logit(Tensor self, float? eps=None) -> Tensor",
     .map = map_logit,
     .shape = shape_broadcast_float},
    {.schema = "aten::polygamma(int n, Tensor self) -> Tensor",
     .map = map_polygamma,
     .shape = shape_polygamma},
    {.schema = "aten::special_polygamma(int n, Tensor self) -> Tensor",
     .map = map_polygamma,
     .shape = shape_polygamma},
    {.schema = "aten::mvlgamma(Tensor self, int p) -> Tensor",
     .map = map_mvlgamma,
     .shape = shape_mvlgamma},
    {.schema = "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? "
               "neginf=None) -> Tensor",
     .map = map_nan_to_num,
     .lower = lower_integer_unary},
};

OPS_FAMILY(unary, rows);
