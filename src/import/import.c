/* From an archive to a graph: signature, inputs with their data, nodes, outputs. Problems that do
 * not hinder reading on are recorded, so that one run shows them all. */
#include "import/import.h"

#include <ctype.h>
#include <string.h>

#include "import/pt2.h"

/* The archive's stem as the name of C files, functions and types; one that cannot be gets "model_"
 * before it. */
static const char *model_name(C *c, const char *stem) {
    char *name = c_strdup(c, *stem ? stem : "model");
    for (char *s = name; *s; s++) {
        *s = isalnum((unsigned char)*s) && (unsigned char)*s < 128 ? *s : '_';
    }
    return model_name_is_usable(c, name) ? name : c_format(c, "model_%s", name);
}

bool model_name_is_usable(C *c, const char *name) {
    return word_is_identifier(name) && strcmp(name, "main") != 0 && !word_is_keyword(name) &&
           !word_is_header(name) && !word_is_reserved(c_format(c, "%s_t", name));
}

/* ---- inputs ------------------------------------------------------------------------------- */

static void add_input(Pt2 *p, const char *name, Arg arg) {
    Graph *g = p->g;
    g->input[g->input_count] = arg;
    g->input_name[g->input_count++] = c_strdup(p->c, name);
}

static Loc input_place(const Pt2 *p) {
    return (Loc){.file = p->path, .member = p->member};
}

/* False, with a placeholder of rank 0, when something was recorded. */
static bool input_meta(Pt2 *p, const json_t *graph, const char *name, Meta *out) {
    static const Meta placeholder = {.type = {.dtype = DT_F32}, .stored = DT_F32};
    Loc loc = input_place(p);
    *out = placeholder;
    const json_t *json = json_object_get(get_object(p, graph, "tensor_values"), name);
    if (!json) {
        diag_error(p->c, DIAG_INPUT, &loc, "input '%s' has no entry in tensor_values", name);
        return false;
    }
    bool good = meta_read(p, json, &loc, c_format(p->c, "input '%s'", name), out);
    if (!good) {
        *out = placeholder;
        p->made_up = true;
    }
    return good;
}

/* Tied and unused parameters that nobody reads get no Value: their data are never copied. */
static void read_stored(Pt2 *p, Scope *scope, const json_t *graph, const json_t *spec, Role role,
                        const char *fqn_key) {
    const char *name = get_string(p, get_object(p, spec, "arg"), "name");
    const char *fqn = c_strdup(p->c, get_string(p, spec, fqn_key));
    Meta meta;
    if (!json_object_get(p->used, name)) {
        return;
    }
    Loc loc = input_place(p);
    Array *data = NULL;
    if (input_meta(p, graph, name, &meta)) {
        data = weight_load(p, fqn, role, &meta);
    }
    Value *v = scope_define(p, scope, name, &loc, &meta);
    if (v) {
        v->role = role;
        v->fqn = fqn;
        v->constant = data;
    }
}

static void report_dynamic_input(Pt2 *p, const char *name, const Meta *meta) {
    Loc loc = {.file = p->path};
    const json_t *range =
        json_object_get(json_object_get(p->model, "range_constraints"), meta->symbol);
    const json_t *low = json_object_get(range, "min_val"),
                 *high = json_object_get(range, "max_val");
    const char *text = "";
    if (json_is_integer(low) && json_is_integer(high)) {
        text = c_format(p->c, ", %lld to %lld", (long long)json_integer_value(low),
                        (long long)json_integer_value(high));
    }
    diag_error(p->c, DIAG_MODEL, &loc, "dimension %d of input '%s' is dynamic (%s%s)",
               meta->symbol_dim, name, meta->symbol, text);
    diag_detail(p->c, "export without dynamic_shapes, or with fixed sizes");
    p->dynamic_inputs++;
}

