/* Comparison of two activations on their common scale, giving bool. */
#include "compare.h"
#include "ctn.h"
#include "loop.h"

void ctn_compare_s8(const CtnCompareS8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->a);
    const int8_t *rhs = ctn_at(frame, a->b);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        const int8_t *p = lhs + l, *q = rhs + r;
        for (int32_t i = 0; i < a->dim[5]; i++, p += a->a_stride[5], q += a->b_stride[5]) {
            int32_t x = (int32_t)(*p - a->a_zero_point) * a->a_factor;
            int32_t y = (int32_t)(*q - a->b_zero_point) * a->b_factor;
            *output++ = ctn_compare((x > y) - (x < y), a->op);
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
