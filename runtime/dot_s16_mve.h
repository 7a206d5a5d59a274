/* The loops of rows_s16.h by MVE: eight products an instruction, four results a store. They stay
 * out of line: within another loop a compiler would keep their pointers in memory. */
#ifndef CTN_DOT_S16_MVE_H
#define CTN_DOT_S16_MVE_H

#define CTN_ROWS_LEVEL
#include "mve.h"
#include "rows_size_s16.h"

__attribute__((noinline, unused)) static void dot_2x2(const int16_t *x0, const int16_t *x1,
                                                      const int8_t *w, int32_t pitch, int32_t count,
                                                      int32_t *s) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const int8_t *w1 = w + pitch;
    for (count >>= 3; count > 0; count--, x0 += 8, x1 += 8, w += 8, w1 += 8) {
        int16x8_t a = vldrhq_s16(x0), b = vldrhq_s16(x1), u = vldrbq_s16(w), v = vldrbq_s16(w1);
        s0 = vmladavaq_s16(s0, a, u);
        s1 = vmladavaq_s16(s1, a, v);
        s2 = vmladavaq_s16(s2, b, u);
        s3 = vmladavaq_s16(s3, b, v);
    }
    s[0] = s0;
    s[1] = s1;
    s[CTN_ROWS_BATCH] = s2;
    s[CTN_ROWS_BATCH + 1] = s3;
}

__attribute__((noinline, unused)) static void dot_1x4(const int16_t *x, const int8_t *w,
                                                      int32_t pitch, int32_t count, int32_t *s) {
    const int8_t *w1 = w + pitch, *w2 = w1 + pitch, *w3 = w2 + pitch;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (count >>= 3; count > 0; count--, x += 8, w += 8, w1 += 8, w2 += 8, w3 += 8) {
        int16x8_t a = vldrhq_s16(x);
        s0 = vmladavaq_s16(s0, a, vldrbq_s16(w));
        s1 = vmladavaq_s16(s1, a, vldrbq_s16(w1));
        s2 = vmladavaq_s16(s2, a, vldrbq_s16(w2));
        s3 = vmladavaq_s16(s3, a, vldrbq_s16(w3));
    }
    s[0] = s0;
    s[1] = s1;
    s[2] = s2;
    s[3] = s3;
}

#include "rows_s16.h"

#ifdef CTN_ROWS_MAP
#include "map_s16_mve.h"
#define ctn_rows_map_four(r, v) ctn_map_four(&(r)->map, v)
#else
#define ctn_rows_map_four(r, v) (v)
#endif

/* VMULH is the high word, rounded down; VRSHL by shift + 1 rounds half up. */
__attribute__((noinline, unused)) static void
ctn_rows_finish(const CtnRows *r, const int32_t *sum, int32_t channel, int32_t count, int32_t at) {
    const int32_t *bias = r->bias + channel, *multiplier = r->multiplier + channel;
    const int8_t *shift = r->shift + channel;
    const int32x4_t min = vdupq_n_s32(r->min), max = vdupq_n_s32(r->max);
    int16_t *output16 = (int16_t *)r->output + at + channel;
    int8_t *output8 = (int8_t *)r->output + at + channel;
    for (; count > 0; count -= 4) {
        mve_pred16_t live = vctp32q((uint32_t)count);
        int32x4_t v = vaddq_s32(vldrwq_z_s32(sum, live), vldrwq_z_s32(bias, live));
        v = vmulhq_s32(v, vldrwq_z_s32(multiplier, live));
        v = vrshlq_s32(v, vaddq_n_s32(vldrbq_z_s32(shift, live), 1));
        v = vminq_s32(vmaxq_s32(vaddq_n_s32(v, r->zero_point), min), max);
        v = ctn_rows_map_four(r, v);
        if (r->output_bytes == 2)
            vstrhq_p_s32(output16, v, live);
        else
            vstrbq_p_s32(output8, v, live);
        sum += 4;
        bias += 4;
        multiplier += 4;
        shift += 4;
        output16 += 4;
        output8 += 4;
    }
}

#endif
