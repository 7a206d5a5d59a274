/* Depthwise convolution channel by channel, four output positions in a run at a time: what the
 * scalar levels share. A level multiplies two positions at once: it wants words
 * base + a0 + a1 * 2^shift of the activations of neighbouring positions. For each channel and block
 * of four positions a strip of them is made, [lines][taps of a run][2], padding included, so that
 * all taps of an output follow each other, and the next line's output starts some lines on.
 *
 * Runs go along the width, or along the height if `turned` is set; "line" is the other direction,
 * which must not be dilated. */
#ifndef CTN_TAPS_H
#define CTN_TAPS_H

#include "ctn.h"

enum { CTN_TAPS_BLOCK = 4, CTN_TAPS_STRIP = 2048 /* bytes of scratch that suffice */ };

typedef struct {
    int32_t in, out, kernel, stride, pad, dilation; /* in positions */
    int32_t in_step, out_step;                      /* in bytes */
} CtnTapsAxis;

/* How the middle of a strip is made. */
typedef struct {
    int32_t rows, in_step; /* lines, and bytes between them in the image */
    int32_t step;          /* in the strip */
} CtnTapsRows;

/* A strip's outputs. */
typedef struct {
    const uint32_t *entries; /* of the first line */
    int32_t lines;           /* of outputs */
    int32_t line_step;       /* bytes between entries of output lines */
    int8_t *output;
    int32_t out_step;
    int32_t place[CTN_TAPS_BLOCK]; /* of the positions in an output line; some may be the same */
} CtnTapsBlock;

typedef struct CtnTaps CtnTaps;

/* What a level adds; `user` is its own. */
typedef struct {
    uint32_t base, shift;
    /* Two words for each row from four activations at `from` + offset[]. */
    void (*expand)(const int8_t *from, const int32_t *offset, uint32_t *to,
                   const CtnTapsRows *rows);
    /* All channels of a block, its output that of the first: calls ctn_taps_expand for each. */
    void (*run)(CtnTaps *taps, void *user);
} CtnTapsLevel;

/* Output lines of a strip. */
static inline int32_t ctn_taps_lines(const CtnTapsAxis *line, const CtnTapsAxis *run) {
    int32_t rows = CTN_TAPS_STRIP / (8 * run->kernel);
    int32_t lines = rows > line->kernel ? (rows - line->kernel) / line->stride + 1 : 1;
    return lines < line->out ? lines : line->out;
}

void ctn_taps_axes(const CtnDepthwiseConv2dS8Args *a, CtnTapsAxis *line, CtnTapsAxis *run);

struct CtnTaps {
    const CtnTapsLevel *level;
    CtnTapsAxis line, run;
    int32_t channels, per_input, zero_point;
    uint32_t *strip, *middle; /* the first line of the strip that lies in the image */
    int32_t *offset;          /* [run.kernel][CTN_TAPS_BLOCK] from `from` */
    int32_t edges;            /* are some of them in the padding? then they are less -1 */
    const int8_t *image, *from;
    CtnTapsRows rows;
    CtnTapsBlock block;
};

/* The strip of an input channel. */
void ctn_taps_expand(const CtnTaps *taps, int32_t channel);
/* The level has the first `reserved` words of scratch to itself. */
void ctn_taps_run(const CtnTapsLevel *level, void *user, const CtnDepthwiseConv2dS8Args *a,
                  const CtnFrame *frame, int32_t reserved);

#endif
