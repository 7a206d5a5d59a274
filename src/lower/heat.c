/* How often a run reads and writes each buffer, estimated from its calls: what decides which
 * buffers deserve the fastest memory. Only the order matters that this gives, not the numbers. */
#include "lower/memory.h"

/* Of an operand that a kernel multiplies, it reads each number once for so many products: it keeps
 * that many sums in registers. */
enum { SUMS_AT_ONCE = 4 };

static int64_t written_bytes(const Call *call) {
    int64_t bytes = 0;
    for (int r = 0; r < call->ref_count; r++)
        if (call->ref[r].writes && call->ref[r].buffer && call->ref[r].buffer->kind == BUFFER_VALUE)
            bytes += call->ref[r].buffer->bytes;
    return bytes;
}

/* Bytes of the buffer that a run of the call reads or writes. Biases, factors and tables are read
 * for each result. */
static double accesses(const Call *call, const CallRef *ref) {
    const Buffer *b = ref->buffer;
    double whole = (double)b->bytes, products = (double)call->macs / SUMS_AT_ONCE;
    switch (constant_role(call, ref)) {
    case CONSTANT_BIASES:
    case CONSTANT_FACTORS:
    case CONSTANT_TABLES:
        return (double)written_bytes(call) * dtype_size(b->element);
    case CONSTANT_NUMBERS:
        return whole;
    case CONSTANT_WEIGHTS:
    case CONSTANT_NONE:
        break;
    }
    if (ref->writes && b->kind == BUFFER_VALUE)
        return whole;
    if (products > whole)
        return products;
    return b->kind == BUFFER_SCRATCH ? 2 * whole : whole;
}

/* A ring is written and read as often as the value whose rows it holds, which is larger; the calls
 * around it say how large. */
static double ring_accesses(const Call *call, const CallRef *ref) {
    const Value *v = call->node && call->node->out_count ? node_result(call->node) : NULL;
    return ref->writes && v ? (double)value_bytes(v) : accesses(call, ref);
}

void count_accesses(Graph *g) {
    for (int i = 0; i < g->buffer_count; i++)
        g->buffer[i]->accesses = 0;
    for (const Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++) {
            const CallRef *ref = &call->ref[r];
            if (ref->buffer)
                ref->buffer->accesses +=
                    ref->buffer->is_ring ? ring_accesses(call, ref) : accesses(call, ref);
        }
}
