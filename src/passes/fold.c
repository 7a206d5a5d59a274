/* Pass fold: what is known before the run is computed now. Constant operands are evaluated,
 * identities and checks vanish, and neighbours of weights go into them (weights.c). Runs before
 * decompose, while a batch norm is still one node, and again after it. Never changes a value whose
 * grid an archive has pinned. */
#include "passes/passes.h"
#include "run/run.h"

#include <math.h>
#include <string.h>

bool value_is_fixed(const Graph *g, const Value *v) {
    if (!v->constant)
        return false;
    for (int i = 0; i < g->state_count; i++)
        if (g->state[i].before == v)
            return false;
    return true;
}

static bool has_trait(const Node *n, unsigned trait) {
    return (n->op->traits & trait) != 0;
}

/* ---- identities -------------------------------------------------------------------------- */

/* The tensor operands of a pointwise node as numbers: `x` for the value x, the given element of
 * constants (or their only one). False if another operand varies. */
bool pointwise_numbers(const Graph *g, const Node *n, const Value *x, int64_t element, double *in,
                       int *x_slot) {
    const Schema *s = op_schema(n->op);
    int count = 0;
    *x_slot = -1;
    for (int i = 0; i < s->arg_count; i++) {
        if (s->arg[i].type != T_TENSOR)
            continue;
        if (s->arg[i].list || count == MAP_OPERANDS)
            return false;
        const Arg *a = &n->arg[i];
        double *slot = &in[count++];
        if (a->kind == ARG_VALUE && a->u.value == x) {
            if (*x_slot >= 0)
                return false;
            *x_slot = count - 1;
        } else if (a->kind == ARG_VALUE) {
            const Value *v = a->u.value;
            if (!value_is_fixed(g, v) || v->grid || type_count(&v->type) == 0)
                return false;
            *slot = array_get(v->constant, type_count(&v->type) == 1 ? 0 : element);
        } else if (a->kind == ARG_NONE) {
            *slot = NAN;
        } else {
            *slot = a->kind == ARG_INT ? (double)a->u.i : a->kind == ARG_FLOAT ? a->u.f : a->u.b;
        }
    }
    return *x_slot >= 0;
}

static const double probes[] = {-3, -1, -0.5, 0.25, 1, 2, 7.75, -1e4, 1e9, -1e30, 1e30};

/* Is the pointwise n, seen as a function of its operand number `slot`, scale * x + shift? */
bool pointwise_is_affine(const Node *n, double *in, int slot, double *scale, double *shift) {
    in[slot] = 0;
    *shift = n->op->map(n, in);
    in[slot] = 1;
    *scale = n->op->map(n, in) - *shift;
    for (int i = 0; i < (int)COUNT_OF(probes); i++) {
        in[slot] = probes[i];
        double want = *scale * probes[i] + *shift;
        double size = fabs(*scale * probes[i]) + fabs(*shift);
        if (!(fabs(n->op->map(n, in) - want) <= 1e-9 * size))
            return false;
    }
    return isfinite(*scale) && isfinite(*shift);
}

/* Multiplying by one, adding zero and the like. */
static Value *pointwise_identity(const Graph *g, const Node *n) {
    if (!n->op->map || n->out_count != 1)
        return NULL;
    Value *x = NULL;
    int count = node_operand_count(n);
    for (int k = 0; k < count; k++) {
        Value *v = node_operand(n, k);
        if (!value_is_fixed(g, v))
            x = v;
        else if (type_count(&v->type) != 1)
            return NULL;
    }
    double in[MAP_OPERANDS], scale, shift;
    int slot;
    if (!x || !type_equal(&x->type, &n->out[0]->type) || !dtype_is_float(x->type.dtype) ||
        !pointwise_numbers(g, n, x, 0, in, &slot) ||
        !pointwise_is_affine(n, in, slot, &scale, &shift))
        return NULL;
    in[slot] = NAN; /* nan_to_num is none */
    return scale == 1 && shift == 0 && isnan(n->op->map(n, in)) ? x : NULL;
}

static Value *identity_of(const Graph *g, const Node *n) {
    if (n->out_count != 1)
        return NULL;
    if (has_trait(n, OP_EFFECT_FREE_IDENTITY | OP_MAY_RETURN_INPUT)) {
        Value *x = node_operand_count(n) > 0 ? node_operand(n, 0) : NULL;
        return x && type_equal(&x->type, &n->out[0]->type) ? x : NULL;
    }
    return pointwise_identity(g, n);
}

static bool fold_identity(Graph *g, Node *n) {
    Value *x = identity_of(g, n);
    if (!x)
        return false;
    if (n->out[0]->grid) { /* pinned: only a value without a grid and other readers can take it */
        if (x->grid || x->user_count != 1 || x->output_count > 0 || x->constant)
            return false;
        x->grid = n->out[0]->grid;
    }
    value_replace(g, n->out[0], x);
    node_remove(g, n, FATE_REMOVED, "its result is its operand", NULL);
    return true;
}

