/* What recurrent kernels share. A gate's sum is kept in Q15.16; sigmoid and tanh are tables of 513
 * entries from Q3.12 to Q0.15 (fix.h), saturated at +-8 where both are flat. */
#ifndef CTN_GATE_H
#define CTN_GATE_H

#include "fix.h"

typedef struct { /* int8 weights [gate][depth] with a factor to Q15.16 for each gate */
    const int8_t *weights;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t depth, zero_point; /* of what they are multiplied with */
} CtnGateMatrix;

typedef struct { /* a hidden state on a grid of its own: products with it need a further factor */
    const int8_t *h;                       /* NULL: zeros */
    int32_t zero_point, multiplier, shift; /* multiplier 0: the output's grid */
} CtnGateState;

static inline int32_t ctn_gate_product(const CtnGateMatrix *m, int32_t gate, const int8_t *x) {
    const int8_t *w = m->weights + gate * m->depth;
    int32_t sum = 0;
    for (int32_t i = 0; i < m->depth; i++)
        sum += (x[i] - m->zero_point) * w[i];
    return ctn_requantize(sum, m->multiplier[gate], m->shift[gate]);
}

/* ctn_requantize for |v| < 2^30, which sums of bytes are: rounding by one addition cannot overflow.
 */
static inline int32_t ctn_gate_scale(int32_t v, int32_t multiplier, int32_t shift) {
    if (shift >= 0)
        return ctn_mul_high((int32_t)((uint32_t)v << shift), multiplier);
    int32_t t = ctn_mul_high(v, multiplier);
    return (t + (1 << (-shift - 1)) + (t >> 31)) >> -shift;
}

static inline int32_t ctn_gate_s16(int32_t v) {
    return ctn_clamp(v, -32768, 32767);
}

static inline int32_t ctn_gate_state(const CtnGateMatrix *m, int32_t gate, const CtnGateState *s,
                                     int32_t batch) {
    if (!s->h)
        return 0;
    CtnGateMatrix own = *m;
    own.zero_point = s->zero_point;
    int32_t sum = ctn_gate_product(&own, gate, s->h + batch * m->depth);
    return s->multiplier ? ctn_requantize(sum, s->multiplier, s->shift) : sum;
}

/* A sum in Q15.16 through a table, in Q0.15. */
static inline int32_t ctn_gate_table(const int16_t *table, int32_t sum) {
    return ctn_interpolate_s16(table, ctn_gate_s16(ctn_div_pow2(sum, 4)));
}

static inline int8_t ctn_gate_s8(int32_t v, int32_t multiplier, int32_t shift, int32_t zero_point) {
    return (int8_t)ctn_clamp(ctn_requantize(v, multiplier, shift) + zero_point, -128, 127);
}

#endif
