/* Sum of two int16 activations on a common scale. A fused table is one of int16 [513]. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

void ctn_add_s16(const CtnAddS16Args *a, const CtnFrame *frame) {
    const int16_t *lhs = ctn_at(frame, a->a);
    const int16_t *rhs = ctn_at(frame, a->b);
    const int16_t *table = ctn_at(frame, a->table);
    int16_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        const int16_t *p = lhs + l, *q = rhs + r;
        for (int32_t i = 0; i < a->dim[5]; i++, p += a->a_stride[5], q += a->b_stride[5]) {
            int32_t sum =
                ctn_add_operand(*p, a->a_zero_point, a->left_shift, a->a_multiplier, a->a_shift) +
                ctn_add_operand(*q, a->b_zero_point, a->left_shift, a->b_multiplier, a->b_shift);
            sum = ctn_requantize(sum, a->output_multiplier, a->output_shift);
            sum = ctn_clamp(sum + a->output_zero_point, a->clamp_min, a->clamp_max);
            *output++ = table ? ctn_interpolate_s16(table, sum) : (int16_t)sum;
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
