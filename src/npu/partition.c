/* Partition: which nodes go to the NPU, and in which order everything runs. A node goes there if
 * its form in TOSA is one that the NPU takes (emit/tosa_limits.c); an NPU runs whole programs, so
 * nodes are put in an order in which as many as possible stand together: alternately the CPU's and
 * the NPU's, each as early as its operands allow.
 *
 * Needs orders (layout.c). Gives targets, reasons, and runs of NPU nodes without a CPU node between
 * them, each of which becomes a program. */
#include "npu/npu.h"

static bool moves_only(const Node *n) {
    return (n->op->traits & OP_MOVES_DATA) || node_is(n, "corten::relayout");
}

static void choose_targets(C *c, Graph *g, const Npu *npu) {
    for (Node *n = g->first; n; n = n->next) {
        if (n->fused)
            continue;
        n->npu_reason = n->float_kept ? "it stays float" : tosa_refusal(c, g, n, npu);
        n->target = n->npu_reason ? NODE_CPU : NODE_NPU;
        if (node_epilogue(n))
            node_epilogue(n)->target = n->target;
    }
}

/* Even for the CPU's nodes, odd for the NPU's: the turn in which each runs, the first that it can.
 * Returns the last one. */
static int turns_of(Graph *g, int *turn) {
    int last = 0;
    for (const Node *n = g->first; n; n = n->next) {
        int own = n->target == NODE_NPU;
        for (int k = 0, count = node_operand_count(n); k < count; k++) {
            const Node *before = node_operand(n, k)->def;
            if (!before)
                continue;
            int earliest = turn[before->index] + (before->target != n->target);
            own = earliest > own ? earliest : own;
        }
        turn[n->index] = own;
        last = own > last ? own : last;
    }
    return last;
}

/* Programs that would only move data are not worth a start of the NPU: on the CPU most of them are
 * views, at no cost. False: there are none. */
static bool drop_movements(C *c, Graph *g, const int *turn, int last) {
    bool *computes = NEW_ARRAY(c, bool, last + 1), dropped = false;
    for (const Node *n = g->first; n; n = n->next)
        computes[turn[n->index]] |= !moves_only(n);
    for (Node *n = g->first; n; n = n->next)
        if (n->target == NODE_NPU && !computes[turn[n->index]]) {
            n->target = NODE_CPU;
            n->npu_reason = "it only moves data that the CPU makes and reads";
            dropped = true;
        }
    return dropped;
}

static void sort_by_turn(C *c, Graph *g, const int *turn, int last) {
    Node **node = NEW_ARRAY(c, Node *, g->node_count + 1);
    for (Node *n = g->first; n; n = n->next)
        node[n->index] = n;
    for (int t = 0; t <= last; t++)
        for (int i = 0; i < g->node_count; i++)
            if (turn[i] == t)
                node_move_before(g, node[i], NULL);
}

void pass_partition(C *c, Graph *g, const Options *o) {
    if (!o->npu || !profile_of(o)->of_npu)
        return;
    graph_index(g);
    choose_targets(c, g, o->npu);
    int *turn = NEW_ARRAY(c, int, g->node_count + 1), last;
    do
        last = turns_of(g, turn);
    while (drop_movements(c, g, turn, last));
    if (last == 0 && g->first && g->first->target == NODE_CPU) {
        for (const Node *n = g->first; n; n = n->next)
            if (n->npu_reason)
                diag_error(c, DIAG_MODEL, &n->loc, "%s: not on %s: %s", node_operator(n),
                           o->npu->name, n->npu_reason);
        fatal(c, DIAG_MODEL, NULL, "no node of the model runs on %s: -t %s compiles it for the CPU",
              o->npu->name, o->cpu->name);
    }
    sort_by_turn(c, g, turn, last);
    graph_index(g);
}
