/* Maximum or minimum of two activations, each first brought to the output's grid. Rounding is
 * monotone, so the larger of the rounded is the rounded larger. */
#include "ctn.h"
#include "loop.h"

void ctn_minmax_s8(const CtnMinmaxS8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->a);
    const int8_t *rhs = ctn_at(frame, a->b);
    const int8_t *lhs_table = ctn_at(frame, a->a_table);
    const int8_t *rhs_table = ctn_at(frame, a->b_table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        const int8_t *p = lhs + l, *q = rhs + r;
        for (int32_t i = 0; i < a->dim[5]; i++, p += a->a_stride[5], q += a->b_stride[5]) {
            int8_t x = lhs_table ? lhs_table[*p + 128] : *p;
            int8_t y = rhs_table ? rhs_table[*q + 128] : *q;
            *output++ = (x < y) == (a->minimum != 0) ? x : y;
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
