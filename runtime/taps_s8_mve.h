/* The inner loop of MVE depthwise convolutions: one pixel after the other, sixteen channels at a
 * time, over a list of taps. Reads up to 15 bytes behind a tap's channels; they meet zero weights.
 */
#ifndef CTN_TAPS_S8_MVE_H
#define CTN_TAPS_S8_MVE_H

#include <stdint.h>

enum {
    CTN_TAPS_LANES = 16,
    CTN_TAPS_PARAMETERS = 144, /* bytes beside a group's weights */
    CTN_TAPS_OFFSET_ROOM = 8,  /* for an offset: 4 bytes on the chip, 8 on a host of 64 bits */
    CTN_TAPS_TIMES = 8,        /* outputs that read a channel, at most */
    CTN_TAPS_OUTSIDE = 3,      /* pixels of zero points that stand for what is outside */
};

/* Weights of a group of 16 channels: bias int32 [4][4], then 16 bytes a tap, then four times
 * multiplier int32 [4] and shift int8 [4]. Lane i of vector v is channel 4 * i + v. Weights are
 * -127 or more, so that two products fit 16 bits; bias has -zero_point * (sum of weights) in it;
 * all shifts are -1 or less. The order of the fields is that of the assembly. */
typedef struct {
    const int8_t *in;
    int8_t *out;
    const int8_t *weights;
    const intptr_t *offsets; /* of each tap from `in` */
    int32_t tap_pairs, odd_tap;
    int32_t groups, last; /* groups of 16 channels; channels of the last */
    int32_t pixels, in_step, out_step;
    int32_t zero_point, clamp_min, clamp_max;
    const int8_t *table;
} CtnTaps;

/* Any clamp within int8. */
void ctn_taps_exact_mve(const CtnTaps *t);
/* zero_point and clamp_min are -128, clamp_max is 127. */
void ctn_taps_relu_mve(const CtnTaps *t);
/* The table is indexed by sum + zero_point in 0..clamp_max: clamp_min is taken off all three. */
void ctn_taps_table_mve(const CtnTaps *t);

#endif
