/* Affine maps by constants, with a factor and a term for each channel: the normalization of an
 * input above all. One in front of weights goes into them, where it costs nothing and rounds
 * nothing; one per channel that cannot is a depthwise convolution of size one. */
#include "ops/ops.h"
#include "passes/passes.h"

#include <math.h>
#include <string.h>

/* ---- the map ------------------------------------------------------------------------------- */

Value *map_operand(const Graph *g, const Node *n) {
    if (!n->op->map || n->out_count != 1 || !dtype_is_float(n->out[0]->type.dtype))
        return NULL;
    int count = node_operand_count(n);
    for (int k = 0; k < count; k++)
        if (!value_is_fixed(g, node_operand(n, k)))
            return node_operand(n, k);
    return NULL;
}

/* Do the constants of n vary along the channels of x at most? */
static bool constants_per_channel(const Graph *g, const Node *n, const Value *x, int axis) {
    int count = node_operand_count(n);
    for (int k = 0; k < count; k++) {
        const Value *v = node_operand(n, k);
        if (v == x)
            continue;
        if (!value_is_fixed(g, v))
            return false;
        for (int d = 0; d < v->type.rank; d++) {
            int at = x->type.rank - v->type.rank + d;
            if (v->type.dim[d] != 1 && (at != axis || v->type.dim[d] != x->type.dim[axis]))
                return false;
        }
    }
    return true;
}

bool channel_map_of(C *c, const Graph *g, const Node *n, int axis, ChannelMap *m) {
    *m = (ChannelMap){.x = map_operand(g, n)};
    if (!m->x || axis < 0 || axis >= m->x->type.rank ||
        !type_equal(&m->x->type, &n->out[0]->type) || !constants_per_channel(g, n, m->x, axis))
        return false;
    m->channels = m->x->type.dim[axis];
    m->scale = NEW_ARRAY(c, double, m->channels);
    m->shift = NEW_ARRAY(c, double, m->channels);
    for (int64_t k = 0; k < m->channels; k++) {
        double in[MAP_OPERANDS];
        int slot;
        if (!pointwise_numbers(g, n, m->x, k, in, &slot) ||
            !pointwise_is_affine(n, in, slot, &m->scale[k], &m->shift[k]))
            return false;
        m->varies |= m->scale[k] != m->scale[0] || m->shift[k] != m->shift[0];
    }
    return m->channels > 0;
}

/* ---- into the weights behind it ------------------------------------------------------------ */

/* Weights have one scale for all that an output channel reads: factors that differ by more than
 * this would cost those of the smallest more than a bit. */
#define MOST_SPREAD 2

static bool factors_are_alike(const ChannelMap *m) {
    double least = HUGE_VAL, most = 0;
    for (int64_t k = 0; k < m->channels; k++) {
        least = fmin(least, fabs(m->scale[k]));
        most = fmax(most, fabs(m->scale[k]));
    }
    return least > 0 && most <= MOST_SPREAD * least;
}

static bool has_shift(const ChannelMap *m) {
    for (int64_t k = 0; k < m->channels; k++)
        if (m->shift[k] != 0)
            return true;
    return false;
}

static bool pads(const Node *n) {
    int64_t side[2 * MAX_RANK];
    int count = node_takes(n, "padding") ? node_ints(n, "padding", side, 2 * MAX_RANK) : 0;
    for (int i = 0; i < count; i++)
        if (side[i] != 0)
            return true;
    return false;
}

static bool is_free_constant(const Graph *g, const Value *v) {
    return !v || (value_is_fixed(g, v) && !v->grid);
}

/* w * (scale * x + shift) + b = (w * scale) * x + (b + w * shift), summed over what an output
 * channel reads. */
static void weights_take_map(C *c, Graph *g, Node *n, const ChannelMap *m) {
    const Value *w = node_in(n, "weight"), *b = node_in(n, "bias");
    int64_t out = w->type.dim[0], in = w->type.dim[1], each = type_count(&w->type) / out;
    int64_t groups = node_takes(n, "groups") ? node_int(n, "groups") : 1;
    Array *weight = array_new(c, DT_F32, w->type.rank, w->type.dim);
    Array *bias = array_new(c, DT_F32, 1, &out);
    for (int64_t o = 0; o < out; o++) {
        double sum = b ? array_get(b->constant, o) : 0;
        for (int64_t i = 0; i < each; i++) {
            int64_t k = o / (out / groups) * in + i / (each / in);
            double number = array_get(w->constant, o * each + i);
            array_set(weight, o * each + i, number * m->scale[k]);
            sum += number * m->shift[k];
        }
        array_set(bias, o, sum);
    }
    node_set_weights(c, g, n, weight, b || has_shift(m) ? bias : NULL);
}

