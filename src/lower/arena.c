/* Addresses of the arena's slots. Slots whose lifetimes meet share no byte, but for an output that
 * follows an operand at a safe distance (Slot.over). Several orders of placing are tried; the lower
 * bound, the largest sum of simultaneously live bytes, says when to stop. Of the scratch of a
 * strip's calls only the largest counts: while one of them runs the others hold nothing. */
#include "lower/memory.h"

#include <stdlib.h>
#include <string.h>

static bool meet(const Slot *a, const Slot *b) {
    bool by_turns = a->turn >= 0 && b->turn >= 0 && a->turn != b->turn;
    return a->first <= b->last && b->first <= a->last && !by_turns;
}

int64_t bytes_shared(int64_t out, int64_t in, int64_t distance) {
    int64_t together = distance + in > out ? distance + in : out;
    return together < out + in ? out + in - together : 0;
}

/* A call has one scratch buffer at most. */
int64_t arena_live(const Plan *p, int moment) {
    int64_t live = 0, scratch = 0;
    for (int i = 0; i < p->slot_count; i++) {
        const Slot *s = &p->slot[i];
        if (moment < s->first || moment > s->last)
            continue;
        if (s->turn >= 0) {
            scratch = s->bytes > scratch ? s->bytes : scratch;
            continue;
        }
        live += s->bytes;
        const Slot *in = s->over >= 0 ? &p->slot[s->over] : NULL;
        if (in && moment >= in->first && moment <= in->last)
            live -= bytes_shared(s->bytes, in->bytes, s->buffer->over_distance);
    }
    return live + scratch;
}

void arena_bound(Plan *p) {
    p->bound = 0;
    p->peak = 0;
    for (int moment = 0; moment <= p->end; moment++) {
        int64_t live = arena_live(p, moment);
        if (live > p->bound) {
            p->bound = live;
            p->peak = moment;
        }
    }
}

static bool is_over(const Plan *p, const Slot *out, const Slot *in) {
    return out->over >= 0 && &p->slot[out->over] == in;
}

/* May both lie where they are, although they live at the same time? */
static bool follows(const Plan *p, const Slot *out, int64_t out_at, const Slot *in, int64_t in_at) {
    return is_over(p, out, in) && buffer_follows(out->buffer, out_at, in_at);
}

/* s at `at` shares a byte with one of its neighbours that it must not share. */
static bool clashes(const Plan *p, const Slot *s, int64_t at, Slot *const *near, int count) {
    for (int i = 0; i < count; i++) {
        const Slot *o = near[i];
        if (at < o->offset + o->bytes && o->offset < at + s->bytes &&
            !follows(p, s, at, o, o->offset) && !follows(p, o, o->offset, s, at))
            return true;
    }
    return false;
}

/* An output as near to its input as it may lie, and an input to its output. */
static int64_t place_out(const Slot *out, const Slot *in) {
    int64_t distance = out->buffer->over_distance;
    return out->buffer->over_upward
               ? align_up(in->offset + in->bytes + distance - out->bytes, out->align)
               : (in->offset - distance) / out->align * out->align;
}

static int64_t place_in(const Slot *in, const Slot *out) {
    int64_t distance = out->buffer->over_distance;
    return out->buffer->over_upward
               ? (out->offset + out->bytes - distance - in->bytes) / in->align * in->align
               : align_up(out->offset + distance, in->align);
}

/* The lowest address for s among 0 and those that touch one of the slots placed before it
 * (order[0..count-1]) that live when s does. */
static int64_t lowest_fit(Plan *p, const int *order, int count, const Slot *s) {
    int near = 0;
    for (int i = 0; i < count; i++)
        if (meet(s, &p->slot[order[i]]))
            p->near[near++] = &p->slot[order[i]];
    if (!clashes(p, s, 0, p->near, near))
        return 0;
    int64_t best = INT64_MAX;
    for (int i = 0; i < near; i++) {
        const Slot *o = p->near[i];
        int64_t at[3] = {align_up(o->offset + o->bytes, s->align), -1, -1};
        if (is_over(p, s, o))
            at[1] = place_out(s, o);
        if (is_over(p, o, s))
            at[2] = place_in(s, o);
        for (int k = 0; k < 3; k++)
            if (at[k] >= 0 && at[k] < best && !clashes(p, s, at[k], p->near, near))
                best = at[k];
    }
    return best;
}

static int64_t place_all(Plan *p, const int *order) {
    int64_t top = 0;
    for (int i = 0; i < p->slot_count; i++) {
        Slot *s = &p->slot[order[i]];
        s->offset = lowest_fit(p, order, i, s);
        top = s->offset + s->bytes > top ? s->offset + s->bytes : top;
    }
    return top;
}

/* ---- orders -------------------------------------------------------------------------------- */

static int compare_sizes(const Slot *x, const Slot *y) {
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : 0;
}

static int by_size(const void *a, const void *b, void *slots) {
    const Slot *x = (const Slot *)slots + *(const int *)a,
               *y = (const Slot *)slots + *(const int *)b;
    int order = compare_sizes(x, y);
    return order ? order : x->first != y->first ? x->first - y->first : (x > y) - (x < y);
}

