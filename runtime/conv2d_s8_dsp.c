/* Convolution on DSP cores: three output pixels at a time are gathered into rows of expanded
 * activations and multiplied with all columns (dot_dsp.h). Padding is gathered as the input's zero
 * point, so that the offset folded into the bias holds for every pixel.
 *
 * weights: the streams of all output channels, group by group. A row is cut into runs of bytes that
 * lie side by side in the image, each padded to whole steps: a line of the kernel, or a tap if
 * there are groups or gaps. scratch: the rows, then a line of bytes as wide as three pixels need.
 */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dot_dsp.h"
#include "word.h"

typedef struct {
    const CtnConv2dS8Args *a;
    const int8_t *image; /* its first channel of the group */
    uint32_t *rows;
    int8_t *bytes;
    int32_t run, run_steps, runs; /* bytes, steps; per line of the kernel */
    int shares;                   /* neighbours' runs overlap by whole steps */
} Gather;

/* `count` positions of a line of the image from x on, some of them beyond its borders, as bytes. */
static const int8_t *padded_line(const Gather *g, const int8_t *line, int32_t x, int32_t count) {
    const CtnConv2dS8Args *a = g->a;
    uint32_t padding = (uint8_t)a->input_zero_point * 0x01010101u;
    int8_t *to = g->bytes;
    for (; count > 0; count--, x++) {
        int inside = x >= 0 && x < a->in_w;
        const int8_t *from = line + x * a->in_c;
        int32_t c = 0;
        for (; c <= a->in_c - 4; c += 4, to += 4)
            ctn_store_word(to, inside ? ctn_load_word(from + c) : padding);
        for (; c < a->in_c; c++)
            *to++ = inside ? from[c] : (int8_t)padding;
    }
    return g->bytes;
}

static void gather_line(const Gather *g, const int8_t *line, int32_t x, uint32_t *steps) {
    const CtnConv2dS8Args *a = g->a;
    if (g->runs == 1) {
        int inside = x >= 0 && x + a->kernel_w <= a->in_w;
        const int8_t *from = inside ? line + x * a->in_c : padded_line(g, line, x, a->kernel_w);
        ctn_expand_dsp(from, steps, g->run);
        return;
    }
    for (int32_t kx = 0; kx < a->kernel_w; kx++, x += a->dilation_w) {
        if (x >= 0 && x < a->in_w)
            ctn_expand_dsp(line + x * a->in_c, steps, g->run);
        else
            ctn_expand_fill_dsp(a->input_zero_point, steps, g->run_steps);
        steps += g->run_steps * CTN_DOT_STEP_WORDS;
    }
}

static void gather_pixel(const Gather *g, int32_t pixel, uint32_t *steps) {
    const CtnConv2dS8Args *a = g->a;
    int32_t line = pixel / a->out_w, batch = line / a->out_h;
    int32_t x = (pixel - line * a->out_w) * a->stride_w - a->pad_left;
    int32_t y = (line - batch * a->out_h) * a->stride_h - a->pad_top;
    int32_t pitch = a->in_w * a->in_c, line_steps = g->run_steps * g->runs;
    const int8_t *image = g->image + batch * a->in_h * pitch;
    for (int32_t ky = 0; ky < a->kernel_h; ky++, y += a->dilation_h) {
        if (y >= 0 && y < a->in_h)
            gather_line(g, image + y * pitch, x, steps);
        else
            ctn_expand_fill_dsp(a->input_zero_point, steps, line_steps);
        steps += line_steps * CTN_DOT_STEP_WORDS;
    }
}

/* Where one pixel is one run of all channels, and pixels follow each other in the image. */
static int is_matrix(const CtnConv2dS8Args *a) {
    return a->kernel_h * a->kernel_w == 1 && a->stride_h * a->stride_w == 1 && a->groups == 1 &&
           a->out_h == a->in_h && a->out_w == a->in_w;
}

