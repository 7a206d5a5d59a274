/* What goes into constant weights: affine maps by constants that follow a convolution or linear
 * (batch norms above all) or stand in front of it (affine.c), and zero padding in front of a
 * convolution. The value between must have no other reader and no pinned grid. */
#include "passes/passes.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int arg_index(const Node *n, const char *name) {
    const Schema *s = op_schema(n->op);
    for (int i = 0; i < s->arg_count; i++)
        if (strcmp(s->arg[i].name, name) == 0)
            return i;
    return -1;
}

static Value *arg_tensor(const Node *n, int index) {
    return index >= 0 && n->arg[index].kind == ARG_VALUE ? n->arg[index].u.value : NULL;
}

/* ---- nodes with weights ------------------------------------------------------------------ */

typedef struct { /* a node with weights, seen by output channel */
    Node *node;
    int weight, bias; /* argument indices */
    bool by_input;    /* transposed as ATen has it: weight [in][out / groups][...] */
    int64_t channels, groups;
    int axis; /* of the channels in the output */
} Weighted;

static bool is_linear(const Node *n) {
    return text_ends_with(op_schema(n->op)->name, "::linear");
}

static bool is_weighted(const Node *n) {
    const char *name = op_schema(n->op)->name;
    return strstr(name, "::conv") || strstr(name, "::_convolution") || is_linear(n);
}

/* The convolution or linear that computes v for nobody but one reader, with constant weights;
 * pinned ones only if the caller leaves their integers alone. */
static bool weighted_find(const Graph *g, const Value *v, bool pinned, Weighted *w) {
    Node *n = v->def;
    if (!n || v->user_count != 1 || v->output_count > 0 || v->grid || !is_weighted(n))
        return false;
    *w = (Weighted){.node = n, .weight = arg_index(n, "weight"), .bias = arg_index(n, "bias")};
    const Value *weight = arg_tensor(n, w->weight), *bias = arg_tensor(n, w->bias);
    if (!weight || w->bias < 0 || !value_is_fixed(g, weight) || weight->type.rank < 2 ||
        (bias && !value_is_fixed(g, bias)) || (!pinned && (weight->grid || (bias && bias->grid))))
        return false;
    bool linear = is_linear(n);
    int transposed = arg_index(n, "transposed");
    w->groups = linear ? 1 : node_int(n, "groups");
    w->by_input = (transposed >= 0 && n->arg[transposed].u.b) ||
                  strstr(op_schema(n->op)->name, "aten::conv_transpose");
    w->channels = w->by_input ? weight->type.dim[1] * w->groups : weight->type.dim[0];
    w->axis = linear ? v->type.rank - 1 : v->type.rank - (weight->type.rank - 2) - 1;
    return w->axis >= 0 && v->type.dim[w->axis] == w->channels;
}

static int64_t channel_of(const Weighted *w, const Type *t, int64_t i) {
    int64_t inner = 1;
    for (int d = 1; d < t->rank; d++)
        inner *= t->dim[d];
    int64_t first = i / inner;
    if (!w->by_input)
        return first;
    int64_t second = i % inner / (inner / t->dim[1]);
    return first / (t->dim[0] / w->groups) * t->dim[1] + second;
}

/* The argument's constant gets new numbers: in place unless others read it too. */
static void set_constant(Graph *g, Arg *arg, const char *name, Array *a) {
    Value *v = arg->kind == ARG_VALUE ? arg->u.value : NULL;
    if (v && v->user_count == 1 && v->output_count == 0) {
        v->constant = a;
        v->type.dtype = a->dtype;
    } else {
        *arg = arg_value(value_constant(g, v ? v->name : name, a));
    }
}

void node_set_weights(C *c, Graph *g, Node *n, Array *weight, Array *bias) {
    set_constant(g, &n->arg[arg_index(n, "weight")], "weight", weight);
    if (bias)
        set_constant(g, &n->arg[arg_index(n, "bias")], c_format(c, "%s_bias", n->name), bias);
}

/* weight[c] *= scale[c]; bias[c] = bias[c] * scale[c] + shift[c]. */
static void weighted_apply(C *c, Graph *g, const Weighted *w, const double *scale,
                           const double *shift) {
    const Value *weight = w->node->arg[w->weight].u.value;
    const Value *bias = arg_tensor(w->node, w->bias);
    Array *a = array_new(c, DT_F32, weight->type.rank, weight->type.dim);
    int64_t count = array_count(a);
    for (int64_t i = 0; i < count; i++)
        array_set(a, i, array_get(weight->constant, i) * scale[channel_of(w, &weight->type, i)]);
    Array *b = array_new(c, DT_F32, 1, &w->channels);
    for (int64_t k = 0; k < w->channels; k++)
        array_set(b, k, (bias ? array_get(bias->constant, k) * scale[k] : 0) + shift[k]);
    bool needed = bias != NULL;
    for (int64_t k = 0; k < w->channels && !needed; k++)
        needed = shift[k] != 0;
    node_set_weights(c, g, w->node, a, needed ? b : NULL);
}

