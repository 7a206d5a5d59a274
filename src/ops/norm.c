/* Normalizations. Batch norm at inference is one multiplication and addition per channel: a
 * depthwise convolution of size one, unless pass fold has already put it into a neighbour. Layer,
 * RMS, group and instance norm have one kernel, which takes its statistics in integers. */
#include "layer_norm_s8.h"
#include "lower/float.h"
#include "lower/short_norm.h"
#include "ops/ops.h"

#include <string.h>

/* ---- batch norm ----------------------------------------------------------------------------- */

typedef struct {
    Value *x, *weight, *bias, *mean, *var;
    double eps;
    int64_t channels;
} BatchNorm;

static bool is_vector(const Value *v, int64_t size) {
    return !v || (v->type.rank == 1 && v->type.dim[0] == size);
}

static bool batch_norm_read(C *c, const Node *n, BatchNorm *b) {
    b->x = node_in(n, "input");
    b->weight = node_in(n, "weight");
    b->bias = node_in(n, "bias");
    b->mean = node_in(n, "running_mean");
    b->var = node_in(n, "running_var");
    b->eps = node_double(n, node_takes(n, "epsilon") ? "epsilon" : "eps");
    if (b->x->type.rank < 2 || !dtype_is_float(b->x->type.dtype))
        return movement_refuse(c, n, "needs a float input of rank 2 or more");
    b->channels = b->x->type.dim[1];
    if (!b->mean || !b->var)
        return movement_refuse(c, n, "has no running statistics");
    if (!is_vector(b->weight, b->channels) || !is_vector(b->bias, b->channels) ||
        !is_vector(b->mean, b->channels) || !is_vector(b->var, b->channels))
        return movement_refuse(c, n, "parameters do not fit the channels");
    return true;
}

static double parameter_at(const Value *v, int64_t i, double otherwise) {
    return v ? array_get(v->constant, i) : otherwise;
}

static bool is_number(const Value *v) {
    return !v || (v->constant && !v->grid);
}

/* y = x * scale[channel] + offset[channel], as a depthwise convolution of size one. */
static Value *scale_channels(C *c, Graph *g, Node *n, const BatchNorm *b) {
    const Type *t = &b->x->type;
    int rank = t->rank == 4 ? 4 : 3;
    int64_t flat[3] = {t->dim[0], b->channels, 1}, kernel[4] = {b->channels, 1, 1, 1};
    for (int k = 2; k < t->rank; k++)
        flat[2] *= t->dim[k];
    Array *w = array_new(c, DT_F32, rank, kernel), *o = array_new(c, DT_F32, 1, kernel);
    for (int64_t i = 0; i < b->channels; i++) {
        double scale =
            parameter_at(b->weight, i, 1) / sqrt(array_get(b->var->constant, i) + b->eps);
        array_set(w, i, scale);
        array_set(o, i, parameter_at(b->bias, i, 0) - array_get(b->mean->constant, i) * scale);
    }
    bool fits = t->rank == 3 || t->rank == 4;
    Value *x = fits ? b->x : MAKE("aten::reshape", arg_value(b->x), arg_ints(c, 3, flat));
    Value *y = channels_scaled(g, n, x, w, o);
    return fits ? y : MAKE("aten::reshape", arg_value(y), arg_ints(c, t->rank, t->dim));
}

/* A parameter vector as [1, channels, 1, ...]. */
static Value *spread(C *c, Graph *g, Node *n, Value *v, int rank) {
    int64_t dim[MAX_RANK];
    for (int k = 0; k < rank; k++)
        dim[k] = k == 1 ? -1 : 1;
    return MAKE("aten::reshape", arg_value(v), arg_ints(c, rank, dim));
}

/* With parameters that are computed at run time: operator by operator. */
static Value *batch_norm_apart(C *c, Graph *g, Node *n, const BatchNorm *b) {
    int rank = b->x->type.rank;
    Value *sum = MAKE("aten::add.Tensor", arg_value(b->var), arg_float(b->eps));
    Value *scale = MAKE("aten::rsqrt", arg_value(sum));
    if (b->weight)
        scale = MAKE("aten::mul.Tensor", arg_value(scale), arg_value(b->weight));
    Value *away =
        MAKE("aten::sub.Tensor", arg_value(b->x), arg_value(spread(c, g, n, b->mean, rank)));
    Value *y = MAKE("aten::mul.Tensor", arg_value(away), arg_value(spread(c, g, n, scale, rank)));
    if (b->bias)
        y = MAKE("aten::add.Tensor", arg_value(y), arg_value(spread(c, g, n, b->bias, rank)));
    return y;
}

