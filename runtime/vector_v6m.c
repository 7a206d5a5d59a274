/* The loop of vector_v6m.h in assembly, on the host its twin in plain C; columns beyond fours in C.
 */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "vector_v6m.h"

enum {
    UNROLL = 8, /* steps */
    HALF = 4,   /* the immediate offsets of eights of weights reach so far */
    CODE8 = 52, /* bytes of code of a step */
    CODE4 = 28,
    ADDS = 2
};

typedef uint32_t __attribute__((may_alias)) Word;

static uint32_t sum_of(const int8_t *p, int32_t count) {
    int32_t sum = 0;
    for (; count >= 4; count -= 4, p += 4)
        sum += p[0] + p[1] + p[2] + p[3];
    for (; count > 0; count--)
        sum += *p++;
    return (uint32_t)sum;
}

/* Column `column` of a group of `columns`. */
static int8_t one_column(const CtnVectorV6m *v, const uint8_t *group, int32_t depth,
                         int32_t columns, int32_t column) {
    const uint8_t *weight = group + 4 * columns + column;
    uint32_t sum = ((const Word *)(const void *)group)[column] - v->sum;
    for (int32_t k = 0; k < depth; k++, weight += columns)
        sum += (uint32_t)(v->input[k] * *weight);
    const uint8_t *factor =
        group + ctn_vector_group(depth, columns) - ctn_store_behind_v6m(columns, column);
    return ctn_store_v6m(&v->store, sum, factor);
}

void ctn_vector_row_v6m(CtnVectorV6m *v, const uint8_t *stream, const int8_t *input, int32_t depth,
                        int32_t columns, int8_t *output) {
    uint32_t passes = ((uint32_t)depth + UNROLL - 1) / UNROLL;
    uint32_t skip = passes * UNROLL - (uint32_t)depth;
    v->passes8 = v->passes4 = passes;
    v->entry8 = skip * CODE8 + (skip < HALF ? 0 : ADDS);
    v->skip8 = 8 * (skip < HALF ? skip : skip - HALF);
    v->entry4 = skip * CODE4;
    v->skip4 = 4 * skip;
    v->eights = (uint32_t)columns >> 3;
    v->fours = (uint32_t)columns >> 2 & 1;
    v->sum = sum_of(input, depth) << 7;
    v->input = input;
    v->output = output;
    v->weights = stream;
    if (columns >= 4)
        ctn_vector_8_v6m(v);
    stream += (columns >> 3) * ctn_vector_group(depth, 8) +
              (columns >> 2 & 1) * ctn_vector_group(depth, 4);
    for (int32_t i = columns & ~3; i < columns; i++, stream += ctn_vector_group(depth, 1))
        output[i] = one_column(v, stream, depth, 1, 0);
}

#ifdef CTN_EMULATE
void ctn_vector_8_v6m(const CtnVectorV6m *v) {
    const uint8_t *group = v->weights;
    int32_t depth = (int32_t)(v->passes4 * UNROLL - v->skip4 / 4);
    int8_t *output = v->output;
    for (uint32_t i = 0; i < v->eights; i++, group += ctn_vector_group(depth, 8))
        for (int32_t c = 0; c < 8; c++)
            *output++ = one_column(v, group, depth, 8, c);
    for (int32_t c = 0; v->fours && c < 4; c++)
        *output++ = one_column(v, group, depth, 4, c);
}
#else

/* Where ctn_vector_8_v6m keeps its CtnVectorV6m, and what it needs besides. */
#define ENTRY8 "[sp, #20]"
#define PASSES8 "[sp, #24]"
#define SKIP8 "[sp, #28]"
#define ENTRY4 "[sp, #32]"
#define PASSES4 "[sp, #36]"
#define SKIP4 "[sp, #40]"
#define EIGHTS "[sp, #44]"
#define FOURS "[sp, #48]"
#define SUM "[sp, #52]"
#define INPUT "[sp, #56]"
#define OUTPUT "[sp, #60]"
#define WEIGHTS "[sp, #64]"
#define COLUMNS "[sp, #68]"
#define SUM4 "[sp, #72]" /* sums of the fifth to eighth column */
#define SUM5 "[sp, #76]"
#define SUM6 "[sp, #80]"
#define SUM7 "[sp, #84]"

