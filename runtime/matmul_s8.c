/* Product of two activations in plain C. depth * 255 * 255 fits int32, as the host has checked. */
#include "ctn.h"
#include "fix.h"
#include "loop.h"

static int8_t *product(const CtnMatmulS8Args *a, const int8_t *lhs, const int8_t *rhs,
                       const int8_t *table, int8_t *output) {
    for (int32_t m = 0; m < a->rows; m++, lhs += a->lhs_row_stride) {
        const int8_t *column = rhs;
        for (int32_t n = 0; n < a->columns; n++, column += a->rhs_column_stride) {
            const int8_t *l = lhs, *r = column;
            int32_t sum = 0;
            for (int32_t k = 0; k < a->depth; k++) {
                sum += (*l - a->lhs_zero_point) * (*r - a->rhs_zero_point);
                l += a->lhs_depth_stride;
                r += a->rhs_depth_stride;
            }
            sum = ctn_requantize(sum, a->multiplier, a->shift) + a->output_zero_point;
            *output++ = ctn_finish_s8(sum, a->clamp_min, a->clamp_max, table);
        }
    }
    return output;
}

void ctn_matmul_s8(const CtnMatmulS8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->lhs);
    const int8_t *rhs = ctn_at(frame, a->rhs);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[4] = {0}, l = 0, r = 0;
    if (ctn_is_empty(4, a->batch))
        return;
    do
        output = product(a, lhs + l, rhs + r, table, output);
    while (ctn_step(4, a->batch, index, a->lhs_batch_stride, &l, a->rhs_batch_stride, &r));
}
