/* The matrix block of dot_v6m.h: the loop over groups of columns in assembly, on the host its twin
 * in plain C. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "dot_v6m.h"

enum {
    UNROLL = 8, /* pairs of steps */
    HALF = 4,   /* the immediate offsets of weights reach so far */
    CODE4 = 82, /* bytes of code of a pair */
    CODE2 = 42,
    ADDS = 2
};

typedef uint32_t __attribute__((may_alias)) Word;

static void begin_loops(CtnDotV6m *dot, uint32_t pairs) {
    uint32_t passes = (pairs + UNROLL - 1) / UNROLL, skip = passes * UNROLL - pairs;
    dot->passes4 = dot->passes2 = passes;
    dot->entry4 = skip * CODE4 + (skip < HALF ? 0 : ADDS);
    dot->skip4 = 8 * (skip < HALF ? skip : skip - HALF);
    dot->entry2 = skip * CODE2;
    dot->skip2 = 4 * skip;
}

CtnDotV6m ctn_dot_begin_v6m(const uint8_t *stream, int32_t depth, int32_t columns,
                            int32_t output_zero_point, int32_t clamp_max, const int8_t *table) {
    CtnDotV6m dot = {.store = ctn_store_begin_v6m(*stream, output_zero_point, clamp_max, table),
                     .fours = (uint32_t)columns >> 2,
                     .twos = (uint32_t)columns >> 1 & 1,
                     .stream = stream + CTN_DOT_HEAD,
                     .depth = depth,
                     .columns = columns};
    dot.bytes = dot.fours * (uint32_t)ctn_dot_group(depth, 4) +
                dot.twos * (uint32_t)ctn_dot_group(depth, 2);
    begin_loops(&dot, (uint32_t)ctn_dot_even(depth) / 2);
    return dot;
}

/* Column `column` of a group of `columns`. */
static void one_column(const CtnDotV6m *dot, const uint8_t *group, int32_t columns, int32_t column,
                       int32_t place) {
    const uint32_t bias = ((const Word *)(const void *)group)[column];
    const uint8_t *weight = group + 4 * columns + column;
    uint32_t total = 0, high = 0;
    for (int32_t k = 0; k < dot->depth; k++, weight += columns) {
        uint32_t product = dot->rows[k] * *weight;
        total += product;
        high += product >> 16;
    }
    const uint8_t *factor =
        group + ctn_dot_group(dot->depth, columns) - ctn_store_behind_v6m(columns, column);
    dot->output[0][place] =
        ctn_store_v6m(&dot->store, bias + total - (high << 16) - dot->sum[0], factor);
    dot->output[1][place] = ctn_store_v6m(&dot->store, bias + high - dot->sum[1], factor);
}

void ctn_dot_block_v6m(CtnDotV6m *dot, uint32_t *rows) {
    if (dot->depth & 1)
        rows[dot->depth] = 0;
    dot->rows = rows;
    if (dot->columns > 1)
        ctn_dot_2x4_v6m(dot);
    dot->weights += dot->bytes;
    if (dot->columns & 1) {
        one_column(dot, dot->weights, 1, 0, dot->columns - 1);
        dot->weights += ctn_dot_group(dot->depth, 1);
    }
}

void ctn_expand_v6m(const int8_t *const row[CTN_DOT_ROWS], uint32_t *to, int32_t count,
                    uint32_t sum[CTN_DOT_ROWS]) {
    for (int32_t at = 0; at < count; at += CTN_DOT_RUN) {
        int32_t run = count - at < CTN_DOT_RUN ? count - at : CTN_DOT_RUN;
        uint32_t both = ctn_expand_run_v6m(row[0] + at, row[1] + at, to + at, run);
        sum[0] += both & 0xffff;
        sum[1] += both >> 16;
    }
}

#ifdef CTN_EMULATE
uint32_t ctn_expand_run_v6m(const int8_t *row0, const int8_t *row1, uint32_t *to, int32_t count) {
    uint32_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        to[i] = (uint32_t)(row0[i] + 128) | (uint32_t)(row1[i] + 128) << 16;
        sum += to[i];
    }
    return sum;
}

