/* Pass quantize: every float value that varies gets its grid, by the rules of the rows that make
 * and read it. Values that must share one (data movement, max-pool, fused clamps, state before and
 * after a run) form sets; a set's grid is the archive's if one of its values is pinned, the row's
 * if it is fixed, else made from what calibration saw. Then constants follow (constants.c). */
#include "quant/sets.h"

#include "lower/lower.h"

#include <math.h>
#include <string.h>

bool set_varies(const Sets *s, const Value *v) {
    return dtype_is_float(v->type.dtype) && !value_is_fixed(s->g, v);
}

int set_root(Sets *s, int id) {
    while (s->parent[id] != id) {
        s->parent[id] = s->parent[s->parent[id]];
        id = s->parent[id];
    }
    return id;
}

static void see(Sets *s, int root, const Observed *o) {
    if (!o)
        return;
    if (!s->seen[root])
        s->seen[root] = NEW(s->c, Observed);
    observed_merge(s->c, s->seen[root], o);
}

bool set_unite(Sets *s, const Value *a, const Value *b) {
    int x = set_root(s, a->id), y = set_root(s, b->id);
    if (x == y)
        return true;
    if (s->grid[x] && s->grid[y] && !grid_equal(s->grid[x], s->grid[y]))
        return false;
    if (x > y) { /* the older value leads: determinism */
        int t = x;
        x = y;
        y = t;
    }
    s->parent[y] = x;
    if (!s->grid[x])
        s->grid[x] = s->grid[y];
    see(s, x, s->seen[y]);
    return true;
}

static void sets_grow(Sets *s) {
    int count = s->g->value_count;
    if (count <= s->count)
        return;
    int *parent = NEW_ARRAY(s->c, int, count);
    Grid **grid = NEW_ARRAY(s->c, Grid *, count);
    Observed **seen = NEW_ARRAY(s->c, Observed *, count);
    bool *wide = NEW_ARRAY(s->c, bool, count);
    bool *parted = NEW_ARRAY(s->c, bool, count);
    for (int i = 0; i < count; i++) {
        parent[i] = i < s->count ? s->parent[i] : i;
        grid[i] = i < s->count ? s->grid[i] : s->g->value[i]->grid;
        seen[i] = i < s->count ? s->seen[i] : NULL;
        wide[i] = i < s->count && s->wide[i];
        parted[i] = i < s->count && s->parted[i];
    }
    for (int i = s->count; i < count; i++)
        if (s->g->value[i]->observed) {
            seen[i] = NEW(s->c, Observed);
            observed_merge(s->c, seen[i], s->g->value[i]->observed);
        }
    s->parent = parent;
    s->grid = grid;
    s->seen = seen;
    s->wide = wide;
    s->parted = parted;
    s->count = count;
}

/* ---- rules ------------------------------------------------------------------------------- */

QKind rule_of_output(const Node *n, int k) {
    QKind kind = k < (int)COUNT_OF(n->op->quant.out) ? n->op->quant.out[k] : Q_DEFAULT;
    if (kind == Q_DEFAULT)
        kind = n->op->traits & OP_MOVES_DATA ? Q_SAME : Q_ACT;
    return kind;
}

static QKind in_rule(const Node *n, int arg) {
    return arg < (int)COUNT_OF(n->op->quant.in) ? n->op->quant.in[arg] : Q_DEFAULT;
}

/* The node makes its output on `grid` of its own; what stood for the output is requantized. */
static Value *requantize_behind(Sets *s, Node *n, int k) {
    Value *out = n->out[k];
    rewrite_begin(s->c, n);
    Node *r = node_new(s->g, n->next, "corten::requantize", ARGS(arg_value(out)));
    rewrite_end(s->c);
    value_replace(s->g, out, r->out[0]);
    r->arg[0] = arg_value(out);
    r->out[0]->type = out->type;
    r->out[0]->grid = out->grid;
    r->out[0]->observed = out->observed;
    out->grid = NULL;
    sets_grow(s);
    s->grid[out->id] = NULL;
    return out;
}

