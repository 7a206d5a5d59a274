/* Depthwise convolution on DSP cores, four channels at a time. The lines under the kernel are kept
 * in scratch as columns: for each position of a line, the kernel_h values of four channels, each
 * the int16 2 * (q + 128), as the words (c0, c2) and (c1, c3). So the window of an output pixel is
 * one run of kernel_w * kernel_h entries; from line to line the columns move up by the stride.
 * Padding is the input's zero point, and dilated images (of stride 1) are taken apart into images
 * that are not.
 *
 * weights: for each four channels (the last four may overlap those before) four doubled biases with
 * the input's offset folded in, four multipliers, their shifts in the bytes of a word, and four
 * bytes per tap, column by column. Sums, shifts and the store are those of dot_dsp.h. scratch: one
 * Block, then the columns. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dsp.h"
#include "loop.h"
#include "word.h"

enum { CHANNELS = 4, STREAM_WORDS = 9, BLOCK_WORDS = 16, UNROLL = 9, TAP_CODE = 24 };
enum { STORE_S8, STORE_S8_RELU, STORE_TABLE, STORE_TABLE_10 };

/* Are pairs of pixels worth their 1.3 KB? */
#ifdef __OPTIMIZE_SIZE__
enum { PAIRED = 0 };
#else
enum { PAIRED = 1 };
#endif

/* A line of output pixels, in the order of the assembly's stack: all words. */
typedef struct {
    uint32_t entry; /* into the unrolled taps */
    uint32_t loops;
    uint32_t store;
    int32_t pitch;       /* bytes of columns from pixel to pixel */
    int32_t output_step; /* from pixel to pixel */
    const int8_t *table; /* at the entry of result 0 */
    const int8_t *output_end;
    const uint32_t *block;
    const uint32_t *columns;
    int8_t *output;
} Line;

typedef struct {
    const CtnDepthwiseConv2dS8Args *a;
    uint32_t *columns;
    const int8_t *image; /* its first of the four channels */
    int8_t padding[CHANNELS];
    int32_t offset[CHANNELS];
    int32_t slots, positions; /* of a column; columns */
    CtnSpan inside;           /* the positions that are in the image ... */
    int32_t x, step;          /* ... from x on, `step` bytes apart */
} Source;

/* block: biases, taps as int16 like the columns, then multiplier, C and shift of each channel. */
static void line_of_pixels(const Line *line);
/* Kernels of 3x3 and stride 1: pairs of pixels, an even number. */
static void line_of_pairs(const Line *line);
/* push_line for three slots. */
static void push_line_3(uint32_t *column, const int8_t *from, int32_t count, int32_t step);

/* ---- columns ------------------------------------------------------------------------------- */

/* Each column moves up by one slot; the last takes four bytes of a line, `step` from position to
 * position. */
__attribute__((noinline)) static void push_line(uint32_t *column, const int8_t *from, int32_t count,
                                                int32_t step, int32_t slots) {
    for (; count > 0; count--, from += step, column += 2) {
        for (int32_t slot = 1; slot < slots; slot++, column += 2) {
            column[0] = column[2];
            column[1] = column[3];
        }
        uint32_t bytes = ctn_load_word(from) ^ 0x80808080u;
        column[0] = bytes << 1 & 0x01fe01feu;
        column[1] = bytes >> 7 & 0x01fe01feu;
    }
}

/* Outputs that share an input: each position's four bytes are put together first. */
__attribute__((noinline)) static void push_shared(const Source *s, uint32_t *column,
                                                  const int8_t *from) {
    for (int32_t i = s->inside.first; i < s->inside.end; i++, from += s->step) {
        int8_t four[CHANNELS];
        for (int c = 0; c < CHANNELS; c++)
            four[c] = from[s->offset[c]];
        push_line(column, four, 1, 0, s->slots);
        column += 2 * s->slots;
    }
}

/* Line y of the image, or padding, which only those positions have to be told that ever see the
 * image. */
