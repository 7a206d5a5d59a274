/* Convolution between 8 and 16 bits, of which a level has made the loops: windows are gathered two
 * at a time as the rows of rows_s16.h, padding as zeros. Depthwise layers go by lists of the taps
 * that lie in the image, several channels at a time.
 *
 * weights: [out_c][depth], filled up; of depthwise layers [taps][out_c]. scratch: two windows, or a
 * list of taps. */
#ifndef CTN_CONV2D_ROWS_S16_H
#define CTN_CONV2D_ROWS_S16_H

#include "ctn.h"
#include "loop.h"
#include "taps_s16.h"

typedef struct {
    const CtnConv2dS16Args *a;
    const void *input;
    CtnRows rows;
    int32_t depth;  /* channels of a group */
    int32_t direct; /* rows lie side by side in the input */
} ConvS16;

static void gather_window(const ConvS16 *v, int32_t image, int32_t channel, int32_t oy, int32_t ox,
                          int16_t *to) {
    const CtnConv2dS16Args *a = v->a;
    int32_t y0 = oy * a->stride_h - a->pad_top, x0 = ox * a->stride_w - a->pad_left;
    int16_t *end = to + v->rows.depth;
    for (int32_t ky = 0; ky < a->kernel_h; ky++) {
        int32_t y = y0 + ky * a->dilation_h;
        if (y < 0 || y >= a->in_h) {
            ctn_rows_zeros(&to, a->kernel_w * v->depth);
            continue;
        }
        int32_t line = image + y * a->in_w * a->in_c + channel;
        if (a->dilation_w == 1 && a->groups == 1 && x0 >= 0 && x0 + a->kernel_w <= a->in_w) {
            ctn_rows_take(&to, v->input, a->input_bytes, a->input_zero_point, line + x0 * a->in_c,
                          a->kernel_w * a->in_c);
            continue;
        }
        for (int32_t kx = 0; kx < a->kernel_w; kx++) {
            int32_t x = x0 + kx * a->dilation_w;
            if (x >= 0 && x < a->in_w)
                ctn_rows_take(&to, v->input, a->input_bytes, a->input_zero_point,
                              line + x * a->in_c, v->depth);
            else
                ctn_rows_zeros(&to, v->depth);
        }
    }
    ctn_rows_zeros(&to, (int32_t)(end - to));
}

/* The row of output pixel `pixel` of all batches. */
static const int16_t *pixel_row(const ConvS16 *v, int32_t pixel, int32_t channel, int16_t *to) {
    const CtnConv2dS16Args *a = v->a;
    if (v->direct)
        return (const int16_t *)v->input + pixel * a->in_c;
    int32_t line = pixel / a->out_w, batch = line / a->out_h;
    gather_window(v, batch * a->in_h * a->in_w * a->in_c, channel, line - batch * a->out_h,
                  pixel - line * a->out_w, to);
    return to;
}

static inline void convolve_rows(const CtnConv2dS16Args *a, const CtnFrame *frame, CtnRows rows) {
    ConvS16 v = {.a = a, .input = ctn_at(frame, a->input), .depth = a->in_c / a->groups};
    int16_t *first = ctn_at(frame, a->scratch);
    int32_t pixels = a->batches * a->out_h * a->out_w, filter = a->kernel_h * a->kernel_w;
    rows.channels = a->out_c / a->groups;
    rows.depth = ctn_rows_depth(filter * v.depth);
    v.rows = rows;
    v.direct = a->input_bytes == 2 && filter == 1 && a->stride_h * a->stride_w == 1 &&
               a->groups == 1 && rows.depth == a->in_c && a->out_h == a->in_h &&
               a->out_w == a->in_w;
    for (int32_t group = 0; group < a->groups; group++) {
        int32_t at = group * rows.channels, channel = group * v.depth, pixel = 0;
        CtnRows *r = &v.rows;
        for (; pixel + 2 <= pixels; pixel += 2) {
            const int16_t *x0 = pixel_row(&v, pixel, channel, first);
            const int16_t *x1 = pixel_row(&v, pixel + 1, channel, first + rows.depth);
            ctn_rows_two(r, x0, x1, at + pixel * a->out_c, at + (pixel + 1) * a->out_c);
        }
        if (pixel < pixels)
            ctn_rows_one(r, pixel_row(&v, pixel, channel, first), at + pixel * a->out_c);
        r->weights += rows.channels * rows.depth;
        r->bias += rows.channels;
        r->multiplier += rows.channels;
        r->shift += rows.channels;
    }
}

static inline void conv2d_by_rows(const CtnConv2dS16Args *a, const CtnFrame *frame) {
    CtnRows rows = {.weights = ctn_at(frame, a->weights),
                    .bias = ctn_at(frame, a->bias),
                    .multiplier = ctn_at(frame, a->multiplier),
                    .shift = ctn_at(frame, a->shift),
                    .output = ctn_at(frame, a->output),
                    .channels = a->out_c,
                    .output_bytes = a->output_bytes,
                    .zero_point = a->output_zero_point,
                    .min = a->clamp_min,
                    .max = a->clamp_max,
                    .narrow = a->narrow};
#ifdef CTN_ROWS_MAP
    rows.map = (CtnMapS16)CTN_MAP_S16(a, frame);
#endif
    if (a->groups > 1 && a->groups == a->in_c)
        depthwise_by_taps(a, frame, &rows);
    else
        convolve_rows(a, frame, rows);
}

#endif
