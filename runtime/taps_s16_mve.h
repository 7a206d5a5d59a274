/* The loop of taps_s16.h by MVE: eight channels at a time. */
#ifndef CTN_TAPS_S16_MVE_H
#define CTN_TAPS_S16_MVE_H

#define CTN_TAPS_LEVEL
#include "mve.h"
#include "taps_s16.h"

/* Even and odd channels of eight from c on. */
static inline void taps_eight(const CtnTapsS16 *t, int32_t c, int32_t even[4], int32_t odd[4]) {
    const int8_t *weights = t->rows->weights + c;
    const int16x8_t zero = vdupq_n_s16((int16_t)t->a->input_zero_point);
    int32x4_t e = vdupq_n_s32(0), o = vdupq_n_s32(0);
    for (const CtnTapS16 *tap = t->tap, *end = tap + t->count; tap < end; tap++) {
        int16x8_t w = vldrbq_s16(weights + tap->weight), x;
        if (t->a->input_bytes == 2)
            x = vldrhq_s16((const int16_t *)t->image + c + tap->input);
        else
            x = vsubq_s16(vldrbq_s16((const int8_t *)t->image + c + tap->input), zero);
        e = vaddq_s32(e, vmullbq_int_s16(x, w));
        o = vaddq_s32(o, vmulltq_int_s16(x, w));
    }
    vstrwq_s32(even, e);
    vstrwq_s32(odd, o);
}

static inline int32_t taps_run(const CtnTapsS16 *t, int32_t channels, int32_t at) {
    int32_t c = 0;
    for (; c + 8 <= channels; c += 8) {
        int32_t even[4], odd[4];
        taps_eight(t, c, even, odd);
        for (int32_t i = 0; i < 4; i++) {
            ctn_rows_store(t->rows, at, c + 2 * i, even[i]);
            ctn_rows_store(t->rows, at, c + 2 * i + 1, odd[i]);
        }
    }
    return c;
}

#endif
