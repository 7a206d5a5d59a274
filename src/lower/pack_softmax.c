/* Exponentials of all distances that count, for the variants of softmax that look them up. */
#include "exp.h"
#include "lower/packing.h"

bool softmax_by_table(const Call *call) {
    return ((const CtnSoftmaxS8Args *)call->args)->diff_min <= 0;
}

void pack_softmax_table(C *c, Graph *g, Call *call) {
    (void)c;
    (void)g;
    CtnSoftmaxS8Args *a = call->args;
    int32_t entry[256];
    int count = a->diff_min <= -255 ? 256 : 1 - a->diff_min;
    for (int i = 0; i < count; i++)
        entry[i] = ctn_exp_distance(-i, a->multiplier, a->shift);
    call_const(call, &a->exponentials, "exponentials", DT_I32, entry, 4LL * count, 4);
}
