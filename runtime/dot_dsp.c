/* The matrix block of the DSP level (dot_dsp.h): assembly on the chip, where a compiler would
 * spill, and a twin in plain C that the host runs and QEMU compares. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "dot_code_dsp.h"
#include "word.h"

CtnDotDsp ctn_dot_begin(uint32_t *rows, int32_t steps, int32_t output_zero_point, int32_t clamp_max,
                        const int8_t *table) {
    int32_t skipped = -steps & (CTN_DOT_UNROLL - 1);
    CtnDotDsp dot = {.entry = (uint32_t)skipped * CTN_DOT_STEP_CODE + 1, /* Thumb */
                     .store = table && clamp_max > 127    ? CTN_STORE_TABLE_10
                              : table                     ? CTN_STORE_TABLE
                              : output_zero_point == -128 ? CTN_STORE_S8_RELU
                                                          : CTN_STORE_S8,
                     .weights_end = 0,
                     .rows = rows,
                     .rows_end = rows + steps * CTN_DOT_STEP_WORDS,
                     .zero = 2 * output_zero_point + 1,
                     .output = 0,
                     .output_stride = 0,
                     .table = table ? table + clamp_max + 1 : 0,
                     .weights = 0};
    return dot;
}

int8_t ctn_dot_store(const CtnDotDsp *dot, int32_t sum, int32_t multiplier, uint32_t shift) {
    int32_t rounding = (int32_t)((uint32_t)dot->zero << shift);
    int32_t q = ctn_smmlar(sum, multiplier, rounding);
    if (dot->store != CTN_STORE_S8_RELU)
        q += sum >> 31;
    q = q >> shift >> 1;
    int32_t limit = dot->store == CTN_STORE_TABLE_10 ? 512 : 128;
    q = q < -limit ? -limit : q >= limit ? limit - 1 : q;
    return dot->table ? dot->table[q] : (int8_t)q;
}

void ctn_dot_block(CtnDotDsp *dot, const uint8_t *weights, int32_t columns, int8_t *output) {
    int32_t steps = (int32_t)(dot->rows_end - dot->rows) / CTN_DOT_STEP_WORDS;
    dot->weights = weights;
    dot->weights_end = weights + ctn_dot_stream_bytes(columns & ~1, steps);
    dot->output = output;
    if (columns > 1)
        ctn_dot_3x2_dsp(dot);
    if (columns & 1) {
        dot->weights = dot->weights_end;
        dot->output = output + columns - 1;
        ctn_dot_3x1_dsp(dot);
    }
}

const CtnDotKindDsp ctn_dot_s8_dsp = {ctn_dot_block, 8};

void ctn_expand_fill_dsp(int32_t q, uint32_t *steps, int32_t count) {
    uint32_t pair = (uint32_t)(2 * (q + 128)) * 0x00010001u;
    for (; count > 0; count--, steps += CTN_DOT_STEP_WORDS)
        steps[0] = steps[1] = pair;
}

void ctn_dot_3x1_dsp(const CtnDotDsp *dot) {
    const uint32_t *w = (const uint32_t *)(const void *)dot->weights;
    int32_t s0 = (int32_t)*w++, s1 = s0, s2 = s0;
    for (const uint32_t *row = dot->rows; row < dot->rows_end; row += CTN_DOT_STEP_WORDS) {
        uint32_t even = ctn_sxtb16(*w), odd = ctn_sxtb16_odd(*w);
        w++;
        s0 = ctn_smlad(row[1], odd, ctn_smlad(row[0], even, s0));
        s1 = ctn_smlad(row[3], odd, ctn_smlad(row[2], even, s1));
        s2 = ctn_smlad(row[5], odd, ctn_smlad(row[4], even, s2));
    }
    int32_t multiplier = (int32_t)w[0], stride = dot->output_stride;
    dot->output[2 * stride] = ctn_dot_store(dot, s2, multiplier, w[1]);
    dot->output[stride] = ctn_dot_store(dot, s1, multiplier, w[1]);
    dot->output[0] = ctn_dot_store(dot, s0, multiplier, w[1]);
}

#ifdef CTN_EMULATE
static uint32_t doubled(uint32_t bytes) { /* bytes 0 and 2 */
    return (bytes ^ 0x80808080u) << 1 & 0x01fe01feu;
}