static void weighted_absorb(Graph *g, const Weighted *w, Node *n) {
    Value *out = w->node->out[0];
    out->grid = n->out[0]->grid;
    origins_merge(g, w->node, n, FATE_FOLDED);
    value_replace(g, n->out[0], out);
    node_remove(g, n, FATE_FOLDED, "in the weights", w->node);
}

/* ---- affine maps behind them ------------------------------------------------------------- */

static bool is_batch_norm(const Node *n) {
    return strstr(op_schema(n->op)->name, "batch_norm") && arg_index(n, "running_mean") >= 0 &&
           arg_index(n, "eps") >= 0;
}

/* The constant argument's element k, `absent` if it is None; *ok becomes false if it varies. */
static double channel_number(const Graph *g, const Node *n, const char *name, int64_t k,
                             double absent, bool *ok) {
    const Value *v = arg_tensor(n, arg_index(n, name));
    if (!v)
        return absent;
    if (!value_is_fixed(g, v) || v->grid || k >= type_count(&v->type)) {
        *ok = false;
        return 0;
    }
    return array_get(v->constant, k);
}

static bool norm_factors(const Graph *g, const Node *n, int64_t channels, double *scale,
                         double *shift) {
    bool ok =
        arg_tensor(n, arg_index(n, "running_mean")) && arg_tensor(n, arg_index(n, "running_var"));
    int training = arg_index(n, "training");
    if (training >= 0 && n->arg[training].kind == ARG_BOOL && n->arg[training].u.b)
        return false;
    double eps = node_double(n, "eps");
    for (int64_t k = 0; ok && k < channels; k++) {
        double mean = channel_number(g, n, "running_mean", k, 0, &ok);
        double variance = channel_number(g, n, "running_var", k, 1, &ok);
        double gamma = channel_number(g, n, "weight", k, 1, &ok);
        double beta = channel_number(g, n, "bias", k, 0, &ok);
        scale[k] = gamma / sqrt(variance + eps);
        shift[k] = beta - mean * scale[k];
        ok = ok && isfinite(scale[k]) && isfinite(shift[k]);
    }
    return ok;
}

static bool fold_batch_norm(C *c, Graph *g, Node *n) {
    Weighted w;
    Value *x = arg_tensor(n, 0);
    if (!is_batch_norm(n) || !x || !weighted_find(g, x, false, &w) ||
        w.axis != (x->type.rank > 1 ? 1 : 0))
        return false;
    for (int k = 1; k < n->out_count; k++)
        if (n->out[k]->user_count > 0 || n->out[k]->output_count > 0)
            return false;
    double *scale = NEW_ARRAY(c, double, w.channels), *shift = NEW_ARRAY(c, double, w.channels);
    if (!norm_factors(g, n, w.channels, scale, shift))
        return false;
    weighted_apply(c, g, &w, scale, shift);
    weighted_absorb(g, &w, n);
    return true;
}

/* Multiplications and additions by constants behind a convolution or linear. */
static bool fold_affine(C *c, Graph *g, Node *n) {
    Weighted w;
    ChannelMap m;
    Value *x = map_operand(g, n);
    if (!x || !weighted_find(g, x, false, &w) || !channel_map_of(c, g, n, w.axis, &m))
        return false;
    weighted_apply(c, g, &w, m.scale, m.shift);
    weighted_absorb(g, &w, n);
    return true;
}

/* ---- padding into the windows that read it ------------------------------------------------ */

static double pad_value(const Node *n) {
    return node_arg(n, "value")->kind == ARG_NONE ? 0 : node_double(n, "value");
}

/* Begin and end of each of the last `spatial` dims, outermost first; false if the node crops, or
 * pads other dims. */
static bool spatial_padding(const Node *n, int spatial, int64_t *side) {
    int64_t pad[2 * MAX_RANK] = {0};
    int count = node_ints(n, "pad", pad, 2 * MAX_RANK);
    for (int i = 0; i < count; i++)
        if (pad[i] < 0 || pad[i] > INT32_MAX / 4 || (i / 2 >= spatial && pad[i] != 0))
            return false;
    for (int d = 0; d < spatial; d++) {
        side[2 * d] = pad[2 * (spatial - 1 - d)];
        side[2 * d + 1] = pad[2 * (spatial - 1 - d) + 1];
    }
    return true;
}

/* Whether what n itself reads outside its input is what `pad` writes there: zero in a convolution,
 * nothing above the input in a maximum (written so where SAME padding is made by hand). */
static bool pads_alike(const Node *n, const Node *pad) {
    if (!pad || !node_is(pad, "aten::constant_pad_nd"))
        return false;
    if (node_is(n, "corten::max_pool2d"))
        return pad_value(pad) <= -FLT_MAX;
    return (node_is(n, "corten::conv2d") || node_is(n, "corten::conv3d")) && pad_value(pad) == 0;
}

