/* Nodes with graphs among their arguments. A wrapped region (no_grad, autocast off) is entered, as
 * if its nodes stood outside. Of a branch (torch.cond) both sides are computed, which write nothing
 * by torch's own rule, and `where` takes what the condition says. Loops are refused. */
#include "import/pt2.h"

#include <string.h>

#define GRAPH_DEPTH 16 /* regions in regions */

static const json_t *argument(const Source *s, size_t index) {
    return json_object_get(json_array_get(s->inputs, index), "arg");
}

/* The graph that is argument `index`, or NULL. */
static const json_t *graph_argument(const Source *s, size_t index) {
    return json_object_get(argument(s, index), "as_graph");
}

static void refuse(Pt2 *p, Scope *scope, Source *s) {
    define_outputs(p, scope, s, NULL);
    bool loop = strstr(s->op, "loop") || strstr(s->op, "scan") || strstr(s->op, "map");
    const char *what = loop ? "a loop" : strstr(s->op, "cond") ? "a branch" : "a region";
    const char *name = strrchr(s->op, '.');
    diag_error(p->c, DIAG_MODEL, &s->loc, "%s has no integer form: %s as a graph",
               name ? name + 1 : s->op, what);
}

/* ---- what a region is handed -------------------------------------------------------------- */

/* The arguments from `first` on, the members of lists one by one; NULL: no tensor. */
static json_t *handed_arguments(Pt2 *p, const Source *s, size_t first) {
    json_t *handed = json_array();
    c_defer(p->c, json_release, handed);
    for (size_t i = first; i < json_array_size(s->inputs); i++) {
        json_t *u = get_object(p, json_array_get(s->inputs, i), "arg");
        json_t *list = json_object_get(u, "as_tensors"), *item;
        size_t k;
        json_array_foreach(list, k, item) json_array_append(handed, item);
        if (!list) {
            json_t *tensor = json_object_get(u, "as_tensor");
            json_array_append_new(handed, tensor ? json_incref(tensor) : json_null());
        }
    }
    return handed;
}

/* Names of the region's inputs stand for what the node hands over. */
static void define_inputs(Pt2 *p, Scope *outer, Scope *inner, const Source *s, const json_t *inputs,
                          const json_t *handed) {
    if (json_array_size(inputs) != json_array_size(handed))
        archive_malformed(p, "%zu arguments for %zu inputs of the region", json_array_size(handed),
                          json_array_size(inputs));
    for (size_t i = 0; i < json_array_size(handed); i++) {
        const json_t *tensor = json_array_get(handed, i);
        const json_t *name = json_object_get(json_array_get(inputs, i), "as_tensor");
        if (!json_is_object(tensor) || !name)
            continue;
        const char *inner_name = get_string(p, name, "name"); /* fatal where there is none */
        Value *v = scope_value(p, outer, get_string(p, tensor, "name"), &s->loc);
        if (v)
            json_object_set_new(inner->values, inner_name, json_integer(v->id));
    }
}

/* Reads the nodes of the graph; its outputs, one for each of the node's, NULL: none or refused. */
static Value **enter(Pt2 *p, Scope *scope, const Source *s, const json_t *graph,
                     const json_t *handed) {
    Scope inner = {.tensors = get_object(p, graph, "tensor_values"),
                   .origins = &s->origins,
                   .depth = scope->depth + 1};
    scope_open(p, &inner);
    const json_t *outputs = get_array(p, graph, "outputs");
    if (json_array_size(outputs) != (size_t)s->outputs.count)
        archive_malformed(p, "%zu outputs of the region for %d of the node",
                          json_array_size(outputs), s->outputs.count);
    define_inputs(p, scope, &inner, s, get_array(p, graph, "inputs"), handed);
    names_used(p, graph);
    nodes_read(p, &inner, get_array(p, graph, "nodes"));
    Value **out = NEW_ARRAY(p->c, Value *, s->outputs.count);
    for (int k = 0; k < s->outputs.count; k++) {
        const json_t *tensor = json_object_get(json_array_get(outputs, (size_t)k), "as_tensor");
        out[k] = tensor ? scope_value(p, &inner, get_string(p, tensor, "name"), &s->loc) : NULL;
    }
    return out;
}

/* ---- wrapped regions ---------------------------------------------------------------------- */

/* A region that runs once and only switches something that inference does not look at. */
static bool is_wrapper(const Source *s) {
    return text_equal(s->target, "torch.ops.higher_order.wrap_with_set_grad_enabled");
}

