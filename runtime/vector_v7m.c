/* The loop of vector_v7m.h in assembly, and its twin in plain C for the host. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "vector_v7m.h"

#ifdef CTN_EMULATE
#include "short_store.h"

/* Two sums of one segment: columns `low` and the byte `high` of each word. */
static void add_segment(const CtnVectorV7m *v, const int8_t *words, int low, int high,
                        int32_t first, int32_t *sum) {
    int64_t both = 0;
    for (int32_t k = first; k < first + CTN_VECTOR_DEPTH && k < v->depth; k++)
        both +=
            (int64_t)((uint8_t)words[4 * k + low] + words[4 * k + high] * (1 << 24)) * v->input[k];
    int32_t lower = (int32_t)((uint32_t)both << 8) >> 8;
    sum[0] += lower;
    sum[1] += (int32_t)((both - lower) >> 24);
}

void ctn_vector_4_v7m(const CtnVectorV7m *v) {
    const int8_t *words = v->weights;
    int8_t *output = v->output;
    while (words != v->weights_end) {
        const int8_t *factor = words + 4 * v->depth;
        int32_t sum[4] = {0};
        for (int32_t k = 0; k < v->depth; k += CTN_VECTOR_DEPTH) {
            add_segment(v, words, 0, 3, k, sum);
            add_segment(v, words, 2, 1, k, sum + 2);
        }
        for (int c = 0; c < 4; c++, factor += 4) {
            int32_t s = ctn_stream_word(factor) + 2 * sum[c] - (c % 2 == 0 ? v->input_sum : 0);
            int32_t n = words[4 * v->depth + 32 + c];
            *output++ =
                ctn_short_store(s, ctn_stream_word(factor + 16), n, v->zero, v->tail, v->table);
        }
        words = factor + 20;
    }
}
#else

/* Where the loop keeps its CtnVectorV7m, and below it the sums of a group. */
#define INPUT "[sp, #16]"
#define DEPTH "[sp, #20]"
#define TAIL "[sp, #24]"
#define ZERO "[sp, #28]"
#define WEIGHTS_END "[sp, #32]"
#define TABLE "[sp, #36]"
#define OUTPUT "[sp, #40]"
#define INPUT_SUM "[sp, #44]"

/* r0:r1 columns 0 and 1, r2:r3 columns 2 and 3; r4, r5, r8, r9 words; r6 a word's two weights, r7
 * an activation; r10 the mask of the outer bytes; r11 weights, r12 input, lr passes left. 21
 * instructions and 84 bytes for 16 products. */
#define PRODUCTS(word)                                                                             \
    "and.w r6, r10, " word "\n"                                                                    \
    "ldrsb r7, [r12], #1\n"                                                                        \
    "smlal r0, r1, r6, r7\n"                                                                       \
    "and.w " word ", r10, " word ", ror #16\n"                                                     \
    "smlal r2, r3, " word ", r7\n"
#define FOUR_STEPS                                                                                 \
    "ldm r11!, {r4, r5, r8, r9}\n" PRODUCTS("r4") PRODUCTS("r5") PRODUCTS("r8") PRODUCTS("r9")
/* Adds a 64-bit sum to two in memory; LSRS leaves bit 23, the low sum's sign, in the carry. */
#define SPLIT(low, high, place0, place1)                                                           \
    "ldr r4, " place0 "\n"                                                                         \
    "ldr r5, " place1 "\n"                                                                         \
    "sbfx r6, " low ", #0, #24\n"                                                                  \
    "lsrs " low ", " low ", #24\n"                                                                 \
    "adc " high ", " low ", " high ", lsl #8\n"                                                    \
    "add r4, r4, r6\n"                                                                             \
    "add r5, r5, " high "\n"                                                                       \
    "str r4, " place0 "\n"                                                                         \
    "str r5, " place1 "\n"
/* r8 twice the bias, r6 multiplier, r7 n - 1 */
#define REQUANTIZE(sum, bias, multiplier, shift, correct)                                          \
    "ldr r8, [r11, #" bias "]\n"                                                                   \
    "ldr r6, [r11, #" multiplier "]\n"                                                             \
    "ldrb r7, [r11, #" shift "]\n"                                                                 \
    "add " sum ", r8, " sum ", lsl #1\n" correct(sum) "mov r4, #0x80000000\n"                      \
                                                      "lsl r5, r9, r7\n"                           \
                                                      "add r5, r5, " sum ", asr #31\n"             \
                                                      "smlal r4, r5, " sum ", r6\n"                \
                                                      "asr " sum ", r5, r7\n"
