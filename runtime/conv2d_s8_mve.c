/* Convolution by MVE: pairs of output pixels times groups of four channels (pair_s8_mve.h). Rows
 * whose windows lie within the image are read where they are; the others are first copied to a
 * strip with their padding, as zero points, which the packed bias cancels. If `gathered` is set,
 * each window is instead copied together on its own: then few bytes a row cost no padding. So are
 * those of several groups, each group's channels by themselves.
 *
 * Channels beyond fours may be stored without a group's padding: they are unfolded first.
 *
 * Scratch holds an unfolded group, then a strip, or two windows. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "conv2d_s8_mve.h"
#include "loop.h"
#include "pair_layer_mve.h"
#include "vector_mve.h"

typedef struct {
    const CtnConv2dS8Args *a;
    const int8_t *image;
    CtnPairLayer pairs;
    CtnResidual *residual; /* or NULL */
    int8_t *scratch;
    int32_t run_bytes; /* of a run with its padding */
} Layer;

/* Brings the channels beyond fours into a group, padding as zeros; channels that are missing have
 * any weights, for what they give is dropped. */
__attribute__((noinline)) static void unfold(CtnPairLayer *p, int8_t *to, int32_t bytes) {
    const int32_t count = p->channels & 3;
    const mve_pred16_t live = vctp32q((uint32_t)count);
    const int32_t *words = (const int32_t *)(const void *)p->rest;
    const int8_t *from = (const int8_t *)(words + 2 * count);
    int8_t *end = to + p->window * 4;
    vstrwq_s32((int32_t *)(void *)end, vldrwq_z_s32(words, live));
    vstrwq_s32((int32_t *)(void *)(end + 16), vldrwq_z_s32(words + count, live));
    vstrbq_s32(end + 32, vldrbq_z_s32(from, live));
    from += count;
    p->rest = to;
    for (int32_t c = count; c > 0; c--, to += 16, end += 16)
        for (int8_t *run = to; run < end;) {
            int32_t left = bytes;
            do {
                vstrbq_s8(run, vldrbq_z_s8(from, vctp8q((uint32_t)left)));
                from += left < 16 ? left : 16;
                run += 64;
                left -= 16;
            } while (left > 0);
        }
}

/* Field by field: a strip of few rows makes a layer for each of its steps, so that clearing it or
 * handing it over as a whole would show. */
static void layer_begin(Layer *l, const CtnConv2dS8Args *a, const CtnFrame *frame,
                        const CtnPairKind *kind) {
    int32_t gathered = a->gathered & CTN_GATHERED;
    int32_t runs = gathered ? 1 : a->kernel_h;
    int32_t taps = gathered ? a->kernel_h * a->kernel_w : a->kernel_w;
    int32_t depth = a->groups == 1 ? a->in_c : a->in_c / a->groups;
    l->a = a;
    l->image = ctn_at(frame, a->input);
    l->scratch = ctn_at(frame, a->scratch);
    l->pairs.kind = kind;
    l->pairs.channels = a->groups == 1 ? a->out_c : a->out_c / a->groups;
    ctn_pair_windows(&l->pairs, runs, taps * depth, a->stride_w * a->in_c, a->out_c);
    ctn_pair_weights(&l->pairs, ctn_at(frame, a->weights));
    ctn_pair_end(&l->pairs, a->output_zero_point, a->clamp_min, a->clamp_max,
                 ctn_at(frame, a->table), runs == 1);
    l->run_bytes = 16 * ctn_pair_chunk_count(&l->pairs.pair);
    if (a->gathered & CTN_UNFOLDED) {
        unfold(&l->pairs, l->scratch, taps * depth);
        l->scratch += (l->pairs.group + 15) & ~15;
    }
}

/* ctn_pair_row, as many pixels at a time as the block of a sum holds. */
static void run_row(Layer *l, const int8_t *in, int32_t skip, int8_t *output, int32_t pixels) {
    CtnResidual *r = l->residual;
    if (!r) {
        ctn_pair_row(&l->pairs, in, skip, output, pixels);
        return;
    }
    for (int32_t now; pixels > 0; pixels -= now) {
        now = pixels < CTN_RESIDUAL_PIXELS ? pixels : CTN_RESIDUAL_PIXELS;
        ctn_pair_row(&l->pairs, in, skip, r->block, now);
        r->add(r, r->block, now * l->a->out_c);
        in += now * (l->pairs.pair.in_step / 2);
    }
}

/* ---- strips -------------------------------------------------------------------------------- */

