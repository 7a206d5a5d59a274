/* corten inspect: what is in an archive and what each node will become, before any data. Operators
 * that are not known end a compile but not this: their nodes stand in the table with the reason.
 * What is shown is made as JSON first; the text reads that, so that both say the same. */
#include "api/session.h"

#include <jansson.h>
#include <string.h>

typedef struct {
    const char *becomes, *numeric, *why;
} Fortune;

/* What numbers a node will compute with, unless --precision or its ranges say otherwise. */
static const char *numeric_of(const Node *n) {
    if (n->out_count == 0)
        return "none";
    DType dtype = n->out[0]->type.dtype;
    return dtype_is_float(dtype) ? "int8" : dtype_name(dtype);
}

static const char *form_of(const Op *op) {
    if (op->map && !op->lower)
        return "table";
    if (op->traits & OP_MOVES_DATA)
        return "movement";
    return op->lower ? "kernel" : "decomposes"; /* only where the passes could not run */
}

/* What an archive node will become, from its live nodes after decomposition. */
static Fortune fortune_of(const Graph *g, int id) {
    const ArchiveNode *a = &g->archive[id];
    if (a->fate == FATE_LIVE && a->reason)
        return (Fortune){"none", "none", a->reason};
    Fortune f = {"removed", "none", a->reason};
    if (a->fate == FATE_FOLDED)
        f.becomes = "folded";
    if (a->fate != FATE_LIVE)
        return f;
    for (const Node *n = g->first; n; n = n->next) {
        if (!origins_have(&n->origins, id))
            continue;
        const Op *op = n->op;
        if (!op->lower && !op->map && (!op->decompose || g->stage == STAGE_CORE))
            return (Fortune){"none", "none",
                             op->no_integer_form ? op->no_integer_form : "no integer form"};
        if (!text_equal(f.becomes, "kernel") || !(op->traits & OP_MOVES_DATA))
            f = (Fortune){form_of(op), numeric_of(n), NULL}; /* a kernel says more than movement */
    }
    return f;
}

/* ---- counting ------------------------------------------------------------------------------ */

/* Multiplications of a core node: each weight is used once per place. */
static int64_t node_macs(const Node *n) {
    const Value *out = n->out_count ? n->out[0] : NULL,
                *in = node_operand_count(n) > 1 ? node_operand(n, 0) : NULL;
    if (!out || !in || in->type.rank == 0)
        return 0;
    int64_t rows = type_count(&in->type) /
                   (in->type.dim[in->type.rank - 1] > 0 ? in->type.dim[in->type.rank - 1] : 1);
    if (node_is(n, "corten::matmul"))
        return type_count(&out->type) * in->type.dim[in->type.rank - 1];
    if (node_is(n, "corten::linear"))
        return type_count(&node_in(n, "weight")->type) * rows;
    if (node_is(n, "corten::lstm") || node_is(n, "corten::gru") || node_is(n, "corten::rnn"))
        return (type_count(&node_in(n, "w_ih")->type) + type_count(&node_in(n, "w_hh")->type)) *
               rows;
    const char *name = op_schema(n->op)->name;
    if (strncmp(name, "corten::conv", 12) != 0 || out->type.rank < 3 || in->type.rank < 3)
        return 0;
    const Type *places = strstr(name, "transpose") ? &in->type : &out->type;
    return places->dim[1] > 0
               ? type_count(&node_in(n, "weight")->type) * (type_count(places) / places->dim[1])
               : 0;
}

static int64_t macs_of(const Graph *g, int id) {
    int64_t macs = 0;
    for (const Node *n = g->first; n; n = n->next)
        if (n->origins.count > 0 && n->origins.id[0] == id) /* what folded into it comes behind */
            macs += node_macs(n);
    return macs;
}

static int64_t parameter_count(const Graph *g) {
    int64_t count = 0;
    for (int i = 0; i < g->value_count; i++)
        if (g->value[i]->role == ROLE_PARAMETER)
            count += type_count(&g->value[i]->type);
    return count;
}

/* ---- as JSON ------------------------------------------------------------------------------- */

static json_t *boundary(const Graph *g, bool inputs) {
    json_t *list = json_array();
    int count = inputs ? g->input_count : g->output_count;
    for (int i = 0; i < count; i++) {
        const Arg *arg = inputs ? &g->input[i] : &g->output[i];
        const char *const *names = inputs ? g->input_name : g->output_name;
        json_t *shape = json_array();
        if (arg->kind == ARG_VALUE)
            for (int d = 0; d < arg->u.value->type.rank; d++)
                json_array_append_new(shape, json_integer(arg->u.value->type.dim[d]));
        json_array_append_new(
            list, json_pack("{s:s?, s:s, s:o}", "name", names ? names[i] : NULL, "dtype",
                            arg->kind == ARG_VALUE ? dtype_name(arg->u.value->type.dtype) : "none",
                            "shape", shape));
    }
    return list;
}

