/* A step of a GRU layer by four units at a time (gate_rows.h). */
#ifndef CTN_GRU_STEP_S8_H
#define CTN_GRU_STEP_S8_H

#include "gate_rows.h"
#include "gru_s8.h"

static void ctn_gru_step(const CtnGruS8Args *a, const CtnGru *g, const int8_t *x,
                         const int8_t *before, int16_t *state, int8_t *output) {
    const int32_t *bias = g->bias, *state_bias = bias + CTN_GRU_GATES * a->size;
    for (int32_t j = 0; j < a->size;) {
        int32_t first = ctn_gate_first(j, a->size);
        int32_t of_x[CTN_GRU_GATES][CTN_GATE_ROWS], of_h[CTN_GRU_GATES][CTN_GATE_ROWS] = {{0}};
        for (int gate = 0; gate < CTN_GRU_GATES; gate++) {
            int32_t row = gate * a->size + first;
            ctn_gate_rows(&g->x, row, x, g->x.zero_point, of_x[gate]);
            if (before)
                ctn_gate_rows(&g->h, row, before, g->h.zero_point, of_h[gate]);
        }
        for (; j < first + CTN_GATE_ROWS; j++) {
            int32_t sum[CTN_GRU_GATES], kept[CTN_GRU_GATES];
            for (int gate = 0; gate < CTN_GRU_GATES; gate++) {
                sum[gate] = of_x[gate][j - first] + bias[gate * a->size + j];
                kept[gate] = of_h[gate][j - first] + state_bias[gate * a->size + j];
            }
            output[j] = ctn_gru_unit(a, g, sum, kept, &state[j]);
        }
    }
}

#endif
