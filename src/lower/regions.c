/* Regions: what of the model lies in which memory of the chip. Without --memory there are two: one
 * that runs write, with the arena and the state, and one of constants. With it the hottest buffers,
 * those with the most accesses per byte, go to the fastest memory that has room for them. Memories
 * only differ in speed: any choice gives the same results. */
#include "lower/memory.h"

#include <stdlib.h>
#include <string.h>

static const Memory ram = {.name = "arena"}, flash = {.name = "weights", .read_only = true};

/* ---- the table ----------------------------------------------------------------------------- */

static bool takes_arena(const Memory *m) {
    return !m->read_only;
}

static bool takes_constants(const Memory *m) {
    return m->read_only || m->constants;
}

/* Those of the options, and what no chip is without. */
static void complete_memories(C *c, Graph *g, const Options *o) {
    Memory *memory = NEW_ARRAY(c, Memory, o->memory_count + 2);
    bool has_arena = false, has_constants = false;
    int count = o->memory_count, slowest = 0;
    for (int i = 0; i < count; i++) {
        memory[i] = o->memory[i];
        has_arena |= takes_arena(&memory[i]);
        has_constants |= takes_constants(&memory[i]);
        slowest = memory[i].wait_states > slowest ? memory[i].wait_states : slowest;
    }
    for (int k = 0; k < 2; k++) {
        if (k ? has_constants : has_arena)
            continue;
        memory[count] = k ? flash : ram;
        memory[count].wait_states = slowest;
        if (!k)
            memory[count].symbol = o->arena;
        count++;
    }
    g->memory = memory;
    g->memory_count = count;
}

static void add_region(Graph *g, int *next, int first, const char *name, RegionKind kind,
                       int memory) {
    const Memory *m = &g->memory[memory];
    int id = g->region[first].name ? (*next)++ : first;
    g->region[id] = (MemoryRegion){.name = name, .kind = kind, .memory = memory};
    g->region[id].section = kind == REGION_ARENA || m->read_only ? m->section : m->constants;
    g->region[id].symbol = kind == REGION_ARENA ? m->symbol : NULL;
}

static const char *constants_name(C *c, const Memory *m) {
    return m->name == flash.name ? m->name : c_format(c, "%s_weights", m->name);
}

int regions_needed(const Options *o) {
    int arenas = 0, constants = 0;
    for (int i = 0; i < o->memory_count; i++) {
        arenas += takes_arena(&o->memory[i]);
        constants += takes_constants(&o->memory[i]);
    }
    return CTN_MORE + (arenas > 1 ? arenas - 1 : 0) + (constants > 1 ? constants - 1 : 0);
}

void regions_begin(C *c, Graph *g, const Options *o) {
    complete_memories(c, g, o);
    g->region = NEW_ARRAY(c, MemoryRegion, CTN_REGIONS);
    int next = CTN_MORE;
    for (int i = 0; i < g->memory_count; i++)
        if (takes_arena(&g->memory[i]))
            add_region(g, &next, CTN_ARENA, g->memory[i].name, REGION_ARENA, i);
    for (int i = 0; i < g->memory_count; i++)
        if (takes_constants(&g->memory[i]))
            add_region(g, &next, CTN_WEIGHTS, constants_name(c, &g->memory[i]), REGION_CONSTANTS,
                       i);
    g->region[CTN_STATE] = (MemoryRegion){.name = "state", .kind = REGION_STATE};
    g->region[CTN_INPUTS] = (MemoryRegion){.name = "inputs", .kind = REGION_BOUND, .memory = -1};
    g->region[CTN_OUTPUTS] = (MemoryRegion){.name = "outputs", .kind = REGION_BOUND, .memory = -1};
}

/* The region of a kind in a memory; -1 if it takes none of that kind. */
static int region_in(const Graph *g, int memory, RegionKind kind) {
    for (int r = 0; r < CTN_REGIONS; r++)
        if (g->region[r].name && g->region[r].kind == kind && g->region[r].memory == memory)
            return r;
    return -1;
}

/* ---- states, inputs and outputs of their own ----------------------------------------------- */

void regions_lay_boundary(Graph *g) {
    int64_t end[CTN_REGIONS] = {0};
    for (int i = 0; i < g->buffer_count; i++) {
        Buffer *b = g->buffer[i];
        if (b->kind == BUFFER_CONSTANT || g->region[b->region].kind == REGION_ARENA)
            continue;
        b->offset = align_up(end[b->region], REGION_ALIGN);
        end[b->region] = b->offset + b->bytes;
    }
    g->state_bytes = g->region[CTN_STATE].bytes = align_up(end[CTN_STATE], REGION_ALIGN);
    g->input_bytes = g->region[CTN_INPUTS].bytes = align_up(end[CTN_INPUTS], REGION_ALIGN);
    g->output_bytes = g->region[CTN_OUTPUTS].bytes = align_up(end[CTN_OUTPUTS], REGION_ALIGN);
}

