/* Comparison of two activations on their common scale, giving bool. */
#include "compare.h"
#include "ctn.h"
#include "loop.h"

void ctn_compare_s16(const CtnCompareS16Args *a, const CtnFrame *frame) {
    const int16_t *lhs = ctn_at(frame, a->a);
    const int16_t *rhs = ctn_at(frame, a->b);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        const int16_t *p = lhs + l, *q = rhs + r;
        for (int32_t i = 0; i < a->dim[5]; i++, p += a->a_stride[5], q += a->b_stride[5]) {
            int64_t x = (int64_t)(*p - a->a_zero_point) * a->a_factor;
            int64_t y = (int64_t)(*q - a->b_zero_point) * a->b_factor;
            *output++ = ctn_compare((x > y) - (x < y), a->op);
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
