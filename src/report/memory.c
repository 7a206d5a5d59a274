/* The memory part of report.json: bytes of the image by what they are, and the timeline of the
 * arena: which buffer lies where and when, how much lives at each moment, and what makes the peak.
 * Moment 0 is when inputs are written, moment k + 1 is call k, the last is when outputs are read.
 */
#include "report/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static bool is_boundary(const Buffer *b, int count, const Arg *arg) {
    for (int i = 0; i < count; i++)
        if (arg[i].kind == ARG_VALUE && arg[i].u.value->buffer == b)
            return true;
    return false;
}

static const char *buffer_kind(const Graph *g, const Buffer *b) {
    if (b->kind == BUFFER_SCRATCH)
        return "scratch";
    if (is_boundary(b, g->input_count, g->input))
        return "input";
    if (is_boundary(b, g->output_count, g->output))
        return "output";
    return b->is_ring ? "ring" : "value";
}

static bool lives(const Buffer *b) {
    return b->kind != BUFFER_CONSTANT && b->last_call >= 0 && b->bytes > 0;
}

static bool in_arena(const Graph *g, const Buffer *b) {
    return lives(b) && g->region[b->region].kind == REGION_ARENA;
}

static const char *memory_name(const Graph *g, const Buffer *b) {
    return g->memory[g->region[b->region].memory].name;
}

static json_t *buffers_json(const Graph *g) {
    json_t *list = json_array();
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *b = g->buffer[i];
        if (!in_arena(g, b))
            continue;
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:i, s:s?}", "name",
                                              b->name, "kind", buffer_kind(g, b), "memory",
                                              memory_name(g, b), "offset", (json_int_t)b->offset,
                                              "bytes", (json_int_t)b->bytes, "first", b->first_call,
                                              "last", b->last_call, "overwrites",
                                              b->over ? b->over->name : NULL));
    }
    return list;
}

static json_t *peak_json(const Graph *g) {
    int peak = 0;
    for (int m = 0; m < g->moment_count; m++)
        if (g->live[m] > g->live[peak])
            peak = m;
    json_t *names = json_array();
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *b = g->buffer[i];
        if (in_arena(g, b) && b->first_call <= peak && peak <= b->last_call)
            json_array_append_new(names, json_string(b->name));
    }
    return json_pack("{s:i, s:s?, s:I, s:o}", "moment", peak, "call", g->peak_node, "bytes",
                     (json_int_t)(g->moment_count > 0 ? g->live[peak] : 0), "buffers", names);
}

json_t *report_timeline(const Graph *g) {
    json_t *live = json_array();
    for (int m = 0; m < g->moment_count; m++)
        json_array_append_new(live, json_integer(g->live[m]));
    return json_pack("{s:o, s:o, s:o}", "live", live, "peak", peak_json(g), "buffers",
                     buffers_json(g));
}

/* ---- memories ------------------------------------------------------------------------------ */

static int by_offset(const void *a, const void *b) {
    const Buffer *x = *(Buffer *const *)a, *y = *(Buffer *const *)b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : x->id - y->id;
}

/* Bytes of its arena that hold something at each moment; buffers that share bytes count once. */
static json_t *live_json(const Graph *g, int memory) {
    const Buffer **sorted = NEW_ARRAY(g->c, const Buffer *, g->buffer_count + 1);
    int count = 0;
    for (int i = 0; i < g->buffer_count; i++)
        if (in_arena(g, g->buffer[i]) && g->region[g->buffer[i]->region].memory == memory)
            sorted[count++] = g->buffer[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_offset);
    json_t *live = json_array();
    for (int m = 0; m < g->moment_count; m++) {
        int64_t bytes = 0, end = 0;
        for (int i = 0; i < count; i++) {
            const Buffer *b = sorted[i];
            int64_t stop = b->offset + b->bytes, start = b->offset > end ? b->offset : end;
            if (b->first_call > m || m > b->last_call || stop <= end)
                continue;
            bytes += stop - start;
            end = stop;
        }
        json_array_append_new(live, json_integer(bytes));
    }
    return live;
}

