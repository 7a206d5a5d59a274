/* Quotient of two activations, element by element, rounded once. Nothing is fused behind it: no
 * table. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

void ctn_div_s16(const CtnDivS16Args *a, const CtnFrame *frame) {
    const int16_t *lhs = ctn_at(frame, a->a);
    const int16_t *rhs = ctn_at(frame, a->b);
    int16_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        const int16_t *p = lhs + l, *d = rhs + r;
        for (int32_t i = 0; i < a->dim[5]; i++, p += a->a_stride[5], d += a->b_stride[5]) {
            int32_t q =
                ctn_quotient(*p - a->a_zero_point, *d - a->b_zero_point, a->multiplier, a->shift) +
                a->output_zero_point;
            *output++ = (int16_t)ctn_clamp(q, a->clamp_min, a->clamp_max);
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
