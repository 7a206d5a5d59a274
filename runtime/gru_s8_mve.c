/* One direction of one GRU layer by MVE: four units at a time, from their products to their outputs
 * (gate_mve.h); there are four or more. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "gate_mve.h"
#include "gru_s8.h"

/* The sums of four rows of a gate, biases included. */
static inline int32x4_t sums(const CtnGateMatrix *m, const int32_t *bias, int32_t row,
                             const int8_t *x) {
    int32x4_t sum = vldrwq_s32(bias + row);
    return x ? vaddq_s32(sum, ctn_gate_products_mve(m, row, x, m->zero_point)) : sum;
}

static void step(const CtnGruS8Args *a, const CtnGru *g, const int8_t *x, const int8_t *before,
                 int16_t *state, int8_t *output) {
    const int32_t size = a->size;
    const int32_t *bias = g->bias, *state_bias = bias + CTN_GRU_GATES * size;
    const int32x4_t fresh_shift = vdupq_n_s32(a->state_bits - 30);
    for (int32_t j = 0; j < size; j += CTN_GATE_ROWS) {
        int32_t first = j + CTN_GATE_ROWS <= size ? j : size - CTN_GATE_ROWS;
        mve_pred16_t fresh_lanes = ctn_gate_new_mve(j - first);
        int32x4_t reset =
            ctn_gate_table_mve(g->sigmoid, vaddq_s32(sums(&g->x, bias, first, x),
                                                     sums(&g->h, state_bias, first, before)));
        int32x4_t update = ctn_gate_table_mve(
            g->sigmoid, vaddq_s32(sums(&g->x, bias, size + first, x),
                                  sums(&g->h, state_bias, size + first, before)));
        /* (reset * h + 2^14) / 2^15 is VQRDMULH with 2^16 * reset */
        int32x4_t kept = vqrdmulhq_s32(sums(&g->h, state_bias, 2 * size + first, before),
                                       vshlq_s32(reset, vdupq_n_s32(16)));
        int32x4_t fresh =
            ctn_gate_table_mve(g->tangent, vaddq_s32(sums(&g->x, bias, 2 * size + first, x), kept));
        /* (1 - z) * n + z * h from Q0.15 * Q0.15 and Q0.15 * h, to state_bits */
        fresh = ctn_shift_right_mve(vmulq_s32(vsubq_s32(vdupq_n_s32(32768), update), fresh),
                                    fresh_shift);
        kept = ctn_shift_right_mve(vmulq_s32(update, vldrhq_s32(state + first)), vdupq_n_s32(-15));
        kept = ctn_to_s16_mve(vaddq_s32(fresh, kept));
        vstrhq_p_s32(state + first, kept, fresh_lanes);
        vstrbq_p_s32(output + first,
                     ctn_gate_s8_mve(kept, a->multiplier, a->shift, a->output_zero_point),
                     fresh_lanes);
    }
}

void ctn_gru_s8_mve(const CtnGruS8Args *a, const CtnFrame *frame) {
    ctn_gru_all(a, frame, step);
}
#endif
