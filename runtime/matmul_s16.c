/* Product of two activations, each of 8 or 16 bits. */
#include "ctn.h"
#include "loop.h"
#include "wide.h"

static int64_t dot(const CtnMatmulS16Args *a, const void *lhs, int32_t l, const void *rhs,
                   int32_t r) {
    int64_t sum = 0;
    for (int32_t k = 0; k < a->depth; k++) {
        sum += (int64_t)(ctn_load_wide(lhs, a->lhs_bytes, l) - a->lhs_zero_point) *
               (ctn_load_wide(rhs, a->rhs_bytes, r) - a->rhs_zero_point);
        l += a->lhs_depth_stride;
        r += a->rhs_depth_stride;
    }
    return sum;
}

void ctn_matmul_s16(const CtnMatmulS16Args *a, const CtnFrame *frame) {
    const void *lhs = ctn_at(frame, a->lhs), *rhs = ctn_at(frame, a->rhs);
    void *output = ctn_at(frame, a->output);
    int32_t index[4] = {0}, l = 0, r = 0, at = 0;
    if (ctn_is_empty(4, a->batch))
        return;
    do
        for (int32_t m = 0; m < a->rows; m++)
            for (int32_t n = 0; n < a->columns; n++) {
                int64_t sum =
                    dot(a, lhs, l + m * a->lhs_row_stride, rhs, r + n * a->rhs_column_stride);
                int32_t q = ctn_requantize_wide(sum, a->multiplier, a->shift);
                q = ctn_clamp(q + a->output_zero_point, a->clamp_min, a->clamp_max);
                ctn_store_wide(output, a->output_bytes, at++, q);
            }
    while (ctn_step(4, a->batch, index, a->lhs_batch_stride, &l, a->rhs_batch_stride, &r));
}
