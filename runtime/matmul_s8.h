/* Product of two activations on a level whose header of scaling (ctn_smmlar, ctn_ssat8_half) was
 * included, and whose ctn_matmul_block was defined, before: two rows by two columns at a time. With
 * zero points l and r the sum of (a - l) * (b - r) is that of a * b, less r times the row's sum and
 * l times the column's, and depth * l * r more. The store is that of dot_dsp.h, which packing has
 * proven for twice the largest sum.
 *
 * scratch: int32 [columns], the columns' sums. */
#ifndef CTN_MATMUL_S8_H
#define CTN_MATMUL_S8_H

#include "ctn.h"
#include "fix.h"
#include "loop.h"
#include "matmul_block.h"

typedef struct {
    int32_t multiplier, round, shift, min, max;
    const int8_t *table;
} CtnMatmulStore;

typedef struct {
    const CtnMatmulS8Args *a;
    int32_t *column_sums;
    CtnMatmulStore store;
} CtnMatmul;

__attribute__((noinline)) static int32_t ctn_matmul_line(const int8_t *p, int32_t stride,
                                                         int32_t count) {
    int32_t sum = 0;
    for (; count >= 4; count -= 4) {
        sum += *p;
        p += stride;
        sum += *p;
        p += stride;
        sum += *p;
        p += stride;
        sum += *p;
        p += stride;
    }
    for (; count > 0; count--, p += stride)
        sum += *p;
    return sum;
}

static inline int8_t ctn_matmul_store(const CtnMatmulStore *s, int32_t sum) {
    sum *= 2;
    int32_t q = (ctn_smmlar(sum, s->multiplier, s->round) + (sum >> 31)) >> s->shift;
    if (!s->table && s->max - s->min == 255)
        return (int8_t)ctn_ssat8_half(q);
    return ctn_finish_s8(q >> 1, s->min, s->max, s->table);
}

/* Two rows, the same if there is only one left, by all columns. */
static inline void ctn_matmul_rows(const CtnMatmul *m, CtnMatmulBlock *b, const int8_t *rhs,
                                   int8_t *first, int8_t *second) {
    const CtnMatmulStore store = m->store; /* a copy, which stores of bytes cannot change */
    const int32_t columns = m->a->columns, step = m->a->rhs_column_stride;
    const int32_t zero_point = m->a->rhs_zero_point;
    const int32_t depth = m->a->depth, all = depth * m->a->lhs_zero_point;
    int32_t base0 = zero_point * (all - ctn_matmul_line(b->row[0], 1, depth));
    int32_t base1 = zero_point * (all - ctn_matmul_line(b->row[1], 1, depth));
    const int32_t *column_sum = m->column_sums;
    for (int32_t n = 0; n < columns; n += 2, rhs += 2 * step) {
        int32_t next = n + 1 < columns ? n + 1 : n;
        b->column[0] = rhs;
        b->column[1] = rhs + (next - n) * step;
        ctn_matmul_block(b);
        first[n] = ctn_matmul_store(&store, b->sum[0] + base0 + column_sum[n]);
        second[n] = ctn_matmul_store(&store, b->sum[1] + base1 + column_sum[n]);
        first[next] = ctn_matmul_store(&store, b->sum[2] + base0 + column_sum[next]);
        second[next] = ctn_matmul_store(&store, b->sum[3] + base1 + column_sum[next]);
    }
}

static inline void ctn_matmul_one(const CtnMatmul *m, const int8_t *lhs, const int8_t *rhs,
                                  int8_t *output) {
    const CtnMatmulS8Args *a = m->a;
    CtnMatmulBlock b = {.depth = a->depth, .step = a->rhs_depth_stride};
    for (int32_t n = 0; n < a->columns; n++)
        m->column_sums[n] = -a->lhs_zero_point * ctn_matmul_line(rhs + n * a->rhs_column_stride,
                                                                 a->rhs_depth_stride, a->depth);
    for (int32_t i = 0; i < a->rows; i += 2) {
        int32_t next = i + 1 < a->rows ? i + 1 : i;
        b.row[0] = lhs + i * a->lhs_row_stride;
        b.row[1] = lhs + next * a->lhs_row_stride;
        ctn_matmul_rows(m, &b, rhs, output + i * a->columns, output + next * a->columns);
    }
}

static inline void ctn_matmul_all(const CtnMatmulS8Args *a, const CtnFrame *frame) {
    CtnMatmul m = {.a = a,
                   .column_sums = ctn_at(frame, a->scratch),
                   .store = {.multiplier = a->multiplier,
                             .round = (2 * a->output_zero_point + 1) * (1 << (-a->shift - 1)),
                             .shift = -a->shift - 1,
                             .min = a->clamp_min,
                             .max = a->clamp_max,
                             .table = ctn_at(frame, a->table)}};
    const int8_t *lhs = ctn_at(frame, a->lhs), *rhs = ctn_at(frame, a->rhs);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[4] = {0}, l = 0, r = 0;
    if (ctn_is_empty(4, a->batch))
        return;
    do {
        ctn_matmul_one(&m, lhs + l, rhs + r, output);
        output += a->rows * a->columns;
    } while (ctn_step(4, a->batch, index, a->lhs_batch_stride, &l, a->rhs_batch_stride, &r));
}

#endif
