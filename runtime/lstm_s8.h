/* One direction of one LSTM layer, without its step. The hidden state is the int8 output of the
 * step before; the cell state is int16 with cell_bits fraction bits. Gates are in PyTorch's order:
 * input, forget, cell, output. */
#ifndef CTN_LSTM_S8_H
#define CTN_LSTM_S8_H

#include "ctn.h"
#include "gate.h"

/* tanh's table takes Q3.12, which a cell state reaches by a shift to the left. */
enum { CTN_TANGENT_BITS = 12 };

typedef struct {
    CtnGateMatrix x, h;
    const int32_t *bias;
    const int16_t *sigmoid, *tangent;
} CtnLstm;

/* One step of one sequence: h and c of the step before to output and c. */
typedef void CtnLstmStep(const CtnLstmS8Args *a, const CtnLstm *l, const int8_t *x,
                         const CtnGateState *h, int32_t batch, int16_t *c, int8_t *output);

static inline void ctn_lstm_all(const CtnLstmS8Args *a, const CtnFrame *frame, CtnLstmStep *step) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int16_t *cell = ctn_at(frame, a->cell);
    const int16_t *c0 = ctn_at(frame, a->c0);
    int32_t states = a->batches * a->size;
    CtnLstm l = {{ctn_at(frame, a->x_weights), ctn_at(frame, a->x_multiplier),
                  ctn_at(frame, a->x_shift), a->in_size, a->input_zero_point},
                 {ctn_at(frame, a->h_weights), ctn_at(frame, a->h_multiplier),
                  ctn_at(frame, a->h_shift), a->size, a->output_zero_point},
                 ctn_at(frame, a->bias),
                 ctn_at(frame, a->sigmoid),
                 ctn_at(frame, a->tangent)};
    CtnGateState h = {ctn_at(frame, a->h0), a->h0_zero_point, a->h0_multiplier, a->h0_shift};
    for (int32_t i = 0; i < states; i++)
        cell[i] = c0 ? c0[i] : 0;
    for (int32_t k = 0; k < a->steps; k++) {
        int32_t t = a->reverse ? a->steps - 1 - k : k;
        for (int32_t b = 0; b < a->batches; b++)
            step(a, &l, input + (t * a->batches + b) * a->in_size, &h, b, cell + b * a->size,
                 output + t * states + b * a->size);
        h = (CtnGateState){output + t * states, a->output_zero_point, 0, 0};
    }
}

#endif