#define CORRECT(sum) "sub " sum ", " sum ", r12\n"
#define KEEP(sum) ""
#define EACH(macro) macro("r0") macro("r1") macro("r2") macro("r3")
#define SATURATE(q) "ssat " q ", #8, " q ", asr #1\n"
#define LOOK_UP(q) SATURATE(q) "ldrb " q ", [r8, " q "]\n"
#define LOOK_UP_10(q)                                                                              \
    "ssat " q ", #10, " q ", asr #1\n"                                                             \
    "ldrb " q ", [r8, " q "]\n"

/* clang-format off */
__attribute__((naked)) void ctn_vector_4_v7m(__attribute__((unused)) const CtnVectorV7m *vector) {
    __asm__("push {r4-r11, lr}\n"
            "ldm r0, {r1-r8, r11}\n"
            "push {r1-r8}\n"
            "sub sp, #16\n"
            "mvn r10, #0xff0000\n"
            "bic r10, r10, #0xff00\n"
            /* four columns */
            "1: ldr r12, " INPUT "\n"
            "ldr r9, " DEPTH "\n"
            "movs r0, #0\n"
            "movs r1, #0\n"
            "strd r0, r1, [sp]\n"
            "strd r0, r1, [sp, #8]\n"
            /* a segment of r5 of the r9 steps that are left; r9 and r5 go on the stack */
            "2: mov r5, r9\n"
            "cmp r5, #256\n"
            "it hi\n"
            "movhi r5, #256\n"
            "sub r9, r9, r5\n"
            "push {r5, r9}\n"
            "movs r0, #0\n"
            "movs r1, #0\n"
            "movs r2, #0\n"
            "movs r3, #0\n"
            "lsr lr, r5, #2\n"
            "rsb r6, lr, #0\n"
            "and r6, r6, #3\n"
            /* groups of four steps that the first pass leaves out */
            "add lr, lr, #3\n"
            "lsrs lr, lr, #2\n"
            "beq 4f\n"
            "adr.w r7, 3f\n"
            "orr r7, r7, #1\n"
            "movs r4, #84\n"
            "mla r6, r6, r4, r7\n"
            "bx r6\n"
            ".balign 4\n"
            "3: .rept 4\n"
            FOUR_STEPS
            ".endr\n"
            "subs lr, #1\n"
            "bne.w 3b\n"
            "4: pop {r5, r9}\n"
            "ands r5, r5, #3\n"
            "beq 6f\n"
            "5: ldr r4, [r11], #4\n"
            PRODUCTS("r4")
            "subs r5, #1\n"
            "bne 5b\n"
            "6:\n"
            SPLIT("r0", "r1", "[sp, #0]", "[sp, #4]") SPLIT("r2", "r3", "[sp, #8]", "[sp, #12]")
            "cmp r9, #0\n"
            "bne.w 2b\n"
            /* the store */
            "ldm sp, {r0-r3}\n"
            "ldr r9, " ZERO "\n"
            "ldr r12, " INPUT_SUM "\n"
            REQUANTIZE("r0", "0", "16", "32", CORRECT) REQUANTIZE("r1", "4", "20", "33", KEEP)
            REQUANTIZE("r2", "8", "24", "34", CORRECT) REQUANTIZE("r3", "12", "28", "35", KEEP)
            "add r11, #36\n"
            "ldr r8, " TABLE "\n"
            "ldr r12, " TAIL "\n"
            "ldr r9, " OUTPUT "\n"
            "cmp r12, #1\n"
            "beq 7f\n"
            "bhi 8f\n"
            EACH(SATURATE)
            "b 9f\n"
            "7:\n"
            EACH(LOOK_UP)
            "b 9f\n"
            "8:\n"
            EACH(LOOK_UP_10)
            "9: " "strb " "r0, " "[r9], " "#1\n"
            "strb " "r1, " "[r9], " "#1\n"
            "strb " "r2, " "[r9], " "#1\n"
            "strb " "r3, " "[r9], " "#1\n"
            "str " "r9," " " OUTPUT "\n"
            "ldr " "r12," " " WEIGHTS_END "\n"
            "cmp " "r11, " "r12\n"
            "bne.w " "1b\n"
            "add " "sp, " "#48\n"
            "pop " "{r4-" "r11, " "pc}" "\n");
}
/* clang-format on */
#endif
#endif
