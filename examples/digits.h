/* Four digits that the model of digits_silu/ was not trained on, as a sensor would give them:
 * pixels of 0..16. */
#ifndef DIGITS_H
#define DIGITS_H

#include "digits_silu.h"

enum { DIGIT_COUNT = 4, DIGIT_PIXELS = 64, DIGIT_CLASSES = 10 };

static const uint8_t digit_pixels[DIGIT_COUNT][DIGIT_PIXELS] = {
    {0, 2,  13, 16, 16, 15, 4,  0,  0, 7,  12, 8, 8, 16, 12, 0,  0,  0,  0, 0, 8, 16,
     7, 0,  0,  0,  0,  0,  14, 10, 0, 0,  0,  0, 0, 0,  12, 15, 3,  0,  0, 0, 0, 0,
     2, 16, 11, 0,  0,  0,  4,  4,  7, 16, 10, 0, 0, 2,  15, 16, 16, 12, 1, 0},
    {0,  0,  3, 13, 16, 15, 6, 0,  0,  0, 13, 13, 9, 16, 10, 0,  0, 0, 16, 9, 0, 14,
     6,  0,  0, 0,  14, 2,  6, 15, 0,  0, 0,  0,  0, 5,  15, 15, 6, 0, 0,  0, 0, 16,
     15, 10, 2, 0,  0,  0,  0, 13, 11, 0, 0,  0,  0, 0,  4,  16, 7, 0, 0,  0},
    {0,  0, 3, 11, 16, 16, 4,  0,  0,  0, 9, 12, 12, 16, 9,  0,  0, 0, 0, 0, 1, 16,
     8,  0, 0, 0,  0,  9,  14, 16, 9,  0, 0, 0,  1,  16, 16, 14, 5, 0, 0, 0, 0, 6,
     16, 4, 0, 0,  0,  0,  0,  11, 14, 0, 0, 0,  0,  0,  1,  15, 7, 0, 0, 0},
    {0, 0,  6, 14, 13, 1, 0,  0,  0,  3, 16, 10, 5,  11, 0, 0,  0, 5, 16, 0, 0,  13,
     0, 0,  0, 6,  12, 0, 0,  12, 3,  0, 0,  7,  12, 0,  0, 13, 3, 0, 0,  3, 11, 0,
     5, 12, 0, 0,  0,  0, 13, 4,  15, 4, 0,  0,  0,  0,  5, 16, 6, 0, 0,  0},
};
static const int digit_labels[DIGIT_COUNT] = {3, 7, 7, 0};

/* A pixel as the model takes it: a real number of 0..1 on its input's grid. */
static inline int8_t pixel_quantize(uint8_t pixel) {
    int steps = (int)((float)pixel / 16.0F / DIGITS_SILU_INPUT0_SCALE + 0.5F); /* >= 0: rounds */
    return (int8_t)(steps + DIGITS_SILU_INPUT0_ZERO_POINT);
}

static inline void digit_quantize(const uint8_t *pixels, int8_t *input) {
    for (int i = 0; i < DIGIT_PIXELS; i++)
        input[i] = pixel_quantize(pixels[i]);
}

static inline int digit_best(const int8_t *scores) {
    int best = 0;
    for (int i = 1; i < DIGIT_CLASSES; i++)
        best = scores[i] > scores[best] ? i : best;
    return best;
}

#endif
