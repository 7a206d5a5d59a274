/* What each rounding costs by itself: the calibrated graph runs in float, with the values of one
 * grid rounded as the quantized graph stores them, or with the constants of one node as it has
 * them, and what that does to the outputs is the cost. Only nodes behind the rounding run again.
 * Roundings are nearly independent, so costs add up: they say in which order to raise nodes. */
#include "quant/quant.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* Multiplications of all runs together, and samples that are enough. */
#define WORK 2e10
#define SAMPLES 16

typedef struct {
    C *c;
    const Graph *quantized;
    Graph *g; /* calibrated, in float */
    const Options *o;
    CostList *list;
    const Value **stored;  /* by value id of g: the quantized value of the same name, or NULL */
    const Node **other;    /* by node index of g: the quantized node of the same name, or NULL */
    const double **folded; /* by node index: see folded_factors */
    const Array **real;    /* by value id: what the run without any rounding gave */
    Node **replaced;       /* by node index: the node with its quantized constants, or NULL */
} Search;

/* ---- pairs --------------------------------------------------------------------------------- */

static const Value *value_of_name(const Graph *g, const char *name) {
    for (int i = 0; i < g->value_count; i++)
        if (text_equal(g->value[i]->name, name))
            return g->value[i];
    return NULL;
}

static const Node *node_of_name(const Graph *g, const char *name) {
    for (const Node *n = g->first; n; n = n->next)
        if (text_equal(n->name, name))
            return n;
    return NULL;
}

/* What a pass has folded into weights behind calibration (the sixth of a hardsigmoid) makes them,
 * and the node's result, stand for something else: factors per index of the first dim of the
 * quantized weights. NULL: there is nothing of the kind. */
#define FOLDED 0.1

static const double *folded_factors(Search *s, const Value *real, const Array *rounded) {
    int64_t rows = real->type.dim[0], inner = rows > 0 ? array_count(real->constant) / rows : 0;
    double *factor = NEW_ARRAY(s->c, double, rows + 1);
    bool folded = false;
    for (int64_t r = 0; r < rows; r++) {
        double own = 0, both = 0;
        for (int64_t i = r * inner; i < (r + 1) * inner; i++) {
            own += array_get(real->constant, i) * array_get(real->constant, i);
            both += array_get(real->constant, i) * array_get(rounded, i);
        }
        factor[r] = own > 0 && both > 0 ? both / own : 1;
        folded |= fabs(factor[r] - 1) > FOLDED;
    }
    return folded ? factor : NULL;
}

static Array *real_constant(Search *s, const Value *v) {
    Env *env = env_new(s->c, (Graph *)s->quantized);
    Array *real = array_convert(s->c, env_get(env, v), DT_F32);
    env_free(env);
    return real;
}

/* The weights of n and of its twin in the quantized graph; false if it has none of its own. */
static bool weights_of(const Node *n, const Node *q, const Value **w, const Value **rounded) {
    if (!q || q->op != n->op || !node_takes(n, "weight"))
        return false;
    *w = node_in(n, "weight");
    *rounded = node_in(q, "weight");
    return *w && *rounded && (*w)->constant && (*rounded)->constant && (*rounded)->grid &&
           dtype_is_float((*w)->type.dtype) && (*w)->type.rank >= 2 &&
           array_count((*w)->constant) == array_count((*rounded)->constant);
}

static void find_folded(Search *s) {
    s->folded = NEW_ARRAY(s->c, const double *, s->g->node_count + 1);
    for (const Node *n = s->g->first; n; n = n->next) {
        const Value *w, *rounded;
        if (!weights_of(n, s->other[n->index], &w, &rounded))
            continue;
        s->folded[n->index] = folded_factors(s, w, real_constant(s, rounded));
        if (s->folded[n->index])
            s->stored[n->out[0]->id] = NULL;
    }
}

static void pair_up(Search *s) {
    s->stored = NEW_ARRAY(s->c, const Value *, s->g->value_count + 1);
    s->other = NEW_ARRAY(s->c, const Node *, s->g->node_count + 1);
    for (int i = 0; i < s->g->value_count; i++) {
        const Value *v = s->g->value[i], *q = NULL;
        if (!v->constant && dtype_is_float(v->type.dtype))
            q = value_of_name(s->quantized, v->name);
        s->stored[i] = q && q->grid && !q->constant ? q : NULL;
    }
    for (const Node *n = s->g->first; n; n = n->next)
        s->other[n->index] = node_of_name(s->quantized, n->name);
    find_folded(s);
}

