/* A copy of a graph that has not been lowered, so that passes can run on it and be taken back with
 * its C. Values, nodes and what passes write are the copy's own; names, constants and what
 * calibration has seen are shared, since passes replace these and never change them. */
#include <string.h>

#include "graph/graph.h"

typedef struct {
    C *c;
    const Graph *from;
    Graph *to;
} Copying;

static void *copy_of(C *c, const void *items, int64_t count, size_t size) {
    return count > 0 ? c_memdup(c, items, (size_t)count * size) : NULL;
}

static Grid *grid_copy(C *c, const Grid *grid) {
    if (!grid)
        return NULL;
    Grid *copy = c_memdup(c, grid, sizeof *grid);
    copy->part = copy_of(c, grid->part, grid->part_count, sizeof *grid->part);
    return copy;
}

static Arg arg_copy(Copying *k, const Arg *a) {
    Arg copy = *a;
    if (a->kind == ARG_VALUE)
        copy.u.value = k->to->value[a->u.value->id];
    if (a->kind == ARG_LIST) {
        copy.u.list.item = NEW_ARRAY(k->c, Arg, a->u.list.count + 1);
        for (int i = 0; i < a->u.list.count; i++)
            copy.u.list.item[i] = arg_copy(k, &a->u.list.item[i]);
    }
    return copy;
}

static Arg *args_copy(Copying *k, const Arg *arg, int count) {
    Arg *copy = NEW_ARRAY(k->c, Arg, count + 1);
    for (int i = 0; i < count; i++)
        copy[i] = arg_copy(k, &arg[i]);
    return copy;
}

static void copy_values(Copying *k) {
    Graph *to = k->to;
    to->value = NEW_ARRAY(k->c, Value *, to->value_capacity + 1);
    for (int i = 0; i < to->value_count; i++) {
        Value *v = to->value[i] = c_memdup(k->c, k->from->value[i], sizeof(Value));
        v->grid = grid_copy(k->c, v->grid);
        v->user = NULL;
        v->user_count = 0;
    }
}

static Node *node_copy(Copying *k, const Node *n) {
    Node *copy = c_memdup(k->c, n, sizeof *n);
    copy->graph = k->to;
    copy->arg = args_copy(k, n->arg, n->arg_count);
    copy->out = copy_of(k->c, (const void *)n->out, n->out_count, sizeof(Value *));
    copy->out_arg = copy_of(k->c, (const void *)n->out_arg, n->out_arg_count, sizeof(Value *));
    for (int i = 0; i < n->out_arg_count; i++)
        copy->out_arg[i] = k->to->value[n->out_arg[i]->id];
    copy->origins.id = copy_of(k->c, n->origins.id, n->origins.count, sizeof *n->origins.id);
    copy->body = n->body ? graph_copy(k->c, n->body) : NULL;
    for (int i = 0; i < n->out_count; i++) {
        copy->out[i] = k->to->value[n->out[i]->id];
        copy->out[i]->def = copy;
    }
    return copy;
}

static void copy_nodes(Copying *k) {
    Graph *to = k->to;
    to->first = to->last = NULL;
    for (const Node *n = k->from->first; n; n = n->next) {
        Node *copy = node_copy(k, n);
        copy->prev = to->last;
        copy->next = NULL;
        *(to->last ? &to->last->next : &to->first) = copy;
        to->last = copy;
    }
}

Graph *graph_copy(C *c, const Graph *g) {
    Copying k = {.c = c, .from = g, .to = c_memdup(c, g, sizeof *g)};
    Graph *to = k.to;
    to->c = c;
    to->is_copy = true;
    to->value_names = names_copy(c, g->value_names);
    to->node_names = names_copy(c, g->node_names);
    to->call_names = names_copy(c, g->call_names);
    to->buffer_names = names_copy(c, g->buffer_names);
    copy_values(&k);
    copy_nodes(&k);
    to->input = args_copy(&k, g->input, g->input_count);
    to->output = args_copy(&k, g->output, g->output_count);
    to->state = copy_of(c, g->state, g->state_count, sizeof *g->state);
    for (int i = 0; i < g->state_count; i++) {
        to->state[i].before = to->value[g->state[i].before->id];
        to->state[i].after = to->value[g->state[i].after->id];
    }
    to->archive = copy_of(c, g->archive, g->archive_count, sizeof *g->archive);
    to->float_wanted = NULL;
    to->float_wanted_count = to->float_wanted_capacity = 0;
    graph_index(to);
    return to;
}
