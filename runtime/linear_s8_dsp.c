/* Fully connected layer on DSP cores, for one or two rows: four columns at a time straight from the
 * input's bytes. Products of more rows are convolutions of single pixels (packing_dsp.c).
 *
 * weights: for each four columns one stream: four int32 biases with the input's offset folded in;
 * per step, four bytes of depth, the four bytes of each column; four multipliers; their shifts in
 * the bytes of a word. Columns that are left over have a stream each: bias, bytes, multiplier,
 * shift. Sums, shifts and the store are as in dot_dsp.h, but sums are doubled only there. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dsp.h"
#include "word.h"

/* In the order of the assembly's stack: all words. */
typedef struct {
    uint32_t entry; /* into the unrolled loop */
    uint32_t loops;
    uint32_t after; /* the loop: whether there is a last word, filled up */
    uint32_t last;
    uint32_t store;
    const int8_t *input;
    int32_t zero; /* 2 * output zero point + 1 */
    const int8_t *table;
    int8_t *output;
    const uint8_t *weights_end, *weights;
} Row;

enum { UNROLL = 4, STEP_CODE = 80, COLUMNS = 4 };
enum { STORE_S8, STORE_TABLE, STORE_TABLE_10 };

/* Whole columns of four, from weights to weights_end. */
static void row_times_4(const Row *row);

static int8_t store(const Row *row, int32_t sum, int32_t multiplier, uint32_t shift) {
    sum = (int32_t)((uint32_t)sum << 1);
    int32_t q = ctn_smmlar(sum, multiplier, (int32_t)((uint32_t)row->zero << shift)) + (sum >> 31);
    q = q >> shift >> 1;
    int32_t limit = row->store == STORE_TABLE_10 ? 512 : 128;
    q = q < -limit ? -limit : q >= limit ? limit - 1 : q;
    return row->table ? row->table[q] : (int8_t)q;
}

/* Every `step`-th word of weights. */
static int32_t dot(const Row *row, const uint32_t *weights, int step, int32_t steps, int32_t sum) {
    const int8_t *x = row->input;
    for (; steps > 0; steps--, x += 4, weights += step) {
        uint32_t q = ctn_load_word(x);
        sum = ctn_smlad(ctn_sxtb16(q), ctn_sxtb16(*weights), sum);
        sum = ctn_smlad(ctn_sxtb16_odd(q), ctn_sxtb16_odd(*weights), sum);
    }
    if (row->after) {
        sum = ctn_smlad(ctn_sxtb16(row->last), ctn_sxtb16(*weights), sum);
        sum = ctn_smlad(ctn_sxtb16_odd(row->last), ctn_sxtb16_odd(*weights), sum);
    }
    return sum;
}

static void rest(const Row *row, const uint32_t *stream, int32_t depth, int32_t columns,
                 int8_t *output) {
    for (; columns > 0; columns--) {
        const uint32_t *end = stream + 1 + ((depth + 3) >> 2);
        int32_t sum = dot(row, stream + 1, 1, depth >> 2, (int32_t)stream[0]);
        *output++ = store(row, sum, (int32_t)end[0], end[1]);
        stream = end + 2;
    }
}

static Row row_begin(const CtnLinearS8Args *a, const CtnFrame *frame) {
    const int8_t *table = ctn_at(frame, a->table);
    uint32_t steps = (uint32_t)a->depth >> 2, skipped = steps ? -steps & (UNROLL - 1) : UNROLL;
    Row row = {.entry = skipped * STEP_CODE + 1, /* Thumb */
               .loops = steps ? (steps + UNROLL - 1) / UNROLL : 1,
               .after = (a->depth & 3) != 0,
               .store = !table               ? STORE_S8
                        : a->clamp_max > 127 ? STORE_TABLE_10
                                             : STORE_TABLE,
               .zero = 2 * a->output_zero_point + 1,
               .table = table ? table + a->clamp_max + 1 : 0,
               .weights = ctn_at(frame, a->weights)};
    int32_t four_bytes = 36 + 16 * ((a->depth + 3) >> 2);
    row.weights_end = row.weights + a->columns / COLUMNS * four_bytes;
    return row;
}

void ctn_linear_s8_dsp(const CtnLinearS8Args *a, const CtnFrame *frame) {
    Row row = row_begin(a, frame);
    row.input = ctn_at(frame, a->input);
    row.output = ctn_at(frame, a->output);
    int32_t left = a->columns & (COLUMNS - 1), whole = a->columns - left;
    for (int32_t i = 0; i < a->rows; i++) {
        row.last = 0;
        for (int32_t k = a->depth & ~3; k < a->depth; k++)
            row.last |= (uint32_t)(uint8_t)row.input[k] << 8 * (k & 3);
        if (whole > 0)
            row_times_4(&row);
        row.output += whole;
        rest(&row, (const uint32_t *)(const void *)row.weights_end, a->depth, left, row.output);
        row.output += left;
        row.input += a->depth;
    }
}

#ifdef CTN_EMULATE
static void row_times_4(const Row *row) {
    int8_t *output = row->output;
    uint32_t steps = row->loops * UNROLL - row->entry / STEP_CODE;
    const uint32_t *w = (const uint32_t *)(const void *)row->weights;
    while ((const uint8_t *)w != row->weights_end) {
        const uint32_t *end = w + COLUMNS * (1 + steps + row->after);
        for (int c = 0; c < COLUMNS; c++) {
            int32_t sum = dot(row, w + COLUMNS + c, COLUMNS, (int32_t)steps, (int32_t)w[c]);
            *output++ = store(row, sum, (int32_t)end[c], end[COLUMNS] >> 8 * c & 0xff);
        }
        w = end + COLUMNS + 1;
    }
}
#else
#define ARGUMENT __attribute__((unused)) /* used by the assembly, in its register */

