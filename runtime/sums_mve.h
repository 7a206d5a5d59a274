/* Sums of int8 over dimensions for eight neighbouring outputs by MVE. Up to 255 values are summed
 * as int16, those sums in int32. */
#ifndef CTN_SUMS_MVE_H
#define CTN_SUMS_MVE_H

#include "loop.h"
#include "mve.h"

enum { CTN_SUM_LANES = 8, CTN_SUM_MOST = 255 };

typedef struct {
    int32_t sum[CTN_SUM_LANES];
    int16_t part[CTN_SUM_LANES];
} CtnSums;

static inline void ctn_sums_flush(CtnSums *s, int16x8_t part) {
    vstrhq_s16(s->part, part);
    for (int i = 0; i < CTN_SUM_LANES; i++)
        s->sum[i] += s->part[i];
}

/* Adds `count` rows of lanes, `step` apart. */
static inline void ctn_sums_add(CtnSums *s, const int8_t *q, int32_t step, int32_t count,
                                mve_pred16_t live) {
    while (count > 0) {
        int16x8_t part = vdupq_n_s16(0);
        int32_t now = count < CTN_SUM_MOST ? count : CTN_SUM_MOST;
        count -= now;
        if (live == vctp16q(CTN_SUM_LANES))
            for (; now > 0; now--, q += step)
                part = vaddq_s16(part, vldrbq_s16(q));
        else
            for (; now > 0; now--, q += step)
                part = vaddq_s16(part, vldrbq_z_s16(q, live));
        ctn_sums_flush(s, part);
    }
}

/* The sums of `lanes` outputs over reduced[0..6). */
static inline void ctn_sums_of(CtnSums *s, const int8_t *input, int32_t lanes,
                               const int32_t *reduced, const int32_t *stride) {
    static const int32_t still[6] = {0};
    int32_t index[6] = {0}, offset = 0, zero = 0, run;
    int outer = 6 - ctn_run_dims(6, reduced, stride, stride, &run);
    mve_pred16_t live = vctp16q((uint32_t)lanes);
    *s = (CtnSums){{0}, {0}};
    if (ctn_is_empty(6, reduced))
        return;
    do
        ctn_sums_add(s, input + offset, stride[5], run, live);
    while (ctn_step(outer, reduced, index, stride, &offset, still, &zero));
}

static inline int32_t ctn_sum_count(const int32_t *reduced) {
    int32_t count = 1;
    for (int d = 0; d < 6; d++)
        count *= reduced[d];
    return count;
}

#endif
