/* Convolution by the matrix block of ARMv7-M (dot_v7m.h): four output positions at a time, wherever
 * they lie, against all channels. What their windows cover is expanded into scratch; taps in the
 * padding read a pixel of zero points, which the packed bias cancels. Scratch holds the expanded
 * rows of a segment, that pixel, and for several segments the sums of a block. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "conv2d_s8_v7m.h"
#include "dot_v7m.h"
#include "window.h"

typedef struct {
    const CtnConv2dS8Args *a;
    CtnDotV7m dot;
    int32_t depth, columns, taps, tap_step, depth_step; /* of a group; of a segment */
    int32_t *pairs;
    int8_t *padding;
    CtnWindow window[CTN_DOT_ROWS], next;
    int8_t *next_output;
    int32_t pitch;
} Layer;

static Layer layer_of(const CtnConv2dS8Args *a, const CtnConvPlaces *places) {
    Layer l = {.a = a};
    l.depth = a->in_c / a->groups;
    l.columns = a->out_c / a->groups;
    l.taps = a->kernel_h * a->kernel_w;
    l.depth_step = ctn_dot_share(l.depth, CTN_DOT_DEPTH);
    l.tap_step = ctn_dot_share(l.taps, CTN_DOT_DEPTH / l.depth_step);
    if (l.depth_step < l.depth)
        l.tap_step = 1;
    int32_t most = l.tap_step * l.depth_step;
    l.pairs = places->scratch;
    l.dot = ctn_dot_begin_v7m(a->output_zero_point, a->clamp_max, places->table);
    l.dot.pairs = l.pairs;
    l.dot.sums = l.pairs + 2 * most;
    l.padding = (int8_t *)(l.dot.sums + (most < l.taps * l.depth ? CTN_DOT_ROWS * l.columns : 0));
    for (int32_t i = 0; i < l.depth_step; i++)
        l.padding[i] = (int8_t)a->input_zero_point;
    l.next = ctn_window_first(a, places->input);
    l.next_output = places->output;
    l.pitch = places->pitch;
    return l;
}

/* The next positions in order; at the end the last one again. How many are new. */
static int32_t next_windows(Layer *l, int32_t left) {
    const CtnConv2dS8Args *a = l->a;
    int32_t count = left < CTN_DOT_ROWS ? left : CTN_DOT_ROWS;
    for (int32_t i = 0; i < CTN_DOT_ROWS; i++) {
        if (i >= count) {
            l->window[i] = l->window[i - 1];
            l->dot.row[i] = l->dot.row[i - 1];
            continue;
        }
        l->window[i] = l->next;
        l->dot.row[i] = l->next_output;
        l->next_output += l->pitch;
        ctn_window_next(a, &l->next);
    }
    return count;
}

static int within(const Layer *l) {
    for (int32_t i = 0; i < CTN_DOT_ROWS; i++)
        if (!ctn_window_within(l->a, &l->window[i]))
            return 0;
    return 1;
}

/* Whole windows that lie within the image: a row of taps is one run of bytes. */
static void expand_runs(const Layer *l) {
    const CtnConv2dS8Args *a = l->a;
    const int8_t *row[CTN_DOT_ROWS];
    int32_t run = a->kernel_w * a->in_c, down = a->dilation_h * a->in_w * a->in_c;
    int32_t *to = l->pairs;
    for (int32_t i = 0; i < CTN_DOT_ROWS; i++) {
        const CtnWindow *w = &l->window[i];
        row[i] = w->image + (w->y * a->in_w + w->x) * a->in_c;
    }
    for (int32_t ky = 0; ky < a->kernel_h; ky++, to += 2 * run) {
        ctn_expand_v7m(row, to, run);
        for (int32_t i = 0; i < CTN_DOT_ROWS; i++)
            row[i] += down;
    }
}

/* Channels first .. first + count of some taps. */
static void expand_taps(const Layer *l, int32_t tap, int32_t taps, int32_t first, int32_t count) {
    const CtnConv2dS8Args *a = l->a;
    int32_t ky = tap / a->kernel_w, kx = tap - ky * a->kernel_w;
    int32_t *to = l->pairs;
    for (; taps > 0; taps--, to += 2 * count) {
        const int8_t *row[CTN_DOT_ROWS];
        for (int32_t i = 0; i < CTN_DOT_ROWS; i++) {
            const int8_t *pixel = ctn_window_tap(a, &l->window[i], ky, kx);
            row[i] = pixel ? pixel + first : l->padding;
        }
        ctn_expand_v7m(row, to, count);
        if (++kx == a->kernel_w) {
            kx = 0;
            ky++;
        }
    }
}

static void segment(Layer *l, int32_t tap, int32_t taps, int32_t first, int32_t count,
                    int32_t channel) {
    int32_t depth = taps * count;
    int last = tap + taps == l->taps && first + count == l->depth;
    int whole = last && tap == 0 && first == 0;
    if (whole && l->a->groups == 1 && l->a->dilation_w == 1 && within(l))
        expand_runs(l);
    else
        expand_taps(l, tap, taps, channel + first, count);
    l->dot.sum = whole ? CTN_SUM_WHOLE : last ? CTN_SUM_LAST : CTN_SUM_PART;
    ctn_dot_depth_v7m(&l->dot, depth);
    ctn_dot_block_v7m(&l->dot, depth, l->columns);
}

/* All segments of one group for the windows at hand. */
static void block(Layer *l, int32_t channel) {
    if (l->tap_step * l->depth_step < l->taps * l->depth)
        for (int32_t i = 0; i < CTN_DOT_ROWS * l->columns; i++)
            l->dot.sums[i] = 0;
    for (int32_t tap = 0; tap < l->taps; tap += l->tap_step) {
        int32_t taps = l->taps - tap < l->tap_step ? l->taps - tap : l->tap_step;
        for (int32_t first = 0; first < l->depth; first += l->depth_step) {
            int32_t count = l->depth - first;
            count = count < l->depth_step ? count : l->depth_step;
            segment(l, tap, taps, first, count, channel);
        }
    }
}

const void *ctn_conv_places_v7m(const CtnConv2dS8Args *a, const CtnConvPlaces *places) {
    Layer l = layer_of(a, places);
    CtnResidual *residual = places->residual;
    int32_t left = a->batches * a->out_h * a->out_w;
    while (left > 0) {
        if (residual)
            l.next_output = residual->block;
        int32_t count = next_windows(&l, left);
        left -= count;
        l.dot.weights = places->weights;
        for (int32_t group = 0; group < a->groups; group++) {
            l.dot.column = group * l.columns;
            block(&l, group * l.depth);
        }
        if (residual)
            residual->add(residual, residual->block, count * a->out_c);
    }
    return l.dot.weights;
}

void ctn_conv2d_s8_v7m(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    CtnConvPlaces places = ctn_conv_places(a, frame);
    ctn_conv_places_v7m(a, &places);
}
#endif