static void apply_fixed(Sets *s, Node *n, int k) {
    const QRule *q = &n->op->quant;
    Grid *grid = n->out[k]->bits == 16 ? grid_affine(s->c, 0, q->scale * 256, 16)
                                       : grid_fixed(s->c, q->scale, q->zero_point);
    int root = set_root(s, n->out[k]->id);
    if (s->grid[root] && !grid_equal(s->grid[root], grid))
        root = set_root(s, requantize_behind(s, n, k)->id);
    s->grid[root] = grid;
}

static void apply_same(Sets *s, Node *n, int k) {
    Value *x = node_operand_count(n) > 0 ? node_operand(n, 0) : NULL;
    int root = set_root(s, n->out[k]->id);
    if (x && x->constant && dtype_is_float(x->type.dtype) && !set_varies(s, x) && !s->grid[root])
        /* picked out of a constant, of which the samples need not have shown all */
        s->grid[root] =
            x->grid ? x->grid : grid_of_range(s->c, x->constant, n->out[k]->bits == 16 ? 16 : 8);
    if (!x || !set_varies(s, x))
        return;
    if (!set_unite(s, x, n->out[k]))
        set_unite(s, x, requantize_behind(s, n, k));
}

/* ... so what it cuts off needs no room there. */
static void forget_clamped(Sets *s, const Value *x) {
    for (int id = 0; id < s->count; id++)
        if (id != x->id && set_root(s, id) == set_root(s, x->id))
            return;
    s->seen[x->id] = NULL;
}

static void apply_rules(Sets *s, Node *n) {
    for (int k = 0; k < n->out_count; k++) {
        if (!set_varies(s, n->out[k]))
            continue;
        QKind kind = rule_of_output(n, k);
        if (profile_of(s->o)->same_pools && node_is(n, "corten::avg_pool2d"))
            kind = Q_SAME;
        if (n->fused && !node_is(n, "corten::table")) {
            kind = Q_SAME; /* a clamp in a store works on the grid it writes ... */
            forget_clamped(s, node_operand(n, 0));
        }
        if (kind == Q_FIXED)
            apply_fixed(s, n, k);
        else if (kind == Q_SAME)
            apply_same(s, n, k);
    }
    for (int i = 0; i < n->arg_count; i++) {
        const Value *v = n->arg[i].kind == ARG_VALUE ? n->arg[i].u.value : NULL;
        if (v && in_rule(n, i) == Q_SAME && set_varies(s, v) && set_varies(s, node_operand(n, 0)))
            set_unite(s, node_operand(n, 0), v);
    }
}

int set_asked_bits(Sets *s, int root) {
    int bits = 0;
    for (int id = 0; id < s->count; id++)
        if (set_root(s, id) == root && s->g->value[id]->bits > bits)
            bits = s->g->value[id]->bits;
    return bits;
}

/* ---- cat ---------------------------------------------------------------------------------- */

static bool joins_values(const Node *n) {
    if (node_is(n, "corten::box_scatter") || node_is(n, "corten::flat_scatter"))
        return true;
    for (int i = 0; i < n->arg_count; i++)
        if (n->arg[i].kind == ARG_LIST && op_schema(n->op)->arg[i].type == T_TENSOR)
            return rule_of_output(n, 0) == Q_ACT;
    return false;
}

/* The only node outside of the set that reads any of its values; NULL if there are others, or none,
 * or if a value is an output of the graph. */
static const Node *only_reader(Sets *s, int root) {
    const Node *only = NULL;
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) != root)
            continue;
        if (v->output_count > 0)
            return NULL;
        for (int u = 0; u < v->user_count; u++) {
            const Node *reader = v->user[u];
            bool inside = false;
            for (int k = 0; k < reader->out_count && !inside; k++)
                inside = set_root(s, reader->out[k]->id) == root;
            if (!inside && only && only != reader)
                return NULL;
            if (!inside)
                only = reader;
        }
    }
    return only;
}