/* ---- constants of equal elements ----------------------------------------------------------- */

static bool elements_are_equal(const Array *a) {
    int64_t count = array_count(a), each = count > 0 ? array_bytes(a) / count : 0;
    const char *first = a->data;
    for (int64_t i = 1; i < count; i++)
        if (memcmp(first, first + i * each, (size_t)each) != 0)
            return false;
    return count > 1;
}

/* Does an operand other than v have the result's shape? */
static bool keeps_shape_without(const Node *n, const Value *v) {
    const Type *out = &n->out[0]->type;
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        const Value *x = node_operand(n, k);
        if (x != v && x->type.rank == out->rank &&
            memcmp(x->type.dim, out->dim, (size_t)out->rank * sizeof out->dim[0]) == 0)
            return true;
    }
    return false;
}

/* A pointwise node's operand like zeros_like(x) is one number: with it, the node can be part of a
 * table, and needs no memory for the others. */
static bool fold_equal_elements(C *c, Graph *g, Node *n) {
    for (int i = 0; n->op->map && n->out_count == 1 && i < n->arg_count; i++) {
        Value *v = n->arg[i].kind == ARG_VALUE ? n->arg[i].u.value : NULL;
        if (!v || !value_is_fixed(g, v) || v->grid || !elements_are_equal(v->constant) ||
            !keeps_shape_without(n, v))
            continue;
        Array *one = array_new(c, v->constant->dtype, 1, (const int64_t[]){1});
        memcpy(one->data, v->constant->data, (size_t)array_bytes(one));
        n->arg[i] = arg_value(value_constant(g, v->name, one));
        return true;
    }
    return false;
}

/* ---- constants --------------------------------------------------------------------------- */

static bool all_fixed(const Graph *g, const Node *n) {
    int count = node_operand_count(n);
    for (int k = 0; k < count; k++)
        if (!value_is_fixed(g, node_operand(n, k)))
            return false;
    return true;
}

static Array *array_copy(C *c, const Array *a) {
    Array *copy = array_new(c, a->dtype, a->rank, a->dim);
    if (array_bytes(a) > 0)
        memcpy(copy->data, a->data, (size_t)array_bytes(a));
    return copy;
}

/* Where each element of a data movement's output comes from: operand elements are numbered from
 * 1, so that 0 is padding. */
static const Array *movement_source(C *c, Graph *g, Node *n) {
    Value *x = node_operand(n, 0), *y = n->out[0];
    Array *number = array_new(c, DT_I32, x->type.rank, x->type.dim);
    int64_t count = array_count(number);
    for (int64_t i = 0; i < count; i++)
        ((int32_t *)number->data)[i] = (int32_t)(i + 1);
    Value x_was = *x, y_was = *y;
    x->type.dtype = y->type.dtype = DT_I32;
    x->constant = NULL;
    x->grid = NULL;
    struct Env *outer = c->env;
    c->env = env_new(c, g);
    env_set(c->env, x, number);
    node_eval(c, n);
    const Array *source = array_copy(c, env_get(c->env, y));
    env_free(c->env);
    c->env = outer;
    *x = x_was;
    *y = y_was;
    return source;
}

/* The part of an operand's grid that element i of it belongs to. */
static int part_of(const Value *x, int64_t i) {
    const Grid *grid = x->grid;
    if (grid->part_count == 1)
        return 0;
    int axis = grid->part[0].axis;
    int64_t inner = 1;
    for (int d = axis + 1; d < x->type.rank; d++)
        inner *= x->type.dim[d];
    int64_t at = i / inner % x->type.dim[axis];
    for (int k = 0; k < grid->part_count; k++)
        if (at >= grid->part[k].start && at < grid->part[k].stop)
            return k;
    return -1;
}

/* Does the part depend on the output's index along `axis` only? Then part[index] says which. */
static bool parts_along(const Value *x, const Array *source, int axis, int *part) {
    int64_t inner = 1, extent = source->dim[axis], count = array_count(source);
    for (int d = axis + 1; d < source->rank; d++)
        inner *= source->dim[d];
    for (int64_t k = 0; k < extent; k++)
        part[k] = -1;
    for (int64_t i = 0; i < count; i++) {
        int k = part_of(x, ((const int32_t *)source->data)[i] - 1);
        int64_t at = i / inner % extent;
        if (part[at] >= 0 && part[at] != k)
            return false;
        part[at] = k;
    }
    return true;
}

static Grid *grid_moved(C *c, const Value *x, const Array *source) {
    if (x->grid->part_count == 1)
        return x->grid;
    for (int axis = 0; axis < source->rank; axis++) {
        int extent = (int)source->dim[axis];
        int *part = NEW_ARRAY(c, int, extent + 1);
        if (!parts_along(x, source, axis, part))
            continue;
        Grid *grid = c_memdup(c, x->grid, sizeof *grid);
        grid->part_count = extent;
        grid->part = NEW_ARRAY(c, Part, extent);
        for (int k = 0; k < extent; k++) {
            grid->part[k] = x->grid->part[part[k]];
            grid->part[k].axis = axis;
            grid->part[k].start = k;
            grid->part[k].stop = k + 1;
        }
        return grid;
    }
    return NULL;
}

