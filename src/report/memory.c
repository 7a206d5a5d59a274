/* The memory part of report.json: bytes of the image by what they are, and the timeline of the
 * arena: which buffer lies where and when, how much lives at each moment, and what makes the peak.
 * Moment 0 is when inputs are written, moment k + 1 is call k, the last is when outputs are read.
 */
#include "report/report.h"

#include <jansson.h>
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

static bool in_arena(const Buffer *b) {
    return b->kind != BUFFER_CONSTANT && b->region == CTN_ARENA && b->last_call >= 0 &&
           b->bytes > 0;
}

static json_t *buffers_json(const Graph *g) {
    json_t *list = json_array();
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *b = g->buffer[i];
        if (!in_arena(b))
            continue;
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I, s:i, s:i, s:s?}", "name",
                                              b->name, "kind", buffer_kind(g, b), "offset",
                                              (json_int_t)b->offset, "bytes", (json_int_t)b->bytes,
                                              "first", b->first_call, "last", b->last_call,
                                              "overwrites", b->over ? b->over->name : NULL));
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
        if (in_arena(b) && b->first_call <= peak && peak <= b->last_call)
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

static const struct {
    const char *name;
    size_t offset;
} totals[] = {
    {"arena", offsetof(Totals, arena)},
    {"state", offsetof(Totals, state)},
    {"inputs", offsetof(Totals, inputs)},
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

static void print_peak(const json_t *memory, FILE *f) {
    const json_t *peak = json_object_get(memory, "peak");
    long long moment = number(peak, "moment");
    fprintf(f, "\nat the peak, %lld bytes:\n", number(peak, "bytes"));
    size_t i;
    json_t *b;
    json_array_foreach(json_object_get(memory, "buffers"), i, b) {
        if (number(b, "first") <= moment && moment <= number(b, "last"))
            fprintf(f, "  %-32s %-8s %9lld bytes at %lld%s%s\n", string(b, "name"),
                    string(b, "kind"), number(b, "bytes"), number(b, "offset"),
                    json_is_string(json_object_get(b, "overwrites")) ? ", overwrites " : "",
                    json_is_string(json_object_get(b, "overwrites")) ? string(b, "overwrites")
                                                                     : "");
    }
}

void report_print_timeline(const json_t *root, FILE *f) {
    const json_t *memory = json_object_get(root, "memory");
    const json_t *live = json_object_get(memory, "live");
    long long peak = number(json_object_get(memory, "peak"), "bytes");
    if (json_array_size(live) == 0 || peak == 0)
        return;
    fprintf(f, "\n%-28s %9s  arena over the calls\n", "call", "live");
    size_t m;
    json_t *bytes;
    json_array_foreach(live, m, bytes) {
        long long n = json_integer_value(bytes);
        int length = (int)((n * BAR + peak - 1) / peak);
        fprintf(f, "%-28.28s %9lld  %.*s%s\n", moment_name(json_object_get(root, "calls"), m), n,
                length, "################################################",
                n == peak ? " peak" : "");
    }
    print_peak(memory, f);
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
