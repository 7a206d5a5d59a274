/* Pass apart: what one layer computes for several readers, each of which reads some channels only
 * (gates, boxes beside scores, the halves of a GLU), lies on one grid, and small channels would get
 * few steps of it. As in pass equalize, the layer's weights make them larger; where they are read
 * apart, a multiplication makes them small again, which costs nothing: it is a part of the table
 * that follows, or another scale for the same integers. Channels that nobody reads become zero.
 *
 * Needs constant weights that nobody else reads, and between them and the readers only data
 * movement and functions that scale with their operand (relu and the like). What channels an
 * element is of is found by running these on channel numbers. */
#include "passes/passes.h"
#include "quant/quant.h"

#include <math.h>
#include <string.h>

enum { APART_SAMPLES = 4 };

/* Channels that spread over less than this part of the widest are spread as far. */
#define LEAST_SPREAD 0.5

typedef struct {
    Node *maker;
    const Value *weight, *bias;
    int axis; /* of the channels in what it makes */
    int64_t channels;
    int64_t *group;     /* [channels]: a channel that is always read together with it */
    bool *read;         /* [channels] */
    double *low, *high; /* [channels]: as seen */
    double spread_in;   /* of what the maker reads, as seen */
    int value_count, value_capacity;
    Value **value;  /* what it makes and what is moved of that, in order */
    bool *leaf;     /* read by others, or an output */
    int64_t *first; /* a channel that is in it; -1: none */
    int *moved;     /* the axis along which it has channels; -1: none, or several */
    int64_t **at;   /* of each index along that, the channel */
} Layer;

typedef struct {
    Graph *g;
    int count, capacity;
    Layer *layer;
    int *made_by; /* by value id: index + 1 */
} Layers;

/* ---- finding ----------------------------------------------------------------------------- */

static bool is_own_constant(const Graph *g, const Value *v) {
    return value_is_fixed(g, v) && !v->grid && v->user_count == 1 && v->output_count == 0;
}

/* Rows whose weights are [channels][...]. */
static const struct {
    const char *row;
    bool last; /* channels are the last dim of what it makes; else dim 1 */
    bool norm; /* weights and bias are vectors, or none */
} layers[] = {
    {"corten::conv2d", false, false}, {"corten::conv_transpose2d", false, false},
    {"corten::conv3d", false, false}, {"corten::group_norm", false, true},
    {"corten::linear", true, false},  {"corten::layer_norm", true, true},
};

static bool layer_read(const Graph *g, Node *n, Layer *l) {
    int k = 0;
    while (k < (int)COUNT_OF(layers) && !node_is(n, layers[k].row))
        k++;
    if (k == (int)COUNT_OF(layers))
        return false;
    const Value *out = n->out[0], *w = node_in(n, "weight"), *b = node_in(n, "bias");
    if (!w || !is_own_constant(g, w) || (b && !is_own_constant(g, b)) || out->grid ||
        out->output_count > 0 || (layers[k].norm && w->type.rank != 1))
        return false;
    *l = (Layer){
        .maker = n, .weight = w, .bias = b, .axis = layers[k].last ? out->type.rank - 1 : 1};
    l->channels = w->type.dim[0];
    return out->type.dim[l->axis] == l->channels && type_count(&out->type) < 1 << 24;
}

/* Does n only move its first operand about, or scale with it? */
static bool passes_on(const Graph *g, const Node *n, const Value *v) {
    if (n->out_count != 1 || n->float_kept || node_operand(n, 0) != v || n->out[0]->grid)
        return false;
    if (pointwise_scales(g, n, v))
        return true;
    if (!(n->op->traits & OP_MOVES_DATA) || n->out[0]->type.dtype != v->type.dtype ||
        (node_takes(n, "value") && node_has(n, "value") && node_double(n, "value") != 0))
        return false;
    for (int k = 1; k < node_operand_count(n); k++)
        if (dtype_is_float(node_operand(n, k)->type.dtype) ||
            !value_is_fixed(g, node_operand(n, k)))
            return false;
    return true;
}

