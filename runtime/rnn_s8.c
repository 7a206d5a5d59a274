/* One direction of one plain recurrent layer: tanh or relu of two products. Its state is the int8
 * output of the step before. */
#include "ctn.h"
#include "gate.h"

typedef struct {
    CtnGateMatrix x, h;
    const int32_t *bias;
    const int16_t *tangent; /* absent: relu */
} Rnn;

static void step(const CtnRnnS8Args *a, const Rnn *r, const int8_t *x, const CtnGateState *h,
                 int32_t batch, int8_t *output) {
    for (int32_t j = 0; j < a->size; j++) {
        int32_t sum =
            ctn_gate_product(&r->x, j, x) + ctn_gate_state(&r->h, j, h, batch) + r->bias[j];
        if (r->tangent)
            sum = ctn_gate_table(r->tangent, sum);
        else if (sum < 0)
            sum = 0;
        output[j] = ctn_gate_s8(sum, a->multiplier, a->shift, a->output_zero_point);
    }
}

void ctn_rnn_s8(const CtnRnnS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int32_t states = a->batches * a->size;
    Rnn r = {{ctn_at(frame, a->x_weights), ctn_at(frame, a->x_multiplier),
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
