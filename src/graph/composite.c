/* Composites: rows that have only a decomposition. Their output types and float values are those
 * of the nodes they stand for, built in a graph of their own that lives no longer than the
 * question; the node itself and its graph stay as they are. */
#include "graph/graph.h"

#include <string.h>

typedef struct {
    Graph *graph;
    int operand_count;
    Value **operand, **copy; /* of the node, and their stand-ins in `graph` */
} Composite;

static Arg arg_copy(C *c, Composite *m, const Arg *a) {
    Arg copy = *a;
    if (a->kind == ARG_VALUE)
        for (int k = 0; k < m->operand_count; k++)
            if (m->operand[k] == a->u.value)
                copy.u.value = m->copy[k];
    if (a->kind == ARG_LIST) {
        copy.u.list.item = NEW_ARRAY(c, Arg, a->u.list.count);
        for (int i = 0; i < a->u.list.count; i++)
            copy.u.list.item[i] = arg_copy(c, m, &a->u.list.item[i]);
    }
    return copy;
}

static void composite_inputs(C *c, Composite *m, const Node *n) {
    m->operand_count = node_operand_count(n);
    m->operand = NEW_ARRAY(c, Value *, m->operand_count);
    m->copy = NEW_ARRAY(c, Value *, m->operand_count);
    m->operand_count = node_operands(n, m->operand, m->operand_count);
    for (int k = 0; k < m->operand_count; k++) {
        const Value *v = m->operand[k];
        m->copy[k] = value_new(m->graph, v->name, v->type);
        m->copy[k]->role = v->role;
        m->copy[k]->constant = v->constant;
        m->copy[k]->grid = v->grid;
    }
}

/* Takes apart until only core rows are left. False if that recorded an error. */
static bool decompose_all(C *c, Graph *g) {
    int errors = diag_error_count(c);
    for (Node *n = g->first; n && diag_error_count(c) == errors;) {
        if (!n->op->decompose) {
            n = n->next;
            continue;
        }
        Node *before = n->prev;
        n->op->decompose(c, g, n);
        node_remove(g, n, FATE_REMOVED, NULL, NULL);
        n = before ? before->next : g->first;
    }
    return diag_error_count(c) == errors;
}

/* The graph that n stands for; its outputs are those of n. False after an error. */
static bool composite_open(C *c, const Node *n, Composite *m) {
    *m = (Composite){.graph = graph_new(c, "composite")};
    composite_inputs(c, m, n);
    Origins *origins = c->origins;
    Loc loc = c->loc;
    Arg *arg = NEW_ARRAY(c, Arg, n->arg_count);
    Type *type = NEW_ARRAY(c, Type, n->out_count);
    for (int i = 0; i < n->arg_count; i++)
        arg[i] = arg_copy(c, m, &n->arg[i]);
    for (int k = 0; k < n->out_count; k++)
        type[k] = n->out[k]->type;
    Node *copy = node_insert(m->graph, NULL, n->op, n->name, arg, n->out_count, type);
    copy->loc = n->loc;
    m->graph->output_count = n->out_count;
    m->graph->output = NEW_ARRAY(c, Arg, n->out_count);
    for (int k = 0; k < n->out_count; k++)
        m->graph->output[k] = arg_value(copy->out[k]);
    rewrite_begin(c, n);
    bool done = decompose_all(c, m->graph);
    c->origins = origins;
    c->loc = loc;
    return done;
}

void composite_shape(C *c, Node *n) {
    Composite m;
    if (!composite_open(c, n, &m))
        return;
    for (int k = 0; k < n->out_count; k++)
        n->out[k]->type = m.graph->output[k].u.value->type;
}

void composite_eval(C *c, Node *n) {
    Composite m;
    if (!composite_open(c, n, &m))
        return;
    Env *outer = c->env, *inner = env_new(c, m.graph);
    for (int k = 0; k < m.operand_count; k++)
        if (!m.copy[k]->constant)
            env_set(inner, m.copy[k], (Array *)eval_value(c, m.operand[k]));
    graph_index(m.graph);
    graph_eval(c, m.graph, inner, true, NULL, NULL);
    c->env = outer;
    for (int k = 0; k < n->out_count; k++) {
        const Array *from = env_get(inner, m.graph->output[k].u.value);
        Array *to = eval_out(c, n, k);
        if (array_bytes(to) > 0)
            memcpy(to->data, from->data, (size_t)array_bytes(to));
    }
    env_free(inner);
}
