/* Convolution by the matrix block of ARMv6-M (dot_v6m.h): two output positions at a time, wherever
 * they lie, against all channels. What their windows cover is expanded into scratch; taps in the
 * padding read a pixel of zero points behind it, which the packed bias cancels. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "conv2d_s8_v6m.h"
#include "dot_v6m.h"
#include "window.h"

typedef struct {
    const CtnConv2dS8Args *a;
    int32_t depth, run; /* channels of a group; bytes of a row of taps in one run, or 0 */
    uint32_t *rows;
    int8_t *padding;
    CtnDotV6m dot;
} Layer;

static Layer layer_of(const CtnConv2dS8Args *a, const CtnConvPlaces *places) {
    Layer l = {.a = a, .depth = a->in_c, .rows = places->scratch};
    int32_t columns = a->out_c;
    if (a->groups > 1) {
        l.depth = a->in_c / a->groups;
        columns = a->out_c / a->groups;
    } else if (a->dilation_w == 1) {
        l.run = a->kernel_w * a->in_c;
    }
    int32_t depth = a->kernel_h * a->kernel_w * l.depth;
    l.dot = ctn_dot_begin_v6m(places->weights, depth, columns, a->output_zero_point, a->clamp_max,
                              places->table);
    l.padding = (int8_t *)(l.rows + ctn_dot_even(depth));
    for (int32_t i = 0; i < l.depth; i++)
        l.padding[i] = (int8_t)a->input_zero_point;
    return l;
}

/* Both windows of one group. */
static void expand_windows(const Layer *l, const CtnWindow window[CTN_DOT_ROWS], int32_t channel,
                           uint32_t sum[CTN_DOT_ROWS]) {
    const CtnConv2dS8Args *a = l->a;
    const int8_t *row[CTN_DOT_ROWS];
    uint32_t *to = l->rows;
    if (l->run > 0 && ctn_window_within(a, &window[0]) && ctn_window_within(a, &window[1])) {
        for (int i = 0; i < CTN_DOT_ROWS; i++)
            row[i] = window[i].image + (window[i].y * a->in_w + window[i].x) * a->in_c;
        for (int32_t ky = 0; ky < a->kernel_h; ky++, to += l->run) {
            ctn_expand_v6m(row, to, l->run, sum);
            row[0] += a->dilation_h * a->in_w * a->in_c;
            row[1] += a->dilation_h * a->in_w * a->in_c;
        }
        return;
    }
    for (int32_t ky = 0; ky < a->kernel_h; ky++)
        for (int32_t kx = 0; kx < a->kernel_w; kx++, to += l->depth) {
            for (int i = 0; i < CTN_DOT_ROWS; i++) {
                const int8_t *pixel = ctn_window_tap(a, &window[i], ky, kx);
                row[i] = pixel ? pixel + channel : l->padding;
            }
            ctn_expand_v6m(row, to, l->depth, sum);
        }
}

/* One or two positions against all channels; both may be the same. */
static void block(Layer *l, const CtnWindow window[CTN_DOT_ROWS],
                  int8_t *const output[CTN_DOT_ROWS]) {
    CtnDotV6m *dot = &l->dot;
    dot->weights = dot->stream;
    for (int32_t group = 0; group < l->a->groups; group++) {
        uint32_t sum[CTN_DOT_ROWS] = {0};
        expand_windows(l, window, group * l->depth, sum);
        for (int i = 0; i < CTN_DOT_ROWS; i++) {
            dot->sum[i] = sum[i] << 7;
            dot->output[i] = output[i] + group * dot->columns;
        }
        ctn_dot_block_v6m(dot, l->rows);
    }
}

const void *ctn_conv_places_v6m(const CtnConv2dS8Args *a, const CtnConvPlaces *places) {
    Layer l = layer_of(a, places);
    CtnWindow window = ctn_window_first(a, places->input);
    int8_t *output = places->output;
    CtnResidual *residual = places->residual;
    for (int32_t left = a->batches * a->out_h * a->out_w; left > 0; left -= CTN_DOT_ROWS) {
        CtnWindow two[CTN_DOT_ROWS] = {window, window};
        output = residual ? residual->block : output;
        int8_t *to[CTN_DOT_ROWS] = {output, output};
        ctn_window_next(a, &window);
        output += places->pitch;
        if (left > 1) {
            two[1] = window;
            to[1] = output;
            ctn_window_next(a, &window);
            output += places->pitch;
        }
        block(&l, two, to);
        if (residual)
            residual->add(residual, residual->block, left > 1 ? 2 * a->out_c : a->out_c);
    }
    return l.dot.weights;
}

void ctn_conv2d_s8_v6m(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    CtnConvPlaces places = ctn_conv_places(a, frame);
    ctn_conv_places_v6m(a, &places);
}
#endif
