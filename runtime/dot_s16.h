/* The loops of rows_s16.h in plain C, for the scalar levels. */
#ifndef CTN_DOT_S16_H
#define CTN_DOT_S16_H

#include <stdint.h>

static inline void dot_2x2(const int16_t *x0, const int16_t *x1, const int8_t *w0, const int8_t *w1,
                           int32_t count, int32_t sum[4]) {
    int32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (; count > 0; count -= 4, x0 += 4, x1 += 4, w0 += 4, w1 += 4)
        for (int i = 0; i < 4; i++) {
            int32_t a = x0[i], b = x1[i], w = w0[i], v = w1[i];
            s0 += a * w;
            s1 += b * w;
            s2 += a * v;
            s3 += b * v;
        }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

static inline void dot_1x4(const int16_t *x, const int8_t *w, int32_t pitch, int32_t count,
                           int32_t sum[4]) {
    for (int c = 0; c < 4; c += 2, w += 2 * pitch) {
        const int16_t *at = x;
        const int8_t *w0 = w, *w1 = w + pitch;
        int32_t s0 = sum[c], s1 = sum[c + 1];
        for (int32_t k = count; k > 0; k -= 4, at += 4, w0 += 4, w1 += 4)
            for (int i = 0; i < 4; i++) {
                s0 += at[i] * w0[i];
                s1 += at[i] * w1[i];
            }
        sum[c] = s0;
        sum[c + 1] = s1;
    }
}

#endif