/* Are the steps of the two ranges so alike that one grid costs less than a tenth of a bit? */
static bool ranges_alike(const Observed *a, const Observed *b) {
    if (!a || !b)
        return false;
    double low = fmin(a->min, b->min), high = fmax(a->max, b->max);
    return (high - low) <= 1.07 * (a->max - a->min);
}

/* A state has one grid. Where parts of it use less than an eighth of that, 8 bits would leave them
 * less than 5: hidden and cell state of an LSTM in one tensor. It gets 16 then, and what is joined
 * for it keeps grids of its own. */
#define UNLIKE 8

static bool is_state(Sets *s, int root) {
    for (int i = 0; i < s->g->state_count; i++)
        if (set_root(s, s->g->state[i].before->id) == root)
            return true;
    return false;
}

static bool much_smaller(const Observed *a, const Observed *b) {
    return a && b && UNLIKE * (a->max - a->min) < b->max - b->min;
}

static bool state_demands_wide(Sets *s, int root) {
    bool unlike = false;
    for (int id = 0; is_state(s, root) && id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) == root && v->def && v->user_count > 0)
            unlike |= much_smaller(v->observed, s->seen[root]);
    }
    return unlike;
}

static bool joins_state(Sets *s, const Node *n) {
    int root = set_root(s, n->out[0]->id);
    bool unlike = state_demands_wide(s, root);
    for (int k = 0; is_state(s, root) && k < node_operand_count(n); k++)
        unlike |= much_smaller(s->seen[set_root(s, node_operand(n, k)->id)], s->seen[root]);
    return is_state(s, root) && unlike;
}

static void share_joined(Sets *s, Node *n) {
    Value *out = n->out[0];
    if (!set_varies(s, out) || !joins_values(n))
        return;
    if (s->parted[out->id] || parts_keep(s, n) || joins_state(s, n))
        return;
    int count = node_operand_count(n);
    for (int k = 0; k < count; k++) {
        Value *v = node_operand(n, k);
        if (!set_varies(s, v))
            continue;
        int root = set_root(s, v->id), own = set_root(s, out->id);
        if (root == own || s->grid[root])
            continue;
        /* a finer grid than that of what n makes would be rounded away by n */
        if (only_reader(s, root) == n ||
            (!s->grid[own] && ranges_alike(s->seen[root], s->seen[own])))
            set_unite(s, out, v);
    }
}

/* ---- grids of activations ---------------------------------------------------------------- */

static double table_at(void *user, double x) {
    return table_body_eval(user, x);
}

/* A table that alone reads the set, so that its values need to be exact only where it tells. */
static const Node *only_table(Sets *s, int root) {
    const Node *n = only_reader(s, root);
    return n && node_is(n, "corten::table") ? n : NULL;
}

/* A value that only the table in its kernel's store sees can have four times as many steps: the
 * table gets longer and nothing slower. Not where the kernel passes on its operand's grid. */
static int bits_of(const Sets *s, const Value *v, const Node *table) {
    bool fresh = v->unstored && v->def && rule_of_output(v->def, 0) == Q_ACT;
    bool fine = !s->o->optimize_size && profile_of(s->o)->fine_tables;
    return fresh && table && fine ? 10 : 8;
}

/* Integers that became floats keep scale 1, which holds them exactly, if their range allows. */
static bool holds_integers(const Value *v, const Observed *seen) {
    return v->def && node_is(v->def, "aten::_to_copy") &&
           !dtype_is_float(node_operand(v->def, 0)->type.dtype) &&
           fmax(seen->max, 0) - fmin(seen->min, 0) <= 255;
}

/* 16 bits have room for numbers that the samples did not show. */
#define WIDE_ROOM 1.25

