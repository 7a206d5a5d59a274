/* Pass equalize: channels of one activation that differ much in size share one grid, and the small
 * ones get few steps of it. Where a convolution or linear makes the activation, a function that
 * scales with its operand (relu and the like) may follow, and only convolutions and linears read
 * it, each channel can be made larger by the maker's weights and smaller again by the readers',
 * without changing what the model computes. Only channels far below the largest, as a few samples
 * show them, are moved: equal channels would all be clipped by what calibration has missed. */
#include "passes/passes.h"
#include "quant/quant.h"

#include <math.h>
#include <string.h>

/* So many samples say enough about which channels are small. */
#define SAMPLES 2
/* Channels that reach less than this part of the farthest are raised to it. */
#define LEAST_REACH 0.25
/* ... but no channel further than this: few samples may have missed what it can do. */
#define LARGEST_FACTOR 64.0

typedef struct {
    Node *maker;  /* its output channels are scaled */
    Value *value; /* what is stored and read: the maker's output, or that of what follows */
    int64_t channels;
    double *reach; /* [channels]: largest magnitude seen */
} Link;

typedef struct {
    Graph *g;
    int count, capacity;
    Link *link;
    int *link_of; /* by value id: index + 1 */
} Links;

/* ---- finding ----------------------------------------------------------------------------- */

static bool is_weighted(const Graph *g, const Node *n) {
    if (!node_is(n, "corten::conv2d") && !node_is(n, "corten::linear"))
        return false;
    const Value *w = node_in(n, "weight"), *b = node_in(n, "bias");
    return w && value_is_fixed(g, w) && !w->grid && w->user_count == 1 && w->output_count == 0 &&
           (!b || (value_is_fixed(g, b) && !b->grid && b->user_count == 1 && b->output_count == 0));
}

/* The axis of channels in what a weighted node reads and makes. */
static int channel_axis(const Node *n, const Value *v) {
    return node_is(n, "corten::linear") ? v->type.rank - 1 : 1;
}

static bool is_free(const Value *v) {
    return !v->grid && v->output_count == 0;
}

bool pointwise_scales(const Graph *g, const Node *n, const Value *x) {
    static const double probe[] = {-1e6, -37, -2, -0.75, -1e-3, 0, 1e-3, 0.75, 2, 37, 1e6};
    double in[MAP_OPERANDS];
    int slot;
    if (!n->op->map || n->out_count != 1 || !type_equal(&x->type, &n->out[0]->type))
        return false;
    for (int k = 0; k < node_operand_count(n); k++)
        if (node_operand(n, k) != x && type_count(&node_operand(n, k)->type) != 1)
            return false;
    if (!pointwise_numbers(g, n, x, 0, in, &slot))
        return false;
    for (int i = 0; i < (int)COUNT_OF(probe); i++)
        for (double a = 1.0 / 8; a <= 8; a *= 4) {
            in[slot] = probe[i];
            double want = a * n->op->map(n, in);
            in[slot] = a * probe[i];
            if (!(fabs(n->op->map(n, in) - want) <= 1e-9 * fabs(want)))
                return false;
        }
    return true;
}

static bool readers_take_scales(const Graph *g, const Value *v, int axis) {
    for (int i = 0; i < v->user_count; i++) {
        const Node *n = v->user[i];
        if (!is_weighted(g, n) || node_operand(n, 0) != v || channel_axis(n, v) != axis)
            return false;
    }
    return v->user_count > 0;
}

/* The value that the channels of n's output are stored as; NULL if they cannot be scaled. */
static Value *scalable_value(const Graph *g, const Node *n) {
    Value *v = n->out[0];
    int axis = channel_axis(n, v);
    for (int steps = 0; steps < 4; steps++) {
        if (!is_free(v))
            return NULL;
        if (readers_take_scales(g, v, axis))
            return v;
        if (v->user_count != 1 || !pointwise_scales(g, v->user[0], v))
            return NULL;
        v = v->user[0]->out[0];
    }
    return NULL;
}

static void find_links(C *c, Links *l) {
    l->link_of = NEW_ARRAY(c, int, l->g->value_count);
    for (Node *n = l->g->first; n; n = n->next) {
        if (!is_weighted(l->g, n))
            continue;
        Value *v = scalable_value(l->g, n);
        if (!v || type_count(&v->type) == 0)
            continue;
        l->link = c_grow(c, l->link, l->count, &l->capacity, l->count + 1, sizeof *l->link);
        int64_t channels = v->type.dim[channel_axis(n, v)];
        l->link[l->count] = (Link){n, v, channels, NEW_ARRAY(c, double, channels)};
        l->link_of[v->id] = ++l->count;
    }
}

/* ---- measuring --------------------------------------------------------------------------- */

static void measure(void *user, const Value *v, const Array *a) {
    Links *l = user;
    if (!l->link_of[v->id] || a->dtype != DT_F32)
        return;
    Link *k = &l->link[l->link_of[v->id] - 1];
    int axis = channel_axis(k->maker, v);
    int64_t inner = 1, count = array_count(a);
    for (int d = axis + 1; d < a->rank; d++)
        inner *= a->dim[d];
    const float *x = a->data;
    for (int64_t i = 0; i < count; i += inner) {
        double *reach = &k->reach[i / inner % k->channels];
        for (int64_t j = 0; j < inner; j++)
            if (isfinite(x[i + j]))
                *reach = fmax(*reach, fabs((double)x[i + j]));
    }
}

