/* The order in which calls run. Where the graph branches there are several, and what must be kept
 * meanwhile differs. Sought call by call, as sets of calls that have run: of all ways to one set
 * the one with the lowest peak so far is kept, and of all sets of one size only the best few, so
 * that the work is bounded. Up to that many the result is the best order there is.
 *
 * Values in the arena count, with what may be written in place; strips are chosen afterwards. */
#include "lower/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 64, NEXT_SETS = 16 * SETS, MOST_CALLS = 1024 };

typedef struct { /* what a call touches of the arena */
    int count;
    Buffer **buffer;
    int over_count;
    const Buffer **over; /* operands that the output may overwrite if they are not read later */
    int64_t scratch;
    uint64_t *before; /* set of calls that must have run */
    uint64_t mark;    /* random: a set's sum of them stands for the set */
} Task;

typedef struct {    /* a set of calls that have run, and the best way to it */
    int from, call; /* the set before, by its place among those of its size, and the last call */
    int64_t live, peak;
    double crowd; /* says of ways with equal peaks which one is fuller the rest of the time */
    uint64_t mark;
} Way;

typedef struct {
    Plan *p;
    int count, words; /* calls, and words of a set of them */
    Call **call;
    Task *task;
    uint64_t **toucher; /* by buffer: the set of calls that touch it */
    bool *from_start, *to_end;
    double scale;             /* bytes that make a crowd of one */
    uint64_t *set, *next_set; /* [SETS][words] */
    Way *way, *next;          /* [SETS], [NEXT_SETS] */
    int *from, *last;         /* [count][SETS]: Way.from and Way.call of all that were kept */
} Search;

/* ---- what depends on what ------------------------------------------------------------------ */

static bool has(const uint64_t *set, int k) {
    return set[k / 64] >> (k % 64) & 1;
}

static void add(uint64_t *set, int k) {
    set[k / 64] |= (uint64_t)1 << (k % 64);
}

static bool touches(const Call *call, const Buffer *b, bool writing) {
    for (int r = 0; r < call->ref_count; r++)
        if (call->ref[r].buffer == b && call->ref[r].writes == writing)
            return true;
    return false;
}

bool call_joins(const Call *call) {
    return call->kernel == CTN_KERNEL_copy && call->node && node_is(call->node, "aten::cat");
}

/* Parts of a cat are copied to places of their own. */
static bool writes_beside(const Call *a, const Call *b) {
    return call_joins(a) && a->node == b->node && call_joins(b);
}

static bool depends(const Call *call, const Call *before) {
    for (int r = 0; r < call->ref_count; r++) {
        const Buffer *b = call->ref[r].buffer;
        if (!b || b->kind == BUFFER_CONSTANT)
            continue;
        if (touches(before, b, true) && !(call->ref[r].writes && writes_beside(call, before)))
            return true;
        if (call->ref[r].writes && touches(before, b, false))
            return true;
    }
    return false;
}

static bool in_arena(const Search *s, const Buffer *b) {
    return b && b->kind == BUFFER_VALUE && s->p->slot_of[b->id] >= 0;
}

static void add_touched(Search *s, Task *t, int k, Buffer *b) {
    for (int i = 0; i < t->count; i++)
        if (t->buffer[i] == b)
            return;
    if (!s->toucher[b->id])
        s->toucher[b->id] = NEW_ARRAY(s->p->c, uint64_t, s->words);
    add(s->toucher[b->id], k);
    t->buffer[t->count++] = b;
}

static void describe(Search *s, int k) {
    const Call *call = s->call[k];
    Task *t = &s->task[k];
    t->buffer = NEW_ARRAY(s->p->c, Buffer *, call->ref_count + 1);
    t->before = NEW_ARRAY(s->p->c, uint64_t, s->words);
    t->mark = 0x9e3779b97f4a7c15u * (uint64_t)(k + 1);
    t->mark = (t->mark ^ t->mark >> 29) * 0xbf58476d1ce4e5b9u;
    t->over = NEW_ARRAY(s->p->c, const Buffer *, call->ref_count + 1);
    for (int r = 0; r < call->ref_count; r++) {
        Buffer *b = call->ref[r].buffer;
        if (in_arena(s, b) && !call->ref[r].writes && call_overwrites(call, b))
            t->over[t->over_count++] = b;
        if (in_arena(s, b))
            add_touched(s, t, k, b);
        else if (b && b->kind == BUFFER_SCRATCH)
            t->scratch += b->bytes;
    }
    for (int i = 0; i < k; i++)
        if (depends(call, s->call[i]))
            add(t->before, i);
}

static Search *search_new(Plan *p) {
    C *c = p->c;
    Search *s = NEW(c, Search);
    int count = p->g->call_count, buffers = p->g->buffer_count;
    *s = (Search){.p = p, .count = count, .words = count / 64 + 1};
    s->call = NEW_ARRAY(c, Call *, count);
    s->task = NEW_ARRAY(c, Task, count);
    s->toucher = NEW_ARRAY(c, uint64_t *, buffers + 1);
    s->from_start = NEW_ARRAY(c, bool, buffers + 1);
    s->to_end = NEW_ARRAY(c, bool, buffers + 1);
    s->set = NEW_ARRAY(c, uint64_t, SETS * s->words);
    s->next_set = NEW_ARRAY(c, uint64_t, SETS * s->words);
    s->way = NEW_ARRAY(c, Way, SETS);
    s->next = NEW_ARRAY(c, Way, NEXT_SETS);
    s->from = NEW_ARRAY(c, int, count *SETS);
    s->last = NEW_ARRAY(c, int, count *SETS);
    for (Call *call = p->g->first_call; call; call = call->next) {
        s->call[call->index] = call;
        describe(s, call->index);
    }
    for (int i = 0; i < buffers; i++) {
        const Buffer *b = p->g->buffer[i];
        s->from_start[i] = in_arena(s, b) && b->first_call == 0;
        s->to_end[i] = in_arena(s, b) && b->last_call == p->end;
        s->way[0].live += s->from_start[i] ? b->bytes : 0;
    }
    s->way[0].peak = s->way[0].live;
    s->scale = (double)(p->bound > 0 ? p->bound : 1);
    return s;
}

