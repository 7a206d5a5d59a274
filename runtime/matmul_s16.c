/* Product of two activations, each of 8 or 16 bits. */
#include "ctn.h"
#include "loop.h"
#include "wide.h"

/* Products with an int8 less its zero point stay within 2^15 * 255: so many are summed in 32 bits.
 */
#define PRODUCTS 256

static int32_t part_end(int32_t done, int32_t depth) {
    return depth - done > PRODUCTS ? done + PRODUCTS : depth;
}

static int64_t dot_of_bytes(const CtnMatmulS16Args *a, const int8_t *lhs, const int8_t *rhs) {
    int64_t sum = 0;
    for (int32_t k = 0; k < a->depth;) {
        int32_t end = part_end(k, a->depth), part = 0;
        for (; k < end; k++, lhs += a->lhs_depth_stride, rhs += a->rhs_depth_stride)
            part += (*lhs - a->lhs_zero_point) * (*rhs - a->rhs_zero_point);
        sum += part;
    }
    return sum;
}

static int64_t dot_mixed(int32_t depth, const int16_t *wide, int32_t wide_stride,
                         const int8_t *narrow, int32_t narrow_stride, int32_t zero_point) {
    int64_t sum = 0;
    for (int32_t k = 0; k < depth;) {
        int32_t end = part_end(k, depth), part = 0;
        for (; k < end; k++, wide += wide_stride, narrow += narrow_stride)
            part += *wide * (*narrow - zero_point);
        sum += part;
    }
    return sum;
}

static int64_t dot_of_halves(const CtnMatmulS16Args *a, const int16_t *lhs, const int16_t *rhs) {
    int64_t sum = 0;
    for (int32_t k = 0; k < a->depth; k++, lhs += a->lhs_depth_stride, rhs += a->rhs_depth_stride)
        sum += *lhs * *rhs;
    return sum;
}

static int64_t dot(const CtnMatmulS16Args *a, const void *lhs, int32_t l, const void *rhs,
                   int32_t r) {
    const int8_t *lhs8 = (const int8_t *)lhs + l, *rhs8 = (const int8_t *)rhs + r;
    const int16_t *lhs16 = (const int16_t *)lhs + l, *rhs16 = (const int16_t *)rhs + r;
    if (a->lhs_bytes == 2 && a->rhs_bytes == 2)
        return dot_of_halves(a, lhs16, rhs16);
    if (a->lhs_bytes == 2)
        return dot_mixed(a->depth, lhs16, a->lhs_depth_stride, rhs8, a->rhs_depth_stride,
                         a->rhs_zero_point);
    if (a->rhs_bytes == 2)
        return dot_mixed(a->depth, rhs16, a->rhs_depth_stride, lhs8, a->lhs_depth_stride,
                         a->lhs_zero_point);
    return dot_of_bytes(a, lhs8, rhs8);
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
