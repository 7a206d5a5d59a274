/* Convolution by MVE: pairs of output pixels times groups of four channels (pair_s8_mve.h).
 * Windows that lie within the image are read where they are; those that reach over its border, and
 * all of them if `gathered` is set, are first copied together, padding as zero points, which the
 * packed bias cancels. Scratch holds two windows. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "pair_s8_mve.h"
#include "vector_mve.h"

typedef struct {
    const CtnConv2dS8Args *a;
    const int8_t *image;
    CtnPair pair; /* as the whole groups need it */
    void (*run)(const CtnPair *);
    int8_t *scratch;
    int32_t chunks, window; /* of a run; bytes of a padded window */
    int32_t group, rest;    /* bytes of a packed group; channels beyond whole groups */
} Layer;

static Layer layer_of(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    Layer l = {.a = a, .scratch = ctn_at(frame, a->scratch)};
    CtnPair *p = &l.pair;
    int32_t taps = a->gathered ? a->kernel_h * a->kernel_w : a->kernel_w;
    l.chunks = (taps * a->in_c + 15) / 16;
    p->segments = a->gathered ? 1 : a->kernel_h;
    l.window = p->segments * l.chunks * 16;
    l.group = l.window * 4 + CTN_PAIR_PARAMETERS;
    l.rest = a->out_c & 3;
    ctn_pair_chunks(p, l.chunks);
    p->weights = ctn_at(frame, a->weights);
    p->weights_end = p->weights + a->out_c / 4 * l.group;
    p->in_step = 2 * a->stride_w * a->in_c;
    p->out_step = 2 * a->out_c - (a->out_c & ~3);
    p->table = ctn_at(frame, a->table);
    int32_t first = p->table ? a->clamp_min : 0; /* what the table's first entry stands for */
    p->zero_point = a->output_zero_point - first;
    p->clamp_min = a->clamp_min - first;
    p->clamp_max = a->clamp_max - first;
    l.run = p->table ? ctn_pair_table_mve : ctn_pair_exact_mve;
    if (!p->table && a->output_zero_point == -128 && a->clamp_min == -128 && a->clamp_max == 127)
        l.run = ctn_pair_relu_mve;
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
static void run_pairs(const Layer *l, const int8_t *in0, const int8_t *in1, int32_t skip,
                      int8_t *out0, int8_t *out1, int32_t pairs) {
    CtnPair p = l->pair;
    p.in0 = in0;
    p.in1 = in1;
    p.skip = skip;
    p.out0 = out0;
    p.out1 = out1;
    p.pairs = pairs;
    if (p.weights != p.weights_end)
        l->run(&p);
    if (l->rest)
        run_rest(l, p, out0, out1);
}

/* Copies the window of an output position together, run by run. */
static void gather(const Layer *l, int32_t y0, int32_t ox, int8_t *to) {
    const CtnConv2dS8Args *a = l->a;
    int32_t x0 = ox * a->stride_w - a->pad_left, run = a->kernel_w * a->in_c;
    CtnSpan kx = ctn_span(x0, a->dilation_w, a->kernel_w, a->in_w);
    int32_t step = a->gathered ? run : l->chunks * 16;
    for (int32_t ky = 0; ky < a->kernel_h; ky++, to += step) {
        int32_t y = y0 + ky * a->dilation_h;
        if (y < 0 || y >= a->in_h) {
            ctn_fill_mve(to, a->input_zero_point, run);
            continue;
        }
        const int8_t *row = l->image + (y * a->in_w + x0) * a->in_c;
        if (kx.first > 0)
            ctn_fill_mve(to, a->input_zero_point, kx.first * a->in_c);
        if (a->dilation_w == 1)
            ctn_copy_mve(to + kx.first * a->in_c, row + kx.first * a->in_c,
                         (kx.end - kx.first) * a->in_c);
        else
            for (int32_t k = kx.first; k < kx.end; k++)
                ctn_copy_mve(to + k * a->in_c, row + k * a->dilation_w * a->in_c, a->in_c);
        if (kx.end < a->kernel_w)
            ctn_fill_mve(to + kx.end * a->in_c, a->input_zero_point,
                         (a->kernel_w - kx.end) * a->in_c);
    }
}

/* Positions first <= ox < end of an output row whose windows can be read in place: within the
 * image, the last run's padding too. */
static CtnSpan direct_span(const Layer *l, int32_t y0) {
    const CtnConv2dS8Args *a = l->a;
    int32_t row = a->in_w * a->in_c, last_y = y0 + (a->kernel_h - 1) * a->dilation_h;
    CtnSpan none = {0, 0};
    if (a->gathered || y0 < 0 || last_y >= a->in_h)
        return none;
    int32_t room_x = a->in_w - a->kernel_w; /* the last x0 that fits */
    int32_t room = (a->in_h - last_y) * row - l->chunks * 16;
    if (room < 0 || room_x < 0)
        return none;
    room /= a->in_c;
    room_x = (room < room_x ? room : room_x) + a->pad_left;
    CtnSpan span = {ctn_div_up(a->pad_left, a->stride_w), room_x / a->stride_w + 1};
    if (span.end > a->out_w)
        span.end = a->out_w;
    return span.first < span.end ? span : none;
}

static void output_row(const Layer *l, int32_t y0, int8_t *output) {
    const CtnConv2dS8Args *a = l->a;
    CtnSpan direct = direct_span(l, y0);
    int32_t step = a->stride_w * a->in_c, skip = a->dilation_h * a->in_w * a->in_c - l->chunks * 16;
    for (int32_t ox = 0; ox < a->out_w;) {
        int8_t *out = output + ox * a->out_c;
        int32_t pairs = ox >= direct.first ? (direct.end - ox) / 2 : 0;
        if (pairs > 0) {
            const int8_t *in = l->image + (y0 * a->in_w + ox * a->stride_w - a->pad_left) * a->in_c;
            run_pairs(l, in, in + step, skip, out, out + a->out_c, pairs);
            ox += 2 * pairs;
            continue;
        }
        int32_t two = ox + 1 < a->out_w;
        gather(l, y0, ox, l->scratch);
        if (two)
            gather(l, y0, ox + 1, l->scratch + l->window);
        run_pairs(l, l->scratch, l->scratch + (two ? l->window : 0), 0, out,
                  out + (two ? a->out_c : 0), 1);
        ox += 2;
    }
}

void ctn_conv2d_s8_mve(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    Layer l = layer_of(a, frame);
    int8_t *output = ctn_at(frame, a->output);
    l.image = ctn_at(frame, a->input);
    for (int32_t b = 0; b < a->batches; b++, l.image += a->in_h * a->in_w * a->in_c)
        for (int32_t oy = 0; oy < a->out_h; oy++, output += a->out_w * a->out_c)
            output_row(&l, oy * a->stride_h - a->pad_top, output);
}
#endif
