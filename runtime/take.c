/* Elements at places that are known only when the model runs. An index beyond the end is brought
 * back to it, so that no data, however wrong, reads outside of the input. */
#include "ctn.h"
#include "element.h"

static int32_t place(const CtnTakeArgs *a, const uint8_t *indices, int32_t i) {
    int64_t at = a->index_size == 8 ? ((const int64_t *)(const void *)indices)[i]
                                    : ((const int32_t *)(const void *)indices)[i];
    if (at < 0)
        at += a->rows;
    return at < 0 ? 0 : at >= a->rows ? a->rows - 1 : (int32_t)at;
}

void ctn_take(const CtnTakeArgs *a, const CtnFrame *frame) {
    const uint8_t *input = ctn_at(frame, a->input), *indices = ctn_at(frame, a->indices);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t size = a->element_size, row = a->inner * size, n = 0;
    for (int32_t o = 0; o < a->outer; o++, input += a->rows * row)
        for (int32_t k = 0; k < a->count; k++, output += row) {
            if (!a->each) {
                ctn_move_elements(output, 1, input + place(a, indices, k) * row, 1, a->inner, size);
                continue;
            }
            for (int32_t i = 0; i < a->inner; i++)
                ctn_move_elements(output + i * size, 1,
                                  input + place(a, indices, n++) * row + i * size, 1, 1, size);
        }
}
