/* Products of recurrent kernels in plain C. */
#ifndef CTN_GATE_PLAIN_H
#define CTN_GATE_PLAIN_H

#include <stdint.h>

/* sum[i] of (x[k] - zero_point) * w[i * pitch + k] over k < depth, for four rows. */
static inline void ctn_gate_dots(const int8_t *w, int32_t pitch, const int8_t *x, int32_t depth,
                                 int32_t zero_point, int32_t sum[4]) {
    for (int i = 0; i < 4; i++, w += pitch) {
        sum[i] = 0;
        for (int32_t k = 0; k < depth; k++)
            sum[i] += (x[k] - zero_point) * w[k];
    }
}

#endif
