/* corten inspect: what is in an archive and what each node will become, before any data. */
#include "api/session.h"

#include <jansson.h>
#include <string.h>

typedef struct {
    const char *becomes, *why;
} Fortune;

/* What an archive node will become, from its live nodes after decomposition. */
static Fortune fortune_of(const Graph *g, int id) {
    const ArchiveNode *a = &g->archive[id];
    Fortune f = {"removed", a->reason};
    if (a->fate == FATE_FOLDED)
        f.becomes = "folded";
    if (a->fate != FATE_LIVE)
        return f;
    for (const Node *n = g->first; n; n = n->next) {
        if (!origins_have(&n->origins, id))
            continue;
        if (!n->op->lower && !n->op->map)
            return (Fortune){"none",
                             n->op->no_integer_form ? n->op->no_integer_form : "no integer form"};
        f = (Fortune){n->op->map && !n->op->lower     ? "table"
                      : n->op->traits & OP_MOVES_DATA ? "movement"
                                                      : "kernel",
                      NULL};
    }
    return f;
}

static int64_t parameter_count(const Graph *g) {
    int64_t count = 0;
    for (int i = 0; i < g->value_count; i++)
        if (g->value[i]->role == ROLE_PARAMETER)
            count += type_count(&g->value[i]->type);
    return count;
}

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

static json_t *nodes_json(C *c, const Graph *g, int *missing) {
    json_t *list = json_array();
    for (int i = 0; i < g->archive_count; i++) {
        const ArchiveNode *a = &g->archive[i];
        Fortune f = fortune_of(g, i);
        *missing += strcmp(f.becomes, "none") == 0;
        bool known = a->loc.file && a->loc.line;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s?, s:s?, s:s, s:s?}", "name", a->name, "op", a->op,
                            "module", a->module, "source",
                            known ? c_format(c, "%s:%d", a->loc.file, a->loc.line) : NULL,
                            "becomes", f.becomes, "why", f.why));
    }
    return list;
}

static const char *text_of(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static void print_inspection(FILE *f, const json_t *root) {
    const char *const sides[] = {"inputs", "outputs"};
    size_t i;
    json_t *o;
    fprintf(f, "%s\n", text_of(root, "model"));
    for (int k = 0; k < 2; k++)
        json_array_foreach(json_object_get(root, sides[k]), i, o) {
            char *shape = json_dumps(json_object_get(o, "shape"), JSON_COMPACT);
            fprintf(f, "%-8s %s: %s%s\n", sides[k], text_of(o, "name"), text_of(o, "dtype"), shape);
            free(shape);
        }
    fprintf(f, "%lld parameters, %zu nodes, %zu in-place writes\n\n",
            (long long)json_integer_value(json_object_get(root, "parameters")),
            json_array_size(json_object_get(root, "nodes")),
            json_array_size(json_object_get(root, "in_place_writes")));
    fprintf(f, "%-28s %-36s %-9s %s\n", "node", "operator", "becomes", "source");
    json_array_foreach(json_object_get(root, "nodes"), i, o) {
        fprintf(f, "%-28s %-36s %-9s %s%s%s\n", text_of(o, "name"), text_of(o, "op"),
                text_of(o, "becomes"), text_of(o, "source"), *text_of(o, "why") ? "  " : "",
                text_of(o, "why"));
    }
    long long none = (long long)json_integer_value(json_object_get(root, "without_integer_form"));
    fprintf(f, "\n%lld of them have no integer form\n", none);
}

static void inspect_body(C *c, Session *s) {
    Graph *g = archive_import(c, s->o, s->o->model);
    json_t *root = json_object();
    int missing = 0;
    json_object_set_new(root, "model", json_string(s->o->model));
    json_object_set_new(root, "inputs", boundary(g, true));
    json_object_set_new(root, "outputs", boundary(g, false));
    json_object_set_new(root, "parameters", json_integer(parameter_count(g)));
    json_object_set_new(root, "in_place_writes", find_writes(g));
    PipelineControl control = {.stop_after = "decompose"};
    pipeline_run(c, g, &s->compile, &control);
    json_object_set_new(root, "nodes", nodes_json(c, g, &missing));
    json_object_set_new(root, "without_integer_form", json_integer(missing));
    if (s->o->json) {
        json_dumpf(root, s->results, JSON_INDENT(1));
        fprintf(s->results, "\n");
    } else {
        print_inspection(s->results, root);
    }
    json_decref(root);
}

int corten_inspect(const CortenOptions *o) {
    return session_run(o, inspect_body);
}