/* ---- what is rounded ----------------------------------------------------------------------- */

static Cost *cost_add(Search *s, const char *name, const Loc *loc) {
    CostList *l = s->list;
    l->item = c_grow(s->c, l->item, l->count, &l->capacity, l->count + 1, sizeof *l->item);
    Cost *cost = &l->item[l->count++];
    *cost = (Cost){.name = name, .loc = loc ? *loc : (Loc){0}};
    cost->noise = NEW_ARRAY(s->c, double, s->g->output_count + 1);
    return cost;
}

static bool is_boundary(const Graph *g, const Value *v) {
    bool input = v->role == ROLE_INPUT && !v->def, output = false;
    for (int i = 0; i < g->output_count; i++)
        output |= g->output[i].kind == ARG_VALUE && g->output[i].u.value == v;
    return input || output;
}

/* Multiplications, or elements, that nodes touching v go through. */
static double work_around(const Value *v) {
    double work = v->def ? node_work(v->def) : 0;
    for (int u = 0; u < v->user_count; u++)
        work += node_work(v->user[u]);
    return work;
}

static void cost_takes(Search *s, Cost *cost, const Value *v) {
    const Value *q = s->stored[v->id];
    int64_t count = type_count(&v->type);
    cost->value =
        (const Value **)c_grow(s->c, (void *)cost->value, cost->value_count, &cost->value_capacity,
                               cost->value_count + 1, sizeof *cost->value);
    cost->value[cost->value_count++] = v;
    cost->bytes += q->unstored ? 0 : count;
    cost->work += work_around(v);
    cost->boundary |= is_boundary(s->g, v);
    cost->widenable &= q->widenable;
}

/* Values that share a grid are rounded together, and raised together. */
static void find_values(Search *s) {
    const Grid **grid = NEW_ARRAY(s->c, const Grid *, s->g->value_count + 1);
    int *index = NEW_ARRAY(s->c, int, s->g->value_count + 1);
    int grids = 0;
    for (int i = 0; i < s->g->value_count; i++) {
        const Value *v = s->g->value[i], *q = s->stored[i];
        if (!q || (v->user_count == 0 && v->output_count == 0))
            continue;
        int k = 0;
        while (k < grids && grid[k] != q->grid)
            k++;
        if (k == grids) {
            cost_add(s, v->def ? v->def->name : v->name, v->def ? &v->def->loc : NULL);
            s->list->item[s->list->count - 1].widenable = true;
            s->list->item[s->list->count - 1].wide = q->grid->dtype == DT_I16;
            grid[grids] = q->grid;
            index[grids++] = s->list->count - 1;
        }
        cost_takes(s, &s->list->item[index[k]], v);
    }
}

static bool constant_differs(const Value *a, const Value *b) {
    return a->constant && b->constant && b->grid && dtype_is_float(a->type.dtype);
}

/* The argument with the constants that the quantized graph has in its place. */
static Arg arg_replaced(Search *s, const Arg *a, const Arg *b, const double *folded, bool *any) {
    Arg out = *a;
    if (a->kind == ARG_LIST && b->kind == ARG_LIST && a->u.list.count == b->u.list.count) {
        out.u.list.item = NEW_ARRAY(s->c, Arg, a->u.list.count + 1);
        for (int i = 0; i < a->u.list.count; i++)
            out.u.list.item[i] =
                arg_replaced(s, &a->u.list.item[i], &b->u.list.item[i], folded, any);
        return out;
    }
    bool added = a->kind == ARG_NONE && b->kind == ARG_VALUE && b->u.value->constant;
    if (!added &&
        !(a->kind == ARG_VALUE && b->kind == ARG_VALUE && constant_differs(a->u.value, b->u.value)))
        return out;
    if (folded && (added || a->u.value->type.rank < 2))
        return out; /* a bias that something was added to */
    Array *real = real_constant(s, b->u.value);
    int64_t inner = folded ? array_count(real) / real->dim[0] : 0;
    for (int64_t i = 0; folded && i < array_count(real); i++)
        array_set(real, i, array_get(real, i) / folded[i / inner]);
    *any = true;
    return arg_value(value_constant(s->g, b->u.value->name, real));
}

