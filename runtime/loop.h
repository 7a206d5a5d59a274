/* What the loops of several kernels share: which taps of a window lie in the image, and stepping
 * through nested dimensions by strides. */
#ifndef CTN_LOOP_H
#define CTN_LOOP_H

#include <stdint.h>

/* Taps first <= k < end are those with 0 <= start + k * dilation < size. */
typedef struct {
    int32_t first, end;
} CtnSpan;

static inline int32_t ctn_div_up(int32_t a, int32_t b) { /* a >= 0, b > 0 */
    return b == 1 ? a : (a + b - 1) / b;
}

static inline CtnSpan ctn_span(int32_t start, int32_t dilation, int32_t taps, int32_t size) {
    CtnSpan span;
    span.first = start < 0 ? ctn_div_up(-start, dilation) : 0;
    span.end = start < size ? ctn_div_up(size - start, dilation) : 0;
    if (span.end > taps)
        span.end = taps;
    if (span.first > span.end)
        span.first = span.end;
    return span;
}

static inline int ctn_is_empty(int rank, const int32_t *dim) {
    for (int d = 0; d < rank; d++)
        if (dim[d] == 0)
            return 1;
    return 0;
}

/* Advances index over dim[0..rank), the last fastest, and the two offsets with it. 0 when all
 * have been visited; offsets and index are then back at the start. */
static inline int ctn_step(int rank, const int32_t *dim, int32_t *index, const int32_t *a_stride,
                           int32_t *a, const int32_t *b_stride, int32_t *b) {
    for (int d = rank - 1; d >= 0; d--) {
        *a += a_stride[d];
        *b += b_stride[d];
        if (++index[d] < dim[d])
            return 1;
        *a -= a_stride[d] * dim[d];
        *b -= b_stride[d] * dim[d];
        index[d] = 0;
    }
    return 0;
}

/* How many trailing dims of dim[0..rank) both operands walk with the strides of the last one alone;
 * *count is the number of elements in them. */
static inline int ctn_run_dims(int rank, const int32_t *dim, const int32_t *a_stride,
                               const int32_t *b_stride, int32_t *count) {
    int d = rank - 1;
    int32_t run = dim[d];
    for (; d > 0; d--) {
        if (dim[d - 1] != 1 && (a_stride[d - 1] != a_stride[rank - 1] * run ||
                                b_stride[d - 1] != b_stride[rank - 1] * run))
            break;
        run *= dim[d - 1];
    }
    *count = run;
    return rank - d;
}

#endif
