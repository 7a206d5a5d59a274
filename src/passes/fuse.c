/* Pass fuse: a clamp or table that alone reads what its producer computes is applied in the
 * producer's store. Nodes stay: the follower is marked fused and the value between them unstored,
 * which tells quantize that it may have any grid and lower that it needs no memory. */
#include "passes/passes.h"
#include "quant/quant.h"

#include "lower/lower.h"

#include <math.h>

/* n's operand, if n is its only reader and nothing else wants it. */
static Value *sole_operand(const Node *n, unsigned trait) {
    Value *x = node_operand(n, 0);
    if (!x || !x->def || x->user_count != 1 || x->output_count > 0 || x->unstored)
        return NULL;
    if (x->def->fused || x->def->float_kept || x->def->out_count != 1)
        return NULL;
    return x->def->op->traits & trait ? x : NULL;
}

static void mark(Node *n, Value *between) {
    n->fused = true;
    between->unstored = true;
}

static bool is_clamp_node(const Node *n) {
    return node_is(n, "aten::clamp") && node_operand_count(n) == 1 &&
           dtype_is_float(n->out[0]->type.dtype);
}

/* A clamp in the store works on the grid of the result, so the value between must not have been
 * given another. */
static bool fuse_clamp(Node *n) {
    Value *x = sole_operand(n, OP_FUSES_CLAMP);
    if (!x)
        return false;
    if (x->grid && !(n->out[0]->grid && grid_equal(x->grid, n->out[0]->grid)))
        return false;
    mark(n, x);
    return true;
}

static bool is_wide(const Value *v) {
    return v->bits == 16 || (v->grid && v->grid->bits != 8);
}

/* Of 16 bits a few layers know functions; which layers read or write them is decided later. */
static bool takes_widths(const Options *o, const Value *x, const Node *n) {
    return !(is_wide(x) || is_wide(n->out[0])) || layer_fuses_map(o, x->def);
}

static void fuse_table(const Options *o, Node *n) {
    Value *x = sole_operand(n, OP_FUSES_TABLE);
    if (x && dtype_is_float(n->out[0]->type.dtype) && takes_widths(o, x, n))
        mark(n, x);
}

/* A clamp that no store can take is a table like any other. */
static Node *clamp_to_table(C *c, Graph *g, Node *n) {
    Value *x = node_operand(n, 0), *old = n->out[0];
    rewrite_begin(c, n);
    Node *table = node_new(g, n, "corten::table", ARGS(arg_value(x)));
    rewrite_end(c);
    Graph *body = graph_new(c, "body");
    body->stage = STAGE_CORE;
    Value *in = value_new(body, "x", x->type);
    in->role = ROLE_INPUT;
    Value *y = node_value(body, NULL, "aten::clamp", ARGS(arg_value(in), n->arg[1], n->arg[2]));
    graph_set_single(body, in, y);
    table->body = body;
    table->out[0]->type = old->type;
    table->out[0]->grid = old->grid;
    table->out[0]->observed = old->observed;
    table->out[0]->bits = old->bits;
    table->out[0]->glob = old->glob;
    value_replace(g, old, table->out[0]);
    node_remove(g, n, FATE_FUSED, NULL, table);
    return table;
}

void pass_fuse(C *c, Graph *g, const Options *o) {
    graph_index(g);
    for (Node *n = g->first, *next; n; n = next) {
        next = n->next;
        if (n->float_kept || !is_clamp_node(n) || fuse_clamp(n))
            continue;
        clamp_to_table(c, g, n);
    }
    graph_index(g);
    for (Node *n = g->first; n; n = n->next)
        if (node_is(n, "corten::table") && !n->float_kept)
            fuse_table(o, n);
}
