/* report.json: the contract of design section 9. Keys stand in a fixed order and numbers depend on
 * the graph alone, but for `seconds`. */
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *text_or_null(const char *s) {
    return s ? json_string(s) : json_null();
}

/* So that the folder can be taken up from anywhere. */
static json_t *absolute_path(const char *path) {
    char *real = path ? realpath(path, NULL) : NULL;
    json_t *text = text_or_null(real ? real : path);
    free(real);
    return text;
}

static const char *fate_name(Fate fate) {
    static const char *const name[] = {"removed", "kernel", "fused", "folded", "moved", "removed"};
    return name[fate];
}

static json_t *shape_json(const Type *t) {
    json_t *shape = json_array();
    for (int d = 0; d < t->rank; d++)
        json_array_append_new(shape, json_integer(t->dim[d]));
    return shape;
}

static json_t *parts_json(const Grid *grid) {
    json_t *parts = json_array();
    for (int i = 0; i < grid->part_count; i++) {
        const Part *p = &grid->part[i];
        json_array_append_new(parts,
                              json_pack("{s:i, s:I, s:I, s:f, s:i}", "axis", p->axis, "start",
                                        (json_int_t)p->start, "stop", (json_int_t)p->stop, "scale",
                                        p->scale, "zero_point", p->zero_point));
    }
    return parts;
}

/* "calibrated": the least and the largest number that calibration saw; left out when it saw none.
 */
static void add_calibrated(json_t *o, const Value *v) {
    while (v && !v->seen && v->def && v->def->op->traits & OP_MOVES_DATA)
        v = node_operand(v->def, 0); /* the numbers are the same */
    if (v && v->seen && isfinite(v->seen->min) && isfinite(v->seen->max))
        json_object_set_new(o, "calibrated", json_pack("[f, f]", v->seen->min, v->seen->max));
}

static json_t *boundary_json(const Arg *arg, const char *name) {
    json_t *o = json_object();
    json_object_set_new(o, "name", text_or_null(name));
    if (arg->kind != ARG_VALUE) { /* a constant of the call: no tensor crosses */
        json_object_set_new(o, "shape", json_null());
        json_object_set_new(o, "dtype", json_string("none"));
        json_object_set_new(o, "scale", json_null());
        json_object_set_new(o, "zero_point", json_null());
        return o;
    }
    const Value *v = arg->u.value;
    json_object_set_new(o, "shape", shape_json(&v->type));
    json_object_set_new(o, "dtype", json_string(dtype_name(value_storage(v))));
    json_object_set_new(o, "scale", v->grid ? json_real(v->grid->part[0].scale) : json_null());
    json_object_set_new(o, "zero_point",
                        v->grid ? json_integer(v->grid->part[0].zero_point) : json_null());
    if (v->grid && v->grid->part_count > 1)
        json_object_set_new(o, "parts", parts_json(v->grid));
    json_object_set_new(o, "layout",
                        json_string(value_order_is_identity(v) ? "logical" : "channels_last"));
    add_calibrated(o, v);
    return o;
}

json_t *report_db(double db) { /* JSON has no infinity */
    return isnan(db) ? json_null() : json_real(isinf(db) ? copysign(DB_EXACT, db) : db);
}

static void add_output_sqnr(json_t *outputs, const Graph *g) {
    for (int i = 0; i < g->output_count; i++)
        json_object_set_new(json_array_get(outputs, (size_t)i), "sqnr_db",
                            report_db(g->output_sqnr_db ? g->output_sqnr_db[i] : NAN));
}

static json_t *boundaries_json(int count, const Arg *arg, const char *const *name) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, boundary_json(&arg[i], name ? name[i] : NULL));
    return list;
}

/* A state's first numbers as they are stored; one stands for all where they are alike. */
static json_t *initial_json(const Array *a) {
    json_t *list = json_array();
    bool alike = true;
    for (int64_t i = 0; i < array_count(a); i++) {
        double x = array_get(a, i);
        json_array_append_new(list, dtype_is_float(a->dtype) ? json_real(x)
                                                             : json_integer(array_get_int(a, i)));
        alike = alike && x == array_get(a, 0);
    }
    json_t *first = json_incref(json_array_get(list, 0));
    if (!alike || !first) {
        json_decref(first);
        return list;
    }
    json_decref(list);
    return first;
}

