/* The loop of taps_v6m.h over the lines of a block in assembly, on the host its twin in plain C. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "taps_v6m.h"

#ifdef CTN_EMULATE
static uint32_t word(int32_t a0, int32_t a1) {
    return (uint32_t)(a0 + CTN_TAPS_OFFSET) + ((uint32_t)(a1 + CTN_TAPS_OFFSET) << 16);
}

void ctn_taps_expand_v6m(const int8_t *from, const int32_t *offset, uint32_t *to,
                         const CtnTapsRows *rows) {
    for (int32_t i = 0; i < rows->rows; i++, from += rows->in_step, to += rows->step / 4) {
        to[0] = word(from[offset[0]], from[offset[1]]);
        to[1] = word(from[offset[2]], from[offset[3]]);
    }
}

void ctn_taps_4_v6m(const CtnTapsV6m *t) {
    const CtnTapsBlock *block = &t->block;
    const uint32_t *entries = block->entries;
    int32_t out = (int32_t)t->entry / 20, taps = CTN_TAPS_MOST - out;
    for (int32_t line = 0; line < block->lines; line++, entries += block->line_step / 4) {
        int8_t *output = block->output + line * block->out_step;
        for (int half = 0; half < 2; half++) {
            uint32_t first = t->first, second = t->second;
            for (int32_t k = 0; k < taps; k++) {
                uint32_t product = entries[2 * k + half] * (uint32_t)t->weights[out + k];
                first += product;
                second += (uint32_t)((int32_t)product >> 16);
            }
            output[block->place[2 * half]] =
                ctn_store_v6m(&t->store, first - (second << 16), t->factor);
            output[block->place[2 * half + 1]] = ctn_store_v6m(&t->store, second, t->factor);
        }
    }
}
#else

/* clang-format off */
/* r0 from, r4 - r7 offsets, r2 to; r1, r3 activations; r8 both offsets, r9 and r10 steps, r11 end
 * of the strip. */
__attribute__((naked)) void ctn_taps_expand_v6m(__attribute__((unused)) const int8_t *from,
                                                __attribute__((unused)) const int32_t *offset,
                                                __attribute__((unused)) uint32_t *to,
                                                __attribute__((unused)) const CtnTapsRows *rows) {
    __asm__(".syntax unified\n"
            "push {r4-r7}\n"
            "mov r4, r8\n"
            "mov r5, r9\n"
            "mov r6, r10\n"
            "mov r7, r11\n"
            "push {r4-r7}\n"
            "ldm r3!, {r4, r5, r6}\n"
            "mov r9, r5\n"
            "mov r10, r6\n"
            "muls r4, r6, r4\n"
            "adds r4, r4, r2\n"
            "mov r11, r4\n"
            "movs r4, #129\n"
            "lsls r5, r4, #16\n"
            "adds r4, r4, r5\n"
            "mov r8, r4\n"
            "ldm r1!, {r4-r7}\n"
            "1: ldrsb r1, [r0, r4]\n"
            "ldrsb r3, [r0, r5]\n"
            "lsls r3, r3, #16\n"
            "adds r1, r1, r3\n"
            "add r1, r8\n"
            "str r1, [r2]\n"
            "ldrsb r1, [r0, r6]\n"
            "ldrsb r3, [r0, r7]\n"
            "lsls r3, r3, #16\n"
            "adds r1, r1, r3\n"
            "add r1, r8\n"
            "str r1, [r2, #4]\n"
            "add r0, r9\n"
            "add r2, r10\n"
            "cmp r2, r11\n"
            "bne 1b\n"
            "pop {r4-r7}\n"
            "mov r8, r4\n"
            "mov r9, r5\n"
            "mov r10, r6\n"
            "mov r11, r7\n"
            "pop {r4-r7}\n"
            "bx lr\n");
}
/* clang-format on */

/* Where ctn_taps_4_v6m keeps its CtnTapsV6m. */
#define ENTRY "[sp, #20]"
#define WEIGHTS "[sp, #24]"
#define FIRST "[sp, #28]"
#define SECOND "[sp, #32]"
#define FACTOR "[sp, #36]"
#define ENTRIES "[sp, #40]"
#define LINES "[sp, #44]"
#define LINE_STEP "[sp, #48]"
#define OUTPUT "[sp, #52]"
#define OUT_STEP "[sp, #56]"
#define PLACE0 "[sp, #60]"
#define PLACE1 "[sp, #64]"
#define PLACE2 "[sp, #68]"
#define PLACE3 "[sp, #72]"

