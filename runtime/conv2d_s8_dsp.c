/* Convolution on DSP cores: three output pixels at a time are gathered into rows of expanded
 * activations and multiplied with all columns (dot_dsp.h). Padding is gathered as the input's zero
 * point, so that the offset folded into the bias holds for every pixel.
 *
 * weights: the streams of all output channels, group by group. What a row is made of (conv_dsp.h):
 * runs of bytes that lie side by side in the image, each padded to whole steps; short runs are
 * first joined to one. scratch: the rows, then three joined rows of bytes if there are any, then a
 * line of bytes for borders. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "conv2d_s8_dsp.h"
#include "conv_dsp.h"
#include "fix.h"
#include "word.h"

typedef struct {
    const CtnConv2dS8Args *a;
    const CtnDotKindDsp *kind;
    CtnConvCut cut;
    const int8_t *image; /* its first channel of the group */
    uint32_t *rows;
    int8_t *bytes, *padded;
    int32_t run_steps;     /* of a run in the rows */
    int shares;            /* neighbours' runs overlap by whole steps */
    CtnResidual *residual; /* or NULL */
} Gather;

/* Neighbouring pixels of the output: in the image, their first tap. */
typedef struct {
    const int8_t *image;
    int32_t y, x, count;
    uint32_t *steps; /* of the first */
} Pixels;

/* Bytes are few: the loops stay out of line, or they would be copied to each caller. */
__attribute__((noinline)) static void copy_bytes(int8_t *to, const int8_t *from, int32_t count) {
    if (count < 4) {
        for (; count > 0; count--)
            *to++ = *from++;
        return;
    }
    for (count -= 4; count > 0; count -= 4, to += 4, from += 4)
        ctn_store_word(to, ctn_load_word(from));
    ctn_store_word(to + count, ctn_load_word(from + count)); /* up to the last byte */
}

__attribute__((noinline)) static void fill_bytes(int8_t *to, int32_t q, int32_t count) {
    for (; count >= 4; count -= 4, to += 4)
        ctn_store_word(to, (uint8_t)q * 0x01010101u);
    for (; count > 0; count--)
        *to++ = (int8_t)q;
}

/* `count` positions of a line of the image from x on, as bytes side by side; null is a line of
 * padding. */
__attribute__((noinline)) static const int8_t *positions(const Gather *g, const int8_t *line,
                                                         int32_t x, int32_t count) {
    const CtnConv2dS8Args *a = g->a;
    if (line && x >= 0 && x + count <= a->in_w)
        return line + x * a->in_c;
    int32_t before = line ? ctn_clamp(-x, 0, count) : count;
    int32_t inside = ctn_clamp(a->in_w - x - before, 0, count - before);
    int8_t *to = g->padded;
    fill_bytes(to, a->input_zero_point, before * a->in_c);
    to += before * a->in_c;
    if (inside > 0)
        copy_bytes(to, line + (x + before) * a->in_c, inside * a->in_c);
    to += inside * a->in_c;
    fill_bytes(to, a->input_zero_point, (count - before - inside) * a->in_c);
    return g->padded;
}

/* ---- one line of the kernel ---------------------------------------------------------------- */

static void expand_line(const Gather *g, const Pixels *p, const int8_t *line, uint32_t *steps) {
    const CtnConv2dS8Args *a = g->a;
    for (int32_t i = 0; i < p->count; i++, steps += 2)
        ctn_expand_dsp(positions(g, line, p->x + i * a->stride_w, a->kernel_w), steps, g->cut.run);
}

/* As the bytes of each pixel's row. */
static void join_line(const Gather *g, const Pixels *p, const int8_t *line, int8_t *to) {
    const CtnConv2dS8Args *a = g->a;
    for (int32_t i = 0; i < p->count; i++, to += g->cut.run)
        copy_bytes(to, positions(g, line, p->x + i * a->stride_w, a->kernel_w),
                   a->kernel_w * a->in_c);
}

/* Three pixels of which each word is read once. */
static void share_line(const Gather *g, const Pixels *p, const int8_t *line, uint32_t *steps) {
    const CtnConv2dS8Args *a = g->a;
    int32_t words = a->in_c >> 2;
    ctn_expand_three_dsp(positions(g, line, p->x, a->kernel_w + CTN_DOT_ROWS - 1), steps, words,
                         (a->kernel_w - 2) * words);
}

/* Tap by tap. */
__attribute__((noinline)) static void expand_taps(const Gather *g, const Pixels *p,
                                                  const int8_t *line, uint32_t *steps) {
    const CtnConv2dS8Args *a = g->a;
    for (int32_t i = 0; i < p->count; i++, steps += 2) {
        int32_t x = p->x + i * a->stride_w;
        uint32_t *to = steps;
        for (int32_t kx = 0; kx < a->kernel_w; kx++, x += a->dilation_w) {
            if (line && x >= 0 && x < a->in_w)
                ctn_expand_dsp(line + x * a->in_c, to, g->cut.run);
            else
                ctn_expand_fill_dsp(a->input_zero_point, to, g->run_steps);
            to += g->run_steps * CTN_DOT_STEP_WORDS;
        }
    }
}

/* ---- rows ---------------------------------------------------------------------------------- */

