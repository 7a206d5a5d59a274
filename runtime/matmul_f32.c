/* Product of two float32 operands; each sum runs along the depth in order, the bias comes last. */
#include "float32.h"

#include "ctn.h"
#include "loop.h"

static float *product(const CtnMatmulF32Args *a, const float *lhs, const float *rhs,
                      const float *bias, float *output) {
    for (int32_t m = 0; m < a->rows; m++, lhs += a->lhs_row_stride) {
        const float *column = rhs;
        for (int32_t n = 0; n < a->columns; n++, column += a->rhs_column_stride) {
            const float *l = lhs, *r = column;
            float sum = 0.0f;
            for (int32_t k = 0; k < a->depth; k++) {
                sum += *l * *r;
                l += a->lhs_depth_stride;
                r += a->rhs_depth_stride;
            }
            *output++ = ctn_settle(bias ? sum + bias[n] : sum);
        }
    }
    return output;
}

void ctn_matmul_f32(const CtnMatmulF32Args *a, const CtnFrame *frame) {
    const float *lhs = ctn_at(frame, a->lhs);
    const float *rhs = ctn_at(frame, a->rhs);
    const float *bias = ctn_at(frame, a->bias);
    float *output = ctn_at(frame, a->output);
    int32_t index[4] = {0}, l = 0, r = 0;
    if (ctn_is_empty(4, a->batch))
        return;
    do
        output = product(a, lhs + l, rhs + r, bias, output);
    while (ctn_step(4, a->batch, index, a->lhs_batch_stride, &l, a->rhs_batch_stride, &r));
}