__attribute__((noinline)) static void push(const Source *s, int32_t y) {
    const CtnDepthwiseConv2dS8Args *a = s->a;
    uint32_t *column = s->columns + s->inside.first * 2 * s->slots;
    int32_t count = s->inside.end - s->inside.first;
    if (y < 0 || y >= a->in_h) {
        push_line(column, s->padding, count, 0, s->slots);
        return;
    }
    const int8_t *from = s->image + (y * a->in_w + s->x) * a->in_c;
    if (s->offset[CHANNELS - 1] != CHANNELS - 1)
        push_shared(s, column, from);
    else if (s->slots == 3)
        push_line_3(column, from, count, s->step);
    else
        push_line(column, from, count, s->step, s->slots);
}

__attribute__((noinline)) static void pad_columns(const Source *s) {
    uint32_t pair = (uint32_t)(2 * (s->a->input_zero_point + 128)) * 0x00010001u;
    uint32_t *column = s->columns;
    for (int32_t i = s->positions * 2 * s->slots; i > 0; i--)
        *column++ = pair;
}

/* ---- four channels ------------------------------------------------------------------------- */

/* The block of four channels from their stream: `taps` words of weights. */
__attribute__((noinline)) static void fill_block(uint32_t *block, const uint32_t *stream,
                                                 int32_t taps, int32_t zero) {
    const uint32_t *multiplier = stream + CHANNELS, *w = stream + STREAM_WORDS;
    uint32_t shifts = stream[2 * CHANNELS];
    for (int c = 0; c < CHANNELS; c++)
        *block++ = stream[c];
    for (; taps > 0; taps--, block += 2) {
        block[0] = ctn_sxtb16(*w);
        block[1] = ctn_sxtb16_odd(*w++);
    }
    for (int c = 0; c < CHANNELS; c++, shifts >>= 8) {
        *block++ = multiplier[c];
        *block++ = (uint32_t)zero << (shifts & 0xff);
        *block++ = shifts & 0xff;
    }
}

__attribute__((noinline)) static void run_line(const CtnDepthwiseConv2dS8Args *a, Line *line,
                                               int32_t count) {
    int three = a->kernel_h == 3 && a->kernel_w == 3 && a->stride_w == 1;
    int32_t pairs = PAIRED && three ? count & ~1 : 0;
    if (pairs > 0) {
        line->output_end = line->output + pairs * line->output_step;
        line_of_pairs(line);
        line->columns += pairs * line->pitch / 4;
        line->output += pairs * line->output_step;
    }
    if (pairs < count) {
        line->output_end = line->output + (count - pairs) * line->output_step;
        line_of_pixels(line);
    }
}

/* All lines of output pixels of four channels, from `output` on; y is the first line's first tap.
 */
__attribute__((noinline)) static void run_channels(const Source *s, Line *line, int8_t *output,
                                                   int32_t y, int32_t lines, int32_t count) {
    const CtnDepthwiseConv2dS8Args *a = s->a;
    int32_t fresh = a->stride_h < a->kernel_h ? a->stride_h : a->kernel_h; /* lines to push */
    int32_t next = y + a->kernel_h * a->dilation_h;
    for (int32_t i = a->kernel_h; i > 0; i--)
        push(s, next - i * a->dilation_h);
    for (;;) {
        line->columns = s->columns;
        line->output = output;
        run_line(a, line, count);
        if (--lines == 0)
            return;
        output += a->dilation_h * a->out_w * a->out_c;
        next += a->stride_h * a->dilation_h;
        for (int32_t i = fresh; i > 0; i--)
            push(s, next - i * a->dilation_h);
    }
}

/* The first of four channels, in the output, and where they are in the input. */
static void choose_channels(Source *s, const int8_t *image, int32_t first) {
    int32_t per_input = s->a->out_c / s->a->in_c;
    s->image = image + first;
    if (per_input == 1)
        return;
    s->image = image + first / per_input;
    for (int k = 0; k < CHANNELS; k++)
        s->offset[k] = (first + k) / per_input - first / per_input;
}

