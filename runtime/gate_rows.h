/* Four neighbouring rows of a recurrent kernel's matrix at a time, over ctn_gate_dots, which was
 * defined before. Where the number of rows is no multiple of four, the last four begin among those
 * before. */
#ifndef CTN_GATE_ROWS_H
#define CTN_GATE_ROWS_H

#include "gate.h"

enum { CTN_GATE_ROWS = 4 };

/* The products of rows `row` and the next three with x, in Q15.16. */
static inline void ctn_gate_rows(const CtnGateMatrix *m, int32_t row, const int8_t *x,
                                 int32_t zero_point, int32_t sum[CTN_GATE_ROWS]) {
    ctn_gate_dots(m->weights + row * m->depth, m->depth, x, m->depth, zero_point, sum);
    for (int i = 0; i < CTN_GATE_ROWS; i++)
        sum[i] = ctn_gate_scale(sum[i], m->multiplier[row + i], m->shift[row + i]);
}

/* The first of the four units that unit j is computed with; there are four units or more. */
static inline int32_t ctn_gate_first(int32_t j, int32_t size) {
    return j + CTN_GATE_ROWS <= size ? j : size - CTN_GATE_ROWS;
}

#endif
