/* What lies in which memory of the chip: the hottest buffers, those with the most accesses per
 * byte, in the fastest memory that has room for them. Memories only differ in speed: any choice
 * gives the same results. Buffers that leave the largest arena lower its peak by less than what
 * they take elsewhere, so where --ram says how much all may take they only leave as far as that
 * permits. */
#include "lower/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    RegionKind kind;
    int slot;       /* REGION_ARENA */
    Buffer *buffer; /* REGION_CONSTANTS; of an arena's slot too */
    int64_t bytes;
    double heat; /* accesses per byte */
    int memory;  /* where it goes; -1: not known yet */
    bool pinned; /* by a placement */
} Item;

typedef struct {
    Plan *p;
    const Graph *g;
    Item *item;
    int count;
    int *order;     /* memories, the fastest first */
    Plan *part;     /* by memory: its slots, with their own indices */
    int *slot;      /* [memory][slot of the part]: slot of the plan */
    int64_t *fixed; /* by memory: states and constants */
    int rest;       /* where buffers are that go nowhere else; at first the slowest with an arena */
    int64_t total;  /* bytes that may live in all arenas; 0: any */
} Spread;

static Item *item_of_slot(const Spread *s, int slot) {
    return &s->item[slot]; /* they come first */
}

static int pinned_to(const Plan *p, const char *name) {
    for (int i = 0; i < p->options->placement_count; i++)
        if (glob_match(p->options->placement[i].pattern, name))
            return p->options->placement[i].memory;
    return -1;
}

static void add_item(Spread *s, Item item) {
    const Memory *memory = s->g->memory;
    item.memory = item.buffer ? pinned_to(s->p, item.buffer->name) : -1;
    item.pinned = item.memory >= 0;
    if (item.pinned && region_in(s->g, item.memory, item.kind) < 0)
        fatal(s->p->c, DIAG_MODEL, &(Loc){.file = s->g->archive_path},
              "%s cannot be placed in memory %s, which takes %s", item.buffer->name,
              memory[item.memory].name,
              memory[item.memory].read_only ? "constants only" : "no constants");
    s->item[s->count++] = item;
}

/* Most placements that nothing has the name of are mistakes. */
static void warn_of_unused_placements(const Plan *p) {
    for (int i = 0; i < p->options->placement_count; i++) {
        bool used = false;
        for (int k = 0; k < p->g->buffer_count && !used; k++)
            used = glob_match(p->options->placement[i].pattern, p->g->buffer[k]->name);
        if (!used)
            diag_warning(p->c, NULL, "place %s: no buffer has such a name; report.json lists them",
                         p->options->placement[i].pattern);
    }
}

static void add_items(Spread *s, Buffer *const *same) {
    double state = 0;
    for (int i = 0; i < s->p->slot_count; i++) {
        Buffer *b = s->p->slot[i].buffer;
        add_item(s,
                 (Item){REGION_ARENA, i, b, b->bytes, b->accesses / (double)b->bytes, -1, false});
    }
    for (int i = 0; i < s->g->buffer_count; i++) {
        Buffer *b = s->g->buffer[i];
        if (buffer_is_stored(b) && !same[i] && b->bytes > 0)
            add_item(s, (Item){REGION_CONSTANTS, -1, b, b->bytes, b->accesses / (double)b->bytes,
                               -1, false});
        state += b->region == CTN_STATE ? b->accesses : 0;
    }
    int64_t bytes = s->g->state_bytes;
    if (bytes > 0)
        add_item(s, (Item){REGION_STATE, -1, NULL, bytes, state / (double)bytes, -1, false});
}

/* What collect takes besides: a slot, or one of these. */
enum { NOTHING = -1, UNDECIDED = -2 };