void ctn_expand_dsp(const int8_t *row, uint32_t *steps, int32_t bytes) {
    for (; bytes > 0; bytes -= 4, row += 4, steps += CTN_DOT_STEP_WORDS) {
        uint32_t four = 0;
        for (int32_t i = 0; i < 4 && i < bytes; i++)
            four |= (uint32_t)(uint8_t)row[i] << 8 * i;
        steps[0] = doubled(four);
        steps[1] = doubled(four >> 8);
    }
}

void ctn_expand_three_dsp(const int8_t *first, uint32_t *steps, int32_t words, int32_t shared) {
    for (int i = 0; i < CTN_DOT_ROWS; i++, first += 4 * words)
        ctn_expand_dsp(first, steps + 2 * i, 4 * (2 * words + shared));
}

static int32_t dot_one_s16(const CtnDotDsp *dot, int32_t row, const uint32_t *weights,
                           int32_t sum) {
    for (const uint32_t *a = dot->rows + 2 * row; a < dot->rows_end; a += CTN_DOT_STEP_WORDS) {
        sum = ctn_smlad(a[0], weights[0], sum);
        sum = ctn_smlad(a[1], weights[1], sum);
        weights += 4;
    }
    return sum;
}

static int32_t dot_one(const CtnDotDsp *dot, int32_t row, const uint32_t *weights, int32_t sum) {
    for (const uint32_t *a = dot->rows + 2 * row; a < dot->rows_end; a += CTN_DOT_STEP_WORDS) {
        sum = ctn_smlad(a[0], ctn_sxtb16(*weights), sum);
        sum = ctn_smlad(a[1], ctn_sxtb16_odd(*weights), sum);
        weights += 2;
    }
    return sum;
}

typedef int32_t DotOne(const CtnDotDsp *dot, int32_t row, const uint32_t *weights, int32_t sum);

static void dot_3x2(const CtnDotDsp *dot, DotOne *one, int32_t words) {
    int8_t *output = dot->output;
    int32_t steps = (int32_t)(dot->rows_end - dot->rows) / CTN_DOT_STEP_WORDS;
    const uint32_t *w = (const uint32_t *)(const void *)dot->weights;
    while ((const uint8_t *)w != dot->weights_end) {
        const uint32_t *end = w + 2 + 2 * words * steps;
        for (int32_t column = 0; column < 2; column++, output++)
            for (int32_t row = CTN_DOT_ROWS - 1; row >= 0; row--) {
                int32_t sum = one(dot, row, w + 2 + column * words, (int32_t)w[column]);
                output[row * dot->output_stride] =
                    ctn_dot_store(dot, sum, (int32_t)end[2 * column], end[1] >> 8 * column & 0xff);
            }
        w = end + 3;
    }
}

void ctn_dot_3x2_dsp(const CtnDotDsp *dot) {
    dot_3x2(dot, dot_one, 1);
}

void ctn_dot_3x2_s16_dsp(const CtnDotDsp *dot) {
    dot_3x2(dot, dot_one_s16, 2);
}
#else

/* clang-format off */
/* r0 row, r1 steps, r2 bytes; r3 mask of a byte doubled, r12 the sign bits, r4 and r5 a step */
#define EXPAND_STEP                                                                                \
    "eor r4, r4, r12\n"                                                                            \
    "and r5, r3, r4, lsl #1\n"                                                                     \
    "and r4, r3, r4, lsr #7\n"                                                                     \
    "strd r5, r4, [r1], #24\n"

__attribute__((naked)) void ctn_expand_dsp(CTN_ARGUMENT const int8_t *row, CTN_ARGUMENT uint32_t *steps,
                                           CTN_ARGUMENT int32_t bytes) {
    __asm__("push {r4, r5}\n"
            "mov r12, #0x80808080\n"
            "movw r3, #0x01fe\n"
            "movt r3, #0x01fe\n"
            "subs r2, #16\n"
            "blt 2f\n"
            "1:\n"
            ".rept 4\n"
            "ldr r4, [r0], #4\n"
            EXPAND_STEP
            ".endr\n"
            "subs r2, #16\n"
            "bge 1b\n"
            "2: adds r2, #12\n"
            "blt 4f\n"
            "3: ldr r4, [r0], #4\n"
            EXPAND_STEP
            "subs r2, #4\n"
            "bge 3b\n"
            "4: adds r2, #4\n"
            "beq 5f\n"
            /* one to three bytes more; what stands in for the others meets weights of zero */
            "cmp r2, #2\n"
            "ite lt\n"
            "ldrblt r4, [r0]\n"
            "ldrhge r4, [r0]\n"
            "itt gt\n"
            "ldrbgt r5, [r0, #2]\n"
            "orrgt r4, r4, r5, lsl #16\n"
            EXPAND_STEP
            "5: pop {r4, r5}\n"
            "bx lr\n");
}

