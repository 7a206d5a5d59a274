/* Which values have 16 bits, and how they meet those with 8. They get them where --precision asks,
 * where they cost next to nothing, and where 8 bits would lose what matters: states, and numbers of
 * which a reader makes most when they are small. Readers that cannot take them, or need them, read
 * the value on another grid. */
#include "quant/sets.h"

#include "lower/lower.h"
#include "lower/pointwise.h"

#include <math.h>
#include <string.h>

/* ---- which sets can have 16 bits ------------------------------------------------------------ */

/* What the node makes of `out`, which may have 16 bits. */
static bool writes_wide(const Value *out) {
    const Node *n = out->def;
    return rule_of_output(n, out->def_index) == Q_STATE ||
           (n->op->traits & (OP_WIDE_OUT | OP_WIDE_ALIKE | OP_MOVES_DATA)) || joins_values(n) ||
           n->fused || node_is(n, "corten::table");
}

/* Could --precision ask for 16 bits for all values of the set? */
bool set_is_widenable(Sets *s, int root) {
    const Grid *grid = s->grid[root];
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) != root || v->user_count + v->output_count == 0)
            continue;
        if (grid && (!v->def || rule_of_output(v->def, v->def_index) != Q_FIXED || grid->pinned))
            return false;
        if (v->def && (v->def->float_kept || !writes_wide(v)))
            return false;
    }
    return true;
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

/* Why v, of a set on this grid, cannot have the 16 bits asked for; NULL: it can. */
static const char *wide_fault(Sets *s, const Value *v, const Grid *grid) {
    if (!v->def || v->user_count + v->output_count == 0)
        return NULL; /* a pass has put another in its place */
    if (v->def->float_kept || !writes_wide(v))
        return c_format(s->c, "%s has no int16 form, which --precision asks for",
                        node_operator(v->def));
    if (v->def->weight_bits == 4)
        return c_format(s->c, "int4 weights make int8 results, but %s is to be int16", v->name);
    if (grid && grid->dtype != DT_I16)
        return c_format(s->c, "%s cannot be int16, as --precision asks: its grid is given",
                        v->name);
    return NULL;
}

/* The rule by whose pattern alone a set is to be wide; NULL: a name asks for it. */
static const PrecisionRule *rule_of_globs(Sets *s, int root) {
    const PrecisionRule *rule = NULL;
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) != root || v->bits != 16)
            continue;
        if (!v->glob)
            return NULL;
        rule = v->glob;
    }
    return rule;
}

/* A set that only patterns ask for, and that cannot be wide, keeps 8 bits. */
static void pass_over(Sets *s, int root, PassedOver *passed) {
    for (int id = 0; id < s->count; id++) {
        Value *v = s->g->value[id];
        if (set_root(s, id) != root || v->bits != 16)
            continue;
        v->bits = 0;
        v->wide_reason = NULL;
        if (v->def && v->user_count + v->output_count > 0)
            passed_over_add(s->c, &passed[v->glob - s->o->precision], v->def);
    }
}

/* Pieces of one output have one width: is one of n's, or n's result, to keep 8 bits? */
static bool holds_narrow_piece(Sets *s, const Node *n) {
    bool narrow = set_asked_bits(s, set_root(s, n->out[0]->id)) != 16;
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        const Value *x = node_operand(n, k);
        narrow |= set_varies(s, x) && set_asked_bits(s, set_root(s, x->id)) != 16;
    }
    return narrow;
}

static bool pass_over_piece(Sets *s, const Value *v, PassedOver *passed) {
    int root = set_root(s, v->id);
    bool wide = set_varies(s, v) && set_asked_bits(s, root) == 16 && rule_of_globs(s, root);
    if (wide)
        pass_over(s, root, passed);
    return wide;
}

