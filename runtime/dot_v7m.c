/* The matrix block of dot_v7m.h: the loop over pairs of columns in assembly, on the host its twin
 * in plain C; the odd last column in C. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "dot_v7m.h"
#include "short_store.h"

CtnDotV7m ctn_dot_begin_v7m(int32_t output_zero_point, int32_t clamp_max, const int8_t *table) {
    CtnDotV7m dot = {.zero = 2 * output_zero_point + 1};
    dot.tail = ctn_tail_of(clamp_max, table);
    if (table)
        dot.table = table + clamp_max + 1;
    return dot;
}

/* The first step of depth stands before the loop. */
void ctn_dot_depth_v7m(CtnDotV7m *dot, int32_t depth) {
    uint32_t rest = (uint32_t)depth - 1;
    dot->passes = rest > 0 ? (rest + CTN_DOT_UNROLL - 1) / CTN_DOT_UNROLL : 1;
    dot->entry = dot->passes * CTN_DOT_UNROLL - rest;
}

/* One product of a word of two rows. */
static inline int64_t step(int64_t sum, int32_t pair, int32_t weight) {
    return sum + (int64_t)pair * weight;
}

/* The two sums that a 64-bit sum holds. */
static inline void split(int64_t sum, int32_t *first, int32_t *second) {
    *first = (int32_t)((uint32_t)sum << 9) >> 9;
    *second = (int32_t)((sum - *first) >> 23);
}

/* The store of one column; moves weights behind its factors. */
static const int8_t *store_column(const CtnDotV7m *dot, const int8_t *weights, int32_t sum[4]) {
    int32_t bias = ctn_stream_word(weights), *sums = dot->sums;
    for (int i = 0; i < 4; i++) {
        sum[i] = bias + (int32_t)((uint32_t)sum[i] << 1);
        if (dot->sum == CTN_SUM_PART)
            sums[i] += sum[i];
        else if (dot->sum == CTN_SUM_LAST)
            sum[i] += sums[i];
    }
    weights += 4;
    if (dot->sum == CTN_SUM_PART)
        return weights;
    for (int i = 0; i < 4; i++)
        dot->row[i][dot->column] = ctn_short_store(sum[i], ctn_stream_word(weights), weights[4],
                                                   dot->zero, dot->tail, dot->table);
    return weights + 5;
}

static const int8_t *odd_column(const CtnDotV7m *dot, int32_t depth) {
    const int8_t *weights = dot->weights;
    const int32_t *pair = dot->pairs;
    int64_t low = 0, high = 0;
    for (; depth > 0; depth--, pair += 2) {
        int32_t w = *weights++;
        low = step(low, pair[0], w);
        high = step(high, pair[1], w);
    }
    int32_t sum[4];
    split(low, &sum[0], &sum[1]);
    split(high, &sum[2], &sum[3]);
    return store_column(dot, weights, sum);
}

void ctn_dot_block_v7m(CtnDotV7m *dot, int32_t depth, int32_t columns) {
    int32_t column = dot->column, per_column = depth + 4;
    int32_t *sums = dot->sums;
    if (dot->sum != CTN_SUM_PART)
        per_column += 5;
    dot->weights_end = dot->weights + (columns & ~1) * per_column;
    if (columns > 1)
        ctn_dot_4x2_v7m(dot);
    dot->weights = dot->weights_end;
    if (columns & 1) {
        dot->column = column + columns - 1;
        dot->sums += 4 * (columns - 1);
        dot->weights = odd_column(dot, depth);
        dot->column = column;
        dot->sums = sums;
    }
}

#ifdef CTN_EMULATE
void ctn_expand_v7m(const int8_t *const row[4], int32_t *pairs, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        *pairs++ = row[0][i] + row[1][i] * (1 << 23);
        *pairs++ = row[2][i] + row[3][i] * (1 << 23);
    }
}

/* One column of a pair: every second byte. */
static void column_sums(const CtnDotV7m *dot, int32_t depth, const int8_t *weights,
                        int32_t sum[4]) {
    for (int half = 0; half < 2; half++) {
        int64_t both = 0;
        for (int32_t k = 0; k < depth; k++)
            both = step(both, dot->pairs[2 * k + half], weights[2 * k]);
        split(both, &sum[2 * half], &sum[2 * half + 1]);
    }
}