static void find_constants(Search *s) {
    s->replaced = NEW_ARRAY(s->c, Node *, s->g->node_count + 1);
    for (Node *n = s->g->first; n; n = n->next) {
        const Node *q = s->other[n->index];
        bool any = false;
        if (!q || q->op != n->op || q->fused || q->arg_count != n->arg_count)
            continue;
        Node *twin = c_memdup(s->c, n, sizeof *n);
        twin->arg = NEW_ARRAY(s->c, Arg, n->arg_count + 1);
        for (int i = 0; i < n->arg_count; i++)
            twin->arg[i] = arg_replaced(s, &n->arg[i], &q->arg[i], s->folded[n->index], &any);
        if (!any)
            continue;
        s->replaced[n->index] = twin;
        cost_add(s, n->name, &n->loc)->node = n;
    }
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* x as v's grid holds it. */
static void round_array(Array *a, const Value *q) {
    const Grid *grid = q->grid;
    double last = grid->dtype == DT_I16 ? 32767 : ldexp(1, grid->bits - 1) - 1;
    double first = grid->dtype == DT_I16 ? -32767 : -ldexp(1, grid->bits - 1);
    int64_t inner = 1;
    const Part *p = &grid->part[0];
    for (int d = p->axis + 1; grid->part_count > 1 && d < a->rank; d++)
        inner *= a->dim[d];
    if (a->dtype != DT_F32)
        return;
    float *x = a->data;
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        int64_t at = grid->part_count > 1 ? i / inner % a->dim[grid->part[0].axis] : 0;
        for (p = grid->part; grid->part_count > 1 && at >= p->stop;)
            p++;
        double r = rint((double)x[i] / p->scale) + p->zero_point;
        x[i] = (float)(p->scale * (fmin(fmax(r, first), last) - p->zero_point));
    }
}

typedef struct {
    const Search *s;
    C *c;
    Cost *cost;
    Env *env;
    bool *dirty; /* by value id: differs from the run without rounding */
} Run;

static bool rounds(const Run *r, const Value *v) {
    for (int i = 0; i < r->cost->value_count; i++)
        if (r->cost->value[i] == v)
            return true;
    return false;
}

static void round_value(Run *r, const Value *v) {
    const Array *a = env_get(r->env, v);
    Array *copy = array_convert(r->c, a, a->dtype);
    round_array(copy, r->s->stored[v->id]);
    env_set(r->env, v, copy);
    r->dirty[v->id] = true;
}

static void run_node(Run *r, Node *n) {
    Node *twin = r->cost->node == n ? r->s->replaced[n->index] : n;
    bool touched = twin != n;
    for (int k = 0, count = node_operand_count(n); k < count; k++)
        touched |= r->dirty[node_operand(n, k)->id];
    if (touched)
        node_eval(r->c, twin);
    for (int k = 0; k < n->out_count; k++) {
        r->dirty[n->out[k]->id] |= touched;
        if (rounds(r, n->out[k]))
            round_value(r, n->out[k]);
    }
}

static void add_noise(const Run *r) {
    const Graph *g = r->s->g;
    for (int k = 0; k < g->output_count; k++) {
        const Value *v = g->output[k].kind == ARG_VALUE ? g->output[k].u.value : NULL;
        if (!v || !r->dirty[v->id] || !dtype_is_float(v->type.dtype))
            continue;
        const Array *want = r->s->real[v->id], *got = env_get(r->env, v);
        for (int64_t i = 0, n = array_count(want); i < n; i++) {
            double d = array_get(want, i) - array_get(got, i);
            r->cost->noise[k] += d * d;
        }
    }
}

static void run_cost(C *c, void *user) {
    Run *r = user;
    Graph *g = r->s->g;
    r->dirty = NEW_ARRAY(c, bool, g->value_count + 1);
    r->env = env_new(c, g);
    c->env = r->env;
    for (int i = 0; i < g->value_count; i++)
        if (r->s->real[i])
            env_set(r->env, g->value[i], (Array *)r->s->real[i]);
    for (int i = 0; i < g->value_count; i++)
        if (!g->value[i]->def && rounds(r, g->value[i]))
            round_value(r, g->value[i]);
    for (Node *n = g->first; n; n = n->next)
        run_node(r, n);
    add_noise(r);
    env_free(r->env);
    c->env = NULL;
}

typedef struct {
    const Search *s;
    int first, step; /* of the costs, those that are this thread's */
    bool failed;
} Share;

