/* One direction of one plain recurrent layer by MVE: four units at a time (gate_mve.h); there are
 * four or more. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "gate_mve.h"
#include "rnn_s8.h"

static void step(const CtnRnnS8Args *a, const CtnRnn *r, const int8_t *x, const CtnGateState *h,
                 int32_t batch, int8_t *output) {
    const int8_t *before = h->h ? h->h + batch * a->size : h->h;
    for (int32_t j = 0; j < a->size; j += CTN_GATE_ROWS) {
        int32_t first = j + CTN_GATE_ROWS <= a->size ? j : a->size - CTN_GATE_ROWS;
        int32x4_t sum = ctn_gate_products_mve(&r->x, first, x, r->x.zero_point);
        if (before) {
            int32x4_t kept = ctn_gate_products_mve(&r->h, first, before, h->zero_point);
            if (h->multiplier)
                kept = ctn_gate_scale_mve(kept, vdupq_n_s32(h->multiplier), vdupq_n_s32(h->shift));
            sum = vaddq_s32(sum, kept);
        }
        sum = vaddq_s32(sum, vldrwq_s32(r->bias + first));
        sum = r->tangent ? ctn_gate_table_mve(r->tangent, sum) : vmaxq_s32(sum, vdupq_n_s32(0));
        vstrbq_p_s32(output + first,
                     ctn_gate_s8_mve(sum, a->multiplier, a->shift, a->output_zero_point),
                     ctn_gate_new_mve(j - first));
    }
}

void ctn_rnn_s8_mve(const CtnRnnS8Args *a, const CtnFrame *frame) {
    ctn_rnn_all(a, frame, step);
}
#endif
