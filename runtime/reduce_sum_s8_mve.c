/* Sum or mean over dimensions by MVE, eight neighbouring outputs at a time. Up to 255 values are
 * summed as int16, those sums in int32. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "fix.h"
#include "loop.h"
#include "mve.h"

enum { LANES = 8, MOST = 255 };

typedef struct {
    int32_t sum[LANES];
    int16_t part[LANES];
} Sums;

static void flush(Sums *s, int16x8_t part) {
    vstrhq_s16(s->part, part);
    for (int i = 0; i < LANES; i++)
        s->sum[i] += s->part[i];
}

/* Adds `count` rows of lanes, `step` apart. */
static void add_rows(Sums *s, const int8_t *q, int32_t step, int32_t count, mve_pred16_t live) {
    while (count > 0) {
        int16x8_t part = vdupq_n_s16(0);
        int32_t now = count < MOST ? count : MOST;
        count -= now;
        if (live == vctp16q(LANES))
            for (; now > 0; now--, q += step)
                part = vaddq_s16(part, vldrbq_s16(q));
        else
            for (; now > 0; now--, q += step)
                part = vaddq_s16(part, vldrbq_z_s16(q, live));
        flush(s, part);
    }
}

static void outputs(const CtnReduceSumS8Args *a, const int8_t *input, int32_t lanes, int32_t count,
                    const int8_t *table, int8_t *output) {
    static const int32_t still[6] = {0};
    int32_t index[6] = {0}, offset = 0, zero = 0, run;
    int outer = 6 - ctn_run_dims(6, a->reduced, a->reduced_stride, a->reduced_stride, &run);
    mve_pred16_t live = vctp16q((uint32_t)lanes);
    Sums s = {{0}, {0}};
    if (count > 0)
        do
            add_rows(&s, input + offset, a->reduced_stride[5], run, live);
        while (ctn_step(outer, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    for (int32_t i = 0; i < lanes; i++) {
        int32_t sum = s.sum[i] - count * a->input_zero_point;
        sum = ctn_requantize(sum, a->multiplier, a->shift) + a->output_zero_point;
        output[i] = ctn_finish_s8(sum, a->clamp_min, a->clamp_max, table);
    }
}

void ctn_reduce_sum_s8_mve(const CtnReduceSumS8Args *a, const CtnFrame *frame) {
    static const int32_t still[6] = {0};
    const int8_t *input = ctn_at(frame, a->input);
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, offset = 0, zero = 0, count = 1;
    if (ctn_is_empty(6, a->dim))
        return;
    for (int d = 0; d < 6; d++)
        count *= a->reduced[d];
    do
        for (int32_t c = 0, lanes; c < a->dim[5]; c += lanes, output += lanes) {
            lanes = a->dim[5] - c < LANES ? a->dim[5] - c : LANES;
            outputs(a, input + offset + c, lanes, count, table, output);
        }
    while (ctn_step(5, a->dim, index, a->in_stride, &offset, still, &zero));
}
#endif
