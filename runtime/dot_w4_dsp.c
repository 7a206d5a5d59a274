/* The matrix block of dot_w4_dsp.h. With a row's values a, sums are taken of a * (16 * w1 + w0 +
 * 8), the bytes as they are, and of a * 16 * w1, the bytes less their low nibbles: the second
 * column's. Their difference, less 8 times the sum of the row's values, is a sixteenth of the first
 * one's. A step is as long as with 8 bits: 20 instructions for 24 products. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "dot_w4_dsp.h"

#include "dot_code_dsp.h"

/* In the order of the block's stack. */
typedef struct {
    CtnDotDsp dot;
    int32_t start[CTN_DOT_ROWS]; /* -8 times the sum of each row's values */
} DotW4;

/* All pairs from weights to weights_end. */
static void dot_3x2(const DotW4 *dot);

static void sum_rows(DotW4 *dot) {
    const uint32_t ones = 0x00010001u;
    int32_t sum[CTN_DOT_ROWS] = {0};
    for (const uint32_t *a = dot->dot.rows; a < dot->dot.rows_end; a += CTN_DOT_STEP_WORDS)
        for (int i = 0; i < CTN_DOT_ROWS; i++) {
            sum[i] = ctn_smlad(a[2 * i], ones, sum[i]);
            sum[i] = ctn_smlad(a[2 * i + 1], ones, sum[i]);
        }
    for (int i = 0; i < CTN_DOT_ROWS; i++)
        dot->start[i] = -8 * sum[i];
}

static void block(CtnDotDsp *dot, const uint8_t *weights, int32_t columns, int8_t *output) {
    int32_t steps = (int32_t)(dot->rows_end - dot->rows) / CTN_DOT_STEP_WORDS;
    dot->weights = weights;
    dot->weights_end = weights + (columns >> 1) * (CTN_DOT_PAIR_BYTES + 4 * steps);
    dot->output = output;
    if (columns > 1) {
        DotW4 pairs = {.dot = *dot};
        sum_rows(&pairs);
        dot_3x2(&pairs);
    }
    if (columns & 1) {
        dot->weights = dot->weights_end;
        dot->output = output + columns - 1;
        ctn_dot_3x1_dsp(dot);
    }
}

const CtnDotKindDsp ctn_dot_w4_dsp = {block, 4};

#ifdef CTN_EMULATE
/* Both columns' sums of one row. */
static void dot_pair(const CtnDotDsp *dot, int32_t row, const uint32_t *weights, int32_t *whole,
                     int32_t *high) {
    for (const uint32_t *a = dot->rows + 2 * row; a < dot->rows_end; a += CTN_DOT_STEP_WORDS) {
        uint32_t even = ctn_sxtb16(*weights), odd = ctn_sxtb16_odd(*weights);
        weights++;
        *whole = ctn_smlad(a[1], odd, ctn_smlad(a[0], even, *whole));
        *high = ctn_smlad(a[1], odd & ~0x000f000fu, ctn_smlad(a[0], even & ~0x000f000fu, *high));
    }
}

static void dot_3x2(const DotW4 *pairs) {
    const CtnDotDsp *dot = &pairs->dot;
    int32_t steps = (int32_t)(dot->rows_end - dot->rows) / CTN_DOT_STEP_WORDS;
    const uint32_t *w = (const uint32_t *)(const void *)dot->weights;
    for (int8_t *output = dot->output; (const uint8_t *)w != dot->weights_end; output += 2) {
        const uint32_t *end = w + steps;
        for (int32_t row = CTN_DOT_ROWS - 1; row >= 0; row--) {
            int32_t whole = pairs->start[row], high = 0;
            dot_pair(dot, row, w, &whole, &high);
            uint32_t first = end[0] + (((uint32_t)whole - (uint32_t)high) << 4);
            int8_t *to = output + row * dot->output_stride;
            to[0] = ctn_dot_store(dot, (int32_t)first, (int32_t)end[2], end[3] & 0xff);
            to[1] = ctn_dot_store(dot, (int32_t)(end[1] + (uint32_t)high), (int32_t)end[4],
                                  end[3] >> 8 & 0xff);
        }
        w = end + 5;
    }
}
#else
/* clang-format off */
#define PROLOGUE                                                                                   \
    "add r11, r0, #40\n"                                                                           \
    "ldm r11, {r1-r3}\n"                                                                           \
    "push {r1-r3}\n"
#define BEGIN                                                                                      \
    "add lr, sp, #36\n"                                                                            \
    "ldm lr, {r0-r2}\n"                                                                            \
    "ldr lr, " ROWS "\n"                                                                           \
    "mov r3, #0\n"                                                                                 \
    "mov r4, #0\n"                                                                                 \
    "mov r5, #0\n"
#define STEP                                                                                       \
    "ldr r7, [r12], #4\n"                                                                          \
    "sxtb16 r6, r7\n"                                                                              \
    "sxtb16 r7, r7, ror #8\n"                                                                      \
    "bic r8, r6, #0x000f000f\n"                                                                    \
    "bic r9, r7, #0x000f000f\n"                                                                    \
    MULTIPLY("r0", "r3")                                                                           \
    MULTIPLY("r1", "r4")                                                                           \
    MULTIPLY("r2", "r5")
#define END                                                                                        \
    "ldm r12!, {r6, r7}\n"                                                                         \
    "sub r0, r0, r3\n"                                                                             \
    "sub r1, r1, r4\n"                                                                             \
    "sub r2, r2, r5\n"                                                                             \
    "add r0, r6, r0, lsl #4\n"                                                                     \
    "add r1, r6, r1, lsl #4\n"                                                                     \
    "add r2, r6, r2, lsl #4\n"                                                                     \
    "add r3, r7, r3\n"                                                                             \
    "add r4, r7, r4\n"                                                                             \
    "add r5, r7, r5\n"

__attribute__((naked, noinline)) static void dot_3x2(CTN_ARGUMENT const DotW4 *dot) {
    DOT_3X2(PROLOGUE, BEGIN, STEP, END, "48");
}
/* clang-format on */
#endif
#endif
