/* What MVE asks of copies and reductions, and the order of a copy's dims. */
#include "lower/packing.h"

enum { OFFSETS = 65535 / 7 }; /* seven strides fit 16 bits */

bool sum_of_neighbours(const Call *call) {
    const CtnReduceSumS8Args *a = call->args;
    return a->in_stride[5] == 1 || a->dim[5] == 1;
}

bool sum_of_neighbouring_bytes(const Call *call) {
    const CtnReduceSumS16Args *a = call->args;
    return a->input_bytes == 1 && (a->in_stride[5] == 1 || a->dim[5] == 1);
}

/* Elements of the vectors that a copy along dim d makes; 0 if it cannot run along it. */
static int32_t run_length(const CtnCopyArgs *a, int d) {
    int32_t in = a->in_stride[d], out = a->out_stride[d];
    if (in < 1 || out < 1 || (in != 1 && out != 1) || in > OFFSETS || out > OFFSETS)
        return 0;
    return in == 1 && out == 1 ? a->dim[d] : a->dim[d] / 2;
}

static int outermost(const CtnCopyArgs *a) {
    int d = 0;
    while (d < 7 && a->dim[d] == 1)
        d++;
    return d;
}

/* The best dim to run along; the outermost stays where it is, for it counts rows. */
static int best_dim(const CtnCopyArgs *a) {
    int best = 7;
    for (int d = 6; d > outermost(a); d--)
        if (run_length(a, d) > run_length(a, best))
            best = d;
    return best;
}

bool copy_of_bytes(const Call *call) {
    const CtnCopyArgs *a = call->args;
    return a->element_size == 1 && !call_data(call, &a->table) && run_length(a, best_dim(a)) > 3;
}

/* Through a table only what is dense on both sides. */
bool mapped_copy_of_runs(const Call *call) {
    const CtnCopyArgs *a = call->args;
    int d = best_dim(a);
    return a->element_size == 1 && call_data(call, &a->table) && run_length(a, d) > 3 &&
           a->in_stride[d] == 1 && a->out_stride[d] == 1;
}

void pack_copy_of_bytes(C *c, Graph *g, Call *call) {
    CtnCopyArgs *a = call->args;
    (void)c, (void)g;
    int best = best_dim(a);
    int32_t *field[3] = {a->dim, a->in_stride, a->out_stride};
    for (int k = 0; k < 3; k++) {
        int32_t t = field[k][7];
        field[k][7] = field[k][best];
        field[k][best] = t;
    }
}
