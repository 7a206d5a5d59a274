/* Grids of several parts. At an output of the model nobody requantizes, so what is joined there can
 * keep the grids of its pieces, also when data movement, or a second joining along another dim,
 * stands between: boxes and scores of a detector must not share a scale. The values on the way
 * belong to no set; each takes its parts from the one before. */
#include "quant/sets.h"

#include <math.h>

/* What goes into the next run has one type. */
static bool is_next_state(const Graph *g, const Value *v) {
    for (int i = 0; i < g->state_count; i++)
        if (g->state[i].after == v)
            return true;
    return false;
}

/* The value in which v leaves the graph when only data movement comes between; NULL: others read
 * it. */
static const Value *leaves_as(const Graph *g, const Value *v) {
    while (v->output_count == 0) {
        const Node *n = v->user_count == 1 ? v->user[0] : NULL;
        if (!n || n->float_kept || n->out_count != 1 || !(n->op->traits & OP_MOVES_DATA) ||
            rule_of_output(n, 0) != Q_SAME || node_operand(n, 0) != v)
            return NULL;
        v = n->out[0];
    }
    return v->user_count == 0 && !is_next_state(g, v) ? v : NULL;
}

/* At an output of the graph nobody requantizes, so what is joined there can keep its own grids,
 * moved about or not. It does where one for all would cost some piece more than a bit. */
static bool keeps_parts(Sets *s, Node *n) {
    const Value *out = n->out[0];
    int asked = set_asked_bits(s, set_root(s, out->id)), count = node_operand_count(n);
    if (!node_is(n, "aten::cat") || s->grid[set_root(s, out->id)])
        return false;
    double low = 0, high = 0, least = HUGE_VAL;
    for (int k = 0; k < count; k++) {
        const Value *v = node_operand(n, k);
        const Observed *o = set_varies(s, v) ? s->seen[set_root(s, v->id)] : NULL;
        int bits = o ? set_asked_bits(s, set_root(s, v->id)) : 0;
        if (!o || type_count(&v->type) == 0 || (bits == 16) != (asked == 16) ||
            state_maker(s, set_root(s, v->id)))
            return false;
        low = fmin(low, o->min);
        high = fmax(high, o->max);
        least = fmin(least, o->max - o->min);
    }
    return least < 0.5 * (high - low);
}

int axis_of_change(const Array *a) {
    int64_t inner = 1;
    for (int d = a->rank - 1; d >= 0; inner *= a->dim[d], d--) {
        bool only = true;
        for (int64_t i = 0, n = array_count(a); i < n && only; i++) {
            int64_t at = i / inner % a->dim[d];
            only = array_get(a, i) == array_get(a, at * inner);
        }
        if (only)
            return d;
    }
    return -1;
}

/* The parts of n's operand where n moves them to: n moves the parts' numbers. NULL if they are no
 * longer parts along one axis. */
static Grid *grid_moved(C *c, Graph *g, Node *n, const Grid *from) {
    const Value *in = node_operand(n, 0);
    Array *number = array_new(c, DT_F32, in->type.rank, in->type.dim);
    int64_t inner = 1, count = array_count(number);
    for (int d = from->part[0].axis + 1; d < in->type.rank; d++)
        inner *= in->type.dim[d];
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i / inner % in->type.dim[from->part[0].axis];
        int part = 0;
        while (at >= from->part[part].stop)
            part++;
        array_set(number, i, part);
    }
    Env *outer = c->env, *env = env_new(c, g);
    c->env = env;
    env_set(env, in, number);
    node_eval(c, n);
    Array *moved = array_convert(c, env_get(env, n->out[0]), DT_F32);
    env_free(env);
    c->env = outer;
    int axis = axis_of_change(moved);
    if (axis < 0)
        return NULL;
    Grid *grid = c_memdup(c, from, sizeof *from);
    grid->part = NEW_ARRAY(c, Part, moved->dim[axis]);
    grid->part_count = 0;
    inner = 1;
    for (int d = axis + 1; d < moved->rank; d++)
        inner *= moved->dim[d];
    int last = -1;
    for (int64_t at = 0; at < moved->dim[axis]; at++) {
        int part = (int)array_get(moved, at * inner);
        if (part != last) {
            grid->part[grid->part_count] = from->part[part];
            grid->part[grid->part_count].axis = axis;
            grid->part[grid->part_count++].start = at;
        }
        grid->part[grid->part_count - 1].stop = at + 1;
        last = part;
    }
    if (grid->part_count == 1)
        grid->part[0] = (Part){-1, 0, 0, grid->part[0].scale, grid->part[0].zero_point};
    return grid;
}

/* The pieces that n joins, as parts that carry their numbers for scales. */
static Grid *numbered_pieces(C *c, const Node *n) {
    int count = node_operand_count(n);
    int axis = dim_wrap(c, n, node_int(n, "dim"), n->out[0]->type.rank);
    Grid *grid = NEW(c, Grid);
    *grid = (Grid){.dtype = DT_I8, .bits = 8, .part_count = count};
    grid->part = NEW_ARRAY(c, Part, count);
    int64_t at = 0;
    for (int k = 0; k < count; k++) {
        grid->part[k] = (Part){axis, at, at + node_operand(n, k)->type.dim[axis], k + 1, 0};
        at = grid->part[k].stop;
    }
    return grid;
}

