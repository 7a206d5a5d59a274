/* Normalization on a scalar level, whose header of scaling was included before (ctn_smmlar): groups
 * by the runs of norm_runs_s8.h, elements one by one. */
#ifndef CTN_NORM_ROWS_S8_H
#define CTN_NORM_ROWS_S8_H

#include "norm_runs_s8.h"

static inline void ctn_norm_sums(const int8_t *input, int32_t count, int32_t *sum,
                                 int64_t *squares) {
    int32_t s = 0, t = 0; /* count <= 2^20 would be 2^34: in pieces of 2^16 */
    for (int32_t piece; count > 0; count -= piece) {
        piece = count < 65536 ? count : 65536;
        for (int32_t i = piece; i > 0; i--) {
            int32_t q = *input++;
            s += q;
            t += q * q;
        }
        *squares += t;
        t = 0;
    }
    *sum += s;
}

/* What the elements of a call have in common. */
typedef struct {
    CtnNormRun run;
    const int16_t *gamma;
    const int32_t *beta;
    const int8_t *table;
    int32_t multiplier, round, shift, min, max;
} CtnNormRow;

/* An element's int8: as short_store.h has it, for a sum that is doubled here. */
static inline int8_t ctn_norm_end(const CtnNormRow *r, int32_t x) {
    int32_t q = (ctn_smmlar(2 * x, r->multiplier, r->round) + (x >> 31)) >> r->shift;
    return ctn_finish_s8(q, r->min, r->max, r->table);
}

static inline void ctn_norm_row(const CtnNormRow *row, const int8_t *input, int8_t *output,
                                int32_t count) {
    const CtnNormRow r = *row; /* a copy, which stores of bytes cannot change */
    const int32_t half = 1 << (r.run.right - 1);
    for (int32_t i = 0; i < count; i++) {
        int32_t d = (input[i] * r.run.count + r.run.offset) * (1 << r.run.left);
        int32_t x = ((int32_t)(((int64_t)d * r.run.reciprocal) >> 32) + half) >> r.run.right;
        if (r.gamma)
            x = (int32_t)(((int64_t)x * r.gamma[i] + (1 << 15)) >> 16);
        if (r.beta)
            x += r.beta[i];
        output[i] = ctn_norm_end(&r, x);
    }
}

static inline void ctn_norm_rows(const CtnLayerNormS8Args *a, const CtnFrame *frame,
                                 const int8_t *input, int32_t parameter, int8_t *output) {
    const int16_t *gamma = ctn_at(frame, a->gamma);
    const int32_t *beta = ctn_at(frame, a->beta);
    CtnNormRow row = {.run = ctn_norm_group(a, input, ctn_norm_sums),
                      .table = ctn_at(frame, a->table),
                      .multiplier = a->multiplier,
                      .round = (2 * a->output_zero_point + 1) * (1 << (-a->shift - 1)),
                      .shift = -a->shift,
                      .min = a->clamp_min,
                      .max = a->clamp_max};
    int32_t index[3] = {0}, offset = 0;
    do {
        row.gamma = gamma ? gamma + parameter : gamma;
        row.beta = beta ? beta + parameter : beta;
        ctn_norm_row(&row, input + offset, output + offset, a->reduced[3]);
    } while (ctn_step(3, a->reduced, index, a->reduced_stride, &offset, a->reduced_parameter_stride,
                      &parameter));
}

#endif
