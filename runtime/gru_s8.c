/* One direction of one GRU layer in plain C, unit by unit. */
#include "gru_s8.h"

static void step(const CtnGruS8Args *a, const CtnGru *g, const int8_t *x, const int8_t *before,
                 int16_t *state, int8_t *output) {
    for (int32_t j = 0; j < a->size; j++) {
        int32_t of_x[CTN_GRU_GATES], of_h[CTN_GRU_GATES];
        for (int32_t gate = 0; gate < CTN_GRU_GATES; gate++) {
            int32_t row = gate * a->size + j;
            of_x[gate] = ctn_gate_product(&g->x, row, x) + g->bias[row];
            of_h[gate] = g->bias[CTN_GRU_GATES * a->size + row];
            if (before)
                of_h[gate] += ctn_gate_product(&g->h, row, before);
        }
        output[j] = ctn_gru_unit(a, g, of_x, of_h, &state[j]);
    }
}

void ctn_gru_s8(const CtnGruS8Args *a, const CtnFrame *frame) {
    ctn_gru_all(a, frame, step);
}