/* Constants of a memory, with what decided on it. */
static json_t *constants_json(const Graph *g, int memory) {
    json_t *list = json_array();
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *b = g->buffer[i];
        if (b->kind != BUFFER_CONSTANT || b->last_call < 0 || b->bytes == 0 ||
            g->region[b->region].memory != memory)
            continue;
        json_array_append_new(list, json_pack("{s:s, s:I, s:f}", "name", b->name, "bytes",
                                              (json_int_t)b->bytes, "accesses_per_byte",
                                              b->accesses / (double)b->bytes));
    }
    return list;
}

json_t *report_memories(const Graph *g) {
    json_t *list = json_array();
    for (int m = 0; m < g->memory_count; m++) {
        const Memory *memory = &g->memory[m];
        MemoryUse use = memory_use(g, m);
        json_t *o = json_pack("{s:s, s:s?, s:s?, s:s?, s:b, s:i, s:o, s:I, s:I, s:I, s:I, s:I}",
                              "name", memory->name, "section", memory->section, "constants_section",
                              memory->read_only ? memory->section : memory->constants, "symbol",
                              memory->symbol, "read_only", memory->read_only, "wait_states",
                              memory->wait_states, "limit",
                              memory->bytes ? json_integer(memory->bytes) : json_null(), "arena",
                              (json_int_t)use.arena, "state", (json_int_t)use.state, "constants",
                              (json_int_t)use.constants, "images", (json_int_t)use.images, "bytes",
                              (json_int_t)use.all);
        if (g->memory_count > 2) {
            json_object_set_new(o, "live", live_json(g, m));
            json_object_set_new(o, "placed", constants_json(g, m));
        }
        json_array_append_new(list, o);
    }
    return list;
}

/* ---- totals -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset;
} totals[] = {
    {"arena", offsetof(Totals, arena)},
    {"state", offsetof(Totals, state)},
    {"inputs", offsetof(Totals, inputs)},
    {"outputs", offsetof(Totals, outputs)},
    {"scratch", offsetof(Totals, scratch)},
    {"weights", offsetof(Totals, weights)},
    {"biases", offsetof(Totals, biases)},
    {"multipliers_and_shifts", offsetof(Totals, factors)},
    {"tables", offsetof(Totals, tables)},
    {"numbers", offsetof(Totals, numbers)},
    {"padding", offsetof(Totals, padding)},
    {"call_structs", offsetof(Totals, calls)},
    {"strip_tables", offsetof(Totals, steps)},
    {"initial_state", offsetof(Totals, initial)},
    {"rodata", offsetof(Totals, rodata)},
    {"kernel_code", offsetof(Totals, kernel_code)},
    {"model_code", offsetof(Totals, model_code)},
    {"stack", offsetof(Totals, stack)},
};

json_t *report_totals(C *c, const Graph *g, const Options *options) {
    Totals t = plan_totals(g);
    bool known = plan_code(c, g, options, &t);
    json_t *o = json_object();
    for (size_t i = 0; i < COUNT_OF(totals); i++) {
        int64_t bytes;
        memcpy(&bytes, (const char *)&t + totals[i].offset, sizeof bytes);
        bool measured = totals[i].offset > offsetof(Totals, rodata);
        json_object_set_new(o, totals[i].name,
                            measured && !known ? json_null() : json_integer(bytes));
    }
    json_object_set_new(o, "code_origin", json_string(code_origin()));
    return o;
}

/* ---- as text ------------------------------------------------------------------------------- */

enum { BAR = 48 };

static long long number(const json_t *o, const char *key) {
    return (long long)json_integer_value(json_object_get(o, key));
}

static const char *string(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "-";
}

static const char *moment_name(const json_t *calls, size_t moment) {
    size_t count = json_array_size(calls);
    if (moment == 0)
        return "(inputs)";
    return moment > count ? "(outputs)" : string(json_array_get(calls, moment - 1), "name");
}