/* The places (row, column) + i * dilation of the output: an image without gaps. The columns that
 * are padding for all of its lines are so for all channels. */
static void run_lane(Source *s, Line *line, const int8_t *image, int8_t *output,
                     const uint32_t *stream, int32_t row, int32_t column) {
    const CtnDepthwiseConv2dS8Args *a = s->a;
    int32_t lines = (a->out_h - row - 1) / a->dilation_h + 1;
    int32_t count = (a->out_w - column - 1) / a->dilation_w + 1;
    int32_t taps = a->kernel_h * a->kernel_w;
    uint32_t *block = s->columns - BLOCK_WORDS - 2 * taps;
    s->positions = (count - 1) * a->stride_w + a->kernel_w;
    s->inside = ctn_span(column - a->pad_left, a->dilation_w, s->positions, a->in_w);
    s->x = column - a->pad_left + s->inside.first * a->dilation_w;
    pad_columns(s);
    output += (row * a->out_w + column) * a->out_c;
    for (int32_t c = 0; c < a->out_c; c += CHANNELS, stream += STREAM_WORDS + taps) {
        int32_t first = c > a->out_c - CHANNELS ? a->out_c - CHANNELS : c;
        fill_block(block, stream, taps, 2 * a->output_zero_point + 1);
        choose_channels(s, image, first);
        run_channels(s, line, output + first, row * a->stride_h - a->pad_top, lines, count);
    }
}

void ctn_depthwise_conv2d_s8_dsp(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    int32_t taps = a->kernel_h * a->kernel_w;
    const int8_t *image = ctn_at(frame, a->input), *table = ctn_at(frame, a->table);
    const uint32_t *stream = ctn_at(frame, a->weights);
    uint32_t *block = ctn_at(frame, a->scratch);
    int8_t *output = ctn_at(frame, a->output);
    Source s = {.a = a,
                .columns = block + BLOCK_WORDS + 2 * taps,
                .offset = {0, 1, 2, 3},
                .slots = a->kernel_h,
                .step = a->dilation_w * a->in_c};
    ctn_store_word(s.padding, (uint8_t)a->input_zero_point * 0x01010101u);
    Line line = {.entry = (uint32_t)((UNROLL - taps % UNROLL) % UNROLL) * TAP_CODE + 1, /* Thumb */
                 .loops = (uint32_t)((taps + UNROLL - 1) / UNROLL),
                 .store = table && a->clamp_max > 127    ? STORE_TABLE_10
                          : table                        ? STORE_TABLE
                          : a->output_zero_point == -128 ? STORE_S8_RELU
                                                         : STORE_S8,
                 .pitch = 8 * a->kernel_h * a->stride_w,
                 .output_step = a->out_c * a->dilation_w,
                 .table = table ? table + a->clamp_max + 1 : 0,
                 .block = block};
    for (int32_t b = 0; b < a->batches; b++) {
        for (int32_t row = 0; row < a->dilation_h && row < a->out_h; row++)
            for (int32_t column = 0; column < a->dilation_w && column < a->out_w; column++)
                run_lane(&s, &line, image, output, stream, row, column);
        image += a->in_h * a->in_w * a->in_c;
        output += a->out_h * a->out_w * a->out_c;
    }
}

/* ---- pixels -------------------------------------------------------------------------------- */

#ifdef CTN_EMULATE
static int8_t store(const Line *line, int32_t sum, const uint32_t *factor) {
    int32_t q = ctn_smmlar(sum, (int32_t)factor[0], (int32_t)factor[1]);
    if (line->store != STORE_S8_RELU)
        q += sum >> 31;
    q = q >> factor[2] >> 1;
    int32_t limit = line->store == STORE_TABLE_10 ? 512 : 128;
    q = q < -limit ? -limit : q >= limit ? limit - 1 : q;
    return line->table ? line->table[q] : (int8_t)q;
}

