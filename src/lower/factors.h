/* What the short stores of the variants rest on: an output's fixed-point factors in the form that
 * they want, and the proof, from the weights, that the short store is exact for every input. */
#ifndef CORTEN_FACTORS_H
#define CORTEN_FACTORS_H

#include "lower/packing.h"

typedef struct {
    int64_t low, high; /* bounds of the sum with its bias */
    int64_t bias;      /* with the input's zero point folded in */
    int32_t multiplier;
    int32_t right_shift; /* 1 .. FACTOR_SHIFT_MAX */
} Factor;

enum { FACTOR_SHIFT_MAX = 20 };

/* The constants of the outputs of a convolution or linear layer; bias may be NULL. */
typedef struct {
    const int8_t *weights;
    const int32_t *bias, *multiplier;
    const int8_t *shift;
    int64_t channels, depth;
    int64_t channel_step, depth_step; /* between weights */
    int32_t input_zero_point, output_zero_point;
} Columns;

/* The factors of one channel for activations that are given as q + offset. False if the sum does
 * not stay within 2^30 or the shift is not one to the right, unless the output hardly depends on
 * the sum. Results are those of sums of low..high saturated to at most 10 bits. */
bool column_factor(const Columns *k, int64_t channel, int32_t offset, Factor *f);
bool columns_fit(const Columns *k);
/* May the store hold this zero point and, if there is a table, is it one of 8 or 10 bits? */
bool store_fits(const Call *call, const uint32_t *table, int32_t zero_point, int32_t clamp_min,
                int32_t clamp_max);

/* ARMv6-M (runtime/store_v6m.h): may all factors be narrow; and the CTN_STORE_FACTORS bytes of one.
 */
bool columns_are_narrow(const Columns *k);
uint8_t *put_bytes(uint8_t *to, uint32_t value, int bytes);
uint8_t *put_factor(const Factor *f, bool narrow, uint8_t *to);

bool conv2d_columns(const Call *call, Columns *k);
/* The convolution that one pair of remainders of a transposed one is, `all` being the whole; one
 * tap of zeros where none reaches. */
Columns reached_columns(C *c, const CtnConvTranspose2dS8Args *a, const Columns *all,
                        const CtnReach *down, const CtnReach *across);
/* Packs one of these convolutions: its stream, and what scratch its kernel needs, in bytes. */
typedef void *StreamOfReached(C *c, const Columns *k, const CtnConvTranspose2dS8Args *a,
                              int64_t *bytes, int64_t *scratch);
/* Packs a transposed convolution: the streams of all pairs that have places, rows first. */
void pack_reaches(C *c, Call *call, int alignment, StreamOfReached *stream_of);
bool linear_columns(const Call *call, Columns *k);
bool depthwise_columns(const Call *call, Columns *k);

#endif