void ctn_dot_4x2_v7m(const CtnDotV7m *dot) {
    CtnDotV7m one = *dot;
    const int8_t *weights = dot->weights;
    int32_t depth = (int32_t)(dot->passes * CTN_DOT_UNROLL - dot->entry + 1);
    int32_t sum[4];
    for (; weights != dot->weights_end; one.column++, one.sums += 4) {
        int8_t factor[2][9]; /* of each column alone */
        const int8_t *from = weights + 2 * depth;
        for (int i = 0; i < 18; i++)
            if (i < 8 || dot->sum != CTN_SUM_PART)
                factor[i < 16 ? i / 4 % 2 : i % 2][i < 16 ? i / 8 * 4 + i % 4 : 8] = from[i];
        column_sums(dot, depth, weights, sum);
        store_column(&one, factor[0], sum);
        one.column++;
        one.sums += 4;
        column_sums(dot, depth, weights + 1, sum);
        store_column(&one, factor[1], sum);
        weights = from + (dot->sum == CTN_SUM_PART ? 8 : 18);
    }
}
#else

#define ARGUMENT __attribute__((unused)) /* used by the assembly, in its register */

/* r0, r3, r4, r5 rows; r1 pairs; r2 count; r6-r9 a step */
#define EXPAND_STEP(offset)                                                                        \
    "ldrsb r8, [r0, #" offset "]\n"                                                                \
    "ldrsb r6, [r3, #" offset "]\n"                                                                \
    "ldrsb r9, [r4, #" offset "]\n"                                                                \
    "ldrsb r7, [r5, #" offset "]\n"                                                                \
    "add r6, r8, r6, lsl #23\n"                                                                    \
    "add r7, r9, r7, lsl #23\n"                                                                    \
    "strd r6, r7, [r1], #8\n"
#define EXPAND_NEXT(step)                                                                          \
    "adds r0, #" step "\n"                                                                         \
    "adds r3, #" step "\n"                                                                         \
    "adds r4, #" step "\n"                                                                         \
    "adds r5, #" step "\n"

/* clang-format off */
__attribute__((naked)) void ctn_expand_v7m(ARGUMENT const int8_t *const row[4],
                                           ARGUMENT int32_t *pairs, ARGUMENT int32_t count) {
    __asm__("push {r4-r9}\n"
            "ldrd r4, r5, [r0, #8]\n"
            "ldrd r0, r3, [r0]\n"
            "subs r2, #4\n"
            "blt 2f\n"
            "1:\n"
            EXPAND_STEP("0") EXPAND_STEP("1") EXPAND_STEP("2") EXPAND_STEP("3") EXPAND_NEXT("4")
            "subs r2, #4\n"
            "bge 1b\n"
            "2: adds r2, #4\n"
            "beq 4f\n"
            "3:\n"
            EXPAND_STEP("0") EXPAND_NEXT("1")
            "subs r2, #1\n"
            "bne 3b\n"
            "4: pop {r4-r9}\n"
            "bx lr\n");
}
/* clang-format on */

/* Where ctn_dot_4x2_v7m keeps its CtnDotV7m; the weights pointer is in r11. */
#define ENTRY "[sp, #0]"
#define PASSES "[sp, #4]"
#define SUM "[sp, #8]"
#define TAIL "[sp, #12]"
#define PAIRS "[sp, #16]"
#define ZERO "[sp, #20]"
#define WEIGHTS_END "[sp, #24]"
#define TABLE "[sp, #28]"
#define SUMS "[sp, #32]"
#define ROWS "#36"
#define COLUMN "[sp, #52]"

/* r0:r1, r2:r3 sums of the first column, rows 0, 1 and 2, 3; r4:r5, r6:r7 of the second; r8, r9
 * a step of the rows, r10 a weight; r11 weights, r12 pairs, lr passes left. 7 instructions and 28
 * bytes for 8 products. */
#define STEP(multiply)                                                                             \
    "ldrd r8, r9, [r12], #8\n"                                                                     \
    "ldrsb r10, [r11], #1\n" multiply " r0, r1, r8, r10\n" multiply " r2, r3, r9, r10\n"           \
    "ldrsb r10, [r11], #1\n" multiply " r4, r5, r8, r10\n" multiply " r6, r7, r9, r10\n"
/* 64-bit sum to two doubled sums and the bias in r12; LSRS leaves bit 22, the low sum's sign, in
 * the carry. */
#define SPLIT(low, high)                                                                           \
    "sbfx r8, " low ", #0, #23\n"                                                                  \
    "lsrs " low ", " low ", #23\n"                                                                 \
    "adc " high ", " low ", " high ", lsl #9\n"                                                    \
    "add " low ", r12, r8, lsl #1\n"                                                               \
    "add " high ", r12, " high ", lsl #1\n"
#define ADD_TO(sum)                                                                                \
    "ldr r8, [r12]\n"                                                                              \
    "add r8, r8, " sum "\n"                                                                        \
    "str r8, [r12], #4\n"
#define ADD_FROM(sum)                                                                              \
    "ldr r8, [r12], #4\n"                                                                          \
    "add " sum ", " sum ", r8\n"
#define EACH(macro)                                                                                \
    macro("r0") macro("r1") macro("r2") macro("r3") macro("r4") macro("r5") macro("r6") macro("r"  \
                                                                                              "7")
