/* Products of recurrent kernels on ARMv7-M without DSP. */
#ifndef CTN_GATE_V7M_H
#define CTN_GATE_V7M_H

#include <stdint.h>

#define CTN_GATE_STEP(k)                                                                           \
    do {                                                                                           \
        int32_t v = x[k] - zero_point;                                                             \
        s0 += v * w0[k];                                                                           \
        s1 += v * w1[k];                                                                           \
        s2 += v * w2[k];                                                                           \
        s3 += v * w3[k];                                                                           \
    } while (0)

__attribute__((noinline)) static void ctn_gate_dots(const int8_t *w0, int32_t pitch,
                                                    const int8_t *x, int32_t depth,
                                                    int32_t zero_point, int32_t sum[4]) {
    const int8_t *w1 = w0 + pitch, *w2 = w1 + pitch, *w3 = w2 + pitch;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; depth >= 8; depth -= 8, x += 8, w0 += 8, w1 += 8, w2 += 8, w3 += 8) {
        CTN_GATE_STEP(0);
        CTN_GATE_STEP(1);
        CTN_GATE_STEP(2);
        CTN_GATE_STEP(3);
        CTN_GATE_STEP(4);
        CTN_GATE_STEP(5);
        CTN_GATE_STEP(6);
        CTN_GATE_STEP(7);
    }
    for (int32_t k = 0; k < depth; k++)
        CTN_GATE_STEP(k);
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

#endif