void ctn_dot_2x4_v6m(const CtnDotV6m *dot) {
    const uint8_t *group = dot->weights;
    int32_t place = 0;
    for (uint32_t i = 0; i < dot->fours; i++, place += 4) {
        for (int32_t c = 0; c < 4; c++)
            one_column(dot, group, 4, c, place + c);
        group += ctn_dot_group(dot->depth, 4);
    }
    for (int32_t c = 0; dot->twos && c < 2; c++)
        one_column(dot, group, 2, c, place + c);
}
#else

/* Both sums stay below 2^16: CTN_DOT_RUN * 255. r0, r1 rows; r2 words; r3 steps left; r4, r7 words,
 * r5 a byte of row 1, r6 0x00800080; r8 sums. */
#define EXPAND_STEP(word, offset)                                                                  \
    "ldrb " word ", [r0, #" offset "]\n"                                                           \
    "ldrb r5, [r1, #" offset "]\n"                                                                 \
    "lsls r5, r5, #16\n"                                                                           \
    "orrs " word ", r5\n"                                                                          \
    "eors " word ", r6\n"                                                                          \
    "add r8, " word "\n"
#define EXPAND_PAIR(first, second)                                                                 \
    EXPAND_STEP("r4", first) EXPAND_STEP("r7", second) "stm r2!, {r4, r7}\n"

/* clang-format off */
__attribute__((naked)) uint32_t ctn_expand_run_v6m(__attribute__((unused)) const int8_t *row0,
                                                   __attribute__((unused)) const int8_t *row1,
                                                   __attribute__((unused)) uint32_t *to,
                                                   __attribute__((unused)) int32_t count) {
    __asm__(".syntax unified\n"
            "push {r4-r7}\n"
            "mov r4, r8\n"
            "push {r4}\n"
            "movs r6, #128\n"
            "lsls r5, r6, #16\n"
            "orrs r6, r5\n"
            "movs r4, #0\n"
            "mov r8, r4\n"
            "subs r3, #8\n"
            "blt 2f\n"
            "1:\n"
            EXPAND_PAIR("0", "1") EXPAND_PAIR("2", "3") EXPAND_PAIR("4", "5") EXPAND_PAIR("6", "7")
            "adds r0, #8\n"
            "adds r1, #8\n"
            "subs r3, #8\n"
            "bge 1b\n"
            "2: adds r3, #8\n"
            "beq 4f\n"
            "3:\n"
            EXPAND_STEP("r4", "0")
            "stm r2!, {r4}\n"
            "adds r0, #1\n"
            "adds r1, #1\n"
            "subs r3, #1\n"
            "bne 3b\n"
            "4: mov r0, r8\n"
            "pop {r4}\n"
            "mov r8, r4\n"
            "pop {r4-r7}\n"
            "bx lr\n");
}
/* clang-format on */

/* Where ctn_dot_2x4_v6m keeps its CtnDotV6m, and what it needs besides. */
#define ENTRY4 "[sp, #20]"
#define PASSES4 "[sp, #24]"
#define SKIP4 "[sp, #28]"
#define ENTRY2 "[sp, #32]"
#define PASSES2 "[sp, #36]"
#define SKIP2 "[sp, #40]"
#define FOURS "[sp, #44]"
#define TWOS "[sp, #48]"
#define ROWS "[sp, #52]"
#define SUM0 "[sp, #56]"
#define SUM1 "[sp, #60]"
#define OUTPUT0 "[sp, #64]"
#define OUTPUT1 "[sp, #68]"
#define WEIGHTS "[sp, #72]"
#define COLUMNS "[sp, #76]"
#define THIRD "[sp, #80]" /* T, H of the third and fourth column */
#define THIRD_H "[sp, #84]"
#define FOURTH "[sp, #88]"
#define FOURTH_H "[sp, #92]"

/* r0 rows, r1 weights, r7 passes left; r2, r3 two steps of the rows, r4 a weight and its product;
 * T and H: r8, r9 first column, r10, r11 second, r12, lr third, r5, r6 fourth. 41 instructions for
 * 16 products, 21 for 8. */
#define PRODUCT(row, weight, t, h)                                                                 \
    "ldrb r4, [r1, #" weight "]\n"                                                                 \
    "muls r4, " row ", r4\n"                                                                       \
    "add " t ", r4\n"                                                                              \
    "lsrs r4, r4, #16\n"                                                                           \
    "add " h ", r4\n"