/* r0 input, r3 the step within it, r1 weights, r7 passes left; r2 an activation, r4 a weight and
 * its product; sums r8 - r12, lr, r5, r6. 26 instructions for 8 products, 14 for 4. */
#define PRODUCT(weight, sum)                                                                       \
    "ldrb r4, [r1, #" weight "]\n"                                                                 \
    "muls r4, r2, r4\n"                                                                            \
    "add " sum ", r4\n"
#define ACTIVATION                                                                                 \
    "ldrsb r2, [r0, r3]\n"                                                                         \
    "adds r3, #1\n"
#define STEP8                                                                                      \
    ACTIVATION                                                                                     \
    PRODUCT("8 * \\step", "r8")                                                                    \
    PRODUCT("8 * \\step + 1", "r9")                                                                \
    PRODUCT("8 * \\step + 2", "r10")                                                               \
    PRODUCT("8 * \\step + 3", "r11")                                                               \
    PRODUCT("8 * \\step + 4", "r12")                                                               \
    PRODUCT("8 * \\step + 5", "lr")                                                                \
    PRODUCT("8 * \\step + 6", "r5")                                                                \
    PRODUCT("8 * \\step + 7", "r6")
#define STEP4                                                                                      \
    ACTIVATION                                                                                     \
    PRODUCT("4 * \\step", "r8")                                                                    \
    PRODUCT("4 * \\step + 1", "r9")                                                                \
    PRODUCT("4 * \\step + 2", "r10")                                                               \
    PRODUCT("4 * \\step + 3", "r11")
/* A column's sum from its bias; r4 is the sum of activations. */
#define BEGIN(sum)                                                                                 \
    "ldm r1!, {r2}\n"                                                                              \
    "subs r2, r2, r4\n"                                                                            \
    "mov " sum ", r2\n"
/* r1 factors of the column, r12 the store, r0 output */
#define STORE(load, place)                                                                         \
    CTN_STORE_COLUMN load "blx r12\n"                                                              \
                          "strb r2, [r0, #" place "]\n"                                            \
                          "subs r1, #6\n"

