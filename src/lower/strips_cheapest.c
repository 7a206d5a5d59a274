/* The cheapest strips that fit in so much memory, or the smallest that cost so little. While a call
 * or a strip runs, what lives depends on it alone: so each chain and height has a peak and a cost
 * by itself, and of all ways to cut the calls into single calls and strips whose peaks keep a limit
 * the cheapest is found from the front on. What that limit is to be, where offsets take more than
 * what lives, is found by trying.
 *
 * A limit's cheapest plan does not depend on what memory there is, and lower limits cost as much or
 * more: with more memory a plan is never more expensive. Strips are chosen as if all went downward;
 * then they may be turned, which closes gaps between them and hardly changes what they cost. */
#include "lower/memory.h"

#include <math.h>
#include <string.h>

typedef struct { /* a chain that could be a strip */
    int first, count, rows;
    int64_t peak;
    double cost;
} Option;

struct Cheapest {
    Plan *p;
    int64_t enough, close; /* limits from the one down to the other are tried */
    int count;
    int64_t *peak; /* of calls that run as a whole */
    double *cost;
    int option_count, capacity;
    Option *option;
    int *options_from; /* by call: the first option that begins there or later */
    double *least;     /* by call: the cheapest way to have run all before it */
    int *via;          /* the option that ends before it, -1: a single call */
    int room;
    int32_t *value; /* numbers of a strip's steps */
};

/* ---- what there is to choose from ---------------------------------------------------------- */

static double chain_cost(Cheapest *s, Strip *chain) {
    Graph *g = s->p->g;
    strip_measure(chain);
    strip_make_items(chain);
    int64_t numbers = strip_number_count(chain);
    if (numbers > INT32_MAX / 2)
        return INFINITY;
    s->value = c_grow(s->p->c, s->value, 0, &s->room, (int)numbers, sizeof *s->value);
    strip_fill_steps(chain, s->value);
    strip_push(s->p, chain);
    double cost = 0;
    for (int k = 0; k < chain->call_count; k++)
        cost += plan_call_cost(s->p, chain->call[k]);
    g->strip_count--;
    return cost;
}

static void add_options(Cheapest *s, Strip *chain, int first) {
    for (int h = 0; h < STRIP_HEIGHTS; h++) {
        chain->rows = strip_heights[h];
        if (!strip_worth_cutting(s->p, chain, strip_heights[h]))
            continue;
        int64_t peak = strip_peak(s->p, chain);
        if (peak > s->enough)
            continue;
        s->option = c_grow(s->p->c, s->option, s->option_count, &s->capacity, s->option_count + 1,
                           sizeof *s->option);
        s->option[s->option_count++] =
            (Option){first, chain->call_count, strip_heights[h], peak, chain_cost(s, chain)};
    }
}

/* Chains of calls that all fit as they are save nothing. */
static void find_options(Cheapest *s) {
    Graph *g = s->p->g;
    for (int first = 0; first < s->count; first++) {
        s->options_from[first] = s->option_count;
        bool wanted = false;
        for (int count = 1; count <= STRIP_CALLS && first + count <= s->count; count++) {
            Strip chain;
            if (!strip_begin(g, call_at(g, first), count, &chain))
                break;
            wanted |= s->peak[first + count - 1] > s->close;
            if (wanted)
                add_options(s, &chain, first);
        }
    }
    s->options_from[s->count] = s->option_count;
}

Cheapest *cheapest_new(Plan *p, int64_t enough, int64_t close) {
    C *c = p->c;
    Cheapest *s = NEW(c, Cheapest);
    *s = (Cheapest){.p = p, .enough = enough, .close = close};
    s->count = p->g->call_count;
    s->peak = NEW_ARRAY(c, int64_t, s->count + 1);
    s->cost = NEW_ARRAY(c, double, s->count + 1);
    s->options_from = NEW_ARRAY(c, int, s->count + 1);
    s->least = NEW_ARRAY(c, double, s->count + 1);
    s->via = NEW_ARRAY(c, int, s->count + 1);
    strips_set(p, p->g->strip, 0, true);
    for (const Call *call = p->g->first_call; call; call = call->next) {
        s->peak[call->index] = arena_live(p, call->index + 1);
        s->cost[call->index] = plan_call_cost(p, call);
    }
    find_options(s);
    return s;
}

/* ---- the choice ---------------------------------------------------------------------------- */

static void reach(Cheapest *s, int call, double cost, int via) {
    if (cost >= s->least[call])
        return;
    s->least[call] = cost;
    s->via[call] = via;
}

/* The cheapest way that keeps the limit; false: there is none. */
static bool solve(Cheapest *s, int64_t limit) {
    for (int i = 1; i <= s->count; i++)
        s->least[i] = INFINITY;
    s->least[0] = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->peak[i] <= limit)
            reach(s, i + 1, s->least[i] + s->cost[i], -1);
        for (int k = s->options_from[i]; k < s->options_from[i + 1]; k++)
            if (s->option[k].peak <= limit)
                reach(s, i + s->option[k].count, s->least[i] + s->option[k].cost, k);
    }
    return isfinite(s->least[s->count]);
}

/* Takes what solve found, and places it; returns its largest peak. */
static int64_t take(Cheapest *s, bool turned) {
    Graph *g = s->p->g;
    int64_t most = 0;
    strips_drop(s->p);
    for (int i = s->count; i > 0;) {
        int k = s->via[i], first = k < 0 ? i - 1 : s->option[k].first;
        int64_t peak = k < 0 ? s->peak[first] : s->option[k].peak;
        most = peak > most ? peak : most;
        Strip chain;
        if (k >= 0 && g->strip_count < MOST_STRIPS &&
            strip_begin(g, call_at(g, first), s->option[k].count, &chain)) {
            chain.rows = s->option[k].rows;
            strip_push(s->p, &chain);
        }
        i = first;
    }
    strips_set(s->p, g->strip, g->strip_count, true);
    if (turned)
        strips_alternate(s->p);
    arena_place(s->p);
    return most;
}

bool cheapest_take_fitting(Cheapest *s, bool turned) {
    for (int64_t limit = s->enough; limit >= s->close && solve(s, limit);) {
        limit = take(s, turned) - 1;
        if (regions_arena_bytes(s->p) <= s->enough)
            return true;
    }
    strips_drop(s->p);
    return false;
}

bool cheapest_take_within(Cheapest *s, double budget, bool turned) {
    int64_t low = s->close, high = s->enough; /* a limit that may do, and one that surely will */
    while (low < high) {
        int64_t limit = low + (high - low) / 2;
        if (solve(s, limit) && s->least[s->count] <= budget)
            high = limit;
        else
            low = limit + 1;
    }
    if (!solve(s, high) || s->least[s->count] > budget)
        return false;
    take(s, turned);
    return true;
}
