/* A program for the NPU as one call, between copies of what it reads into its scratch memory and of
 * what others read out of it. An input of the model that it alone reads lies in the scratch from
 * the start, and its results stay there if they are outputs: most models are one program. */
#include "lower/memory.h"

enum { NPU_ALIGN = 16 };

bool npu_holds(const NpuProgram *p, const Node *n) {
    return n->index >= p->first->index && n->index <= p->last->index;
}

bool npu_alone_reads(const NpuProgram *p, const Value *v) {
    for (int i = 0; i < v->user_count; i++)
        if (!npu_holds(p, v->user[i]))
            return false;
    return true;
}

static Value *memory(Graph *g, const NpuProgram *p, const char *what, int64_t bytes) {
    int64_t size = align_up(bytes, NPU_ALIGN);
    return value_new(g, c_format(g->c, "%s_%s", p->name, what), type_make(DT_I8, 1, &size));
}

static void call_program(C *c, Graph *g, const NpuProgram *p, Node *n, Value *scratch) {
    Call *call = call_new(c, g, n, CTN_KERNEL_npu);
    CtnNpuArgs *a = call->args;
    call->name = name_take(c, g->call_names, p->name);
    call->origins = (Origins){0};
    for (Node *k = p->first; k != p->last->next; k = k->next) {
        call->macs += k->npu_macs;
        call->origins = origins_union(c, &call->origins, &k->origins);
    }
    call_const(call, &a->commands, "commands", DT_I8, p->commands, p->command_bytes, NPU_ALIGN);
    if (p->weight_bytes > 0)
        call_const(call, &a->weights, "weights", DT_I8, p->weights, p->weight_bytes, NPU_ALIGN);
    call_out(call, &a->scratch, scratch);
    if (p->fast_bytes > 0)
        call_scratch(call, &a->fast, p->fast_bytes, NPU_ALIGN);
    a->command_bytes = (int32_t)p->command_bytes;
    a->weight_bytes = (int32_t)p->weight_bytes;
    a->scratch_bytes = (int32_t)p->scratch_bytes;
    a->fast_bytes = (int32_t)p->fast_bytes;
}

void lower_npu(C *c, Graph *g, const Options *o, const NpuProgram *p) {
    Node *n = p->last->fused ? node_operand(p->last, 0)->def : p->last;
    Value *scratch = memory(g, p, "scratch", p->scratch_bytes);
    for (int i = 0; i < p->input_count; i++) {
        Value *v = p->input[i];
        bool first = p == g->npu && !o->bind_inputs && !o->keep_inputs && !v->buffer;
        if (first && graph_has_input(g, v) && npu_alone_reads(p, v) && v->output_count == 0)
            value_alias(g, v, scratch, p->input_offset[i]);
        else
            lower_copy_bytes(c, g, n, v, 0, scratch, p->input_offset[i], value_bytes(v));
    }
    call_program(c, g, p, n, scratch);
    for (int i = 0; i < p->output_count; i++) {
        Value *v = p->output[i];
        bool last = p == &g->npu[g->npu_count - 1] && !o->bind_outputs;
        if (last && npu_alone_reads(p, v))
            value_alias(g, v, scratch, p->output_offset[i]);
        else
            lower_copy_bytes(c, g, n, scratch, p->output_offset[i], v, 0, value_bytes(v));
    }
}
