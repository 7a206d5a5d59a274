/* Product of two activations, element by element, on a level whose header of scaling was included
 * before (ctn_smmlar, ctn_ssat8_half); requantized as in dot_dsp.h: twice the product is below
 * 2^17, and packing has proven what the store asks. */
#ifndef CTN_PRODUCT_S8_H
#define CTN_PRODUCT_S8_H

#include "ctn.h"
#include "fix.h"
#include "loop.h"

typedef struct {
    int32_t a_zero_point, b_zero_point, multiplier, round, shift, min, max;
    const int8_t *table;
} CtnProduct;

static inline int32_t ctn_product_of(const CtnProduct *p, int32_t a, int32_t b) {
    int32_t x = 2 * (a - p->a_zero_point) * (b - p->b_zero_point);
    return (ctn_smmlar(x, p->multiplier, p->round) + (x >> 31)) >> p->shift;
}

static inline void ctn_product_line(const CtnProduct *product, const int8_t *a, int32_t a_step,
                                    const int8_t *b, int32_t b_step, int8_t *output,
                                    int32_t count) {
    const CtnProduct p = *product; /* a copy, which stores of bytes cannot change */
    if (!p.table && p.max - p.min == 255 && a_step == 1 && b_step == 1)
        for (; count >= 4; count -= 4, a += 4, b += 4, output += 4) {
            output[0] = (int8_t)ctn_ssat8_half(ctn_product_of(&p, a[0], b[0]));
            output[1] = (int8_t)ctn_ssat8_half(ctn_product_of(&p, a[1], b[1]));
            output[2] = (int8_t)ctn_ssat8_half(ctn_product_of(&p, a[2], b[2]));
            output[3] = (int8_t)ctn_ssat8_half(ctn_product_of(&p, a[3], b[3]));
        }
    for (; count > 0; count--, a += a_step, b += b_step)
        *output++ = ctn_finish_s8(ctn_product_of(&p, *a, *b) >> 1, p.min, p.max, p.table);
}

static inline void ctn_product_s8(const CtnMulS8Args *a, const CtnFrame *frame) {
    CtnProduct p = {.a_zero_point = a->a_zero_point,
                    .b_zero_point = a->b_zero_point,
                    .multiplier = a->multiplier,
                    .round = (2 * a->output_zero_point + 1) * (1 << (-a->shift - 1)),
                    .shift = -a->shift - 1,
                    .min = a->clamp_min,
                    .max = a->clamp_max,
                    .table = ctn_at(frame, a->table)};
    const int8_t *lhs = ctn_at(frame, a->a), *rhs = ctn_at(frame, a->b);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        ctn_product_line(&p, lhs + l, a->a_stride[5], rhs + r, a->b_stride[5], output, a->dim[5]);
        output += a->dim[5];
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}

#endif
