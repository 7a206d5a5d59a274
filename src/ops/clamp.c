/* Clamps with bounds that are numbers or tensors. NaN stays NaN; where the lower bound is above the
 * upper one the upper wins, as in torch. Bounds that are numbers make a table or a fused clamp
 * (see activation.c); tensor bounds are a minimum after a maximum. */
#include "lower/pointwise.h"
#include "ops/ops.h"

static double at_least(double x, double low) {
    return isnan(low) || x < low ? low : x;
}

static double at_most(double x, double high) {
    return isnan(high) || x > high ? high : x;
}

static double map_clamp(const Node *n, const double *in) {
    double x = in[0];
    if (node_has(n, "min"))
        x = at_least(x, node_double(n, "min"));
    if (node_has(n, "max"))
        x = at_most(x, node_double(n, "max"));
    return x;
}

static double map_clamp_tensor(const Node *n, const double *in) {
    double x = in[0];
    if (node_has(n, "min"))
        x = at_least(x, in[1]);
    if (node_has(n, "max"))
        x = at_most(x, in[2]);
    return x;
}

static double map_clamp_min(const Node *n, const double *in) {
    return at_least(in[0], node_double(n, "min"));
}

static double map_clamp_max(const Node *n, const double *in) {
    return at_most(in[0], node_double(n, "max"));
}

static double map_clamp_min_tensor(const Node *n, const double *in) {
    (void)n;
    return at_least(in[0], in[1]);
}

static double map_clamp_max_tensor(const Node *n, const double *in) {
    (void)n;
    return at_most(in[0], in[1]);
}

/* Tensor bounds as the maximum and minimum they are, whose kernels take two varying operands. */
static Value *bounded(Graph *g, Node *n, Value *x, const char *bound, const char *op) {
    return node_value(g, n, op, ARGS(arg_value(x), *node_arg(n, bound)));
}

static void decompose_clamp(C *c, Graph *g, Node *n) {
    (void)c;
    Value *x = node_in(n, "self");
    if (node_has(n, "min"))
        x = bounded(g, n, x, "min", "aten::maximum");
    if (node_has(n, "max"))
        x = bounded(g, n, x, "max", "aten::minimum");
    value_replace(g, n->out[0], x);
}

static void decompose_clamp_min(C *c, Graph *g, Node *n) {
    (void)c;
    value_replace(g, n->out[0], bounded(g, n, node_in(n, "self"), "min", "aten::maximum"));
}

static void decompose_clamp_max(C *c, Graph *g, Node *n) {
    (void)c;
    value_replace(g, n->out[0], bounded(g, n, node_in(n, "self"), "max", "aten::minimum"));
}

static const Op rows[] = {
    {.schema = "aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
     .traits = OP_CLAMPS,
     .map = map_clamp,
     .lower = lower_integer_unary},
    {.schema = "aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
     .map = map_clamp_tensor,
     .decompose = decompose_clamp},
    {.schema = "aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
     .traits = OP_CLAMPS,
     .map = map_clamp,
     .lower = lower_integer_unary},
    {.schema = "aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
     .map = map_clamp_tensor,
     .decompose = decompose_clamp},
    {.schema = "aten::clamp_min(Tensor self, Scalar min) -> Tensor",
     .traits = OP_CLAMPS,
     .map = map_clamp_min,
     .lower = lower_integer_unary},
    {.schema = "aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
     .map = map_clamp_min_tensor,
     .decompose = decompose_clamp_min},
    {.schema = "aten::clamp_max(Tensor self, Scalar max) -> Tensor",
     .traits = OP_CLAMPS,
     .map = map_clamp_max,
     .lower = lower_integer_unary},
    {.schema = "aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
     .map = map_clamp_max_tensor,
     .decompose = decompose_clamp_max},
};

OPS_FAMILY(clamp, rows);
