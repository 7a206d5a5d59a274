/* Fully connected layer of one row between 8 and 16 bits by rows_s16.h, of which a level has made
 * the loops: read where it is if it is int16 of a whole depth, else from a copy in scratch. Several
 * rows are the pixels of a convolution, as which the host calls them. */
#ifndef CTN_LINEAR_ROWS_S16_H
#define CTN_LINEAR_ROWS_S16_H

#include "ctn.h"
#include "rows_s16.h"

static inline void linear_by_rows(const CtnLinearS16Args *a, const CtnFrame *frame) {
    const void *input = ctn_at(frame, a->input);
    CtnRows r = {.weights = ctn_at(frame, a->weights),
                 .bias = ctn_at(frame, a->bias),
                 .multiplier = ctn_at(frame, a->multiplier),
                 .shift = ctn_at(frame, a->shift),
                 .output = ctn_at(frame, a->output),
                 .channels = a->columns,
                 .depth = ctn_rows_depth(a->depth),
                 .output_bytes = a->output_bytes,
                 .zero_point = a->output_zero_point,
                 .min = a->clamp_min,
                 .max = a->clamp_max,
                 .narrow = a->narrow,
                 .table = 0};
#ifdef CTN_ROWS_MAP
    r.map = (CtnMapS16)CTN_MAP_S16(a, frame);
#endif
    if (a->scratch != CTN_NONE) {
        int16_t *copy = ctn_at(frame, a->scratch), *end = copy;
        ctn_rows_take(&end, input, a->input_bytes, a->input_zero_point, 0, a->depth);
        ctn_rows_zeros(&end, r.depth - a->depth);
        input = copy;
    }
    ctn_rows_one(&r, input, 0);
}

#endif