static Grid *grid_from_seen(Sets *s, int root) {
    const Observed *seen = s->seen[root];
    const Value *v = s->g->value[root];
    const Node *table = only_table(s, root);
    int bits = bits_of(s, v, table);
    double low, high;
    if (s->wide[root])
        return grid_affine(s->c, WIDE_ROOM * seen->min, WIDE_ROOM * seen->max, 16);
    if (holds_integers(v, seen))
        return grid_affine(s->c, fmin(seen->min, 0), fmin(seen->min, 0) + 255, 8);
    const Node *reader = only_reader(s, root);
    if (reader && node_is(reader, "corten::softmax") && reader->patches)
        range_through_softmax(s->c, reader->patches, node_double(reader, "beta"), seen, &low,
                              &high);
    else if (reader && !v->def && s->o->observer == OBSERVER_MSE &&
             range_through_weights(s->c, reader, seen, &low, &high))
        ; /* an input of the model, weighed by the first layer */
    else if (table && dtype_is_float(table->out[0]->type.dtype))
        observed_range_through(s->c, seen, table_at, (void *)table, (1 << bits) - 1, &low, &high);
    else
        observed_range(s->c, seen, s->o->observer, 8, &low, &high);
    return grid_affine(s->c, low, high, bits);
}

/* y = a x with a > 0: the table is the identity if y has x's grid, scaled. */
static bool is_scaling(const Node *table, double *factor) {
    double a = table_body_eval(table, 1);
    if (!(a > 0) || !isfinite(a) || table_body_eval(table, 0) != 0)
        return false;
    static const double probe[] = {-1e4, -3, -0.5, 0.25, 2, 7.75, 1e9};
    for (int i = 0; i < (int)COUNT_OF(probe); i++)
        if (!(fabs(table_body_eval(table, probe[i]) - a * probe[i]) <= 1e-9 * a * fabs(probe[i])))
            return false;
    *factor = a;
    return true;
}

static Grid *grid_scaled(C *c, const Grid *grid, double factor) {
    Grid *scaled = c_memdup(c, grid, sizeof *grid);
    scaled->part = c_memdup(c, grid->part, (size_t)grid->part_count * sizeof *grid->part);
    scaled->pinned = false;
    for (int k = 0; k < scaled->part_count; k++)
        scaled->part[k].scale = grid->part[k].scale * factor;
    return scaled;
}

/* ---- widths ------------------------------------------------------------------------------- */

static bool writes_wide(const Node *n) {
    return (n->op->traits & (OP_WIDE_OUT | OP_WIDE_ALIKE | OP_MOVES_DATA)) || joins_values(n) ||
           n->fused || node_is(n, "corten::table");
}

/* What n multiplies, or what a node without weights reads. */
double node_work(const Node *n) {
    if (n->out_count == 0)
        return 0;
    const Value *w = node_takes(n, "weight") ? node_in(n, "weight") : NULL;
    double out = (double)type_count(&n->out[0]->type), in = 0;
    if (w && w->type.rank > 1 && w->type.dim[0] > 0)
        return out * (double)type_count(&w->type) / (double)w->type.dim[0];
    for (int k = 0, count = node_operand_count(n); k < count; k++)
        in += (double)type_count(&node_operand(n, k)->type);
    if (node_is(n, "corten::matmul"))
        return out * (double)node_operand(n, 0)->type.dim[node_operand(n, 0)->type.rank - 1];
    return in;
}

/* Small values whose nodes do a small part of the model's work get 16 bits unasked. */
#define WIDE_ELEMENTS 2048
#define WIDE_SHARE (1.0 / 128)

/* Can n read v in 16 bits as it is, given that v's set is wide? */
static bool reader_allows(Sets *s, const Node *n, int root) {
    if (n->fused || n->float_kept)
        return n->fused && set_root(s, n->out[0]->id) == root;
    if (n->weight_bits == 4)
        return false; /* its activations have 8 bits */
    return (n->op->traits & OP_WIDE_IN) || set_root(s, n->out[0]->id) == root;
}

