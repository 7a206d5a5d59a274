/* What a model will need, before there is any data: the passes run on one made-up sample, down to
 * the memory plan. Which kernels run and where buffers lie hardly depends on the numbers, so RAM
 * and flash come out nearly as a real compile has them; accuracy is not to be had this way. */
#include "api/session.h"

#include <math.h>
#include <string.h>

typedef struct {
    const Session *session;
    Estimate *estimate;
    C *caller;
} Job;

/* Floats between -1 and 1, always the same; integers are 0, which every index may be. */
static Array *made_up(C *c, const Type *type, uint32_t *seed) {
    Array *a = array_new(c, type->dtype, type->rank, type->dim);
    for (int64_t i = 0, n = dtype_is_float(type->dtype) ? array_count(a) : 0; i < n; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        array_set(a, i, (double)(*seed >> 8) / (1 << 23) - 1);
    }
    return a;
}

static void make_up_samples(C *c, Session *s, const Graph *g) {
    uint32_t seed = 1;
    Array **sample = NEW_ARRAY(c, Array *, g->input_count + 1);
    for (int k = 0; k < g->input_count; k++)
        if (g->input[k].kind == ARG_VALUE)
            sample[k] = made_up(c, &g->input[k].u.value->type, &seed);
    s->compile.sample = NEW_ARRAY(c, Array **, 1);
    s->compile.sample[0] = sample;
    s->compile.sample_count = 1;
}

static void take_nodes(C *c, const Graph *g, Estimate *e) {
    e->node_count = g->archive_count;
    e->node = NEW_ARRAY(c, EstimatedNode, g->archive_count);
    for (int i = 0; i < g->archive_count; i++) {
        const ArchiveNode *a = &g->archive[i];
        e->node[i].numeric = c_strdup(c, a->numeric);
        e->node[i].why = a->reason ? c_strdup(c, a->reason) : NULL;
        e->float_nodes += strcmp(a->numeric, "float") == 0;
    }
}

static void estimate_body(C *c, void *user) {
    Job *job = user;
    Session s = *job->session;
    CortenOptions o = *s.o;
    o.allow_float = true; /* what has no integer form is counted as float, not refused */
    s.o = &o;
    session_options(c, &s);
    s.compile.allow_float = true;
    make_up_samples(c, &s, archive_import(c, &o, o.model));
    Graph *g = session_planned(c, &s);
    report_settle(c, g);
    take_nodes(job->caller, g, job->estimate);
    job->estimate->bytes = plan_totals(g);
    job->estimate->has_code = plan_code(c, g, &s.compile, &job->estimate->bytes);
    for (const Call *call = g->first_call; call; call = call->next) {
        job->estimate->macs += call->macs;
        double n = call_instructions(g, call, &s.compile);
        job->estimate->instructions += isnan(n) ? 0 : n;
        job->estimate->unknown_calls += isnan(n);
    }
    job->estimate->calls = g->call_count;
}

Estimate estimate_needs(C *c, const Session *s) {
    Estimate e = {0};
    C *own = c_new();
    Job job = {s, &e, c};
    own->progress = c->progress;
    own->progress_user = c->progress_user;
    if (c_try(own, estimate_body, &job) != 0)
        for (const Diag *d = own->first_diag; d && !e.why_not; d = d->next)
            if (!d->warning)
                e.why_not = c_strdup(c, d->message);
    c_free(own);
    return e;
}
