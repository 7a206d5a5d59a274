/* A step of an LSTM layer over ctn_gate_dots, which was defined before. */
#ifndef CTN_LSTM_STEP_S8_H
#define CTN_LSTM_STEP_S8_H

#include "lstm_s8.h"

/* The products of unit j's four gates with x, in Q15.16. */
static inline void ctn_gate_products(const CtnGateMatrix *m, int32_t size, int32_t j,
                                     const int8_t *x, int32_t zero_point, int32_t sum[4]) {
    ctn_gate_dots(m->weights + j * m->depth, size * m->depth, x, m->depth, zero_point, sum);
    for (int i = 0; i < 4; i++, j += size)
        sum[i] = ctn_gate_scale(sum[i], m->multiplier[j], m->shift[j]);
}

/* The sums of unit j's four gates, in Q15.16. */
static inline void ctn_lstm_sums(const CtnLstm *l, int32_t size, int32_t j, const int8_t *x,
                                 const CtnGateState *h, int32_t batch, int32_t sum[4]) {
    int32_t from_state[4];
    ctn_gate_products(&l->x, size, j, x, l->x.zero_point, sum);
    if (h->h) {
        ctn_gate_products(&l->h, size, j, h->h + batch * size, h->zero_point, from_state);
        for (int i = 0; i < 4; i++)
            sum[i] += h->multiplier ? ctn_requantize(from_state[i], h->multiplier, h->shift)
                                    : from_state[i];
    }
    for (int i = 0; i < 4; i++)
        sum[i] += l->bias[i * size + j];
}

static void ctn_lstm_step(const CtnLstmS8Args *a, const CtnLstm *l, const int8_t *x,
                          const CtnGateState *h, int32_t batch, int16_t *c, int8_t *output) {
    for (int32_t j = 0; j < a->size; j++) {
        int32_t sum[4];
        ctn_lstm_sums(l, a->size, j, x, h, batch, sum);
        int32_t in = ctn_gate_table(l->sigmoid, sum[0]);
        int32_t forget = ctn_gate_table(l->sigmoid, sum[1]);
        int32_t cell = ctn_gate_table(l->tangent, sum[2]);
        int32_t out = ctn_gate_table(l->sigmoid, sum[3]);
        /* Q0.15 * c and Q0.15 * Q0.15, to cell_bits */
        int32_t next = ctn_div_pow2(forget * c[j], 15) + ctn_div_pow2(in * cell, 30 - a->cell_bits);
        c[j] = (int16_t)ctn_gate_s16(next);
        int32_t squashed = ctn_interpolate_s16(
            l->tangent, ctn_gate_s16(c[j] * (1 << (CTN_TANGENT_BITS - a->cell_bits))));
        output[j] = ctn_gate_s8(out * squashed, a->multiplier, a->shift, a->output_zero_point);
    }
}

#endif