static void read_user_input(Pt2 *p, Scope *scope, const json_t *graph, const json_t *spec) {
    json_t *content;
    const char *kind = get_union(p, get_object(p, spec, "arg"), &content);
    Loc loc = input_place(p);
    if (text_equal(kind, "as_none")) {
        add_input(p, "none", arg_none());
        return;
    }
    if (strncmp(kind, "as_sym_", 7) == 0) {
        const char *name = json_string_value(json_object_get(content, "as_name"));
        diag_error(p->c, DIAG_MODEL, &loc, "input '%s' is a number given at run time",
                   name ? name : "?");
        diag_detail(p->c, "export with a fixed number, or with a tensor");
        p->dynamic_inputs++;
        return;
    }
    if (!text_equal(kind, "as_tensor")) {
        archive_malformed(p, "a user input of kind %s is not known", kind);
    }
    const char *name = get_string(p, content, "name");
    Meta meta;
    input_meta(p, graph, name, &meta);
    if (meta.symbol) {
        report_dynamic_input(p, name, &meta);
    }
    Value *v = scope_define(p, scope, name, &loc, &meta);
    if (v) {
        v->role = ROLE_INPUT;
        json_object_set_new(p->makers, name, json_integer(-1 - p->g->input_count));
        add_input(p, name, arg_value(v));
    }
}

static void read_constant_input(Pt2 *p, const json_t *spec) {
    const char *name = get_string(p, spec, "name");
    json_t *content;
    const char *kind = get_union(p, get_object(p, spec, "value"), &content);
    if (text_equal(kind, "as_none")) {
        add_input(p, name, arg_none());
    } else if (text_equal(kind, "as_int") && json_is_integer(content)) {
        add_input(p, name, arg_int(json_integer_value(content)));
    } else if (text_equal(kind, "as_float")) {
        add_input(p, name, arg_float(number_read(p, content)));
    } else if (text_equal(kind, "as_bool") && json_is_boolean(content)) {
        add_input(p, name, arg_bool(json_is_true(content)));
    } else if (text_equal(kind, "as_string") && json_is_string(content)) {
        add_input(p, name, arg_string(c_strdup(p->c, json_string_value(content))));
    } else {
        archive_malformed(p, "a constant input of kind %s is not known", kind);
    }
}

/* An object or token: refused, and its name defined so that its readers are no errors of their own.
 */
static void read_foreign_input(Pt2 *p, Scope *scope, const char *kind, const json_t *spec) {
    Loc loc = input_place(p);
    Meta meta = {.type = {.dtype = DT_F32}};
    const char *name = json_string_value(json_object_get(json_object_get(spec, "arg"), "name"));
    diag_error(p->c, DIAG_MODEL, &loc, "an input of kind %s is not supported", kind);
    p->made_up = true;
    if (name)
        scope_define(p, scope, name, &loc, &meta);
}

static void read_input(Pt2 *p, Scope *scope, const json_t *graph, const json_t *u) {
    json_t *spec;
    const char *kind = get_union(p, u, &spec);
    if (text_equal(kind, "parameter")) {
        read_stored(p, scope, graph, spec, ROLE_PARAMETER, "parameter_name");
    } else if (text_equal(kind, "buffer")) {
        read_stored(p, scope, graph, spec, ROLE_BUFFER, "buffer_name");
    } else if (text_equal(kind, "tensor_constant")) {
        read_stored(p, scope, graph, spec, ROLE_CONSTANT, "tensor_constant_name");
    } else if (text_equal(kind, "user_input")) {
        read_user_input(p, scope, graph, spec);
    } else if (text_equal(kind, "constant_input")) {
        read_constant_input(p, spec);
    } else {
        read_foreign_input(p, scope, kind, spec);
    }
}

/* The signature and the graph say the same names in the same order. */
static void check_input(Pt2 *p, const json_t *spec, const json_t *graph_input) {
    json_t *content, *given;
    get_union(p, spec, &content);
    const char *kind = get_union(p, graph_input, &given);
    const json_t *arg = json_object_get(content, "arg");
    const json_t *tensor = json_object_get(arg, "as_tensor");
    const char *name = json_string_value(json_object_get(tensor ? tensor : arg, "name"));
    if (text_equal(kind, "as_tensor") && name && !text_equal(name, get_string(p, given, "name"))) {
        archive_malformed(p, "'%s' in the signature, but '%s' in the graph", name,
                          get_string(p, given, "name"));
    }
}