/* r0 bytes, r1, r6 and r7 the steps of the three rows, r2 words, r3 shared; r8 words left, r5 mask,
 * r12 sign bits, r4 and r9 a step. Each word is read once and goes to the rows that have it. */
#define FIRST_ROW "strd r9, r4, [r1], #24\n"
#define SECOND_ROW "strd r9, r4, [r6], #24\n"
#define THIRD_ROW "strd r9, r4, [r7], #24\n"
#define SPREAD(rows)                                                                               \
    "8: ldr r4, [r0], #4\n"                                                                        \
    "subs r8, r8, #1\n"                                                                            \
    "eor r4, r4, r12\n"                                                                            \
    "and r9, r5, r4, lsl #1\n"                                                                     \
    "and r4, r5, r4, lsr #7\n"                                                                     \
    rows                                                                                           \
    "bne 8b\n"

__attribute__((naked)) void ctn_expand_three_dsp(CTN_ARGUMENT const int8_t *first,
                                                 CTN_ARGUMENT uint32_t *steps, CTN_ARGUMENT int32_t words,
                                                 CTN_ARGUMENT int32_t shared) {
    __asm__("push {r4-r9}\n"
            "mov r12, #0x80808080\n"
            "movw r5, #0x01fe\n"
            "movt r5, #0x01fe\n"
            "add r6, r1, #8\n"
            "add r7, r1, #16\n"
            "mov r8, r2\n"
            SPREAD(FIRST_ROW)
            "mov r8, r2\n"
            SPREAD(FIRST_ROW SECOND_ROW)
            "movs r8, r3\n"
            "beq 1f\n"
            SPREAD(FIRST_ROW SECOND_ROW THIRD_ROW)
            "1: mov r8, r2\n"
            SPREAD(SECOND_ROW THIRD_ROW)
            "mov r8, r2\n"
            SPREAD(THIRD_ROW)
            "pop {r4-r9}\n"
            "bx lr\n");
}

#define PROLOGUE ""
#define BEGIN                                                                                      \
    "ldm r12!, {r0, r3}\n"                                                                         \
    "ldr lr, " ROWS "\n"                                                                           \
    "mov r1, r0\n"                                                                                 \
    "mov r2, r0\n"                                                                                 \
    "mov r4, r3\n"                                                                                 \
    "mov r5, r3\n"
/* 20 instructions for 24 products. */
#define STEP                                                                                       \
    "ldm r12!, {r7, r9}\n"                                                                         \
    "sxtb16 r6, r7\n"                                                                              \
    "sxtb16 r7, r7, ror #8\n"                                                                      \
    "sxtb16 r8, r9\n"                                                                              \
    "sxtb16 r9, r9, ror #8\n"                                                                      \
    MULTIPLY("r0", "r3")                                                                           \
    MULTIPLY("r1", "r4")                                                                           \
    MULTIPLY("r2", "r5")

#define STEP_S16                                                                                   \
    "ldm r12!, {r6-r9}\n"                                                                          \
    MULTIPLY("r0", "r3")                                                                           \
    MULTIPLY("r1", "r4")                                                                           \
    MULTIPLY("r2", "r5")

__attribute__((naked)) void ctn_dot_3x2_dsp(CTN_ARGUMENT const CtnDotDsp *dot) {
    DOT_3X2(PROLOGUE, BEGIN, STEP, "", "36");
}

__attribute__((naked)) void ctn_dot_3x2_s16_dsp(CTN_ARGUMENT const CtnDotDsp *dot) {
    DOT_3X2(PROLOGUE, BEGIN, STEP_S16, "", "36");
}
/* clang-format on */
#endif
#endif