/* Mean and 1 / sqrt(variance + eps) over dims, kept as ones: further outputs that few read. */
static void statistics(C *c, Graph *g, Node *n, Value *x, int count, const int64_t *dim, double eps,
                       Value **mean, Value **factor) {
    *mean = MAKE("aten::mean.dim", arg_value(x), arg_ints(c, count, dim), arg_bool(true));
    Value *var = MAKE("aten::var.correction", arg_value(x), arg_ints(c, count, dim), arg_int(0),
                      arg_bool(true));
    *factor =
        MAKE("aten::rsqrt", arg_value(MAKE("aten::add.Tensor", arg_value(var), arg_float(eps))));
}

/* y * weight + bias, operator by operator: for parameters that are computed at run time. Absent
 * ones are NULL. */
static Value *scaled_apart(Graph *g, Node *n, Value *y, Value *weight, Value *bias) {
    if (weight)
        y = MAKE("aten::mul.Tensor", arg_value(y), arg_value(weight));
    return bias ? MAKE("aten::add.Tensor", arg_value(y), arg_value(bias)) : y;
}

/* x normalized over groups of channels. */
static Value *group_norm_node(C *c, Graph *g, Node *n, Value *x, int64_t groups, double eps) {
    Value *weight = node_in(n, "weight"), *bias = node_in(n, "bias");
    bool apart = !is_number(weight) || !is_number(bias);
    Value *y =
        MAKE("corten::group_norm", arg_value(x), arg_value(apart ? NULL : weight),
             arg_value(apart ? NULL : bias), arg_int(groups), arg_float(eps), arg_bool(false));
    if (!apart)
        return y;
    int rank = x->type.rank;
    return scaled_apart(g, n, y, weight ? spread(c, g, n, weight, rank) : NULL,
                        bias ? spread(c, g, n, bias, rank) : NULL);
}

static bool groups_fit(C *c, const Node *n, int64_t groups) {
    const Type *x = &node_in(n, "input")->type;
    bool fits = x->rank >= 2 && groups >= 1 && x->dim[1] % groups == 0 && type_count(x) > 0 &&
                dtype_is_float(x->dtype) && is_vector(node_in(n, "weight"), x->dim[1]) &&
                is_vector(node_in(n, "bias"), x->dim[1]);
    return fits || movement_refuse(c, n, "groups do not fit the channels of input or parameters");
}

/* Each channel over the batch and all places: a group norm of one sample, in which the batch stands
 * behind the channels. */
static void batch_statistics_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input");
    double eps = node_double(n, node_takes(n, "epsilon") ? "epsilon" : "eps");
    if (x->type.rank < 2 || x->type.rank >= MAX_RANK) {
        movement_refuse(c, n, "needs a float input of rank 2 or more");
        return;
    }
    int64_t channels = x->type.dim[1], dim[MAX_RANK];
    if (!groups_fit(c, n, channels))
        return;
    Value *y = MAKE("aten::transpose.int", arg_value(x), arg_int(0), arg_int(1));
    y = MAKE("aten::unsqueeze", arg_value(y), arg_int(0));
    y = group_norm_node(c, g, n, y, channels, eps);
    y = MAKE("aten::squeeze.dim", arg_value(y), arg_int(0));
    value_replace(g, n->out[0], MAKE("aten::transpose.int", arg_value(y), arg_int(0), arg_int(1)));
    if (n->out_count < 3)
        return;
    int count = 0;
    for (int k = 0; k < x->type.rank; k++)
        if (k != 1)
            dim[count++] = k;
    Value *mean, *factor;
    statistics(c, g, n, x, count, dim, eps, &mean, &factor);
    value_replace(g, n->out[1], MAKE("aten::reshape", arg_value(mean), arg_ints(c, 1, &channels)));
    value_replace(g, n->out[2],
                  MAKE("aten::reshape", arg_value(factor), arg_ints(c, 1, &channels)));
}

/* training=True: the batch's own statistics. Those of BatchNorm(track_running_stats=False) are
 * taken at inference too; a model in training would also write its running ones. */
