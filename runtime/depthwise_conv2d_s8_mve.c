/* Depthwise convolution by MVE: sixteen channels at a time over a list of taps (taps_s8_mve.h).
 * Within the image the list is one of constant offsets and a row of pixels is one call. At the
 * border each pixel has a list of its own, in which taps outside of the image lead to a line of
 * zero points, which the packed bias cancels. The taps of the image's last pixels, behind which
 * there is nothing to read, are copied.
 *
 * Scratch: two lists, a line of zero points, and a line per tap. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "taps_s8_mve.h"
#include "vector_mve.h"

typedef struct {
    const CtnDepthwiseConv2dS8Args *a;
    const int8_t *image, *image_end;
    CtnTaps taps;
    void (*run)(const CtnTaps *);
    int32_t *inner, *border; /* the two lists */
    int8_t *zeros, *copies;
    int32_t line, count; /* bytes of a pixel in whole groups; taps */
} Layer;

static Layer layer_of(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    Layer l = {.a = a, .count = a->kernel_h * a->kernel_w};
    CtnTaps *t = &l.taps;
    t->groups = (a->in_c + CTN_TAPS_LANES - 1) / CTN_TAPS_LANES;
    t->last = a->in_c - (t->groups - 1) * CTN_TAPS_LANES;
    l.line = t->groups * CTN_TAPS_LANES;
    l.inner = ctn_at(frame, a->scratch);
    l.border = l.inner + l.count;
    l.zeros = (int8_t *)(l.border + l.count);
    l.copies = l.zeros + l.line;
    ctn_fill_mve(l.zeros, a->input_zero_point, l.line);
    for (int32_t ky = 0, k = 0; ky < a->kernel_h; ky++)
        for (int32_t kx = 0; kx < a->kernel_w; kx++)
            l.inner[k++] = (ky * a->dilation_h * a->in_w + kx * a->dilation_w) * a->in_c;
    t->weights = ctn_at(frame, a->weights);
    t->tap_pairs = l.count / 2;
    t->odd_tap = l.count % 2;
    t->in_step = a->stride_w * a->in_c;
    t->out_step = a->in_c;
    t->table = ctn_at(frame, a->table);
    int32_t first = t->table ? a->clamp_min : 0; /* what the table's first entry stands for */
    t->zero_point = a->output_zero_point - first;
    t->clamp_min = a->clamp_min - first;
    t->clamp_max = a->clamp_max - first;
    l.run = t->table ? ctn_taps_table_mve : ctn_taps_exact_mve;
    if (!t->table && a->output_zero_point == -128 && a->clamp_min == -128 && a->clamp_max == 127)
        l.run = ctn_taps_relu_mve;
    return l;
}

/* A row of `pixels` whose windows begin at (y0, x0) and lie within the image. */
static void run_inner(const Layer *l, int32_t y0, int32_t x0, int32_t pixels, int8_t *out) {
    CtnTaps t = l->taps;
    t.in = l->image + (y0 * l->a->in_w + x0) * l->a->in_c;
    t.offsets = l->inner;
    t.pixels = pixels;
    t.out = out;
    l->run(&t);
}

static void run_border(const Layer *l, int32_t y0, int32_t x0, int8_t *out) {
    const CtnDepthwiseConv2dS8Args *a = l->a;
    int32_t *offset = l->border;
    int8_t *copy = l->copies;
    int32_t zeros = (int32_t)(l->zeros - l->image);
    for (int32_t ky = 0; ky < a->kernel_h; ky++) {
        int32_t y = y0 + ky * a->dilation_h;
        for (int32_t kx = 0; kx < a->kernel_w; kx++, copy += l->line) {
            int32_t x = x0 + kx * a->dilation_w;
            if (y < 0 || y >= a->in_h || x < 0 || x >= a->in_w) {
                *offset++ = zeros;
                continue;
            }
            const int8_t *at = l->image + (y * a->in_w + x) * a->in_c;
            if (l->image_end - at < l->line) {
                ctn_copy_mve(copy, at, a->in_c);
                at = copy;
            }
            *offset++ = (int32_t)(at - l->image);
        }
    }
    CtnTaps t = l->taps;
    t.in = l->image;
    t.offsets = l->border;
    t.pixels = 1;
    t.out = out;
    l->run(&t);
}

/* Positions first <= ox < end whose windows lie within the image, with room for whole groups. */
static CtnSpan inner_span(const Layer *l, int32_t y0) {
    const CtnDepthwiseConv2dS8Args *a = l->a;
    int32_t last_y = y0 + (a->kernel_h - 1) * a->dilation_h;
    int32_t room_x = a->in_w - 1 - (a->kernel_w - 1) * a->dilation_w; /* the last x0 that fits */
    CtnSpan none = {0, 0};
    if (last_y == a->in_h - 1) /* channels missing in the last group are read from what follows */
        room_x -= (l->line - a->in_c + a->in_c - 1) / a->in_c;
    else if (last_y == a->in_h - 2 && l->line > (a->in_w + 1) * a->in_c)
        return none;
    if (y0 < 0 || last_y >= a->in_h || room_x < 0)
        return none;
    CtnSpan span = {ctn_div_up(a->pad_left, a->stride_w), (room_x + a->pad_left) / a->stride_w + 1};
    if (span.end > a->out_w)
        span.end = a->out_w;
    return span.first < span.end ? span : none;
}

static void output_row(const Layer *l, int32_t y0, int8_t *out) {
    const CtnDepthwiseConv2dS8Args *a = l->a;
    CtnSpan inner = inner_span(l, y0);
    for (int32_t ox = 0; ox < a->out_w;) {
        int32_t x0 = ox * a->stride_w - a->pad_left, pixels = 1;
        if (ox >= inner.first && ox < inner.end) {
            pixels = inner.end - ox;
            run_inner(l, y0, x0, pixels, out);
        } else {
            run_border(l, y0, x0, out);
        }
        ox += pixels;
        out += pixels * a->in_c;
    }
}

void ctn_depthwise_conv2d_s8_mve(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    Layer l = layer_of(a, frame);
    int8_t *output = ctn_at(frame, a->output);
    int32_t image = a->in_h * a->in_w * a->in_c;
    l.image = ctn_at(frame, a->input);
    for (int32_t b = 0; b < a->batches; b++, l.image += image) {
        l.image_end = l.image + image;
        for (int32_t oy = 0; oy < a->out_h; oy++, output += a->out_w * a->in_c)
            output_row(&l, oy * a->stride_h - a->pad_top, output);
    }
}
#endif
