/* Which calls run in strips (strips.c), how tall these are and which way they go: where that lowers
 * the largest sum of bytes that live at once. What is cheapest for --ram: strips_cheapest.c. */
#include "lower/memory.h"

#include <math.h>
#include <string.h>

enum { FEW_STRIPS = 32 }; /* for the smallest plan */

/* By how much strips may raise the estimate of instructions where nothing was said of memory. They
 * are to cost a twentieth at most: less what estimates are out by, which is more where depthwise
 * kernels expand the lines of a few rows again and again, and some hundred for calls of few rows.
 */
#define MOST_EXTRA 0.045
#define MOST_EXTRA_SCALAR 0.035
enum { EXTRA_UNSEEN = 500 };

static int least(int a, int b) {
    return a < b ? a : b;
}

static int most(int a, int b) {
    return a > b ? a : b;
}

static void set_rings(Strip *chain, bool on) {
    for (int k = 0; k + 1 < chain->call_count; k++) {
        Buffer *b = chain->row[k].output->buffer;
        b->bytes = on ? chain->ring[k] : chain->row[k].out_row * chain->row[k].out_h;
        b->is_ring = on;
    }
}

void strips_set(Plan *p, const Strip *strip, int count, bool on) {
    Graph *g = p->g;
    if (strip != g->strip)
        memcpy(g->strip, strip, sizeof *strip * (size_t)count);
    g->strip_count = count;
    for (int i = 0; i < count; i++) {
        strip_measure(&g->strip[i]);
        set_rings(&g->strip[i], on);
    }
    if (!on)
        return;
    plan_slots(p);
    arena_bound(p);
}

void strips_drop(Plan *p) {
    strips_set(p, p->g->strip, p->g->strip_count, false);
    p->g->strip_count = 0;
}

void strip_push(Plan *p, const Strip *chain) {
    p->g->strip[p->g->strip_count++] = *chain;
}

/* Bytes of a buffer when the chain runs, whose own values are rings. */
static int64_t bytes_in(const Strip *chain, const Buffer *b) {
    for (int k = 0; k + 1 < chain->call_count; k++)
        if (chain->row[k].output->buffer == b)
            return chain->ring[k];
    return b->bytes;
}

/* What the chain touches, all of it during all of its calls. */
static int64_t live_in(const Plan *p, const Strip *chain) {
    int64_t live = 0, scratch = 0;
    for (int k = 0; k < chain->call_count; k++)
        for (int r = 0; r < chain->call[k]->ref_count; r++) {
            const Buffer *b = chain->call[k]->ref[r].buffer;
            int slot = b ? p->slot_of[b->id] : -1;
            if (slot < 0 || p->touched[slot])
                continue;
            p->touched[slot] = true;
            if (b->kind != BUFFER_SCRATCH)
                live += bytes_in(chain, b);
            else if (b->bytes > scratch)
                scratch = b->bytes;
        }
    return live + scratch;
}

/* What else lives meanwhile; nothing is touched afterwards. */
static int64_t live_beside(const Plan *p, int moment) {
    int64_t live = 0;
    for (int i = 0; i < p->slot_count; i++) {
        const Slot *s = &p->slot[i];
        live += !p->touched[i] && moment >= s->first && moment <= s->last ? s->bytes : 0;
        p->touched[i] = false;
    }
    return live;
}

int64_t strip_peak(const Plan *p, Strip *chain) {
    int moment = chain->first->index + 1;
    int64_t distance;
    strip_measure(chain);
    int64_t live = live_in(p, chain) + live_beside(p, moment);
    const CallRef *output = chain->row[chain->call_count - 1].output;
    const Buffer *out = output->buffer;
    if (p->slot_of[out->id] < 0 || output->offset != 0 || out->first_call < moment)
        return live;
    const Buffer *in = strip_overlap(chain, &distance);
    return in ? live - bytes_shared(out->bytes, in->bytes, distance) : live;
}

Call *call_at(const Graph *g, int index) {
    Call *call = g->first_call;
    while (call && call->index < index)
        call = call->next;
    return call;
}

const int strip_heights[STRIP_HEIGHTS] = {256, 128, 64, 32, 16, 12, 8, 6, 4, 3, 2, 1};

bool strip_worth_cutting(const Plan *p, const Strip *chain, int height) {
    Strip strip = *chain;
    strip.rows = height;
    return 2 * height <= chain->row[chain->call_count - 1].out_h && height >= p->lowest_step &&
           strip_has_rows(&strip);
}

/* Of all chains around the peak of `shortest` calls or more: the one under which the least lives at
 * once, among equals the one with the tallest strips, then the shortest. */