static void print_peak(const json_t *memory, bool several, FILE *f) {
    const json_t *peak = json_object_get(memory, "peak");
    long long moment = number(peak, "moment");
    fprintf(f, "\nat the peak, %lld bytes:\n", number(peak, "bytes"));
    size_t i;
    json_t *b;
    json_array_foreach(json_object_get(memory, "buffers"), i, b) {
        if (number(b, "first") <= moment && moment <= number(b, "last"))
            fprintf(f, "  %-32s %-8s %9lld bytes at %s%s%lld%s%s\n", string(b, "name"),
                    string(b, "kind"), number(b, "bytes"), several ? string(b, "memory") : "",
                    several ? " + " : "", number(b, "offset"),
                    json_is_string(json_object_get(b, "overwrites")) ? ", overwrites " : "",
                    json_is_string(json_object_get(b, "overwrites")) ? string(b, "overwrites")
                                                                     : "");
    }
}

/* Of the arena, what lies in each memory where there are several. */
static void print_heads(const json_t *memories, FILE *f) {
    size_t i;
    json_t *o;
    json_array_foreach(memories, i, o) {
        if (json_object_get(o, "live") && number(o, "arena") > 0)
            fprintf(f, " %9.9s", string(o, "name"));
    }
}

static void print_shares(const json_t *memories, size_t moment, FILE *f) {
    size_t i;
    json_t *o;
    json_array_foreach(memories, i, o) {
        const json_t *live = json_object_get(o, "live");
        if (live && number(o, "arena") > 0)
            fprintf(f, " %9lld", (long long)json_integer_value(json_array_get(live, moment)));
    }
}

void report_print_timeline(const json_t *root, FILE *f) {
    const json_t *memory = json_object_get(root, "memory");
    const json_t *live = json_object_get(memory, "live");
    long long peak = number(json_object_get(memory, "peak"), "bytes");
    if (json_array_size(live) == 0 || peak == 0)
        return;
    const json_t *memories = json_object_get(root, "memories");
    fprintf(f, "\n%-28s %9s", "call", "live");
    print_heads(memories, f);
    fprintf(f, "  arena over the calls\n");
    size_t m;
    json_t *bytes;
    json_array_foreach(live, m, bytes) {
        long long n = json_integer_value(bytes);
        int length = (int)((n * BAR + peak - 1) / peak);
        fprintf(f, "%-28.28s %9lld", moment_name(json_object_get(root, "calls"), m), n);
        print_shares(memories, m, f);
        fprintf(f, "  %.*s%s\n", length, "################################################",
                n == peak ? " peak" : "");
    }
    print_peak(memory, json_array_size(memories) > 2, f);
}

void report_print_totals(const json_t *root, FILE *f) {
    const json_t *o = json_object_get(root, "bytes");
    fprintf(f, "\n%-28s %9s\n", "bytes", "");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)o, key, value) {
        if (json_is_integer(value) && json_integer_value(value) != 0)
            fprintf(f, "%-28s %9lld\n", key, (long long)json_integer_value(value));
    }
}

/* Of the chip that --memory describes. */
void report_print_memories(const json_t *root, FILE *f) {
    const json_t *memories = json_object_get(root, "memories");
    size_t i;
    json_t *o;
    if (json_array_size(memories) <= 2)
        return;
    fprintf(f, "\n%-12s %4s %9s %9s %9s %9s %9s  %s\n", "memory", "wait", "arena", "state",
            "constants", "all", "of", "section");
    json_array_foreach(memories, i, o) {
        const char *section = string(o, "section"), *constants = string(o, "constants_section");
        fprintf(f, "%-12s %4lld %9lld %9lld %9lld %9lld", string(o, "name"),
                number(o, "wait_states"), number(o, "arena"), number(o, "state"),
                number(o, "constants"), number(o, "bytes"));
        if (number(o, "limit") > 0)
            fprintf(f, " %9lld", number(o, "limit"));
        else
            fprintf(f, " %9s", "-");
        fprintf(f, "  %s%s%s\n", section, strcmp(section, constants) == 0 ? "" : ", constants ",
                strcmp(section, constants) == 0 ? "" : constants);
    }
}
