/* Pass decompose: replaces every node whose row has a decomposition by the nodes it stands for,
 * until none is left. Needs a functional graph; gives one of core rows only. The grid that an
 * archive has pinned to a composite's output moves to the value that replaces it. */
#include "ops/ops.h"
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
 * than the decomposition, or pinned too) keeps the requantize node between, and so does a constant,
 * whose numbers are floats until pass fold turns them. */
static void grid_release(Graph *g, Node *hold, int first_new_id) {
    Value *now = hold->arg[0].u.value;
    if (now->id < first_new_id || now->grid || now->constant)
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

static bool computes_floats(const Node *n) {
    return dtype_is_float(n->out[0]->type.dtype) || dtype_is_float(node_promoted_dtype(n));
}

/* What is joined has one dtype. */
static void promote_joined(C *c, Graph *g, Node *n) {
    if (!node_is(n, "aten::cat"))
        return;
    Arg *list = &n->arg[node_arg_index(n, "tensors")];
    DType dtype = n->out[0]->type.dtype;
    rewrite_begin(c, n);
    for (int i = 0; i < list->u.list.count; i++) {
        Arg *a = &list->u.list.item[i];
        *a = arg_value(value_converted(g, n, a->u.value, dtype));
    }
    rewrite_end(c);
}

/* A pointwise node that computes in floats wants floats: integers among its operands are converted
 * before it, as torch does inside of it. Bools serve as they are. */
static void promote_operands(C *c, Graph *g, Node *n) {
    if (!n->op->map || n->out_count != 1 || node_is(n, "aten::_to_copy") || !computes_floats(n))
        return;
    rewrite_begin(c, n);
    for (int i = 0; i < n->arg_count; i++) {
        const Value *v = n->arg[i].kind == ARG_VALUE ? n->arg[i].u.value : NULL;
        if (v && !dtype_is_float(v->type.dtype) && v->type.dtype != DT_BOOL)
            n->arg[i] =
                arg_value(node_value(g, n, "aten::_to_copy", ARGS(n->arg[i], arg_dtype(DT_F32))));
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
            promote_operands(c, g, n);
            promote_joined(c, g, n);
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
