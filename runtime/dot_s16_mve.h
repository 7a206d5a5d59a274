/* The loops of rows_s16.h by MVE: eight products an instruction. */
#ifndef CTN_DOT_S16_MVE_H
#define CTN_DOT_S16_MVE_H

#include "mve.h"

static inline void dot_2x2(const int16_t *x0, const int16_t *x1, const int8_t *w0, const int8_t *w1,
                           int32_t count, int32_t sum[4]) {
    int32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (; count > 0; count -= 8, x0 += 8, x1 += 8, w0 += 8, w1 += 8) {
        int16x8_t a = vldrhq_s16(x0), b = vldrhq_s16(x1), w = vldrbq_s16(w0), v = vldrbq_s16(w1);
        s0 = vmladavaq_s16(s0, a, w);
        s1 = vmladavaq_s16(s1, b, w);
        s2 = vmladavaq_s16(s2, a, v);
        s3 = vmladavaq_s16(s3, b, v);
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

static inline void dot_1x4(const int16_t *x, const int8_t *w, int32_t pitch, int32_t count,
                           int32_t sum[4]) {
    const int8_t *w1 = w + pitch, *w2 = w1 + pitch, *w3 = w2 + pitch;
    int32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (; count > 0; count -= 8, x += 8, w += 8, w1 += 8, w2 += 8, w3 += 8) {
        int16x8_t a = vldrhq_s16(x);
        s0 = vmladavaq_s16(s0, a, vldrbq_s16(w));
        s1 = vmladavaq_s16(s1, a, vldrbq_s16(w1));
        s2 = vmladavaq_s16(s2, a, vldrbq_s16(w2));
        s3 = vmladavaq_s16(s3, a, vldrbq_s16(w3));
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

#endif
