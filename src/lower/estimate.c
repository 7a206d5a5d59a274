/* Instructions before anything runs. A kernel's cost is linear in a few sizes of its call
 * (terms.c); how much each counts was fitted to counts of a simulated chip (measured.h). */
#include "lower/measured.h"
#include "lower/memory.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the row of a variant ------------------------------------------------------------------ */

enum { MOST_ROWS = 4096 };
static const CostRow *row_by_name[MOST_ROWS]; /* planning looks rows up very often */

static int by_name(const void *a, const void *b) {
    const CostRow *x = *(const CostRow *const *)a, *y = *(const CostRow *const *)b;
    int order = strcmp(x->symbol, y->symbol);
    return order ? order : strcmp(x->cpu, y->cpu);
}

static void sort_rows(void) {
    assert(cost_table_count <= MOST_ROWS);
    for (int i = 0; i < cost_table_count; i++)
        row_by_name[i] = &cost_table[i];
    qsort(row_by_name, (size_t)cost_table_count, sizeof *row_by_name, by_name);
}

static const CostRow *cost_row(const char *cpu, const char *symbol) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, sort_rows);
    const CostRow wanted = {.cpu = cpu, .symbol = symbol}, *key = &wanted;
    const CostRow **row =
        bsearch(&key, row_by_name, (size_t)cost_table_count, sizeof *row_by_name, by_name);
    return row ? *row : NULL;
}

/* ---- of a call ----------------------------------------------------------------------------- */

static double estimate(const Call *call, const CostRow *row);

/* Of a call with a sum in its store: without that. Its arguments begin with those of the kernel
 * that has none. */
static double estimate_producer(const Call *call, const char *cpu) {
    Call producer = *call;
    const CostRow *row = NULL;
    producer.kernel = residual_producer(call->kernel);
    for (int i = 0; i < variant_table_count; i++)
        if (variant_table[i].kernel == producer.kernel && !variant_table[i].small &&
            isa_rank(variant_table[i].isa) == isa_rank(call->variant->isa))
            row = cost_row(cpu, variant_table[i].symbol);
    return row ? estimate(&producer, row) : NAN;
}

static double estimate(const Call *call, const CostRow *row) {
    bool sums = residual_producer(call->kernel) >= 0;
    double term[COST_TERMS], sum = sums ? estimate_producer(call, row->cpu) : 0;
    call_terms(call, term);
    for (int k = 0; k < COST_TERMS; k++)
        sum += row->factor[k] * term[k];
    return sum;
}

/* The strip's item for call `call`, and where its numbers begin in a step. */
static const StripItem *item_of(const Strip *s, const Call *call, int *at) {
    *at = 0;
    for (int i = 0; i < s->item_count; i++) {
        if (s->item[i].call == call)
            return &s->item[i];
        *at += 1 + s->item[i].patch_count;
    }
    return NULL;
}

/* A move that makes room in a ring, with what building its arguments takes. */
static double estimate_move(const CostRow *row, int32_t bytes) {
    enum { ARGUMENTS = 12 };
    CtnMoveArgs args = {.count = bytes};
    Call move = {.kernel = CTN_KERNEL_move, .args = &args, .args_bytes = sizeof args};
    return row && bytes > 0 ? estimate(&move, row) + ARGUMENTS : 0;
}

/* Do two steps run the call on as many rows with the same padding? Where these lie does not matter.
 */
static bool runs_alike(const StripItem *item, const int32_t *a, const int32_t *b) {
    for (int f = 0; f <= item->patch_count; f++)
        if (a[f] != b[f] && !strip_field_refers(item, f))
            return false;
    return true;
}

/* The call as each step runs it, with what copying its arguments once and setting them takes, and
 * the moves that make room for its rows. */
static double estimate_strip(const Strip *s, const Call *call, const CostRow *row) {
    enum { COPY = 25, COPY_WORD = 2, STEP = 4, PATCH = 3 };
    const CostRow *move = cost_row(row->cpu, "ctn_move");
    int at;
    const StripItem *item = item_of(s, call, &at);
    const StripItem *before = item > s->item && !item[-1].call ? item - 1 : NULL;
    int32_t args[128];
    Call part = *call;
    part.args = args;
    memcpy(args, call->args, (size_t)call->args_bytes);
    const int32_t *last = NULL; /* the step that was estimated last */
    double sum = COPY + COPY_WORD * (call->args_bytes / 4.0), step = 0;
    for (int t = 0; t < s->step_count; t++) {
        const int32_t *v = s->value + (int64_t)t * s->width + at;
        sum += before ? estimate_move(move, v[-1 - before->patch_count]) : 0;
        if (v[0] <= 0)
            continue;
        if (!last || !runs_alike(item, last, v)) {
            for (int i = 0; i < item->patch_count; i++)
                args[item->patch[i] / 4] = v[1 + i];
            step = estimate(&part, row) + STEP + PATCH * item->patch_count;
        }
        last = v;
        sum += step;
    }
    return sum;
}

double call_instructions_whole(const Call *call, const Options *o) {
    const CostRow *row = cost_row(o->cpu->counted, call->variant->symbol);
    return row ? estimate(call, row) : NAN;
}

double call_instructions(const Graph *g, const Call *call, const Options *o) {
    const Strip *s = strip_of(g, call);
    double whole = call_instructions_whole(call, o);
    if (!s || isnan(whole))
        return whole;
    /* a strip computes what the whole call does, in more steps: it takes no fewer */
    return fmax(estimate_strip(s, call, cost_row(o->cpu->counted, call->variant->symbol)), whole);
}

const char *instructions_origin(void) {
    return cost_origin;
}
