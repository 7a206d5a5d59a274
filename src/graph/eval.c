/* The float interpreter: runs a functional graph on dense arrays in logical order. Whatever is
 * float in the model is float32 here, whatever is quantized is what it stands for. A pointwise row
 * needs no eval of its own: its `map` is applied with broadcasting.
 *
 * Arrays belong to the Env, which frees each after its last reader; what an eval function takes
 * from its C is gone when the node is done. */
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

#define EVAL_LIMIT ((int64_t)16 << 30) /* bytes of one array */

struct Env {
    C *c;
    Graph *g;
    int count;     /* of slots: values that existed at env_new, grown on demand */
    Array **array; /* by value id */
    bool *owned;
    int *last_use; /* node index of the last reader; -1: never freed */
};

/* ---- environment -------------------------------------------------------------------------- */

static void array_release(Array *a) {
    free(a->data);
    free(a);
}

static void env_release(void *env) {
    Env *e = env;
    for (int i = 0; i < e->count; i++)
        if (e->owned[i] && e->array[i])
            array_release(e->array[i]);
    free((void *)e->array);
    free(e->owned);
    free(e->last_use);
    e->array = NULL;
    e->owned = NULL;
    e->last_use = NULL;
    e->count = 0;
}

static void *grown(C *c, void *items, int count, int need, size_t size) {
    char *p = realloc(items, (size_t)need * size);
    if (!p)
        fatal(c, DIAG_MODEL, NULL, "out of memory");
    memset(p + (size_t)count * size, 0, (size_t)(need - count) * size);
    return p;
}

static void env_reserve(Env *e, int need) {
    if (need <= e->count)
        return;
    need += need / 2;
    e->array = (Array **)grown(e->c, (void *)e->array, e->count, need, sizeof *e->array);
    e->owned = grown(e->c, e->owned, e->count, need, sizeof *e->owned);
    e->last_use = grown(e->c, e->last_use, e->count, need, sizeof *e->last_use);
    e->count = need;
}

Env *env_new(C *c, Graph *g) {
    Env *e = NEW(c, Env);
    e->c = c;
    e->g = g;
    c_defer(c, env_release, e);
    env_reserve(e, g->value_count > 0 ? g->value_count : 1);
    return e;
}

void env_free(Env *e) {
    env_release(e);
}

static void env_drop(Env *e, int id) {
    if (e->owned[id] && e->array[id])
        array_release(e->array[id]);
    e->array[id] = NULL;
    e->owned[id] = false;
}