static bool takes_batch_statistics(C *c, const Node *n, bool *refused) {
    bool training = node_takes(n, "training") && node_bool(n, "training");
    *refused = training && node_takes(n, "running_mean") && node_in(n, "running_mean");
    if (*refused)
        movement_refuse(c, n, "training=True (call model.eval() before the export)");
    return training;
}

/* Outputs beside the first are empty at inference. */
static void empty_outputs(C *c, Graph *g, Node *n) {
    int64_t none = 0;
    for (int k = 1; k < n->out_count; k++)
        value_replace(g, n->out[k], value_constant(g, "empty", array_new(c, DT_F32, 1, &none)));
}

static void batch_norm_decompose(C *c, Graph *g, Node *n) {
    BatchNorm b = {0};
    bool refused, own = takes_batch_statistics(c, n, &refused);
    if (own && !refused)
        batch_statistics_decompose(c, g, n);
    if (own || !batch_norm_read(c, n, &b))
        return;
    bool constant =
        is_number(b.weight) && is_number(b.bias) && is_number(b.mean) && is_number(b.var);
    value_replace(g, n->out[0],
                  constant ? scale_channels(c, g, n, &b) : batch_norm_apart(c, g, n, &b));
    empty_outputs(c, g, n);
}

/* As batch and instance norms of the batch's own statistics are exported when taken apart. */
static void no_stats_decompose(C *c, Graph *g, Node *n) {
    if (node_bool(n, "training"))
        batch_statistics_decompose(c, g, n);
    else
        movement_refuse(c, n, "training=False without running statistics");
}

/* ---- layer, RMS, group, instance norm ---------------------------------------------------------
 */

Norm norm_read(const Node *n) {
    const Type *x = &node_in(n, "input")->type;
    Norm v = {.outer = 1, .count = 1, .groups = 1, .centered = true, .eps = node_double(n, "eps")};
    if (node_takes(n, "groups")) {
        v.groups = node_int(n, "groups");
        v.channels = x->dim[1] / v.groups;
        v.outer = x->dim[0] * v.groups;
        v.count = v.channels;
        for (int k = 2; k < x->rank; k++)
            v.count *= x->dim[k];
        return v;
    }
    v.centered = node_bool(n, "centered");
    int first = x->rank - (int)node_int(n, "rank");
    for (int k = 0; k < x->rank; k++)
        *(k < first ? &v.outer : &v.count) *= x->dim[k];
    return v;
}

static int64_t parameter_index(const Norm *v, int64_t group, int64_t i) {
    if (v->channels == 0)
        return i;
    return group % v->groups * v->channels + i / (v->count / v->channels);
}

static void norm_eval(C *c, Node *n) {
    Norm v = norm_read(n);
    const float *x = eval_in(c, n, "input")->data;
    const Array *weight = eval_in(c, n, "weight"), *bias = eval_in(c, n, "bias");
    float *y = eval_out(c, n, 0)->data;
    for (int64_t group = 0; group < v.outer; group++, x += v.count, y += v.count) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; v.centered && i < v.count; i++)
            mean += x[i] / (double)v.count;
        for (int64_t i = 0; i < v.count; i++)
            squares += (x[i] - mean) * (x[i] - mean);
        double factor = 1 / sqrt(squares / (double)v.count + v.eps);
        for (int64_t i = 0; i < v.count; i++) {
            int64_t k = parameter_index(&v, group, i);
            double scale = weight ? ((const float *)weight->data)[k] : 1;
            double offset = bias ? ((const float *)bias->data)[k] : 0;
            y[i] = (float)((x[i] - mean) * factor * scale + offset);
        }
    }
}

/* Fills dims of a loop of at most 4, dims of one left out, neighbours merged that are one run in
 * both strides. False if there are too many. */
static bool loop_pack(int count, const int64_t *dim, const int64_t *stride,
                      const int64_t *parameter, int32_t out_dim[4], int32_t out_stride[4],
                      int32_t out_parameter[4]) {
    int used = 4;
    for (int k = 0; k < 4; k++) {
        out_dim[k] = 1;
        out_stride[k] = out_parameter[k] = 0;
    }
    for (int k = count - 1; k >= 0; k--) {
        if (dim[k] == 1)
            continue;
        if (used < 4 && stride[k] == (int64_t)out_stride[used] * out_dim[used] &&
            parameter[k] == (int64_t)out_parameter[used] * out_dim[used]) {
            out_dim[used] *= (int32_t)dim[k];
            continue;
        }
        if (used == 0)
            return false;
        used--;
        out_dim[used] = (int32_t)dim[k];
        out_stride[used] = (int32_t)stride[k];
        out_parameter[used] = (int32_t)parameter[k];
    }
    return true;
}

