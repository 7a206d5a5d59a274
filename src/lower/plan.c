/* Plan: where every buffer lies. Constants and states are laid out one behind the other; buffers of
 * the arena share memory when their lifetimes do not meet, and an output takes over the memory of
 * an operand that dies with the call where the kernel can run in place.
 *
 * A slot is what gets an address: one buffer, or several that run in place of each other. The lower
 * bound is the largest sum of simultaneously live slots. */
#include "lower/lower.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { REGION_ALIGN = 16 };

typedef struct {
    int64_t bytes, offset;
    int align, first, last;
    Buffer *owner; /* the first buffer of the chain */
} Slot;

typedef struct {
    C *c;
    Graph *g;
    const Options *options;
    int end;      /* the moment after the last call */
    int *slot_of; /* by buffer id; -1: not in the arena */
    Slot *slot;
    int slot_count;
} Plan;

static int64_t align_up(int64_t n, int align) {
    return (n + align - 1) / align * align;
}

/* ---- lifetimes ----------------------------------------------------------------------------- */

static void live_at(Buffer *b, int moment) {
    b->first_call = moment < b->first_call ? moment : b->first_call;
    b->last_call = moment > b->last_call ? moment : b->last_call;
}

static Buffer *boundary_buffer(Graph *g, const Arg *arg) {
    return arg->kind == ARG_VALUE ? value_buffer(g, arg->u.value) : NULL;
}

/* Moments: call i happens at i + 1; inputs are written at 0, outputs are read at the end. */
static void find_lifetimes(Plan *p) {
    Graph *g = p->g;
    int moment = 0;
    for (Call *call = g->first_call; call; call = call->next)
        call->index = moment++;
    p->end = moment + 1;
    for (int i = 0; i < g->input_count; i++)
        boundary_buffer(g, &g->input[i]);
    for (int i = 0; i < g->output_count; i++)
        boundary_buffer(g, &g->output[i]);
    for (int i = 0; i < g->buffer_count; i++) {
        g->buffer[i]->first_call = p->end + 1;
        g->buffer[i]->last_call = -1;
        g->buffer[i]->region = g->buffer[i]->kind == BUFFER_CONSTANT ? CTN_WEIGHTS : CTN_ARENA;
    }
    for (Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++)
            if (call->ref[r].buffer)
                live_at(call->ref[r].buffer, call->index + 1);
    for (int i = 0; i < g->input_count; i++) {
        Buffer *b = boundary_buffer(g, &g->input[i]);
        if (b)
            live_at(b, 0);
        if (b && p->options->keep_inputs)
            live_at(b, p->end);
    }
    for (int i = 0; i < g->output_count; i++)
        if (boundary_buffer(g, &g->output[i]))
            live_at(boundary_buffer(g, &g->output[i]), p->end);
    for (int i = 0; i < g->state_count; i++)
        value_buffer(g, g->state[i].before)->region = CTN_STATE;
}

/* ---- in place ------------------------------------------------------------------------------ */

/* Kernels whose element i of the output depends on element i of these operands only (of all their
 * elements as far as the others are concerned), so that the output may overwrite them. */
static const struct {
    int kernel;
    const char *operand;
    const char *dims, *strides; /* INTS that must describe a dense walk; NULL: always does */
} in_place[] = {
    {CTN_KERNEL_table_s8, "input", NULL, NULL},   {CTN_KERNEL_table_s16, "input", NULL, NULL},
    {CTN_KERNEL_add_s8, "a", "dim", "a_stride"},  {CTN_KERNEL_add_s8, "b", "dim", "b_stride"},
    {CTN_KERNEL_add_s16, "a", "dim", "a_stride"}, {CTN_KERNEL_add_s16, "b", "dim", "b_stride"},
    {CTN_KERNEL_mul_s8, "a", "dim", "a_stride"},  {CTN_KERNEL_mul_s8, "b", "dim", "b_stride"},
    {CTN_KERNEL_mul_s16, "a", "dim", "a_stride"}, {CTN_KERNEL_mul_s16, "b", "dim", "b_stride"},
    {CTN_KERNEL_softmax_s8, "input", NULL, NULL},
};

static const KernelField *field_named(const Kernel *kernel, const char *name) {
    for (int i = 0; i < kernel->field_count; i++)
        if (strcmp(kernel->field[i].name, name) == 0)
            return &kernel->field[i];
    assert(!"a kernel lacks a field that plan.c names");
    return NULL;
}