#define STEP4(row, step)                                                                           \
    PRODUCT(row, "4 * " step, "r8", "r9")                                                          \
    PRODUCT(row, "4 * " step " + 1", "r10", "r11")                                                 \
    PRODUCT(row, "4 * " step " + 2", "r12", "lr")                                                  \
    PRODUCT(row, "4 * " step " + 3", "r5", "r6")
#define STEP2(row, step)                                                                           \
    PRODUCT(row, "2 * " step, "r8", "r9")                                                          \
    PRODUCT(row, "2 * " step " + 1", "r10", "r11")
#define PAIR4 "ldm r0!, {r2, r3}\n" STEP4("r2", "\\step") STEP4("r3", "(\\step + 1)")
#define PAIR2 "ldm r0!, {r2, r3}\n" STEP2("r2", "\\step") STEP2("r3", "(\\step + 1)")

/* T and H of a column from its bias in r2; the sums are in r3, r4. */
#define BEGIN(t, h)                                                                                \
    "subs r7, r2, r4\n"                                                                            \
    "mov " h ", r7\n"                                                                              \
    "lsls r7, r7, #16\n"                                                                           \
    "adds r7, r7, r2\n"                                                                            \
    "subs r7, r7, r3\n"                                                                            \
    "mov " t ", r7\n"

/* r2, r3 hold T and H, r12 the store, r0 the first row's output. */
#define STORE_BOTH(column, reload_h)                                                               \
    "lsls r3, r3, #16\n"                                                                           \
    "subs r2, r2, r3\n"                                                                            \
    "blx r12\n"                                                                                    \
    "strb r2, [r0, #" column "]\n" reload_h "blx r12\n"                                            \
    "ldr r3, " OUTPUT1 "\n"                                                                        \
    "strb r2, [r3, #" column "]\n"

