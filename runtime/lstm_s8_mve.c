/* One direction of one LSTM layer by MVE: four units at a time, from their products to their
 * outputs (gate_mve.h); there are four or more. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "gate_mve.h"
#include "lstm_s8.h"

/* The gates of four rows: ctn_gate_table of their sum. */
static inline int32x4_t gates(const CtnLstm *l, const int16_t *table, int32_t row, const int8_t *x,
                              const int8_t *before, const CtnGateState *h) {
    int32x4_t sum = ctn_gate_products_mve(&l->x, row, x, l->x.zero_point);
    if (before) {
        int32x4_t more = ctn_gate_products_mve(&l->h, row, before, h->zero_point);
        if (h->multiplier)
            more = ctn_gate_scale_mve(more, vdupq_n_s32(h->multiplier), vdupq_n_s32(h->shift));
        sum = vaddq_s32(sum, more);
    }
    sum = vaddq_s32(sum, vldrwq_s32(l->bias + row));
    return ctn_gate_table_mve(table, sum);
}

static void step(const CtnLstmS8Args *a, const CtnLstm *l, const int8_t *x, const CtnGateState *h,
                 int32_t batch, int16_t *c, int8_t *output) {
    const int32_t size = a->size;
    const int8_t *before = h->h ? h->h + batch * size : h->h;
    const int32x4_t fresh = vdupq_n_s32(a->cell_bits - 30);
    const int32x4_t to_tangent = vdupq_n_s32(CTN_TANGENT_BITS - a->cell_bits);
    for (int32_t j = 0; j < size; j += CTN_GATE_ROWS) {
        int32_t first = j + CTN_GATE_ROWS <= size ? j : size - CTN_GATE_ROWS;
        mve_pred16_t fresh_lanes = ctn_gate_new_mve(j - first);
        int32x4_t in = gates(l, l->sigmoid, first, x, before, h);
        int32x4_t forget = gates(l, l->sigmoid, size + first, x, before, h);
        int32x4_t cell = gates(l, l->tangent, 2 * size + first, x, before, h);
        int32x4_t out = gates(l, l->sigmoid, 3 * size + first, x, before, h);
        /* Q0.15 * c and Q0.15 * Q0.15, to cell_bits */
        forget = ctn_shift_right_mve(vmulq_s32(forget, vldrhq_s32(c + first)), vdupq_n_s32(-15));
        in = ctn_shift_right_mve(vmulq_s32(in, cell), fresh);
        cell = ctn_to_s16_mve(vaddq_s32(forget, in));
        vstrhq_p_s32(c + first, cell, fresh_lanes);
        out = vmulq_s32(
            out, ctn_gate_look_up_mve(l->tangent, ctn_to_s16_mve(vshlq_s32(cell, to_tangent))));
        vstrbq_p_s32(output + first,
                     ctn_gate_s8_mve(out, a->multiplier, a->shift, a->output_zero_point),
                     fresh_lanes);
    }
}

void ctn_lstm_s8_mve(const CtnLstmS8Args *a, const CtnFrame *frame) {
    ctn_lstm_all(a, frame, step);
}
#endif
