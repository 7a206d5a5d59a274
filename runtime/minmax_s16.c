/* Maximum or minimum of two int16 activations, each first brought to the output's scale. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

static int16_t rescale(int32_t q, int32_t multiplier, int32_t shift) {
    return (int16_t)ctn_clamp(ctn_requantize(q, multiplier, shift), -32767, 32767);
}

void ctn_minmax_s16(const CtnMinmaxS16Args *a, const CtnFrame *frame) {
    const int16_t *lhs = ctn_at(frame, a->a);
    const int16_t *rhs = ctn_at(frame, a->b);
    int16_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        const int16_t *p = lhs + l, *q = rhs + r;
        for (int32_t i = 0; i < a->dim[5]; i++, p += a->a_stride[5], q += a->b_stride[5]) {
            int16_t x = rescale(*p, a->a_multiplier, a->a_shift);
            int16_t y = rescale(*q, a->b_multiplier, a->b_shift);
            *output++ = (x < y) == (a->minimum != 0) ? x : y;
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
