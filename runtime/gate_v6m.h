/* Products of recurrent kernels on ARMv6-M: in assembly, on the host and elsewhere in plain C. */
#ifndef CTN_GATE_V6M_H
#define CTN_GATE_V6M_H

#if defined(CTN_EMULATE) || !(defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__))
#include "gate_plain.h"
#else
#include <stdint.h>

#define CTN_GATE_ROW(weights, sum)                                                                 \
    "ldrsb r7, [" weights ", r5]\n"                                                                \
    "muls r7, r6\n"                                                                                \
    "add " sum ", r7\n"

/* clang-format off */
/* r0-r3 ends of the rows, r4 that of x; r5 from -depth to 0; r6 an activation; r8-r11 sums, r12 zero
 * point. */
__attribute__((naked, noinline)) static void
ctn_gate_dots(__attribute__((unused)) const int8_t *w, __attribute__((unused)) int32_t pitch,
              __attribute__((unused)) const int8_t *x, __attribute__((unused)) int32_t depth,
              __attribute__((unused)) int32_t zero_point, __attribute__((unused)) int32_t sum[4]) {
    __asm__(".syntax unified\n"
            "push {r4-r7, lr}\n"
            "mov r4, r8\n"
            "mov r5, r9\n"
            "mov r6, r10\n"
            "mov r7, r11\n"
            "push {r4-r7}\n"
            "ldr r7, [sp, #36]\n"
            "mov r12, r7\n"
            "adds r4, r2, r3\n"
            "rsbs r5, r3, #0\n"
            "mov r7, r1\n"
            "adds r0, r0, r3\n"
            "adds r1, r0, r7\n"
            "adds r2, r1, r7\n"
            "adds r3, r2, r7\n"
            "movs r7, #0\n"
            "mov r8, r7\n"
            "mov r9, r7\n"
            "mov r10, r7\n"
            "mov r11, r7\n"
            "1: ldrsb r6, [r4, r5]\n"
            "mov r7, r12\n"
            "subs r6, r6, r7\n"
            CTN_GATE_ROW("r0", "r8")
            CTN_GATE_ROW("r1", "r9")
            CTN_GATE_ROW("r2", "r10")
            CTN_GATE_ROW("r3", "r11")
            "adds r5, #1\n"
            "bne 1b\n"
            "ldr r0, [sp, #40]\n"
            "mov r4, r8\n"
            "mov r5, r9\n"
            "mov r6, r10\n"
            "mov r7, r11\n"
            "stm r0!, {r4-r7}\n"
            "pop {r4-r7}\n"
            "mov r8, r4\n"
            "mov r9, r5\n"
            "mov r10, r6\n"
            "mov r11, r7\n"
            "pop {r4-r7, pc}\n");
}
/* clang-format on */
#endif

#endif
