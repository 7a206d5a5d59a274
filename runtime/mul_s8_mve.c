/* Product of two activations by MVE, four at a time. Operand a is dense; b is dense or one value
 * along the runs. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "scale_mve.h"

typedef struct { /* copied to locals, since stores of bytes may alias anything */
    int32_t a_zero_point, b_zero_point, zero_point, multiplier, shift, first;
    const int8_t *table;
    int32x4_t min, max;
} Product;

CTN_INLINE int32x4_t product(Product s, int32x4_t p, int32x4_t y, int looks_up) {
    int32x4_t x = vmulq_s32(vsubq_n_s32(p, s.a_zero_point), y);
    x = vaddq_n_s32(ctn_scale_mve(x, s.multiplier, s.shift, 1), s.zero_point);
    return ctn_end_mve(x, s.min, s.max, looks_up ? s.table : 0, s.first);
}

/* The whole fours of a run; `y` is operand b where it is one value. */
static void run(const Product *given, const int8_t *p, const int8_t *q, int32x4_t y, int dense,
                int8_t *to, int32_t count) {
    Product s = *given;
    if (s.table)
        for (; count >= 4; count -= 4, p += 4, q += 4, to += 4) {
            if (dense)
                y = vsubq_n_s32(vldrbq_s32(q), s.b_zero_point);
            vstrbq_s32(to, product(s, vldrbq_s32(p), y, 1));
        }
    else if (dense)
        for (; count >= 4; count -= 4, p += 4, q += 4, to += 4) {
            y = vsubq_n_s32(vldrbq_s32(q), s.b_zero_point);
            vstrbq_s32(to, product(s, vldrbq_s32(p), y, 0));
        }
    else
        for (; count >= 4; count -= 4, p += 4, to += 4)
            vstrbq_s32(to, product(s, vldrbq_s32(p), y, 0));
}

/* The one to three elements behind the last whole four. */
static void run_rest(const Product *s, const int8_t *p, const int8_t *q, int32x4_t y, int dense,
                     int8_t *to, int32_t count) {
    mve_pred16_t live = vctp32q((uint32_t)count);
    if (dense)
        y = vsubq_n_s32(vldrbq_z_s32(q, live), s->b_zero_point);
    vstrbq_p_s32(to, product(*s, vldrbq_z_s32(p, live), y, s->table != 0), live);
}

void ctn_mul_s8_mve(const CtnMulS8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->a);
    const int8_t *rhs = ctn_at(frame, a->b);
    int8_t *output = ctn_at(frame, a->output);
    const Product s = {.a_zero_point = a->a_zero_point,
                       .b_zero_point = a->b_zero_point,
                       .zero_point = a->output_zero_point,
                       .multiplier = a->multiplier,
                       .shift = a->shift,
                       .first = a->clamp_min,
                       .table = ctn_at(frame, a->table),
                       .min = vdupq_n_s32(a->clamp_min),
                       .max = vdupq_n_s32(a->clamp_max)};
    int32_t index[6] = {0}, l = 0, r = 0, count, dense = a->b_stride[5];
    if (ctn_is_empty(6, a->dim))
        return;
    int outer = 6 - ctn_run_dims(6, a->dim, a->a_stride, a->b_stride, &count);
    do {
        const int8_t *p = lhs + l, *q = rhs + r;
        int32x4_t y = vdupq_n_s32(*q - s.b_zero_point);
        int32_t whole = count & ~3, step = dense ? whole : 0;
        run(&s, p, q, y, dense, output, whole);
        if (whole < count)
            run_rest(&s, p + whole, q + step, y, dense, output + whole, count - whole);
        output += count;
    } while (ctn_step(outer, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
#endif
