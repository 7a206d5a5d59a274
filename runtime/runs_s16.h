/* Two int16 operands element by element, what the variants share: trailing dims that both operands
 * walk through as one are a run, the others are stepped through. A level defines before
 *
 *   run(user, a, b, output, count)   the elements of a run; an operand's step is 0 or 1 */
#ifndef CTN_RUNS_S16_H
#define CTN_RUNS_S16_H

#include "loop.h"

typedef struct {
    const int16_t *a, *b;
    int16_t *output;
    const int32_t *dim, *a_stride, *b_stride;
} CtnRunsS16;

typedef void CtnRunS16(const void *user, const int16_t *a, const int16_t *b, int16_t *output,
                       int32_t count);

static inline void ctn_runs_s16(const CtnRunsS16 *r, CtnRunS16 *run, const void *user) {
    int32_t index[6] = {0}, a = 0, b = 0, count;
    int16_t *output = r->output;
    if (ctn_is_empty(6, r->dim))
        return;
    int outer = 6 - ctn_run_dims(6, r->dim, r->a_stride, r->b_stride, &count);
    do {
        run(user, r->a + a, r->b + b, output, count);
        output += count;
    } while (ctn_step(outer, r->dim, index, r->a_stride, &a, r->b_stride, &b));
}

/* The same by places in operands and output of any width. */
typedef void CtnRunAt(const void *user, int32_t a, int32_t b, int32_t at, int32_t count);

static inline void ctn_runs_at(const int32_t *dim, const int32_t *a_stride, const int32_t *b_stride,
                               CtnRunAt *run, const void *user) {
    int32_t index[6] = {0}, a = 0, b = 0, at = 0, count;
    if (ctn_is_empty(6, dim))
        return;
    int outer = 6 - ctn_run_dims(6, dim, a_stride, b_stride, &count);
    do {
        run(user, a, b, at, count);
        at += count;
    } while (ctn_step(outer, dim, index, a_stride, &a, b_stride, &b));
}

#endif
