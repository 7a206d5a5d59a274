/* Product of two activations by MVE: a row times four columns at a time. The columns of the right
 * side are first laid together in scratch, padded to whole vectors with zeros, so that what is read
 * behind a row does not count. Zero points come in afterwards:
 *   sum (l - zl)(r - zr) = sum l r - zr sum l - zl sum r + depth zl zr.
 *
 * Scratch: for each column, rounded up to fours, an int32 of the last two terms; then the columns.
 */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "scale_mve.h"
#include "vector_mve.h"

typedef struct {
    const CtnMatmulS8Args *a;
    int32_t *terms;
    int8_t *columns;
    int32_t pitch; /* bytes of a column: depth in whole vectors */
} Product;

/* `count` elements, `stride` apart, and zeros up to whole vectors. */
static void collect(int8_t *to, const int8_t *from, int32_t stride, int32_t count) {
    if (stride == 1) {
        ctn_vector_copy(to, from, count); /* its last load fills up with zeros */
        return;
    }
    vstrbq_s8(to + ((count - 1) & ~15), vdupq_n_s8(0));
    for (; count > 0; count--, from += stride)
        *to++ = *from;
}

static void lay_columns(const Product *p, const int8_t *rhs) {
    const CtnMatmulS8Args *a = p->a;
    for (int32_t n = 0; n < a->columns; n++, rhs += a->rhs_column_stride) {
        int8_t *to = p->columns + n * p->pitch;
        collect(to, rhs, a->rhs_depth_stride, a->depth);
        int32_t sum = 0;
        for (int32_t k = 0; k < p->pitch; k += 16)
            sum = vaddvaq_s8(sum, vldrbq_s8(to + k));
        p->terms[n] = a->lhs_zero_point * (a->depth * a->rhs_zero_point - sum);
    }
}

static int32_t row_sum(const int8_t *row, int32_t depth) {
    int32_t sum = 0;
    for (; depth >= 16; depth -= 16, row += 16)
        sum = vaddvaq_s8(sum, vldrbq_s8(row));
    if (depth > 0)
        sum = vaddvaq_s8(sum, vldrbq_z_s8(row, vctp8q((uint32_t)depth)));
    return sum;
}

/* A row times the four columns at c. */
static int32x4_t four(const int8_t *row, const int8_t *c, int32_t pitch, int32_t depth) {
    const int8_t *d = c + 2 * pitch;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, whole = depth & ~15;
    for (int32_t k = 0; k < whole; k += 16, row += 16, c += 16, d += 16) {
        int8x16_t q = vldrbq_s8(row);
        s0 = vmladavaq_s8(s0, q, vldrbq_s8(c));
        s1 = vmladavaq_s8(s1, q, vldrbq_s8(c + pitch));
        s2 = vmladavaq_s8(s2, q, vldrbq_s8(d));
        s3 = vmladavaq_s8(s3, q, vldrbq_s8(d + pitch));
    }
    if (whole < depth) {
        int8x16_t q = vldrbq_z_s8(row, vctp8q((uint32_t)(depth - whole)));
        s0 = vmladavaq_s8(s0, q, vldrbq_s8(c));
        s1 = vmladavaq_s8(s1, q, vldrbq_s8(c + pitch));
        s2 = vmladavaq_s8(s2, q, vldrbq_s8(d));
        s3 = vmladavaq_s8(s3, q, vldrbq_s8(d + pitch));
    }
    return vsetq_lane_s32(s3, vsetq_lane_s32(s2, vsetq_lane_s32(s1, vdupq_n_s32(s0), 1), 2), 3);
}

static int8_t *product(const Product *p, const int8_t *lhs, const int8_t *table, int8_t *output) {
    const CtnMatmulS8Args *a = p->a;
    const int32x4_t min = vdupq_n_s32(a->clamp_min), max = vdupq_n_s32(a->clamp_max);
    for (int32_t m = 0; m < a->rows; m++, lhs += a->lhs_row_stride) {
        int32_t row_term = a->rhs_zero_point ? -a->rhs_zero_point * row_sum(lhs, a->depth) : 0;
        for (int32_t n = 0; n < a->columns; n += 4) {
            int32x4_t sum = four(lhs, p->columns + n * p->pitch, p->pitch, a->depth);
            sum = vaddq_n_s32(vaddq_s32(sum, vldrwq_s32(p->terms + n)), row_term);
            sum = ctn_scale_mve(sum, a->multiplier, a->shift, 1);
            sum = vaddq_n_s32(sum, a->output_zero_point);
            int32_t lanes = a->columns - n < 4 ? a->columns - n : 4;
            vstrbq_p_s32(output, ctn_end_mve(sum, min, max, table, a->clamp_min),
                         vctp32q((uint32_t)lanes));
            output += lanes;
        }
    }
    return output;
}

void ctn_matmul_s8_mve(const CtnMatmulS8Args *a, const CtnFrame *frame) {
    const int8_t *lhs = ctn_at(frame, a->lhs), *rhs = ctn_at(frame, a->rhs), *laid = 0;
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    Product p = {.a = a, .terms = ctn_at(frame, a->scratch), .pitch = (a->depth + 15) & ~15};
    int32_t index[4] = {0}, l = 0, r = 0, fours = (a->columns + 3) & ~3;
    if (ctn_is_empty(4, a->batch))
        return;
    p.columns = (int8_t *)(p.terms + fours);
    do {
        if (laid != rhs + r)
            lay_columns(&p, rhs + r);
        laid = rhs + r;
        output = product(&p, lhs + l, table, output);
    } while (ctn_step(4, a->batch, index, a->lhs_batch_stride, &l, a->rhs_batch_stride, &r));
}
#endif
