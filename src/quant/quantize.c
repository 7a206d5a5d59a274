/* Pass quantize: every float value that varies gets its grid, by the rules of the rows that make
 * and read it. Values that must share one (data movement, max-pool, fused clamps, state before and
 * after a run) form sets; a set's grid is the archive's if one of its values is pinned, the row's
 * if it is fixed, else made from what calibration saw. Then constants follow (constants.c). */
#include "quant/sets.h"

#include "lower/lower.h"
#include "lower/short_norm.h"

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

void set_see(Sets *s, int root, const Observed *o) {
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
    set_see(s, x, s->seen[y]);
    return true;
}

void sets_grow(Sets *s) {
    int count = s->g->value_count;
    if (count <= s->count)
        return;
    int *parent = NEW_ARRAY(s->c, int, count);
    Grid **grid = NEW_ARRAY(s->c, Grid *, count);
    Observed **seen = NEW_ARRAY(s->c, Observed *, count);
    bool *wide = NEW_ARRAY(s->c, bool, count);
    bool *parted = NEW_ARRAY(s->c, bool, count);
    int *followed = NEW_ARRAY(s->c, int, count);
    const char **demand = NEW_ARRAY(s->c, const char *, count);
    for (int i = 0; i < count; i++) {
        parent[i] = i < s->count ? s->parent[i] : i;
        grid[i] = i < s->count ? s->grid[i] : s->g->value[i]->grid;
        seen[i] = i < s->count ? s->seen[i] : NULL;
        wide[i] = i < s->count && s->wide[i];
        parted[i] = i < s->count && s->parted[i];
        followed[i] = i < s->count ? s->followed[i] : 0;
        demand[i] = i < s->count ? s->demand[i] : NULL;
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
    s->followed = followed;
    s->demand = demand;
    s->count = count;
}

/* ---- rules ------------------------------------------------------------------------------- */

QKind rule_of_output(const Node *n, int k) {
    QKind kind = k < (int)COUNT_OF(n->op->quant.out) ? n->op->quant.out[k] : Q_DEFAULT;
    if (kind == Q_DEFAULT)
        kind = n->op->traits & OP_MOVES_DATA ? Q_SAME : Q_ACT;
    return kind;
}

QKind rule_of_input(const Node *n, int arg) {
    return arg < (int)COUNT_OF(n->op->quant.in) ? n->op->quant.in[arg] : Q_DEFAULT;
}

Value *requantize_behind(Sets *s, Node *n, int k) {
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

/* Resizing makes numbers between those that it reads. On their grid it would round to it, and once
 * more to the one that is given for its result: it reads and writes 16 bits between the two. */
static bool resizes_between_grids(Sets *s, const Node *n, const Value *x) {
    const Grid *from = s->grid[set_root(s, x->id)], *to = s->grid[set_root(s, n->out[0]->id)];
    bool given = to && to->pinned && to->dtype == DT_I8 && profile_of(s->o)->small_wide;
    return given && node_takes(n, "align_corners") && !n->float_kept &&
           (!from || (from->dtype == DT_I8 && !grid_equal(from, to)));
}

static void resize_wide(Sets *s, Node *n, Value *x) {
    const Grid *from = s->grid[set_root(s, x->id)];
    if (from) {
        rewrite_begin(s->c, n);
        x = node_value(s->g, n, "corten::requantize", ARGS(arg_value(x)));
        rewrite_end(s->c);
        x->grid = grid_widened(s->c, from);
        n->arg[0] = arg_value(x);
    }
    set_unite(s, x, requantize_behind(s, n, 0));
    graph_index(s->g);
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
    if (resizes_between_grids(s, n, x))
        resize_wide(s, n, x);
    else if (!set_unite(s, x, n->out[k]))
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
        if (profile_of(s->o)->unlike_means && node_is(n, "corten::adaptive_pool2d") &&
            !node_bool(n, "maximum"))
            kind = Q_ACT; /* means take less room than what they are taken of */
        if (profile_of(s->o)->plain_softmax && node_is(n, "corten::softmax_scaled"))
            kind = Q_FIXED;
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
        if (v && rule_of_input(n, i) == Q_SAME && set_varies(s, v) &&
            set_varies(s, node_operand(n, 0)))
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

bool joins_values(const Node *n) {
    if (node_is(n, "corten::box_scatter") || node_is(n, "corten::flat_scatter"))
        return true;
    for (int i = 0; i < n->arg_count; i++)
        if (n->arg[i].kind == ARG_LIST && op_schema(n->op)->arg[i].type == T_TENSOR)
            return rule_of_output(n, 0) == Q_ACT;
    return false;
}

/* Writes n into the set what it has read of it, and nothing that it computes? */
static bool hands_on(Sets *s, const Node *n, int root) {
    bool same = false;
    for (int k = 0; k < n->out_count && !same; k++)
        same = set_root(s, n->out[k]->id) == root;
    bool clamps = n->fused && !node_is(n, "corten::table");
    return same && ((n->op->traits & (OP_MOVES_DATA | OP_EFFECT_FREE_IDENTITY | OP_PICKS)) ||
                    clamps || joins_values(n));
}

const Node *set_only_reader(Sets *s, int root) {
    const Node *only = NULL;
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) != root)
            continue;
        if (v->output_count > 0)
            return NULL;
        for (int u = 0; u < v->user_count; u++) {
            const Node *reader = v->user[u];
            bool inside = hands_on(s, reader, root);
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

/* A recurrent layer's state makes 16 bits of all that it shares a grid with. */
static bool joins_layer_state(Sets *s, const Node *n) {
    bool joins = false;
    for (int k = 0; k < node_operand_count(n); k++)
        joins |= state_maker(s, set_root(s, node_operand(n, k)->id)) != NULL;
    return joins;
}

static void share_joined(Sets *s, Node *n) {
    Value *out = n->out[0];
    if (!set_varies(s, out) || !joins_values(n))
        return;
    if (s->parted[out->id] || parts_keep(s, n) || state_joined(s, n))
        return;
    int count = node_operand_count(n);
    bool wide = joins_layer_state(s, n);
    for (int k = 0; k < count; k++) {
        Value *v = node_operand(n, k);
        if (!set_varies(s, v))
            continue;
        int root = set_root(s, v->id), own = set_root(s, out->id);
        if (root == own || s->grid[root] || (wide && !set_is_widenable(s, root)))
            continue;
        /* a finer grid than that of what n makes would be rounded away by n */
        if (set_only_reader(s, root) == n ||
            (!s->grid[own] && ranges_alike(s->seen[root], s->seen[own])))
            set_unite(s, out, v);
    }
}

/* ---- grids of activations ---------------------------------------------------------------- */

double table_at(void *user, double x) {
    return table_body_eval(user, x);
}

/* Does a recurrent layer read the set's values again, though no node of the graph says so? */
static bool set_recurs(Sets *s, int root) {
    for (int id = 0; id < s->count; id++) {
        const Node *def = s->g->value[id]->def;
        if (set_root(s, id) == root && def && (def->op->traits & OP_RECURS))
            return true;
    }
    return false;
}

/* The node for which alone the set's values need to be exact. */
static const Node *set_only_use(Sets *s, int root) {
    return set_recurs(s, root) ? NULL : set_only_reader(s, root);
}

/* A table that alone reads the set, so that its values need to be exact only where it tells. */
const Node *set_only_table(Sets *s, int root) {
    const Node *n = set_only_use(s, root);
    return n && node_is(n, "corten::table") ? n : NULL;
}

/* A value that only the table in its kernel's store sees can have four times as many steps: the
 * table gets longer and nothing slower. Not where the kernel passes on its operand's grid. */
int set_table_bits(const Sets *s, const Value *v, const Node *table) {
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

static Grid *grid_from_seen(Sets *s, int root) {
    const Observed *seen = s->seen[root];
    const Value *v = s->g->value[root];
    const Node *table = set_only_table(s, root);
    int bits = set_table_bits(s, v, table);
    double low, high;
    if (s->wide[root])
        return holds_shares(s, root)
                   ? grid_affine(s->c, 0, 1, 16)
                   : grid_affine(s->c, WIDE_ROOM * seen->min, WIDE_ROOM * seen->max, 16);
    if (holds_integers(v, seen))
        return grid_affine(s->c, fmin(seen->min, 0), fmin(seen->min, 0) + 255, 8);
    const Node *reader = set_only_use(s, root);
    if (reader && node_is(reader, "corten::softmax") && reader->patches)
        range_through_softmax(s->c, reader->patches, node_double(reader, "beta"), seen, &low,
                              &high);
    else if (holds_shares(s, root))
        observed_range(s->c, seen, s->o->observer, 8, &low, &high);
    else if (holds_scores(s, root))
        range_of_scores(v, seen, &low, &high);
    else if (reader && !v->def && s->o->observer == OBSERVER_MSE &&
             range_through_weights(s->c, reader, seen, &low, &high))
        ; /* an input of the model, weighed by the first layer */
    else if (table && dtype_is_float(table->out[0]->type.dtype))
        observed_range_through(s->c, seen, s->o->observer, table_at, (void *)table, (1 << bits) - 1,
                               &low, &high);
    else
        observed_range(s->c, seen, s->o->observer, 8, &low, &high);
    return grid_affine(s->c, low, high, bits);
}

bool is_scaling(const Node *table, double *factor) {
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

static const Loc *loc_of(const Value *v) {
    return v->def ? &v->def->loc : NULL;
}

static void give_grid(Sets *s, Value *v) {
    int root = set_root(s, v->id);
    if (s->parted[v->id]) {
        v->grid = parts_grid(s, v);
        return;
    }
    if (!s->grid[root])
        s->grid[root] = layer_state_grid(s, root);
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
    layer_states_unite(s);
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
    for (Node *n = g->first; n; n = n->next) {
        if (n->patches && !g->is_copy)
            patches_release(n->patches);
        n->patches = NULL;
    }
}

static void shorten_norms(Graph *g) {
    for (Node *n = g->first; n; n = n->next)
        if (!n->float_kept && node_takes(n, "short"))
            short_norm_make(n);
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
    widths_choose(&s);
    give_grids(&s);
    if (diag_error_count(c) == 0)
        widths_match(&s);
    if (diag_error_count(c) == 0)
        quantize_constants(c, g, o);
    if (profile_of(o)->short_norms)
        shorten_norms(g);
    forget_calibration(g);
}
