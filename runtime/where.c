/* A choice between two operands, element by element. */
#include "ctn.h"
#include "loop.h"

static void choose_s8(uint8_t *out, const uint8_t *in, const uint8_t *table) {
    *out = table ? table[(int8_t)*in + 128] : *in;
}

void ctn_where(const CtnWhereArgs *a, const CtnFrame *frame) {
    const uint8_t *condition = ctn_at(frame, a->condition);
    const uint8_t *chosen = ctn_at(frame, a->a), *other = ctn_at(frame, a->b);
    const uint8_t *chosen_table = ctn_at(frame, a->a_table);
    const uint8_t *other_table = ctn_at(frame, a->b_table);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, size = a->element_size, at = 0, x = 0, y = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    for (;;) {
        int yes = condition[at] != 0;
        const uint8_t *in = yes ? chosen + x * size : other + y * size;
        if (size == 1)
            choose_s8(output, in, yes ? chosen_table : other_table);
        else
            for (int32_t k = 0; k < size; k++)
                output[k] = in[k];
        output += size;
        int d = 5;
        for (; d >= 0; d--) {
            at += a->condition_stride[d];
            x += a->a_stride[d];
            y += a->b_stride[d];
            if (++index[d] < a->dim[d])
                break;
            at -= a->condition_stride[d] * a->dim[d];
            x -= a->a_stride[d] * a->dim[d];
            y -= a->b_stride[d] * a->dim[d];
            index[d] = 0;
        }
        if (d < 0)
            return;
    }
}