/* A pinned constant that is moved stays one: its integers move and its grid with them. */
static Value *move_pinned(C *c, Graph *g, Node *n) {
    Value *x = node_operand(n, 0), *y = n->out[0];
    if (type_count(&y->type) == 0 || type_count(&x->type) >= INT32_MAX)
        return NULL;
    const Array *source = movement_source(c, g, n);
    int64_t count = array_count(source);
    Array *moved = array_new(c, x->constant->dtype, y->type.rank, y->type.dim);
    for (int64_t i = 0; i < count; i++) {
        int32_t from = ((const int32_t *)source->data)[i];
        if (from < 1)
            return NULL;
        array_set_int(moved, i, array_get_int(x->constant, from - 1));
    }
    Grid *grid = grid_moved(c, x, source);
    if (!grid)
        return NULL;
    Value *v = value_constant(g, y->name, moved);
    v->type = y->type;
    v->grid = grid;
    return v;
}

/* Output k becomes a constant: reals, or integers if its grid is pinned. */
static void replace_by_constant(C *c, Graph *g, Node *n, int k, const Array *a) {
    Grid *grid = n->out[k]->grid;
    Array *kept = grid ? quantize_array(c, a, grid) : array_copy(c, a);
    Value *v = value_constant(g, n->out[k]->name, kept);
    v->type = n->out[k]->type;
    v->grid = grid;
    value_replace(g, n->out[k], v);
}

/* What has no elements needs no kernel. */
static bool fold_empty(C *c, Graph *g, Node *n) {
    for (int k = 0; k < n->out_count; k++)
        if (type_count(&n->out[k]->type) != 0)
            return false;
    if (n->out_count == 0)
        return false;
    for (int k = 0; k < n->out_count; k++) {
        const Type *t = &n->out[k]->type;
        replace_by_constant(c, g, n, k, array_new(c, t->dtype, t->rank, t->dim));
    }
    node_remove(g, n, FATE_FOLDED, "its result has no elements", NULL);
    return true;
}

static bool fold_constant(C *c, Graph *g, Node *n) {
    bool foldable = (n->op->eval || n->op->map) && n->out_count > 0 && !has_trait(n, OP_RANDOM);
    bool creates = has_trait(n, OP_CREATES);
    if (!foldable || (!creates && !all_fixed(g, n)))
        return false;
    bool pinned =
        !creates && node_operand_count(n) == 1 && node_operand(n, 0)->grid && !n->out[0]->grid;
    Value *moved =
        pinned && has_trait(n, OP_MOVES_DATA) && n->out_count == 1 ? move_pinned(c, g, n) : NULL;
    if (moved) {
        value_replace(g, n->out[0], moved);
    } else {
        struct Env *outer = c->env;
        c->env = env_new(c, g);
        node_eval(c, n);
        for (int k = 0; k < n->out_count; k++) {
            const Array *a = env_get(c->env, n->out[k]);
            if (a)
                replace_by_constant(c, g, n, k, a);
        }
        env_free(c->env);
        c->env = outer;
    }
    node_remove(g, n, FATE_FOLDED, "computed from constants", NULL);
    return true;
}

/* ---- the pass ---------------------------------------------------------------------------- */

static bool fold_node(C *c, Graph *g, Node *n) {
    if (has_trait(n, OP_ASSERTS)) {
        node_remove(g, n, FATE_REMOVED, "only checks", NULL);
        return true;
    }
    return fold_empty(c, g, n) || fold_equal_elements(c, g, n) || fold_identity(g, n) ||
           fold_constant(c, g, n) || fold_into_weights(c, g, n);
}

/* Each round but the last removes a node, takes a pad from a convolution or makes a constant one
 * number. */
static void fold_all(C *c, Graph *g) {
    bool changed = true;
    while (changed) {
        changed = false;
        graph_index(g);
        for (Node *n = g->first, *next; n; n = next) {
            next = n->next;
            if (fold_node(c, g, n)) {
                changed = true;
                graph_index(g);
            }
        }
        changed |= graph_sweep(g) > 0;
    }
}

static bool convolve_first_map(C *c, Graph *g) {
    for (Node *n = g->first; n; n = n->next)
        if (map_to_convolution(c, g, n))
            return true;
    return false;
}

void pass_fold(C *c, Graph *g, const Options *o) {
    (void)o;
    fold_all(c, g);
    /* Maps per channel that went nowhere, one by one: the next may go into the last. */
    while (g->stage == STAGE_CORE && convolve_first_map(c, g))
        fold_all(c, g);
    graph_index(g);
}