/* Zeroed storage that the Env owns. */
static Array *env_store(Env *e, const Value *v, DType dtype) {
    env_reserve(e, v->id + 1);
    env_drop(e, v->id);
    int64_t bytes = dims_count(v->type.rank, v->type.dim);
    bytes = bytes > EVAL_LIMIT / 8 ? INT64_MAX : bytes * dtype_size(dtype);
    Array *a = bytes > EVAL_LIMIT ? NULL : calloc(1, sizeof *a);
    void *data = a ? calloc(1, bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (!data) {
        free(a);
        fatal(e->c, DIAG_MODEL, v->def ? &v->def->loc : NULL, "out of memory for %s %s", v->name,
              shape_text(e->c, v->type.rank, v->type.dim));
    }
    a->dtype = dtype;
    a->rank = v->type.rank;
    memcpy(a->dim, v->type.dim, sizeof a->dim);
    a->data = data;
    e->array[v->id] = a;
    e->owned[v->id] = true;
    return a;
}

void env_set(Env *e, const Value *v, Array *a) {
    if (array_count(a) != type_count(&v->type))
        fatal(e->c, DIAG_BUG, NULL, "%s has shape %s, not %s", v->name,
              shape_text(e->c, v->type.rank, v->type.dim), shape_text(e->c, a->rank, a->dim));
    env_reserve(e, v->id + 1);
    env_drop(e, v->id);
    e->array[v->id] = a;
}

/* The part that element `index` of a constant lies in. */
static const Part *part_of(const Value *v, int64_t index) {
    const Grid *grid = v->grid;
    if (grid->part_count == 1)
        return grid->part;
    int axis = grid->part[0].axis;
    int64_t inner = 1;
    for (int d = v->type.rank - 1; d > axis; d--)
        inner *= v->type.dim[d];
    int64_t at = index / inner % v->type.dim[axis];
    int low = 0, high = grid->part_count - 1; /* parts are sorted and cover the axis */
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (grid->part[middle].start <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return &grid->part[low];
}

/* The constant as this interpreter wants it: itself, or a copy made once per Env. */
static const Array *env_constant(Env *e, const Value *v) {
    const Array *a = v->constant ? v->constant : v->initial;
    if (a->dtype == DT_F32 || (!v->grid && !dtype_is_float(a->dtype)))
        return a;
    Array *real = env_store(e, v, DT_F32);
    float *out = real->data;
    int64_t count = array_count(a);
    for (int64_t i = 0; i < count; i++) {
        double x = array_get(a, i);
        if (v->grid) {
            const Part *p = part_of(v, i);
            x = p->scale * (x - p->zero_point);
        }
        out[i] = (float)x;
    }
    return real;
}

const Array *env_get(Env *e, const Value *v) {
    env_reserve(e, v->id + 1);
    if (!e->array[v->id] && (v->constant || v->initial))
        return env_constant(e, v);
    return e->array[v->id];
}

const Array *eval_value(C *c, const Value *v) {
    const Array *a = env_get(c->env, v);
    if (!a)
        fatal(c, DIAG_BUG, v->def ? &v->def->loc : NULL, "%s is read before it is computed",
              v->name);
    return a;
}

const Array *eval_in(C *c, const Node *n, const char *name) {
    const Arg *arg = node_arg(n, name);
    Array *a;
    switch (arg->kind) {
    case ARG_VALUE:
        return eval_value(c, arg->u.value);
    case ARG_INT:
        a = array_new(c, DT_I64, 0, NULL);
        array_set_int(a, 0, arg->u.i);
        return a;
    case ARG_FLOAT:
        a = array_new(c, DT_F32, 0, NULL);
        array_set(a, 0, arg->u.f);
        return a;
    case ARG_BOOL:
        a = array_new(c, DT_BOOL, 0, NULL);
        array_set(a, 0, arg->u.b);
        return a;
    default:
        return NULL;
    }
}

Array *eval_out(C *c, Node *n, int k) {
    const Value *v = n->out[k];
    env_reserve(c->env, v->id + 1);
    if (c->env->owned[v->id] && c->env->array[v->id])
        return c->env->array[v->id];
    return env_store(c->env, v, dtype_is_float(v->type.dtype) ? DT_F32 : v->type.dtype);
}

/* ---- pointwise ---------------------------------------------------------------------------- */

#define MAP_OPERANDS 8

typedef struct {
    int count;
    const Array *array[MAP_OPERANDS]; /* NULL: a number, in `in` */
    double in[MAP_OPERANDS];
    int64_t stride[MAP_OPERANDS][MAX_RANK]; /* along the output's dims; 0 broadcasts */
} MapOperands;

static void map_strides(C *c, const Node *n, MapOperands *m, int k) {
    const Array *a = m->array[k];
    const Type *out = &n->out[0]->type;
    int64_t step = 1;
    for (int d = out->rank - 1, s = a->rank - 1; s >= 0; d--, s--) {
        if (d < 0 || (a->dim[s] != 1 && a->dim[s] != out->dim[d]))
            fatal(c, DIAG_BUG, &n->loc, "%s: operand %d does not broadcast to its output", n->name,
                  k);
        m->stride[k][d] = a->dim[s] == 1 ? 0 : step;
        step *= a->dim[s];
    }
}

static MapOperands map_operands(C *c, const Node *n) {
    const Schema *s = op_schema(n->op);
    MapOperands m = {0};
    for (int i = 0; i < s->arg_count; i++) {
        if (s->arg[i].type != T_TENSOR || s->arg[i].list)
            continue;
        if (m.count == MAP_OPERANDS)
            fatal(c, DIAG_BUG, &n->loc, "%s has too many operands for a map", s->name);
        int k = m.count++;
        const Arg *arg = &n->arg[i];
        m.in[k] = NAN;
        if (arg->kind == ARG_VALUE) {
            m.array[k] = eval_value(c, arg->u.value);
            map_strides(c, n, &m, k);
        } else if (arg->kind != ARG_NONE) {
            m.in[k] = node_double(n, s->arg[i].name);
        }
    }
    return m;
}

/* A single number in an array counts as a number. */
static void map_settle_scalars(MapOperands *m) {
    for (int k = 0; k < m->count; k++)
        if (m->array[k] && array_count(m->array[k]) == 1) {
            m->in[k] = array_get(m->array[k], 0);
            m->array[k] = NULL;
        }
}

/* A clamp, without a call for each element. Bounds that are no numbers are for its map. */
static bool map_clamps(const Node *n, const float *x, int64_t count, float *y) {
    if (!(n->op->traits & OP_CLAMPS))
        return false;
    const double ends[] = {-INFINITY, INFINITY};
    float low = (float)n->op->map(n, &ends[0]), high = (float)n->op->map(n, &ends[1]);
    if (isnan(low) || isnan(high))
        return false;
    for (int64_t i = 0; i < count; i++) {
        float above = x[i] < low ? low : x[i];
        y[i] = above > high ? high : above;
    }
    return true;
}

/* Every operand float32 of the output's shape, or a number; at most two of the former. */
static bool map_fast(const Node *n, MapOperands *m, Array *out) {
    int which[2], arrays = 0;
    int64_t count = array_count(out);
    for (int k = 0; k < m->count; k++) {
        if (!m->array[k])
            continue;
        if (arrays == 2 || m->array[k]->dtype != DT_F32 || array_count(m->array[k]) != count)
            return false;
        which[arrays++] = k;
    }
    if (out->dtype != DT_F32 || arrays == 0)
        return false;
    const float *a = m->array[which[0]]->data;
    const float *b = arrays == 2 ? m->array[which[1]]->data : a;
    double *in_a = &m->in[which[0]], *in_b = arrays == 2 ? &m->in[which[1]] : in_a;
    float *y = out->data;
    if (arrays == 1 && map_clamps(n, a, count, y))
        return true;
    for (int64_t i = 0; i < count; i++) {
        *in_a = a[i];
        *in_b = b[i];
        y[i] = (float)n->op->map(n, m->in);
    }
    return true;
}

static void map_general(const Node *n, MapOperands *m, Array *out) {
    int64_t at[MAX_RANK] = {0}, offset[MAP_OPERANDS] = {0}, count = array_count(out);
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < m->count; k++)
            if (m->array[k])
                m->in[k] = array_get(m->array[k], offset[k]);
        array_set(out, i, n->op->map(n, m->in));
        for (int d = out->rank - 1; d >= 0; d--) {
            bool carry = ++at[d] == out->dim[d];
            for (int k = 0; k < m->count; k++)
                offset[k] += carry ? -m->stride[k][d] * (out->dim[d] - 1) : m->stride[k][d];
            if (!carry)
                break;
            at[d] = 0;
        }
    }
}

