/* Which calls run in strips (strips.c), how tall these are and which way they go: where that lowers
 * the largest sum of bytes that live at once. */
#include "lower/memory.h"

#include <string.h>

enum { MOST_STRIPS = 32 };

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

/* The graph's strips, with buffers as they have them, or not; on: and the bound under them. */
static void set_strips(Plan *p, const Strip *strip, int count, bool on) {
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

static void strip_push(Plan *p, const Strip *chain) {
    p->g->strip[p->g->strip_count++] = *chain;
}

/* The most that lives at once while the chain runs, with it in place. */
static int64_t peak_with(Plan *p, Strip *chain) {
    strip_measure(chain);
    set_rings(chain, true);
    strip_push(p, chain);
    plan_slots(p);
    int64_t peak = arena_live(p, chain->first->index + 1);
    p->g->strip_count--;
    set_rings(chain, false);
    return peak;
}

static Call *call_at(const Graph *g, int index) {
    Call *call = g->first_call;
    while (call && call->index < index)
        call = call->next;
    return call;
}

static const int heights[] = {256, 64, 16, 8, 4, 2, 1}; /* of a step, in rows of the last output */

/* A row at a time costs kernels that work on pairs of pixels or keep lines a fifth and more: only
 * who asks for memory by --ram gets it. */
static bool worth_cutting(const Plan *p, const Strip *chain, int height) {
    Strip strip = *chain;
    strip.rows = height;
    return 2 * height <= chain->row[chain->call_count - 1].out_h &&
           (height > 1 || p->options->ram_limit > 0) && strip_has_rows(&strip);
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
            for (size_t h = 0; h < COUNT_OF(heights); h++) {
                chain.rows = heights[h];
                int64_t bytes = worth_cutting(p, &chain, heights[h]) ? peak_with(p, &chain) : *best;
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
    for (size_t h = 0; heights[h] > strip.rows; h++) {
        Strip tall = strip;
        tall.rows = heights[h];
        if (worth_cutting(p, &tall, heights[h]) && peak_with(p, &tall) <= p->least)
            strip.rows = heights[h]; /* ends the loop: heights fall */
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

/* Strips whose outputs take over their inputs' memory one after the other go down and up in turn:
 * all of them together then need one distance. */
static void choose_directions(Plan *p) {
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

/* Takes strips while each lowers the peak by a twentieth at least (they cost calls) and the limit
 * that the user gave is not kept. */
static void take_strips(Plan *p, int shortest, int64_t enough) {
    while (p->g->strip_count < MOST_STRIPS && p->bound > enough) {
        int64_t best = p->bound - p->bound / 20;
        Strip chain;
        if (!best_chain(p, shortest, &best, &chain))
            break;
        strip_push(p, &chain);
        set_strips(p, p->g->strip, p->g->strip_count, true);
    }
}

/* As few strips as the limit or the bound permits, as tall as it permits; then a trial of where all
 * comes to lie. */
static void settle_strips(Plan *p, int64_t enough) {
    p->least = p->bound > enough ? p->bound : enough;
    for (int i = p->g->strip_count - 1; i >= 0; i--)
        relax(p, i);
    choose_directions(p);
    plan_slots(p);
    arena_place(p);
}

/* A call alone can run in strips too: its output then follows its input. Such strips may stand in
 * the way of chains that save more, and distances that differ along a memory's way down and up
 * leave gaps, so both ways are gone: chains first, or whatever is best if it fits without large
 * gaps. */
void strips_choose(Plan *p) {
    Graph *g = p->g;
    int64_t enough = p->options->ram_limit > 0
                         ? p->options->ram_limit - g->state_bytes - g->input_bytes - g->output_bytes
                         : 0;
    Strip *chains = NEW_ARRAY(p->c, Strip, MOST_STRIPS + 1);
    g->strip = NEW_ARRAY(p->c, Strip, MOST_STRIPS + 1);
    set_strips(p, chains, 0, true);
    take_strips(p, 2, enough);
    take_strips(p, 1, enough);
    settle_strips(p, enough);
    int count = g->strip_count;
    int64_t bytes = p->bytes;
    memcpy(chains, g->strip, sizeof *chains * (size_t)count);
    set_strips(p, g->strip, count, false);
    set_strips(p, chains, 0, true);
    take_strips(p, 1, enough);
    settle_strips(p, enough);
    if (p->bytes >= bytes || p->bytes > p->bound + p->bound / 100) {
        set_strips(p, g->strip, g->strip_count, false);
        set_strips(p, chains, count, true);
    }
    for (int i = 0; i < g->strip_count; i++)
        strip_make_items(&g->strip[i]);
}