/* A value of a wide set, unasked: nothing stands against it, and *work grows by what it costs. */
static bool value_allows(Sets *s, const Value *v, int root, double *work) {
    const Node *def = v->def;
    if (!def || def->float_kept || def->weight_bits == 4 || v->output_count > 0 || v->bits == 8 ||
        type_count(&v->type) > WIDE_ELEMENTS ||
        !(def->op->traits & (OP_WIDE_OUT | OP_MOVES_DATA) || def->fused) ||
        node_is(def, "corten::table") || rule_of_output(def, 0) == Q_FIXED)
        return false;
    *work += def->fused || (def->op->traits & OP_MOVES_DATA) ? 0 : node_work(def);
    for (int u = 0; u < v->user_count; u++) {
        if (!reader_allows(s, v->user[u], root))
            return false;
        *work += (v->user[u]->op->traits & OP_WIDE_IN) ? node_work(v->user[u]) : 0;
    }
    return v->user_count > 0;
}

static bool set_is_cheap(Sets *s, int root, double limit) {
    double work = 0;
    if (!profile_of(s->o)->small_wide || s->grid[root] || !s->seen[root])
        return false;
    for (int id = 0; id < s->count; id++)
        if (set_root(s, id) == root && !value_allows(s, s->g->value[id], root, &work))
            return false;
    return work <= limit;
}

static void check_asked(Sets *s, int root) {
    const Grid *grid = s->grid[root];
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) != root || !v->def || v->user_count + v->output_count == 0)
            continue; /* a pass has put another in its place */
        if (v->def->float_kept || !writes_wide(v->def))
            diag_error(s->c, DIAG_MODEL, &v->def->loc,
                       "%s has no int16 form, which --precision asks for", node_operator(v->def));
        else if (v->def->weight_bits == 4)
            diag_error(s->c, DIAG_MODEL, &v->def->loc,
                       "int4 weights make int8 results, but %s is to be int16", v->name);
        else if (grid && grid->dtype != DT_I16)
            diag_error(s->c, DIAG_MODEL, &v->def->loc,
                       "%s cannot be int16, as --precision asks: its grid is given", v->name);
    }
}

/* Could --precision ask for 16 bits for all values of the set? */
static bool set_is_widenable(Sets *s, int root) {
    const Grid *grid = s->grid[root];
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) != root || v->user_count + v->output_count == 0)
            continue;
        if (grid && (!v->def || rule_of_output(v->def, v->def_index) != Q_FIXED || grid->pinned))
            return false;
        if (v->def && (v->def->float_kept || !writes_wide(v->def)))
            return false;
    }
    return true;
}

/* All values of the set are wide for the reason that one of them has, else for this one. */
static void note_reason(Sets *s, int root, const char *reason) {
    for (int id = 0; id < s->count; id++)
        if (set_root(s, id) == root && s->g->value[id]->wide_reason)
            reason = s->g->value[id]->wide_reason;
    for (int id = 0; id < s->count; id++)
        if (set_root(s, id) == root)
            s->g->value[id]->wide_reason = reason;
}

static void choose_widths(Sets *s) {
    double total = 0;
    for (const Node *n = s->g->first; n; n = n->next)
        if (node_takes(n, "weight") || node_is(n, "corten::matmul"))
            total += node_work(n);
    for (int id = 0; id < s->count; id++) {
        if (set_root(s, id) != id || !set_varies(s, s->g->value[id]))
            continue;
        bool widenable = set_is_widenable(s, id);
        for (int k = 0; k < s->count; k++)
            s->g->value[k]->widenable |= widenable && set_root(s, k) == id;
        int asked = set_asked_bits(s, id);
        s->wide[id] = asked == 16 || (asked == 0 && set_is_cheap(s, id, WIDE_SHARE * total));
        if (s->wide[id])
            note_reason(s, id, "small: 16 bits cost next to nothing");
        if (!s->wide[id] && asked == 0 && widenable && state_demands_wide(s, id)) {
            s->wide[id] = true;
            note_reason(s, id, "a state of parts with unlike ranges");
        }
        if (asked == 16)
            check_asked(s, id);
    }
}

