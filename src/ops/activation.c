/* Activations. Each is one function of a real number. Whatever follows from that - float results,
 * folded constants, int8 tables - follows elsewhere, so no row here has a lowering: pass tables
 * makes a table of every pointwise region with one varying input, be it a single node. Exceptions
 * are prelu, whose slope differs from channel to channel, and relu of integers. */
#include "lower/pointwise.h"
#include "ops/ops.h"

#include <string.h>

static const double SQRT_HALF = 0.70710678118654752440;
static const double SQRT_2_OVER_PI = 0.79788456080286535588;
static const double SELU_ALPHA = 1.6732632423543772848;
static const double SELU_SCALE = 1.0507009873554804934;

static double logistic(double x) {
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* log(1 + exp(x)) without overflow */
static double softplus(double x) {
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* min(max(x, low), high), NaN kept, high winning over low as in torch */
static double clamp(double x, double low, double high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}

static double map_relu(const Node *n, const double *in) {
    (void)n;
    return in[0] < 0 ? 0 : in[0];
}

static double map_relu6(const Node *n, const double *in) {
    (void)n;
    return clamp(in[0], 0, 6);
}

static double map_silu(const Node *n, const double *in) {
    (void)n;
    return in[0] == -INFINITY ? 0 : in[0] * logistic(in[0]);
}

static double map_sigmoid(const Node *n, const double *in) {
    (void)n;
    return logistic(in[0]);
}

static double map_tanh(const Node *n, const double *in) {
    (void)n;
    return tanh(in[0]);
}

static double map_gelu(const Node *n, const double *in) {
    double x = in[0];
    if (isinf(x))
        return x < 0 ? 0 : x;
    if (text_equal(node_string(n, "approximate"), "tanh"))
        return 0.5 * x * (1 + tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)));
    return 0.5 * x * erfc(-x * SQRT_HALF);
}

static double map_hardswish(const Node *n, const double *in) {
    (void)n;
    return in[0] == -INFINITY ? 0 : in[0] * clamp(in[0] + 3, 0, 6) / 6;
}

static double map_hardsigmoid(const Node *n, const double *in) {
    (void)n;
    return clamp(in[0] + 3, 0, 6) / 6;
}

/* Bounds of integers are cut to integers. */
static double map_hardtanh(const Node *n, const double *in) {
    double low = node_double(n, "min_val"), high = node_double(n, "max_val");
    bool integer = !dtype_is_float(n->out[0]->type.dtype);
    return integer ? clamp(in[0], trunc(low), trunc(high)) : clamp(in[0], low, high);
}

static double map_mish(const Node *n, const double *in) {
    (void)n;
    return in[0] == -INFINITY ? 0 : in[0] * tanh(softplus(in[0]));
}

static double map_softplus(const Node *n, const double *in) {
    double beta = node_double(n, "beta");
    return in[0] * beta > node_double(n, "threshold") ? in[0] : softplus(in[0] * beta) / beta;
}

static double map_elu(const Node *n, const double *in) {
    double scale = node_double(n, "scale");
    if (in[0] > 0)
        return in[0] * scale;
    return expm1(in[0] * node_double(n, "input_scale")) * node_double(n, "alpha") * scale;
}

static double map_celu(const Node *n, const double *in) {
    double alpha = node_double(n, "alpha");
    return in[0] > 0 ? in[0] : alpha * expm1(in[0] / alpha);
}

static double map_selu(const Node *n, const double *in) {
    (void)n;
    return SELU_SCALE * (in[0] > 0 ? in[0] : SELU_ALPHA * expm1(in[0]));
}

static double map_leaky_relu(const Node *n, const double *in) {
    return in[0] > 0 ? in[0] : in[0] * node_double(n, "negative_slope");
}

/* At inference the slope is the mean of the two bounds. */
static double map_rrelu(const Node *n, const double *in) {
    return in[0] >= 0 ? in[0] : in[0] * (node_double(n, "lower") + node_double(n, "upper")) / 2;
}

