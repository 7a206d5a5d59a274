/* One direction of one GRU layer, without its step. The hidden state is int16 with state_bits
 * fraction bits, beside its int8 form that the products read. Gates are in PyTorch's order: reset,
 * update, new; the bias has three of the input and three of the hidden state, for the new gate's
 * reset applies to the second alone. */
#ifndef CTN_GRU_S8_H
#define CTN_GRU_S8_H

#include "ctn.h"
#include "gate.h"

enum { CTN_GRU_GATES = 3 };

typedef struct {
    CtnGateMatrix x, h;
    const int32_t *bias;
    const int16_t *sigmoid, *tangent;
} CtnGru;

/* One step of one sequence: `before` is the int8 state, NULL for zeros. */
typedef void CtnGruStep(const CtnGruS8Args *a, const CtnGru *g, const int8_t *x,
                        const int8_t *before, int16_t *state, int8_t *output);

/* A unit's output from the sums of its gates, biases included. */
static inline int8_t ctn_gru_unit(const CtnGruS8Args *a, const CtnGru *g,
                                  const int32_t x[CTN_GRU_GATES], const int32_t h[CTN_GRU_GATES],
                                  int16_t *state) {
    int32_t reset = ctn_gate_table(g->sigmoid, x[0] + h[0]);
    int32_t update = ctn_gate_table(g->sigmoid, x[1] + h[1]);
    int64_t kept = (int64_t)reset * h[2];
    int32_t fresh = ctn_gate_table(g->tangent, x[2] + (int32_t)((kept + (1 << 14)) >> 15));
    /* (1 - z) * n + z * h from Q0.15 * Q0.15 and Q0.15 * h, to state_bits */
    int32_t next = ctn_div_pow2((32768 - update) * fresh, 30 - a->state_bits) +
                   ctn_div_pow2(update * *state, 15);
    *state = (int16_t)ctn_gate_s16(next);
    return ctn_gate_s8(*state, a->multiplier, a->shift, a->output_zero_point);
}

/* The state before the first step: copied to where it is kept, and its int8 form. */
static inline const int8_t *ctn_gru_before(const CtnGruS8Args *a, const int16_t *h0, int16_t *state,
                                           int8_t *narrow) {
    for (int32_t i = 0; i < a->batches * a->size; i++) {
        state[i] = h0 ? h0[i] : 0;
        if (h0)
            narrow[i] = ctn_gate_s8(h0[i], a->multiplier, a->shift, a->output_zero_point);
    }
    return h0 ? narrow : (const int8_t *)0;
}

static inline void ctn_gru_all(const CtnGruS8Args *a, const CtnFrame *frame, CtnGruStep *step) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int16_t *state = ctn_at(frame, a->state);
    int32_t states = a->batches * a->size;
    CtnGru g = {{ctn_at(frame, a->x_weights), ctn_at(frame, a->x_multiplier),
                 ctn_at(frame, a->x_shift), a->in_size, a->input_zero_point},
                {ctn_at(frame, a->h_weights), ctn_at(frame, a->h_multiplier),
                 ctn_at(frame, a->h_shift), a->size, a->output_zero_point},
                ctn_at(frame, a->bias),
                ctn_at(frame, a->sigmoid),
                ctn_at(frame, a->tangent)};
    const int8_t *before =
        ctn_gru_before(a, ctn_at(frame, a->h0), state, ctn_at(frame, a->scratch));
    for (int32_t k = 0; k < a->steps; k++) {
        int32_t t = a->reverse ? a->steps - 1 - k : k;
        for (int32_t b = 0; b < a->batches; b++)
            step(a, &g, input + (t * a->batches + b) * a->in_size,
                 before ? before + b * a->size : before, state + b * a->size,
                 output + t * states + b * a->size);
        before = output + t * states;
    }
}

#endif
