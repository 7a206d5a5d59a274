/* Where between two inputs an output of a bilinear upsampling lies. */
#ifndef CTN_BILINEAR_H
#define CTN_BILINEAR_H

#include <stdint.h>

enum { CTN_BILINEAR_BITS = 12, CTN_BILINEAR_ONE = 1 << CTN_BILINEAR_BITS };

typedef struct {
    int32_t low, high, weight; /* weight of high; CTN_BILINEAR_ONE - weight of low */
} CtnBilinearTap;

/* Of what the argument lists call rows and columns, in an input of `size`. */
static inline CtnBilinearTap ctn_bilinear_tap(int32_t packed, int32_t size) {
    CtnBilinearTap t = {packed >> (CTN_BILINEAR_BITS + 1), 0, packed & (2 * CTN_BILINEAR_ONE - 1)};
    t.high = t.low < size - 1 ? t.low + 1 : t.low;
    return t;
}

/* Two numbers of up to 16 bits, mixed: up to 28 bits. */
static inline int32_t ctn_bilinear_mix(int32_t low, int32_t high, int32_t weight) {
    return low * (CTN_BILINEAR_ONE - weight) + high * weight;
}

#endif
