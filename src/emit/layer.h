/* What the writers of other programs than C ask of a node: the numbers of a layer and the window
 * that a convolution or pool slides. */
#ifndef CORTEN_LAYER_H
#define CORTEN_LAYER_H

#include "lower/lower.h"

bool grids_equal(const Value *a, const Value *b);
bool layer_int8(const Value *v);      /* an activation or weight of 8 bits */
bool layer_int16(const Value *v);     /* an activation of 16 bits */
bool layer_quantized(const Value *v); /* one or the other */
/* It has constant weights of 8 or 4 bits, and a constant bias or none. */
bool layer_constant(const Node *n);
bool layer_fits(const Node *n); /* and int8 in and out */
/* These weights as int8, in the order of the graph. */
const int8_t *layer_bytes(C *c, const Node *n);

/* Height and width of an image of rank 3 or 4: one spatial dim is two with a height of one. */
typedef struct {
    int64_t of[2];
} Sides;
bool layer_is_image(const Value *v);
Sides image_sides(const Value *v);

typedef struct {
    int64_t in_c, out_c, groups, depth; /* depth: input channels of a group */
    int64_t kernel[2], stride[2], dilation[2], in[2], out[2];
    int64_t side[4]; /* padding: top, bottom, left, right */
} LayerWindow;

LayerWindow layer_window(const Node *n); /* of a convolution */
/* Of a pool; false if that is not one of images in 8 or 16 bits. */
bool pool_window(const Node *n, LayerWindow *k);

/* By how much the last window along dim a (0: height) reaches past the image's end; negative: what
 * no window reaches. */
int64_t window_overhang(const LayerWindow *k, int a);

/* How many elements each of a pool's windows has: of the image, or with its padding. */
int32_t *window_divisors(C *c, const LayerWindow *k, bool padding);
/* The same of an adaptive pool from x to y. */
int32_t *adaptive_divisors(C *c, const Value *x, const Value *y);

/* Weights [o][i][taps] as [o][taps][i], or as [taps][o] with one channel a group. */
const int8_t *layer_weights(C *c, const Node *n, const LayerWindow *k, bool depthwise);
/* [o][taps][i] of a window without groups and dilation, which *k becomes: zeros are written out,
 * unless layer_whole_refusal says that they are too many; NULL: they are not. */
const char *layer_whole_refusal(C *c, const LayerWindow *k);
const int8_t *layer_whole_weights(C *c, const Node *n, LayerWindow *k);
const int32_t *layer_bias(C *c, const Node *n, int64_t channels); /* zeros if there is none */
/* The dims of x in an order that has those innermost whose elements have slopes of a PReLU, and how
 * many have none; -1: they are not neighbours. */
int layer_slopes_last(const Value *x, const Value *weight, int8_t *order);
double layer_real(const Value *weight, int64_t i); /* number i of a constant */
/* What brings the sums of each channel to the grid of n's first output. */
void layer_factors(const Node *n, int64_t channels, int32_t *multiplier, int32_t *shift);

#endif
