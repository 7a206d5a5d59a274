/* One direction of one LSTM layer by MVE: four units at a time, from their products to their
 * outputs. Their number is a multiple of four. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "lstm_s8.h"
#include "mve.h"

/* Two rows' sums of (x - zero_point) * w. */
__attribute__((noinline)) static void two_rows(const int8_t *w0, const int8_t *x, int32_t depth,
                                               int32_t zero_point, int32_t sum[2]) {
    const int8_t *w1 = w0 + depth;
    int32_t s0 = 0, s1 = 0, t0 = 0, t1 = 0;
    for (; depth >= 16; depth -= 16, x += 16, w0 += 16, w1 += 16) {
        int8x16_t v = vldrbq_s8(x), q0 = vldrbq_s8(w0), q1 = vldrbq_s8(w1);
        s0 = vmladavaq_s8(s0, v, q0);
        t0 = vaddvaq_s8(t0, q0);
        s1 = vmladavaq_s8(s1, v, q1);
        t1 = vaddvaq_s8(t1, q1);
    }
    if (depth > 0) {
        mve_pred16_t live = vctp8q((uint32_t)depth);
        int8x16_t v = vldrbq_z_s8(x, live), q = vldrbq_z_s8(w0, live);
        s0 = vmladavaq_s8(s0, v, q);
        t0 = vaddvaq_s8(t0, q);
        q = vldrbq_z_s8(w1, live);
        s1 = vmladavaq_s8(s1, v, q);
        t1 = vaddvaq_s8(t1, q);
    }
    sum[0] = s0 - zero_point * t0;
    sum[1] = s1 - zero_point * t1;
}

/* v / 2^-shift, rounded half away from zero, where shift < 0; else v. */
static inline int32x4_t shift_right(int32x4_t v, int32x4_t shift) {
    int32x4_t below = vandq_s32(vshrq_n_s32(v, 31), vshrq_n_s32(shift, 31));
    return vrshlq_s32(vaddq_s32(v, below), shift);
}

/* ctn_requantize: VQRDMULH is ctn_mul_high. */
static inline int32x4_t scale(int32x4_t v, int32x4_t multiplier, int32x4_t shift) {
    const int32x4_t zero = vdupq_n_s32(0);
    v = vqrdmulhq_s32(vshlq_s32(v, vmaxq_s32(shift, zero)), multiplier);
    return shift_right(v, vminq_s32(shift, zero));
}

/* The products of four rows with x, in Q15.16. */
static inline int32x4_t products(const CtnGateMatrix *m, int32_t row, const int8_t *x,
                                 int32_t zero_point) {
    int32_t sum[4];
    const int8_t *w = m->weights + row * m->depth;
    two_rows(w, x, m->depth, zero_point, sum);
    two_rows(w + 2 * m->depth, x, m->depth, zero_point, sum + 2);
    return scale(vldrwq_s32(sum), vldrwq_s32(m->multiplier + row), vldrbq_s32(m->shift + row));
}

static inline int32x4_t to_s16(int32x4_t v) {
    return vminq_s32(vmaxq_s32(v, vdupq_n_s32(-32768)), vdupq_n_s32(32767));
}

/* ctn_interpolate_s16 */
static inline int32x4_t look_up(const int16_t *table, int32x4_t q) {
    int32x4_t position = vaddq_n_s32(q, 32768), index = vshrq_n_s32(position, 7);
    uint32x4_t entry = vreinterpretq_u32_s32(index);
    int32x4_t first = vldrhq_gather_shifted_offset_s32(table, entry);
    int32x4_t next = vldrhq_gather_shifted_offset_s32(table + 1, entry);
    int32x4_t slope = vmulq_s32(vsubq_s32(next, first), vandq_s32(position, vdupq_n_s32(127)));
    return vaddq_s32(first, vshrq_n_s32(vaddq_n_s32(slope, 64), 7));
}

/* The gates of four rows: ctn_gate_table of their sum. */
static inline int32x4_t gates(const CtnLstm *l, const int16_t *table, int32_t row, const int8_t *x,
                              const int8_t *before, const CtnGateState *h) {
    int32x4_t sum = products(&l->x, row, x, l->x.zero_point);
    if (before) {
        int32x4_t more = products(&l->h, row, before, h->zero_point);
        if (h->multiplier)
            more = scale(more, vdupq_n_s32(h->multiplier), vdupq_n_s32(h->shift));
        sum = vaddq_s32(sum, more);
    }
    sum = vaddq_s32(sum, vldrwq_s32(l->bias + row));
    return look_up(table, to_s16(shift_right(sum, vdupq_n_s32(-4))));
}

static void step(const CtnLstmS8Args *a, const CtnLstm *l, const int8_t *x, const CtnGateState *h,
                 int32_t batch, int16_t *c, int8_t *output) {
    const int32_t size = a->size;
    const int8_t *before = h->h ? h->h + batch * size : h->h;
    const int32x4_t fresh = vdupq_n_s32(a->cell_bits - 30);
    const int32x4_t to_tangent = vdupq_n_s32(CTN_TANGENT_BITS - a->cell_bits);
    for (int32_t j = 0; j < size; j += 4, c += 4, output += 4) {
        int32x4_t in = gates(l, l->sigmoid, j, x, before, h);
        int32x4_t forget = gates(l, l->sigmoid, size + j, x, before, h);
        int32x4_t cell = gates(l, l->tangent, 2 * size + j, x, before, h);
        int32x4_t out = gates(l, l->sigmoid, 3 * size + j, x, before, h);
        /* Q0.15 * c and Q0.15 * Q0.15, to cell_bits */
        forget = shift_right(vmulq_s32(forget, vldrhq_s32(c)), vdupq_n_s32(-15));
        in = shift_right(vmulq_s32(in, cell), fresh);
        cell = to_s16(vaddq_s32(forget, in));
        vstrhq_s32(c, cell);
        out = vmulq_s32(out, look_up(l->tangent, to_s16(vshlq_s32(cell, to_tangent))));
        out = scale(out, vdupq_n_s32(a->multiplier), vdupq_n_s32(a->shift));
        out = vaddq_n_s32(out, a->output_zero_point);
        vstrbq_s32(output, vminq_s32(vmaxq_s32(out, vdupq_n_s32(-128)), vdupq_n_s32(127)));
    }
}

void ctn_lstm_s8_mve(const CtnLstmS8Args *a, const CtnFrame *frame) {
    ctn_lstm_all(a, frame, step);
}
#endif