/* A maximum must have an input in every window. */
static bool windows_reach(const Node *n, const Value *inner, const int64_t *padding) {
    int64_t kernel[2], dilation[2];
    if (!node_is(n, "corten::max_pool2d"))
        return true;
    node_ints(n, "kernel_size", kernel, 2);
    node_ints(n, "dilation", dilation, 2);
    int spatial = inner->type.rank - 2;
    for (int a = 2 - spatial; a < 2; a++) {
        int64_t reach = (kernel[a] - 1) * dilation[a],
                size = inner->type.dim[2 + a - (2 - spatial)];
        if (padding[2 * a] > reach || padding[2 * a + 1] > reach || size < dilation[a])
            return false;
    }
    return true;
}

static bool fold_padding(C *c, Graph *g, Node *n) {
    Value *x = arg_tensor(n, 0);
    int64_t side[2 * MAX_RANK], padding[2 * MAX_RANK];
    int spatial = x ? x->type.rank - 2 : 0;
    if (spatial < 1 || !pads_alike(n, x->def) || !spatial_padding(x->def, spatial, side))
        return false;
    Value *inner = node_operand(x->def, 0);
    if (x->grid && x->grid != inner->grid)
        return false;
    int count = node_ints(n, "padding", padding, 2 * MAX_RANK);
    for (int i = 0; i < 2 * spatial; i++)
        padding[count - 2 * spatial + i] += side[i];
    if (!windows_reach(n, inner, padding))
        return false;
    n->arg[arg_index(n, "padding")] = arg_ints(c, count, padding);
    n->arg[0] = arg_value(inner);
    origins_merge(g, n, x->def, FATE_FOLDED);
    return true;
}

bool fold_into_weights(C *c, Graph *g, Node *n) {
    return fold_batch_norm(c, g, n) || fold_affine(c, g, n) || fold_padding(c, g, n) ||
           fold_map_ahead(c, g, n);
}

/* ---- one affine map for all channels, grids kept ----------------------------------------- */

static Grid *grid_times(C *c, const Grid *old, double factor) {
    Grid *grid = c_memdup(c, old, sizeof *grid);
    grid->part = c_memdup(c, old->part, (size_t)old->part_count * sizeof *old->part);
    for (int k = 0; k < grid->part_count; k++)
        grid->part[k].scale *= factor;
    return grid;
}

/* The pinned integers stay; what they stand for is multiplied. */
static void scale_pinned_weight(C *c, Graph *g, const Weighted *w, double scale) {
    const Value *old = w->node->arg[w->weight].u.value;
    Value *v = value_constant(g, old->name, old->constant);
    v->type = old->type;
    v->fqn = old->fqn;
    v->grid = grid_times(c, old->grid, scale);
    w->node->arg[w->weight] = arg_value(v);
}

static double bias_at(const Value *bias, int64_t k) {
    if (!bias)
        return 0;
    double x = array_get(bias->constant, k);
    if (!bias->grid)
        return x;
    const Part *p = &bias->grid->part[bias->grid->part_count > 1 ? k : 0];
    return p->scale * (x - p->zero_point);
}

/* Given weights on a given input: their product's step is given too, and int32 has the bias. */
static bool bias_fits(const Weighted *w, const Array *bias, double scale) {
    const Grid *in = node_operand(w->node, 0)->grid;
    const Grid *weight = w->node->arg[w->weight].u.value->grid;
    for (int64_t k = 0; in && k < w->channels; k++) {
        const Part *p = &weight->part[weight->part_count > 1 ? k : 0];
        if (fabs(array_get(bias, k)) > 0x1p30 * scale * p->scale * in->part[0].scale)
            return false;
    }
    return true;
}

bool weights_take_affine(C *c, Graph *g, Value *x, double scale, double shift) {
    Weighted w;
    if (!(scale > 0) || !weighted_find(g, x, true, &w))
        return false;
    const Value *bias = arg_tensor(w.node, w.bias);
    if (!w.node->arg[w.weight].u.value->grid) {
        double *scales = NEW_ARRAY(c, double, w.channels),
               *shifts = NEW_ARRAY(c, double, w.channels);
        for (int64_t k = 0; k < w.channels; k++) {
            scales[k] = scale;
            shifts[k] = shift;
        }
        if (bias && bias->grid)
            return false;
        weighted_apply(c, g, &w, scales, shifts);
        return true;
    }
    Array *b = array_new(c, DT_F32, 1, &w.channels);
    for (int64_t k = 0; k < w.channels; k++)
        array_set(b, k, bias_at(bias, k) * scale + shift);
    if (!bias_fits(&w, b, scale))
        return false;
    scale_pinned_weight(c, g, &w, scale);
    w.node->arg[w.bias] = arg_value(value_constant(g, c_format(c, "%s_bias", w.node->name), b));
    return true;
}