static void read_inputs(Pt2 *p, Scope *scope, const json_t *graph, const json_t *signature) {
    p->what = "signature";
    const json_t *specs = get_array(p, signature, "input_specs");
    p->what = "graph";
    const json_t *inputs = get_array(p, graph, "inputs");
    size_t count = json_array_size(specs);
    if (count != json_array_size(inputs)) {
        archive_malformed(p, "%zu inputs, but the signature has %zu", json_array_size(inputs),
                          count);
    }
    p->g->input = NEW_ARRAY(p->c, Arg, count);
    p->g->input_name = NEW_ARRAY(p->c, const char *, count);
    for (size_t i = 0; i < count; i++) {
        p->member = "models/model.json";
        p->what = c_format(p->c, "signature.input_specs[%zu]", i);
        check_input(p, json_array_get(specs, i), json_array_get(inputs, i));
        read_input(p, scope, graph, json_array_get(specs, i));
    }
    p->member = "models/model.json";
}

/* ---- outputs ------------------------------------------------------------------------------ */

static void add_output(Pt2 *p, const char *name, Arg arg) {
    Graph *g = p->g;
    g->output[g->output_count] = arg;
    g->output_name[g->output_count] = name ? name : c_format(p->c, "out%d", g->output_count);
    g->output_count++;
}

static void read_user_output(Pt2 *p, const Scope *scope, const json_t *u) {
    json_t *content;
    const char *kind = get_union(p, u, &content);
    Loc loc = input_place(p);
    if (text_equal(kind, "as_tensor")) {
        const char *name = get_string(p, content, "name");
        Value *v = scope_value(p, scope, name, &loc);
        if (v) {
            add_output(p, c_strdup(p->c, name), arg_value(v));
        }
    } else if (text_equal(kind, "as_none")) {
        add_output(p, NULL, arg_none());
    } else if (text_equal(kind, "as_int") && json_is_integer(content)) {
        add_output(p, NULL, arg_int(json_integer_value(content)));
    } else if (strncmp(kind, "as_sym_", 7) == 0) {
        const char *name = json_string_value(json_object_get(content, "as_name"));
        report_run_time_number(p, &loc, "an output", name ? name : kind);
    } else {
        diag_error(p->c, DIAG_MODEL, &loc, "%s: an output that is %s is not supported", p->what,
                   kind + (strncmp(kind, "as_", 3) == 0 ? 3 : 0));
    }
}

/* Archives that torch made functional list what they write: a buffer's next value. */
static void read_mutation(Pt2 *p, const Scope *scope, const json_t *spec) {
    const char *name = get_string(p, get_object(p, spec, "arg"), "name");
    const char *fqn = get_string(p, spec, "buffer_name");
    Graph *g = p->g;
    Loc loc = input_place(p);
    Value *after = scope_value(p, scope, name, &loc), *before = NULL;
    for (int i = 0; i < g->value_count; i++) {
        if (g->value[i]->role == ROLE_BUFFER && text_equal(g->value[i]->fqn, fqn)) {
            before = g->value[i];
        }
    }
    if (after && before) {
        g->state[g->state_count++] = (State){before, after, before->fqn, -1};
    } /* a buffer that nobody reads needs no next value */
}

