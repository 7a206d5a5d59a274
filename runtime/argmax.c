/* The place of the first maximum or minimum. */
#include "ctn.h"
#include "loop.h"
#include "wide.h"

static int32_t place(const CtnArgmaxArgs *a, const void *input, int32_t offset) {
    int32_t best = 0, top = ctn_load_wide(input, a->input_bytes, offset);
    for (int32_t i = 1; i < a->count; i++) {
        int32_t q = ctn_load_wide(input, a->input_bytes, offset + i * a->stride);
        if (a->mode ? q < top : q > top) {
            best = i;
            top = q;
        }
    }
    return best;
}

void ctn_argmax(const CtnArgmaxArgs *a, const CtnFrame *frame) {
    static const int32_t still[6] = {0};
    const void *input = ctn_at(frame, a->input);
    int64_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        *output++ = place(a, input, offset);
    } while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}