/* The loops over groups and over a group's elements, from the input's physical strides. */
static bool norm_loops(const Node *n, const Norm *v, CtnLayerNormS8Args *a) {
    const Value *x = node_in(n, "input");
    int64_t own[MAX_RANK], dim[2][MAX_RANK], stride[2][MAX_RANK], parameter[2][MAX_RANK];
    int count[2] = {0, 0}, rank = x->type.rank;
    int first = v->channels ? 0 : rank - (int)node_int(n, "rank");
    int64_t step[MAX_RANK] = {0}, run = 1; /* parameter strides of a layer norm */
    value_strides(x, own);
    for (int d = rank - 1; d >= first && !v->channels; d--) {
        step[d] = run;
        run *= x->type.dim[d];
    }
    for (int p = 0; p < rank; p++) { /* outermost in memory first */
        int d = x->order[p], loop = v->channels ? d > 1 : d >= first;
        if (v->channels && d == 1) {
            dim[0][count[0]] = v->groups;
            stride[0][count[0]] = own[1] * v->channels;
            parameter[0][count[0]++] = v->channels;
            dim[1][count[1]] = v->channels;
            stride[1][count[1]] = own[1];
            parameter[1][count[1]++] = 1;
            continue;
        }
        dim[loop][count[loop]] = x->type.dim[d];
        stride[loop][count[loop]] = own[d];
        parameter[loop][count[loop]++] = loop ? step[d] : 0;
    }
    return loop_pack(count[0], dim[0], stride[0], parameter[0], a->dim, a->stride,
                     a->parameter_stride) &&
           loop_pack(count[1], dim[1], stride[1], parameter[1], a->reduced, a->reduced_stride,
                     a->reduced_parameter_stride);
}

static const double beta_most = 1 << 29; /* that a sum with a normalized number fits 32 bits */

/* gamma as int16 and beta as int32 on the scale, which is returned, of normalized numbers of
 * `scale` times gamma without its last `lost` bits. */
static double norm_parameters(C *c, Call *call, CtnLayerNormS8Args *a, const Node *n, double scale,
                              int lost) {
    const Value *weight = node_in(n, "weight"), *bias = node_in(n, "bias");
    double top = 0;
    if (weight) {
        int64_t count = type_count(&weight->type);
        int16_t *gamma = NEW_ARRAY(c, int16_t, count);
        for (int64_t i = 0; i < count; i++)
            top = fmax(top, fabs(array_get(weight->constant, i)));
        double step = top > 0 ? top / 32767 : 1;
        for (int64_t i = 0; i < count; i++)
            gamma[i] = (int16_t)lround(array_get(weight->constant, i) / step);
        scale *= ldexp(step, lost);
        call_const(call, &a->gamma, "gamma", DT_I16, gamma, count * 2, 2);
    } else {
        call_absent(call, &a->gamma);
    }
    if (bias) {
        int64_t count = type_count(&bias->type);
        int32_t *beta = NEW_ARRAY(c, int32_t, count);
        for (int64_t i = 0; i < count; i++)
            beta[i] = (int32_t)fmax(-beta_most,
                                    fmin(beta_most, round(array_get(bias->constant, i) / scale)));
        call_const(call, &a->beta, "beta", DT_I32, beta, count * 4, 4);
    } else {
        call_absent(call, &a->beta);
    }
    return scale;
}

static bool norm_ready(C *c, const Node *n, const Norm *v) {
    const Value *weight = node_in(n, "weight"), *bias = node_in(n, "bias");
    if ((weight && !weight->constant) || (bias && !bias->constant))
        return movement_refuse(c, n,
                               "parameters that are computed at run time have no integer form");
    if (v->count >= 1 << 22)
        return movement_refuse(c, n, "groups of 2^22 and more elements have no integer form");
    return true;
}

static int32_t epsilon_for_kernels(const Norm *v, double step, int32_t *high) {
    double root = (double)v->count / step;
    uint64_t epsilon = (uint64_t)fmin(rint(v->eps * root * root), 4e18);
    *high = (int32_t)(epsilon >> 32);
    return (int32_t)(uint32_t)epsilon;
}

