/* Depthwise convolution by MVE: sixteen channels at a time over a list of taps (taps_s8_mve.h).
 *
 * Where channels fill vectors, pixels whose windows lie within the image are taken together, and
 * others a few at a time: what their taps lack is read from pixels of zero points, which the packed
 * bias cancels. Elsewhere rows whose windows do not lie within the image are first copied to a
 * strip with their padding; where 16 is a multiple of the channels and the stride is 1, 16 /
 * channels neighbouring pixels take part as sixteen channels: their taps are neighbours as well.
 *
 * Where several outputs read each channel, the strip is copied once more with the channel as often.
 *
 * Scratch: the taps' offsets, then those of pixels at the edge and pixels of zero points, or
 * strips. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "taps_s8_mve.h"
#include "vector_mve.h"

typedef struct {
    const CtnDepthwiseConv2dS8Args *a;
    CtnTaps taps;
    void (*run)(const CtnTaps *);
    intptr_t *offsets;
    int8_t *strip;
    int32_t row;             /* bytes between rows for which the offsets are */
    int32_t together, units; /* pixels that take part as one, and how many of these a row has */
    int32_t beyond;          /* bytes that the last tap reads beyond its own pixel's channels */
} Layer;

/* Field by field: a strip of few rows makes a layer for each of its steps, so that clearing it or
 * handing it over as a whole would show. */
static void layer_begin(Layer *l, const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    CtnTaps *t = &l->taps;
    int32_t count = a->kernel_h * a->kernel_w;
    l->a = a;
    l->offsets = ctn_at(frame, a->scratch);
    l->row = -1;
    l->together =
        a->stride_w == 1 && CTN_TAPS_LANES % a->out_c == 0 ? CTN_TAPS_LANES / a->out_c : 1;
    l->units = (a->out_w + l->together - 1) / l->together;
    int32_t bytes = a->out_c * l->together;
    t->groups = (bytes + CTN_TAPS_LANES - 1) / CTN_TAPS_LANES;
    t->last = bytes - (t->groups - 1) * CTN_TAPS_LANES;
    l->beyond = t->groups * CTN_TAPS_LANES - a->out_c;
    l->strip = (int8_t *)(l->offsets + count);
    t->offsets = l->offsets;
    t->weights = ctn_at(frame, a->weights);
    t->tap_pairs = count / 2;
    t->odd_tap = count % 2;
    t->in_step = l->together * a->stride_w * a->out_c;
    t->out_step = l->together * a->out_c;
    t->table = ctn_at(frame, a->table);
    int32_t first = t->table ? a->clamp_min : 0; /* what the table's first entry stands for */
    t->zero_point = a->output_zero_point - first;
    t->clamp_min = a->clamp_min - first;
    t->clamp_max = a->clamp_max - first;
    l->run = t->table ? ctn_taps_table_mve : ctn_taps_exact_mve;
    if (!t->table && a->output_zero_point == -128 && a->clamp_min == -128 && a->clamp_max == 127)
        l->run = ctn_taps_relu_mve;
}

static void set_offsets(Layer *l, int32_t row, int32_t row_step) {
    const CtnDepthwiseConv2dS8Args *a = l->a;
    intptr_t *offset = l->offsets;
    if (l->row == row)
        return;
    l->row = row;
    for (int32_t ky = 0; ky < a->kernel_h; ky++)
        for (int32_t kx = 0; kx < a->kernel_w; kx++)
            *offset++ = ky * row_step * row + kx * a->dilation_w * a->out_c;
}

/* An output row from rows that lie `row` bytes apart. */
static void run_row(Layer *l, const int8_t *in, int32_t row, int32_t row_step, int8_t *out) {
    CtnTaps *t = &l->taps;
    int32_t left = l->together > 1 ? l->a->out_w % l->together : 0;
    set_offsets(l, row, row_step);
    t->in = in;
    t->out = out;
    t->pixels = l->units - (left > 0);
    if (t->pixels > 0)
        l->run(t);
    if (left > 0) {
        int32_t last = t->last;
        t->in += t->pixels * t->in_step;
        t->out += t->pixels * t->out_step;
        t->pixels = 1;
        t->last = left * l->a->out_c;
        l->run(t);
        t->last = last;
    }
}

