/* --accuracy-budget: which values get 16 bits so that every output reaches the asked SQNR over the
 * calibration samples. What each rounding costs by itself (quant/sensitivity.c) gives an order:
 * most decibels for fewest bytes and instructions first, what the application sees at a
 * higher price. The shortest part of that order that meets the budget is sought, each try compiled
 * from behind calibration and measured bit for bit; then what was not needed is taken out again. */
#include "api/session.h"
#include "quant/quant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    C *c;
    Session *s;
    const Graph *calibrated, *reference;
    CostList costs;
    int count;                 /* candidates */
    int *order;                /* indices of costs: the best first */
    bool *taken;               /* by place in the order */
    double *db;                /* [output] of the last try */
    double best;               /* the worst output's, of the best try */
    bool float_wanted, failed; /* some try could not be compiled */
    int tries;
} Budget;

/* ---- one try ------------------------------------------------------------------------------- */

static const Raised *raised_list(C *c, const Budget *b, int *count) {
    int capacity = 0;
    Raised *list = NULL;
    *count = 0;
    for (int i = 0; i < b->count; i++) {
        const Cost *cost = &b->costs.item[b->order[i]];
        for (int k = 0; b->taken[i] && k < cost->value_count; k++) {
            list = c_grow(c, list, *count, &capacity, *count + 1, sizeof *list);
            list[(*count)++] = (Raised){c_strdup(c, cost->value[k]->name)};
        }
    }
    return list;
}

static Graph *passes_from_precision(C *c, Budget *b, const char *last) {
    Graph *g = graph_copy(c, b->calibrated);
    PipelineControl control = {.from = g->first ? "precision" : NULL, .stop_after = last};
    pipeline_run(c, g, &b->s->compile, &control);
    b->float_wanted |= g->float_wanted_count > 0;
    return g;
}

static void measure_try(C *c, Budget *b, Graph *g) {
    PipelineControl control = {.from = "layout", .stop_after = "lower"};
    pipeline_run(c, g, &b->s->compile, &control);
    b->float_wanted |= g->float_wanted_count > 0;
    if (b->float_wanted)
        return;
    Graph *reference = graph_copy(c, b->reference); /* a run leaves its state in it */
    const Comparison *k = measure(c, b->s, g, reference);
    if (!k)
        fatal(c, DIAG_MODEL, NULL, "the model is too large for --accuracy-budget");
    double worst = HUGE_VAL;
    for (int i = 0; i < g->output_count; i++) {
        const Noise *n = comparison_output(k, i);
        b->db[i] = n->signal > 0 || n->all.noise > 0 ? noise_db(n) : HUGE_VAL;
        worst = fmin(worst, b->db[i]);
    }
    b->best = fmax(b->best, worst);
}

static void try_body(C *c, void *user) {
    Budget *b = user;
    Options *o = &b->s->compile;
    o->raised = raised_list(c, b, &o->raised_count);
    measure_try(c, b, passes_from_precision(c, b, "quantize"));
}

static bool meets(const Budget *b) {
    for (int i = 0; i < b->calibrated->output_count; i++)
        if (b->db[i] < b->s->compile.accuracy_budget_db)
            return false;
    return true;
}

/* Compiles and measures with what is taken; false if it fails or does not meet the budget. */
static bool try_taken(Budget *b) {
    C *c = c_new();
    b->tries++;
    c_progress(b->c, "meeting the accuracy budget", 1 - 1 / (1 + 0.1 * b->tries));
    bool done = c_try(c, try_body, b) == 0;
    c_free(c);
    b->failed |= !done;
    b->s->compile.raised_count = 0;
    return done && meets(b);
}

