/* Fully connected layer between 8 and 16 bits by the rows of rows_s16.h, of which a level has made
 * the loops: two rows at a time, read where they are if they are int16 of a whole depth, else from
 * a copy in scratch. */
#ifndef CTN_LINEAR_ROWS_S16_H
#define CTN_LINEAR_ROWS_S16_H

#include "ctn.h"
#include "rows_s16.h"

static const int16_t *linear_row(const CtnLinearS16Args *a, const void *input, int32_t row,
                                 int32_t depth, int16_t *copy) {
    if (a->input_bytes == 2 && depth == a->depth)
        return (const int16_t *)input + row * depth;
    int16_t *to = copy;
    ctn_rows_take(&to, input, a->input_bytes, a->input_zero_point, row * a->depth, a->depth);
    ctn_rows_zeros(&to, depth - a->depth);
    return copy;
}

static inline void multiply_rows(const CtnLinearS16Args *a, const CtnFrame *frame, CtnRows *r) {
    const void *input = ctn_at(frame, a->input);
    int16_t *scratch = ctn_at(frame, a->scratch);
    int32_t row = 0;
    r->depth = ctn_rows_depth(a->depth);
    for (; row + 2 <= a->rows; row += 2) {
        const int16_t *x0 = linear_row(a, input, row, r->depth, scratch);
        const int16_t *x1 = linear_row(a, input, row + 1, r->depth, scratch + r->depth);
        ctn_rows_two(r, x0, x1, row * a->columns, (row + 1) * a->columns);
    }
    if (row < a->rows)
        ctn_rows_one(r, linear_row(a, input, row, r->depth, scratch), row * a->columns);
}

static inline void linear_by_rows(const CtnLinearS16Args *a, const CtnFrame *frame) {
    CtnRows r = {.weights = ctn_at(frame, a->weights),
                 .bias = ctn_at(frame, a->bias),
                 .multiplier = ctn_at(frame, a->multiplier),
                 .shift = ctn_at(frame, a->shift),
                 .output = ctn_at(frame, a->output),
                 .channels = a->columns,
                 .output_bytes = a->output_bytes,
                 .zero_point = a->output_zero_point,
                 .min = a->clamp_min,
                 .max = a->clamp_max,
                 .narrow = a->narrow};
    multiply_rows(a, frame, &r);
}

#endif
