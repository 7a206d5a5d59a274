/* exp and 1/(1+x) in fixed point, as gemmlowp describes them: what softmax is made of. A number
 * "Qm.n" has m integer bits and n fraction bits beside its sign. Products are rounded half up
 * (ctn_mul_high), and are never of INT32_MIN by itself. */
#ifndef CTN_EXP_H
#define CTN_EXP_H

#include "fix.h"

/* Long, and called from several loops of a kernel. */
#ifdef __GNUC__
#define CTN_OUT_OF_LINE __attribute__((noinline))
#else
#define CTN_OUT_OF_LINE
#endif

/* a * 2^exponent, saturated. */
static inline int32_t ctn_shift_saturated(int32_t a, int exponent) {
    int32_t limit = (int32_t)(((uint32_t)1 << (31 - exponent)) - 1u);
    return a > limit ? INT32_MAX : a < -limit ? INT32_MIN : (int32_t)((uint32_t)a << exponent);
}

/* exp(x) in Q0.31 for x <= 0 in Q5.26. The part of x below a quarter goes through a polynomial of
 * degree 4 around -1/8; every further bit of x multiplies by its constant exp(-2^(k-2)). */
static inline int32_t ctn_exp_negative(int32_t x) {
    static const int32_t factor[7] = {1672461947, 1302514674, 790015084, 290630308,
                                      39332535,   720401,     242};
    const int32_t exp_minus_eighth = 1895147668, third = 715827883, quarter = 1 << 24;
    if (x == 0)
        return INT32_MAX;
    int32_t rest = (x & (quarter - 1)) - quarter; /* -1/4 <= rest < 0, Q5.26 */
    int32_t t = (int32_t)((uint32_t)rest << 5) + (1 << 28);
    int32_t t2 = ctn_mul_high(t, t);
    int32_t t3 = ctn_mul_high(t2, t);
    int32_t t4 = ctn_mul_high(t2, t2);
    int32_t high = ctn_mul_high(ctn_div_pow2(t4, 2) + t3, third) + t2;
    int32_t result = exp_minus_eighth + ctn_mul_high(exp_minus_eighth, t + ctn_div_pow2(high, 1));
    int32_t quarters = (rest - x) >> 24;
    for (int k = 0; k < 7; k++)
        if (quarters >> k & 1)
            result = ctn_mul_high(result, factor[k]);
    return result;
}

/* exp of a distance to a row's maximum, diff <= 0, whose factor is multiplier * 2^(shift - 31) in
 * Q5.26. The host cuts distances where the exponential is nothing (diff_min): |diff| 2^shift is at
 * most 31 * 2^26. At shifts that reach the sign bit nothing but the maximum itself, 0, is left. */
static inline int32_t ctn_exp_distance(int32_t diff, int32_t multiplier, int32_t shift) {
    return ctn_exp_negative(ctn_mul_high((int32_t)((uint32_t)diff << shift), multiplier));
}

/* 1 / (1 + x) in Q0.31 for 0 <= x < 1 in Q0.31: three Newton steps on the half denominator from
 * 48/17 - 32/17 d, in Q2.29. */
static inline int32_t ctn_reciprocal_one_plus(int32_t x) {
    const int32_t start = 1515870810, slope = -1010580540, one = 1 << 29;
    int64_t sum = (int64_t)x + INT32_MAX;
    int32_t half = (int32_t)((sum + (sum >= 0 ? 1 : -1)) / 2);
    int32_t r = start + ctn_mul_high(half, slope);
    for (int step = 0; step < 3; step++) {
        int32_t error = one - ctn_mul_high(half, r);
        r += ctn_shift_saturated(ctn_mul_high(r, error), 2);
    }
    return ctn_shift_saturated(r, 1);
}

static inline int ctn_leading_zeros(uint32_t v) { /* v > 0 */
    int n = 0;
    for (; !(v & 0x80000000u); v <<= 1)
        n++;
    return n;
}

#endif