static void values_follow(C *c, const Graph *g, Layer *l, Value *v) {
    if (l->value_count == l->value_capacity)
        l->value = (Value **)c_grow(c, (void *)l->value, l->value_count, &l->value_capacity,
                                    l->value_count + 1, sizeof *l->value);
    l->value[l->value_count++] = v;
    for (int i = 0; i < v->user_count; i++)
        if (passes_on(g, v->user[i], v))
            values_follow(c, g, l, v->user[i]->out[0]);
}

static bool is_leaf(const Graph *g, const Value *v) {
    bool leaf = v->output_count > 0;
    for (int i = 0; i < v->user_count; i++)
        leaf |= !passes_on(g, v->user[i], v);
    return leaf;
}

/* ---- channel numbers ------------------------------------------------------------------------ */

static int64_t group_of(Layer *l, int64_t channel) {
    while (l->group[channel] != channel)
        channel = l->group[channel] = l->group[l->group[channel]];
    return channel;
}

static Array *channel_numbers(C *c, const Layer *l) {
    const Type *t = &l->maker->out[0]->type;
    Array *number = array_new(c, DT_F32, t->rank, t->dim);
    int64_t inner = 1, count = array_count(number);
    for (int d = l->axis + 1; d < t->rank; d++)
        inner *= t->dim[d];
    for (int64_t i = 0; i < count; i++)
        array_set(number, i, (double)(i / inner % l->channels + 1));
    return number;
}

/* All channels of which there is something in a leaf have the same group: zeros are padding. */
static void channels_take(Layer *l, int k, const Array *number) {
    l->first[k] = -1;
    for (int64_t i = 0; i < array_count(number); i++) {
        int64_t channel = (int64_t)array_get(number, i) - 1;
        if (channel < 0)
            continue;
        if (l->first[k] < 0)
            l->first[k] = channel;
        if (!l->leaf[k])
            return;
        l->read[channel] = true;
        l->group[group_of(l, channel)] = group_of(l, l->first[k]);
    }
}

/* Where the channels are in value k, for the report. */
static void channels_note(C *c, Layer *l, int k, const Array *number) {
    int axis = l->moved[k] = axis_of_change(number);
    int64_t inner = 1;
    for (int d = axis + 1; axis >= 0 && d < number->rank; d++)
        inner *= number->dim[d];
    l->at[k] = NEW_ARRAY(c, int64_t, axis < 0 ? 1 : number->dim[axis]);
    for (int64_t i = 0; axis >= 0 && i < number->dim[axis]; i++)
        l->at[k][i] = (int64_t)array_get(number, i * inner) - 1;
}

static void channels_find(C *c, Graph *g, Layer *l) {
    Env *outer = c->env, *env = env_new(c, g);
    c->env = env;
    env_set(env, l->value[0], channel_numbers(c, l));
    for (int k = 0; k < l->value_count; k++) {
        if (k > 0 && !l->value[k]->def->op->map)
            node_eval(c, l->value[k]->def);
        else if (k > 0) { /* a function that scales: the element stays what it is */
            const Array *same = env_get(env, node_operand(l->value[k]->def, 0));
            env_set(env, l->value[k], array_convert(c, same, DT_F32));
        }
        channels_take(l, k, env_get(env, l->value[k]));
        channels_note(c, l, k, env_get(env, l->value[k]));
    }
    env_free(env);
    c->env = outer;
}

/* Are there channels that are read apart, or not at all? */
static bool is_apart(Layer *l) {
    bool apart = false;
    for (int64_t i = 0; i < l->channels; i++)
        apart |= !l->read[i] || group_of(l, i) != group_of(l, 0);
    return apart;
}

