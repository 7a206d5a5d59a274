/* Any function of two bytes, by a table with a row for each value of the second. */
#include "ctn.h"
#include "loop.h"

void ctn_pointwise2_s8(const CtnPointwise2S8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->a);
    const int8_t *rhs = ctn_at(frame, a->b);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        const int8_t *p = lhs + l, *q = rhs + r;
        for (int32_t i = 0; i < a->dim[5]; i++, p += a->a_stride[5], q += a->b_stride[5])
            *output++ = table[(*q + 128) * 256 + *p + 128];
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
