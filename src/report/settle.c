/* What became of each node of the archive, decided from the planned graph and from what passes
 * recorded when they removed or folded nodes. Every archive node has exactly one fate. */
#include "report/report.h"

#include <string.h>

bool report_is_plumbing(const Node *n) {
    return node_is(n, "corten::quantize") || node_is(n, "corten::dequantize") ||
           node_is(n, "corten::relayout") || node_is(n, "corten::copy");
}

bool call_serves(const Call *call, int archive_id) {
    if (origins_have(&call->origins, archive_id))
        return true;
    const Node *epilogue = call->node ? node_epilogue(call->node) : NULL;
    if (epilogue && origins_have(&epilogue->origins, archive_id))
        return true;
    epilogue = call->producer ? node_epilogue(call->producer) : NULL;
    return epilogue && origins_have(&epilogue->origins, archive_id);
}

/* The live node that stands for the archive node: the last one that computes. */
static const Node *live_node(const Graph *g, int id) {
    const Node *found = NULL;
    for (const Node *n = g->first; n; n = n->next)
        if (!report_is_plumbing(n) && origins_have(&n->origins, id))
            found = n;
    return found;
}

/* A call that computes for the archive node: not one that only brings values into another order. */
static bool has_call(const Graph *g, int id) {
    for (const Call *call = g->first_call; call; call = call->next)
        if (call_serves(call, id) && call->node && !report_is_plumbing(call->node))
            return true;
    return false;
}

/* Of several archive nodes that one live node stands for, the last is its kernel and the others
 * are fused into it. */
static bool is_last_live_origin(const Graph *g, const Node *n, int id) {
    for (int i = 0; i < n->origins.count; i++)
        if (n->origins.id[i] > id && g->archive[n->origins.id[i]].fate != FATE_FOLDED &&
            g->archive[n->origins.id[i]].fate != FATE_REMOVED)
            return false;
    return true;
}

/* A node that stays float and stands, with others perhaps, for the archive node. */
static const Node *float_node(const Graph *g, int id) {
    for (const Node *n = g->first; n; n = n->next)
        if (n->float_kept && !report_is_plumbing(n) && origins_have(&n->origins, id))
            return n;
    return NULL;
}

static const char *numeric_of(const Node *n) {
    if (n->out_count == 0)
        return "none";
    const Value *v = n->out[0];
    DType stored = value_storage(v);
    if (dtype_is_float(stored))
        return v->constant ? "none" : "float";
    return stored == DT_U8 ? "int8" : dtype_name(stored);
}

/* What its own constant weights are, if it has any. */
static const char *weights_of(const Node *n) {
    const Value *w = node_takes(n, "weight") ? node_in(n, "weight") : NULL;
    if (n->float_kept || !w || !w->constant || !w->grid || n->op->quant.in[1] != Q_WEIGHT)
        return NULL;
    return w->grid->bits == 4 ? "int4" : dtype_name(w->grid->dtype);
}

static const char *wide_reason(const Node *n) {
    const Value *v = n->out_count > 0 ? n->out[0] : NULL;
    return v && v->grid && v->grid->dtype == DT_I16 ? v->wide_reason : NULL;
}

static void settle(Graph *g, int id) {
    ArchiveNode *a = &g->archive[id];
    const Node *n = live_node(g, id);
    a->numeric = "none";
    a->numeric_reason = NULL;
    if (a->fate == FATE_FOLDED || a->fate == FATE_REMOVED || a->fate == FATE_MOVED)
        return;
    if (!n) {
        a->fate = FATE_REMOVED;
        a->reason = "nothing reads it";
        return;
    }
    const Node *real = float_node(g, id);
    a->numeric_reason = real ? real->float_reason : wide_reason(n);
    a->numeric = real ? "float" : numeric_of(n);
    if (real)
        a->reason = real->float_reason;
    a->weights = a->fate == FATE_LIVE && is_last_live_origin(g, n, id) ? weights_of(n) : NULL;
    if (n->fused || n->summed)
        a->fate = FATE_FUSED;
    else if (!has_call(g, id))
        a->fate = FATE_MOVED;
    else
        a->fate = is_last_live_origin(g, n, id) ? FATE_KERNEL : FATE_FUSED;
}

void report_settle(C *c, Graph *g) {
    (void)c;
    for (int i = 0; i < g->archive_count; i++)
        settle(g, i);
}
