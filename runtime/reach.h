/* Which taps of a transposed convolution reach a place of the output, along one axis: those with
 * o + pad - tap * dilation = input * stride. Places o = first + i * stride have the same taps. */
#ifndef CTN_REACH_H
#define CTN_REACH_H

#include <stdint.h>

typedef struct {
    int32_t first, places;        /* of the output */
    int32_t tap, tap_step, count; /* taps in rising order */
    int32_t input, input_step;    /* what the first tap reads for the first place; the next tap
                                     reads input_step less, the next place one more */
} CtnReach;

/* 0 <= first < stride. */
static inline CtnReach ctn_reach(int32_t first, int32_t kernel, int32_t stride, int32_t dilation,
                                 int32_t pad, int32_t size) {
    CtnReach r = {.first = first,
                  .places = size > first ? (size - first + stride - 1) / stride : 0};
    for (int32_t tap = 0; tap < kernel; tap++) {
        int32_t at = first + pad - tap * dilation; /* of any sign: what % gives is 0 or not */
        if (at % stride != 0)
            continue;
        if (r.count == 0) {
            r.tap = tap;
            r.input = at / stride;
        } else if (r.count == 1) {
            r.tap_step = tap - r.tap;
            r.input_step = r.input - at / stride;
        }
        r.count++;
    }
    return r;
}

#endif