/* r0 entries, r1 weights; r2, r3 words and products, r4 a weight; T and H: r8, r9 and r10, r11.
 * r7 is the channel's shift throughout. 20 bytes of code. */
#define TAP                                                                                        \
    "ldm r0!, {r2, r3}\n"                                                                          \
    "ldr r4, [r1, #4 * \\tap]\n"                                                                   \
    "muls r2, r4, r2\n"                                                                            \
    "muls r3, r4, r3\n"                                                                            \
    "add r8, r2\n"                                                                                 \
    "asrs r2, r2, #16\n"                                                                           \
    "add r9, r2\n"                                                                                 \
    "add r10, r3\n"                                                                                \
    "asrs r3, r3, #16\n"                                                                           \
    "add r11, r3\n"
#define STORE_BOTH(t, h, place_t, place_h)                                                         \
    "mov r2, " t "\n"                                                                              \
    "mov r3, " h "\n"                                                                              \
    "lsls r3, r3, #16\n"                                                                           \
    "subs r2, r2, r3\n"                                                                            \
    "blx r12\n"                                                                                    \
    "ldr r3, " place_t "\n"                                                                        \
    "strb r2, [r0, r3]\n"                                                                          \
    "mov r2, " h "\n"                                                                              \
    "blx r12\n"                                                                                    \
    "ldr r3, " place_h "\n"                                                                        \
    "strb r2, [r0, r3]\n"

/* clang-format off */
__attribute__((naked)) void ctn_taps_4_v6m(__attribute__((unused)) const CtnTapsV6m *taps) {
    __asm__(".syntax unified\n"
            "push {r4-r7, lr}\n"
            "mov r4, r8\n"
            "mov r5, r9\n"
            "mov r6, r10\n"
            "mov r7, r11\n"
            "push {r4-r7}\n"
            "sub sp, #76\n"
            "mov r1, sp\n"
            ".rept 3\n"
            "ldm r0!, {r2-r7}\n"
            "stm r1!, {r2-r7}\n"
            ".endr\n"
            "ldr r2, [r0]\n"
            "str r2, [r1]\n"
            "adr r2, 1f\n"
            "ldr r2, [r2]\n"
            "ldr r3, " ENTRY "\n"
            "adds r2, r2, r3\n"
            "str r2, " ENTRY "\n"
            "ldr r1, " FACTOR "\n"
            CTN_STORE_COLUMN
            "b 2f\n"
            ".balign 4\n"
            "1: .word 3f + 1\n"
            ".macro ctn_tap tap\n"
            TAP
            ".endm\n"
            "2: ldr r0, " ENTRIES "\n"
            "ldr r1, " WEIGHTS "\n"
            "ldr r2, " FIRST "\n"
            "mov r8, r2\n"
            "mov r10, r2\n"
            "ldr r2, " SECOND "\n"
            "mov r9, r2\n"
            "mov r11, r2\n"
            "ldr r4, " ENTRY "\n"
            "bx r4\n"
            "3:\n"
            ".irp tap, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "
            "21, 22, 23, 24\n"
            "ctn_tap \\tap\n"
            ".endr\n"
            "ldr r1, " FACTOR "\n"
            "ldr r3, " CTN_STORE_CODE "\n"
            "mov r12, r3\n"
            "ldr r0, " OUTPUT "\n"
            STORE_BOTH("r8", "r9", PLACE0, PLACE1)
            STORE_BOTH("r10", "r11", PLACE2, PLACE3)
            "ldr r3, " OUT_STEP "\n"
            "adds r0, r0, r3\n"
            "str r0, " OUTPUT "\n"
            "ldr r2, " ENTRIES "\n"
            "ldr r3, " LINE_STEP "\n"
            "adds r2, r2, r3\n"
            "str r2, " ENTRIES "\n"
            "ldr r2, " LINES "\n"
            "subs r2, #1\n"
            "str r2, " LINES "\n"
            "beq 4f\n"
            "b 2b\n"
            "4: add sp, #76\n"
            "pop {r4-r7}\n"
            "mov r8, r4\n"
            "mov r9, r5\n"
            "mov r10, r6\n"
            "mov r11, r7\n"
            "pop {r4-r7, pc}\n"
            ".purgem ctn_tap\n");
}
/* clang-format on */
#endif
#endif
