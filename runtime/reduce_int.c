/* Sums and extrema of integers and bools as they are. Sums wrap around, as PyTorch's do. */
#include "ctn.h"
#include "loop.h"

static int64_t element(const CtnReduceIntArgs *a, const uint8_t *input, int32_t at) {
    if (a->in_size == 8)
        return ((const int64_t *)(const void *)input)[at];
    if (a->in_size == 4)
        return ((const int32_t *)(const void *)input)[at];
    return ((const int8_t *)input)[at];
}

static int64_t reduced(const CtnReduceIntArgs *a, const uint8_t *input, int32_t base) {
    static const int32_t still[6] = {0};
    int32_t index[6] = {0}, offset = base, zero = 0;
    uint64_t sum = 0;
    if (ctn_is_empty(6, a->reduced))
        return 0;
    int64_t best = element(a, input, base);
    do {
        int64_t v = element(a, input, offset);
        sum += (uint64_t)v;
        if (a->mode == 1 ? v > best : v < best)
            best = v;
    } while (ctn_step(6, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    return a->mode == 0 ? (int64_t)sum : best;
}

void ctn_reduce_int(const CtnReduceIntArgs *a, const CtnFrame *frame) {
    static const int32_t still[6] = {0};
    const uint8_t *input = ctn_at(frame, a->input);
    void *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0, i = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        int64_t v = reduced(a, input, offset);
        if (a->out_size == 8)
            ((int64_t *)output)[i++] = v;
        else if (a->out_size == 4)
            ((int32_t *)output)[i++] = (int32_t)v;
        else
            ((int8_t *)output)[i++] = (int8_t)v;
    } while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}