static const CallRef *call_ref(const Call *call, const char *name) {
    int offset = field_named(kernel_at(call->kernel), name)->offset;
    for (int r = 0; r < call->ref_count; r++)
        if (call->ref[r].field_offset == offset)
            return &call->ref[r];
    return NULL;
}

static bool walks_densely(const Call *call, const char *dims, const char *strides) {
    const KernelField *d = field_named(kernel_at(call->kernel), dims);
    const int32_t *dim = (const int32_t *)((const char *)call->args + d->offset);
    const int32_t *stride =
        (const int32_t *)((const char *)call->args +
                          field_named(kernel_at(call->kernel), strides)->offset);
    int64_t dense = 1;
    for (int k = d->count - 1; k >= 0; k--) {
        if (dim[k] > 1 && stride[k] != dense)
            return false;
        dense *= dim[k];
    }
    return true;
}

/* The buffer that the call's output may take over, or NULL. */
static Buffer *overwritable(const Call *call, const Buffer *out) {
    for (size_t i = 0; i < COUNT_OF(in_place); i++) {
        if (in_place[i].kernel != call->kernel)
            continue;
        const CallRef *ref = call_ref(call, in_place[i].operand);
        if (!ref || !ref->buffer || ref->offset != 0 || ref->buffer->kind != BUFFER_VALUE)
            continue;
        const Buffer *in = ref->buffer;
        if (in->region == CTN_ARENA && in != out && in->bytes == out->bytes &&
            in->last_call == call->index + 1 &&
            (!in_place[i].dims || walks_densely(call, in_place[i].dims, in_place[i].strides)))
            return ref->buffer;
    }
    return NULL;
}

/* ---- slots --------------------------------------------------------------------------------- */

static void slot_open(Plan *p, Buffer *b) {
    p->slot_of[b->id] = p->slot_count;
    p->slot[p->slot_count++] = (Slot){b->bytes, 0, b->align, b->first_call, b->last_call, b};
}

static void slot_join(Plan *p, Buffer *b, const Buffer *into) {
    Slot *s = &p->slot[p->slot_of[into->id]];
    p->slot_of[b->id] = p->slot_of[into->id];
    s->last = b->last_call > s->last ? b->last_call : s->last;
    s->align = b->align > s->align ? b->align : s->align;
}

static bool needs_slot(const Plan *p, const Buffer *b) {
    return b->region == CTN_ARENA && b->kind != BUFFER_CONSTANT && b->last_call >= 0 &&
           p->slot_of[b->id] < 0;
}

static void make_slots(Plan *p) {
    Graph *g = p->g;
    p->slot_of = NEW_ARRAY(p->c, int, g->buffer_count + 1);
    p->slot = NEW_ARRAY(p->c, Slot, g->buffer_count + 1);
    for (int i = 0; i < g->buffer_count; i++)
        p->slot_of[g->buffer[i]->id] = -1;
    for (int i = 0; i < g->input_count; i++) {
        Buffer *b = boundary_buffer(g, &g->input[i]);
        if (b && needs_slot(p, b))
            slot_open(p, b);
    }
    for (Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++) {
            Buffer *b = call->ref[r].buffer;
            if (!b || !needs_slot(p, b))
                continue;
            bool is_new = call->ref[r].writes && b->first_call == call->index + 1;
            Buffer *in = is_new && b->kind == BUFFER_VALUE ? overwritable(call, b) : NULL;
            if (in && p->slot_of[in->id] >= 0 &&
                p->slot[p->slot_of[in->id]].last == call->index + 1)
                slot_join(p, b, in);
            else
                slot_open(p, b);
        }
    for (int i = 0; i < g->output_count; i++) {
        Buffer *b = boundary_buffer(g, &g->output[i]);
        if (b && needs_slot(p, b))
            slot_open(p, b);
    }
}

/* ---- addresses ----------------------------------------------------------------------------- */

static bool meet(const Slot *a, const Slot *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* The lowest address at which s meets none of the slots placed before it (order[0..count-1]). */
static int64_t lowest_fit(const Slot *slot, const int *order, int count, const Slot *s) {
    int64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < count; i++) {
            const Slot *o = &slot[order[i]];
            if (meet(s, o) && at < o->offset + o->bytes && o->offset < at + s->bytes) {
                at = align_up(o->offset + o->bytes, s->align);
                moved = true;
            }
        }
    }
    return at;
}