bool fold_map_ahead(C *c, Graph *g, Node *n) {
    bool linear = node_is(n, "corten::linear");
    if (!linear && !node_is(n, "corten::conv2d") && !node_is(n, "corten::conv3d"))
        return false;
    Value *y = node_operand(n, 0);
    const Value *w = node_in(n, "weight");
    ChannelMap m;
    if (!y->def || y->user_count != 1 || y->output_count > 0 || y->grid || y == w ||
        !value_is_fixed(g, w) || w->grid || type_count(&w->type) == 0 ||
        !is_free_constant(g, node_in(n, "bias")) ||
        !channel_map_of(c, g, y->def, linear ? y->type.rank - 1 : 1, &m))
        return false;
    /* One number for all channels costs nothing where a table or a store takes it. */
    if ((!m.varies && m.x->def) || !factors_are_alike(&m))
        return false;
    if (pads(n) && has_shift(&m)) /* the padding is zeros behind the map, not before it */
        return false;
    weights_take_map(c, g, n, &m);
    n->arg[0] = arg_value(m.x);
    origins_merge(g, n, y->def, FATE_FOLDED);
    node_remove(g, y->def, FATE_FOLDED, "in the weights", n);
    return true;
}

/* ---- a convolution of its own -------------------------------------------------------------- */

/* m, as n makes it of its operand, behind the maps before that, each read by the next alone. */
static void compose_before(C *c, const Graph *g, int axis, ChannelMap *m, Node **first) {
    ChannelMap before;
    const Value *y = m->x;
    while (y->def && y->user_count == 1 && y->output_count == 0 && !y->grid &&
           channel_map_of(c, g, y->def, axis, &before)) {
        for (int64_t k = 0; k < m->channels; k++) {
            m->shift[k] += m->scale[k] * before.shift[k];
            m->scale[k] *= before.scale[k];
        }
        m->varies |= before.varies;
        *first = y->def;
        y = m->x = before.x;
    }
}

static bool comes_from_outside(const Value *v) {
    while (v->def && (v->def->op->traits & OP_MOVES_DATA) && node_operand_count(v->def) == 1)
        v = node_operand(v->def, 0);
    return v->role == ROLE_INPUT;
}

/* Does the next map take it along? */
static bool leads_to_map(C *c, const Graph *g, const Value *y, int axis) {
    ChannelMap next;
    return y->user_count == 1 && y->output_count == 0 && !y->grid &&
           channel_map_of(c, g, y->user[0], axis, &next);
}

/* The normalization of an input with its channels elsewhere than dim 1 of 3 or 4: from there and
 * back, which moves nothing where they are last. */
static bool input_map_of(C *c, const Graph *g, Node *n, int axis, ChannelMap *m, Node **first) {
    Value *y = n->out[0];
    if (!channel_map_of(c, g, n, axis, m) || leads_to_map(c, g, y, axis))
        return false;
    compose_before(c, g, axis, m, first);
    return m->varies && comes_from_outside(m->x);
}

/* x with its channels, along `axis`, as dim 1 of at least 3; or such an x as it was. */
static Value *channels_moved(C *c, Graph *g, Node *n, Value *x, int rank, bool back) {
    int64_t dims[4] = {x->type.dim[0], x->type.dim[1], 1, 1};
    if (rank == 2)
        return MAKE("aten::view", arg_value(x), arg_ints(c, back ? 2 : 3, dims));
    for (int d = 0; d < rank; d++)
        dims[d] = d == 0 ? 0 : back ? d + 1 : d - 1;
    dims[back ? rank - 1 : 1] = back ? 1 : rank - 1;
    return MAKE("aten::permute", arg_value(x), arg_ints(c, rank, dims));
}

bool map_to_convolution(C *c, Graph *g, Node *n) {
    ChannelMap m;
    Node *first = n;
    Value *y = n->out_count == 1 ? n->out[0] : NULL;
    int rank = y ? y->type.rank : 0;
    bool ahead = rank >= 3 && rank <= 4 && channel_map_of(c, g, n, 1, &m) && m.varies;
    if (!ahead && (rank < 2 || rank > 4 || !input_map_of(c, g, n, rank - 1, &m, &first)))
        return false;
    int64_t dim[4] = {m.channels, 1, 1, 1};
    Array *scale = array_new(c, DT_F32, rank > 3 ? 4 : 3, dim);
    Array *shift = array_new(c, DT_F32, 1, dim);
    for (int64_t k = 0; k < m.channels; k++) {
        array_set(scale, k, m.scale[k]);
        array_set(shift, k, m.shift[k]);
    }
    rewrite_begin(c, n);
    Value *x = ahead ? m.x : channels_moved(c, g, n, m.x, rank, false);
    Value *scaled = channels_scaled(g, n, x, scale, shift);
    Node *kernel = scaled->def;
    scaled = ahead ? scaled : channels_moved(c, g, n, scaled, rank, true);
    rewrite_end(c);
    scaled->grid = y->grid;
    value_replace(g, y, scaled);
    for (Node *gone = n, *before; gone; gone = before) {
        before = gone == first ? NULL : map_operand(g, gone)->def;
        origins_merge(g, kernel, gone, FATE_KERNEL);
        node_remove(g, gone, FATE_KERNEL, NULL, kernel);
    }
    return true;
}