static void layer_find(C *c, Layers *all, Node *n) {
    Layer l;
    Graph *g = all->g;
    if (!layer_read(g, n, &l) || is_leaf(g, n->out[0]))
        return;
    values_follow(c, g, &l, n->out[0]);
    l.leaf = NEW_ARRAY(c, bool, l.value_count);
    l.group = NEW_ARRAY(c, int64_t, l.channels);
    l.first = NEW_ARRAY(c, int64_t, l.value_count);
    l.moved = NEW_ARRAY(c, int, l.value_count);
    l.at = NEW_ARRAY(c, int64_t *, l.value_count);
    l.read = NEW_ARRAY(c, bool, l.channels);
    l.low = NEW_ARRAY(c, double, l.channels);
    l.high = NEW_ARRAY(c, double, l.channels);
    for (int k = 0; k < l.value_count; k++)
        l.leaf[k] = is_leaf(g, l.value[k]);
    for (int64_t i = 0; i < l.channels; i++)
        l.group[i] = i;
    channels_find(c, g, &l);
    if (!is_apart(&l))
        return;
    all->layer =
        c_grow(c, all->layer, all->count, &all->capacity, all->count + 1, sizeof *all->layer);
    all->layer[all->count++] = l;
    all->made_by[n->out[0]->id] = all->count;
}

/* ---- measuring --------------------------------------------------------------------------- */

static void measure_input(Layers *all, const Value *v, const Array *a) {
    double low = 0, high = 0;
    bool read = false;
    for (int k = 0; k < all->count; k++)
        read |= node_operand(all->layer[k].maker, 0) == v;
    for (int64_t i = 0; read && i < array_count(a); i++) {
        low = fmin(low, array_get(a, i));
        high = fmax(high, array_get(a, i));
    }
    for (int k = 0; k < all->count; k++)
        if (node_operand(all->layer[k].maker, 0) == v)
            all->layer[k].spread_in = fmax(all->layer[k].spread_in, high - low);
}

static void measure(void *user, const Value *v, const Array *a) {
    Layers *all = user;
    measure_input(all, v, a);
    if (!all->made_by[v->id] || a->dtype != DT_F32)
        return;
    Layer *l = &all->layer[all->made_by[v->id] - 1];
    int64_t inner = 1;
    for (int d = l->axis + 1; d < a->rank; d++)
        inner *= a->dim[d];
    const float *x = a->data;
    for (int64_t i = 0; i < array_count(a); i++) {
        int64_t channel = i / inner % l->channels;
        if (!isfinite(x[i]))
            continue;
        l->low[channel] = fmin(l->low[channel], x[i]);
        l->high[channel] = fmax(l->high[channel], x[i]);
    }
}

/* ---- scaling ----------------------------------------------------------------------------- */

/* The largest factor with which a channel's requantization still shifts to the right, as the fast
 * kernels need: scale(input) * scale(weight) * factor / scale(output) below one half. */
static double shifting_room(const Layer *l, int64_t channel, double widest) {
    const Array *w = l->weight->constant;
    int64_t inner = array_count(w) / l->channels;
    double largest = 0;
    for (int64_t i = 0; i < inner; i++)
        largest = fmax(largest, fabs(array_get(w, channel * inner + i)));
    return largest > 0 ? 0.45 * 127 * widest / (largest * l->spread_in) : HUGE_VAL;
}