/* The part of the plan that lies in a memory, and `more` of it. */
static Plan *collect(Spread *s, int memory, int more) {
    Plan *part = &s->part[memory];
    int *to = s->slot + (size_t)memory * (size_t)(s->p->slot_count + 1);
    int *from = s->p->slot_of; /* of this use: by slot, what it is in the part */
    part->slot_count = 0;
    for (int i = 0; i < s->p->slot_count; i++) {
        from[i] = -1;
        int in = item_of_slot(s, i)->memory;
        if (in != memory && i != more && !(in < 0 && more == UNDECIDED))
            continue;
        from[i] = part->slot_count;
        to[part->slot_count] = i;
        part->slot[part->slot_count++] = s->p->slot[i];
    }
    for (int i = 0; i < part->slot_count; i++)
        part->slot[i].over = part->slot[i].over >= 0 ? from[part->slot[i].over] : -1;
    return part;
}

/* Where the image of a memory's constants waits for start-up; -1: in itself, or unknown. */
static int load_memory(const Graph *g, int memory) {
    for (int m = 0; g->memory[memory].load && m < g->memory_count; m++)
        if (m != memory && strcmp(g->memory[m].name, g->memory[memory].load) == 0)
            return m;
    return -1;
}

static bool has_room_for_image(const Spread *s, const Item *item, int memory) {
    int load = item->kind == REGION_CONSTANTS ? load_memory(s->g, memory) : -1;
    return load < 0 || s->g->memory[load].bytes == 0 ||
           s->fixed[load] + align_up(item->bytes, REGION_ALIGN) <= s->g->memory[load].bytes;
}

static bool has_room(Spread *s, const Item *item, int memory) {
    if (!has_room_for_image(s, item, memory))
        return false;
    int64_t limit = s->g->memory[memory].bytes - s->fixed[memory];
    if (s->g->memory[memory].bytes == 0)
        return true;
    Plan *part = collect(s, memory, item->slot);
    if (item->kind != REGION_ARENA) {
        arena_bound(part);
        return align_up(part->bound, REGION_ALIGN) + align_up(item->bytes, REGION_ALIGN) <= limit;
    }
    const Slot *slot = &s->p->slot[item->slot];
    for (int m = slot->first; m <= slot->last; m++)
        if (align_up(arena_live(part, m), REGION_ALIGN) > limit)
            return false;
    return true;
}

/* Does so little live in all arenas, with the item in this memory and what goes nowhere else in the
 * rest, as may? There it takes nothing from the others. */
static bool keeps_total(Spread *s, Item *item, int memory) {
    int64_t live = 0;
    if (s->total == 0 || item->kind != REGION_ARENA || memory == s->rest)
        return true;
    item->memory = memory;
    for (int m = 0; m < s->g->memory_count; m++) {
        Plan *part = collect(s, m, m == s->rest ? UNDECIDED : NOTHING);
        arena_bound(part);
        live += align_up(part->bound, REGION_ALIGN);
    }
    item->memory = -1;
    return live <= s->total;
}

/* States lie beside an arena. */
static bool may_take(const Spread *s, const Item *item, int memory) {
    const Memory *m = &s->g->memory[memory];
    return item->kind == REGION_CONSTANTS ? memory_takes_constants(m) : memory_takes_arena(m);
}

static void put(Spread *s, Item *item, int memory) {
    int load = item->kind == REGION_CONSTANTS ? load_memory(s->g, memory) : -1;
    item->memory = memory;
    if (item->kind != REGION_ARENA)
        s->fixed[memory] += align_up(item->bytes, REGION_ALIGN);
    if (load >= 0)
        s->fixed[load] += align_up(item->bytes, REGION_ALIGN);
}

/* To the fastest memory behind the first `from` that has room, else to the slowest. */
static void put_item(Spread *s, Item *item, int from) {
    int last = -1;
    for (int k = from; k < s->g->memory_count; k++) {
        if (!may_take(s, item, s->order[k]))
            continue;
        last = s->order[k];
        if (has_room(s, item, last) && keeps_total(s, item, last))
            break;
    }
    put(s, item, last);
}

static int by_heat(const void *a, const void *b) {
    const Item *x = *(Item *const *)a, *y = *(Item *const *)b;
    return x->heat != y->heat     ? (x->heat < y->heat ? 1 : -1)
           : x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1)
                                  : (x > y) - (x < y);
}

