/* Rows times channels of 4-bit weights in plain C, for the scalar levels: the loops and the store
 * of rows_s16.h. Two channels share a byte b = 16 * w1 + w0, which stands for 16 times its weights
 * (nibble.h): sums S are taken of a * b and L of a * w0, from which those of the channels are
 * S - L and 16 * L. Values are int8 less their zero point, so S stays below 2^15 a product: the
 * host has proven that sums fit int32.
 *
 * weights: a byte of each pair of channels for each step of depth. */
#ifndef CTN_ROWS_W4_H
#define CTN_ROWS_W4_H

#define CTN_ROWS_LEVEL
#define CTN_ROWS_PAIR(depth) (depth)
#include "rows_size_s16.h"

__attribute__((noinline, unused)) static void dot_2x2(const int16_t *x0, const int16_t *x1,
                                                      const int8_t *w, int32_t pitch, int32_t count,
                                                      int32_t *s) {
    int32_t s0 = 0, l0 = 0, s1 = 0, l1 = 0;
    (void)pitch;
    for (; count > 0; count -= 4, x0 += 4, x1 += 4, w += 4)
        for (int i = 0; i < 4; i++) {
            int32_t a = x0[i], b = x1[i], both = w[i];
            int32_t low = (int32_t)((uint32_t)both << 28) >> 28;
            s0 += a * both;
            l0 += a * low;
            s1 += b * both;
            l1 += b * low;
        }
    s[0] = 16 * l0;
    s[1] = s0 - l0;
    s[CTN_ROWS_BATCH] = 16 * l1;
    s[CTN_ROWS_BATCH + 1] = s1 - l1;
}

__attribute__((noinline, unused)) static void dot_1x4(const int16_t *x, const int8_t *w,
                                                      int32_t pitch, int32_t count, int32_t *s) {
    const int8_t *v = w + pitch;
    int32_t s0 = 0, l0 = 0, s1 = 0, l1 = 0;
    for (; count > 0; count -= 4, x += 4, w += 4, v += 4)
        for (int i = 0; i < 4; i++) {
            int32_t a = x[i], first = w[i], second = v[i];
            s0 += a * first;
            l0 += a * ((int32_t)((uint32_t)first << 28) >> 28);
            s1 += a * second;
            l1 += a * ((int32_t)((uint32_t)second << 28) >> 28);
        }
    s[0] = 16 * l0;
    s[1] = s0 - l0;
    s[2] = 16 * l1;
    s[3] = s1 - l1;
}

#include "rows_s16.h"

/* The store of the int8 kernels. */
__attribute__((noinline, unused)) static void
ctn_rows_finish(const CtnRows *r, const int32_t *sum, int32_t channel, int32_t count, int32_t at) {
    int8_t *output = (int8_t *)r->output + at + channel;
    for (int32_t end = channel + count; channel < end; channel++) {
        int32_t q =
            ctn_requantize(*sum++ + r->bias[channel], r->multiplier[channel], r->shift[channel]);
        *output++ = ctn_finish_s8(q + r->zero_point, r->min, r->max, r->table);
    }
}

#endif
