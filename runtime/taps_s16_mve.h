/* The loop of taps_s16.h by MVE: eight channels at a time, four at their end. */
#ifndef CTN_TAPS_S16_MVE_H
#define CTN_TAPS_S16_MVE_H

#define CTN_TAPS_LEVEL
#include "dot_s16_mve.h"
#include "taps_s16.h"

/* Eight channels from c on, in their order. */
static inline void taps_eight(const CtnTapsS16 *t, int32_t c, int32_t *sum) {
    const int8_t *weights = t->rows->weights + c;
    const int16x8_t zero = vdupq_n_s16((int16_t)t->a->input_zero_point);
    int32x4_t even = vdupq_n_s32(0), odd = vdupq_n_s32(0);
    for (const CtnTapS16 *tap = t->tap, *end = tap + t->count; tap < end; tap++) {
        int16x8_t w = vldrbq_s16(weights + tap->weight), x;
        if (t->a->input_bytes == 2)
            x = vldrhq_s16((const int16_t *)t->image + c + tap->input);
        else
            x = vsubq_s16(vldrbq_s16((const int8_t *)t->image + c + tap->input), zero);
        even = vaddq_s32(even, vmullbq_int_s16(x, w));
        odd = vaddq_s32(odd, vmulltq_int_s16(x, w));
    }
    int32x4x2_t both = {{even, odd}};
    vst2q_s32(sum, both);
}

static inline int32_t taps_run(const CtnTapsS16 *t, int32_t channels, int32_t at) {
    int32_t c = 0;
    while (c + 8 <= channels) {
        int32_t sum[CTN_ROWS_BATCH], count = 0;
        for (; count < CTN_ROWS_BATCH && c + count + 8 <= channels; count += 8)
            taps_eight(t, c + count, sum + count);
        taps_store(t, at, c, sum, count);
        c += count;
    }
    return c;
}

#endif
