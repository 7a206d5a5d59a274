/* Products, factors and tables of recurrent kernels by MVE, four units at a time. */
#ifndef CTN_GATE_MVE_H
#define CTN_GATE_MVE_H

#include "gate.h"
#include "mve.h"

enum { CTN_GATE_ROWS = 4 };

/* Two rows' sums of (x - zero_point) * w. */
__attribute__((noinline)) static void ctn_gate_two_mve(const int8_t *w0, const int8_t *x,
                                                       int32_t depth, int32_t zero_point,
                                                       int32_t sum[2]) {
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
static inline int32x4_t ctn_shift_right_mve(int32x4_t v, int32x4_t shift) {
    int32x4_t below = vandq_s32(vshrq_n_s32(v, 31), vshrq_n_s32(shift, 31));
    return vrshlq_s32(vaddq_s32(v, below), shift);
}

/* ctn_requantize: VQRDMULH is ctn_mul_high. */
static inline int32x4_t ctn_gate_scale_mve(int32x4_t v, int32x4_t multiplier, int32x4_t shift) {
    const int32x4_t zero = vdupq_n_s32(0);
    v = vqrdmulhq_s32(vshlq_s32(v, vmaxq_s32(shift, zero)), multiplier);
    return ctn_shift_right_mve(v, vminq_s32(shift, zero));
}

/* The products of four rows with x, in Q15.16. */
static inline int32x4_t ctn_gate_products_mve(const CtnGateMatrix *m, int32_t row, const int8_t *x,
                                              int32_t zero_point) {
    int32_t sum[4];
    const int8_t *w = m->weights + row * m->depth;
    ctn_gate_two_mve(w, x, m->depth, zero_point, sum);
    ctn_gate_two_mve(w + 2 * m->depth, x, m->depth, zero_point, sum + 2);
    return ctn_gate_scale_mve(vldrwq_s32(sum), vldrwq_s32(m->multiplier + row),
                              vldrbq_s32(m->shift + row));
}

static inline int32x4_t ctn_to_s16_mve(int32x4_t v) {
    return vminq_s32(vmaxq_s32(v, vdupq_n_s32(-32768)), vdupq_n_s32(32767));
}

/* ctn_interpolate_s16 */
static inline int32x4_t ctn_gate_look_up_mve(const int16_t *table, int32x4_t q) {
    int32x4_t position = vaddq_n_s32(q, 32768), index = vshrq_n_s32(position, 7);
    uint32x4_t entry = vreinterpretq_u32_s32(index);
    int32x4_t first = vldrhq_gather_shifted_offset_s32(table, entry);
    int32x4_t next = vldrhq_gather_shifted_offset_s32(table + 1, entry);
    int32x4_t slope = vmulq_s32(vsubq_s32(next, first), vandq_s32(position, vdupq_n_s32(127)));
    return vaddq_s32(first, vshrq_n_s32(vaddq_n_s32(slope, 64), 7));
}

/* ctn_gate_table */
static inline int32x4_t ctn_gate_table_mve(const int16_t *table, int32x4_t sum) {
    return ctn_gate_look_up_mve(table, ctn_to_s16_mve(ctn_shift_right_mve(sum, vdupq_n_s32(-4))));
}

/* ctn_gate_s8 */
static inline int32x4_t ctn_gate_s8_mve(int32x4_t v, int32_t multiplier, int32_t shift,
                                        int32_t zero_point) {
    v = ctn_gate_scale_mve(v, vdupq_n_s32(multiplier), vdupq_n_s32(shift));
    v = vaddq_n_s32(v, zero_point);
    return vminq_s32(vmaxq_s32(v, vdupq_n_s32(-128)), vdupq_n_s32(127));
}

/* Units are computed in fours; where their number is no multiple of that, the last four begin among
 * those before: the lanes of the ones that are new. */
static inline mve_pred16_t ctn_gate_new_mve(int32_t done) {
    return (mve_pred16_t)(0xffffu << 4 * done);
}

#endif