static void eval_map(C *c, Node *n) {
    MapOperands m = map_operands(c, n);
    Array *out = eval_out(c, n, 0);
    map_settle_scalars(&m);
    node_keeps(n);
    if (!map_fast(n, &m, out))
        map_general(n, &m, out);
    node_keeps(NULL);
}

/* ---- running ------------------------------------------------------------------------------ */

static void node_eval_plain(C *c, Node *n) {
    if (n->writes || n->out_arg)
        fatal(c, DIAG_BUG, &n->loc, "%s still writes an operand", n->name);
    if (n->op->eval)
        n->op->eval(c, n);
    else if (n->op->map)
        eval_map(c, n);
    else if (!(n->op->traits & OP_ASSERTS))
        fatal(c, DIAG_BUG, &n->loc, "%s has no float reference", op_schema(n->op)->name);
}

static void release_arena(void *arena) {
    arena_free(arena);
}

/* What eval functions allocate goes into an arena of the node's own: calibration runs them many
 * times. It stays only if a diagnostic was recorded in it. */
void node_eval(C *c, Node *n) {
    Arena *outer_arena = c->arena;
    Env *env = c->env;
    jmp_buf *outer = c->unwind, here;
    int errors = c->error_count;
    Diag *last = c->last_diag;
    volatile bool done = false;
    c->arena = arena_new();
    c->unwind = &here;
    if (setjmp(here) == 0) {
        node_eval_plain(c, n);
        done = true;
    }
    Arena *scratch = c->arena;
    c->arena = outer_arena;
    c->unwind = outer;
    c->env = env;
    if (done && c->error_count == errors && c->last_diag == last)
        arena_free(scratch);
    else
        c_defer(c, release_arena, scratch);
    if (!done)
        diag_stop_if_errors(c); /* unwinds further: fatal has recorded one */
}

static void count_uses(Graph *g, Env *e) {
    int index = 0;
    for (int i = 0; i < g->value_count; i++)
        e->last_use[i] = 0;
    for (const Node *n = g->first; n; n = n->next, index++) {
        int count = node_operand_count(n);
        for (int k = 0; k < count; k++)
            e->last_use[node_operand(n, k)->id] = index;
    }
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i].kind == ARG_VALUE)
            e->last_use[g->output[i].u.value->id] = -1;
    for (int i = 0; i < g->state_count; i++)
        e->last_use[g->state[i].after->id] = -1;
}

/* Dequantized constants stay for the next run. */
static void drop_if_last(Env *e, const Value *v, int index) {
    if (e->owned[v->id] && !v->constant && e->last_use[v->id] >= 0 && e->last_use[v->id] <= index)
        env_drop(e, v->id);
}

static void drop_used(Env *e, const Node *n, int index) {
    int count = node_operand_count(n);
    for (int k = 0; k < count; k++)
        drop_if_last(e, node_operand(n, k), index);
    for (int k = 0; k < n->out_count; k++)
        drop_if_last(e, n->out[k], index);
}

void graph_eval(C *c, Graph *g, Env *e, bool keep,
                void (*seen)(void *user, const Value *v, const Array *a), void *user) {
    Env *outer = c->env;
    int index = 0;
    c->env = e;
    env_reserve(e, g->value_count);
    count_uses(g, e);
    for (Node *n = g->first; n; n = n->next, index++) {
        for (int k = 0; k < n->out_count; k++) /* of an earlier run */
            env_drop(e, n->out[k]->id);
        node_eval(c, n);
        for (int k = 0; seen && k < n->out_count; k++)
            seen(user, n->out[k], eval_value(c, n->out[k]));
        if (!keep)
            drop_used(e, n, index);
    }
    c->env = outer;
}