__attribute__((noinline)) static void gather_pixels(const Gather *g, const Pixels *p) {
    const CtnConv2dS8Args *a = g->a;
    int32_t pitch = a->in_w * a->in_c, y = p->y;
    int32_t line_steps = g->run_steps * (g->cut.taps ? a->kernel_w : 1) * CTN_DOT_STEP_WORDS;
    uint32_t *steps = p->steps;
    int8_t *bytes = g->bytes;
    for (int32_t ky = 0; ky < a->kernel_h; ky++, y += a->dilation_h, steps += line_steps) {
        const int8_t *line = y >= 0 && y < a->in_h ? p->image + y * pitch : 0;
        if (g->cut.joined) {
            join_line(g, p, line, bytes);
            bytes += a->kernel_w * a->in_c;
        } else if (g->cut.taps) {
            expand_taps(g, p, line, steps);
        } else if (g->shares && p->count == CTN_DOT_ROWS) {
            share_line(g, p, line, steps);
        } else {
            expand_line(g, p, line, steps);
        }
    }
    if (g->cut.joined)
        for (int32_t i = 0; i < p->count; i++)
            ctn_expand_dsp(g->bytes + i * g->cut.run, p->steps + 2 * i, g->cut.run);
}

/* Where one pixel is one run of all channels, and pixels follow each other in the image. */
static int is_matrix(const CtnConv2dS8Args *a) {
    return a->kernel_h * a->kernel_w == 1 && a->stride_h * a->stride_w == 1 && a->groups == 1 &&
           a->out_h == a->in_h && a->out_w == a->in_w;
}

/* `count` pixels from `pixel` on, line by line of the output. */
static void gather(const Gather *g, int32_t pixel, int32_t count) {
    const CtnConv2dS8Args *a = g->a;
    if (is_matrix(a)) {
        const int8_t *row = g->image + pixel * g->cut.run;
        for (int32_t i = 0; i < count; i++, row += g->cut.run)
            ctn_expand_dsp(row, g->rows + 2 * i, g->cut.run);
        return;
    }
    int32_t line = pixel / a->out_w, ox = pixel - line * a->out_w;
    Pixels p = {.steps = g->rows};
    for (; count > 0; count -= p.count, line++, ox = 0) {
        int32_t batch = line / a->out_h;
        p.image = g->image + batch * a->in_h * a->in_w * a->in_c;
        p.y = (line - batch * a->out_h) * a->stride_h - a->pad_top;
        p.x = ox * a->stride_w - a->pad_left;
        p.count = a->out_w - ox < count ? a->out_w - ox : count;
        gather_pixels(g, &p);
        p.steps += 2 * p.count;
    }
}

/* All pixels of one group. A last block of fewer than three pixels starts earlier, and writes the
 * same results again; an image of one or two pixels goes one by one. */
static void convolve(const Gather *g, CtnDotDsp *dot, const uint8_t *weights, int8_t *output) {
    const CtnConv2dS8Args *a = g->a;
    CtnResidual *r = g->residual;
    int32_t columns = a->out_c / a->groups, pixels = a->batches * a->out_h * a->out_w;
    int32_t block = pixels < CTN_DOT_ROWS ? 1 : CTN_DOT_ROWS;
    dot->output_stride = block == 1 ? 0 : a->out_c;
    for (int32_t pixel = 0; pixel < pixels; pixel += block) {
        int32_t first = pixel > pixels - block ? pixels - block : pixel;
        gather(g, first, block);
        g->kind->block(dot, weights, columns, r ? r->block : output + first * a->out_c);
        if (r)
            r->add(r, r->block + (pixel - first) * columns, (first + block - pixel) * columns);
    }
}

void ctn_conv2d_rows_dsp(const CtnConv2dS8Args *a, const CtnFrame *frame, const CtnDotKindDsp *kind,
                         CtnResidual *residual) {
    int32_t columns = a->out_c / a->groups;
    CtnConvCut cut = ctn_conv_cut(a);
    int32_t run_steps = ctn_dot_steps(cut.run), steps = run_steps * cut.runs;
    uint32_t *rows = ctn_at(frame, a->scratch);
    Gather g = {.a = a,
                .kind = kind,
                .cut = cut,
                .image = ctn_at(frame, a->input),
                .rows = rows,
                .bytes = (int8_t *)(rows + steps * CTN_DOT_STEP_WORDS),
                .padded = (int8_t *)(rows + steps * CTN_DOT_STEP_WORDS) + cut.joined_bytes,
                .run_steps = run_steps,
                .shares = a->kernel_w > 1 && a->stride_w == 1 && (a->in_c & 3) == 0,
                .residual = residual};
    CtnDotDsp dot =
        ctn_dot_begin(rows, steps, a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    const uint8_t *weights = ctn_at(frame, a->weights);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t group = 0; group < a->groups; group++) {
        convolve(&g, &dot, weights, output);
        g.image += a->in_c / a->groups;
        weights += ctn_dot_kind_bytes(columns, steps, kind->step_bytes);
        output += columns;
    }
}

void ctn_conv2d_s8_dsp(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    ctn_conv2d_rows_dsp(a, frame, &ctn_dot_s8_dsp, 0);
}
#endif
