/* What the files of makers share: the generator that draws a case, and those makers that cases.c
 * does not hold itself. */
#ifndef CORTEN_KERNEL_MAKER_H
#define CORTEN_KERNEL_MAKER_H

#include "kernel/cases.h"

typedef struct {
    C *c;
    Graph *g;
    uint64_t state;
    int index;
    bool extreme; /* inputs are only -128 and 127 */
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
int32_t random_zero_point(Maker *m);
void random_factor(Maker *m, int32_t *multiplier, int32_t *shift, int32_t low, int32_t high);
Window window_of(Maker *m);
int64_t split_dims(Maker *m, int32_t *dim, int32_t *stride, int32_t *reduced,
                   int32_t *reduced_stride, int64_t *outputs);
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

/* rows.c */
void make_argmax_s8(Maker *m, Call *call);
void make_cumsum_s8(Maker *m, Call *call);
void make_adaptive_pool2d_s8(Maker *m, Call *call);
void make_adaptive_max_indices_s8(Maker *m, Call *call);
void make_max_pool2d_indices_s8(Maker *m, Call *call);
void make_reduce_int(Maker *m, Call *call);
void make_masked_softmax_s8(Maker *m, Call *call);
void make_log_softmax_s8(Maker *m, Call *call);

#endif
