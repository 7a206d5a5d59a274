/* One direction of one plain recurrent layer, without its step: tanh or relu of two products. Its
 * state is the int8 output of the step before. */
#ifndef CTN_RNN_S8_H
#define CTN_RNN_S8_H

#include "ctn.h"
#include "gate.h"

typedef struct {
    CtnGateMatrix x, h;
    const int32_t *bias;
    const int16_t *tangent; /* absent: relu */
} CtnRnn;

/* One step of one sequence. */
typedef void CtnRnnStep(const CtnRnnS8Args *a, const CtnRnn *r, const int8_t *x,
                        const CtnGateState *h, int32_t batch, int8_t *output);

/* A unit's output from its sum, in Q15.16. */
static inline int8_t ctn_rnn_unit(const CtnRnnS8Args *a, const CtnRnn *r, int32_t sum) {
    if (r->tangent)
        sum = ctn_gate_table(r->tangent, sum);
    else if (sum < 0)
        sum = 0;
    return ctn_gate_s8(sum, a->multiplier, a->shift, a->output_zero_point);
}

static inline void ctn_rnn_all(const CtnRnnS8Args *a, const CtnFrame *frame, CtnRnnStep *step) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int32_t states = a->batches * a->size;
    CtnRnn r = {{ctn_at(frame, a->x_weights), ctn_at(frame, a->x_multiplier),
                 ctn_at(frame, a->x_shift), a->in_size, a->input_zero_point},
                {ctn_at(frame, a->h_weights), ctn_at(frame, a->h_multiplier),
                 ctn_at(frame, a->h_shift), a->size, a->output_zero_point},
                ctn_at(frame, a->bias),
                ctn_at(frame, a->tangent)};
    CtnGateState h = {ctn_at(frame, a->h0), a->h0_zero_point, a->h0_multiplier, a->h0_shift};
    for (int32_t k = 0; k < a->steps; k++) {
        int32_t t = a->reverse ? a->steps - 1 - k : k;
        for (int32_t b = 0; b < a->batches; b++)
            step(a, &r, input + (t * a->batches + b) * a->in_size, &h, b,
                 output + t * states + b * a->size);
        h = (CtnGateState){output + t * states, a->output_zero_point, 0, 0};
    }
}

#endif
