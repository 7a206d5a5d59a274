/* Products of recurrent kernels on DSP cores, four bytes at a time: the zero point is taken off
 * while the activations are widened. The loop is assembly, on the host plain C. */
#ifndef CTN_GATE_DSP_H
#define CTN_GATE_DSP_H

#include <stdint.h>

#ifdef CTN_EMULATE
#include "gate_plain.h"
#else

#define CTN_GATE_ROW(load, sum)                                                                    \
    "ldr r10, " load "\n"                                                                          \
    "sxtb16 r11, r10\n"                                                                            \
    "sxtb16 r10, r10, ror #8\n"                                                                    \
    "smlad " sum ", r8, r11, " sum "\n"                                                            \
    "smlad " sum ", r9, r10, " sum "\n"

/* clang-format off */
/* A whole number of fours. r0 rows 0 and 1, r12 rows 2 and 3, r1 pitch, r2 x, r3 depth left; r4-r7
 * sums; r8, r9 activations; r10, r11 weights; lr the zero point, negative, in both halves. */
__attribute__((naked, noinline)) static void
ctn_gate_fours(__attribute__((unused)) const int8_t *w, __attribute__((unused)) int32_t pitch,
               __attribute__((unused)) const int8_t *x, __attribute__((unused)) int32_t depth,
               __attribute__((unused)) int32_t zero_point, __attribute__((unused)) int32_t sum[4]) {
    __asm__("push {r4-r11, lr}\n"
            "ldr lr, [sp, #36]\n"
            "rsb lr, lr, #0\n"
            "pkhbt lr, lr, lr, lsl #16\n"
            "add r12, r0, r1, lsl #1\n"
            "movs r4, #0\n"
            "movs r5, #0\n"
            "movs r6, #0\n"
            "movs r7, #0\n"
            "cbz r3, 2f\n"
            "1: ldr r9, [r2], #4\n"
            "sxtab16 r8, lr, r9\n"
            "sxtab16 r9, lr, r9, ror #8\n"
            CTN_GATE_ROW("[r0, r1]", "r5")
            CTN_GATE_ROW("[r0], #4", "r4")
            CTN_GATE_ROW("[r12, r1]", "r7")
            CTN_GATE_ROW("[r12], #4", "r6")
            "subs r3, #4\n"
            "bne 1b\n"
            "2: ldr r0, [sp, #40]\n"
            "stm r0, {r4-r7}\n"
            "pop {r4-r11, pc}\n");
}
/* clang-format on */

static inline void ctn_gate_dots(const int8_t *w, int32_t pitch, const int8_t *x, int32_t depth,
                                 int32_t zero_point, int32_t sum[4]) {
    int32_t fours = depth & ~3;
    ctn_gate_fours(w, pitch, x, fours, zero_point, sum);
    for (int32_t k = fours; k < depth; k++)
        for (int i = 0; i < 4; i++)
            sum[i] += (x[k] - zero_point) * w[i * pitch + k];
}
#endif

#endif