/* Three neighbours in a row, which share most of what they read. */
static void gather_three(const Gather *g, int32_t line, int32_t ox) {
    const CtnConv2dS8Args *a = g->a;
    int32_t batch = line / a->out_h, pitch = a->in_w * a->in_c, x = ox - a->pad_left;
    int32_t y = (line - batch * a->out_h) * a->stride_h - a->pad_top;
    int32_t positions = a->kernel_w + CTN_DOT_ROWS - 1;
    const int8_t *image = g->image + batch * a->in_h * pitch;
    uint32_t *steps = g->rows;
    for (int32_t ky = 0; ky < a->kernel_h; ky++, y += a->dilation_h) {
        const int8_t *from = image + y * pitch + x * a->in_c;
        if (y < 0 || y >= a->in_h) {
            for (int32_t i = 0; i < CTN_DOT_ROWS; i++)
                ctn_expand_fill_dsp(a->input_zero_point, steps + 2 * i, g->run_steps);
        } else {
            if (x < 0 || x + positions > a->in_w)
                from = padded_line(g, image + y * pitch, x, positions);
            ctn_expand_three_dsp(from, steps, a->in_c >> 2, (a->kernel_w - 2) * (a->in_c >> 2));
        }
        steps += g->run_steps * CTN_DOT_STEP_WORDS;
    }
}

static void gather(const Gather *g, int32_t pixel, int32_t count) {
    const CtnConv2dS8Args *a = g->a;
    if (is_matrix(a)) {
        const int8_t *row = g->image + pixel * g->run;
        for (int32_t i = 0; i < count; i++, row += g->run)
            ctn_expand_dsp(row, g->rows + 2 * i, g->run);
        return;
    }
    int32_t line = pixel / a->out_w, ox = pixel - line * a->out_w;
    if (g->shares && count == CTN_DOT_ROWS && ox + count <= a->out_w) {
        gather_three(g, line, ox);
        return;
    }
    for (int32_t i = 0; i < count; i++)
        gather_pixel(g, pixel + i, g->rows + 2 * i);
}

/* All pixels of one group. A last block of fewer than three pixels starts earlier, and writes the
 * same results again; an image of one or two pixels goes one by one. */
static void convolve(const Gather *g, CtnDotDsp *dot, const uint8_t *weights, int8_t *output) {
    const CtnConv2dS8Args *a = g->a;
    int32_t columns = a->out_c / a->groups, pixels = a->batches * a->out_h * a->out_w;
    int32_t block = pixels < CTN_DOT_ROWS ? 1 : CTN_DOT_ROWS;
    dot->output_stride = block == 1 ? 0 : a->out_c;
    for (int32_t pixel = 0; pixel < pixels; pixel += block) {
        int32_t first = pixel > pixels - block ? pixels - block : pixel;
        gather(g, first, block);
        ctn_dot_block(dot, weights, columns, output + first * a->out_c);
    }
}

void ctn_conv2d_s8_dsp(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    int32_t depth = a->in_c / a->groups, columns = a->out_c / a->groups;
    int32_t runs = a->groups == 1 && a->dilation_w == 1 ? 1 : a->kernel_w;
    int32_t run = depth * a->kernel_w / runs;
    int32_t steps = ctn_dot_steps(run) * runs * a->kernel_h;
    uint32_t *rows = ctn_at(frame, a->scratch);
    Gather g = {.a = a,
                .image = ctn_at(frame, a->input),
                .rows = rows,
                .bytes = (int8_t *)(rows + steps * CTN_DOT_STEP_WORDS),
                .run = run,
                .run_steps = ctn_dot_steps(run),
                .runs = runs,
                .shares = runs == 1 && a->kernel_w > 1 && a->stride_w == 1 && (a->in_c & 3) == 0};
    CtnDotDsp dot =
        ctn_dot_begin(rows, steps, a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    const uint8_t *weights = ctn_at(frame, a->weights);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t group = 0; group < a->groups; group++) {
        convolve(&g, &dot, weights, output);
        g.image += depth;
        weights += ctn_dot_stream_bytes(columns, steps);
        output += columns;
    }
}
#endif