static void shape_rrelu(C *c, Node *n) {
    if (node_bool(n, "training"))
        diag_error(c, DIAG_MODEL, &n->loc,
                   "rrelu with training=True is random: export the model in eval mode");
    shape_same(c, n);
}

/* What exported decompositions have of rrelu: also the noise, which inference does not write. */
static void shape_rrelu_functional(C *c, Node *n) {
    shape_rrelu(c, n);
    n->out[1]->type = node_in(n, "noise")->type;
}

static void eval_rrelu_functional(C *c, Node *n) {
    const Array *x = eval_value(c, node_in(n, "self")), *noise = eval_value(c, node_in(n, "noise"));
    Array *y = eval_out(c, n, 0), *same = eval_out(c, n, 1);
    for (int64_t i = 0, count = array_count(x); i < count; i++) {
        double in = array_get(x, i);
        array_set(y, i, map_rrelu(n, &in));
    }
    memcpy(same->data, noise->data, (size_t)array_bytes(noise));
}

static void decompose_rrelu_functional(C *c, Graph *g, Node *n) {
    (void)c;
    Value *y = MAKE("aten::rrelu", arg_value(node_in(n, "self")), *node_arg(n, "lower"),
                    *node_arg(n, "upper"));
    value_replace(g, n->out[0], y);
    value_replace(g, n->out[1], node_in(n, "noise"));
}

static double map_threshold(const Node *n, const double *in) {
    return in[0] <= node_double(n, "threshold") ? node_double(n, "value") : in[0];
}

static double map_hardshrink(const Node *n, const double *in) {
    double lambda = node_double(n, "lambd");
    return in[0] >= -lambda && in[0] <= lambda ? 0 : in[0];
}

static double map_softshrink(const Node *n, const double *in) {
    double lambda = node_double(n, "lambd");
    if (isnan(in[0]))
        return in[0];
    return in[0] > lambda ? in[0] - lambda : in[0] < -lambda ? in[0] + lambda : 0;
}

static double map_log_sigmoid(const Node *n, const double *in) {
    (void)n;
    return -softplus(-in[0]);
}

/* ---- prelu -------------------------------------------------------------------------------- */

static double map_prelu(const Node *n, const double *in) {
    (void)n;
    return in[0] > 0 ? in[0] : in[0] * in[1];
}

/* prelu's slopes belong to dim 1, which broadcasting does not say; _prelu_kernel's are shaped. */
static void eval_prelu(C *c, Node *n) {
    const Array *x = eval_in(c, n, "self"), *weight = eval_in(c, n, "weight");
    Array *y = eval_out(c, n, 0);
    int64_t channels = array_count(weight), inner = 1;
    for (int k = 2; k < x->rank; k++)
        inner *= x->dim[k];
    for (int64_t k = 0, count = array_count(x); k < count; k++) {
        double in[2] = {array_get(x, k), array_get(weight, k / inner % channels)};
        array_set(y, k, map_prelu(n, in));
    }
}

static void shape_prelu(C *c, Node *n) {
    const Type *x = &node_in(n, "self")->type, *weight = &node_in(n, "weight")->type;
    int64_t channels = x->rank > 1 ? x->dim[1] : 1;
    if (type_count(weight) != 1 && type_count(weight) != channels)
        diag_error(c, DIAG_MODEL, &n->loc, "prelu has %lld slopes, needs 1 or %lld",
                   (long long)type_count(weight), (long long)channels);
    shape_same(c, n);
}

/* The slopes shaped to broadcast along dim 1. */
static Value *shaped_slopes(C *c, Graph *g, Node *n) {
    Value *weight = node_in(n, "weight");
    int x_rank = node_in(n, "self")->type.rank, rank = x_rank > 1 ? x_rank - 1 : 1;
    int64_t dim[MAX_RANK] = {type_count(&weight->type), 1, 1, 1, 1, 1, 1, 1};
    if (!weight->constant)
        return node_value(g, n, "aten::view", ARGS(arg_value(weight), arg_ints(c, rank, dim)));
    Array *slopes = NEW(c, Array);
    *slopes = *weight->constant;
    slopes->rank = rank;
    for (int k = 0; k < rank; k++)
        slopes->dim[k] = dim[k];
    return value_constant(g, weight->name, slopes);
}

