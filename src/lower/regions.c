/* Regions: the memories of the chip and what the model has of each. Without --memory there are two:
 * one that runs write, with the arena and the state, and one of constants. With it spread.c says
 * what lies where. */
#include "lower/memory.h"

#include <string.h>

static const Memory ram = {.name = "arena"}, flash = {.name = "weights", .read_only = true};

/* ---- the table ----------------------------------------------------------------------------- */

bool memory_takes_arena(const Memory *m) {
    return !m->read_only;
}

bool memory_takes_constants(const Memory *m) {
    return m->read_only || m->constants;
}

/* Those of the options, and what no chip is without. */
static void complete_memories(C *c, Graph *g, const Options *o) {
    Memory *memory = NEW_ARRAY(c, Memory, o->memory_count + 2);
    bool has_arena = false, has_constants = false;
    int count = o->memory_count, slowest = 0;
    for (int i = 0; i < count; i++) {
        memory[i] = o->memory[i];
        has_arena |= memory_takes_arena(&memory[i]);
        has_constants |= memory_takes_constants(&memory[i]);
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
        arenas += memory_takes_arena(&o->memory[i]);
        constants += memory_takes_constants(&o->memory[i]);
    }
    return CTN_MORE + (arenas > 1 ? arenas - 1 : 0) + (constants > 1 ? constants - 1 : 0);
}

void regions_begin(C *c, Graph *g, const Options *o) {
    complete_memories(c, g, o);
    g->region = NEW_ARRAY(c, MemoryRegion, CTN_REGIONS);
    int next = CTN_MORE;
    for (int i = 0; i < g->memory_count; i++)
        if (memory_takes_arena(&g->memory[i]))
            add_region(g, &next, CTN_ARENA, g->memory[i].name, REGION_ARENA, i);
    for (int i = 0; i < g->memory_count; i++)
        if (memory_takes_constants(&g->memory[i]))
            add_region(g, &next, CTN_WEIGHTS, constants_name(c, &g->memory[i]), REGION_CONSTANTS,
                       i);
    g->region[CTN_STATE] = (MemoryRegion){.name = "state", .kind = REGION_STATE};
    g->region[CTN_INPUTS] = (MemoryRegion){.name = "inputs", .kind = REGION_BOUND, .memory = -1};
    g->region[CTN_OUTPUTS] = (MemoryRegion){.name = "outputs", .kind = REGION_BOUND, .memory = -1};
}

int region_in(const Graph *g, int memory, RegionKind kind) {
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

bool buffer_is_stored(const Buffer *b) {
    return b->kind == BUFFER_CONSTANT && b->last_call >= 0;
}

Buffer *same_constant(const Graph *g, const Buffer *b) {
    for (int i = 0; i < b->id && i < g->buffer_count; i++) {
        Buffer *o = g->buffer[i];
        if (buffer_is_stored(o) && o->bytes == b->bytes && o->align >= b->align &&
            o->element == b->element && memcmp(o->data, b->data, (size_t)b->bytes) == 0)
            return o;
    }
    return NULL;
}

/* The size of such a region is that of the emitted struct. */
void regions_lay_constants(Graph *g, Buffer *const *same) {
    int64_t end[CTN_REGIONS] = {0};
    for (int r = 0; r < CTN_REGIONS; r++)
        g->region[r].align = CONSTANTS_ALIGN;
    for (int i = 0; i < g->buffer_count; i++) {
        Buffer *b = g->buffer[i];
        if (!buffer_is_stored(b))
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