__attribute__((noinline)) static void run_strips(Layer *l, int8_t *output) {
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
            run_row(l, l->image + y0 * row, a->dilation_h * row - l->run_bytes, output, a->out_w);
        } else {
            ctn_strip_mve(&strip, y0, l->scratch);
            run_row(l, l->scratch, strip.width * a->in_c - l->run_bytes, output, a->out_w);
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
        ctn_vector_fill(to, a->input_zero_point, run);
        if (y0 < 0 || y0 >= a->in_h)
            continue;
        for (int32_t k = kx.first; k < kx.end; k++)
            ctn_vector_copy(to + k * a->in_c,
                            l->image + (y0 * a->in_w + x0 + k * a->dilation_w) * a->in_c, a->in_c);
        if (kx.end < a->kernel_w) /* what the last copy wrote too much */
            ctn_vector_fill(to + kx.end * a->in_c, a->input_zero_point,
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

__attribute__((noinline)) static void run_gathered(Layer *l, int8_t *output) {
    int32_t pixels = l->a->out_h * l->a->out_w, size = l->a->out_c;
    int8_t *second = l->scratch + l->pairs.window + 16;
    for (int32_t i = 0; i < pixels; i += 2, output += 2 * size) {
        int32_t two = i + 1 < pixels;
        gather(l, i, l->scratch);
        if (two)
            gather(l, i + 1, second);
        int8_t *to = l->residual ? l->residual->block : output;
        ctn_pair_run(&l->pairs, l->scratch, two ? second : l->scratch, 0, to, to + (two ? size : 0),
                     1);
        if (l->residual)
            l->residual->add(l->residual, to, two ? 2 * size : size);
    }
}

/* ---- groups -------------------------------------------------------------------------------- */

/* `depth` channels of each tap, in ascending order: what a copy or a fill writes too much is
 * written over by the next. */
static void gather_group(const Layer *l, const int8_t *image, int32_t depth, int32_t pixel,
                         int8_t *to) {
    const CtnConv2dS8Args *a = l->a;
    int32_t oy = pixel / a->out_w, ox = pixel - oy * a->out_w;
    int32_t y = oy * a->stride_h - a->pad_top, x0 = ox * a->stride_w - a->pad_left;
    const mve_pred16_t live = vctp8q((uint32_t)depth);
    const int32_t step = a->dilation_w * a->in_c, width = a->in_w;
    for (int32_t ky = a->kernel_h; ky > 0; ky--, y += a->dilation_h) {
        const int8_t *from = image + (y * width + x0) * a->in_c;
        int32_t x = x0, inside = y >= 0 && y < a->in_h;
        for (int32_t kx = a->kernel_w; kx > 0; kx--, from += step, to += depth) {
            if (!inside || x < 0 || x >= width)
                ctn_vector_fill(to, a->input_zero_point, depth);
            else if (depth <= 16)
                vstrbq_s8(to, vldrbq_z_s8(from, live));
            else
                ctn_vector_copy(to, from, depth);
            x += a->dilation_w;
        }
    }
}

/* Are the windows of a group pixels that need no copy? */
static int groups_lie_ready(const CtnConv2dS8Args *a, int32_t depth) {
    return depth % 16 == 0 && a->kernel_h * a->kernel_w == 1 && a->stride_h * a->stride_w == 1 &&
           a->in_h == a->out_h && a->in_w == a->out_w;
}

__attribute__((noinline)) static void run_groups(Layer *l, const int8_t *weights, int8_t *output) {
    const CtnConv2dS8Args *a = l->a;
    int32_t pixels = a->out_h * a->out_w, depth = a->in_c / a->groups, size = a->out_c;
    int8_t *second = l->scratch + l->pairs.window + 16;
    const int8_t *image = l->image;
    for (int32_t g = 0; g < a->groups; g++, image += depth, output += l->pairs.channels) {
        weights = ctn_pair_weights(&l->pairs, weights);
        if (groups_lie_ready(a, depth)) {
            ctn_pair_row(&l->pairs, image, 0, output, pixels);
            continue;
        }
        for (int32_t i = 0; i < pixels; i += 2) {
            int32_t two = i + 1 < pixels;
            int8_t *to = output + i * size;
            gather_group(l, image, depth, i, l->scratch);
            if (two)
                gather_group(l, image, depth, i + 1, second);
            ctn_pair_run(&l->pairs, l->scratch, two ? second : l->scratch, 0, to,
                         to + (two ? size : 0), 1);
        }
    }
}

/* Are the pixels whole runs of chunks, one for each output? Then the image is a single row. */
static int is_matrix(const Layer *l) {
    const CtnConv2dS8Args *a = l->a;
    return l->pairs.window == a->in_c && a->kernel_h * a->kernel_w == 1 && a->in_w == a->out_w &&
           a->in_h == a->out_h && a->pad_left == 0 && a->pad_top == 0;
}

void ctn_conv2d_pairs_mve(const CtnConv2dS8Args *a, const CtnFrame *frame, const CtnPairKind *kind,
                          CtnResidual *residual) {
    Layer l;
    int8_t *output = ctn_at(frame, a->output);
    layer_begin(&l, a, frame, kind);
    l.residual = residual;
    for (int32_t b = 0; b < a->batches; b++) {
        if (a->groups > 1)
            run_groups(&l, ctn_at(frame, a->weights), output);
        else if (a->gathered & CTN_GATHERED)
            run_gathered(&l, output);
        else if (is_matrix(&l))
            run_row(&l, l.image, 0, output, a->out_h * a->out_w);
        else
            run_strips(&l, output);
        l.image += a->in_h * a->in_w * a->in_c;
        output += a->out_h * a->out_w * a->out_c;
    }
}

void ctn_conv2d_s8_mve(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    ctn_conv2d_pairs_mve(a, frame, &ctn_pair_s8_mve, 0);
}
#endif
