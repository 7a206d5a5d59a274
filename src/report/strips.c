/* The strips of report.json: which calls run a few rows at a time, what their rings save, and what
 * that costs: rows computed more than once, bytes moved in rings, and instructions beside those of
 * whole calls. */
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

/* What the items of a settled strip do in all steps together, from the table of its steps. */
typedef struct {
    int64_t rows_again; /* made beyond those that the outputs have */
    int64_t moved;      /* bytes that make room in rings */
} Work;

/* Rows of a call's output, or its pixels where the items of its steps count these. */
static int64_t rows_counted(const Rows *r) {
    return r->kind == ROWS_FLAT ? (int64_t)r->out_h * r->pixels : r->out_h;
}

static Work work_of(const Strip *s) {
    Work w = {0, 0};
    for (int i = 0, at = 0, k = 0; i < s->item_count; at += 1 + s->item[i].patch_count, i++) {
        int64_t sum = 0;
        for (int t = 0; t < s->step_count; t++)
            sum += s->value[(int64_t)t * s->width + at];
        if (s->item[i].call)
            w.rows_again += sum - rows_counted(&s->row[k++]);
        else
            w.moved += sum;
    }
    return w;
}

static json_t *names_json(const Strip *s) {
    json_t *names = json_array();
    for (int k = 0; k < s->call_count; k++)
        json_array_append_new(names, json_string(s->call[k]->name));
    return names;
}

static json_t *estimate_json(double instructions) {
    return isnan(instructions) ? json_null() : json_integer((json_int_t)llround(instructions));
}

static json_t *strip_json(const Graph *g, const Options *o, const Strip *s) {
    Work w = work_of(s);
    int64_t ring = 0, value = 0;
    double strip = 0, whole = 0;
    for (int k = 0; k < s->call_count; k++) {
        bool last = k == s->call_count - 1;
        ring += last ? 0 : s->ring[k];
        value += last ? 0 : s->row[k].out_h * s->row[k].out_row;
        strip += call_instructions(g, s->call[k], o);
        whole += call_instructions_whole(s->call[k], o);
    }
    return json_pack("{s:o, s:i, s:i, s:b, s:I, s:I, s:I, s:I, s:o, s:o}", "calls", names_json(s),
                     "rows", s->rows, "steps", s->step_count, "upward", s->upward, "ring_bytes",
                     (json_int_t)ring, "value_bytes", (json_int_t)value, "rows_recomputed",
                     (json_int_t)w.rows_again, "bytes_moved", (json_int_t)w.moved,
                     "instructions_estimate", estimate_json(strip), "instructions_whole_estimate",
                     estimate_json(whole));
}

json_t *report_strips(const Graph *g, const Options *o) {
    json_t *list = json_array();
    for (const Call *call = g->first_call; call; call = call->next) {
        const Strip *s = strip_of(g, call);
        if (s && s->first == call)
            json_array_append_new(list, strip_json(g, o, s));
    }
    return list;
}

/* ---- as text ------------------------------------------------------------------------------- */

static long long number(const json_t *o, const char *key) {
    return (long long)json_integer_value(json_object_get(o, key));
}

/* Instructions beside those of whole calls; "?" where a kernel was never measured. */
static void print_cost(const json_t *o, FILE *f) {
    long long strip = number(o, "instructions_estimate");
    long long whole = number(o, "instructions_whole_estimate");
    if (whole > 0)
        fprintf(f, " %+12lld %+6.1f %%\n", strip - whole,
                100.0 * (double)(strip - whole) / (double)whole);
    else
        fprintf(f, " %12s\n", "?");
}

static void print_calls(const json_t *calls, FILE *f) {
    enum { NAMES = 64 };
    size_t count = json_array_size(calls);
    const char *first = json_string_value(json_array_get(calls, 0));
    char names[NAMES];
    snprintf(names, sizeof names, count > 1 ? "%s to %s" : "%s", first,
             json_string_value(json_array_get(calls, count - 1)));
    fprintf(f, "%-44s", names);
}

void report_print_strips(const json_t *root, FILE *f) {
    const json_t *strips = json_object_get(root, "strips");
    if (json_array_size(strips) == 0)
        return;
    fprintf(f, "\n%-44s %5s %5s %9s %9s %10s %9s %21s\n", "in strips", "rows", "steps", "rings",
            "instead of", "recomputed", "moved", "more instructions");
    size_t i;
    json_t *o;
    json_array_foreach(strips, i, o) {
        print_calls(json_object_get(o, "calls"), f);
        fprintf(f, " %5lld %5lld %9lld %10lld %10lld %9lld", number(o, "rows"), number(o, "steps"),
                number(o, "ring_bytes"), number(o, "value_bytes"), number(o, "rows_recomputed"),
                number(o, "bytes_moved"));
        print_cost(o, f);
    }
}