static json_t *states_json(const Graph *g) {
    json_t *list = json_array();
    for (int i = 0; i < g->state_count; i++) {
        Value *v = g->state[i].before;
        const Arg arg = arg_value(v);
        json_t *o = boundary_json(&arg, g->state[i].fqn);
        const Array *first = state_initial(&g->state[i]);
        json_object_set_new(o, "initial", first ? initial_json(first) : json_integer(0));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *node_json(C *c, const Graph *g, int id) {
    const ArchiveNode *a = &g->archive[id];
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(a->name));
    json_object_set_new(o, "op", json_string(a->op));
    json_object_set_new(o, "module", text_or_null(a->module));
    bool known = a->loc.file && a->loc.line;
    json_object_set_new(o, "source",
                        known ? json_string(c_format(c, "%s:%d", a->loc.file, a->loc.line))
                              : json_null());
    json_object_set_new(o, "numeric", json_string(a->numeric));
    json_object_set_new(o, "weights", text_or_null(a->weights));
    json_object_set_new(o, "numeric_reason", text_or_null(a->numeric_reason));
    json_object_set_new(o, "fate", json_string(fate_name(a->fate)));
    json_object_set_new(o, "reason", text_or_null(a->reason));
    json_t *into = json_array();
    int64_t macs = 0;
    double sqnr = NAN;
    for (const Call *call = g->first_call; call; call = call->next) {
        if (!call_serves(call, id))
            continue;
        json_array_append_new(into, json_string(call->name));
        if (call->kernel == CTN_KERNEL_npu)
            continue;
        macs += a->fate == FATE_KERNEL ? call->macs : 0;
        sqnr = call->node && !isnan(call->node->sqnr_db) ? call->node->sqnr_db : sqnr;
    }
    for (const Node *n = g->first; n; n = n->next) {
        if (n->target != NODE_NPU || !origins_have(&n->origins, id))
            continue;
        macs += a->fate == FATE_KERNEL ? n->npu_macs : 0;
        sqnr = isnan(n->sqnr_db) ? sqnr : n->sqnr_db;
    }
    json_object_set_new(o, "into", into);
    json_object_set_new(o, "macs", json_integer(macs));
    json_object_set_new(o, "sqnr_db", report_db(sqnr));
    return o;
}

static json_t *estimate_json(double instructions) {
    return isfinite(instructions) ? json_integer((json_int_t)llround(instructions)) : json_null();
}

static json_t *call_json(const Graph *g, const Options *o, const Call *call) {
    json_t *arena = json_array();
    int64_t scratch = 0, weights = 0;
    for (int r = 0; r < call->ref_count; r++) {
        const Buffer *b = call->ref[r].buffer;
        if (!b)
            continue;
        if (g->region[b->region].kind == REGION_ARENA)
            json_array_append_new(arena,
                                  json_pack("[I, I]", (json_int_t)b->offset, (json_int_t)b->bytes));
        scratch += b->kind == BUFFER_SCRATCH ? b->bytes : 0;
        weights += b->kind == BUFFER_CONSTANT ? b->bytes : 0;
    }
    json_t *j = json_object();
    json_object_set_new(j, "name", json_string(call->name));
    json_object_set_new(j, "kernel", json_string(call->variant->symbol));
    json_object_set_new(j, "macs", json_integer(call->macs));
    json_object_set_new(j, "instructions_estimate", estimate_json(call_instructions(g, call, o)));
    json_object_set_new(j, "arena", arena);
    json_object_set_new(j, "scratch_bytes", json_integer(scratch));
    json_object_set_new(j, "weights_bytes", json_integer(weights));
    add_calibrated(j, call->node && call->node->out_count ? node_result(call->node) : NULL);
    return j;
}

static json_t *seconds_json(const double seconds[TIMERS]) {
    json_t *o = json_object();
    for (int i = 0; timer_names[i]; i++)
        json_object_set_new(o, timer_names[i], json_real(round(seconds[i] * 1e4) / 1e4));
    return o;
}

/* What lowering depended on, so that the folder can be taken up again. */
static const char *precision_lines(C *c, const Options *o) {
    Text t = text_new(c);
    for (int i = 0; i < o->precision_count; i++)
        text_add(&t, "%s = %s\n", o->precision[i].pattern, o->precision[i].precision);
    return text_string(&t);
}

static json_t *texts_json(int count, const char *const *text) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_string(text[i]));
    return list;
}

static json_t *options_json(C *c, const Options *o) {
    static const char *const io[] = {NULL, "int8", "int16", "float", "uint8"};
    static const char *const observer[] = {"minmax", "percentile", "mse"};
    return json_pack("{s:o, s:o, s:s?, s:s?, s:s, s:s, s:s?, s:s?, s:s, s:s, s:b, s:b, s:b, s:s?, "
                     "s:o, s:s?, s:b, "
                     "s:I}",
                     "state", texts_json(o->state_count, o->state), "input_scale",
                     texts_json(o->input_scale_count, o->input_scale), "mean", o->mean, "std",
                     o->std, "observer", observer[o->observer], "precision", precision_lines(c, o),
                     "from", o->resume, "io", io[o->io], "io_layout", o->io_nhwc ? "nhwc" : "nchw",
                     "optimize", o->optimize_size ? "size" : "speed", "keep_inputs", o->keep_inputs,
                     "bind_inputs", o->bind_inputs, "bind_outputs", o->bind_outputs, "memory",
                     o->memory_text, "limits", texts_json(o->limit_count, o->limit), "arena",
                     o->arena, "allow_float", o->allow_float, "ram", (json_int_t)o->ram_limit);
}

