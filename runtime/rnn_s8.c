/* One direction of one plain recurrent layer in plain C, unit by unit. */
#include "rnn_s8.h"

static void step(const CtnRnnS8Args *a, const CtnRnn *r, const int8_t *x, const CtnGateState *h,
                 int32_t batch, int8_t *output) {
    for (int32_t j = 0; j < a->size; j++)
        output[j] = ctn_rnn_unit(
            a, r, ctn_gate_product(&r->x, j, x) + ctn_gate_state(&r->h, j, h, batch) + r->bias[j]);
}

void ctn_rnn_s8(const CtnRnnS8Args *a, const CtnFrame *frame) {
    ctn_rnn_all(a, frame, step);
}