static void norm_lower(C *c, Graph *g, Node *n) {
    Norm v = norm_read(n);
    Value *x = node_in(n, "input"), *y = node_result(n);
    if (!norm_ready(c, n, &v))
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_layer_norm_s8);
    CtnLayerNormS8Args *a = call->args;
    if (!norm_loops(n, &v, a))
        movement_refuse(c, n, "needs more than 4 loops");
    a->count = (int32_t)v.count;
    a->centered = v.centered;
    a->epsilon_low = epsilon_for_kernels(&v, value_scale(x), &a->epsilon_high);
    double scale = ldexp(1, -CTN_NORM_BITS);
    int lost = CTN_NORM_BITS;
    if (node_bool(n, "short") && !short_norm_refusal(c, n)) {
        ShortNorm s = short_norm_of(n);
        call->variant = &short_norm_variant;
        a->epsilon_low = s.epsilon;
        a->epsilon_high = s.spare;
        scale = s.scale;
        lost = SHORT_NORM_GAMMA;
    }
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(n->out[0]);
    scale = norm_parameters(c, call, a, n, scale, lost);
    multiplier_from(scale / value_scale(n->out[0]), &a->multiplier, &a->shift);
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, x);
    call_out(call, &a->output, y);
    store_table(c, call, &a->table, n);
}

static void parameter_float(C *c, Call *call, const Node *n, const char *name, uint32_t *field) {
    Value *v = node_in(n, name);
    if (v && !v->constant && !value_order_is_identity(v))
        movement_refuse(c, n,
                        "a computed parameter is not in logical order, which has no float form");
    call_floats(c, call, field, name, v);
}

static void norm_lower_float(C *c, Graph *g, Node *n) {
    Norm v = norm_read(n);
    CtnLayerNormS8Args loops;
    Call *call = call_new(c, g, n, CTN_KERNEL_layer_norm_f32);
    CtnLayerNormF32Args *a = call->args;
    if (!norm_loops(n, &v, &loops))
        movement_refuse(c, n, "needs more than 4 loops");
    memcpy(a->dim, loops.dim, sizeof a->dim);
    memcpy(a->stride, loops.stride, sizeof a->dim);
    memcpy(a->parameter_stride, loops.parameter_stride, sizeof a->dim);
    memcpy(a->reduced, loops.reduced, sizeof a->dim);
    memcpy(a->reduced_stride, loops.reduced_stride, sizeof a->dim);
    memcpy(a->reduced_parameter_stride, loops.reduced_parameter_stride, sizeof a->dim);
    a->count = (int32_t)v.count;
    a->centered = v.centered;
    a->epsilon = float_bits(v.eps);
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, n->out[0]);
    parameter_float(c, call, n, "weight", &a->gamma);
    parameter_float(c, call, n, "bias", &a->beta);
}

/* ---- ATen's rows ---------------------------------------------------------------------------- */

static bool normalized_fits(C *c, const Node *n, int *rank) {
    const Type *x = &node_in(n, "input")->type;
    int64_t dim[MAX_RANK];
    *rank = node_ints(n, "normalized_shape", dim, MAX_RANK);
    bool fits = *rank >= 1 && *rank <= x->rank && dtype_is_float(x->dtype) && type_count(x) > 0;
    for (int k = 0; fits && k < *rank; k++)
        fits = dim[k] == x->dim[x->rank - *rank + k];
    const Value *part[2] = {node_in(n, "weight"),
                            node_takes(n, "bias") ? node_in(n, "bias") : NULL};
    for (int p = 0; fits && p < 2; p++)
        fits = !part[p] || (part[p]->type.rank == *rank &&
                            memcmp(part[p]->type.dim, dim, sizeof *dim * (size_t)*rank) == 0);
    return fits || movement_refuse(c, n, "normalized_shape does not fit input or parameters");
}

