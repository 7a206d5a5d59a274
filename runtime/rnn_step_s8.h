/* A step of a plain recurrent layer by four units at a time (gate_rows.h). */
#ifndef CTN_RNN_STEP_S8_H
#define CTN_RNN_STEP_S8_H

#include "gate_rows.h"
#include "rnn_s8.h"

static void ctn_rnn_step(const CtnRnnS8Args *a, const CtnRnn *r, const int8_t *x,
                         const CtnGateState *h, int32_t batch, int8_t *output) {
    for (int32_t j = 0; j < a->size;) {
        int32_t first = ctn_gate_first(j, a->size), of_x[CTN_GATE_ROWS], of_h[CTN_GATE_ROWS] = {0};
        ctn_gate_rows(&r->x, first, x, r->x.zero_point, of_x);
        if (h->h)
            ctn_gate_rows(&r->h, first, h->h + batch * a->size, h->zero_point, of_h);
        for (; j < first + CTN_GATE_ROWS; j++) {
            int32_t kept = of_h[j - first];
            if (h->multiplier)
                kept = ctn_requantize(kept, h->multiplier, h->shift);
            output[j] = ctn_rnn_unit(a, r, of_x[j - first] + kept + r->bias[j]);
        }
    }
}

#endif
