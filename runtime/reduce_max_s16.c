/* Maximum or minimum of int16 over dimensions; of nothing it is the smallest or largest value. */
#include "ctn.h"
#include "loop.h"

static const int32_t still[6] = {0};

static int16_t best_of(const CtnReduceMaxS16Args *a, const int16_t *input) {
    int32_t index[6] = {0}, offset = 0, zero = 0;
    int16_t best = a->mode == 0 ? -32767 : 32767;
    if (ctn_is_empty(6, a->reduced))
        return best;
    do {
        int16_t q = input[offset];
        if (a->mode == 0 ? q > best : q < best)
            best = q;
    } while (ctn_step(6, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    return best;
}

void ctn_reduce_max_s16(const CtnReduceMaxS16Args *a, const CtnFrame *frame) {
    const int16_t *input = ctn_at(frame, a->input);
    int16_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do
        *output++ = best_of(a, input + offset);
    while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}
