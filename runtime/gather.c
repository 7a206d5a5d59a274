/* Separable gather: the input offset is a sum of one term per dimension, each a stride or a row
 * of a constant index table. The output is contiguous. */
#include "ctn.h"
#include "element.h"
#include "loop.h"

static int32_t term(const CtnGatherArgs *a, const int32_t *indices, int d, int32_t i) {
    return a->index_start[d] < 0 ? a->in_stride[d] * i : indices[a->index_start[d] + i];
}

void ctn_gather(const CtnGatherArgs *a, const CtnFrame *frame) {
    static const int32_t still[7] = {0};
    const uint8_t *input = ctn_at(frame, a->input);
    const int32_t *indices = ctn_at(frame, a->indices);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t index[7] = {0}, zero = 0, size = a->element_size;
    if (ctn_is_empty(8, a->dim))
        return;
    do {
        int32_t base = 0;
        for (int d = 0; d < 7; d++)
            base += term(a, indices, d, index[d]);
        if (a->index_start[7] < 0)
            ctn_move_elements(output, 1, input + base * size, a->in_stride[7], a->dim[7], size);
        else
            for (int32_t i = 0; i < a->dim[7]; i++)
                ctn_move_elements(output + i * size, 1,
                                  input + (base + indices[a->index_start[7] + i]) * size, 1, 1,
                                  size);
        output += a->dim[7] * size;
    } while (ctn_step(7, a->dim, index, still, &zero, still, &zero));
}
