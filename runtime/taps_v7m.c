/* The loop of taps_v7m.h over the lines of a block in assembly, on the host its twin in plain C. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "taps_v7m.h"

#ifdef CTN_EMULATE
#include "short_store.h"

void ctn_taps_expand_v7m(const int8_t *from, const int32_t *offset, uint32_t *to,
                         const CtnTapsRows *rows) {
    for (int32_t i = 0; i < rows->rows; i++, from += rows->in_step, to += rows->step / 4) {
        to[0] = (uint32_t)from[offset[0]] + ((uint32_t)from[offset[1]] << 23);
        to[1] = (uint32_t)from[offset[2]] + ((uint32_t)from[offset[3]] << 23);
    }
}

void ctn_taps_4_v7m(const CtnTapsV7m *t) {
    const CtnTapsBlock *block = &t->block;
    const int32_t *entries = (const int32_t *)block->entries;
    int32_t taps = (int32_t)(t->passes * CTN_TAPS_UNROLL - t->entry + 1);
    const int8_t *factor = t->weights + taps;
    for (int32_t line = 0; line < block->lines; line++, entries += block->line_step / 4) {
        int8_t *output = block->output + line * block->out_step;
        for (int half = 0; half < 2; half++) {
            int64_t both = 0;
            for (int32_t k = 0; k < taps; k++)
                both += (int64_t)entries[2 * k + half] * t->weights[k];
            int32_t sum[2] = {(int32_t)((uint32_t)both << 9) >> 9, 0};
            sum[1] = (int32_t)((both - sum[0]) >> 23);
            for (int i = 0; i < 2; i++)
                output[block->place[2 * half + i]] = ctn_short_store(
                    ctn_stream_word(factor) + 2 * sum[i], ctn_stream_word(factor + 4), factor[8],
                    t->zero, t->tail, t->table);
        }
    }
}
#else

/* clang-format off */
/* r0 from, r4 - r7 offsets, r2 to, r8 rows left, r9 and r10 steps. */
__attribute__((naked)) void ctn_taps_expand_v7m(__attribute__((unused)) const int8_t *from,
                                                __attribute__((unused)) const int32_t *offset,
                                                __attribute__((unused)) uint32_t *to,
                                                __attribute__((unused)) const CtnTapsRows *rows) {
    __asm__("push {r4-r11}\n"
            "ldm r1, {r4-r7}\n"
            "ldm r3, {r8-r10}\n"
            "1: ldrsb r1, [r0, r4]\n"
            "ldrsb r3, [r0, r5]\n"
            "ldrsb r11, [r0, r6]\n"
            "ldrsb r12, [r0, r7]\n"
            "add r0, r9\n"
            "add r1, r1, r3, lsl #23\n"
            "add r3, r11, r12, lsl #23\n"
            "strd r1, r3, [r2]\n"
            "add r2, r10\n"
            "subs r8, #1\n"
            "bne 1b\n"
            "pop {r4-r11}\n"
            "bx lr\n");
}
/* clang-format on */

/* Where ctn_taps_4_v7m keeps its CtnTapsV7m. */
#define ENTRY "[sp, #0]"
#define PASSES "[sp, #4]"
#define TAIL "[sp, #8]"
#define ZERO "[sp, #12]"
#define TABLE "[sp, #16]"
#define WEIGHTS "[sp, #20]"
#define ENTRIES "[sp, #24]" /* and the lines left behind it */
#define LINE_STEP "[sp, #32]"
#define OUTPUT "[sp, #36]" /* and its step behind it */
#define PLACE "#44"

/* r0:r1, r2:r3 sums; r8, r9 two words, r10 a weight; r11 weights, r12 entries, lr passes left;
 * r4 multiplier, r5 C, r6 n - 1, r7 bias. */
#define TAP(multiply)                                                                              \
    "ldrd r8, r9, [r12], #8\n"                                                                     \
    "ldrsb r10, [r11], #1\n" multiply " r0, r1, r8, r10\n" multiply " r2, r3, r9, r10\n"