/* In-place writes as the archive has them, before functionalize takes them out. */
static json_t *find_writes(const Graph *g) {
    json_t *list = json_array();
    for (const Node *n = g->first; n; n = n->next)
        if (n->writes)
            json_array_append_new(list, json_string(n->name));
    return list;
}

static json_t *node_json(C *c, const Graph *g, int id, const Estimate *e) {
    const ArchiveNode *a = &g->archive[id];
    Fortune f = fortune_of(g, id);
    const char *source =
        a->loc.file && a->loc.line ? c_format(c, "%s:%d", a->loc.file, a->loc.line) : NULL;
    if (id < e->node_count) {
        f.numeric = e->node[id].numeric;
        f.why = f.why ? f.why : e->node[id].why;
    }
    return json_pack("{s:s, s:s, s:s?, s:s?, s:s, s:s, s:I, s:s?}", "name", a->name, "op", a->op,
                     "module", a->module, "source", source, "becomes", f.becomes, "numeric",
                     f.numeric, "macs", (json_int_t)macs_of(g, id), "why", f.why);
}

/* Operators in the order in which they appear: how often, and what becomes of them. */
static json_t *operators_json(const json_t *nodes) {
    json_t *found = json_object(), *list = json_array(), *node;
    size_t i;
    json_array_foreach(nodes, i, node) {
        const char *op = json_string_value(json_object_get(node, "op"));
        json_t *o = json_object_get(found, op), *count = NULL;
        if (!o) {
            o = json_pack("{s:s, s:i, s:{}}", "op", op, "count", 0, "becomes");
            json_object_set(found, op, o);
            json_array_append_new(list, o);
        }
        json_object_set_new(o, "count",
                            json_integer(json_integer_value(json_object_get(o, "count")) + 1));
        json_t *becomes = json_object_get(o, "becomes");
        const char *what = json_string_value(json_object_get(node, "becomes"));
        count = json_object_get(becomes, what);
        json_object_set_new(becomes, what, json_integer(json_integer_value(count) + 1));
    }
    json_decref(found);
    return list;
}

static json_t *estimate_json(const Session *s, const Estimate *e) {
    if (e->why_not)
        return json_pack("{s:s, s:s}", "target", s->o->target, "why_not", e->why_not);
    json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:i, s:i}", "target", s->o->target,
                          "arena_bytes", (json_int_t)e->bytes.arena, "state_bytes",
                          (json_int_t)e->bytes.state, "flash_bytes", (json_int_t)e->bytes.rodata,
                          "weights_bytes", (json_int_t)e->bytes.weights, "macs",
                          (json_int_t)e->macs, "calls", e->calls, "float_nodes", e->float_nodes);
    json_int_t code = (json_int_t)(e->bytes.kernel_code + e->bytes.model_code);
    json_object_set_new(o, "code_bytes", e->has_code ? json_integer(code) : json_null());
    json_object_set_new(o, "stack_bytes",
                        e->has_code ? json_integer((json_int_t)e->bytes.stack) : json_null());
    bool any = e->unknown_calls < e->calls;
    json_object_set_new(o, "instructions",
                        any ? json_integer((json_int_t)e->instructions) : json_null());
    json_object_set_new(o, "calls_of_unknown_cost", json_integer(e->unknown_calls));
    return o;
}

static json_t *inspection(C *c, Session *s, Graph *g, json_t *root) {
    json_object_set_new(root, "model", json_string(s->o->model));
    json_object_set_new(root, "inputs", boundary(g, true));
    json_object_set_new(root, "outputs", boundary(g, false));
    json_object_set_new(root, "parameters", json_integer(parameter_count(g)));
    json_object_set_new(root, "in_place_writes", find_writes(g));
    Estimate e = {0};
    bool whole = diag_error_count(c) == 0;
    if (whole) {
        PipelineControl control = {.stop_after = "decompose"};
        pipeline_run(c, g, &s->compile, &control);
    }
    if (whole && s->o->target)
        e = estimate_needs(c, s);
    json_t *nodes = json_array();
    int64_t missing = 0, macs = 0;
    for (int i = 0; i < g->archive_count; i++) {
        json_t *node = node_json(c, g, i, &e);
        missing += strcmp(json_string_value(json_object_get(node, "becomes")), "none") == 0;
        macs += json_integer_value(json_object_get(node, "macs"));
        json_array_append_new(nodes, node);
    }
    json_object_set_new(root, "macs", whole ? json_integer(macs) : json_null());
    json_object_set_new(root, "operators", operators_json(nodes));
    json_object_set_new(root, "nodes", nodes);
    json_object_set_new(root, "without_integer_form", json_integer(missing));
    json_object_set_new(root, "estimate",
                        whole && s->o->target ? estimate_json(s, &e) : json_null());
    return root;
}

/* ---- as text ------------------------------------------------------------------------------- */

