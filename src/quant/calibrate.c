/* Pass calibrate: runs the samples through the float graph and leaves an Observed at every float
 * value. Threads share the graph read-only; each has its own C, Env and observations of a fixed
 * slice of the samples, and the slices are merged in order: the result does not depend on how many
 * there are. A model with state sees its samples as one sequence, on one thread, but for samples
 * that bring the state they start from. */
#include "passes/passes.h"
#include "quant/quant.h"

#include <cblas.h>
#include <pthread.h>
#include <string.h>

typedef struct {
    Graph *g;
    const Options *options;
    int first, last, now; /* samples first <= now < last */
    int total;
    C *c;
    C *whole;        /* the caller's */
    bool tells;      /* this slice runs on the caller's thread and shows its progress */
    Observed **seen; /* by value id; NULL: not wanted or not seen */
    const bool *wanted;
    Patches **patches; /* by node index; NULL: none */
    int exit_code;
} Slice;

/* Floats of all patches together: 96 MB, and 4 MB for one node. */
#define PATCH_FLOATS ((int64_t)24 << 20)
#define PATCH_FLOATS_OF_NODE ((int64_t)1 << 20)

static void take_patches(Slice *s, const Value *v, const Array *a) {
    for (int i = 0; i < v->user_count; i++) {
        Node *n = v->user[i];
        if (s->patches[n->index] && node_operand(n, 0) == v)
            patches_take(s->c, s->patches[n->index], n, a, s->now);
    }
}

static void see(void *user, const Value *v, const Array *a) {
    Slice *s = user;
    take_patches(s, v, a);
    if (!s->wanted[v->id])
        return;
    if (!s->seen[v->id])
        s->seen[v->id] = NEW(s->c, Observed);
    observe(s->c, s->seen[v->id], a);
}

static void set_inputs(C *c, Slice *s, Env *env, Array **sample) {
    (void)c;
    for (int k = 0; k < s->g->input_count; k++)
        if (s->g->input[k].kind == ARG_VALUE) {
            env_set(env, s->g->input[k].u.value, sample[k]);
            see(s, s->g->input[k].u.value, sample[k]);
        }
}

/* What each state holds before the first run; the copies that go from one run to the next. */
static Array **first_states(C *c, Slice *s, Env *env) {
    Graph *g = s->g;
    Array **held = NEW_ARRAY(c, Array *, g->state_count + 1);
    for (int k = 0; k < g->state_count; k++) {
        const Value *before = g->state[k].before;
        const Array *first = env_get(env, before);
        held[k] = first ? array_convert(c, first, first->dtype)
                        : array_new(c, before->type.dtype, before->type.rank, before->type.dim);
    }
    return held;
}

/* What a sample brings for a state comes before what the run before it has left. */
static void set_states(Slice *s, Env *env, Array **held, Array **sample) {
    for (int k = 0; k < s->g->state_count; k++) {
        const State *state = &s->g->state[k];
        Array *given = state->slot >= 0 ? sample[state->slot] : NULL;
        env_set(env, state->before, given ? given : held[k]);
        see(s, state->before, given ? given : held[k]);
    }
}

/* What the run left in each state is what the next one starts from. All are read before any is
 * changed: one state's next value may be another's present one. */
static void carry_states(C *c, Slice *s, Env *env, Array **held) {
    for (int k = 0; k < s->g->state_count; k++) {
        const Array *after = env_get(env, s->g->state[k].after);
        held[k] = array_convert(c, after, after->dtype);
    }
}

static void slice_body(C *c, void *user) {
    Slice *s = user;
    Env *env = env_new(c, s->g);
    c->env = env;
    Array **held = first_states(c, s, env);
    for (int i = s->first; i < s->last && !s->whole->stopped; i++) {
        s->now = i;
        set_inputs(c, s, env, s->options->sample[i]);
        set_states(s, env, held, s->options->sample[i]);
        graph_eval(c, s->g, env, s->g->state_count > 0, see, s);
        carry_states(c, s, env, held);
        if (s->tells)
            c_progress(s->whole, "calibrating", (double)(i + 1) / s->last);
    }
    env_free(env);
    c->env = NULL;
}

static void *slice_thread(void *user) {
    Slice *s = user;
    s->exit_code = c_try(s->c, slice_body, s);
    return NULL;
}

static void copy_diagnostics(C *c, const C *from) {
    for (const Diag *d = from->first_diag; d; d = d->next)
        if (!d->warning) {
            Loc loc = d->loc;
            diag_error(c, d->kind, &loc, "%s", c_strdup(c, d->message));
        }
}

static void merge_slice(C *c, Slice *s) {
    if (s->exit_code)
        copy_diagnostics(c, s->c);
    for (int id = 0; id < s->total; id++) {
        if (!s->seen[id])
            continue;
        Value *v = s->g->value[id];
        if (!v->observed)
            v->observed = NEW(c, Observed);
        observed_merge(c, v->observed, s->seen[id]);
    }
}

/* Those of the first slice have room for all, and live on. */
static void merge_patches(Slice *s) {
    for (Node *n = s->g->first; n; n = n->next) {
        Patches *from = s->patches[n->index];
        if (from && !n->patches)
            n->patches = from;
        else if (from)
            patches_append(n->patches, from);
    }
}

