/* Convolution by MVE: pairs of output pixels times groups of four channels (pair_s8_mve.h). Rows
 * whose windows lie within the image are read where they are; the others are first copied to a
 * strip with their padding, as zero points, which the packed bias cancels. If `gathered` is set,
 * each window is instead copied together on its own: then few bytes a row cost no padding.
 *
 * Scratch holds a strip, or two windows. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "pair_s8_mve.h"
#include "vector_mve.h"

typedef struct {
    const CtnConv2dS8Args *a;
    const int8_t *image;
    CtnPair pair; /* as the whole groups need it */
    CtnPairBlock *run;
    int8_t *scratch;
    int32_t run_bytes, window; /* of a padded run; of a padded window */
    int32_t group, rest;       /* bytes of a packed group; channels beyond whole groups */
} Layer;

static Layer layer_of(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    Layer l = {.a = a, .scratch = ctn_at(frame, a->scratch)};
    CtnPair *p = &l.pair;
    int32_t taps = a->gathered ? a->kernel_h * a->kernel_w : a->kernel_w;
    int32_t chunks = (taps * a->in_c + 15) / 16;
    l.run_bytes = chunks * 16;
    p->segments = a->gathered ? 1 : a->kernel_h;
    l.window = p->segments * l.run_bytes;
    l.group = l.window * 4 + CTN_PAIR_PARAMETERS;
    l.rest = a->out_c & 3;
    ctn_pair_chunks(p, chunks);
    p->weights = ctn_at(frame, a->weights);
    p->weights_end = p->weights + a->out_c / 4 * l.group;
    p->in_step = 2 * a->stride_w * a->in_c;
    p->out_step = 2 * a->out_c - (a->out_c & ~3);
    p->table = ctn_at(frame, a->table);
    int32_t first = p->table ? a->clamp_min : 0; /* what the table's first entry stands for */
    p->zero_point = a->output_zero_point - first;
    p->clamp_min = a->clamp_min - first;
    p->clamp_max = a->clamp_max - first;
    int relu = a->output_zero_point == -128 && a->clamp_min == -128 && a->clamp_max == 127;
    if (p->segments == 1)
        l.run = p->table ? ctn_pair_table_one_mve
                : relu   ? ctn_pair_relu_one_mve
                         : ctn_pair_exact_one_mve;
    else
        l.run = p->table ? ctn_pair_table_mve : relu ? ctn_pair_relu_mve : ctn_pair_exact_mve;
    return l;
}

/* The channels beyond whole groups go through four bytes of their own. */
static void run_rest(const Layer *l, CtnPair p, int8_t *out0, int8_t *out1) {
    int32_t whole = l->a->out_c & ~3;
    p.weights = p.weights_end;
    p.weights_end += l->group;
    for (int32_t left = p.pairs; left > 0; left--) {
        int8_t four[2][4];
        p.pairs = 1;
        p.out0 = four[0];
        p.out1 = four[1];
        l->run(&p);
        for (int32_t c = 0; c < l->rest; c++) {
            out0[whole + c] = four[0][c];
            out1[whole + c] = four[1][c];
        }
        p.in0 += p.in_step;
        p.in1 += p.in_step;
        out0 += 2 * l->a->out_c;
        out1 += 2 * l->a->out_c;
    }
}

/* `pairs` pairs from a first one; out1 may be out0. */
static void run_pairs(Layer *l, const int8_t *in0, const int8_t *in1, int32_t skip, int8_t *out0,
                      int8_t *out1, int32_t pairs) {
    CtnPair *p = &l->pair;
    p->in0 = in0;
    p->in1 = in1;
    p->skip = skip;
    p->out0 = out0;
    p->out1 = out1;
    p->pairs = pairs;
    if (p->weights != p->weights_end)
        l->run(p);
    if (l->rest)
        run_rest(l, *p, out0, out1);
}

/* ---- strips -------------------------------------------------------------------------------- */

/* An output row from rows that lie `row_bytes` apart. */
static void run_row(Layer *l, const int8_t *in, int32_t row_bytes, int8_t *out) {
    const CtnConv2dS8Args *a = l->a;
    int32_t step = a->stride_w * a->in_c, skip = row_bytes - l->run_bytes, last = a->out_w - 1;
    if (a->out_w > 1)
        run_pairs(l, in, in + step, skip, out, out + a->out_c, a->out_w / 2);
    if (a->out_w & 1) {
        in += last * step;
        out += last * a->out_c;
        run_pairs(l, in, in, skip, out, out, 1);
    }
}