/* What each channel is multiplied by: its group then spreads as far as the widest. */
static bool factors_choose(C *c, Layer *l, double *factor) {
    double *spread = NEW_ARRAY(c, double, l->channels), widest = 0;
    double *low = NEW_ARRAY(c, double, l->channels), *high = NEW_ARRAY(c, double, l->channels);
    double *room = NEW_ARRAY(c, double, l->channels);
    bool any = false;
    for (int64_t i = 0; i < l->channels; i++) {
        int64_t k = group_of(l, i);
        low[k] = fmin(low[k], l->low[i]);
        high[k] = fmax(high[k], l->high[i]);
    }
    for (int64_t i = 0; i < l->channels; i++) {
        spread[i] = high[group_of(l, i)] - low[group_of(l, i)];
        widest = l->read[i] ? fmax(widest, spread[i]) : widest;
    }
    for (int64_t i = 0; i < l->channels; i++) {
        int64_t k = group_of(l, i);
        room[k] = fmin(room[k] > 0 ? room[k] : HUGE_VAL, shifting_room(l, i, widest));
    }
    for (int64_t i = 0; i < l->channels; i++) {
        bool raised = l->read[i] && spread[i] > 0 && spread[i] < LEAST_SPREAD * widest;
        factor[i] = raised ? fmax(fmin(widest / spread[i], room[group_of(l, i)]), 1) : l->read[i];
        any |= factor[i] != 1;
    }
    return any;
}

/* Elements in the order [channels][inner], times their channel's factor. */
static void constant_scale(C *c, Layer *l, const char *name, const double *factor) {
    Value *v = node_in(l->maker, name);
    if (!v)
        return;
    Array *a = array_new(c, DT_F32, v->constant->rank, v->constant->dim);
    int64_t count = array_count(a), inner = l->channels > 0 ? count / l->channels : 1;
    for (int64_t i = 0; i < count; i++)
        array_set(a, i, array_get(v->constant, i) * factor[i / inner]);
    v->constant = a;
    v->type.dtype = DT_F32;
}

/* Behind v, all of which has the factor f: what others read is v / f. */
static void leaf_unscale(C *c, Graph *g, Value *v, double f) {
    Node **user = NEW_ARRAY(c, Node *, v->user_count + 1);
    int count = 0;
    for (int i = 0; i < v->user_count; i++)
        if (passes_on(g, v->user[i], v))
            user[count++] = v->user[i];
    rewrite_begin(c, v->def);
    Node *n = node_new(g, v->def->next, "aten::mul.Tensor", ARGS(arg_value(v), arg_float(1 / f)));
    rewrite_end(c);
    value_replace(g, v, n->out[0]);
    n->arg[0] = arg_value(v);
    for (int i = 0; i < count; i++)
        user[i]->arg[0] = arg_value(v);
}

/* So that value k can be compared with the model's own. */
static void factors_note(C *c, Layer *l, int k, const double *factor) {
    Value *v = l->value[k];
    int axis = l->moved[k];
    if (axis < 0 || type_count(&v->type) == 0)
        return;
    v->factor_axis = axis;
    v->factor_count = (int)v->type.dim[axis];
    v->factor = NEW_ARRAY(c, double, v->factor_count);
    for (int i = 0; i < v->factor_count; i++) {
        int64_t channel = l->at[k][i];
        v->factor[i] = channel >= 0 && factor[channel] > 0 ? factor[channel] : 1;
    }
}

static void layer_scale(C *c, Graph *g, Layer *l, const double *factor) {
    constant_scale(c, l, "weight", factor);
    constant_scale(c, l, "bias", factor);
    for (int k = l->value_count - 1; k >= 0; k--) {
        if (k > 0 && l->leaf[k] && l->first[k] >= 0 && factor[l->first[k]] != 1)
            leaf_unscale(c, g, l->value[k], factor[l->first[k]]);
        else
            factors_note(c, l, k, factor);
    }
}

void pass_apart(C *c, Graph *g, const Options *o) {
    graph_index(g);
    Layers all = {.g = g, .made_by = NEW_ARRAY(c, int, g->value_count)};
    for (Node *n = g->first; o->sample_count > 0 && n; n = n->next)
        layer_find(c, &all, n);
    if (all.count == 0)
        return;
    samples_show(c, g, o, APART_SAMPLES, measure, &all);
    for (int i = 0; i < all.count; i++) {
        double *factor = NEW_ARRAY(c, double, all.layer[i].channels);
        if (factors_choose(c, &all.layer[i], factor))
            layer_scale(c, g, &all.layer[i], factor);
    }
}
