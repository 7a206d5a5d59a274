/* Products of activations and recurrent layers on MVE: rows that are dense, and scratch for the
 * columns; units in fours. */
#include "lower/memory.h"
#include "lower/packing.h"

bool matmul_of_rows(const Call *call) {
    const CtnMatmulS8Args *a = call->args;
    return (a->lhs_depth_stride == 1 || a->depth == 1) && a->depth > 0 && a->shift < 0;
}

void pack_matmul_of_rows(C *c, Graph *g, Call *call) {
    CtnMatmulS8Args *a = call->args;
    (void)c, (void)g;
    int64_t columns = (a->columns + 3) / 4 * 4, pitch = (a->depth + 15) / 16 * 16;
    call_scratch(call, &a->scratch, columns * (pitch + 4), 16);
}

bool units_fill_four(const Call *call) {
    return *call_ints(call, "size") >= 4;
}