static void line_of_pixels(const Line *line) {
    int32_t taps = (int32_t)(line->loops * UNROLL - line->entry / TAP_CODE);
    const uint32_t *x = line->columns, *factor = line->block + CHANNELS + 2 * taps;
    for (int8_t *out = line->output; out != line->output_end; out += line->output_step) {
        for (int c = 0; c < CHANNELS; c++) { /* word c & 1, half c >> 1 */
            const uint32_t *w = line->block + CHANNELS;
            uint32_t sum = line->block[c];
            for (int32_t k = c & 1; k < 2 * taps; k += 2)
                sum += (uint32_t)((int16_t)(x[k] >> 8 * (c & 2)) * (int16_t)(w[k] >> 8 * (c & 2)));
            out[c] = store(line, (int32_t)sum, factor + 3 * c);
        }
        x += line->pitch / 4;
    }
}

static void line_of_pairs(const Line *line) {
    line_of_pixels(line);
}

static void push_line_3(uint32_t *column, const int8_t *from, int32_t count, int32_t step) {
    push_line(column, from, count, step, 3);
}

#else
#define ARGUMENT __attribute__((unused)) /* used by the assembly, in its register */

/* r0 column, r1 the line, r2 positions, r3 step; r5 mask of a byte doubled, r12 the sign bits;
 * r6-r11 the column as it shall be. */
#define PUSH                                                                                       \
    "ldr r4, [r1]\n"                                                                               \
    "ldrd r6, r7, [r0, #8]\n"                                                                      \
    "add r1, r1, r3\n"                                                                             \
    "eor r4, r4, r12\n"                                                                            \
    "ldrd r8, r9, [r0, #16]\n"                                                                     \
    "and r10, r5, r4, lsl #1\n"                                                                    \
    "and r11, r5, r4, lsr #7\n"                                                                    \
    "stm r0!, {r6-r11}\n"

__attribute__((naked, noinline)) static void push_line_3(ARGUMENT uint32_t *column,
                                                         ARGUMENT const int8_t *from,
                                                         ARGUMENT int32_t count,
                                                         ARGUMENT int32_t step) {
    __asm__("push {r4-r11}\n"
            "mov r12, #0x80808080\n"
            "movw r5, #0x01fe\n"
            "movt r5, #0x01fe\n"
            "subs r2, r2, #2\n"
            "blt 2f\n"
            "1:\n" PUSH PUSH "subs r2, r2, #2\n"
            "bge 1b\n"
            "2: adds r2, r2, #2\n"
            "beq 3f\n" PUSH "3: pop {r4-r11}\n"
            "bx lr\n");
}

/* Where the assembly keeps its Line. */
#define ENTRY "[sp, #0]"
#define LOOPS "[sp, #4]"
#define STORE "[sp, #8]"
#define PITCH "[sp, #12]"
#define OUTPUT_STEP "[sp, #16]"
#define TABLE "[sp, #20]"
#define OUTPUT_END "[sp, #24]"
#define BLOCK "[sp, #28]"
#define COLUMNS "[sp, #32]"
#define OUTPUT "[sp, #36]"

/* clang-format off */
#define SIGN(result, sum) "add " result ", " result ", " sum ", asr #31\n"
#define NO_SIGN(result, sum) ""
#define SATURATE(result, table) "ssat " result ", #8, " result ", asr #1\n"
/* To 10 bits, or to 8 where the flags say equal. */
#define LOOK_UP(result, table)                                                                     \
    "ssat " result ", #10, " result ", asr #1\n"                                                   \
    "ldr " table ", " TABLE "\n"                                                                   \
    "it eq\n"                                                                                      \
    "ssateq " result ", #8, " result "\n"                                                          \
    "ldrb " result ", [" table ", " result "]\n"