/* clang-format off */
__attribute__((naked)) void ctn_dot_2x4_v6m(__attribute__((unused)) const CtnDotV6m *dot) {
    __asm__(".syntax unified\n"
            "push {r4-r7, lr}\n"
            "mov r4, r8\n"
            "mov r5, r9\n"
            "mov r6, r10\n"
            "mov r7, r11\n"
            "push {r4-r7}\n"
            "sub sp, #96\n"
            "mov r1, sp\n"
            ".rept 3\n"
            "ldm r0!, {r2-r7}\n"
            "stm r1!, {r2-r7}\n"
            ".endr\n"
            "ldr r2, [r0]\n"
            "str r2, [r1]\n"
            "adr r1, 1f\n"
            "ldm r1!, {r2, r3}\n"
            "ldr r4, " ENTRY4 "\n"
            "adds r2, r2, r4\n"
            "str r2, " ENTRY4 "\n"
            "ldr r4, " ENTRY2 "\n"
            "adds r3, r3, r4\n"
            "str r3, " ENTRY2 "\n"
            "b 2f\n"
            ".balign 4\n"
            "1: .word 4f + 1, 8f + 1\n"
            ".macro ctn_pair4 step\n"
            PAIR4
            ".endm\n"
            ".macro ctn_pair2 step\n"
            PAIR2
            ".endm\n"
            "2: ldr r0, " FOURS "\n"
            "subs r0, #1\n"
            "bpl 3f\n"
            "b 6f\n"
            /* four columns */
            "3: str r0, " FOURS "\n"
            "ldr r1, " WEIGHTS "\n"
            "ldr r3, " SUM0 "\n"
            "ldr r4, " SUM1 "\n"
            "ldm r1!, {r2}\n"
            BEGIN("r8", "r9")
            "ldm r1!, {r2}\n"
            BEGIN("r10", "r11")
            "ldm r1!, {r2}\n"
            BEGIN("r12", "lr")
            "ldm r1!, {r2}\n"
            BEGIN("r5", "r6")
            "ldr r7, " SKIP4 "\n"
            "subs r1, r1, r7\n"
            "ldr r0, " ROWS "\n"
            "ldr r7, " PASSES4 "\n"
            "ldr r4, " ENTRY4 "\n"
            "bx r4\n"
            "4:\n"
            ".irp step, 0, 2, " "4, 6\n"
            "ctn_pair4 \\step\n"
            ".endr\n"
            "adds r1, #32\n"
            ".irp step, 0, 2, " "4, 6\n"
            "ctn_pair4 \\step\n"
            ".endr\n"
            "adds r1, #32\n"
            "subs r7, #1\n"
            "beq 5f\n"
            "b 4b\n"
            "5: str r5, " FOURTH "\n"
            "str r6, " FOURTH_H "\n"
            "mov r2, r12\n"
            "str r2, " THIRD "\n"
            "mov r2, lr\n"
            "str r2, " THIRD_H "\n"
            "movs r6, #4\n"
            "str r6, " COLUMNS "\n"
            "ldr " "r3, " CTN_STORE_CODE "\n"
            "mov r12, r3\n"
            "ldr r0, " OUTPUT0 "\n"
            "adds r1, #18\n"
            CTN_STORE_COLUMN
            "ldr r2, " FOURTH "\n"
            "ldr r3, " FOURTH_H "\n"
            STORE_BOTH("3", "ldr " "r2, " FOURTH_H "\n")
            "subs r1, #6\n"
            CTN_STORE_COLUMN
            "ldr " "r2," " " THIRD "\n"
            "ldr " "r3," " " THIRD_H "\n"
            STORE_BOTH("2", "ldr " "r2," " " THIRD_H "\n")
            "subs r1, #6\n"
            "b 10f\n"
            /* two columns */
            "6: ldr r0, " TWOS "\n"
            "subs r0, #1\n"
            "bpl 7f\n"
            "add sp, #96\n"
            "pop {r4-r7}\n"
            "mov r8, r4\n"
            "mov r9, r5\n"
            "mov r10, r6\n"
            "mov r11, r7\n"
            "pop {r4-r7, pc}\n"
            "7: str r0, " TWOS "\n"
            "ldr r1, " WEIGHTS "\n"
            "ldr r3, " SUM0 "\n"
            "ldr r4, " SUM1 "\n"
            "ldm r1!, {r2}\n"
            BEGIN("r8", "r9")
            "ldm r1!, {r2}\n"
            BEGIN("r10", "r11")
            "ldr r7, " SKIP2 "\n"
            "subs r1, r1, r7\n"
            "ldr r0, " ROWS "\n"
            "ldr r7, " PASSES2 "\n"
            "ldr r4, " ENTRY2 "\n"
            "bx r4\n"
            "8:\n"
            ".irp step, 0, 2, 4, 6, 8, 10, 12, 14\n"
            "ctn_pair2 \\step\n"
            ".endr\n"
            "adds r1, #32\n"
            "subs r7, #1\n"
            "beq 9f\n"
            "b 8b\n"
            "9: movs r6, #2\n"
            "str r6, " COLUMNS "\n"
            "ldr r3, " CTN_STORE_CODE "\n"
            "mov r12, r3\n"
            "ldr r0, " OUTPUT0 "\n"
            "adds r1, #6\n"
            /* the second and first column of either */
            "10:\n"
            CTN_STORE_COLUMN
            "mov r2, r10\n"
            "mov r3, r11\n"
            STORE_BOTH("1", "mov r2, r11\n")
            "subs r1, #6\n"
            CTN_STORE_COLUMN
            "mov r2, r8\n"
            "mov r3, r9\n"
            STORE_BOTH("0", "mov r2, r9\n")
            "ldr r6, " COLUMNS "\n"
            "lsls r2, r6, #1\n"
            "adds r1, r1, r2\n"
            "lsls r2, r6, #2\n"
            "adds r1, r1, r2\n"
            "str r1, " WEIGHTS "\n"
            "adds r0, r0, r6\n"
            "str r0, " OUTPUT0 "\n"
            "adds r3, r3, r6\n"
            "str r3, " OUTPUT1 "\n"
            "cmp r6, #4\n"
            "bne 11f\n"
            "b 2b\n"
            "11: b 6b\n"
            ".purgem ctn_pair4\n"
            ".purgem ctn_pair2\n");
}
/* clang-format on */
#endif
#endif
