/* Convolution with 4-bit weights on the scalar levels, by the rows of rows_w4.h. */
#ifndef CTN_CONV2D_ROWS_W4_H
#define CTN_CONV2D_ROWS_W4_H

#include "rows_w4.h"

#include "conv2d_rows_s16.h"

#define ROWS_W4(a, frame)                                                                          \
    {                                                                                              \
        .weights = ctn_at(frame, (a)->weights), .bias = ctn_at(frame, (a)->bias),                  \
        .multiplier = ctn_at(frame, (a)->multiplier), .shift = ctn_at(frame, (a)->shift),          \
        .output = ctn_at(frame, (a)->output), .output_bytes = 1,                                   \
        .zero_point = (a)->output_zero_point, .min = (a)->clamp_min, .max = (a)->clamp_max,        \
        .narrow = 1, .table = ctn_at(frame, (a)->table)                                            \
    }

/* The window's part of the arguments. */
static inline void conv2d_w4_by_rows(const CtnConv2dS8W4Args *a, const CtnFrame *frame) {
    const CtnRows rows = ROWS_W4(a, frame);
    const CtnConv2dS16Args window = {.input = a->input,
                                     .scratch = a->scratch,
                                     .batches = a->batches,
                                     .in_h = a->in_h,
                                     .in_w = a->in_w,
                                     .in_c = a->in_c,
                                     .out_h = a->out_h,
                                     .out_w = a->out_w,
                                     .out_c = a->out_c,
                                     .kernel_h = a->kernel_h,
                                     .kernel_w = a->kernel_w,
                                     .stride_h = a->stride_h,
                                     .stride_w = a->stride_w,
                                     .pad_top = a->pad_top,
                                     .pad_left = a->pad_left,
                                     .dilation_h = a->dilation_h,
                                     .dilation_w = a->dilation_w,
                                     .groups = 1,
                                     .input_bytes = 1,
                                     .input_zero_point = a->input_zero_point};
    convolve_rows(&window, frame, rows);
}

#endif