static int64_t place_all(Slot *slot, const int *order, int count) {
    int64_t top = 0;
    for (int i = 0; i < count; i++) {
        Slot *s = &slot[order[i]];
        s->offset = lowest_fit(slot, order, i, s);
        top = s->offset + s->bytes > top ? s->offset + s->bytes : top;
    }
    return top;
}

static const Slot *sorted_slots; /* for qsort's comparison: plan runs on one thread */

static int by_size(const void *a, const void *b) {
    const Slot *x = &sorted_slots[*(const int *)a], *y = &sorted_slots[*(const int *)b];
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->first != y->first ? x->first - y->first : *(const int *)a - *(const int *)b;
}

static int by_area(const void *a, const void *b) {
    const Slot *x = &sorted_slots[*(const int *)a], *y = &sorted_slots[*(const int *)b];
    int64_t p = x->bytes * (x->last - x->first + 1), q = y->bytes * (y->last - y->first + 1);
    return p != q ? (p < q ? 1 : -1) : *(const int *)a - *(const int *)b;
}

static int by_start(const void *a, const void *b) {
    const Slot *x = &sorted_slots[*(const int *)a], *y = &sorted_slots[*(const int *)b];
    if (x->first != y->first)
        return x->first - y->first;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1)
                                : *(const int *)a - *(const int *)b;
}

static int by_length(const void *a, const void *b) {
    const Slot *x = &sorted_slots[*(const int *)a], *y = &sorted_slots[*(const int *)b];
    int p = x->last - x->first, q = y->last - y->first;
    return p != q ? q - p : by_size(a, b);
}

/* Moves the slot that ends highest to the front and places again: keeps what is better. */
static int64_t improve(Plan *p, int *order, int64_t top, int64_t bound) {
    int *best = c_memdup(p->c, order, sizeof *order * (size_t)p->slot_count);
    for (int round = 0; round < 200 && top > bound; round++) {
        int highest = 0;
        for (int i = 1; i < p->slot_count; i++) {
            const Slot *s = &p->slot[order[i]], *h = &p->slot[order[highest]];
            if (s->offset + s->bytes > h->offset + h->bytes)
                highest = i;
        }
        int moved = order[highest], to = highest / 2;
        if (highest == 0)
            break;
        memmove(order + to + 1, order + to, sizeof *order * (size_t)(highest - to));
        order[to] = moved;
        int64_t now = place_all(p->slot, order, p->slot_count);
        if (now < top) {
            top = now;
            memcpy(best, order, sizeof *order * (size_t)p->slot_count);
        }
    }
    memcpy(order, best, sizeof *order * (size_t)p->slot_count);
    return place_all(p->slot, order, p->slot_count);
}

static int64_t lower_bound(const Plan *p, int *peak_moment) {
    int64_t bound = 0;
    for (int moment = 0; moment <= p->end; moment++) {
        int64_t live = 0;
        for (int i = 0; i < p->slot_count; i++)
            if (p->slot[i].first <= moment && moment <= p->slot[i].last)
                live += p->slot[i].bytes;
        if (live > bound) {
            bound = live;
            *peak_moment = moment;
        }
    }
    return bound;
}

static void place_arena(Plan *p) {
    static int (*const sorts[])(const void *, const void *) = {by_size, by_area, by_start,
                                                               by_length};
    int peak = 0;
    Graph *g = p->g;
    g->arena_lower_bound = align_up(lower_bound(p, &peak), REGION_ALIGN);
    int *order = NEW_ARRAY(p->c, int, p->slot_count + 1);
    int *best = NEW_ARRAY(p->c, int, p->slot_count + 1);
    int64_t best_top = INT64_MAX;
    for (size_t k = 0; k < COUNT_OF(sorts) && best_top > g->arena_lower_bound; k++) {
        for (int i = 0; i < p->slot_count; i++)
            order[i] = i;
        sorted_slots = p->slot;
        qsort(order, (size_t)p->slot_count, sizeof *order, sorts[k]);
        int64_t top =
            improve(p, order, place_all(p->slot, order, p->slot_count), g->arena_lower_bound);
        if (top < best_top) {
            best_top = top;
            memcpy(best, order, sizeof *order * (size_t)p->slot_count);
        }
    }
    g->arena_bytes = align_up(place_all(p->slot, best, p->slot_count), REGION_ALIGN);
    for (const Call *call = g->first_call; call; call = call->next)
        if (call->index + 1 == peak)
            g->peak_node = call->name;
}