/* Slopes that are computed in the graph make max(x, 0) + slope * min(x, 0). */
static Value *with_slopes(C *c, Graph *g, Node *n, Value *x) {
    Value *slopes = shaped_slopes(c, g, n);
    if (slopes->constant)
        return MAKE("aten::_prelu_kernel", arg_value(x), arg_value(slopes));
    Value *above = MAKE("aten::relu", arg_value(x));
    Value *below = MAKE("aten::clamp_max", arg_value(x), arg_int(0));
    below = MAKE("aten::mul.Tensor", arg_value(below), arg_value(slopes));
    return MAKE("aten::add.Tensor", arg_value(above), arg_value(below));
}

/* The slope stays of rank 1 beside a number, which becomes a vector of one for it. */
static void decompose_prelu(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    bool number = x->type.rank == 0;
    if (number)
        x = MAKE("aten::unsqueeze", arg_value(x), arg_int(0));
    Value *y = with_slopes(c, g, n, x);
    value_replace(g, n->out[0], number ? MAKE("aten::squeeze.dim", arg_value(y), arg_int(0)) : y);
}

static const Op rows[] = {
    {.schema = "aten::relu(Tensor self) -> Tensor",
     .traits = OP_CLAMPS,
     .map = map_relu,
     .lower = lower_integer_unary},
    {.schema = "aten::relu6(Tensor self) -> Tensor", .traits = OP_CLAMPS, .map = map_relu6},
    {.schema = "aten::silu(Tensor self) -> Tensor", .map = map_silu},
    {.schema = "aten::sigmoid(Tensor self) -> Tensor",
     .map = map_sigmoid,
     .shape = shape_broadcast_float},
    {.schema = "aten::special_expit(Tensor self) -> Tensor",
     .map = map_sigmoid,
     .shape = shape_broadcast_float},
    {.schema = "aten::tanh(Tensor self) -> Tensor",
     .map = map_tanh,
     .shape = shape_broadcast_float},
    {.schema = "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", .map = map_gelu},
    {.schema = "aten::hardswish(Tensor self) -> Tensor", .map = map_hardswish},
    {.schema = "aten::hardsigmoid(Tensor self) -> Tensor", .map = map_hardsigmoid},
    {.schema = "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
     .traits = OP_CLAMPS,
     .map = map_hardtanh,
     .lower = lower_integer_unary},
    {.schema = "aten::mish(Tensor self) -> Tensor", .map = map_mish},
    {.schema = "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
     .map = map_softplus},
    {.schema = "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> "
               "Tensor",
     .map = map_elu},
    {.schema = "aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", .map = map_celu},
    {.schema = "aten::selu(Tensor self) -> Tensor", .map = map_selu},
    {.schema = "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
     .map = map_leaky_relu},
    {.schema = "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, "
               "bool training=False, Generator? generator=None) -> Tensor",
     .map = map_rrelu,
     .shape = shape_rrelu},
    {.schema = "aten::rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, "
               "Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) "
               "-> (Tensor, Tensor noise_out)",
     .shape = shape_rrelu_functional,
     .eval = eval_rrelu_functional,
     .decompose = decompose_rrelu_functional},
    {.schema = "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
     .map = map_threshold},
    {.schema = "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", .map = map_hardshrink},
    {.schema = "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", .map = map_softshrink},
    {.schema = "aten::log_sigmoid(Tensor self) -> Tensor", .map = map_log_sigmoid},
    {.schema = "aten::prelu(Tensor self, Tensor weight) -> Tensor",
     .shape = shape_prelu,
     .eval = eval_prelu,
     .decompose = decompose_prelu},
    /* One part per slope makes a quantized slope exact. */
    {.schema = "aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
     .map = map_prelu,
     .quant = {.in = {Q_ACT, Q_WEIGHT}, .weight_axis = 0},
     .lower = lower_prelu},
};

OPS_FAMILY(activation, rows);
