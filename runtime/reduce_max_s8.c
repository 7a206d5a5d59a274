/* Maximum or minimum over dimensions; of nothing it is the smallest or largest value. */
#include "ctn.h"
#include "loop.h"

static const int32_t still[6] = {0};

static int8_t best_of(const CtnReduceMaxS8Args *a, const int8_t *input) {
    int32_t index[6] = {0}, offset = 0, zero = 0;
    int8_t best = a->mode == 0 ? -128 : 127;
    if (ctn_is_empty(6, a->reduced))
        return best;
    do {
        int8_t q = input[offset];
        if (a->mode == 0 ? q > best : q < best)
            best = q;
    } while (ctn_step(6, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    return best;
}

void ctn_reduce_max_s8(const CtnReduceMaxS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        int8_t best = best_of(a, input + offset);
        *output++ = table ? table[best + 128] : best;
    } while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}