static void read_outputs(Pt2 *p, const Scope *scope, const json_t *graph, const json_t *signature) {
    p->what = "signature";
    const json_t *specs = get_array(p, signature, "output_specs");
    p->what = "graph";
    const json_t *outputs = get_array(p, graph, "outputs");
    size_t count = json_array_size(specs);
    if (count != json_array_size(outputs)) {
        archive_malformed(p, "%zu outputs, but the signature has %zu", json_array_size(outputs),
                          count);
    }
    p->g->output = NEW_ARRAY(p->c, Arg, count);
    p->g->output_name = NEW_ARRAY(p->c, const char *, count);
    p->g->state = NEW_ARRAY(p->c, State, count);
    for (size_t i = 0; i < count; i++) {
        p->what = c_format(p->c, "signature.output_specs[%zu]", i);
        json_t *spec;
        const char *kind = get_union(p, json_array_get(specs, i), &spec);
        if (text_equal(kind, "user_output") || text_equal(kind, "loss_output")) {
            read_user_output(p, scope, json_array_get(outputs, i));
        } else if (text_equal(kind, "buffer_mutation")) {
            read_mutation(p, scope, spec);
        } else if (!text_equal(kind, "user_input_mutation")) { /* not returned: no output */
            Loc loc = input_place(p);
            diag_error(p->c, DIAG_MODEL, &loc, "an output of kind %s is not supported", kind);
        }
    }
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void read_graph(Pt2 *p) {
    p->what = NULL;
    const json_t *module = get_object(p, p->model, "graph_module");
    const json_t *graph = get_object(p, module, "graph");
    const json_t *signature = get_object(p, module, "signature");
    p->what = "graph";
    const json_t *nodes = get_array(p, graph, "nodes");
    Scope scope = {.tensors = get_object(p, graph, "tensor_values")};
    scope_open(p, &scope);
    p->g->archive = NEW_ARRAY(p->c, ArchiveNode, json_array_size(nodes));
    names_used(p, graph);
    read_inputs(p, &scope, graph, signature);
    nodes_read(p, &scope, nodes);
    read_outputs(p, &scope, graph, signature);
    if (p->g->output_count == 0 && diag_error_count(p->c) == 0) {
        archive_malformed(p, "the model has no outputs");
    }
}

static void import_body(C *c, void *user) {
    Pt2 *p = user;
    p->other_float = DT_F32;
    p->used = json_object();
    p->node_names = json_object();
    p->makers = json_object();
    p->unknown = json_object();
    archive_open(p);
    p->g = graph_new(c, model_name(c, path_stem(c, p->path)));
    p->g->archive_path = c_strdup(c, p->path);
    p->g->archive_sha256 = bytes_sha256(c, p->data, p->bytes);
    p->member = "models/model.json";
    read_graph(p);
    if (p->other_float != DT_F32 && diag_error_count(c) == 0)
        diag_warning(c, &(Loc){.file = p->path},
                     "%s numbers are read, computed and given as float32",
                     dtype_name(p->other_float));
    graph_index(p->g);
}

/* A model that cannot be imported whole never comes to the passes: what they would refuse for want
 * of an integer form is said here, so that the user sees all at once. */
static bool was_refused(const C *c, const char *node) {
    for (const Diag *d = c->first_diag; d; d = d->next)
        if (d->loc.node && text_equal(d->loc.node, node))
            return true;
    return false;
}

static void name_refusals(C *c, const Graph *g) {
    for (const Node *n = g->first; n; n = n->next) {
        const Op *op = n->op;
        bool folds = op->traits & OP_CREATES;
        if (op->lower || op->decompose || op->map || folds || !op->no_integer_form ||
            (n->loc.node && was_refused(c, n->loc.node)))
            continue;
        diag_error(c, DIAG_MODEL, &n->loc, "%s has no integer form", node_operator(n));
        diag_detail(c, "%s", op->no_integer_form);
    }
}

Graph *import_pt2(C *c, const char *path) {
    return import_pt2_bytes(c, path, NULL, 0);
}

/* A file is read at once: one that is changed meanwhile is the one or the other or damaged, and its
 * SHA-256 is that of the bytes that were read. */
Graph *import_pt2_partly(C *c, const char *name, const void *data, size_t bytes) {
    if (!data) {
        zip_close_file(zip_open_file(c, name)); /* before gigabytes that are no archive are read */
        data = file_read(c, name, &bytes);
    }
    Pt2 p = {.c = c, .path = c_strdup(c, name), .data = data, .bytes = bytes};
    c_try(c, import_body, &p);
    archive_close(&p);
    if (diag_error_count(c) > 0 && diag_exit_code(c) == DIAG_MODEL && p.g)
        name_refusals(c, p.g);
    if (!p.g || diag_exit_code(c) != DIAG_MODEL)
        diag_stop_if_errors(c);
    return p.g;
}

Graph *import_pt2_bytes(C *c, const char *name, const void *data, size_t bytes) {
    Graph *g = import_pt2_partly(c, name, data, bytes);
    diag_stop_if_errors(c);
    return g;
}
