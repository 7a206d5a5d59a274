/* Vela: each run of NPU nodes becomes a TOSA program, and that a command stream.
 *
 * Needs runs (partition.c). Gives Graph.npu. */
#include "npu/npu.h"

#include <string.h>

static int program_count(const Graph *g) {
    int count = 0;
    for (const Node *n = g->first; n; n = n->next)
        count += n->target == NODE_NPU && (!n->prev || n->prev->target != NODE_NPU);
    return count;
}

static void add_value(C *c, Value ***list, int *count, Value *v) {
    for (int i = 0; i < *count; i++)
        if ((*list)[i] == v)
            return;
    int capacity = *count;
    *list = (Value **)c_grow(c, (void *)*list, *count, &capacity, *count + 1, sizeof **list);
    (*list)[(*count)++] = v;
}

/* What it reads of others and what others read of it. */
static void find_boundary(C *c, NpuProgram *p) {
    for (Node *n = p->first; n != p->last->next; n = n->next) {
        for (int k = 0, count = node_operand_count(n); k < count; k++) {
            Value *v = node_operand(n, k);
            if (!v->constant && !(v->def && npu_holds(p, v->def)))
                add_value(c, &p->input, &p->input_count, v);
        }
        for (int k = 0; k < n->out_count; k++)
            if (!n->out[k]->unstored &&
                (n->out[k]->output_count > 0 || !npu_alone_reads(p, n->out[k])))
                add_value(c, &p->output, &p->output_count, n->out[k]);
    }
}

static void make_program(C *c, Graph *g, const Options *o, NpuProgram *p) {
    size_t bytes;
    find_boundary(c, p);
    if (p->output_count == 0)
        fatal(c, DIAG_BUG, NULL, "nothing reads what %s computes", p->name);
    p->tosa = tosa_part(c, g, o->npu, p->first, p->last, p->input_count, p->input, p->output_count,
                        p->output, &bytes);
    p->tosa_bytes = (int64_t)bytes;
    vela_compile(c, o, p);
}

void pass_vela(C *c, Graph *g, const Options *o) {
    graph_index(g);
    g->npu = NEW_ARRAY(c, NpuProgram, program_count(g) + 1);
    for (Node *n = g->first; n; n = n->next) {
        if (n->target != NODE_NPU)
            continue;
        NpuProgram *p = &g->npu[g->npu_count];
        p->name = c_format(c, "%s_npu%d", g->name, g->npu_count++);
        for (p->first = n; n->next && n->next->target == NODE_NPU;)
            n = n->next;
        p->last = n;
        make_program(c, g, o, p);
    }
}