/* What only patterns ask for gives way to pieces beside it that keep 8 bits. */
static bool pass_over_pieces(Sets *s, PassedOver *passed) {
    bool changed = false;
    for (const Node *n = s->g->first; n; n = n->next) {
        if (n->out_count != 1 || !joins_values(n) || !s->parted[n->out[0]->id] ||
            !holds_narrow_piece(s, n))
            continue;
        changed |= pass_over_piece(s, n->out[0], passed);
        for (int k = 0, count = node_operand_count(n); k < count; k++)
            changed |= pass_over_piece(s, node_operand(n, k), passed);
    }
    return changed;
}

/* Sets of which 16 bits are asked and cannot be had: of those that are named an error. */
static void check_asked(Sets *s) {
    PassedOver *passed = NEW_ARRAY(s->c, PassedOver, s->o->precision_count + 1);
    for (int id = 0; id < s->count; id++) {
        int root = set_root(s, id);
        const Value *v = s->g->value[id];
        const char *fault = set_varies(s, s->g->value[root]) && set_asked_bits(s, root) == 16
                                ? wide_fault(s, v, s->grid[root])
                                : NULL;
        if (fault && rule_of_globs(s, root))
            pass_over(s, root, passed);
        else if (fault)
            diag_error(s->c, DIAG_MODEL, &v->def->loc, "%s", fault);
    }
    while (pass_over_pieces(s, passed)) {
    }
    for (int r = 0; r < s->o->precision_count; r++)
        if (passed[r].count > 0)
            passed_over_tell(s->c, &s->o->precision[r], &passed[r]);
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

static bool becomes_wide(Sets *s, const Value *v) {
    int root = set_root(s, v->id);
    return s->wide[root] || (s->grid[root] && s->grid[root]->dtype == DT_I16);
}

bool layer_fuses_map(const Options *o, const Node *layer) {
    return (layer->op->traits & OP_FUSES_MAP) && layer->weight_bits != 4 &&
           profile_of(o)->fine_tables;
}

/* Operands of one width: they can be read as they are if one has 16 bits, or if all have 8; a
 * constant takes the others'. */
static bool operands_agree(Sets *s, const Node *n) {
    bool wide = false, vary = true, real = true;
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        const Value *x = node_operand(n, k);
        real &= dtype_is_float(x->type.dtype);
        vary &= set_varies(s, x);
        wide |= set_varies(s, x) && becomes_wide(s, x);
    }
    return real && (wide || vary);
}

/* Before a function in a layer's store 16 bits cost nothing; a maximum has those of its operand. */
static bool becomes_mapped(Sets *s, Value *x) {
    int root = set_root(s, x->id);
    unsigned traits = x->def->op->traits;
    if (!layer_fuses_map(s->o, x->def))
        return false;
    if (traits & OP_PICKS)
        return true;
    if (set_asked_bits(s, root) == 8 || (s->grid[root] && s->grid[root]->dtype != DT_I16) ||
        ((traits & OP_WIDE_ALIKE) && !operands_agree(s, x->def)))
        return false;
    s->wide[root] = true;
    if (!x->wide_reason)
        x->wide_reason = "between a layer and the function in its store, beside int16";
    return true;
}

/* Of the kernels that read or write 16 bits some have a function in their store; behind the others
 * a table is a call again. */
static void part_wide_tables(Sets *s) {
    for (Node *n = s->g->first; n; n = n->next) {
        if (!n->fused || !node_is(n, "corten::table"))
            continue;
        Value *x = node_operand(n, 0);
        bool wide = becomes_wide(s, x) || becomes_wide(s, n->out[0]);
        for (int k = 0, count = node_operand_count(x->def); k < count; k++)
            wide |= (x->def->op->traits & OP_WIDE_IN) && becomes_wide(s, node_operand(x->def, k));
        if (wide && !becomes_mapped(s, x))
            n->fused = x->unstored = false;
    }
}