static int by_area(const void *a, const void *b, void *slots) {
    const Slot *x = (const Slot *)slots + *(const int *)a,
               *y = (const Slot *)slots + *(const int *)b;
    int64_t p = x->bytes * (x->last - x->first + 1), q = y->bytes * (y->last - y->first + 1);
    return p != q ? (p < q ? 1 : -1) : (x > y) - (x < y);
}

static int by_start(const void *a, const void *b, void *slots) {
    const Slot *x = (const Slot *)slots + *(const int *)a,
               *y = (const Slot *)slots + *(const int *)b;
    if (x->first != y->first)
        return x->first - y->first;
    int order = compare_sizes(x, y);
    return order ? order : (x > y) - (x < y);
}

/* Latest first: what overwrites an operand is placed below it before the operand is. */
static int by_end(const void *a, const void *b, void *slots) {
    return by_start(b, a, slots);
}

/* Largest first, of equal ones the latest. */
static int by_size_late(const void *a, const void *b, void *slots) {
    const Slot *x = (const Slot *)slots + *(const int *)a,
               *y = (const Slot *)slots + *(const int *)b;
    int order = compare_sizes(x, y);
    return order ? order : by_end(a, b, slots);
}

static int by_length(const void *a, const void *b, void *slots) {
    const Slot *x = (const Slot *)slots + *(const int *)a,
               *y = (const Slot *)slots + *(const int *)b;
    int p = x->last - x->first, q = y->last - y->first;
    return p != q ? q - p : by_size(a, b, slots);
}

/* Moves the slot that ends highest towards the front and places again: keeps what is better. What
 * comes next depends on the order alone, so an order that comes again ends it: each is compared
 * with one of the past, which is replaced after 1, 2, 4 ... rounds (Brent's way to find a cycle).
 */
static int64_t improve(Plan *p, int *order, int64_t top) {
    size_t bytes = sizeof *order * (size_t)p->slot_count;
    int *best = c_memdup(p->c, order, bytes), *past = c_memdup(p->c, order, bytes);
    int rounds = 20000 / (p->slot_count + 1); /* large graphs: less patience, not more time */
    int next_past = 1;
    for (int round = 0; round < rounds && top > p->bound; round++) {
        int highest = 0;
        for (int i = 1; i < p->slot_count; i++) {
            const Slot *s = &p->slot[order[i]], *h = &p->slot[order[highest]];
            if (s->offset + s->bytes > h->offset + h->bytes)
                highest = i;
        }
        if (highest == 0)
            break;
        int moved = order[highest], to = highest / 2;
        memmove(order + to + 1, order + to, sizeof *order * (size_t)(highest - to));
        order[to] = moved;
        int64_t now = place_all(p, order);
        if (now < top) {
            top = now;
            memcpy(best, order, bytes);
        }
        if (memcmp(order, past, bytes) == 0)
            break;
        if (round == next_past) {
            memcpy(past, order, bytes);
            next_past *= 2;
        }
    }
    memcpy(order, best, bytes);
    return place_all(p, order);
}

/* What must be placed before slot i so that it can follow it or be followed by it closely: of an
 * output and the input whose memory it takes over, the one that lies below. `taker` is, by slot,
 * the output that takes it over, or -1. */
static bool waits(const Plan *p, int i, const int *taker, const bool *placed) {
    const Slot *s = &p->slot[i];
    if (s->over >= 0 && s->buffer->over_upward && !placed[s->over])
        return true;
    return taker[i] >= 0 && !p->slot[taker[i]].buffer->over_upward && !placed[taker[i]];
}

/* Keeps the order, but slots wait for those that they need. */
static void order_neighbours(Plan *p, int *order) {
    int count = p->slot_count, *taker = NEW_ARRAY(p->c, int, count);
    bool *placed = NEW_ARRAY(p->c, bool, count);
    for (int i = 0; i < count; i++) {
        taker[i] = -1;
        placed[i] = false;
    }
    for (int i = 0; i < count; i++)
        if (p->slot[i].over >= 0)
            taker[p->slot[i].over] = i;
    for (int i = 0; i < count; i++) {
        int next = i;
        while (next < count && waits(p, order[next], taker, placed))
            next++;
        next = next < count ? next : i;
        int slot = order[next];
        memmove(order + i + 1, order + i, sizeof *order * (size_t)(next - i));
        order[i] = slot;
        placed[slot] = true;
    }
}

void arena_place(Plan *p) {
    static int (*const sorts[])(const void *, const void *, void *) = {
        by_size, by_size_late, by_end, by_area, by_start, by_length};
    arena_bound(p);
    size_t bytes = sizeof(int) * (size_t)(p->slot_count + 1);
    int *order = c_alloc(p->c, bytes), *best = c_alloc(p->c, bytes);
    p->near = c_calloc(p->c, (size_t)p->slot_count + 1, sizeof *p->near);
    p->bytes = INT64_MAX;
    for (size_t k = 0; k < 2 * COUNT_OF(sorts) && p->bytes > p->bound; k++) {
        for (int i = 0; i < p->slot_count; i++)
            order[i] = i;
        qsort_r(order, (size_t)p->slot_count, sizeof *order, sorts[k / 2], p->slot);
        if (k % 2 == 1)
            order_neighbours(p, order);
        int64_t top = improve(p, order, place_all(p, order));
        if (top < p->bytes) {
            p->bytes = top;
            memcpy(best, order, bytes);
        }
    }
    p->bytes = place_all(p, best);
}
