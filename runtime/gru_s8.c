/* One direction of one GRU layer. The hidden state is int16 with state_bits fraction bits, beside
 * its int8 form that the products read. Gates are in PyTorch's order: reset, update, new; the bias
 * has three of the input and three of the hidden state, for the new gate's reset applies to the
 * second alone. */
#include "ctn.h"
#include "gate.h"

typedef struct {
    CtnGateMatrix x, h;
    const int32_t *bias;
    const int16_t *sigmoid, *tangent;
} Gru;

static int32_t x_sum(const Gru *g, int32_t index, const int8_t *x) {
    return ctn_gate_product(&g->x, index, x) + g->bias[index];
}

static int32_t h_sum(const Gru *g, int32_t gates, int32_t index, const CtnGateState *h,
                     int32_t batch) {
    return ctn_gate_state(&g->h, index, h, batch) + g->bias[gates + index];
}

static void step(const CtnGruS8Args *a, const Gru *g, const int8_t *x, const CtnGateState *h,
                 int32_t batch, int16_t *state, int8_t *output) {
    int32_t gates = 3 * a->size;
    for (int32_t j = 0; j < a->size; j++) {
        int32_t reset = ctn_gate_table(g->sigmoid, x_sum(g, j, x) + h_sum(g, gates, j, h, batch));
        int32_t k = a->size + j, n = 2 * a->size + j;
        int32_t update = ctn_gate_table(g->sigmoid, x_sum(g, k, x) + h_sum(g, gates, k, h, batch));
        int64_t kept = (int64_t)reset * h_sum(g, gates, n, h, batch);
        int32_t sum = x_sum(g, n, x) + (int32_t)((kept + (1 << 14)) >> 15);
        int32_t fresh = ctn_gate_table(g->tangent, sum);
        /* (1 - z) * n + z * h from Q0.15 * Q0.15 and Q0.15 * h, to state_bits */
        int32_t next = ctn_div_pow2((32768 - update) * fresh, 30 - a->state_bits) +
                       ctn_div_pow2(update * state[j], 15);
        state[j] = (int16_t)ctn_gate_s16(next);
        output[j] = ctn_gate_s8(state[j], a->multiplier, a->shift, a->output_zero_point);
    }
}

/* The state before the first step: copied to where it is kept, and its int8 form. */
static CtnGateState state_before(const CtnGruS8Args *a, const int16_t *h0, int16_t *state,
                                 int8_t *narrow) {
    for (int32_t i = 0; i < a->batches * a->size; i++) {
        state[i] = h0 ? h0[i] : 0;
        if (h0)
            narrow[i] = ctn_gate_s8(h0[i], a->multiplier, a->shift, a->output_zero_point);
    }
    return (CtnGateState){h0 ? narrow : (const int8_t *)0, a->output_zero_point, 0, 0};
}

void ctn_gru_s8(const CtnGruS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int16_t *state = ctn_at(frame, a->state);
    int32_t states = a->batches * a->size;
    Gru g = {{ctn_at(frame, a->x_weights), ctn_at(frame, a->x_multiplier),
              ctn_at(frame, a->x_shift), a->in_size, a->input_zero_point},
             {ctn_at(frame, a->h_weights), ctn_at(frame, a->h_multiplier),
              ctn_at(frame, a->h_shift), a->size, a->output_zero_point},
             ctn_at(frame, a->bias),
             ctn_at(frame, a->sigmoid),
             ctn_at(frame, a->tangent)};
    CtnGateState h = state_before(a, ctn_at(frame, a->h0), state, ctn_at(frame, a->scratch));
    for (int32_t k = 0; k < a->steps; k++) {
        int32_t t = a->reverse ? a->steps - 1 - k : k;
        for (int32_t b = 0; b < a->batches; b++)
            step(a, &g, input + (t * a->batches + b) * a->in_size, &h, b, state + b * a->size,
                 output + t * states + b * a->size);
        h = (CtnGateState){output + t * states, a->output_zero_point, 0, 0};
    }
}