static bool best_chain(Plan *p, int shortest, int64_t *best, Strip *out) {
    bool found = false;
    int peak = p->peak - 1, limit = p->g->call_count;
    for (int first = most(0, peak - STRIP_CALLS + 1); first <= least(peak, limit - 1); first++)
        for (int count = most(shortest, peak - first + 1); count <= STRIP_CALLS; count++) {
            Strip chain;
            if (first + count > limit || !strip_begin(p->g, call_at(p->g, first), count, &chain))
                break; /* a longer one would hold the same hindrance */
            for (size_t h = 0; h < STRIP_HEIGHTS; h++) {
                chain.rows = strip_heights[h];
                int64_t bytes = strip_worth_cutting(p, &chain, strip_heights[h])
                                    ? strip_peak(p, &chain)
                                    : *best;
                if (bytes >= *best)
                    continue;
                *best = bytes;
                *out = chain;
                found = true;
            }
        }
    return found;
}

/* Takes strip i out, or makes its steps as tall as the bound of all permits: each step costs. */
static void relax(Plan *p, int i) {
    Graph *g = p->g;
    Strip strip = g->strip[i];
    set_rings(&strip, false);
    g->strip[i] = g->strip[--g->strip_count];
    plan_slots(p);
    arena_bound(p);
    int64_t without = p->bound;
    for (size_t h = 0; strip_heights[h] > strip.rows; h++) {
        Strip tall = strip;
        tall.rows = strip_heights[h];
        if (strip_worth_cutting(p, &tall, strip_heights[h]) && strip_peak(p, &tall) <= p->least)
            strip.rows = strip_heights[h]; /* ends the loop: heights fall */
    }
    if (without <= p->least)
        return;
    strip_measure(&strip);
    set_rings(&strip, true);
    strip_push(p, &strip);
    Strip last = g->strip[g->strip_count - 1]; /* keep its place in the list */
    g->strip[g->strip_count - 1] = g->strip[i];
    g->strip[i] = last;
}

/* ---- directions ---------------------------------------------------------------------------- */

static Strip *strip_at(Graph *g, int first) {
    for (int i = 0; i < g->strip_count; i++)
        if (g->strip[i].first->index == first)
            return &g->strip[i];
    return NULL;
}

/* Which way a value lies from where the values before it in the same memory lay. */
typedef enum { STAYS, WENT_DOWN, WENT_UP } Drift;

static Drift drift_of(const Buffer *b) {
    while (b->over && b->over_distance == 0)
        b = b->over;
    return !b->over ? STAYS : b->over_upward ? WENT_UP : WENT_DOWN;
}

/* Turns a strip; back again if that asks for more memory. */
static void try_upward(Plan *p, Strip *s) {
    int64_t before = p->bound;
    for (int tries = 0; tries < 2; tries++) {
        strip_turn(s);
        strip_measure(s);
        set_rings(s, true);
        plan_slots(p);
        arena_bound(p);
        if (p->bound <= before)
            return;
    }
}