static void run_strips(Layer *l, int8_t *output) {
    const CtnConv2dS8Args *a = l->a;
    const CtnStrip strip = {.image = l->image,
                            .in_h = a->in_h,
                            .in_w = a->in_w,
                            .channels = a->in_c,
                            .x0 = -a->pad_left,
                            .width = (a->out_w - 1) * a->stride_w + a->kernel_w,
                            .rows = a->kernel_h,
                            .row_step = a->dilation_h,
                            .zero_point = a->input_zero_point};
    int32_t row = a->in_w * a->in_c;
    /* from the image's end: the last row may be read as it is up to here */
    int32_t slack = (a->in_w - strip.width) * a->in_c - l->run_bytes + a->kernel_w * a->in_c;
    for (int32_t oy = 0; oy < a->out_h; oy++, output += a->out_w * a->out_c) {
        int32_t y0 = oy * a->stride_h - a->pad_top;
        int32_t rows_below = a->in_h - 1 - (y0 + (a->kernel_h - 1) * a->dilation_h);
        if (a->pad_left == 0 && strip.width <= a->in_w && y0 >= 0 && rows_below >= 0 &&
            slack + rows_below * row >= 0) {
            run_row(l, l->image + y0 * row, a->dilation_h * row, output);
        } else {
            ctn_strip_mve(&strip, y0, l->scratch);
            run_row(l, l->scratch, strip.width * a->in_c, output);
        }
    }
}

/* ---- gathered windows ---------------------------------------------------------------------- */

/* Runs of up to 16 bytes: one load each. */
static void gather_inner(const Layer *l, const int8_t *from, int8_t *to) {
    int32_t run = l->a->kernel_w * l->a->in_c, row = l->a->dilation_h * l->a->in_w * l->a->in_c;
    for (int32_t left = l->a->kernel_h; left > 0; left--, to += run, from += row)
        vstrbq_s8(to, vldrbq_s8(from));
}

/* The same at the border: of the bytes within the image. */
static void gather_short(const Layer *l, int32_t y0, int32_t x0, CtnSpan kx, int8_t *to) {
    const CtnConv2dS8Args *a = l->a;
    int32_t run = a->kernel_w * a->in_c, row = a->in_w * a->in_c;
    const int8x16_t zeros = vdupq_n_s8((int8_t)a->input_zero_point);
    mve_pred16_t live = (mve_pred16_t)((1u << kx.end * a->in_c) - (1u << kx.first * a->in_c));
    const int8_t *from = l->image + y0 * row + x0 * a->in_c;
    int32_t last_y = y0 + (a->kernel_h - 1) * a->dilation_h;
    if (live == (1u << run) - 1u && y0 >= 0 && (a->in_h - last_y) * row >= x0 * a->in_c + 16) {
        gather_inner(l, from, to);
        return;
    }
    for (int32_t ky = 0; ky < a->kernel_h; ky++, y0 += a->dilation_h) {
        if (y0 >= 0 && y0 < a->in_h)
            vstrbq_s8(to, vpselq_s8(vldrbq_z_s8(from, live), zeros, live));
        else
            vstrbq_s8(to, zeros);
        to += run;
        from += a->dilation_h * row;
    }
}

static void gather_long(const Layer *l, int32_t y0, int32_t x0, CtnSpan kx, int8_t *to) {
    const CtnConv2dS8Args *a = l->a;
    int32_t run = a->kernel_w * a->in_c;
    for (int32_t ky = 0; ky < a->kernel_h; ky++, y0 += a->dilation_h, to += run) {
        ctn_fill_mve(to, a->input_zero_point, run);
        if (y0 < 0 || y0 >= a->in_h)
            continue;
        for (int32_t k = kx.first; k < kx.end; k++)
            ctn_copy_mve(to + k * a->in_c,
                         l->image + (y0 * a->in_w + x0 + k * a->dilation_w) * a->in_c, a->in_c);
        if (kx.end < a->kernel_w) /* what the last copy wrote too much */
            ctn_fill_mve(to + kx.end * a->in_c, a->input_zero_point,
                         (a->kernel_w - kx.end) * a->in_c);
    }
}

static void gather(const Layer *l, int32_t pixel, int8_t *to) {
    const CtnConv2dS8Args *a = l->a;
    int32_t oy = pixel / a->out_w, ox = pixel - oy * a->out_w;
    int32_t y0 = oy * a->stride_h - a->pad_top, x0 = ox * a->stride_w - a->pad_left;
    CtnSpan kx = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
    if (a->dilation_w == 1 && a->kernel_w * a->in_c <= 16)
        gather_short(l, y0, x0, kx, to);
    else
        gather_long(l, y0, x0, kx, to);
}

static void run_gathered(Layer *l, int8_t *output) {
    int32_t pixels = l->a->out_h * l->a->out_w, size = l->a->out_c;
    int8_t *second = l->scratch + l->window + 16;
    for (int32_t i = 0; i < pixels; i += 2, output += 2 * size) {
        int32_t two = i + 1 < pixels;
        gather(l, i, l->scratch);
        if (two)
            gather(l, i + 1, second);
        run_pairs(l, l->scratch, two ? second : l->scratch, 0, output, output + (two ? size : 0),
                  1);
    }
}

void ctn_conv2d_s8_mve(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    Layer l = layer_of(a, frame);
    int8_t *output = ctn_at(frame, a->output);
    l.image = ctn_at(frame, a->input);
    for (int32_t b = 0; b < a->batches; b++) {
        if (a->gathered)
            run_gathered(&l, output);
        else
            run_strips(&l, output);
        l.image += a->in_h * a->in_w * a->in_c;
        output += a->out_h * a->out_w * a->out_c;
    }
}
#endif