/* Where the assembly keeps its Row; the weights pointer is in r12. */
#define ENTRY "[sp, #0]"
#define LOOPS "[sp, #4]"
#define AFTER "[sp, #8]"
#define LAST "[sp, #12]"
#define STORE "[sp, #16]"
#define INPUT "[sp, #20]"
#define ZERO "[sp, #24]"
#define TABLE "[sp, #28]"
#define OUTPUT "[sp, #32]"
#define WEIGHTS_END "[sp, #36]"

/* clang-format off */
/* r0-r3 sums; r4-r7 the columns' bytes; r8 loops left; r10, r11 the row's four, from r9. Then 20
 * instructions for 16 products. */
#define COLUMN(sum, bytes)                                                                         \
    "sxtb16 r9, " bytes "\n"                                                                       \
    "smlad " sum ", r10, r9, " sum "\n"                                                            \
    "sxtb16 " bytes ", " bytes ", ror #8\n"                                                        \
    "smlad " sum ", r11, " bytes ", " sum "\n"
#define STEP                                                                                       \
    "sxtb16 r10, r9\n"                                                                             \
    "sxtb16 r11, r9, ror #8\n"                                                                     \
    "ldm r12!, {r4-r7}\n"                                                                          \
    COLUMN("r0", "r4")                                                                             \
    COLUMN("r1", "r5")                                                                             \
    COLUMN("r2", "r6")                                                                             \
    COLUMN("r3", "r7")

/* r4-r7 multipliers, r8 shifts, r9 ZERO, r10 output, r11 C or the table, lr a result. */
#define LOOK_UP                                                                                    \
    "ldr r11, " TABLE "\n"                                                                         \
    "ldrb lr, [r11, lr]\n"
#define RESULT(sum, multiplier, bits, map)                                                         \
    "lsl r11, r9, r8\n"                                                                            \
    "lsl " sum ", " sum ", #1\n"                                                                   \
    "smmlar lr, " sum ", " multiplier ", r11\n"                                                    \
    "add lr, lr, " sum ", asr #31\n"                                                               \
    "asr lr, lr, r8\n"                                                                             \
    "ssat lr, #" bits ", lr, asr #1\n"                                                             \
    map                                                                                            \
    "strb lr, [r10], #1\n"
#define NEXT "lsr r8, r8, #8\n"
#define RESULTS(bits, map)                                                                         \
    "ldm r12!, {r4-r8}\n"                                                                          \
    "ldr r9, " ZERO "\n"                                                                           \
    "ldr r10, " OUTPUT "\n"                                                                        \
    RESULT("r0", "r4", bits, map)                                                                  \
    NEXT                                                                                           \
    RESULT("r1", "r5", bits, map)                                                                  \
    NEXT                                                                                           \
    RESULT("r2", "r6", bits, map)                                                                  \
    NEXT                                                                                           \
    RESULT("r3", "r7", bits, map)                                                                  \
    "str r10, " OUTPUT "\n"                                                                        \
    "ldr r6, " WEIGHTS_END "\n"                                                                    \
    "cmp r12, r6\n"                                                                                \
    "bne.w 1b\n"                                                                                   \
    "add sp, #40\n"                                                                                \
    "pop {r4-r11, pc}\n"

__attribute__((naked, noinline)) static void row_times_4(ARGUMENT const Row *row) {
    __asm__("push {r4-r11, lr}\n"
            "ldm r0!, {r1-r5}\n"
            "ldm r0, {r6-r11}\n"
            "mov r12, r11\n"
            "adr.w r11, 2f\n"
            "add r1, r1, r11\n"
            "adr.w r11, 7f\n"
            "add r5, r5, #2\n"
            "ldr r5, [r11, r5, lsl #2]\n"
            "add r5, r5, r11\n"
            /* after the loop: the last word, or the store at once */
            "cmp r3, #0\n"
            "ldr r3, [r11, r3, lsl #2]\n"
            "add r3, r3, r11\n"
            "it eq\n"
            "moveq r3, r5\n"
            "push {r1-r10}\n"
            "1: ldm r12!, {r0-r3}\n"
            "ldr r8, " LOOPS "\n"
            "ldr lr, " INPUT "\n"
            "ldr pc, " ENTRY "\n"
            ".balign 4\n"
            "2:\n"
            ".rept 4\n"
            "ldr r9, [lr], #4\n"
            STEP
            ".endr\n"
            "subs.w r8, r8, #1\n"
            "bne.w 2b\n"
            "ldr pc, " AFTER "\n"
            "3: ldr r9, " LAST "\n"
            STEP
            "ldr pc, " STORE "\n"
            "4:\n" RESULTS("8", "")
            "5:\n" RESULTS("8", LOOK_UP)
            "6:\n" RESULTS("10", LOOK_UP)
            ".balign 4\n"
            "7: .word 0, 3b - 7b + 1, 4b - 7b + 1, 5b - 7b + 1, 6b - 7b + 1\n");
}
/* clang-format on */
#endif
#endif