static bool try_first(Budget *b, int count) {
    for (int i = 0; i < b->count; i++)
        b->taken[i] = i < count;
    return try_taken(b);
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* The part of the noise that stands against the budget which the cost is, over all outputs that
 * miss it. */
static double part_of_noise(const Budget *b, const Cost *cost) {
    double most = 0;
    for (int k = 0; k < b->costs.output_count; k++) {
        double total = b->costs.signal[k] * pow(10, -b->db[k] / 10);
        if (b->db[k] < b->s->compile.accuracy_budget_db && total > 0)
            most = fmax(most, cost->noise[k] / total);
    }
    return most;
}

typedef struct {
    int index;
    double worth;
} Candidate;

static int compare_worth(const void *x, const void *y) {
    const Candidate *a = x, *b = y;
    return a->worth < b->worth ? 1 : a->worth > b->worth ? -1 : a->index - b->index;
}

/* A byte more weighs as much as so many multiplications with 16 bits. */
#define WORK_OF_BYTE 32.0
/* The type of an input or output is the application's affair too. */
#define BOUNDARY_PRICE 4.0

static void choose_order(Budget *b, C *c) {
    Candidate *all = NEW_ARRAY(c, Candidate, b->costs.count + 1);
    for (int i = 0; i < b->costs.count; i++) {
        const Cost *k = &b->costs.item[i];
        double part = part_of_noise(b, k), price = (double)k->bytes + k->work / WORK_OF_BYTE + 64;
        price *= k->boundary ? BOUNDARY_PRICE : 1;
        bool fixed = k->boundary && b->s->compile.io != IO_AS_QUANTIZED;
        if (!k->node && k->widenable && !k->wide && !fixed && part > 1e-4)
            all[b->count++] = (Candidate){i, part / price};
    }
    qsort(all, (size_t)b->count, sizeof *all, compare_worth);
    b->order = NEW_ARRAY(c, int, b->count + 1);
    b->taken = NEW_ARRAY(c, bool, b->count + 1);
    for (int i = 0; i < b->count; i++)
        b->order[i] = all[i].index;
}

/* Candidates that cannot be compiled alone are left out. */
static void drop_failing(Budget *b) {
    int kept = 0;
    for (int i = 0; i < b->count; i++) {
        int index = b->order[i];
        memset(b->taken, 0, (size_t)b->count * sizeof *b->taken);
        b->taken[i] = true;
        C *c = c_new();
        bool works = c_try(c, try_body, b) == 0;
        c_free(c);
        if (works)
            b->order[kept++] = index;
    }
    b->count = kept;
    b->s->compile.raised_count = 0;
}

/* ---- search -------------------------------------------------------------------------------- */

/* So many candidates should do, if costs add up. */
static int predicted(const Budget *b) {
    double *left = NEW_ARRAY(b->c, double, b->costs.output_count + 1);
    for (int k = 0; k < b->costs.output_count; k++)
        left[k] = b->costs.signal[k] *
                  (pow(10, -b->db[k] / 10) - pow(10, -b->s->compile.accuracy_budget_db / 10));
    for (int i = 0; i < b->count; i++) {
        bool met = true;
        for (int k = 0; k < b->costs.output_count; k++)
            met &= !(left[k] > 0);
        if (met)
            return i;
        for (int k = 0; k < b->costs.output_count; k++)
            left[k] -= b->costs.item[b->order[i]].noise[k];
    }
    return b->count;
}

/* The least count that meets the budget; -1: none. */
static int search(Budget *b) {
    int fails = 0, works = -1, next = predicted(b);
    next = next < 1 ? 1 : next;
    while (works < 0 || works - fails > 1) {
        if (next > b->count)
            return -1;
        if (try_first(b, next))
            works = next;
        else
            fails = next;
        if (works < 0 && fails == b->count)
            return -1;
        int step = fails / 2 > 1 ? fails / 2 : 1;
        next = works >= 0 ? (fails + works) / 2 : fails + step < b->count ? fails + step : b->count;
    }
    return works;
}

/* How many single values are tried without, the dearest first. */
enum { PRUNED = 8 };

static void prune(Budget *b, int works) {
    for (int i = 0; i < b->count; i++)
        b->taken[i] = i < works;
    for (int i = works - 1, tried = 0; i >= 0 && tried < PRUNED; i--, tried++) {
        b->taken[i] = false;
        if (!try_taken(b))
            b->taken[i] = true;
    }
}

/* ---- what is said -------------------------------------------------------------------------- */

static double worst_noise(const Budget *b, const Cost *cost) {
    double most = 0;
    for (int k = 0; k < b->costs.output_count; k++)
        if (b->costs.signal[k] > 0)
            most = fmax(most, cost->noise[k] / b->costs.signal[k]);
    return most;
}

enum { LIMITING = 5 };

/* The largest costs that 16 bits do not take away. */
static void name_limits(C *c, const Budget *b) {
    bool *named = NEW_ARRAY(c, bool, b->costs.count + 1);
    for (int i = 0; i < b->count; i++)
        named[b->order[i]] = true;
    for (int shown = 0; shown < LIMITING; shown++) {
        int worst = -1;
        for (int i = 0; i < b->costs.count; i++)
            if (!named[i] && worst_noise(b, &b->costs.item[i]) > 0 &&
                (worst < 0 ||
                 worst_noise(b, &b->costs.item[i]) > worst_noise(b, &b->costs.item[worst])))
                worst = i;
        if (worst < 0)
            return;
        named[worst] = true;
        const Cost *k = &b->costs.item[worst];
        diag_detail(c, "limited by %s of %s: %.1f dB alone", k->node ? "the weights" : "the values",
                    k->name, -10 * log10(worst_noise(b, k)));
    }
}

static void refuse(C *c, Budget *b) {
    diag_error(c, DIAG_MODEL, &(Loc){.file = b->s->o->model},
               "the accuracy budget of %.1f dB cannot be met: %.1f dB is the best that int16 "
               "values reach",
               b->s->compile.accuracy_budget_db, b->best);
    name_limits(c, b);
}

/* The first try is kept: the costs refer to its graphs. */
static void first_body(C *c, void *user) {
    Budget *b = user;
    Graph *g = passes_from_precision(c, b, "quantize");
    if (b->float_wanted)
        return;
    Graph *calibrated = graph_copy(c, b->calibrated);
    measure_try(c, b, graph_copy(c, g));
    if (!b->float_wanted && !meets(b))
        sensitivity(c, &b->costs, calibrated, g, &b->s->compile);
}

static void raise_values(C *c, Budget *b, C *first) {
    choose_order(b, first);
    double *before = c_memdup(c, b->db, (size_t)b->calibrated->output_count * sizeof *b->db);
    int works = b->count > 0 ? search(b) : -1;
    if (works < 0 && b->failed) {
        int all = b->count;
        drop_failing(b);
        memcpy(b->db, before, (size_t)b->calibrated->output_count * sizeof *b->db);
        works = b->count < all && b->count > 0 ? search(b) : -1;
    }
    if (works < 0) {
        refuse(c, b);
        return;
    }
    prune(b, works);
    b->s->compile.raised = raised_list(c, b, &b->s->compile.raised_count);
}

void budget_meet(C *c, Session *s, const Graph *calibrated, const Graph *reference) {
    Budget b = {.c = c, .s = s, .calibrated = calibrated, .reference = reference};
    b.db = NEW_ARRAY(c, double, calibrated->output_count + 1);
    b.best = -HUGE_VAL;
    C *first = c_new();
    first->progress = c->progress;
    first->progress_user = c->progress_user;
    /* what fails here fails again, with its message, when the passes go on */
    if (c_try(first, first_body, &b) == 0 && !b.float_wanted && !meets(&b))
        raise_values(c, &b, first);
    c_free(first);
    diag_stop_if_errors(c);
}