void samples_show(C *c, Graph *g, const Options *o, int most,
                  void (*seen)(void *user, const Value *v, const Array *a), void *user) {
    int count = o->sample_count < most ? o->sample_count : most;
    struct Env *outer = c->env;
    for (int s = 0; s < count; s++) {
        Array **sample = o->sample[(int64_t)s * o->sample_count / count];
        c->env = env_new(c, g);
        for (int k = 0; k < g->input_count; k++)
            if (g->input[k].kind == ARG_VALUE) {
                env_set(c->env, g->input[k].u.value, sample[k]);
                seen(user, g->input[k].u.value, sample[k]);
            }
        graph_eval(c, g, c->env, false, seen, user);
        env_free(c->env);
    }
    c->env = outer;
}

/* ---- scaling ----------------------------------------------------------------------------- */

/* Do all readers' weights have one input channel to an output (depthwise), so that their grids
 * follow whatever is done to it? */
static bool readers_follow(const Value *v) {
    for (int u = 0; u < v->user_count; u++)
        if (node_in(v->user[u], "weight")->type.dim[1] != 1)
            return false;
    return true;
}

/* The largest factor with which channel i's requantization still shifts to the right, as the fast
 * kernels need: scale(input) * scale(weight) * factor / scale(output) below one half, ranges of
 * inputs and outputs as calibration saw them. */
static double shifting_room(const Link *k, int64_t i, double farthest) {
    const Observed *in = node_in(k->maker, "input")->observed;
    const Array *w = node_in(k->maker, "weight")->constant;
    int64_t inner = array_count(w) / k->channels;
    double largest = 0;
    for (int64_t j = 0; j < inner; j++)
        largest = fmax(largest, fabs(array_get(w, i * inner + j)));
    double range = in ? fmax(in->max, 0) - fmin(in->min, 0) : 0;
    return largest * range > 0 ? 0.45 * 127 * farthest / (largest * range) : LARGEST_FACTOR;
}

/* The factor of each channel; false if all are 1. Where the readers' grids are shared by input
 * channels, the way is halved (in logarithms), since what is made larger here gets less room
 * there. */
static bool choose_factors(const Link *k, double *factor) {
    double farthest = 0;
    for (int64_t i = 0; i < k->channels; i++)
        farthest = fmax(farthest, k->reach[i]);
    bool any = false, follow = readers_follow(k->value);
    for (int64_t i = 0; i < k->channels; i++) {
        double need = k->reach[i] > 0 ? LEAST_REACH * farthest / k->reach[i] : 1;
        need = fmax(fmin(fmin(need, LARGEST_FACTOR), shifting_room(k, i, farthest)), 1);
        factor[i] = follow ? need : sqrt(need);
        any = any || factor[i] > 1;
    }
    return any;
}

/* Elements in the order [channels][inner], times their channel's factor. */
static void scale_constant(C *c, Value *v, int64_t inner, const double *factor) {
    Array *a = array_new(c, DT_F32, v->constant->rank, v->constant->dim);
    int64_t count = array_count(a);
    for (int64_t i = 0; i < count; i++)
        array_set(a, i, array_get(v->constant, i) * factor[i / inner]);
    v->constant = a;
    v->type.dtype = DT_F32;
}

static int64_t inner_of(const Value *w, int axis) {
    int64_t inner = 1;
    for (int d = axis + 1; d < w->type.rank; d++)
        inner *= w->type.dim[d];
    return inner;
}

/* Weights [out][in / groups]...: the input channel of a weight depends on its group too. */
static void scale_reader(C *c, const Node *n, const double *factor) {
    Value *w = node_in(n, "weight");
    int64_t groups = node_is(n, "corten::linear") ? 1 : node_int(n, "groups");
    int64_t depth = w->type.dim[1], inner = inner_of(w, 1), width = w->type.dim[0] / groups;
    Array *a = array_new(c, DT_F32, w->constant->rank, w->constant->dim);
    int64_t count = array_count(a);
    for (int64_t i = 0; i < count; i++) {
        int64_t out = i / (depth * inner), in = i / inner % depth;
        array_set(a, i, array_get(w->constant, i) / factor[out / width * depth + in]);
    }
    w->constant = a;
    w->type.dtype = DT_F32;
}

/* So that the value can be compared with the model's own. */
static void note_factors(Value *v, const Link *k, double *factor) {
    v->factor = factor;
    v->factor_count = (int)k->channels;
    v->factor_axis = channel_axis(k->maker, v);
}

static void scale_link(C *c, const Link *k, double *factor) {
    Value *w = node_in(k->maker, "weight"), *b = node_in(k->maker, "bias");
    scale_constant(c, w, inner_of(w, 0), factor);
    if (b)
        scale_constant(c, b, 1, factor);
    for (int i = 0; i < k->value->user_count; i++)
        scale_reader(c, k->value->user[i], factor);
    note_factors(k->maker->out[0], k, factor);
    note_factors(k->value, k, factor);
}

void pass_equalize(C *c, Graph *g, const Options *o) {
    graph_index(g);
    Links l = {.g = g};
    find_links(c, &l);
    if (l.count == 0 || o->sample_count == 0)
        return;
    samples_show(c, g, o, SAMPLES, measure, &l);
    for (int i = 0; i < l.count; i++) {
        double *factor = NEW_ARRAY(c, double, l.link[i].channels);
        if (choose_factors(&l.link[i], factor))
            scale_link(c, &l.link[i], factor);
    }
}
