/* Product of two int16 activations, element by element; zero points are 0 and values within
 * +-32767, so a product is below 2^30. A fused table is one of int16 [513]. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

void ctn_mul_s16(const CtnMulS16Args *a, const CtnFrame *frame) {
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
            int32_t product = ctn_requantize(*p * *q, a->multiplier, a->shift);
            product = ctn_clamp(product, a->clamp_min, a->clamp_max);
            *output++ = table ? ctn_interpolate_s16(table, product) : (int16_t)product;
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
