/* What the matrix blocks of the DSP level for weights of 8 and of 4 bits share (dot_dsp.h): all but
 * how a pair of columns begins, a step of depth, and how its sums become those of the columns. */
#ifndef CTN_DOT_CODE_DSP_H
#define CTN_DOT_CODE_DSP_H

#include "dot_dsp.h"
#include "dsp.h"

#ifndef CTN_EMULATE

#define CTN_ARGUMENT __attribute__((unused)) /* used by the assembly, in its register */

/* clang-format off */
/* Where a block keeps its CtnDotDsp; the weights pointer is in r12. */
#define ENTRY "[sp, #0]"
#define STORE "[sp, #4]"
#define WEIGHTS_END "[sp, #8]"
#define ROWS "[sp, #12]"
#define ROWS_END "[sp, #16]"
#define ZERO "[sp, #20]"
#define OUTPUT "[sp, #24]" /* and the stride behind it */
#define TABLE "[sp, #32]"

/* r0-r2 sums of the first column, r3-r5 of the second; r6-r9 weights; r10, r11 a row's four;
 * r12 weights, lr rows. */
#define MULTIPLY(sum0, sum1)                                                                       \
    "ldrd r10, r11, [lr], #8\n"                                                                    \
    "smlad " sum0 ", r10, r6, " sum0 "\n"                                                          \
    "smlad " sum1 ", r10, r8, " sum1 "\n"                                                          \
    "smlad " sum0 ", r11, r7, " sum0 "\n"                                                          \
    "smlad " sum1 ", r11, r9, " sum1 "\n"
/* r6 multiplier, r8 shifts, r9 ZERO or the table, r10 output, r11 its stride, lr C, r7 a result.
 * The rows backwards: with a stride of 0 the first row's result stays. */
#define SIGN(sum) "add r7, r7, " sum ", asr #31\n"
#define NO_SIGN(sum) ""
#define SATURATE "ssat r7, #8, r7, asr #1\n"
/* To 10 bits, or to 8 where the flags say equal. */
#define LOOK_UP                                                                                    \
    "ssat r7, #10, r7, asr #1\n"                                                                   \
    "it eq\n"                                                                                      \
    "ssateq r7, #8, r7\n"                                                                          \
    "ldrb r7, [r9, r7]\n"
#define LOAD_ZERO "ldr r9, " ZERO "\n"
#define LOAD_TABLE "ldr r9, " TABLE "\n"
#define RESULT(sum, sign, finish, place)                                                           \
    "smmlar r7, " sum ", r6, lr\n"                                                                 \
    sign(sum)                                                                                      \
    "asr r7, r7, r8\n"                                                                             \
    finish                                                                                         \
    "strb r7, " place "\n"
#define RESULTS(sum0, sum1, sum2, sign, finish)                                                    \
    RESULT(sum2, sign, finish, "[r10, r11, lsl #1]")                                               \
    RESULT(sum1, sign, finish, "[r10, r11]")                                                       \
    RESULT(sum0, sign, finish, "[r10]")
#define STORE_HEAD                                                                                 \
    "ldm r12!, {r6, r8}\n"                                                                         \
    "ldr r9, " ZERO "\n"                                                                           \
    "ldrd r10, r11, " OUTPUT "\n"                                                                  \
    "lsl lr, r9, r8\n"
#define STORE_NEXT                                                                                 \
    "ldr r6, [r12], #4\n"                                                                          \
    "lsr r8, r8, #8\n"                                                                             \
    "add r10, r10, #1\n"                                                                           \
    "lsl lr, r9, r8\n"
#define STORE_TAIL(frame)                                                                               \
    "add r10, r10, #1\n"                                                                           \
    "str r10, " OUTPUT "\n"                                                                        \
    "ldr r6, " WEIGHTS_END "\n"                                                                    \
    "cmp r12, r6\n"                                                                                \
    "bne.w 1b\n"                                                                                   \
    "add sp, #" frame "\n"                                                                         \
    "pop {r4-r11, pc}\n"
#define STORE_PLAIN(sign, frame)                                                                   \
    STORE_HEAD                                                                                     \
    RESULTS("r0", "r1", "r2", sign, SATURATE)                                                      \
    STORE_NEXT                                                                                     \
    RESULTS("r3", "r4", "r5", sign, SATURATE)                                                      \
    STORE_TAIL(frame)
#define STORE_MAPPED(frame)                                                                        \
    STORE_HEAD                                                                                     \
    LOAD_TABLE                                                                                     \
    RESULTS("r0", "r1", "r2", SIGN, LOOK_UP)                                                       \
    LOAD_ZERO                                                                                      \
    STORE_NEXT                                                                                     \
    LOAD_TABLE                                                                                     \
    RESULTS("r3", "r4", "r5", SIGN, LOOK_UP)                                                       \
    STORE_TAIL(frame)

/* The body: `step` sixteen times, in which a sum's rows and weights are met, between what begins and
 * what ends a pair of columns. `prologue` may push more; frame: bytes of all that is pushed. */
#define DOT_3X2(prologue, begin, step, end, frame)                                                 \
    __asm__("push {r4-r11, lr}\n"                                                                  \
            prologue                                                                               \
            "ldm r0, {r1-r10}\n"                                                                   \
            "mov r12, r10\n"                                                                       \
            "adr.w r11, 2f\n"                                                                      \
            "add r1, r1, r11\n"                                                                    \
            "adr.w r11, 7f\n"                                                                      \
            "ldr r10, [r11, r2, lsl #2]\n"                                                         \
            "add r2, r11, r10\n"                                                                   \
            "push {r1-r9}\n"                                                                       \
            "1:\n"                                                                                 \
            begin                                                                                  \
            "ldr pc, " ENTRY "\n"                                                                  \
            ".balign 4\n"                                                                          \
            "2:\n"                                                                                 \
            ".rept " CTN_DOT_UNROLLED "\n"                                                           \
            step                                                                                   \
            ".endr\n"                                                                              \
            "ldr r6, " ROWS_END "\n"                                                               \
            "cmp lr, r6\n"                                                                         \
            "bne.w 2b\n"                                                                           \
            end                                                                                    \
            "ldr pc, " STORE "\n"                                                                  \
            "3:\n" STORE_PLAIN(SIGN, frame)                                                        \
            "4:\n" STORE_PLAIN(NO_SIGN, frame)                                                     \
            "5: cmp r12, r12\n"                                                                    \
            "b 8f\n"                                                                               \
            "6: cmp r12, #0\n"                                                                     \
            "8:\n" STORE_MAPPED(frame)                                                             \
            ".balign 4\n"                                                                          \
            "7: .word 3b - 7b + 1, 4b - 7b + 1, 5b - 7b + 1, 6b - 7b + 1\n")
/* clang-format on */
#endif
#endif
