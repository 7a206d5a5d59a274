/* What the files of makers share: the generator that draws a case, what several of them draw, and
 * the makers themselves. */
#ifndef CORTEN_KERNEL_MAKER_H
#define CORTEN_KERNEL_MAKER_H

#include "kernel/cases.h"

typedef struct {
    C *c;
    Graph *g;
    uint64_t state;
    int index;
    bool extreme;  /* inputs are only -128 and 127 */
    bool near_one; /* most floats are; else a third */
    bool large;    /* dims as networks have them */
} Maker;

/* A window sliding over images, edge cases first. */
typedef struct {
    int32_t batches, in_h, in_w, in_c, out_c, kernel_h, kernel_w, stride_h, stride_w, pad_top,
        pad_left, pad_bottom, pad_right, dilation_h, dilation_w, groups;
} Window;

int32_t between(Maker *m, int32_t low, int32_t high);
bool chance(Maker *m, int percent);
Value *tensor(Maker *m, const char *name, DType dtype, int64_t count);
void random_table(Maker *m, Call *call, uint32_t *field, int percent);
void random_clamp(Maker *m, int32_t *min, int32_t *max);
/* The end of a store: any clamp, or a table over all of 8 or 10 bits. */
/* A function of int16 for a store that writes output_bytes: a table or pieces. */
typedef struct {
    uint32_t *table, *start, *piece;
    int32_t *pieces;
} MapFields;
void random_map(Maker *m, Call *call, const MapFields *f, int32_t output_bytes);
void random_store(Maker *m, Call *call, int32_t *min, int32_t *max, uint32_t *table);
int32_t random_zero_point(Maker *m);
void random_factor(Maker *m, int32_t *multiplier, int32_t *shift, int32_t low, int32_t high);
/* What a softmax has: beta * scale * 2^26 as a factor above one, and the distance from the largest
 * that no longer counts; as networks have it few are so far apart. */
void softmax_fields(Maker *m, int32_t *multiplier, int32_t *shift, int32_t *diff_min);
Window window_of(Maker *m);
/* An image that is at least as large as the window. */
void fit(Window *w);
/* As averages take it: without dilation, and padded less than the kernel, so that each window has a
 * tap. */
void undilate(Window *w);
void constant(Call *call, uint32_t *field, DType dtype, int64_t count, const void *data);
/* Weights of `depth` for each channel, biases and factors, so that sums are within int32. */
void channel_constants(Maker *m, Call *call, int64_t channels, int64_t depth, uint32_t *weights,
                       uint32_t *bias, uint32_t *multiplier, uint32_t *shift);
/* Dims that are small, some of them 1 or 0. */
void fill_dims(Maker *m, int rank, int32_t *dim);
/* Strides of a dense tensor; returns its number of elements. */
int64_t dense_strides(int rank, const int32_t *dim, int32_t *stride);
int64_t split_dims(Maker *m, int32_t *dim, int32_t *stride, int32_t *reduced,
                   int32_t *reduced_stride, int64_t *outputs);
/* Lines of a tensor [outer][count][inner], each of `count` elements `step` apart; returns its
 * number of elements. */
int64_t line_fields(Maker *m, int32_t dim[6], int32_t stride[6], int32_t *count, int32_t *step);
uint32_t next(Maker *m);

#define WINDOW_FIELDS(a, w)                                                                        \
    do {                                                                                           \
        (a)->batches = (w)->batches;                                                               \
        (a)->in_h = (w)->in_h;                                                                     \
        (a)->in_w = (w)->in_w;                                                                     \
        (a)->out_h = out_size((w)->in_h, (w)->pad_top, (w)->pad_bottom, (w)->kernel_h,             \
                              (w)->dilation_h, (w)->stride_h);                                     \
        (a)->out_w = out_size((w)->in_w, (w)->pad_left, (w)->pad_right, (w)->kernel_w,             \
                              (w)->dilation_w, (w)->stride_w);                                     \
        (a)->kernel_h = (w)->kernel_h;                                                             \
        (a)->kernel_w = (w)->kernel_w;                                                             \
        (a)->stride_h = (w)->stride_h;                                                             \
        (a)->stride_w = (w)->stride_w;                                                             \
        (a)->pad_top = (w)->pad_top;                                                               \
        (a)->pad_left = (w)->pad_left;                                                             \
    } while (0)

int32_t out_size(int32_t in, int32_t before, int32_t after, int32_t kernel, int32_t dilation,
                 int32_t stride); /* of a window's output */

/* Each kernel's maker; not all have one. */
#define DECLARE_MAKER(name, Struct, FIELDS) void make_##name(Maker *m, Call *call);
CTN_KERNELS(DECLARE_MAKER)

#endif
