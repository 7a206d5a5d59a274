/* Sums of a producer's results (residual_s8.h) on a level whose header of scaling was included
 * before (ctn_smmlar, ctn_ssat8_half). Packing has doubled addends and factor, as sum_s8.h doubles
 * its sums, and has proven what dot_dsp.h asks of a store for sums below 2^28. */
#ifndef CTN_RESIDUAL_LINE_S8_H
#define CTN_RESIDUAL_LINE_S8_H

#include "residual_s8.h"

/* Twice the result. */
static inline int32_t ctn_residual_q(int32_t sum, int32_t multiplier, int32_t round,
                                     int32_t shift) {
    return (ctn_smmlar(sum, multiplier, round) + (sum >> 31)) >> shift;
}

static inline void ctn_residual_line(CtnResidual *r, const int8_t *from, int32_t count) {
    const CtnResidualArgs *a = r->a;
    const int8_t *x = a->looks_up_skip ? r->skip : from, *y = a->looks_up_skip ? from : r->skip;
    const int8_t *table = r->table;
    const int32_t *addends = r->addends;
    int8_t *to = r->output;
    int32_t factor = a->factor, multiplier = a->sum_multiplier, shift = -a->sum_shift - 1;
    int32_t round = (2 * a->sum_zero_point + 1) * (1 << shift);
    int32_t min = a->sum_clamp_min, max = a->sum_clamp_max;
    const int8_t *end = x + count;
    r->skip += count;
    r->output += count;
    if (!table && max - min == 255)
        while (x != end) {
            int32_t sum = addends[*x++] + *y++ * factor;
            *to++ = (int8_t)ctn_ssat8_half(ctn_residual_q(sum, multiplier, round, shift));
        }
    while (x != end) {
        int32_t sum = addends[*x++] + *y++ * factor;
        int32_t q = ctn_residual_q(sum, multiplier, round, shift) >> 1;
        *to++ = ctn_finish_s8(q, min, max, table);
    }
}

#endif