static json_t *budget_json(const Graph *g, const Options *o) {
    if (!(o->accuracy_budget_db > 0))
        return json_null();
    json_t *raised = json_array(), *reached = json_array();
    for (int i = 0; i < o->raised_count; i++)
        json_array_append_new(raised, json_string(o->raised[i].value));
    for (int i = 0; i < g->output_count; i++)
        json_array_append_new(reached, report_db(g->output_sqnr_db ? g->output_sqnr_db[i] : NAN));
    return json_pack("{s:f, s:o, s:o}", "asked_db", o->accuracy_budget_db, "reached_db", reached,
                     "raised", raised);
}

static void add_totals(C *c, json_t *root, const Graph *g, const Options *o) {
    int64_t macs = 0;
    double instructions = 0;
    int floats = 0;
    for (const Call *call = g->first_call; call; call = call->next)
        macs += call->macs;
    for (const Call *call = g->first_call; call; call = call->next)
        if (call->kernel != CTN_KERNEL_npu) /* the CPU's alone */
            instructions += call_instructions(g, call, o);
    for (int i = 0; i < g->archive_count; i++)
        floats += strcmp(g->archive[i].numeric, "float") == 0;
    json_object_set_new(root, "float_nodes", json_integer(floats));
    json_object_set_new(root, "macs", json_integer(macs));
    json_object_set_new(root, "instructions_estimate", estimate_json(instructions));
    json_object_set_new(root, "instructions_origin", json_string(instructions_origin()));
    json_object_set_new(root, "arena_bytes", json_integer(g->arena_bytes));
    json_object_set_new(root, "arena_lower_bound_bytes", json_integer(g->arena_lower_bound));
    json_object_set_new(root, "state_bytes", json_integer(g->state_bytes));
    json_object_set_new(root, "input_bytes", json_integer(g->input_bytes));
    json_object_set_new(root, "output_bytes", json_integer(g->output_bytes));
    json_object_set_new(root, "weights_bytes", json_integer(g->weights_bytes));
    json_object_set_new(root, "peak_node", text_or_null(g->peak_node));
    json_object_set_new(root, "bytes", report_totals(c, g, o));
    json_object_set_new(root, "memory", report_timeline(g));
    json_object_set_new(root, "memories", report_memories(g));
}

const char *report_json(C *c, Graph *g, const Options *o, const double seconds[TIMERS],
                        FileSet *out) {
    json_t *root = json_object();
    json_object_set_new(root, "corten", json_string(CORTEN_VERSION));
    json_object_set_new(root, "model",
                        o->holds_archive ? json_string(g->archive_path)
                                         : absolute_path(g->archive_path));
    json_object_set_new(root, "model_sha256", text_or_null(g->archive_sha256));
    json_object_set_new(root, "source_sha256", text_or_null(g->source_sha256));
    json_object_set_new(root, "name", json_string(g->name));
    json_object_set_new(root, "target", json_string(o->target));
    json_object_set_new(root, "isa", json_string(o->isa));
    json_object_set_new(root, "options", options_json(c, o));
    json_object_set_new(root, "inputs", boundaries_json(g->input_count, g->input, g->input_name));
    json_object_set_new(root, "outputs",
                        boundaries_json(g->output_count, g->output, g->output_name));
    add_output_sqnr(json_object_get(root, "outputs"), g);
    json_object_set_new(root, "states", states_json(g));
    json_t *nodes = json_array(), *calls = json_array(), *files = json_array();
    for (int i = 0; i < g->archive_count; i++)
        json_array_append_new(nodes, node_json(c, g, i));
    for (const Call *call = g->first_call; call; call = call->next)
        json_array_append_new(calls, call_json(g, o, call));
    json_object_set_new(root, "nodes", nodes);
    json_object_set_new(root, "calls", calls);
    json_object_set_new(root, "strips", report_strips(g, o));
    json_object_set_new(root, "npu", report_npu(c, g, o));
    json_object_set_new(root, "accuracy_budget", budget_json(g, o));
    add_totals(c, root, g, o);
    json_object_set_new(root, "warnings", diag_json(c, true));
    json_object_set_new(root, "seconds", seconds_json(seconds));
    for (int i = 0; i < out->count; i++)
        json_array_append_new(files, json_string(out->file[i].name));
    json_array_append_new(files, json_string("report.json"));
    json_array_append_new(files, json_string("report.html"));
    json_object_set_new(root, "files", files);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    if (!text)
        fatal(c, DIAG_BUG, NULL, "report.json cannot be written as text");
    fileset_add(c, out, "report.json", text, strlen(text));
    const char *copy = c_strdup(c, text);
    free(text);
    return copy;
}