#define MULTIPLY(sum0, sum1, sum2, sum3, x0, x1, w0, w1)                                           \
    "smlabb " sum0 ", " x0 ", " w0 ", " sum0 "\n"                                                  \
    "smlatt " sum2 ", " x0 ", " w0 ", " sum2 "\n"                                                  \
    "smlabb " sum1 ", " x1 ", " w1 ", " sum1 "\n"                                                  \
    "smlatt " sum3 ", " x1 ", " w1 ", " sum3 "\n"
#define REQUANTIZE(result, sum, multiplier, c, shift, sign)                                        \
    "smmlar " result ", " sum ", " multiplier ", " c "\n"                                          \
    sign(result, sum)                                                                              \
    "asr " result ", " result ", " shift "\n"

/* The Line onto the stack, with addresses of code for entry and store. */
#define ENTER                                                                                      \
    "push {r4-r11, lr}\n"                                                                          \
    "ldm r0, {r1-r10}\n"                                                                           \
    "adr.w r11, 2f\n"                                                                              \
    "add r1, r1, r11\n"                                                                            \
    "adr.w r12, 7f\n"                                                                              \
    "ldr r3, [r12, r3, lsl #2]\n"                                                                  \
    "add r3, r3, r12\n"                                                                            \
    "push {r1-r10}\n"
#define LEAVE                                                                                      \
    "add sp, #40\n"                                                                                \
    "pop {r4-r11, pc}\n"
/* In the order of the stores' names; `relu` is the label of the second. */
#define STORES(store, relu)                                                                        \
    "3:\n" store(SIGN, SATURATE)                                                                   \
    "5: cmp r0, r0\n"                                                                              \
    "b 8f\n"                                                                                       \
    "6: cmp sp, #0\n"                                                                              \
    "8:\n" store(SIGN, LOOK_UP)                                                                    \
    ".balign 4\n"                                                                                  \
    "7: .word 3b - 7b + 1, " relu " - 7b + 1, 5b - 7b + 1, 6b - 7b + 1\n"

/* One pixel: r0-r3 sums, r4 and r5 a tap's values, r6 and r7 its weights, r8 the window, r9 the
 * block, both walking; r10 the next window, r11 output, lr loops left. Then r4 a result, r5 its
 * multiplier, r6 C, r7 the shift, r12 the table. */
#define TAP                                                                                        \
    "ldrd r4, r5, [r8], #8\n"                                                                      \
    "ldrd r6, r7, [r9], #8\n"                                                                      \
    MULTIPLY("r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7")
#define PIXEL_RESULT(sum, place, sign, finish)                                                  \
    "ldm r9!, {r5-r7}\n"                                                                           \
    REQUANTIZE("r4", sum, "r5", "r6", "r7", sign)                                            \
    finish("r4", "r12")                                                                            \
    "strb r4, [r11, #" place "]\n"
#define PIXEL_STORE(sign, finish)                                                               \
    PIXEL_RESULT("r0", "0", sign, finish)                                                       \
    PIXEL_RESULT("r1", "1", sign, finish)                                                       \
    PIXEL_RESULT("r2", "2", sign, finish)                                                       \
    PIXEL_RESULT("r3", "3", sign, finish)                                                       \
    "ldr r4, " OUTPUT_STEP "\n"                                                                    \
    "ldr r5, " OUTPUT_END "\n"                                                                     \
    "add r11, r11, r4\n"                                                                           \
    "cmp r11, r5\n"                                                                                \
    "bne.w 1b\n"                                                                                   \
    LEAVE

__attribute__((naked, noinline)) static void line_of_pixels(ARGUMENT const Line *line) {
    __asm__(ENTER
            "ldr r10, " COLUMNS "\n"
            "ldr r11, " OUTPUT "\n"
            "1: ldr r9, " BLOCK "\n"
            "ldr r4, " PITCH "\n"
            "ldr lr, " LOOPS "\n"
            "mov r8, r10\n"
            "add r10, r10, r4\n"
            "ldm r9!, {r0-r3}\n"
            "ldr pc, " ENTRY "\n"
            ".balign 4\n"
            "2:\n"
            ".rept 9\n"
            TAP
            ".endr\n"
            "subs.w lr, lr, #1\n"
            "bne.w 2b\n"
            "ldr pc, " STORE "\n"
            STORES(PIXEL_STORE, "3b"));
}