/* The parts of v as they are in `last`, to which only data movement leads; NULL: not to be had. */
static Grid *grid_carried(Sets *s, const Value *v, const Value *last, Grid *grid) {
    for (; v != last && grid; v = v->user[0]->out[0])
        grid = grid->part_count > 1 ? grid_moved(s->c, s->g, v->user[0], grid) : NULL;
    return grid && grid->part_count > 1 ? grid : NULL;
}

static void mark_parted(Sets *s, const Value *v, const Value *last) {
    for (; v != last; v = v->user[0]->out[0])
        s->parted[v->id] = true;
    s->parted[last->id] = true;
}

/* The cat from which only data movement leads to v; NULL if there is none. */
static Node *cat_behind(Sets *s, const Value *v) {
    for (;;) {
        Node *n = v->def;
        if (!n || n->float_kept || v->output_count > 0 || v->user_count != 1 || n->out_count != 1)
            return NULL;
        if (node_is(n, "aten::cat"))
            return keeps_parts(s, n) ? n : NULL;
        if (!(n->op->traits & OP_MOVES_DATA) || rule_of_output(n, 0) != Q_SAME)
            return NULL;
        v = node_operand(n, 0);
    }
}

/* Do all operands of n, joined again, have the same pieces along another axis than n's? */
static bool joins_alike(Sets *s, Node *n, Node **cat, Grid **first) {
    int axis = dim_wrap(s->c, n, node_int(n, "dim"), n->out[0]->type.rank);
    for (int k = 0; k < node_operand_count(n); k++) {
        const Value *v = node_operand(n, k);
        cat[k] = cat_behind(s, v);
        Grid *grid =
            cat[k] ? grid_carried(s, cat[k]->out[0], v, numbered_pieces(s->c, cat[k])) : NULL;
        if (!grid || grid->part[0].axis == axis || (k > 0 && !grid_equal(grid, *first)) ||
            node_operand_count(cat[k]) != node_operand_count(cat[0]))
            return false;
        if (k == 0)
            *first = grid;
    }
    return node_operand_count(n) > 0;
}

/* Several scales of a detector, each joined of boxes and scores, joined at an output: boxes share
 * one grid and scores another. */
void parts_share(Sets *s, Node *n) {
    const Value *last = node_is(n, "aten::cat") ? leaves_as(s->g, n->out[0]) : NULL;
    Node **cat = NEW_ARRAY(s->c, Node *, node_operand_count(n) + 1);
    Grid *grid = NULL;
    if (!last || s->grid[set_root(s, n->out[0]->id)] || !joins_alike(s, n, cat, &grid) ||
        !grid_carried(s, n->out[0], last, grid))
        return;
    for (int k = 1; k < node_operand_count(n); k++)
        for (int i = 0; i < node_operand_count(cat[0]); i++)
            if (!set_unite(s, node_operand(cat[0], i), node_operand(cat[k], i)))
                return;
    for (int k = 0; k < node_operand_count(n); k++)
        mark_parted(s, cat[k]->out[0], node_operand(n, k));
    mark_parted(s, n->out[0], last);
}

bool parts_keep(Sets *s, Node *n) {
    const Value *out = n->out[0], *last = leaves_as(s->g, out);
    if (!last || !keeps_parts(s, n) || !grid_carried(s, out, last, numbered_pieces(s->c, n)))
        return false;
    mark_parted(s, out, last);
    return true;
}

/* ---- grids --------------------------------------------------------------------------------- */

/* The grids of what n joins, one after another; pieces with one grid are one part. */
static Grid *grid_of_parts(C *c, const Node *n) {
    int count = node_operand_count(n), parts = 0;
    const Value *first = node_operand(n, 0);
    int axis = dim_wrap(c, n, node_int(n, "dim"), first->type.rank);
    Grid *grid = c_memdup(c, first->grid, sizeof *grid);
    grid->pinned = false;
    grid->part = NEW_ARRAY(c, Part, count);
    int64_t at = 0;
    for (int k = 0; k < count; k++) {
        const Value *v = node_operand(n, k);
        Part p = {axis, at, at + v->type.dim[axis], v->grid->part[0].scale,
                  v->grid->part[0].zero_point};
        at = p.stop;
        Part *last = parts > 0 ? &grid->part[parts - 1] : NULL;
        if (last && last->scale == p.scale && last->zero_point == p.zero_point)
            last->stop = at;
        else
            grid->part[parts++] = p;
    }
    grid->part_count = parts;
    if (parts == 1)
        grid->part[0] = first->grid->part[0];
    return grid;
}

Grid *parts_grid(Sets *s, const Value *v) {
    const Value *x = node_operand(v->def, 0);
    if (!node_is(v->def, "aten::cat") && x->grid->part_count > 1)
        return grid_moved(s->c, s->g, v->def, x->grid);
    return s->parted[x->id] ? x->grid : grid_of_parts(s->c, v->def);
}