/* ---- the other regions --------------------------------------------------------------------- */

/* Constants that are equal to the byte share one place. */
static Buffer *same_constant(Graph *g, const Buffer *b) {
    for (int i = 0; i < b->id && i < g->buffer_count; i++) {
        Buffer *o = g->buffer[i];
        if (o->kind == BUFFER_CONSTANT && o->region == CTN_WEIGHTS && o->bytes == b->bytes &&
            o->last_call >= 0 && o->align >= b->align && o->element == b->element &&
            memcmp(o->data, b->data, (size_t)b->bytes) == 0)
            return o;
    }
    return NULL;
}

static void place_constants(Graph *g) {
    int64_t weights = 0, state = 0;
    for (int i = 0; i < g->buffer_count; i++) {
        Buffer *b = g->buffer[i];
        if (b->region == CTN_STATE) {
            state = align_up(state, REGION_ALIGN);
            b->offset = state;
            state += b->bytes;
        } else if (b->kind == BUFFER_CONSTANT && b->last_call >= 0) {
            const Buffer *same = same_constant(g, b);
            if (same) {
                b->offset = same->offset;
                continue;
            }
            weights = align_up(weights, b->align);
            b->offset = weights;
            weights += b->bytes;
        }
    }
    g->weights_bytes = align_up(weights, 4);
    g->state_bytes = align_up(state, REGION_ALIGN);
}

static void fill_refs(Graph *g) {
    for (Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++) {
            const CallRef *ref = &call->ref[r];
            uint32_t value = CTN_NONE;
            if (ref->buffer)
                value = CTN_REF(ref->buffer->region, ref->buffer->offset + ref->offset);
            memcpy((char *)call->args + ref->field_offset, &value, sizeof value);
        }
}

/* A reference has 28 bits for its offset. */
static void check_sizes(C *c, const Graph *g) {
    int64_t limit = (int64_t)1 << 28;
    Loc loc = {.file = g->archive_path};
    if (g->arena_bytes >= limit || g->weights_bytes >= limit || g->state_bytes >= limit)
        fatal(
            c, DIAG_MODEL, &loc,
            "a region is too large: arena %lld, weights %lld, state %lld bytes; the limit is %lld",
            (long long)g->arena_bytes, (long long)g->weights_bytes, (long long)g->state_bytes,
            (long long)limit);
}

void plan_memory(C *c, Graph *g, const Options *o) {
    Plan p = {.c = c, .g = g, .options = o};
    find_lifetimes(&p);
    make_slots(&p);
    place_arena(&p);
    for (int i = 0; i < g->buffer_count; i++)
        if (p.slot_of[g->buffer[i]->id] >= 0)
            g->buffer[i]->offset = p.slot[p.slot_of[g->buffer[i]->id]].offset;
    place_constants(g);
    g->scratch_bytes = 0;
    for (int i = 0; i < g->buffer_count; i++)
        if (g->buffer[i]->kind == BUFFER_SCRATCH && g->buffer[i]->bytes > g->scratch_bytes)
            g->scratch_bytes = g->buffer[i]->bytes;
    check_sizes(c, g);
    fill_refs(g);
}

static void check_limit(C *c, const Graph *g, const char *what, int64_t need, int64_t limit) {
    Loc loc = {.file = g->archive_path};
    if (limit > 0 && need > limit)
        diag_error(c, DIAG_MODEL, &loc, "%s needs %lld bytes, %lld were allowed", what,
                   (long long)need, (long long)limit);
}

void pass_plan(C *c, Graph *g, const Options *o) {
    plan_memory(c, g, o);
    check_limit(c, g, "ram (arena and state)", g->arena_bytes + g->state_bytes, o->ram_limit);
    if (g->peak_node && diag_error_count(c))
        diag_detail(c, "the peak is at %s", g->peak_node);
    check_limit(c, g, "flash (constants)", g->weights_bytes, o->flash_limit);
}