static bool becomes_wide(Sets *s, const Value *v) {
    int root = set_root(s, v->id);
    return s->wide[root] || (s->grid[root] && s->grid[root]->dtype == DT_I16);
}

/* The kernels that read or write 16 bits have no table in their store: there it is a call again. */
static void part_wide_tables(Sets *s) {
    for (Node *n = s->g->first; n; n = n->next) {
        if (!n->fused || !node_is(n, "corten::table"))
            continue;
        Value *x = node_operand(n, 0);
        bool wide = becomes_wide(s, x);
        for (int k = 0, count = node_operand_count(x->def); k < count; k++)
            wide |= (x->def->op->traits & OP_WIDE_IN) && becomes_wide(s, node_operand(x->def, k));
        if (wide)
            n->fused = x->unstored = false;
    }
}

static bool is_wide(const Value *v) {
    return v->grid && v->grid->dtype == DT_I16;
}

/* x on another grid, for the readers that need it; one node for all that need the same. */
static Value *regridded(Sets *s, Node *n, Value *x, Grid *grid) {
    for (int u = 0; u < x->user_count; u++) {
        Node *r = x->user[u];
        if (node_is(r, "corten::requantize") && r->index < n->index &&
            grid_equal(r->out[0]->grid, grid))
            return r->out[0];
    }
    rewrite_begin(s->c, n);
    Value *y = node_value(s->g, n, "corten::requantize", ARGS(arg_value(x)));
    rewrite_end(s->c);
    y->grid = grid;
    y->observed = x->observed;
    sets_grow(s);
    return y;
}

static Grid *narrow_grid(Sets *s, const Value *x) {
    double low, high;
    const Observed *own = x->observed ? x->observed : s->seen[set_root(s, x->id)];
    observed_range(s->c, own, s->o->observer, 8, &low, &high);
    return grid_affine(s->c, low, high, 8);
}

/* An int8 grid's numbers with 8 more bits. */
static Grid *widened_grid(Sets *s, const Grid *grid) {
    const Part *p = &grid->part[0];
    return grid_affine(s->c, p->scale * (-128 - p->zero_point), p->scale * (127 - p->zero_point),
                       16);
}

/* The grid on which n must read x, NULL: as it is. */
static Grid *grid_needed(Sets *s, const Node *n, const Value *x) {
    const Value *out = n->out[0];
    if (n->weight_bits == 4)
        return is_wide(x) ? narrow_grid(s, x) : NULL;
    if ((n->op->traits & OP_WIDE_IN) || n->fused)
        return NULL;
    if (joins_values(n) && out->grid->part_count > 1)
        return NULL;
    if (joins_values(n))
        return (is_wide(x) || is_wide(out)) && !grid_equal(x->grid, out->grid) ? out->grid : NULL;
    bool alike = (n->op->traits & OP_WIDE_ALIKE) && is_wide(out);
    if (alike && !is_wide(x))
        return widened_grid(s, x->grid);
    bool follows =
        alike || (is_wide(out) && (rule_of_output(n, 0) == Q_SAME || node_is(n, "corten::table")));
    return is_wide(x) && !follows ? narrow_grid(s, x) : NULL;
}

static void match_operand(Sets *s, Node *n, Arg *a) {
    if (a->kind == ARG_LIST)
        for (int i = 0; i < a->u.list.count; i++)
            match_operand(s, n, &a->u.list.item[i]);
    if (a->kind != ARG_VALUE || !set_varies(s, a->u.value) || !a->u.value->grid ||
        n->out_count == 0)
        return;
    Grid *grid = grid_needed(s, n, a->u.value);
    if (grid)
        *a = arg_value(regridded(s, n, a->u.value, grid));
}