/* ---- channels that fill vectors ------------------------------------------------------------ */

/* Pixels whose windows leave the image; the first begins at (y0, x0). More than one only if all lie
 * within its columns, and as many as fit what stands for the outside. */
__attribute__((noinline)) static void run_edge(Layer *l, const int8_t *image, int32_t y0,
                                               int32_t x0, int32_t pixels, int8_t *out) {
    const CtnDepthwiseConv2dS8Args *a = l->a;
    CtnTaps *t = &l->taps;
    intptr_t *edge = l->offsets + a->kernel_h * a->kernel_w, *offset = edge;
    intptr_t outside = (intptr_t)(edge + a->kernel_h * a->kernel_w) - (intptr_t)image;
    /* in registers: for all that the compiler knows, offsets are stored over arguments */
    const int32_t rows = a->kernel_h, taps = a->kernel_w, down = a->dilation_h;
    const int32_t across = a->dilation_w, step = a->dilation_w * a->in_c, row = a->in_w * a->in_c;
    const uint32_t in_h = (uint32_t)a->in_h, in_w = (uint32_t)a->in_w;
    int32_t first = y0 * row + x0 * a->in_c, y = y0;
    for (int32_t ky = rows; ky > 0; ky--, y += down, first += down * row) {
        uint32_t width = (uint32_t)y < in_h ? in_w : 0; /* columns that this row has */
        int32_t at = first, x = x0;
        for (int32_t kx = taps; kx > 0; kx--, x += across, at += step)
            *offset++ = (uint32_t)x < width ? at : outside;
    }
    t->in = image;
    t->out = out;
    t->pixels = pixels;
    t->offsets = edge;
    l->run(t);
    t->offsets = l->offsets;
}

/* Output pixels [first, end) of a row have windows within the image's columns. */
static void run_vectors(Layer *l, const int8_t *image, int8_t *output) {
    const CtnDepthwiseConv2dS8Args *a = l->a;
    int32_t row = a->in_w * a->in_c;
    int32_t high = (a->kernel_h - 1) * a->dilation_h, wide = (a->kernel_w - 1) * a->dilation_w;
    int32_t first = (a->pad_left + a->stride_w - 1) / a->stride_w;
    int32_t room = a->in_w + a->pad_left - wide; /* columns at which a window may begin */
    int32_t end = room > 0 ? (room - 1) / a->stride_w + 1 : 0;
    end = end < a->out_w ? end : a->out_w;
    int32_t some = 1 + (CTN_TAPS_OUTSIDE - 1) / a->stride_w;
    for (int32_t oy = 0; oy < a->out_h; oy++) {
        int32_t y0 = oy * a->stride_h - a->pad_top;
        int within = y0 >= 0 && y0 + high < a->in_h;
        for (int32_t ox = 0, pixels; ox < a->out_w; ox += pixels, output += pixels * a->in_c) {
            int32_t x0 = ox * a->stride_w - a->pad_left;
            pixels = ox >= first && ox < end ? end - ox : 1;
            if (within && ox >= first && ox < end) {
                set_offsets(l, row, a->dilation_h);
                l->taps.in = image + y0 * row + x0 * a->in_c;
                l->taps.out = output;
                l->taps.pixels = pixels;
                l->run(&l->taps);
            } else {
                pixels = pixels < some ? pixels : some;
                run_edge(l, image, y0, x0, pixels, output);
            }
        }
    }
}

/* ---- all others ---------------------------------------------------------------------------- */

/* `times` copies of each byte side by side, whole vectors of them at a time; place[i] = i / times.
 */