static int by_bytes(const void *a, const void *b) {
    const Item *x = *(Item *const *)a, *y = *(Item *const *)b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : by_heat(a, b);
}

static int64_t overflow(const Spread *s, int memory) {
    int64_t limit = s->g->memory[memory].bytes;
    int64_t need = align_up(s->part[memory].bytes, REGION_ALIGN) + s->fixed[memory];
    return limit > 0 && need > limit ? need - limit : 0;
}

static void place_part(Spread *s, int memory) {
    Plan *part = collect(s, memory, NOTHING);
    part->bytes = 0;
    if (part->slot_count > 0)
        arena_place(part);
}

/* Offsets take more than what lives at once: the coldest buffers that can leave do. */
static void make_room(Spread *s, int place) {
    int memory = s->order[place];
    place_part(s, memory);
    while (overflow(s, memory) > 0) {
        Item *coldest = NULL;
        for (int i = 0; i < s->p->slot_count; i++) {
            Item *item = item_of_slot(s, i);
            if (item->memory == memory && !item->pinned &&
                (!coldest || by_heat(&item, &coldest) > 0))
                coldest = item;
        }
        int slower = 0;
        for (int k = place + 1; k < s->g->memory_count; k++)
            slower += memory_takes_arena(&s->g->memory[s->order[k]]);
        if (!coldest || slower == 0)
            return;
        put_item(s, coldest, place + 1);
        place_part(s, memory);
    }
}

/* Returns by how many bytes memories overflow. */
static int64_t spread_in_order(Spread *s, int (*compare)(const void *, const void *)) {
    Item **sorted = NEW_ARRAY(s->p->c, Item *, s->count + 1);
    memset(s->fixed, 0, sizeof *s->fixed * (size_t)s->g->memory_count);
    for (int i = 0; i < s->count; i++) {
        sorted[i] = &s->item[i];
        if (s->item[i].pinned)
            put(s, &s->item[i], s->item[i].memory);
        else
            s->item[i].memory = -1;
    }
    qsort(sorted, (size_t)s->count, sizeof *sorted, compare);
    for (int i = 0; i < s->count; i++)
        if (!sorted[i]->pinned)
            put_item(s, sorted[i], 0);
    int64_t over = 0;
    for (int k = 0; k < s->g->memory_count; k++)
        make_room(s, k);
    for (int m = 0; m < s->g->memory_count; m++)
        over += overflow(s, m);
    return over;
}

/* Where what is hot takes the room that only it needed not, the largest choose first. */
static int64_t spread_once(Spread *s) {
    int64_t over = spread_in_order(s, by_heat);
    if (over > 0 && spread_in_order(s, by_bytes) > 0)
        return spread_in_order(s, by_heat);
    return over > 0 ? 0 : over;
}

static int64_t arena_bytes(const Spread *s) {
    int64_t bytes = 0;
    for (int m = 0; m < s->g->memory_count; m++)
        bytes += align_up(s->part[m].bytes, REGION_ALIGN);
    return bytes;
}

/* Offsets take more than what lives: then less may. Does all keep the limit? */
static bool spread_within(Spread *s, int64_t enough) {
    enum { TRIES = 4 };
    s->total = enough;
    for (int tries = 0; tries < TRIES; tries++) {
        int64_t over = spread_once(s), excess = arena_bytes(s) - enough;
        if (enough == 0 || excess <= 0)
            return over == 0;
        s->total = s->total > excess ? s->total - excess : 1;
    }
    return false;
}

static bool holds_most(const Spread *s, int memory) {
    const Memory *m = &s->g->memory[memory];
    return memory_takes_arena(m) && (m->bytes == 0 || s->p->bound <= m->bytes);
}

/* Where little may live in all arenas together most must lie in one of them: the fastest that can
 * hold it. */
