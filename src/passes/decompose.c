/* Pass decompose: replaces every node whose row has a decomposition by the nodes it stands for,
 * until none is left. Needs a functional graph; gives one of core rows only. The grid that an
 * archive has pinned to a composite's output moves to the value that replaces it. */
#include "passes/passes.h"

/* Puts a requantize node behind a pinned output, which holds the grid while n is taken apart. */
static Node *grid_hold(Graph *g, Node *n, int k) {
    Value *out = n->out[k];
    Node *hold = node_new(g, n->next, "corten::requantize", ARGS(arg_value(out)));
    value_replace(g, out, hold->out[0]);
    hold->arg[0] = arg_value(out);
    hold->out[0]->grid = out->grid;
    out->grid = NULL;
    return hold;
}

/* Hands the grid to the value that n's output has become. One with a meaning of its own (older
 * than the decomposition, or pinned too) keeps the requantize node between. */
static void grid_release(Graph *g, Node *hold, int first_new_id) {
    Value *now = hold->arg[0].u.value;
    if (now->id < first_new_id || now->grid)
        return;
    now->grid = hold->out[0]->grid;
    value_replace(g, hold->out[0], now);
    node_remove(g, hold, FATE_REMOVED, "its grid is that of its operand", NULL);
}

static void decompose_node(C *c, Graph *g, Node *n) {
    Node *hold[8];
    int hold_count = 0;
    rewrite_begin(c, n);
    for (int k = 0; k < n->out_count && hold_count < (int)COUNT_OF(hold); k++)
        if (n->out[k]->grid)
            hold[hold_count++] = grid_hold(g, n, k);
    int first_new_id = g->value_count;
    int errors = diag_error_count(c);
    n->op->decompose(c, g, n);
    if (diag_error_count(c) == errors) {
        for (int i = 0; i < hold_count; i++)
            grid_release(g, hold[i], first_new_id);
        node_remove(g, n, FATE_REMOVED, "nothing of it is left to compute", NULL);
    }
    rewrite_end(c);
}

void pass_decompose(C *c, Graph *g, const Options *o) {
    (void)o;
    graph_index(g);
    /* Each node may be replaced by a few dozen, a few levels deep: more is a row that
     * decomposes into itself. */
    int64_t budget = 4096 + 1024 * (int64_t)g->node_count;
    Node *n = g->first;
    while (n) {
        if (!n->op->decompose) {
            n = n->next;
            continue;
        }
        if (budget-- == 0)
            fatal(c, DIAG_BUG, &n->loc, "decomposition of %s does not end", n->op->schema);
        Node *before = n->prev, *after = n->next;
        int errors = diag_error_count(c);
        decompose_node(c, g, n);
        bool failed = diag_error_count(c) != errors;
        n = failed ? after : before ? before->next : g->first;
    }
    graph_index(g);
    graph_sweep(g);
}
