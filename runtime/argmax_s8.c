/* The place of the first maximum or minimum. */
#include "ctn.h"
#include "loop.h"

static int32_t place(const CtnArgmaxS8Args *a, const int8_t *input) {
    int32_t best = 0;
    for (int32_t i = 1; i < a->count; i++) {
        int8_t q = input[i * a->stride], top = input[best * a->stride];
        if (a->mode ? q < top : q > top)
            best = i;
    }
    return best;
}

void ctn_argmax_s8(const CtnArgmaxS8Args *a, const CtnFrame *frame) {
    static const int32_t still[6] = {0};
    const int8_t *input = ctn_at(frame, a->input);
    int64_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        *output++ = place(a, input + offset);
    } while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}
