/* In which order the calls run, and which operands of a cat their producers write into it in place,
 * so that their copies vanish: what leads to the smallest arena, or by --ram to the cheapest plan
 * that fits. Each arrangement is planned as a whole, strips included, from what lowering made. */
#include "lower/memory.h"

#include <string.h>

typedef struct { /* a copy of all of a value to its place in another: what it may write at once */
    Call *copy;
    Buffer *part, *whole;
    int64_t at;
} Join;

typedef struct {
    Plan *p;
    int call_count;
    Call **given;   /* as lowered */
    CallRef **ref;  /* likewise, by call */
    Buffer **value; /* buffers and offsets of the values, likewise */
    int64_t *offset;
    int join_count;
    Join *join;
    bool *joined;          /* by join */
    const Join **redirect; /* by buffer: the join that makes it a part of another */
} Arranger;

typedef enum { JOIN_NONE, JOIN_WHERE_NO_MORE_LIVES, JOIN_ALL, JOIN_KINDS } JoinKind;

typedef struct {
    Call *const *order;
    bool *joined;
    PlanFigures figures;
    int64_t enough; /* Plan.enough when it was found */
} Arrangement;

/* ---- joins --------------------------------------------------------------------------------- */

static bool is_boundary(const Graph *g, const Buffer *b) {
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE && g->input[i].u.value->buffer == b)
            return true;
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i].kind == ARG_VALUE && g->output[i].u.value->buffer == b)
            return true;
    return false;
}

static bool is_state(const Graph *g, const Buffer *b) {
    for (int i = 0; i < g->state_count; i++)
        if (g->state[i].before->buffer == b)
            return true;
    return false;
}

/* Others than a cat may write over what they have copied. */
static bool is_joined_only(const Arranger *a, const Buffer *whole) {
    for (int i = 0; i < a->call_count; i++)
        for (int r = 0; r < a->given[i]->ref_count; r++)
            if (a->given[i]->ref[r].buffer == whole && a->given[i]->ref[r].writes &&
                !call_joins(a->given[i]))
                return false;
    return true;
}

/* Bytes that follow each other, as they follow each other there. */
static bool copies_densely(const CtnCopyArgs *a) {
    for (int k = 0; k < 7; k++)
        if (a->dim[k] != 1)
            return false;
    return a->in_stride[7] == 1 && a->out_stride[7] == 1;
}

static bool is_join(const Arranger *a, Call *call, Join *j) {
    const Graph *g = a->p->g;
    if (!call_joins(call) || call_ref_named(call, "table"))
        return false;
    const CtnCopyArgs *args = call->args;
    const CallRef *in = call_ref_named(call, "input"), *out = call_ref_named(call, "output");
    *j = (Join){call, in->buffer, out->buffer, out->offset};
    return in->offset == 0 && in->buffer->kind == BUFFER_VALUE && in->buffer != out->buffer &&
           copies_densely(args) &&
           (int64_t)args->dim[7] * args->element_size == in->buffer->bytes &&
           out->offset % in->buffer->align == 0 && !is_boundary(g, in->buffer) &&
           !is_state(g, in->buffer) && !is_state(g, out->buffer) && is_joined_only(a, out->buffer);
}

/* A value can lie in one other. */
static void find_joins(Arranger *a) {
    bool *taken = NEW_ARRAY(a->p->c, bool, a->p->g->buffer_count + 1);
    a->join = NEW_ARRAY(a->p->c, Join, a->call_count + 1);
    for (int i = 0; i < a->call_count; i++) {
        Join *j = &a->join[a->join_count];
        if (!is_join(a, a->given[i], j) || taken[j->part->id])
            continue;
        taken[j->part->id] = true;
        a->join_count++;
    }
    a->joined = NEW_ARRAY(a->p->c, bool, a->join_count + 1);
}

/* ---- taking an arrangement ----------------------------------------------------------------- */

static Arranger *arranger_new(Plan *p) {
    Arranger *a = NEW(p->c, Arranger);
    Graph *g = p->g;
    *a = (Arranger){.p = p, .call_count = g->call_count};
    a->given = NEW_ARRAY(p->c, Call *, g->call_count + 1);
    a->ref = NEW_ARRAY(p->c, CallRef *, g->call_count + 1);
    a->value = NEW_ARRAY(p->c, Buffer *, g->value_count + 1);
    a->offset = NEW_ARRAY(p->c, int64_t, g->value_count + 1);
    a->redirect = NEW_ARRAY(p->c, const Join *, g->buffer_count + 1);
    for (Call *call = g->first_call; call; call = call->next) {
        a->given[call->index] = call;
        a->ref[call->index] =
            c_memdup(p->c, call->ref, sizeof *call->ref * (size_t)call->ref_count);
    }
    for (int i = 0; i < g->value_count; i++) {
        a->value[i] = g->value[i]->buffer;
        a->offset[i] = g->value[i]->buffer_offset;
    }
    find_joins(a);
    return a;
}

static void redirect(const Arranger *a, Buffer **buffer, int64_t *offset) {
    while (*buffer && a->redirect[(*buffer)->id]) {
        const Join *j = a->redirect[(*buffer)->id];
        *offset += j->at;
        *buffer = j->whole;
    }
}

