/* Normalization of groups whose innermost dim is dense, a run at a time: what the levels share.
 *
 * The host has proven n <= 2^20, so that sums and n * q - sum =: d stay below 2^29; a shift of -1
 * to -20; |beta| <= 2^26, so that an element before its factor stays below 2^28.
 *
 * Of the plain kernel's x = (d * reciprocal + 2^(s-1)) >> s, 15 <= s <= 46, only the high word of a
 * product is needed: x = (((d << left) * reciprocal >> 32) + 2^(right-1)) >> right with
 * left - right = 32 - s and right >= 1, exact because 2^(right-1) is whole. As |x| < 2^27,
 * |d| < 2^(s-3) about, and d << left below 2^30 and a little. A reciprocal of 2^31 is halved, and s
 * with it: that it is even. */
#ifndef CTN_NORM_RUNS_S8_H
#define CTN_NORM_RUNS_S8_H

#include "layer_norm_s8.h"

typedef struct {
    int32_t count, offset; /* d = q * count + offset */
    int32_t reciprocal, left, right;
} CtnNormRun;

static inline CtnNormRun ctn_norm_run(const CtnLayerNormS8Args *a, int32_t sum, int64_t squares) {
    CtnNorm norm = ctn_norm_of(a, sum, squares);
    int s = 62 - CTN_NORM_BITS - norm.exponent;
    if (norm.reciprocal == (int64_t)1 << 31) {
        norm.reciprocal >>= 1;
        s--;
    }
    CtnNormRun run = {.count = a->count,
                      .offset = -a->input_zero_point * a->count - (int32_t)norm.sum,
                      .reciprocal = (int32_t)norm.reciprocal,
                      .left = s < 33 ? 33 - s : 0,
                      .right = s < 33 ? 1 : s - 32};
    return run;
}

/* Sums of q and q^2, zero points included, over a run of `count` elements. */
typedef void CtnNormSums(const int8_t *input, int32_t count, int32_t *sum, int64_t *squares);

/* The statistics of a group, by a level's sums of its runs: with z the zero point,
 * sum (q - z)^2 = sum q^2 - 2 z sum q + n z^2. */
static inline CtnNormRun ctn_norm_group(const CtnLayerNormS8Args *a, const int8_t *input,
                                        CtnNormSums *sums) {
    static const int32_t still[3] = {0};
    int32_t index[3] = {0}, offset = 0, zero = 0, sum = 0, z = a->input_zero_point;
    int64_t squares = 0;
    do
        sums(input + offset, a->reduced[3], &sum, &squares);
    while (ctn_step(3, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    squares -= 2 * (int64_t)z * sum - (int64_t)a->count * z * z;
    return ctn_norm_run(a, sum - a->count * z, squares);
}

#endif