static const char *text_of(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static long long number(const json_t *o, const char *key) {
    return (long long)json_integer_value(json_object_get(o, key));
}

static void print_head(FILE *f, const json_t *root) {
    const char *const sides[] = {"inputs", "outputs"};
    size_t i;
    json_t *o;
    fprintf(f, "%s\n", text_of(root, "model"));
    for (int k = 0; k < 2; k++)
        json_array_foreach(json_object_get(root, sides[k]), i, o) {
            char *shape = json_dumps(json_object_get(o, "shape"), JSON_COMPACT);
            bool tensor = strcmp(text_of(o, "dtype"), "none") != 0;
            fprintf(f, "%-8s %s: %s%s\n", sides[k], text_of(o, "name"),
                    tensor ? text_of(o, "dtype") : "no tensor: a constant of the call",
                    tensor ? shape : "");
            free(shape);
        }
    fprintf(f, "%lld parameters, %zu nodes, %zu in-place writes", number(root, "parameters"),
            json_array_size(json_object_get(root, "nodes")),
            json_array_size(json_object_get(root, "in_place_writes")));
    if (json_is_integer(json_object_get(root, "macs")))
        fprintf(f, ", %lld MACs", number(root, "macs"));
    fprintf(f, "\n\n");
}

static void print_operators(FILE *f, const json_t *root) {
    size_t i;
    json_t *o;
    fprintf(f, "%-36s %6s  %s\n", "operator", "nodes", "become");
    json_array_foreach(json_object_get(root, "operators"), i, o) {
        const char *what, *between = "";
        json_t *count;
        fprintf(f, "%-36s %6lld  ", text_of(o, "op"), number(o, "count"));
        json_object_foreach(json_object_get(o, "becomes"), what, count) {
            fprintf(f, "%s%s", between, what);
            if (json_integer_value(count) != number(o, "count"))
                fprintf(f, " %lld", (long long)json_integer_value(count));
            between = ", ";
        }
        fprintf(f, "\n");
    }
}

static void print_nodes(FILE *f, const json_t *root) {
    size_t i;
    json_t *o;
    fprintf(f, "\n%-28s %-32s %-10s %-7s %12s  %s\n", "node", "operator", "becomes", "numbers",
            "macs", "source");
    json_array_foreach(json_object_get(root, "nodes"), i, o) {
        const char *source = text_of(o, "source"), *why = text_of(o, "why");
        fprintf(f, "%-28s %-32s %-10s %-7s %12lld", text_of(o, "name"), text_of(o, "op"),
                text_of(o, "becomes"), text_of(o, "numeric"), number(o, "macs"));
        fprintf(f, "%s%s%s%s\n", *source ? "  " : "", source, *why ? "  " : "", why);
    }
    fprintf(f, "\n%lld of them have no integer form\n", number(root, "without_integer_form"));
}

static void print_estimate(FILE *f, const json_t *root) {
    const json_t *e = json_object_get(root, "estimate");
    if (!json_is_object(e))
        return;
    if (*text_of(e, "why_not")) {
        fprintf(f, "\nnot on %s: %s\n", text_of(e, "target"), text_of(e, "why_not"));
        return;
    }
    fprintf(f, "\non %s, estimated without data:\n", text_of(e, "target"));
    fprintf(f, "  RAM           %12lld bytes of arena, %lld of state\n", number(e, "arena_bytes"),
            number(e, "state_bytes"));
    fprintf(f, "  flash         %12lld bytes of constants", number(e, "flash_bytes"));
    if (json_is_integer(json_object_get(e, "code_bytes")))
        fprintf(f, ", %lld of code; a stack of at most %lld\n", number(e, "code_bytes"),
                number(e, "stack_bytes"));
    else
        fprintf(f, "; code comes on top\n");
    if (json_is_integer(json_object_get(e, "instructions")))
        fprintf(f, "  instructions  %12lld per inference", number(e, "instructions"));
    if (json_is_integer(json_object_get(e, "instructions")) &&
        number(e, "calls_of_unknown_cost") > 0)
        fprintf(f, ", without %lld calls of unknown cost", number(e, "calls_of_unknown_cost"));
    if (json_is_integer(json_object_get(e, "instructions")))
        fprintf(f, "\n");
    fprintf(f, "  work          %12lld MACs in %lld kernel calls\n", number(e, "macs"),
            number(e, "calls"));
    if (number(e, "float_nodes") > 0)
        fprintf(f, "  float         %12lld nodes, with --allow-float\n", number(e, "float_nodes"));
}

static void inspect_body(C *c, Session *s) {
    const CortenOptions *o = s->o;
    if (o->target)
        session_options(c, s);
    Graph *g = import_pt2_partly(c, o->model, o->archive_data, o->archive_bytes);
    json_t *root = json_object();
    c_defer(c, json_release, root);
    inspection(c, s, g, root);
    if (o->json) {
        json_dumpf(root, s->results, JSON_INDENT(1));
        fprintf(s->results, "\n");
        return;
    }
    print_head(s->results, root);
    print_operators(s->results, root);
    print_nodes(s->results, root);
    print_estimate(s->results, root);
}

int corten_inspect(const CortenOptions *o) {
    return session_run(o, inspect_body);
}
