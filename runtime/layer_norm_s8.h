/* Normalization of groups of elements by their mean and variance, in integers throughout. With n
 * elements q (corrected by the zero point, 9 bits) the exact n^2 * variance is
 * n * sum(q^2) - sum(q)^2, below 2^60 for n below 2^22; so an element is (n * q - sum) divided by
 * the square root of that, whatever the input's scale. */
#ifndef CTN_LAYER_NORM_S8_H
#define CTN_LAYER_NORM_S8_H

#include "ctn.h"
#include "fix.h"
#include "loop.h"

enum { CTN_NORM_BITS = 16 }; /* fraction bits of a normalized element: |x| < 2^11 */

typedef struct { /* 1 / sqrt(v) = reciprocal * 2^(exponent - 62), 2^30 < reciprocal <= 2^31 */
    int64_t sum, reciprocal;
    int exponent;
} CtnNorm;

static inline uint32_t ctn_norm_root(uint64_t v) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= v)
            root |= bit;
    return (uint32_t)root;
}

/* From the sums of a group's elements and of their squares. */
static inline CtnNorm ctn_norm_of(const CtnLayerNormS8Args *a, int64_t sum, int64_t squares) {
    CtnNorm s = {a->centered ? sum : 0, 0, 0};
    uint64_t epsilon = (uint64_t)(uint32_t)a->epsilon_high << 32 | (uint32_t)a->epsilon_low;
    uint64_t v = (uint64_t)(squares * a->count - s.sum * s.sum) + epsilon;
    if (v == 0)
        v = 1; /* all elements are zero then */
    while (v < (uint64_t)1 << 62) {
        v <<= 2;
        s.exponent++;
    }
    s.reciprocal = (int64_t)(((uint64_t)1 << 62) / ctn_norm_root(v));
    return s;
}

/* One group: its first element and the parameters' place there. */
typedef void CtnNormGroup(const CtnLayerNormS8Args *a, const CtnFrame *frame, const int8_t *input,
                          int32_t parameter, int8_t *output);

static inline void ctn_norm_all(const CtnLayerNormS8Args *a, const CtnFrame *frame,
                                CtnNormGroup *group) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[4] = {0}, offset = 0, parameter = 0;
    if (ctn_is_empty(4, a->dim) || ctn_is_empty(4, a->reduced))
        return;
    do
        group(a, frame, input + offset, parameter, output + offset);
    while (ctn_step(4, a->dim, index, a->stride, &offset, a->parameter_stride, &parameter));
}

#endif
