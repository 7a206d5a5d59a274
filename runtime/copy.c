/* Affine copy: every movement of data that is strides on both sides. */
#include "ctn.h"
#include "element.h"
#include "loop.h"

static void map_run(int8_t *out, int32_t out_stride, const int8_t *in, int32_t in_stride,
                    int32_t count, const int8_t *table) {
    for (int32_t i = 0; i < count; i++, out += out_stride, in += in_stride)
        *out = table[*in + 128];
}

void ctn_copy(const CtnCopyArgs *a, const CtnFrame *frame) {
    uint8_t *input = ctn_at(frame, a->input);
    uint8_t *output = ctn_at(frame, a->output);
    const int8_t *table = ctn_at(frame, a->table);
    int32_t index[7] = {0}, in = 0, out = 0;
    if (ctn_is_empty(8, a->dim))
        return;
    do {
        uint8_t *to = output + out * a->element_size;
        const uint8_t *from = input + in * a->element_size;
        if (table)
            map_run((int8_t *)to, a->out_stride[7], (const int8_t *)from, a->in_stride[7],
                    a->dim[7], table);
        else
            ctn_move_elements(to, a->out_stride[7], from, a->in_stride[7], a->dim[7],
                              a->element_size);
    } while (ctn_step(7, a->dim, index, a->in_stride, &in, a->out_stride, &out));
}