/* r8 multiplier, r10 n - 1, r9 C */
#define REQUANTIZE(sum)                                                                            \
    "mov r12, #0x80000000\n"                                                                       \
    "add lr, r9, " sum ", asr #31\n"                                                               \
    "smlal r12, lr, " sum ", r8\n"                                                                 \
    "asr " sum ", lr, r10\n"
#define C_OF_SHIFT                                                                                 \
    "ldr r9, " ZERO "\n"                                                                           \
    "lsl r9, r9, r10\n"
#define SATURATE(q) "ssat " q ", #8, " q ", asr #1\n"
#define LOOK_UP(q) SATURATE(q) "ldrb " q ", [r8, " q "]\n"
#define LOOK_UP_10(q)                                                                              \
    "ssat " q ", #10, " q ", asr #1\n"                                                             \
    "ldrb " q ", [r8, " q "]\n"

/* clang-format off */
__attribute__((naked)) void ctn_dot_4x2_v7m(ARGUMENT const CtnDotV7m *dot) {
    __asm__("push {r4-r11, lr}\n"
            "add r8, r0, #28\n"
            "ldm r8, {r1-r7, r11}\n"
            /* table .. column, weights */
            "push {r1-r7}\n"
            "ldm r0, {r1-r7}\n"
            "adr.w r8, 2f\n"
            "rsb r1, r1, r1, lsl #3\n"
            "add r1, r8, r1, lsl #2\n"
            /* entry * 28 */
            "orr r1, r1, #1\n"
            "adr.w r8, 9f\n"
            "ldr r3, [r8, r3, lsl #2]\n"
            "add r3, r8, r3\n"
            "add r8, r8, #12\n"
            "ldr r4, [r8, r4, lsl #2]\n"
            "add r4, r8, r4\n"
            "push {r1-r7}\n"
            "1: ldr r12, " PAIRS "\n"
            "ldr lr, " PASSES "\n"
            STEP("smull")
            "ldr pc, " ENTRY "\n"
            ".balign 4\n"
            "2:\n"
            ".rept 16\n"
            STEP("smlal")
            ".endr\n"
            "subs lr, #1\n"
            "bne.w 2b\n"
            "ldr r12, [r11], #4\n"
            SPLIT("r0", "r1") SPLIT("r2", "r3")
            "ldr r12, [r11], #4\n"
            SPLIT("r4", "r5") SPLIT("r6", "r7")
            "ldr pc, " SUM "\n"
            "3: ldr r12, " SUMS "\n"
            EACH(ADD_TO)
            "str r12, " SUMS "\n"
            "b 8f\n"
            "4: ldr r12, " SUMS "\n"
            EACH(ADD_FROM)
            "str r12, " SUMS "\n"
            "5: ldrb r10, [r11, #8]\n"
            "ldr r8, [r11], " "#4\n"
            C_OF_SHIFT REQUANTIZE("r0") REQUANTIZE("r1") REQUANTIZE("r2") REQUANTIZE("r3")
            "ldrb r10, " "[r11, " "#5]\n"
            "ldr r8, " "[r11], " "#6" "\n"
            C_OF_SHIFT REQUANTIZE("r4") REQUANTIZE("r5") REQUANTIZE("r6") REQUANTIZE("r" "7")
            "ldr r8, " TABLE "\n"
            "ldr pc, " TAIL "\n"
            "6:\n"
            EACH(LOOK_UP)
            "b 7f\n"
            "10:\n"
            EACH(LOOK_UP_10)
            "b 7f\n"
            "11:\n"
            EACH(SATURATE)
            "7: add r12, sp, " ROWS "\n"
            "ldm r12, {r8, r9, r10, r12}\n"
            "ldr lr, " COLUMN "\n"
            "strb r0, [r8, lr]\n"
            "strb r1, [r9, lr]\n"
            "strb r2, [r10, lr]\n"
            "strb r3, [r12, lr]\n"
            "add lr, lr, #1\n"
            "strb r4, [r8, lr]\n"
            "strb r5, [r9, lr]\n"
            "strb r6, [r10, lr]\n"
            "strb r7, [r12, lr]\n"
            "add lr, lr, #1\n"
            "str lr, " COLUMN "\n"
            "8: ldr r12, " WEIGHTS_END "\n"
            "cmp r11, r12\n"
            "bne.w 1b\n"
            "add sp, #56\n"
            "pop {r4-r11, pc}\n"
            ".balign 4\n"
            "9: .word 5b - 9b + 1, 3b - 9b + 1, 4b - 9b + 1\n"
            "12: .word 11b - 12b + 1, 6b - 12b + 1, 10b - 12b + 1\n");
}
/* clang-format on */
#endif
#endif