/* The region's outputs are the node's. */
static void read_as_if_outside(Pt2 *p, Scope *scope, const Source *s, const json_t *graph,
                               const json_t *handed) {
    Node *before = p->g->last;
    Value **out = enter(p, scope, s, graph, handed);
    for (int k = 0; k < s->outputs.count; k++)
        if (out[k] && s->outputs.name[k])
            json_object_set_new(scope->values, s->outputs.name[k], json_integer(out[k]->id));
    const Node *first = before ? before->next : p->g->first;
    if (!first) {
        record_removed(p, s, "an empty region");
    } else if (s->archive >= 0 && s->loc.line == 0) { /* torch gives the region itself no place */
        Loc *loc = &p->g->archive[s->archive].loc;
        loc->file = first->loc.file;
        loc->line = first->loc.line;
        loc->source_text = first->loc.source_text;
    }
}

static size_t first_graph(const Source *s) {
    size_t i = 0;
    while (i < json_array_size(s->inputs) && !graph_argument(s, i))
        i++;
    return i;
}

/* ---- branches ----------------------------------------------------------------------------- */

enum { CONDITION, IF_TRUE, IF_FALSE, OPERANDS }; /* the arguments of torch.cond */

static bool is_branch(const Source *s) {
    return text_equal(s->target, "torch.ops.higher_order.cond") && graph_argument(s, IF_TRUE) &&
           graph_argument(s, IF_FALSE);
}

static void choose(Pt2 *p, Scope *scope, const Source *s, int output, Value *condition,
                   Value *if_true, Value *if_false) {
    if (!if_true || !if_false || !type_equal(&if_true->type, &if_false->type))
        archive_malformed(p, "output %d of a branch is not the same on both sides", output);
    const Arg arg[] = {arg_value(condition), arg_value(if_true), arg_value(if_false)};
    Node *n = node_insert(p->g, NULL, op_find("aten::where.self"), name_clean(p->c, s->name), arg,
                          0, NULL);
    n->origins = s->origins;
    Source one = *s;
    one.outputs = (Names){.count = 1, .name = &s->outputs.name[output]};
    define_outputs(p, scope, &one, n);
    if (!p->made_up && !type_equal(&n->out[0]->type, &if_true->type))
        archive_malformed(p, "output %d of a branch is not what its sides give", output);
}

/* One element, of any shape, as a scalar: it broadcasts to all. */
static Value *condition_value(Pt2 *p, const Scope *scope, const Source *s) {
    const json_t *tensor = json_object_get(argument(s, CONDITION), "as_tensor");
    Value *v = tensor ? scope_value(p, scope, get_string(p, tensor, "name"), &s->loc) : NULL;
    if (!v || v->type.dtype != DT_BOOL || type_count(&v->type) != 1)
        return NULL;
    if (v->type.rank > 0) {
        v = node_value(p->g, NULL, "aten::view", ARGS(arg_value(v), arg_ints(p->c, 0, NULL)));
        v->def->origins = s->origins;
        v->def->loc = s->loc;
    }
    return v;
}

static void read_branch(Pt2 *p, Scope *scope, Source *s) {
    Value *condition = condition_value(p, scope, s);
    if (!condition) {
        refuse(p, scope, s);
        return;
    }
    const json_t *handed = handed_arguments(p, s, OPERANDS);
    Value **side[2];
    for (int k = 0; k < 2; k++)
        side[k] = enter(p, scope, s, get_object(p, graph_argument(s, IF_TRUE + (size_t)k), "graph"),
                        handed);
    if (diag_error_count(p->c) > 0) { /* what was refused inside has no outputs */
        define_outputs(p, scope, s, NULL);
        return;
    }
    for (int k = 0; k < s->outputs.count; k++)
        if (s->outputs.name[k])
            choose(p, scope, s, k, condition, side[0][k], side[1][k]);
}

bool region_read(Pt2 *p, Scope *scope, Source *s) {
    size_t first = first_graph(s);
    if (first == json_array_size(s->inputs))
        return false;
    bool deep = scope->depth >= GRAPH_DEPTH;
    if (is_branch(s) && !deep)
        read_branch(p, scope, s);
    else if (is_wrapper(s) && !deep)
        read_as_if_outside(p, scope, s, get_object(p, graph_argument(s, first), "graph"),
                           handed_arguments(p, s, first + 1));
    else
        refuse(p, scope, s);
    return true;
}
