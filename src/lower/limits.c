/* What a plan may need at most: --ram and --flash in all, and each memory of the chip. Whoever
 * asked too little learns how much is needed and what takes the most. */
#include "lower/memory.h"

typedef struct { /* what counts: buffers of some regions, at a moment or for good */
    const Graph *g;
    RegionKind kind;
    int memory; /* -1: all */
    int moment; /* of arenas; -1: ever */
} Share;

static bool counts(const Share *s, const Buffer *b) {
    const MemoryRegion *r = &s->g->region[b->region];
    return b->last_call >= 0 && r->kind == s->kind && (s->memory < 0 || r->memory == s->memory) &&
           (s->moment < 0 || (b->first_call <= s->moment && s->moment <= b->last_call));
}

/* The largest, with how many bytes each has. */
static void name_largest(C *c, Share s, const char *what) {
    enum { NAMED = 4 };
    const Buffer *largest[NAMED] = {NULL};
    for (int i = 0; i < s.g->buffer_count; i++) {
        const Buffer *b = s.g->buffer[i];
        for (int k = 0; k < NAMED && b && counts(&s, s.g->buffer[i]); k++) {
            if (largest[k] && largest[k]->bytes >= b->bytes)
                continue;
            const Buffer *next = largest[k];
            largest[k] = b;
            b = next;
        }
    }
    Text t = text_new(c);
    for (int k = 0; k < NAMED && largest[k]; k++)
        text_add(&t, "%s%s (%lld)", k ? ", " : "", largest[k]->name, (long long)largest[k]->bytes);
    if (largest[0])
        diag_detail(c, "%s: %s", what, text_string(&t));
}

/* When the most of a memory's arena (-1: of all) is taken by buffers that live then. */
static int peak_moment(const Graph *g, int memory) {
    int64_t most = -1;
    int peak = 0;
    for (int m = 0; m < g->moment_count; m++) {
        int64_t live = memory < 0 ? g->live[m] : 0;
        for (int i = 0; memory >= 0 && i < g->buffer_count; i++)
            if (counts(&(Share){g, REGION_ARENA, memory, m}, g->buffer[i]))
                live += g->buffer[i]->bytes;
        if (live > most) {
            most = live;
            peak = m;
        }
    }
    return peak;
}

static void name_peak(C *c, const Graph *g, int memory) {
    int moment = peak_moment(g, memory);
    for (const Call *call = g->first_call; call; call = call->next)
        if (call->index + 1 == moment)
            diag_detail(c, "the peak is at %s", call->name);
    name_largest(c, (Share){g, REGION_ARENA, memory, moment}, "largest there, in bytes");
}

static void check_ram(C *c, const Graph *g, int64_t limit) {
    Loc loc = {.file = g->archive_path};
    int64_t need = g->arena_bytes + g->state_bytes + g->input_bytes + g->output_bytes;
    if (limit == 0 || need <= limit)
        return;
    diag_error(c, DIAG_MODEL, &loc, "ram (%s) needs %lld bytes, %lld were allowed",
               g->output_bytes  ? "arena, state, inputs and outputs"
               : g->input_bytes ? "arena, state and inputs"
                                : "arena and state",
               (long long)need, (long long)limit);
    name_peak(c, g, -1);
}

/* Constants to the byte; code from the table, or not at all if a kernel is missing there. */
static void check_flash(C *c, const Graph *g, const Options *o) {
    Loc loc = {.file = g->archive_path};
    Totals t = plan_totals(g);
    bool known = o->flash_limit > 0 && plan_code(c, g, o, &t);
    int64_t code = t.kernel_code + t.model_code;
    if (o->flash_limit == 0 || t.rodata + code <= o->flash_limit)
        return;
    diag_error(c, DIAG_MODEL, &loc, "flash (constants%s) needs %lld bytes, %lld were allowed",
               known ? " and code" : "", (long long)(t.rodata + code), (long long)o->flash_limit);
    diag_detail(c, "constants %lld, kernels %lld, the model's own code about %lld",
                (long long)t.rodata, (long long)t.kernel_code, (long long)t.model_code);
    name_largest(c, (Share){g, REGION_CONSTANTS, -1, -1}, "largest constants, in bytes");
}

static int64_t kind_bytes(const Graph *g, int memory, RegionKind kind) {
    int64_t bytes = 0;
    for (int r = 0; r < CTN_REGIONS; r++)
        if (g->region[r].name && g->region[r].memory == memory && g->region[r].kind == kind)
            bytes += g->region[r].bytes;
    return bytes;
}

MemoryUse memory_use(const Graph *g, int memory) {
    MemoryUse use = {.arena = kind_bytes(g, memory, REGION_ARENA),
                     .state = kind_bytes(g, memory, REGION_STATE),
                     .constants = kind_bytes(g, memory, REGION_CONSTANTS)};
    for (int m = 0; m < g->memory_count; m++)
        if (m != memory && text_equal(g->memory[m].load, g->memory[memory].name))
            use.images += kind_bytes(g, m, REGION_CONSTANTS);
    use.all = use.arena + use.state + use.constants + use.images;
    return use;
}

static void check_memory(C *c, const Graph *g, int memory) {
    const Memory *m = &g->memory[memory];
    MemoryUse use = memory_use(g, memory);
    if (m->bytes == 0 || use.all <= m->bytes)
        return;
    diag_error(c, DIAG_MODEL, &(Loc){.file = g->archive_path},
               "memory %s needs %lld bytes, %lld were allowed", m->name, (long long)use.all,
               (long long)m->bytes);
    diag_detail(c, "arena %lld, state %lld, constants %lld, images of other memories %lld",
                (long long)use.arena, (long long)use.state, (long long)use.constants,
                (long long)use.images);
    if (use.arena > 0)
        name_peak(c, g, memory);
    name_largest(c, (Share){g, REGION_STATE, memory, -1}, "largest states, in bytes");
    name_largest(c, (Share){g, REGION_CONSTANTS, memory, -1}, "largest constants, in bytes");
}

void pass_plan(C *c, Graph *g, const Options *o) {
    plan_memory(c, g, o);
    check_ram(c, g, o->ram_limit);
    check_flash(c, g, o);
    for (int m = 0; m < g->memory_count; m++)
        check_memory(c, g, m);
}