/* Two pixels: r0-r3 and r4-r7 sums, r8 and r9 values, r10 and r11 weights, r12 the block, lr the
 * columns. Each column is read once and meets one tap of each pixel. Then r8 walks through the
 * factors (r9 multiplier, r10 C, r11 shift); r12 is a result of the first pixel, stored at once;
 * those of the second replace the sums of the first. lr is the output. */
#define VALUES(column, slot) "ldrd r8, r9, [lr, #24 * " column " + 8 * " slot "]\n"
#define WEIGHTS(column, slot) "ldrd r10, r11, [r12, #16 + 24 * " column " + 8 * " slot "]\n"
#define FIRST MULTIPLY("r0", "r1", "r2", "r3", "r8", "r9", "r10", "r11")
#define SECOND MULTIPLY("r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11")
#define SLOT(slot)                                                                                 \
    VALUES("0", slot) WEIGHTS("0", slot) FIRST                                                     \
    VALUES("1", slot) SECOND WEIGHTS("1", slot) FIRST                                              \
    VALUES("2", slot) SECOND WEIGHTS("2", slot) FIRST                                              \
    VALUES("3", slot) SECOND
#define PAIR_RESULT(sum0, sum1, place, sign, finish)                                            \
    "ldm r8!, {r9-r11}\n"                                                                          \
    REQUANTIZE("r12", sum0, "r9", "r10", "r11", sign)                                        \
    finish("r12", sum0)                                                                            \
    "strb r12, [lr, #" place "]\n"                                                                 \
    REQUANTIZE(sum0, sum1, "r9", "r10", "r11", sign)                                         \
    finish(sum0, sum1)
#define PAIR_STORE(sign, finish)                                                                \
    PAIR_RESULT("r0", "r4", "0", sign, finish)                                                  \
    PAIR_RESULT("r1", "r5", "1", sign, finish)                                                  \
    PAIR_RESULT("r2", "r6", "2", sign, finish)                                                  \
    PAIR_RESULT("r3", "r7", "3", sign, finish)                                                  \
    "ldr r8, " OUTPUT_STEP "\n"                                                                    \
    "ldr r9, " OUTPUT_END "\n"                                                                     \
    "add lr, lr, r8\n"                                                                             \
    "strb r0, [lr]\n"                                                                              \
    "strb r1, [lr, #1]\n"                                                                          \
    "strb r2, [lr, #2]\n"                                                                          \
    "strb r3, [lr, #3]\n"                                                                          \
    "add lr, lr, r8\n"                                                                             \
    "str lr, " OUTPUT "\n"                                                                         \
    "cmp lr, r9\n"                                                                                 \
    "bne.w 1b\n"                                                                                   \
    LEAVE

__attribute__((naked, noinline)) static void line_of_pairs(ARGUMENT const Line *line) {
    __asm__(ENTER
            "1: ldr r12, " BLOCK "\n"
            "2: ldr lr, " COLUMNS "\n"
            "ldm r12, {r0-r3}\n"
            "ldm r12, {r4-r7}\n"
            SLOT("0")
            SLOT("1")
            SLOT("2")
            "add lr, lr, #48\n"
            "str lr, " COLUMNS "\n"
            "add r8, r12, #16 + 72\n"
            "ldr lr, " OUTPUT "\n"
            "ldr pc, " STORE "\n"
            "4:\n" PAIR_STORE(NO_SIGN, SATURATE)
            STORES(PAIR_STORE, "4b"));
}
/* clang-format on */
#endif
#endif