static int64_t patch_floats(const Graph *g) {
    int nodes = 1;
    for (const Node *n = g->first; n; n = n->next)
        nodes += n->op->quant.in[1] == Q_WEIGHT;
    int64_t share = PATCH_FLOATS / nodes;
    return share < PATCH_FLOATS_OF_NODE ? share : PATCH_FLOATS_OF_NODE;
}

static void slice_patches(Slice *s, C *c, bool first, int64_t floats) {
    int samples = s->options->sample_count, here = first ? samples : s->last - s->first;
    s->patches = NEW_ARRAY(s->c, Patches *, s->g->node_count + 1);
    for (Node *n = s->g->first; n; n = n->next)
        s->patches[n->index] = patches_new(first ? c : s->c, n, floats, samples, here);
}

static void run_slices(C *c, Graph *g, const Options *o, const bool *wanted) {
    int threads = o->threads > 0 ? o->threads : 1;
    if (threads > o->sample_count)
        threads = o->sample_count;
    if (g->state_count > 0)
        threads = 1;
    openblas_set_num_threads(1);
    Slice *slice = NEW_ARRAY(c, Slice, threads);
    pthread_t *thread = NEW_ARRAY(c, pthread_t, threads);
    bool *started = NEW_ARRAY(c, bool, threads);
    for (int t = 0; t < threads; t++) {
        slice[t] = (Slice){.g = g,
                           .options = o,
                           .first = (int)((int64_t)o->sample_count * t / threads),
                           .last = (int)((int64_t)o->sample_count * (t + 1) / threads),
                           .total = g->value_count,
                           .c = c_new(),
                           .whole = c,
                           .tells = t == 0,
                           .wanted = wanted};
        slice[t].seen = NEW_ARRAY(slice[t].c, Observed *, g->value_count);
        slice_patches(&slice[t], c, t == 0, patch_floats(g));
        if (t > 0)
            started[t] = pthread_create(&thread[t], NULL, slice_thread, &slice[t]) == 0;
    }
    for (int t = 0; t < threads; t++)
        if (!started[t])
            slice_thread(&slice[t]);
    for (int t = 0; t < threads; t++) {
        if (started[t])
            pthread_join(thread[t], NULL);
        merge_slice(c, &slice[t]);
        merge_patches(&slice[t]);
        c_free(slice[t].c);
    }
}

void calibration_check_finite(C *c, Graph *g) {
    for (Node *n = g->first; n; n = n->next)
        for (int k = 0; k < n->out_count; k++) {
            const Observed *o = n->out[k]->observed;
            if (!o || o->not_finite == 0 || n->float_kept) /* floats can hold them */
                continue;
            diag_error(c, DIAG_MODEL, &n->loc,
                       "%lld of %lld numbers that this computes from the calibration data are "
                       "infinite or not a number",
                       (long long)o->not_finite, (long long)o->count);
            return;
        }
}

static bool *wanted_values(C *c, Graph *g, bool *any) {
    bool *wanted = NEW_ARRAY(c, bool, g->value_count);
    *any = false;
    bool *state = NEW_ARRAY(c, bool, g->value_count);
    for (int i = 0; i < g->state_count; i++)
        state[g->state[i].before->id] = true;
    for (int i = 0; i < g->value_count; i++) {
        const Value *v = g->value[i];
        bool varies = v->def || v->role == ROLE_INPUT || state[i];
        wanted[i] = varies && dtype_is_float(v->type.dtype) && !v->grid;
        *any = *any || wanted[i];
    }
    return wanted;
}

static bool any_pinned(const Graph *g) {
    for (int i = 0; i < g->value_count; i++)
        if (g->value[i]->grid && g->value[i]->grid->pinned)
            return true;
    return false;
}

/* A model without inputs computes the same in every run. */
static bool reads_nothing(const Graph *g) {
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE)
            return false;
    return g->state_count == 0;
}

/* All ranges then come from one number, which data from the field will not keep to. */
static void warn_of_zeros(C *c, const Graph *g) {
    for (int i = 0; i < g->input_count; i++) {
        const Value *v = g->input[i].kind == ARG_VALUE ? g->input[i].u.value : NULL;
        const Observed *o = v ? v->observed : NULL;
        if (o && o->count > 0 && o->min == 0 && o->max == 0 && v->user_count > 0)
            diag_warning(c, NULL,
                         "input %s is zero in all calibration samples: what other numbers lead to "
                         "may be far beyond the ranges",
                         v->name);
    }
}

void pass_calibrate(C *c, Graph *g, const Options *o) {
    graph_index(g);
    bool any;
    const bool *wanted = wanted_values(c, g, &any);
    if (!any)
        return;
    if (o->sample_count == 0 && any_pinned(g))
        return; /* quantize says which value still wants data */
    Options once = *o;
    Array **nothing[1] = {NULL};
    if (o->sample_count == 0 && reads_nothing(g)) { /* then one run is all that there is to see */
        once.sample_count = 1;
        once.sample = nothing;
        o = &once;
    }
    if (o->sample_count == 0) {
        keep_missing_float(c, g, o, true);
        report_refusals(c, g);
        diag_error(c, DIAG_MODEL, NULL, "no calibration data: give -c");
        return;
    }
    run_slices(c, g, o, wanted);
    c_stop_if_asked(c);
    warn_of_zeros(c, g);
}
