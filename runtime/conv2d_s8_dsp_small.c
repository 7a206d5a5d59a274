/* Convolution on DSP cores where code is to be small: pixel by pixel, the window is gathered into
 * one row of expanded activations, which meets two columns at a time. Rows, streams and stores are
 * those of dot_dsp.h, of one row and of windows that are one run. scratch: the row. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dot_dsp.h"
#include "dsp.h"
#include "element.h"
#include "word.h"

enum { STEP_WORDS = 2 };

/* Byte i of a step is half i of the words (b0, b2) and (b1, b3). */
static int32_t place_of(int32_t at) {
    return (at & ~3) | (at & 1) << 1 | (at >> 1 & 1);
}

/* `count` bytes, or as many times q where `from` is null, into a row from byte `at` on. */
static void expand(uint32_t *row, int32_t at, const int8_t *from, int32_t q, int32_t count) {
    if (from && ((at | count) & 3) == 0) {
        for (uint32_t *step = row + at / 2; count > 0; count -= 4, from += 4, step += STEP_WORDS) {
            uint32_t four = ctn_load_word(from) ^ 0x80808080u;
            step[0] = four << 1 & 0x01fe01feu;
            step[1] = four >> 7 & 0x01fe01feu;
        }
        return;
    }
    for (int32_t end = at + count; at < end; at++)
        ((CtnHalf *)row)[place_of(at)] = (CtnHalf)(2 * ((from ? *from++ : q) + 128));
}

/* The window at (y0, x0); `image` begins with the group's first channel. */
__attribute__((noinline)) static void gather(const CtnConv2dS8Args *a, const int8_t *image,
                                             int32_t y0, int32_t x0, uint32_t *row) {
    int32_t depth = a->in_c / a->groups, at = 0;
    for (int32_t ky = 0, y = y0; ky < a->kernel_h; ky++, y += a->dilation_h)
        for (int32_t kx = 0, x = x0; kx < a->kernel_w; kx++, x += a->dilation_w, at += depth) {
            int inside = y >= 0 && y < a->in_h && x >= 0 && x < a->in_w;
            const int8_t *from = inside ? image + (y * a->in_w + x) * a->in_c : 0;
            expand(row, at, from, a->input_zero_point, depth);
        }
}

static int32_t add_step(int32_t sum, const uint32_t *x, uint32_t w) {
    return ctn_smlad(x[1], ctn_sxtb16_odd(w), ctn_smlad(x[0], ctn_sxtb16(w), sum));
}

/* A row times `columns` columns; returns where the next streams begin. Out of line: within other
 * loops a compiler would keep its pointers in memory. */
__attribute__((noinline)) static const uint32_t *multiply(const CtnDotDsp *dot, const uint32_t *w,
                                                          int32_t columns, int8_t *output) {
    const uint32_t *end = dot->rows_end;
    for (; columns > 1; columns -= 2, w += 3) {
        int32_t s0 = (int32_t)w[0], s1 = (int32_t)w[1];
        w += 2;
        for (const uint32_t *x = dot->rows; x != end; x += STEP_WORDS, w += 2) {
            s0 = add_step(s0, x, w[0]);
            s1 = add_step(s1, x, w[1]);
        }
        *output++ = ctn_dot_store(dot, s0, (int32_t)w[0], w[1] & 0xff);
        *output++ = ctn_dot_store(dot, s1, (int32_t)w[2], w[1] >> 8);
    }
    if (columns > 0) {
        int32_t sum = (int32_t)*w++;
        for (const uint32_t *x = dot->rows; x != end; x += STEP_WORDS)
            sum = add_step(sum, x, *w++);
        *output = ctn_dot_store(dot, sum, (int32_t)w[0], w[1]);
        w += 2;
    }
    return w;
}

void ctn_conv2d_s8_dsp_small(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    int32_t depth = a->in_c / a->groups, columns = a->out_c / a->groups;
    int32_t steps = ctn_dot_steps(a->kernel_h * a->kernel_w * depth);
    const int8_t *input = ctn_at(frame, a->input);
    uint32_t *row = ctn_at(frame, a->scratch);
    const uint32_t *weights = ctn_at(frame, a->weights), *next = weights;
    int8_t *output = ctn_at(frame, a->output);
    CtnDotDsp dot =
        ctn_dot_begin(row, steps, a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    dot.rows_end = row + STEP_WORDS * steps;
    for (int32_t group = 0; group < a->groups; group++, weights = next)
        for (int32_t line = 0; line < a->batches * a->out_h; line++) {
            int32_t batch = line / a->out_h, y0 = (line - batch * a->out_h) * a->stride_h;
            const int8_t *image = input + batch * a->in_h * a->in_w * a->in_c + group * depth;
            int8_t *to = output + line * a->out_w * a->out_c + group * columns;
            for (int32_t x = 0; x < a->out_w; x++, to += a->out_c) {
                gather(a, image, y0 - a->pad_top, x * a->stride_w - a->pad_left, row);
                next = multiply(&dot, weights, columns, to);
            }
        }
}
#endif
