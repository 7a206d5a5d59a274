/* What report.html shows beyond report.json: who reads whom, how values are spread and on which
 * grids, and the activation tables beside their functions. Everything that came from the archive is
 * JSON text here; the page never takes it for markup. */
#include "report/report.h"

#include "fix.h"
#include "lower/memory.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { SHOWN_BINS = 96, SHOWN_ENTRIES = 256 };

static json_t *ids_json(const Origins *o) {
    json_t *list = json_array();
    for (int i = 0; i < o->count; i++)
        json_array_append_new(list, json_integer(o->id[i]));
    return list;
}

static int last_id(const Node *n) {
    return n && n->origins.count > 0 ? n->origins.id[n->origins.count - 1] : -1;
}

/* ---- nodes of the archive ------------------------------------------------------------------ */

static json_t *sources_json(const Graph *g) {
    json_t *list = json_array();
    for (int i = 0; i < g->archive_count; i++) {
        const ArchiveNode *a = &g->archive[i];
        json_array_append_new(list, json_pack("{s:o, s:s?, s:i}", "reads", ids_json(&a->reads),
                                              "text", a->loc.source_text, "into", a->into));
    }
    return list;
}

/* The node that each output comes from; -1 - k: input k, null: no tensor. */
static json_t *outputs_json(const Graph *g) {
    json_t *list = json_array();
    for (int i = 0; i < g->output_count; i++) {
        const Value *v = g->output[i].kind == ARG_VALUE ? g->output[i].u.value : NULL;
        int id = v ? last_id(v->def) : -1;
        for (int k = 0; v && !v->def && k < g->input_count; k++)
            if (g->input[k].kind == ARG_VALUE && g->input[k].u.value == v)
                id = -1 - k;
        bool known = v && (v->def ? id >= 0 : id < 0);
        json_array_append_new(list, known ? json_integer(id) : json_null());
    }
    return list;
}

/* ---- values -------------------------------------------------------------------------------- */