/* ---- one call more ------------------------------------------------------------------------- */

static bool can_run(const Search *s, const uint64_t *done, int k) {
    for (int w = 0; w < s->words; w++)
        if (s->task[k].before[w] & ~done[w])
            return false;
    return !has(done, k);
}

static bool is_begun(const Search *s, const uint64_t *done, const Buffer *b) {
    for (int w = 0; w < s->words; w++)
        if (s->toucher[b->id][w] & done[w])
            return true;
    return s->from_start[b->id];
}

static bool ends_with(const Search *s, const uint64_t *done, int k, const Buffer *b) {
    for (int w = 0; w < s->words; w++) {
        uint64_t left = s->toucher[b->id][w] & ~done[w];
        if (w == k / 64)
            left &= ~((uint64_t)1 << (k % 64));
        if (left)
            return false;
    }
    return !s->to_end[b->id];
}

/* Bytes of `out` that lie in an operand whose memory it takes over. */
static int64_t taken_over(const Search *s, const uint64_t *done, int k, const Buffer *out) {
    const Task *t = &s->task[k];
    for (int i = 0; i < t->over_count; i++)
        if (t->over[i] != out && is_begun(s, done, t->over[i]) && ends_with(s, done, k, t->over[i]))
            return t->over[i]->bytes < out->bytes ? t->over[i]->bytes : out->bytes;
    return 0;
}

static Way way_on(const Search *s, int from, int k) {
    const uint64_t *done = s->set + (size_t)from * (size_t)s->words;
    const Task *t = &s->task[k];
    Way w = s->way[from];
    int64_t during = w.live + t->scratch;
    for (int i = 0; i < t->count; i++) {
        const Buffer *b = t->buffer[i];
        if (!is_begun(s, done, b)) {
            w.live += b->bytes;
            during += b->bytes - taken_over(s, done, k, b);
        }
        if (ends_with(s, done, k, b))
            w.live -= b->bytes;
    }
    w.from = from;
    w.call = k;
    w.mark += t->mark;
    w.peak = during > w.peak ? during : w.peak;
    w.crowd += pow((double)during / s->scale, 8);
    return w;
}

static int compare_worth(const Way *x, const Way *y) {
    if (x->peak != y->peak)
        return x->peak < y->peak ? -1 : 1;
    if (fabs(x->crowd - y->crowd) > 1e-9 * (x->crowd + y->crowd))
        return x->crowd < y->crowd ? -1 : 1;
    return x->from != y->from ? x->from - y->from : x->call - y->call;
}

static int by_worth(const void *a, const void *b) {
    return compare_worth(a, b);
}

static int by_set(const void *a, const void *b) {
    const Way *x = a, *y = b;
    return x->mark != y->mark ? (x->mark < y->mark ? -1 : 1) : compare_worth(x, y);
}

/* Of the ways to one set the best, of the sets the best SETS: how many. */
static int keep_best(Way *way, int count) {
    int kept = 0;
    qsort(way, (size_t)count, sizeof *way, by_set);
    for (int i = 0; i < count; i++)
        if (kept == 0 || way[kept - 1].mark != way[i].mark)
            way[kept++] = way[i];
    qsort(way, (size_t)kept, sizeof *way, by_worth);
    return kept < SETS ? kept : SETS;
}

static int step(Search *s, int done, int sets) {
    int count = 0;
    for (int from = 0; from < sets; from++)
        for (int k = 0; k < s->count; k++)
            if (count < NEXT_SETS && can_run(s, s->set + (size_t)from * (size_t)s->words, k))
                s->next[count++] = way_on(s, from, k);
    count = keep_best(s->next, count);
    for (int i = 0; i < count; i++) {
        uint64_t *set = s->next_set + (size_t)i * (size_t)s->words;
        memcpy(set, s->set + (size_t)s->next[i].from * (size_t)s->words,
               sizeof *set * (size_t)s->words);
        add(set, s->next[i].call);
        s->way[i] = s->next[i];
        s->from[done * SETS + i] = s->next[i].from;
        s->last[done * SETS + i] = s->next[i].call;
    }
    uint64_t *t = s->set;
    s->set = s->next_set;
    s->next_set = t;
    return count;
}

Call **order_sought(Plan *p) {
    int count = p->g->call_count;
    if (count < 3 || count > MOST_CALLS || p->g->npu_count > 0)
        return NULL;
    Search *s = search_new(p);
    for (int done = 0, sets = 1; done < count; done++)
        sets = step(s, done, sets);
    Call **order = NEW_ARRAY(p->c, Call *, count);
    bool differs = false;
    for (int done = count - 1, at = 0; done >= 0; done--) {
        int k = s->last[done * SETS + at];
        order[done] = s->call[k];
        differs |= k != done;
        at = s->from[done * SETS + at];
    }
    return differs ? order : NULL;
}