/* Readers get 16 bits where their kernels take them, else 8; and 16 from 8 likewise. */
static void match_widths(Sets *s) {
    graph_index(s->g);
    for (Node *n = s->g->first; n; n = n->next)
        for (int i = 0; !n->float_kept && i < n->arg_count; i++)
            match_operand(s, n, &n->arg[i]);
    graph_index(s->g);
}

static const Loc *loc_of(const Value *v) {
    return v->def ? &v->def->loc : NULL;
}

static void give_grid(Sets *s, Value *v) {
    int root = set_root(s, v->id);
    if (s->parted[v->id]) {
        v->grid = parts_grid(s, v);
        return;
    }
    if (!s->grid[root] && s->seen[root] && s->seen[root]->count > 0) {
        double factor;
        const Node *def = v->def;
        bool scaling = root == v->id && !s->wide[root] && def && node_is(def, "corten::table") &&
                       !def->fused && is_scaling(def, &factor);
        const Grid *in = scaling ? node_operand(def, 0)->grid : NULL;
        s->grid[root] =
            in && in->dtype == DT_I8 ? grid_scaled(s->c, in, factor) : grid_from_seen(s, root);
    }
    if (!s->grid[root] && type_count(&v->type) == 0)
        s->grid[root] = grid_affine(s->c, 0, 0, 8); /* nothing to hold */
    if (s->grid[root]) {
        v->grid = s->grid[root];
        return;
    }
    diag_error(s->c, DIAG_MODEL, loc_of(v), "value %s has no range: give calibration data with -c",
               v->name);
}

static bool wants_grid(const Sets *s, const Value *v) {
    return set_varies(s, v) && !value_stays_float(s->g, v);
}

static void unite_rules(Sets *s) {
    Graph *g = s->g;
    for (Node *n = g->first, *next; n; n = next) {
        next = n->next;
        if (!n->float_kept)
            apply_rules(s, n);
    }
    for (int i = 0; i < g->state_count; i++)
        if (!value_stays_float(g, g->state[i].before))
            set_unite(s, g->state[i].before, g->state[i].after);
    graph_index(g);
    for (Node *n = g->first; n; n = n->next)
        if (!n->float_kept && n->out_count == 1)
            parts_share(s, n);
    for (Node *n = g->first; n; n = n->next)
        if (!n->float_kept && n->out_count == 1)
            share_joined(s, n);
}

static void give_grids(Sets *s) {
    Graph *g = s->g;
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE && wants_grid(s, g->input[i].u.value))
            give_grid(s, g->input[i].u.value);
    for (int i = 0; i < g->state_count; i++)
        if (wants_grid(s, g->state[i].before))
            give_grid(s, g->state[i].before);
    for (Node *n = g->first; n; n = n->next)
        for (int k = 0; k < n->out_count; k++)
            if (wants_grid(s, n->out[k]))
                give_grid(s, n->out[k]);
}

/* What calibration has seen is in the grids and integers now; only the report shows it. */
static void forget_calibration(Graph *g) {
    for (int i = 0; i < g->value_count; i++) {
        g->value[i]->seen = g->value[i]->observed;
        g->value[i]->observed = NULL;
    }
    for (Node *n = g->first; n; n = n->next)
        n->patches = NULL;
}

void pass_quantize(C *c, Graph *g, const Options *o) {
    graph_index(g);
    calibration_check_finite(c, g);
    diag_stop_if_errors(c);
    fix_input_grids(c, g, o);
    keep_missing_float(c, g, o, false);
    islands_bound(c, g, o);
    Sets s = {.c = c, .g = g, .o = o};
    sets_grow(&s);
    unite_rules(&s);
    choose_widths(&s);
    part_wide_tables(&s);
    give_grids(&s);
    if (diag_error_count(c) == 0)
        match_widths(&s);
    if (diag_error_count(c) == 0)
        quantize_constants(c, g, o);
    forget_calibration(g);
}