static json_t *real_or_null(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

/* [low, width, counts]: the bins between the outermost numbers seen, so many taken together that
 * few remain. */
static json_t *bins_json(const Observed *o) {
    int first = 0, last = o->bin_count - 1;
    while (first < last && o->bin[first] == 0)
        first++;
    while (last > first && o->bin[last] == 0)
        last--;
    int together = (last - first) / SHOWN_BINS + 1;
    json_t *counts = json_array();
    for (int k = first; k <= last; k += together) {
        int64_t sum = 0;
        for (int i = k; i < k + together && i <= last; i++)
            sum += o->bin[i];
        json_array_append_new(counts, json_integer(sum));
    }
    return json_pack("[f, f, o]", o->bin_low + first * o->bin_width, together * o->bin_width,
                     counts);
}

static void add_observed(json_t *o, const Observed *seen) {
    json_object_set_new(o, "min", real_or_null(seen->min));
    json_object_set_new(o, "max", real_or_null(seen->max));
    if (seen->not_finite > 0)
        json_object_set_new(o, "not_finite", json_integer(seen->not_finite));
    if (seen->bin_count > 0 && seen->bin)
        json_object_set_new(o, "bins", bins_json(seen));
}

static void add_grid(json_t *o, const Grid *grid) {
    double levels = ldexp(1, grid->bits - 1);
    json_t *parts = json_array();
    for (int i = 0; i < grid->part_count; i++) {
        const Part *p = &grid->part[i];
        json_array_append_new(parts, json_pack("{s:f, s:i, s:f, s:f, s:I, s:I}", "scale", p->scale,
                                               "zero_point", p->zero_point, "low",
                                               p->scale * (-levels - p->zero_point), "high",
                                               p->scale * (levels - 1 - p->zero_point), "start",
                                               (json_int_t)(p->axis < 0 ? 0 : p->start), "stop",
                                               (json_int_t)(p->axis < 0 ? 0 : p->stop)));
    }
    json_object_set_new(o, "bits", json_integer(grid->bits));
    json_object_set_new(o, "parts", parts);
    if (grid->pinned)
        json_object_set_new(o, "pinned", json_true());
}

static json_t *value_json(const Value *v, json_t *nodes) {
    json_t *o = json_object(), *shape = json_array();
    for (int d = 0; d < v->type.rank; d++)
        json_array_append_new(shape, json_integer(v->type.dim[d]));
    json_object_set_new(o, "nodes", nodes);
    json_object_set_new(o, "name", json_string(v->name));
    json_object_set_new(o, "dtype", json_string(dtype_name(value_storage(v))));
    json_object_set_new(o, "shape", shape);
    json_object_set_new(o, "stored", json_boolean(!v->unstored));
    if (v->factor_count > 0)
        json_object_set_new(o, "equalized", json_true());
    if (v->grid)
        add_grid(o, v->grid);
    if (v->seen)
        add_observed(o, v->seen);
    return o;
}

static json_t *values_json(const Graph *g) {
    json_t *list = json_array();
    for (int k = 0; k < g->input_count; k++)
        if (g->input[k].kind == ARG_VALUE)
            json_array_append_new(list, value_json(g->input[k].u.value, json_pack("[i]", -1 - k)));
    for (const Node *n = g->first; n; n = n->next)
        for (int k = 0; !report_is_plumbing(n) && k < n->out_count; k++)
            json_array_append_new(list, value_json(n->out[k], ids_json(&n->origins)));
    return list;
}

/* ---- tables -------------------------------------------------------------------------------- */

static json_t *body_json(const Graph *body) {
    json_t *list = json_array();
    for (const Node *n = body->first; n; n = n->next) {
        const char *name = op_schema(n->op)->name, *colons = strstr(name, "::");
        json_array_append_new(list, json_string(colons ? colons + 2 : name));
    }
    return list;
}

typedef struct {
    const Node *node;
    const Grid *in, *out;
    int count, apart; /* entries shown, and how many steps of the input lie from one to the next */
    int stored;       /* entries or pieces that the chip has */
    int32_t entry[TABLE_ENTRIES];
    const int16_t *between; /* what the kernel has of int16: entries of table_s16, */
    const int16_t *start;   /* or pieces */
    const int32_t *piece;
    int pieces;
} Table;

/* What the chip gives for the step q of an int16 input. */
static int32_t result_s16(const Table *t, int32_t q) {
    if (t->between)
        return ctn_interpolate_s16(t->between, q);
    int k = t->pieces - 1;
    while (t->start[k] > q)
        k--;
    return ctn_piece_s16(t->piece + (ptrdiff_t)4 * k, q - t->start[k]);
}

static const void *constant_named(const Call *call, const char *name) {
    const CallRef *ref = call_ref_named(call, name);
    return ref && ref->buffer ? ref->buffer->data : NULL;
}

/* Of int16: what the chip gives at every 128th step; false if no call computes it. */
static bool take_s16(const Graph *g, Table *t) {
    enum { APART = 128 };
    for (const Call *call = g->first_call; call; call = call->next) {
        bool fused = t->node->fused && call->node == node_operand(t->node, 0)->def;
        if (call->node != t->node && !fused)
            continue;
        t->between = constant_named(call, "table");
        t->start = constant_named(call, "start");
        t->piece = constant_named(call, "piece");
        t->stored = t->pieces = t->piece ? *call_ints(call, "pieces") : 0;
        if (t->between)
            t->stored = 513;
    }
    t->apart = APART;
    if (!t->between && !t->piece)
        return false;
    for (int q = -32768; q < 32768; q += APART)
        t->entry[t->count++] = result_s16(t, q);
    return true;
}

static bool take_table(C *c, const Graph *g, const Node *n, Table *t) {
    if (!node_is(n, "corten::table") || !n->body)
        return false;
    *t = (Table){.node = n, .in = node_operand(n, 0)->grid, .out = n->out[0]->grid, .apart = 1};
    if (!t->in || !t->out || t->in->part_count != 1 || t->out->part_count != 1)
        return false;
    if (t->in->bits == 16)
        return t->out->bits == 16 && take_s16(g, t);
    if (t->out->bits != 8)
        return false;
    int8_t entry[TABLE_ENTRIES];
    t->stored = t->count = table_fill(c, n, t->in, t->out, entry);
    for (int i = 0; i < t->count; i++)
        t->entry[i] = entry[i];
    return true;
}

/* The input at a step behind the first. */
static double table_input(const Table *t, int step) {
    int levels = 1 << (t->in->bits - 1);
    return t->in->part[0].scale * (step - levels - t->in->part[0].zero_point);
}

/* How far the table is from its function where the result's grid reaches, in steps of it. */
static double table_error(const Table *t) {
    double scale = t->out->part[0].scale, levels = ldexp(1, t->out->bits - 1), worst = 0;
    int32_t zero = t->out->part[0].zero_point;
    int finer = t->apart > 1 ? 8 : 1;
    for (int i = 0; i < t->count * finer; i++) {
        int step = i * (t->apart / finer);
        double y = table_body_eval(t->node, table_input(t, step)) / scale;
        int32_t q = t->apart > 1 ? result_s16(t, step - 32768) : t->entry[i];
        if (y + zero >= -levels && y + zero <= levels - 1) /* false for NaN */
            worst = fmax(worst, fabs(y - (q - zero)));
    }
    return worst;
}

static json_t *table_json(const Table *t) {
    const Node *n = t->node;
    int step = (t->count - 1) / SHOWN_ENTRIES + 1;
    json_t *entries = json_array(), *function = json_array();
    for (int i = 0; i < t->count; i += step) {
        json_array_append_new(entries, json_integer(t->entry[i]));
        json_array_append_new(function,
                              real_or_null(table_body_eval(n, table_input(t, i * t->apart))));
    }
    double levels = ldexp(1, t->out->bits - 1), scale = t->out->part[0].scale;
    int32_t zero = t->out->part[0].zero_point;
    return json_pack("{s:o, s:s, s:o, s:i, s:b, s:b, s:f, s:f, s:f, s:f, s:f, s:i, s:f, s:o, s:o}",
                     "nodes", ids_json(&n->origins), "name", n->name, "body", body_json(n->body),
                     "entries", t->stored, "interpolated", t->apart > 1, "pieces", t->pieces > 0,
                     "low", table_input(t, 0), "step", step * t->apart * t->in->part[0].scale,
                     "least", scale * (-levels - zero), "most", scale * (levels - 1 - zero),
                     "scale", scale, "zero_point", zero, "error", table_error(t), "entry", entries,
                     "function", function);
}

static json_t *tables_json(C *c, const Graph *g) {
    json_t *list = json_array();
    Table *t = NEW(c, Table);
    for (const Node *n = g->first; n; n = n->next)
        if (take_table(c, g, n, t))
            json_array_append_new(list, table_json(t));
    return list;
}

const char *report_details(C *c, const Graph *g) {
    json_t *root = json_object();
    json_object_set_new(root, "sources", sources_json(g));
    json_object_set_new(root, "outputs", outputs_json(g));
    json_object_set_new(root, "values", values_json(g));
    json_object_set_new(root, "tables", tables_json(c, g));
    char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(7));
    json_decref(root);
    if (!text)
        fatal(c, DIAG_BUG, NULL, "the details of the report cannot be written as text");
    const char *copy = c_strdup(c, text);
    free(text);
    return copy;
}