static void spread_all(Spread *s) {
    int64_t enough = s->p->enough;
    int slowest = s->rest;
    for (int k = 0; enough > 0 && k < s->g->memory_count; k++) {
        s->rest = s->order[k];
        if (s->rest != slowest && holds_most(s, s->rest) && spread_within(s, enough))
            return;
    }
    s->rest = slowest;
    if (spread_within(s, enough) || arena_bytes(s) <= enough || enough == 0)
        return;
    s->total = 1; /* no more than must be */
    spread_once(s);
}

static void settle(Spread *s, Graph *g) {
    g->arena_bytes = 0;
    for (int m = 0; m < g->memory_count; m++) {
        int region = region_in(g, m, REGION_ARENA);
        const Plan *part = &s->part[m];
        const int *to = s->slot + (size_t)m * (size_t)(s->p->slot_count + 1);
        if (region < 0)
            continue;
        for (int i = 0; i < part->slot_count; i++) {
            Slot *slot = &s->p->slot[to[i]];
            slot->offset = part->slot[i].offset;
            slot->buffer->offset = slot->offset;
            slot->buffer->region = region;
        }
        g->region[region].bytes = align_up(part->bytes, REGION_ALIGN);
        g->arena_bytes += g->region[region].bytes;
    }
    for (int i = 0; i < s->count; i++) {
        const Item *item = &s->item[i];
        if (item->kind == REGION_STATE)
            g->region[CTN_STATE].memory = item->memory;
        else if (item->kind == REGION_CONSTANTS)
            item->buffer->region = region_in(g, item->memory, REGION_CONSTANTS);
        else if (item->buffer->over && item->buffer->over->region != item->buffer->region)
            item->buffer->over = NULL; /* they went to different memories */
    }
    g->region[CTN_STATE].section = g->memory[g->region[CTN_STATE].memory].section;
}

static Spread spread_new(Plan *p) {
    C *c = p->c;
    Graph *g = p->g;
    int memories = g->memory_count;
    Spread s = {.p = p, .g = g, .item = NEW_ARRAY(c, Item, g->buffer_count + p->slot_count + 2)};
    s.order = NEW_ARRAY(c, int, memories);
    s.part = NEW_ARRAY(c, Plan, memories);
    s.slot = NEW_ARRAY(c, int, memories *(p->slot_count + 1));
    s.fixed = NEW_ARRAY(c, int64_t, memories);
    for (int m = 0; m < memories; m++) {
        s.part[m] = *p;
        s.part[m].slot = NEW_ARRAY(c, Slot, p->slot_count + 1);
        int k = m; /* insertion: memories that are as fast stay in the order of the file */
        for (; k > 0 && g->memory[s.order[k - 1]].wait_states > g->memory[m].wait_states; k--)
            s.order[k] = s.order[k - 1];
        s.order[k] = m;
    }
    for (int k = 0; k < memories; k++)
        if (memory_takes_arena(&g->memory[s.order[k]]))
            s.rest = s.order[k];
    return s;
}

/* Every buffer in its memory. */
static Spread spread_plan(Plan *p, Buffer **same) {
    Graph *g = p->g;
    arena_bound(p);
    count_accesses(g);
    for (int i = 0; i < g->buffer_count; i++) {
        same[i] = buffer_is_stored(g->buffer[i]) ? same_constant(g, g->buffer[i]) : NULL;
        if (same[i])
            same[i]->accesses += g->buffer[i]->accesses;
    }
    Spread s = spread_new(p);
    add_items(&s, same);
    spread_all(&s);
    return s;
}

void regions_place(Plan *p) {
    Buffer **same = NEW_ARRAY(p->c, Buffer *, p->g->buffer_count + 1);
    warn_of_unused_placements(p);
    Spread s = spread_plan(p, same);
    settle(&s, p->g);
    regions_lay_constants(p->g, same);
}

int64_t regions_arena_bytes(Plan *p) {
    if (p->options->memory_count == 0)
        return align_up(p->bytes, REGION_ALIGN);
    Spread s = spread_plan(p, NEW_ARRAY(p->c, Buffer *, p->g->buffer_count + 1));
    return arena_bytes(&s);
}