void strips_alternate(Plan *p) {
    Graph *g = p->g;
    plan_slots(p);
    arena_bound(p);
    for (const Call *call = g->first_call; call; call = call->next) {
        Strip *s = strip_at(g, call->index);
        const Buffer *in = s ? s->row[s->call_count - 1].output->buffer->over : NULL;
        if (in && drift_of(in) == WENT_DOWN)
            try_upward(p, s);
    }
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Takes strips while each lowers the peak by a twentieth at least: they cost calls. */
static void take_strips(Plan *p, int shortest) {
    while (p->g->strip_count < FEW_STRIPS) {
        int64_t best = p->bound - p->bound / 20;
        Strip chain;
        if (!best_chain(p, shortest, &best, &chain))
            break;
        strip_push(p, &chain);
        strips_set(p, p->g->strip, p->g->strip_count, true);
    }
}

/* As few strips as the bound permits, as tall as it permits; then a trial of where all comes to
 * lie.
 */
static void settle_strips(Plan *p) {
    p->least = p->bound;
    for (int i = p->g->strip_count - 1; i >= 0; i--)
        relax(p, i);
    strips_alternate(p);
    plan_slots(p);
    arena_place(p);
}

typedef struct { /* strips to come back to */
    Strip *strip;
    int count;
    int64_t bytes; /* Plan.bytes under them */
    PlanFigures figures;
} Chosen;

/* What the plan has now; then it has none. */
static Chosen set_aside(Plan *p) {
    Chosen now = {.count = p->g->strip_count, .bytes = p->bytes, .figures = plan_figures(p)};
    now.strip = c_memdup(p->c, p->g->strip, sizeof *now.strip * (size_t)now.count);
    strips_drop(p);
    return now;
}

static void take_again(Plan *p, const Chosen *c) {
    strips_set(p, c->strip, c->count, true);
    p->bytes = c->bytes;
}

/* A call alone can run in strips too: its output then follows its input. Such strips may stand in
 * the way of chains that save more, and distances that differ along a memory's way down and up
 * leave gaps, so both ways are gone: chains first, or whatever is best if it fits without large
 * gaps. */
static void choose_smallest(Plan *p, int lowest_step) {
    p->lowest_step = lowest_step;
    strips_set(p, p->g->strip, 0, true);
    take_strips(p, 2);
    take_strips(p, 1);
    settle_strips(p);
    Chosen chains = set_aside(p);
    strips_set(p, p->g->strip, 0, true);
    take_strips(p, 1);
    settle_strips(p);
    if (p->bytes >= chains.bytes || p->bytes > p->bound + p->bound / 100) {
        strips_drop(p);
        take_again(p, &chains);
    }
}

PlanFigures plan_figures(Plan *p) {
    PlanFigures f = {p->enough > 0 ? regions_arena_bytes(p) : align_up(p->bytes, REGION_ALIGN), 0};
    for (int i = 0; i < p->g->strip_count; i++) {
        Strip *s = &p->g->strip[i];
        strip_make_items(s);
        strip_fill_steps(s, NEW_ARRAY(p->c, int32_t, strip_number_count(s)));
    }
    for (const Call *call = p->g->first_call; call; call = call->next)
        f.instructions += plan_call_cost(p, call);
    return f;
}

bool plan_is_better(PlanFigures a, PlanFigures b, int64_t enough) {
    bool fits = a.bytes <= enough;
    if (fits != (b.bytes <= enough))
        return fits;
    if (fits && a.instructions != b.instructions)
        return a.instructions < b.instructions;
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.instructions < b.instructions;
}

static void choose_better(Plan *p, Chosen *best, int64_t enough) {
    Chosen now = set_aside(p);
    if (plan_is_better(now.figures, best->figures, enough))
        *best = now;
}

/* The strips under which the least lives, whatever they cost: whoever asks for too little is told
 * what is needed. */
static void choose_least(Plan *p, Chosen *best, int64_t enough) {
    Cheapest *cheapest = cheapest_new(p, best->bytes, enough);
    for (int turned = 0; turned < 2; turned++)
        if (cheapest_take_within(cheapest, INFINITY, turned))
            choose_better(p, best, enough);
}

/* The cheapest, beside the smallest. A row at a time costs kernels that work on pairs of pixels or
 * keep lines a fifth and more: only where memory was asked for. */
static void choose_for_limit(Plan *p, int64_t enough) {
    choose_smallest(p, 2);
    Chosen best = set_aside(p);
    choose_smallest(p, 1);
    choose_better(p, &best, enough);
    Cheapest *cheapest =
        cheapest_new(p, enough, enough / 2); /* offsets hardly take twice what lives */
    for (int turned = 0; turned < 2; turned++)
        if (cheapest_take_fitting(cheapest, turned))
            choose_better(p, &best, enough);
    if (best.figures.bytes > enough)
        choose_least(p, &best, enough);
    take_again(p, &best);
}

static double budget_for(const Plan *p, double whole) {
    bool scalar = isa_rank(p->options->isa) < isa_rank("dsp");
    double extra = (scalar ? MOST_EXTRA_SCALAR : MOST_EXTRA) * whole - EXTRA_UNSEEN;
    return whole + fmax(extra, 0);
}

/* Takes the smaller one, if it keeps the budget. */
static void choose_within(Plan *p, Chosen *best, double budget) {
    Chosen now = set_aside(p);
    if (now.figures.instructions <= budget && now.bytes < best->bytes)
        *best = now;
}

/* The smallest plan, if it keeps the budget of instructions; else the smallest found that does:
 * with taller steps, or of the strips that are cheapest for how much lives. */
static void choose_in_budget(Plan *p) {
    strips_set(p, p->g->strip, 0, true);
    arena_place(p);
    Chosen best = set_aside(p);
    double budget = budget_for(p, best.figures.instructions);
    int64_t most = best.bytes;
    choose_smallest(p, 2);
    Chosen smallest = set_aside(p);
    if (smallest.figures.instructions <= budget) {
        take_again(p, &smallest);
        return;
    }
    for (int height = 4; height <= strip_heights[0]; height *= 2) {
        choose_smallest(p, height);
        choose_within(p, &best, budget);
    }
    p->lowest_step = 2;
    Cheapest *cheapest = cheapest_new(p, most - 1, smallest.bytes);
    for (int turned = 0; turned < 2; turned++)
        if (cheapest_take_within(cheapest, budget, turned))
            choose_within(p, &best, budget);
    take_again(p, &best);
}

void strips_choose(Plan *p) {
    int64_t enough = p->enough;
    if (!p->g->strip)
        p->g->strip = NEW_ARRAY(p->c, Strip, MOST_STRIPS + 1);
    if (enough > 0)
        choose_for_limit(p, enough);
    else
        choose_in_budget(p);
    for (int i = 0; i < p->g->strip_count; i++)
        strip_make_items(&p->g->strip[i]);
}