/* LSRS leaves bit 22, the low sum's sign, in the carry. */
#define SPLIT(low, high)                                                                           \
    "sbfx r8, " low ", #0, #23\n"                                                                  \
    "lsrs " low ", " low ", #23\n"                                                                 \
    "adc " high ", " low ", " high ", lsl #9\n"                                                    \
    "add " low ", r7, r8, lsl #1\n"                                                                \
    "add " high ", r7, " high ", lsl #1\n"
#define REQUANTIZE(sum)                                                                            \
    "mov r12, #0x80000000\n"                                                                       \
    "add lr, r5, " sum ", asr #31\n"                                                               \
    "smlal r12, lr, " sum ", r4\n"                                                                 \
    "asr " sum ", lr, r6\n"
#define EACH(macro) macro("r0") macro("r1") macro("r2") macro("r3")
#define SATURATE(q) "ssat " q ", #8, " q ", asr #1\n"
#define LOOK_UP(q) SATURATE(q) "ldrb " q ", [r8, " q "]\n"
#define LOOK_UP_10(q)                                                                              \
    "ssat " q ", #10, " q ", asr #1\n"                                                             \
    "ldrb " q ", [r8, " q "]\n"

/* clang-format off */
__attribute__((naked)) void ctn_taps_4_v7m(__attribute__((unused)) const CtnTapsV7m *taps) {
    __asm__("push {r4-r11, lr}\n"
            "add r8, r0, #32\n"
            "ldm r8, {r1-r7}\n" /* line_step, output, out_step, place */
            "push {r1-r7}\n"
            "ldm r0, {r1-r8}\n"
            "adr.w r9, 2f\n"
            "orr r9, r9, #1\n"
            "add r1, r9, r1, lsl #4\n" /* 16 bytes of code a tap */
            "adr.w r9, 7f\n"
            "ldr r3, [r9, r3, lsl #2]\n"
            "add r3, r9, r3\n"
            "push {r1-r8}\n"
            /* the factors stand behind the taps */
            "ldr r1, [r0]\n"
            "add r6, r6, r2, lsl #4\n"
            "sub r6, r6, r1\n"
            "ldr r7, [r6, #1]\n"
            "ldrb r8, [r6, #9]\n"
            "mov r5, r4\n"
            "ldr r4, [r6, #5]\n"
            "mov r6, r8\n"
            "lsl r5, r5, r6\n"
            "1: ldr r11, " WEIGHTS "\n"
            "ldr r12, " ENTRIES "\n"
            "ldr lr, " PASSES "\n"
            TAP("smull")
            "ldr pc, " ENTRY "\n"
            ".balign 4\n"
            "2:\n"
            ".rept 16\n"
            TAP("smlal")
            ".endr\n"
            "subs lr, #1\n"
            "bne.w 2b\n"
            SPLIT("r0", "r1") SPLIT("r2", "r3")
            REQUANTIZE("r0") REQUANTIZE("r1") REQUANTIZE("r2") REQUANTIZE("r3")
            "ldr r8, " TABLE "\n"
            "ldr pc, " TAIL "\n"
            "3:\n"
            EACH(LOOK_UP)
            "b 6f\n"
            "4:\n"
            EACH(LOOK_UP_10)
            "b 6f\n"
            "5:\n"
            EACH(SATURATE)
            "6: add r12, sp, " PLACE "\n"
            "ldm r12, {r8, r9, r10, r12}\n"
            "ldr lr, " OUTPUT "\n"
            "strb r0, [lr, r8]\n"
            "strb r1, [lr, r9]\n"
            "strb r2, [lr, r10]\n"
            "strb r3, [lr, r12]\n"
            "ldr r8, [sp, #40]\n"
            "add lr, r8\n"
            "str lr, " OUTPUT "\n"
            "ldrd r8, r9, " ENTRIES "\n"
            "ldr r10, " LINE_STEP "\n"
            "add r8, r10\n"
            "subs r9, #1\n"
            "strd r8, r9, " ENTRIES "\n"
            "bne.w 1b\n"
            "add sp, #60\n"
            "pop {r4-r11, pc}\n"
            ".balign 4\n"
            "7: .word 5b - 7b + 1, 3b - 7b + 1, 4b - 7b + 1\n");
}
/* clang-format on */
#endif
#endif