/* clang-format off */
__attribute__((naked)) void ctn_vector_8_v6m(__attribute__((unused)) const CtnVectorV6m *vector) {
    __asm__(".syntax unified\n"
            "push {r4-r7, lr}\n"
            "mov r4, r8\n"
            "mov r5, r9\n"
            "mov r6, r10\n"
            "mov r7, r11\n"
            "push {r4-r7}\n"
            "sub sp, #88\n"
            "mov r1, sp\n"
            ".rept 3\n"
            "ldm r0!, {r2-r7}\n"
            "stm r1!, {r2-r7}\n"
            ".endr\n"
            "adr r1, 1f\n"
            "ldm r1!, {r2, r3}\n"
            "ldr r4, " ENTRY8 "\n"
            "adds r2, r2, r4\n"
            "str r2, " ENTRY8 "\n"
            "ldr r4, " ENTRY4 "\n"
            "adds r3, r3, r4\n"
            "str r3, " ENTRY4 "\n"
            "b 2f\n"
            ".balign 4\n"
            "1: .word 4f + 1, 8f + 1\n"
            ".macro ctn_step8 step\n"
            STEP8
            ".endm\n"
            ".macro ctn_step4 step\n"
            STEP4
            ".endm\n"
            "2: ldr r0, " EIGHTS "\n"
            "subs r0, #1\n"
            "bpl 3f\n"
            "b 6f\n"
            /* eight columns */
            "3: str r0, " EIGHTS "\n"
            "ldr r1, " WEIGHTS "\n"
            "ldr r4, " SUM "\n"
            BEGIN("r8") BEGIN("r9") BEGIN("r10") BEGIN("r11")
            BEGIN("r12") BEGIN("lr") BEGIN("r5") BEGIN("r6")
            "ldr r7, " SKIP8 "\n"
            "subs r1, r1, r7\n"
            "ldr r0, " INPUT "\n"
            "movs r3, #0\n"
            "ldr r7, " PASSES8 "\n"
            "ldr r4, " ENTRY8 "\n"
            "bx r4\n"
            "4:\n"
            ".irp step, 0, 1, 2, 3\n"
            "ctn_step8 \\step\n"
            ".endr\n"
            "adds r1, #32\n"
            ".irp step, 0, 1, 2, 3\n"
            "ctn_step8 \\step\n"
            ".endr\n"
            "adds r1, #32\n"
            "subs r7, #1\n"
            "beq 5f\n"
            "b 4b\n"
            "5: str r5, " SUM6 "\n"
            "str r6, " SUM7 "\n"
            "mov r2, r12\n"
            "str r2, " SUM4 "\n"
            "mov r2, lr\n"
            "str r2, " SUM5 "\n"
            "movs r6, #8\n"
            "str r6, " COLUMNS "\n"
            "ldr r3, " CTN_STORE_CODE "\n"
            "mov r12, r3\n"
            "ldr r0, " OUTPUT "\n"
            "adds r1, #42\n"
            STORE("ldr r2, " SUM7 "\n", "7")
            STORE("ldr r2, " SUM6 "\n", "6")
            STORE("ldr r2, " SUM5 "\n", "5")
            STORE("ldr r2, " SUM4 "\n", "4")
            "b 10f\n"
            /* four columns */
            "6: ldr r0, " FOURS "\n"
            "subs r0, #1\n"
            "bpl 7f\n"
            "add sp, #88\n"
            "pop {r4-r7}\n"
            "mov r8, r4\n"
            "mov r9, r5\n"
            "mov r10, r6\n"
            "mov r11, r7\n"
            "pop {r4-r7, pc}\n"
            "7: str r0, " FOURS "\n"
            "ldr r1, " WEIGHTS "\n"
            "ldr r4, " SUM "\n"
            BEGIN("r8") BEGIN("r9") BEGIN("r10") BEGIN("r11")
            "ldr r7, " SKIP4 "\n"
            "subs r1, r1, r7\n"
            "ldr r0, " INPUT "\n"
            "movs r3, #0\n"
            "ldr r7, " PASSES4 "\n"
            "ldr r4, " ENTRY4 "\n"
            "bx r4\n"
            "8:\n"
            ".irp step, 0, 1, 2, 3, 4, 5, 6, 7\n"
            "ctn_step4 \\step\n"
            ".endr\n"
            "adds r1, #32\n"
            "subs r7, #1\n"
            "bne 8b\n"
            "movs r6, #4\n"
            "str r6, " COLUMNS "\n"
            "ldr r3, " CTN_STORE_CODE "\n"
            "mov r12, r3\n"
            "ldr r0, " OUTPUT "\n"
            "adds r1, #18\n"
            /* the first four of either */
            "10:\n"
            STORE("mov r2, r11\n", "3")
            STORE("mov r2, r10\n", "2")
            STORE("mov r2, r9\n", "1")
            STORE("mov r2, r8\n", "0")
            "ldr r6, " COLUMNS "\n"
            "adds r1, #6\n"
            "lsls r2, r6, #1\n"
            "adds r1, r1, r2\n"
            "lsls r2, r6, #2\n"
            "adds r1, r1, r2\n"
            "str r1, " WEIGHTS "\n"
            "adds r0, r0, r6\n"
            "str r0, " OUTPUT "\n"
            "cmp r6, #8\n"
            "bne 11f\n"
            "b 2b\n"
            "11: b 6b\n"
            ".purgem ctn_step8\n"
            ".purgem ctn_step4\n");
}
/* clang-format on */
#endif
#endif
