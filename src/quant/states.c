/* What goes out of a run, or of a recurrent layer, and into the next one: which states need 16
 * bits, and on which grid a layer's is kept. Rounding that comes back again and again is not
 * forgotten: what is added to it in steps finer than half of one is lost, however long it lasts. */
#include "quant/sets.h"

#include <math.h>

/* ---- of the model --------------------------------------------------------------------------- */

/* A state has one grid. Where parts of it use less than an eighth of that, 8 bits would leave them
 * less than 5: hidden and cell state of an LSTM in one tensor. It gets 16 then, and what is joined
 * for it keeps grids of its own. */
#define UNLIKE 8

static bool set_is_state(Sets *s, int root) {
    for (int i = 0; i < s->g->state_count; i++)
        if (set_root(s, s->g->state[i].before->id) == root)
            return true;
    return false;
}

static bool much_smaller(const Observed *a, const Observed *b) {
    return a && b && UNLIKE * (a->max - a->min) < b->max - b->min;
}

static bool parts_unlike(Sets *s, int root) {
    bool unlike = false;
    for (int id = 0; set_is_state(s, root) && id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) == root && v->def && v->user_count > 0)
            unlike |= much_smaller(v->observed, s->seen[root]);
    }
    return unlike;
}

bool state_joined(Sets *s, const Node *n) {
    int root = set_root(s, n->out[0]->id);
    bool unlike = parts_unlike(s, root);
    for (int k = 0; set_is_state(s, root) && k < node_operand_count(n); k++)
        unlike |= much_smaller(s->seen[set_root(s, node_operand(n, k)->id)], s->seen[root]);
    return set_is_state(s, root) && unlike;
}

/* How many nodes may lie between a state and what it becomes. */
enum { LOOP_DEPTH = 8 };

static bool is_arithmetic(const Node *n) {
    return n->op->map || node_is(n, "corten::table");
}

/* Is v computed from `before` by arithmetic alone? Then what lies between is marked for 16 bits. */
static bool adds_up(Sets *s, const Value *v, const Value *before, int depth) {
    const Node *n = v->def;
    bool moves = n && (n->op->traits & OP_MOVES_DATA);
    if (v == before || !n || depth == 0 || !(moves || is_arithmetic(n)))
        return v == before;
    bool found = false;
    for (int k = 0, count = node_operand_count(n); k < count; k++)
        found |= adds_up(s, node_operand(n, k), before, depth - 1);
    if (found)
        width_demand(s, v, "added to from run to run");
    return found;
}

/* Something else than the state's own numbers moved about, as in a ring of samples. */
static bool is_moved(const Value *v, const Value *before) {
    while (v != before && v->def && (v->def->op->traits & OP_MOVES_DATA))
        v = node_operand(v->def, 0);
    return v == before;
}

void states_demand(Sets *s) {
    for (int i = 0; i < s->g->state_count; i++) {
        const Value *before = s->g->state[i].before, *after = s->g->state[i].after;
        if (!set_varies(s, before))
            continue;
        if (parts_unlike(s, set_root(s, before->id)))
            width_demand(s, before, "a state of parts with unlike ranges");
        if (!is_moved(after, before) && adds_up(s, after, before, LOOP_DEPTH))
            width_demand(s, before, "added to from run to run");
    }
}

/* ---- of recurrent layers -------------------------------------------------------------------- */

static int state_output(const Node *n) {
    for (int k = 0; k < n->out_count; k++)
        if (rule_of_output(n, k) == Q_STATE)
            return k;
    return -1;
}

Grid *state_grid(const Node *n) {
    int k = state_output(n);
    return k < 0 ? NULL : n->out[k]->grid;
}

/* The node whose state is in the set; NULL: none. */
const Node *state_maker(Sets *s, int root) {
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) == root && v->def && rule_of_output(v->def, v->def_index) == Q_STATE)
            return v->def;
    }
    return NULL;
}

/* n's output k stays what it is for its readers, on a grid of its own, and n writes another. */
static void requantize_state(Sets *s, Node *n, int k) {
    Value *out = n->out[k];
    rewrite_begin(s->c, n);
    Node *r = node_new(s->g, n->next, "corten::requantize", ARGS(arg_value(out)));
    rewrite_end(s->c);
    Value *own = r->out[0];
    own->type = out->type;
    own->observed = out->observed;
    n->out[k] = own;
    own->def = n;
    own->def_index = k;
    r->out[0] = out;
    out->def = r;
    out->def_index = 0;
    r->arg[0] = arg_value(own);
    graph_index(s->g);
    sets_grow(s);
}

/* Does only data movement lie between v and an input or a state of the model? */
static bool comes_from_outside(const Value *v) {
    while (v->def && (v->def->op->traits & OP_MOVES_DATA))
        v = node_operand(v->def, 0);
    return !v->def;
}

/* A GRU's products read the state before the first step on the grid of its outputs. */
static void outputs_hold_state(Sets *s, const Node *n) {
    const Value *h0 = node_is(n, "corten::gru") ? node_in(n, "h0") : NULL;
    Observed *seen = NEW(s->c, Observed);
    if (!h0)
        return;
    if (h0->constant)
        observe(s->c, seen, h0->constant);
    set_see(s, set_root(s, n->out[0]->id), h0->constant ? seen : h0->observed);
}

void layer_states_unite(Sets *s) {
    for (Node *n = s->g->first; n; n = n->next) {
        int k = n->float_kept ? -1 : state_output(n);
        if (k < 0 || !set_varies(s, n->out[k]))
            continue;
        if (!set_is_widenable(s, set_root(s, n->out[k]->id)) || s->grid[set_root(s, n->out[k]->id)])
            requantize_state(s, n, k);
        outputs_hold_state(s, n);
        for (int i = 0; i < n->arg_count; i++) {
            const Value *v = n->arg[i].kind == ARG_VALUE ? n->arg[i].u.value : NULL;
            if (v && rule_of_input(n, i) == Q_STATE && set_varies(s, v) && comes_from_outside(v) &&
                !s->grid[set_root(s, v->id)] && set_is_widenable(s, set_root(s, v->id)))
                set_unite(s, n->out[k], v);
        }
    }
}

/* What never exceeds 1 is bounded (a GRU's state), else more may come. Nothing seen: four times the
 * room of the finest step. */
Grid *layer_state_grid(Sets *s, int root) {
    const Node *maker = state_maker(s, root);
    if (!maker)
        return NULL;
    const Observed *seen = s->seen[root];
    double finest = maker->op->quant.scale, largest = 4 * 32768 * finest;
    if (seen && seen->count > 0) {
        largest = fmax(fabs(seen->min), fabs(seen->max));
        largest *= largest > 1 ? WIDE_ROOM : 1;
    }
    return grid_state(s->c, largest, finest);
}