static void link_calls(Arranger *a, Call *const *order) {
    Graph *g = a->p->g;
    g->first_call = g->last_call = NULL;
    g->call_count = 0;
    for (int i = 0; i < a->call_count; i++) {
        bool vanishes = false;
        for (int k = 0; k < a->join_count; k++)
            vanishes |= a->joined[k] && a->join[k].copy == order[i];
        if (vanishes)
            continue;
        order[i]->index = g->call_count++;
        order[i]->next = NULL;
        *(g->last_call ? &g->last_call->next : &g->first_call) = order[i];
        g->last_call = order[i];
    }
    a->p->end = g->call_count + 1;
}

/* The graph's calls in this order, with the joins of a->joined, and without strips. */
static void arrange(Arranger *a, Call *const *order) {
    Graph *g = a->p->g;
    strips_drop(a->p);
    memset((void *)a->redirect, 0, sizeof *a->redirect * (size_t)g->buffer_count);
    for (int k = 0; k < a->join_count; k++)
        if (a->joined[k])
            a->redirect[a->join[k].part->id] = &a->join[k];
    for (int i = 0; i < a->call_count; i++) {
        Call *call = a->given[i];
        memcpy(call->ref, a->ref[i], sizeof *call->ref * (size_t)call->ref_count);
        for (int r = 0; r < call->ref_count; r++)
            redirect(a, &call->ref[r].buffer, &call->ref[r].offset);
    }
    for (int i = 0; i < g->value_count; i++) {
        g->value[i]->buffer = a->value[i];
        g->value[i]->buffer_offset = a->offset[i];
        redirect(a, &g->value[i]->buffer, &g->value[i]->buffer_offset);
    }
    link_calls(a, order);
    plan_slots(a->p);
}

/* ---- which joins --------------------------------------------------------------------------- */

/* The most that lives while either buffer does. */
static int64_t live_around(const Plan *p, const Buffer *a, const Buffer *b) {
    int first = a->first_call < b->first_call ? a->first_call : b->first_call;
    int last = a->last_call > b->last_call ? a->last_call : b->last_call;
    int64_t most = 0;
    for (int moment = first; moment <= last; moment++) {
        int64_t live = arena_live(p, moment);
        most = live > most ? live : most;
    }
    return most;
}

/* A cat lives from its first part on: kept where at no time of it more lives than without. */
static void join_where_no_more_lives(Arranger *a, Call *const *order) {
    for (int k = 0; k < a->join_count; k++) {
        Buffer *whole = a->join[k].whole;
        int64_t at = 0;
        redirect(a, &whole, &at);
        int64_t before = live_around(a->p, a->join[k].part, whole);
        a->joined[k] = true;
        arrange(a, order);
        if (live_around(a->p, whole, whole) <= before)
            continue;
        a->joined[k] = false;
        arrange(a, order);
    }
}

static void choose_joins(Arranger *a, Call *const *order, JoinKind kind) {
    for (int k = 0; k < a->join_count; k++)
        a->joined[k] = kind == JOIN_ALL;
    arrange(a, order);
    if (kind == JOIN_WHERE_NO_MORE_LIVES)
        join_where_no_more_lives(a, order);
}

/* ---- the best ------------------------------------------------------------------------------ */

static void try_order(Arranger *a, Call *const *order, Arrangement *best) {
    for (int kind = JOIN_NONE; kind < (a->join_count > 0 ? JOIN_KINDS : JOIN_NONE + 1); kind++) {
        choose_joins(a, order, kind);
        Arrangement now = {.order = order, .enough = a->p->enough};
        strips_choose(a->p);
        now.figures = plan_figures(a->p);
        if (best->order && !plan_is_better(now.figures, best->figures, now.enough))
            continue;
        now.joined = c_memdup(a->p->c, a->joined, (size_t)a->join_count + 1);
        *best = now;
    }
}

static Arrangement best_within(Arranger *a, Call *const *sought, int64_t enough) {
    Arrangement best = {0};
    a->p->enough = enough;
    try_order(a, a->given, &best);
    if (sought)
        try_order(a, sought, &best);
    return best;
}

/* Nothing fits. Over several memories there may be a plan that takes less than the best one found,
 * if that much is allowed: whoever asks for too little is told what is needed. */
static Arrangement least_of_all(Arranger *a, Call *const *sought, Arrangement best) {
    enum { TRIES = 8 };
    for (int tries = 0; tries < TRIES; tries++) {
        Arrangement less = best_within(a, sought, best.figures.bytes - REGION_ALIGN);
        if (less.figures.bytes >= best.figures.bytes)
            break;
        best = less;
    }
    return best;
}

void arrange_calls(Plan *p) {
    Arranger *a = arranger_new(p);
    plan_slots(p);
    arena_bound(p);
    Call **sought = order_sought(p);
    Arrangement best = best_within(a, sought, p->enough);
    if (p->enough > 0 && best.figures.bytes > p->enough && p->options->memory_count > 0)
        best = least_of_all(a, sought, best);
    memcpy(a->joined, best.joined, (size_t)a->join_count + 1);
    p->enough = best.enough;
    arrange(a, best.order);
    strips_choose(p);
}