static void layer_norm_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input");
    int rank;
    if (!normalized_fits(c, n, &rank))
        return;
    bool centered = strstr(op_schema(n->op)->name, "rms_norm") == NULL;
    double eps = node_has(n, "eps") ? node_double(n, "eps") : 1.1920928955078125e-07;
    Value *weight = node_in(n, "weight"), *bias = node_takes(n, "bias") ? node_in(n, "bias") : NULL;
    bool apart = !is_number(weight) || !is_number(bias);
    Value *y = MAKE("corten::layer_norm", arg_value(x), arg_value(apart ? NULL : weight),
                    arg_value(apart ? NULL : bias), arg_int(rank), arg_float(eps),
                    arg_bool(centered), arg_bool(false));
    value_replace(g, n->out[0], apart ? scaled_apart(g, n, y, weight, bias) : y);
    if (n->out_count < 3)
        return;
    int64_t dim[MAX_RANK];
    for (int k = 0; k < rank; k++)
        dim[k] = x->type.rank - rank + k;
    Value *mean, *factor;
    statistics(c, g, n, x, rank, dim, eps, &mean, &factor);
    value_replace(g, n->out[1], mean);
    value_replace(g, n->out[2], factor);
}

static void group_norm_decompose(C *c, Graph *g, Node *n) {
    int64_t groups = node_int(n, node_takes(n, "group") ? "group" : "num_groups");
    Value *x = node_in(n, "input");
    if (!groups_fit(c, n, groups))
        return;
    double eps = node_double(n, "eps");
    value_replace(g, n->out[0], group_norm_node(c, g, n, x, groups, eps));
    if (n->out_count < 3)
        return;
    int64_t shape[3] = {x->type.dim[0], groups, -1}, last = 2;
    Value *flat = MAKE("aten::reshape", arg_value(x), arg_ints(c, 3, shape)), *mean, *factor;
    statistics(c, g, n, flat, 1, &last, eps, &mean, &factor);
    value_replace(g, n->out[1], MAKE("aten::squeeze.dim", arg_value(mean), arg_int(2)));
    value_replace(g, n->out[2], MAKE("aten::squeeze.dim", arg_value(factor), arg_int(2)));
}

static void instance_norm_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input");
    if (x->type.rank < 2) {
        movement_refuse(c, n, "needs a float input of rank 2 or more");
        return;
    }
    if (!node_bool(n, "use_input_stats")) {
        batch_norm_decompose(c, g, n);
        return;
    }
    if (groups_fit(c, n, x->type.dim[1]))
        value_replace(g, n->out[0],
                      group_norm_node(c, g, n, x, x->type.dim[1], node_double(n, "eps")));
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define NORM_CORE                                                                                  \
    .traits = OP_FUSES_CLAMP | OP_FUSES_TABLE | OP_ANY_ORDER, .shape = shape_same,                 \
    .eval = norm_eval, .quant = {.in = {Q_ACT, Q_RAW, Q_RAW}, .out = {Q_ACT}},                     \
    .lower = norm_lower, .lower_float = norm_lower_float

static const Op rows[] = {
    {.schema = "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
               "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) "
               "-> Tensor",
     COMPOSITE(batch_norm_decompose)},
    {.schema = "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? "
               "bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> "
               "(Tensor, Tensor, Tensor)",
     COMPOSITE(batch_norm_decompose)},
    {.schema =
         "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, "
         "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     COMPOSITE(no_stats_decompose)},
    {.schema = "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
               "running_mean, Tensor? running_var, bool training, float momentum, float eps) -> "
               "(Tensor, Tensor, Tensor)",
     COMPOSITE(batch_norm_decompose)},
    {.schema = "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
               "Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> "
               "Tensor",
     COMPOSITE(layer_norm_decompose)},
    {.schema = "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, "
               "Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
     COMPOSITE(layer_norm_decompose)},
    {.schema = "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
               "float? eps=None) -> Tensor",
     COMPOSITE(layer_norm_decompose)},
    {.schema = "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? "
               "bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
     COMPOSITE(group_norm_decompose)},
    {.schema = "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, "
               "SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
     COMPOSITE(group_norm_decompose)},
    {.schema = "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
               "running_mean, Tensor? running_var, bool use_input_stats, float momentum, float "
               "eps, bool cudnn_enabled) -> Tensor",
     COMPOSITE(instance_norm_decompose)},
    /* over the last `rank` dims; centered=False: RMS norm; short: lower/short_norm.h */
    {.schema = "corten::layer_norm(Tensor input, Tensor? weight, Tensor? bias, int rank, float "
               "eps, bool centered, bool short=False) -> Tensor",
     NORM_CORE},
    /* over dim 1 in `groups` and all dims behind it */
    {.schema = "corten::group_norm(Tensor input, Tensor? weight, Tensor? bias, int groups, float "
               "eps, bool short=False) -> Tensor",
     NORM_CORE},
};

OPS_FAMILY(norm, rows);
