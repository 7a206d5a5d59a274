/* The loops of rows_s16.h in plain C, for the scalar levels. They stay out of line: within another
 * loop a compiler would keep their pointers in memory. */
#ifndef CTN_DOT_S16_H
#define CTN_DOT_S16_H

#include "rows_size_s16.h"

__attribute__((noinline, unused)) static void dot_2x2(const int16_t *x0, const int16_t *x1,
                                                      const int8_t *w, int32_t pitch, int32_t count,
                                                      int32_t *s) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const int8_t *w1 = w + pitch;
    for (; count > 0; count -= 4, x0 += 4, x1 += 4, w += 4, w1 += 4)
        for (int i = 0; i < 4; i++) {
            int32_t a = x0[i], b = x1[i], u = w[i], v = w1[i];
            s0 += a * u;
            s1 += a * v;
            s2 += b * u;
            s3 += b * v;
        }
    s[0] = s0;
    s[1] = s1;
    s[CTN_ROWS_BATCH] = s2;
    s[CTN_ROWS_BATCH + 1] = s3;
}

__attribute__((noinline, unused)) static void dot_1x4(const int16_t *x, const int8_t *w,
                                                      int32_t pitch, int32_t count, int32_t *s) {
    for (int c = 0; c < 4; c += 2, w += 2 * pitch) {
        const int16_t *at = x;
        const int8_t *w0 = w, *w1 = w + pitch;
        int32_t s0 = 0, s1 = 0;
        for (int32_t k = count; k > 0; k -= 8, at += 8, w0 += 8, w1 += 8)
            for (int i = 0; i < 8; i++) {
                s0 += at[i] * w0[i];
                s1 += at[i] * w1[i];
            }
        s[c] = s0;
        s[c + 1] = s1;
    }
}

#endif