static void *share_thread(void *user) {
    Share *share = user;
    for (int i = share->first; i < share->s->list->count; i += share->step) {
        C *c = c_new();
        Run r = {.s = share->s, .c = c, .cost = &share->s->list->item[i]};
        share->failed |= c_try(c, run_cost, &r) != 0;
        c_free(c);
    }
    return NULL;
}

static void run_costs(Search *s) {
    int threads = s->o->threads > 1 ? s->o->threads : 1;
    Share *share = NEW_ARRAY(s->c, Share, threads);
    pthread_t *thread = NEW_ARRAY(s->c, pthread_t, threads);
    bool *started = NEW_ARRAY(s->c, bool, threads);
    for (int t = 0; t < threads; t++) {
        share[t] = (Share){s, t, threads, false};
        if (t > 0)
            started[t] = pthread_create(&thread[t], NULL, share_thread, &share[t]) == 0;
    }
    for (int t = 0; t < threads; t++)
        if (started[t])
            pthread_join(thread[t], NULL);
        else
            share_thread(&share[t]);
    for (int t = 0; t < threads; t++)
        if (share[t].failed)
            fatal(s->c, DIAG_MODEL, NULL, "out of memory");
}

/* ---- samples ------------------------------------------------------------------------------- */

static int samples_affordable(const Search *s) {
    double macs = 1;
    for (const Node *n = s->g->first; n; n = n->next)
        macs += node_work(n);
    double most = WORK / (macs * (s->list->count + 1));
    most = most > SAMPLES ? SAMPLES : most < 1 ? 1 : most;
    return s->o->sample_count < (int)most ? s->o->sample_count : (int)most;
}

static void note_signal(const Search *s) {
    for (int k = 0; k < s->g->output_count; k++) {
        const Value *v = s->g->output[k].kind == ARG_VALUE ? s->g->output[k].u.value : NULL;
        const Array *a = v && dtype_is_float(v->type.dtype) ? s->real[v->id] : NULL;
        for (int64_t i = 0, n = a ? array_count(a) : 0; i < n; i++)
            s->list->signal[k] += array_get(a, i) * array_get(a, i);
    }
}

/* One sample without rounding, all of whose values are kept, then every cost beside it. The state
 * that it leaves is what the next sample starts from, unless that brings its own. */
static void run_sample(Search *s, C *c, Array **sample, Array **held) {
    Graph *g = s->g;
    Env *env = env_new(c, g);
    c->env = env;
    for (int k = 0; k < g->input_count; k++)
        if (g->input[k].kind == ARG_VALUE)
            env_set(env, g->input[k].u.value, sample[k]);
    for (int k = 0; k < g->state_count; k++)
        if (g->state[k].slot >= 0 && sample[g->state[k].slot])
            env_set(env, g->state[k].before, sample[g->state[k].slot]);
        else if (held[k])
            env_set(env, g->state[k].before, held[k]);
        else if (!env_get(env, g->state[k].before))
            env_set(
                env, g->state[k].before,
                array_new(c, DT_F32, g->state[k].before->type.rank, g->state[k].before->type.dim));
    graph_eval(c, g, env, true, NULL, NULL);
    for (int i = 0; i < g->value_count; i++)
        s->real[i] = env_get(env, g->value[i]);
    note_signal(s);
    run_costs(s);
    for (int k = 0; k < g->state_count; k++) {
        const Array *after = env_get(env, g->state[k].after);
        held[k] = array_convert(s->c, after, after->dtype);
    }
    env_free(env);
    c->env = NULL;
}

void sensitivity(C *c, CostList *list, Graph *calibrated, const Graph *quantized,
                 const Options *o) {
    Search s = {.c = c, .quantized = quantized, .g = calibrated, .o = o, .list = list};
    graph_index(calibrated);
    pair_up(&s);
    find_values(&s);
    find_constants(&s);
    list->output_count = calibrated->output_count;
    list->signal = NEW_ARRAY(c, double, calibrated->output_count + 1);
    s.real = NEW_ARRAY(c, const Array *, calibrated->value_count + 1);
    Array **held = NEW_ARRAY(c, Array *, calibrated->state_count + 1);
    list->samples = samples_affordable(&s);
    for (int i = 0; i < list->samples; i++) {
        run_sample(&s, c, o->sample[i], held);
        c_progress(c, "weighing nodes", (double)(i + 1) / list->samples);
    }
}
