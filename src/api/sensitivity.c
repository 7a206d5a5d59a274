/* corten sensitivity: what the rounding of each node's values and constants costs, by itself, in
 * decibels of the outputs. Costs are nearly independent of one another, so what a node costs of the
 * whole follows from their sum. */
#include "api/session.h"
#include "quant/quant.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Cost *values, *constants; /* either may be NULL */
    const char *name;
    Loc loc;
    double part; /* of all noise at the output that the node spoils most */
} Line;

typedef struct {
    Graph *calibrated;
    CostList costs;
    double *total; /* [output]: noise of all costs */
    int count;
    Line *line;
} Table;

static double noise_at(const Line *l, int output) {
    return (l->values ? l->values->noise[output] : 0) +
           (l->constants ? l->constants->noise[output] : 0);
}

static Line *line_of(Table *t, const Cost *cost) {
    for (int i = 0; i < t->count; i++) {
        Line *l = &t->line[i];
        if (strcmp(l->name, cost->name) == 0 && !(cost->node ? l->constants : l->values))
            return l;
    }
    t->line[t->count] = (Line){.name = cost->name, .loc = cost->loc};
    return &t->line[t->count++];
}

static int compare_parts(const void *x, const void *y) {
    const Line *a = x, *b = y;
    return a->part < b->part ? 1 : a->part > b->part ? -1 : strcmp(a->name, b->name);
}

static void fill_table(C *c, Table *t) {
    t->line = NEW_ARRAY(c, Line, t->costs.count + 1);
    t->total = NEW_ARRAY(c, double, t->costs.output_count + 1);
    for (int i = 0; i < t->costs.count; i++) {
        const Cost *cost = &t->costs.item[i];
        Line *l = line_of(t, cost);
        *(cost->node ? &l->constants : &l->values) = cost;
        for (int k = 0; k < t->costs.output_count; k++)
            t->total[k] += cost->noise[k];
    }
    for (int i = 0; i < t->count; i++)
        for (int k = 0; k < t->costs.output_count; k++)
            if (t->total[k] > 0)
                t->line[i].part = fmax(t->line[i].part, noise_at(&t->line[i], k) / t->total[k]);
    qsort(t->line, (size_t)t->count, sizeof *t->line, compare_parts);
}

/* The worst output's SQNR if there were no other noise; NAN: it reaches no output. */
static double alone_db(const Table *t, const Cost *cost) {
    double worst = NAN;
    for (int k = 0; cost && k < t->costs.output_count; k++)
        if (cost->noise[k] > 0 && t->costs.signal[k] > 0)
            worst = fmin(worst, 10 * log10(t->costs.signal[k] / cost->noise[k]));
    return worst;
}

/* So many decibels would be won if the node did not round. */
static double cost_db(const Line *l) {
    return -10 * log10(fmax(1 - l->part, 1e-9));
}

static const char *bits_of(const Cost *values) {
    return !values ? "-" : values->wide ? "int16" : "int8";
}

/* ---- what is printed ----------------------------------------------------------------------- */

static json_t *db_or_null(double db) {
    return isfinite(db) ? json_real(db) : json_null();
}

static json_t *line_json(C *c, const Table *t, const Line *l) {
    bool known = l->loc.file && l->loc.line;
    return json_pack("{s:s, s:s?, s:s?, s:o, s:o, s:o, s:s, s:b, s:I}", "name", l->name, "module",
                     l->loc.module, "source",
                     known ? c_format(c, "%s:%d", l->loc.file, l->loc.line) : NULL, "cost_db",
                     db_or_null(cost_db(l)), "values_alone_db", db_or_null(alone_db(t, l->values)),
                     "weights_alone_db", db_or_null(alone_db(t, l->constants)), "values",
                     bits_of(l->values), "can_be_int16", l->values && l->values->widenable,
                     "bytes_more", l->values ? (json_int_t)l->values->bytes : (json_int_t)0);
}

static const char *table_json(C *c, const Table *t) {
    json_t *root = json_object(), *outputs = json_array(), *nodes = json_array();
    for (int k = 0; k < t->costs.output_count; k++) {
        double db = t->total[k] > 0 ? 10 * log10(t->costs.signal[k] / t->total[k]) : NAN;
        json_array_append_new(outputs, db_or_null(db));
    }
    json_object_set_new(root, "samples", json_integer(t->costs.samples));
    json_object_set_new(root, "expected_output_sqnr_db", outputs);
    for (int i = 0; i < t->count; i++)
        json_array_append_new(nodes, line_json(c, t, &t->line[i]));
    json_object_set_new(root, "nodes", nodes);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    if (!text)
        fatal(c, DIAG_BUG, NULL, "what was found cannot be written as text");
    c_defer(c, free, text);
    return text;
}

static void print_db(FILE *f, double db) {
    if (isfinite(db))
        fprintf(f, " %9.1f", db);
    else
        fprintf(f, " %9s", "-");
}

static void print_text(Session *s, const Table *t) {
    FILE *f = s->results;
    fprintf(f, "%-28s %8s %9s %9s  %-6s %10s  %s\n", "node", "costs dB", "values dB", "weights dB",
            "values", "int16 adds", "source");
    for (int i = 0; i < t->count; i++) {
        const Line *l = &t->line[i];
        fprintf(f, "%-28s %8.2f", l->name, cost_db(l));
        print_db(f, alone_db(t, l->values));
        print_db(f, alone_db(t, l->constants));
        fprintf(f, "  %-6s", bits_of(l->values));
        if (l->values && l->values->widenable && !l->values->wide)
            fprintf(f, " %10lld", (long long)l->values->bytes);
        else
            fprintf(f, " %10s", "-");
        if (l->loc.file && l->loc.line)
            fprintf(f, "  %s:%d", l->loc.file, l->loc.line);
        fprintf(f, "\n");
    }
    fprintf(f,
            "\n%d samples; costs: what the worst output would gain without the node's rounding; "
            "values, weights: its SQNR if nothing else rounded\n",
            t->costs.samples);
    for (int k = 0; k < t->costs.output_count; k++)
        if (t->total[k] > 0)
            fprintf(f, "output %d: %.1f dB expected\n", k,
                    10 * log10(t->costs.signal[k] / t->total[k]));
}

static void sensitivity_body(C *c, Session *s) {
    Table t = {0};
    Graph *quantized;
    const char *folder = path_is_folder(s->o->model) ? s->o->model : NULL;
    if (folder) {
        compiled_options(c, s, folder);
    } else {
        CortenOptions *o = c_memdup(c, s->o, sizeof *s->o);
        o->target = cpu_table[0].name; /* rounding is the same on all */
        s->o = o;
        session_options(c, s);
    }
    if (s->o->calibrate_count + s->o->calibrate_data_count == 0)
        fatal(c, DIAG_MODEL, NULL, "no calibration data: give -c");
    t.calibrated = session_calibrated(c, s, &quantized);
    sensitivity(c, &t.costs, t.calibrated, quantized, &s->compile);
    fill_table(c, &t);
    const char *found = table_json(c, &t);
    if (s->o->json)
        fprintf(s->results, "%s\n", found);
    else
        print_text(s, &t);
    if (folder)
        compiled_page_add(c, folder, "sensitivity", found);
}

int corten_sensitivity(const CortenOptions *o) {
    return session_run(o, sensitivity_body);
}