/* Is the set a piece of an output that keeps its pieces' grids? They all have as many bits. */
static bool is_piece(Sets *s, int root) {
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        for (int u = 0; set_root(s, id) == root && u < v->user_count; u++)
            if (v->user[u]->out_count == 1 && s->parted[v->user[u]->out[0]->id])
                return true;
    }
    return false;
}

void width_demand(Sets *s, const Value *v, const char *reason) {
    int root = set_root(s, v->id);
    if (!set_varies(s, v) || s->demand[root] || !profile_of(s->o)->small_wide ||
        set_asked_bits(s, root) != 0 || !set_is_widenable(s, root) || is_piece(s, root))
        return;
    s->demand[root] = reason;
}

void widths_choose(Sets *s) {
    double total = 0;
    check_asked(s);
    demands_find(s);
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
        bool cheap = asked == 0 && set_is_cheap(s, id, WIDE_SHARE * total);
        const char *reason =
            asked == 16 || cheap ? "small: 16 bits cost next to nothing" : s->demand[id];
        s->wide[id] = reason != NULL;
        if (s->wide[id])
            note_reason(s, id, reason);
    }
    part_wide_tables(s);
}

/* ---- where 16 bits meet 8 ------------------------------------------------------------------- */

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

/* Tables of int16 give activations and truth values. */
static bool table_takes_wide(const Node *n) {
    const Value *out = n->out[0];
    return node_is(n, "corten::table") && (out->grid || out->type.dtype == DT_BOOL);
}

/* Does n, whose result is not stored, make 16 bits of operands that all have 8? */
static bool maps_bytes(Sets *s, const Node *n) {
    const Node *epilogue = node_epilogue(n);
    bool narrow = true;
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        const Value *x = node_operand(n, k);
        narrow &= set_varies(s, x) && !is_wide(x);
    }
    return narrow && epilogue && node_is(epilogue, "corten::table") && layer_fuses_map(s->o, n);
}

/* The grid on which n must read x, its argument under `rule`; NULL: as it is. */
static Grid *grid_needed(Sets *s, const Node *n, QKind rule, const Value *x) {
    const Value *out = n->out[0];
    if (rule == Q_STATE)
        return grid_equal(x->grid, state_grid(n)) ? NULL : state_grid(n);
    if (n->weight_bits == 4)
        return is_wide(x) ? narrow_grid(s, x) : NULL;
    if ((n->op->traits & OP_WIDE_IN) || n->fused || table_takes_wide(n))
        return NULL;
    if (joins_values(n) && out->grid->part_count > 1)
        return NULL;
    if (joins_values(n))
        return (is_wide(x) || is_wide(out)) && !grid_equal(x->grid, out->grid) ? out->grid : NULL;
    bool alike = (n->op->traits & OP_WIDE_ALIKE) && is_wide(out) && !maps_bytes(s, n);
    if (alike && !is_wide(x))
        return grid_widened(s->c, x->grid);
    bool follows = alike || (is_wide(out) && rule_of_output(n, 0) == Q_SAME);
    return is_wide(x) && !follows ? narrow_grid(s, x) : NULL;
}

static void match_operand(Sets *s, Node *n, QKind rule, Arg *a) {
    if (a->kind == ARG_LIST)
        for (int i = 0; i < a->u.list.count; i++)
            match_operand(s, n, rule, &a->u.list.item[i]);
    if (a->kind != ARG_VALUE || !set_varies(s, a->u.value) || !a->u.value->grid ||
        n->out_count == 0)
        return;
    Grid *grid = grid_needed(s, n, rule, a->u.value);
    if (grid)
        *a = arg_value(regridded(s, n, a->u.value, grid));
}

/* Readers get 16 bits where their kernels take them, else 8; and 16 from 8 likewise. */
void widths_match(Sets *s) {
    graph_index(s->g);
    for (Node *n = s->g->first; n; n = n->next)
        for (int i = 0; !n->float_kept && i < n->arg_count; i++)
            match_operand(s, n, rule_of_input(n, i), &n->arg[i]);
    graph_index(s->g);
}