/* ---- constants ----------------------------------------------------------------------------- */

static bool is_stored(const Buffer *b) {
    return b->kind == BUFFER_CONSTANT && b->last_call >= 0;
}

/* Constants that are equal to the byte share one place: the first's. */
static Buffer *same_constant(const Graph *g, const Buffer *b) {
    for (int i = 0; i < b->id && i < g->buffer_count; i++) {
        Buffer *o = g->buffer[i];
        if (is_stored(o) && o->bytes == b->bytes && o->align >= b->align &&
            o->element == b->element && memcmp(o->data, b->data, (size_t)b->bytes) == 0)
            return o;
    }
    return NULL;
}

/* The size of such a region is that of the emitted struct. */
static void lay_constants(Graph *g, Buffer *const *same) {
    int64_t end[CTN_REGIONS] = {0};
    for (int r = 0; r < CTN_REGIONS; r++)
        g->region[r].align = CONSTANTS_ALIGN;
    for (int i = 0; i < g->buffer_count; i++) {
        Buffer *b = g->buffer[i];
        if (!is_stored(b))
            continue;
        if (same[i]) {
            b->region = same[i]->region;
            b->offset = same[i]->offset;
            continue;
        }
        int align = b->align > dtype_size(b->element) ? b->align : dtype_size(b->element);
        if (align > g->region[b->region].align)
            g->region[b->region].align = align;
        b->offset = align_up(end[b->region], align);
        end[b->region] = b->offset + b->bytes;
    }
    g->weights_bytes = 0;
    for (int r = 0; r < CTN_REGIONS; r++) {
        if (!g->region[r].name || g->region[r].kind != REGION_CONSTANTS)
            continue;
        g->region[r].bytes = align_up(end[r], g->region[r].align);
        g->weights_bytes += g->region[r].bytes;
    }
}

/* ---- what goes where ----------------------------------------------------------------------- */

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
        if (is_stored(b) && !same[i] && b->bytes > 0)
            add_item(s, (Item){REGION_CONSTANTS, -1, b, b->bytes, b->accesses / (double)b->bytes,
                               -1, false});
        state += b->region == CTN_STATE ? b->accesses : 0;
    }
    int64_t bytes = s->g->state_bytes;
    if (bytes > 0)
        add_item(s, (Item){REGION_STATE, -1, NULL, bytes, state / (double)bytes, -1, false});
}

/* The part of the plan that lies in a memory, and `more` of it besides (-1: nothing). */
static Plan *collect(Spread *s, int memory, int more) {
    Plan *part = &s->part[memory];
    int *to = s->slot + (size_t)memory * (size_t)(s->p->slot_count + 1);
    int *from = s->p->slot_of; /* of this use: by slot, what it is in the part */
    part->slot_count = 0;
    for (int i = 0; i < s->p->slot_count; i++) {
        from[i] = -1;
        if (item_of_slot(s, i)->memory != memory && i != more)
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

/* States lie beside an arena. */
static bool may_take(const Spread *s, const Item *item, int memory) {
    const Memory *m = &s->g->memory[memory];
    return item->kind == REGION_CONSTANTS ? takes_constants(m) : takes_arena(m);
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
        if (has_room(s, item, last))
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
    Plan *part = collect(s, memory, -1);
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
            slower += takes_arena(&s->g->memory[s->order[k]]);
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
    return s;
}

void regions_place(Plan *p) {
    Graph *g = p->g;
    Buffer **same = NEW_ARRAY(p->c, Buffer *, g->buffer_count + 1);
    arena_bound(p);
    count_accesses(g);
    for (int i = 0; i < g->buffer_count; i++) {
        same[i] = is_stored(g->buffer[i]) ? same_constant(g, g->buffer[i]) : NULL;
        if (same[i])
            same[i]->accesses += g->buffer[i]->accesses;
    }
    warn_of_unused_placements(p);
    Spread s = spread_new(p);
    add_items(&s, same);
    /* Where what is hot takes the room that only it needed not, the largest choose first. */
    if (spread_in_order(&s, by_heat) > 0 && spread_in_order(&s, by_bytes) > 0)
        spread_in_order(&s, by_heat);
    settle(&s, g);
    lay_constants(g, same);
}