static void widen(const int8_t *from, int32_t bytes, const uint8_t *place, int32_t times,
                  int8_t *to) {
    for (; bytes > 0; bytes -= CTN_TAPS_LANES, from += CTN_TAPS_LANES)
        for (int32_t v = 0; v < times; v++, to += CTN_TAPS_LANES)
            vstrbq_s8(to, vldrbq_gather_offset_s8(from, vldrbq_u8(place + v * CTN_TAPS_LANES)));
}

static CtnStrip strip_of(const CtnDepthwiseConv2dS8Args *a, const int8_t *image) {
    return (CtnStrip){.image = image,
                      .in_h = a->in_h,
                      .in_w = a->in_w,
                      .channels = a->in_c,
                      .x0 = -a->pad_left,
                      .width = (a->out_w - 1) * a->stride_w + (a->kernel_w - 1) * a->dilation_w + 1,
                      .rows = a->kernel_h,
                      .row_step = a->dilation_h,
                      .zero_point = a->input_zero_point};
}

__attribute__((noinline)) static void run_widened(Layer *l, const int8_t *image, int8_t *output) {
    const CtnDepthwiseConv2dS8Args *a = l->a;
    const CtnStrip strip = strip_of(a, image);
    const int32_t times = a->out_c / a->in_c, bytes = strip.rows * strip.width * a->in_c;
    int8_t *wide = l->strip + bytes + CTN_TAPS_LANES;
    uint8_t place[CTN_TAPS_TIMES * CTN_TAPS_LANES];
    for (int32_t i = 0, k = 0; i < CTN_TAPS_LANES; i++)
        for (int32_t n = 0; n < times; n++)
            place[k++] = (uint8_t)i;
    for (int32_t oy = 0; oy < a->out_h; oy++, output += a->out_w * a->out_c) {
        ctn_strip_mve(&strip, oy * a->stride_h - a->pad_top, l->strip);
        widen(l->strip, bytes, place, times, wide);
        run_row(l, wide, strip.width * a->out_c, 1, output);
    }
}

static void run_strips(Layer *l, const int8_t *image, int8_t *output) {
    const CtnDepthwiseConv2dS8Args *a = l->a;
    int32_t row = a->in_w * a->in_c;
    const CtnStrip strip = strip_of(a, image);
    int32_t first_unit = (l->units - 1) * l->together * a->stride_w; /* column of the last unit */
    int32_t reach = (first_unit + (a->kernel_w - 1) * a->dilation_w + 1) * a->in_c + l->beyond;
    for (int32_t oy = 0; oy < a->out_h; oy++, output += a->out_w * a->in_c) {
        int32_t y0 = oy * a->stride_h - a->pad_top;
        int32_t rows_left = a->in_h - (y0 + (a->kernel_h - 1) * a->dilation_h);
        if (a->pad_left == 0 && strip.width <= a->in_w && y0 >= 0 && reach <= rows_left * row) {
            run_row(l, image + y0 * row, row, a->dilation_h, output);
        } else {
            ctn_strip_mve(&strip, y0, l->strip);
            run_row(l, l->strip, strip.width * a->in_c, 1, output);
        }
    }
}

void ctn_depthwise_conv2d_s8_mve(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    Layer l;
    const int8_t *image = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int once = a->in_c == a->out_c, fills = once && a->in_c % CTN_TAPS_LANES == 0;
    layer_begin(&l, a, frame);
    if (fills)
        ctn_vector_fill((int8_t *)(l.offsets + 2 * a->kernel_h * a->kernel_w), a->input_zero_point,
                        CTN_TAPS_OUTSIDE * a->in_c);
    for (int32_t b = 0; b < a->batches; b++) {
        if (fills)
            run_vectors(&l, image, output);
        else if (once)
            run_strips(&l, image, output);
        else
            run_widened(&l, image, output);
        image += a->in_h * a->in_w * a->in_c;
        output += a->out_h * a->out_w * a->out_c;
    }
}
#endif
