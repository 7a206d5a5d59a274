/* How conv2d_s8_dsp cuts the window of an output pixel: what packing has to follow. Without groups
 * and gaps a line of the kernel is one run of bytes in the image, else a tap is. Runs that are
 * short, or no whole number of steps, are joined to one. */
#ifndef CTN_CONV_DSP_H
#define CTN_CONV_DSP_H

#include "ctn.h"

typedef struct {
    int32_t run, runs; /* bytes of a run; runs of a row */
    int32_t taps;      /* whether a run is a tap only */
    int32_t joined;    /* whether all lines are one run, in bytes of their own first */
    int32_t joined_bytes, padded_bytes; /* of scratch behind the rows */
} CtnConvCut;

static inline CtnConvCut ctn_conv_cut(const CtnConv2dS8Args *a) {
    enum { SHORT = 16, PIXELS = 3 };
    int32_t depth = a->in_c / a->groups, line = a->kernel_w * depth;
    CtnConvCut cut = {.run = line, .runs = a->kernel_h};
    if (a->groups > 1 || (a->dilation_w > 1 && a->kernel_w > 1)) {
        cut.run = depth;
        cut.runs *= a->kernel_w;
        cut.taps = 1;
    } else if (a->kernel_h > 1 && (line < SHORT || (line & 3) != 0)) {
        cut.run *= cut.runs;
        cut.runs = 1;
        cut.joined = 1;
        cut.joined_bytes = PIXELS * cut.run;
        cut.padded_bytes = line;
    } else if (a->kernel_h * a->kernel_w > 1 || a->pad_left > 0 || a->pad_top > 0 ||
               a->out_h * a->stride_h > a->in_h || a->out_w * a->stride_w > a->in_w) {
        cut.padded_bytes = line + (PIXELS - 1) * depth;
    }
    return cut;
}

#endif
