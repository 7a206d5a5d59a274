/* float32 arithmetic that gives the same bits on every machine: functions made of nothing but
 * additions, products, quotients and bits, in a fixed order. It rests on two things that compilers
 * must not do: contract a product and a sum into one rounding, and vectorize (MVE flushes small
 * numbers to zero). Include this file before any other.
 *
 * Errors are in units in the last place (ulp) of the result, over all finite arguments unless a
 * range is given; NaN goes in and out, infinities and signed zeros follow C's annex F. */
#ifndef CTN_FLOAT32_H
#define CTN_FLOAT32_H

#if defined(__FAST_MATH__)
#error "-ffast-math changes results: compile the runtime without it"
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off", "no-tree-vectorize")
#endif

#include <stdint.h>

/* Too large to be copied to each of its callers. */
#define CTN_FUNCTION static __attribute__((unused))

#define CTN_NAN (ctn_from_bits(0x7fc00000u))
#define CTN_INFINITY (ctn_from_bits(0x7f800000u))

/* ---- bits ---------------------------------------------------------------------------------- */

static inline uint32_t ctn_to_bits(float x) {
    union {
        float x;
        uint32_t bits;
    } u = {x};
    return u.bits;
}

static inline float ctn_from_bits(uint32_t bits) {
    union {
        uint32_t bits;
        float x;
    } u = {bits};
    return u.x;
}

static inline int ctn_is_nan(float x) {
    return x != x;
}

/* What kernels store: machines differ in the bits of the NaN that an operation makes. */
static inline float ctn_settle(float x) {
    return ctn_is_nan(x) ? CTN_NAN : x;
}

static inline float ctn_abs(float x) {
    return ctn_from_bits(ctn_to_bits(x) & 0x7fffffffu);
}

static inline float ctn_with_sign(float x, float sign) {
    return ctn_from_bits((ctn_to_bits(x) & 0x7fffffffu) | (ctn_to_bits(sign) & 0x80000000u));
}

/* x without its low 12 bits: a product of two such numbers is exact. */
static inline float ctn_high_half(float x) {
    return ctn_from_bits(ctn_to_bits(x) & 0xfffff000u);
}

/* 2^n for -126 <= n <= 127 */
static inline float ctn_power_of_2(int32_t n) {
    return ctn_from_bits((uint32_t)(n + 127) << 23);
}

/* x * 2^n, rounded once for results that are not too small. -300 <= n <= 300 */
static inline float ctn_scale(float x, int32_t n) {
    int32_t half = n / 2;
    if (n >= -126 && n <= 127)
        return x * ctn_power_of_2(n);
    return x * ctn_power_of_2(half) * ctn_power_of_2(n - half);
}

/* ---- whole numbers: exact ------------------------------------------------------------------- */

static inline float ctn_trunc(float x) {
    if (!(ctn_abs(x) < 8388608.0f)) /* 2^23: no fraction */
        return x;
    return ctn_with_sign((float)(int32_t)x, x);
}

static inline float ctn_floor(float x) {
    float t = ctn_trunc(x);
    return t > x ? t - 1.0f : t;
}

static inline float ctn_ceil(float x) {
    return -ctn_floor(-x);
}

/* ties to even */
CTN_FUNCTION float ctn_round(float x) {
    if (!(ctn_abs(x) < 8388608.0f))
        return x;
    float t = ctn_trunc(x), rest = ctn_abs(x - t);
    if (rest > 0.5f || (rest == 0.5f && ((int32_t)t & 1)))
        t = x < 0.0f ? t - 1.0f : t + 1.0f;
    return ctn_with_sign(t, x);
}

/* The remainder of a / b with a's sign, by long division: one subtraction a bit. */
CTN_FUNCTION float ctn_fmod(float a, float b) {
    float rest = ctn_abs(a), divisor = ctn_abs(b);
    if (!(rest < CTN_INFINITY) || !(divisor > 0.0f))
        return CTN_NAN;
    if (ctn_is_nan(b) || rest < divisor)
        return ctn_is_nan(b) ? CTN_NAN : a;
    while (rest >= divisor) {
        /* the largest power of two times the divisor that is not above the rest */
        uint32_t n = (ctn_to_bits(rest) >> 23) - (ctn_to_bits(divisor) >> 23);
        float part =
            ctn_to_bits(divisor) >> 23 ? ctn_from_bits(ctn_to_bits(divisor) + (n << 23)) : divisor;
        if (ctn_to_bits(divisor) >> 23 == 0) /* below normal numbers */
            while (part + part <= rest)
                part += part;
        if (part > rest)
            part *= 0.5f;
        rest -= part;
    }
    return ctn_with_sign(rest, a);
}

/* Correctly rounded, digit by digit. */
CTN_FUNCTION float ctn_sqrt(float x) {
    if (!(x > 0.0f) || x == CTN_INFINITY)
        return x < 0.0f ? CTN_NAN : x;
    int32_t exponent = 0;
    if (x < 1.17549435e-38f) {
        x *= 16777216.0f; /* 2^24 */
        exponent = -24;
    }
    uint32_t bits = ctn_to_bits(x);
    exponent += (int32_t)(bits >> 23) - 127;
    uint32_t mantissa = (bits & 0x7fffffu) | 0x800000u;
    if (exponent & 1) {
        mantissa += mantissa;
        exponent -= 1;
    }
    /* root of mantissa * 2^25, 25 digits: one more than are kept */
    uint32_t root = 0, rest = 0;
    for (int k = 24; k >= 0; k--) {
        rest = (rest << 2) | (mantissa >> 23 & 3u);
        mantissa <<= 2;
        uint32_t trial = (root << 2) | 1u;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1u;
        }
    }
    root += root & 1u; /* never a tie: what is left is no zero then */
    return ctn_from_bits((root >> 1) - 0x800000u + ((uint32_t)(exponent / 2 + 127) << 23));
}

/* ---- exponentials and logarithms ------------------------------------------------------------ */

/* exp(r) - 1 - r for |r| <= 0.35 */
CTN_FUNCTION float ctn_exp_rest(float r) {
    float p = 0.00019900444f;
    p = p * r + 0.0013934545f;
    p = p * r + 0.00833329745f;
    p = p * r + 0.0416664556f;
    p = p * r + 0.166666672f;
    p = p * r + 0.5f;
    return p * r * r;
}

/* 1 ulp; results below 2^-126 are rounded twice */
CTN_FUNCTION float ctn_exp(float x) {
    if (!(x < 89.0f))
        return ctn_is_nan(x) ? x : CTN_INFINITY;
    if (x < -104.0f)
        return 0.0f;
    float n = ctn_round(x * 1.44269502f);
    float r = (x - n * 0.693115234f) - n * 3.19461849e-05f;
    return ctn_scale(1.0f + (r + ctn_exp_rest(r)), (int32_t)n);
}

/* 4 ulp */
CTN_FUNCTION float ctn_expm1(float x) {
    if (ctn_abs(x) < 0.34f)
        return x == 0.0f ? x : x + ctn_exp_rest(x);
    return ctn_exp(x) - 1.0f;
}

/* 2^(x + low) for |low| < 2^-8: 1 ulp */
CTN_FUNCTION float ctn_exp2_sum(float x, float low) {
    if (!(x < 129.0f))
        return ctn_is_nan(x) ? x : CTN_INFINITY;
    if (x < -151.0f)
        return 0.0f;
    float n = ctn_round(x), r = (x - n) + low;
    float p = 1.53037017e-05f;
    p = p * r + 0.000154614478f;
    p = p * r + 0.00133334787f;
    p = p * r + 0.00961805694f;
    p = p * r + 0.0555041097f;
    p = p * r + 0.240226507f;
    p = p * r + 0.693147182f;
    return ctn_scale(1.0f + p * r, (int32_t)n);
}

/* x > 0, finite, as 2^exponent * (1 + f), sqrt(1/2) - 1 <= f < sqrt(2) - 1 */
CTN_FUNCTION float ctn_log_split(float x, int32_t *exponent) {
    int32_t e = 0;
    if (x < 1.17549435e-38f) {
        x *= 16777216.0f;
        e = -24;
    }
    uint32_t bits = ctn_to_bits(x), up = bits - 0x3f3504f3u; /* sqrt(1/2) */
    e += (int32_t)up >> 23;
    *exponent = e;
    return ctn_from_bits((up & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
}

/* log(1 + f) - f in that range */
CTN_FUNCTION float ctn_log_rest(float f) {
    float p = 0.0714975372f;
    p = p * f - 0.115712009f;
    p = p * f + 0.116615109f;
    p = p * f - 0.124110505f;
    p = p * f + 0.142499372f;
    p = p * f - 0.166684806f;
    p = p * f + 0.200007081f;
    p = p * f - 0.249999896f;
    p = p * f + 0.333333313f;
    return p * f * f * f - 0.5f * f * f;
}

/* What every logarithm gives where it is no number; 1 if it did. */
CTN_FUNCTION int ctn_log_special(float x, float *y) {
    if (x > 0.0f && x < CTN_INFINITY)
        return 0;
    *y = x == 0.0f ? -CTN_INFINITY : x > 0.0f ? x : CTN_NAN;
    return 1;
}

/* 1 ulp */
CTN_FUNCTION float ctn_log(float x) {
    float y;
    int32_t e;
    if (ctn_log_special(x, &y))
        return y;
    float f = ctn_log_split(x, &e), n = (float)e;
    return (f + (ctn_log_rest(f) + n * 3.19461849e-05f)) + n * 0.693115234f;
}

/* 2 ulp; exact for powers of two */
CTN_FUNCTION float ctn_log2(float x) {
    float y;
    int32_t e;
    if (ctn_log_special(x, &y))
        return y;
    float f = ctn_log_split(x, &e), rest = ctn_log_rest(f), high = ctn_high_half(f);
    float low = (f - high) + rest;
    return (high * 0.000312228389f + low * 1.44269502f + high * 1.44238281f) + (float)e;
}

/* 2 ulp */
CTN_FUNCTION float ctn_log10(float x) {
    float y;
    int32_t e;
    if (ctn_log_special(x, &y))
        return y;
    float f = ctn_log_split(x, &e), n = (float)e, high = ctn_high_half(f);
    float low = (f - high) + ctn_log_rest(f);
    return (n * 4.60503898e-06f + high * 9.03803408e-05f + low * 0.434294492f +
            high * 0.434204102f) +
           n * 0.301025391f;
}

/* 3 ulp */
CTN_FUNCTION float ctn_log1p(float x) {
    float u = 1.0f + x;
    if (u == 1.0f)
        return x;
    if (!(u > 0.0f && u < CTN_INFINITY))
        return ctn_log(u);
    return ctn_log(u) + (x - (u - 1.0f)) / u;
}

/* a^b as 2^(b log2 a), with log2 a and the product in two floats each: 3 ulp. */
CTN_FUNCTION float ctn_pow_positive(float a, float b) {
    int32_t e;
    float f = ctn_log_split(a, &e), d = 2.0f + f, d_low = f - (d - 2.0f);
    /* s = f / (2 + f); log(1 + f) = 2 s + s^3 (2/3 + 2/5 s^2 + ...) */
    float s = f / d, s_high = ctn_high_half(s), d_high = ctn_high_half(d);
    float rest = f - s_high * d_high - s_high * ((d - d_high) + d_low); /* f - s_high d */
    float s_low = rest / d, z = s * s;
    float p = 0.233445838f;
    p = p * z + 0.285502911f;
    p = p * z + 0.400001258f;
    p = p * z + 0.666666687f;
    float tail = 2.0f * s_low + p * z * s; /* log = 2 s_high + tail */
    float sum = 2.0f * s_high + tail, l_high = ctn_high_half(sum);
    float l_low = (2.0f * s_high - l_high) + tail;
    /* times log2(e) = 1.44238281 + 0.000312228389 */
    float main = l_high * 1.44238281f; /* exact */
    float low = l_high * 0.000312228389f + l_low * 1.44269502f;
    float n = (float)e, g = n + main;
    low += main - (g - n);
    float high = ctn_high_half(g + low);
    low += g - high;
    float b_high = ctn_high_half(b), y = b_high * high, y_low = b_high * low + (b - b_high) * high;
    y_low += (b - b_high) * low;
    if (!(ctn_abs(y) < 1024.0f)) /* the parts may be beyond any number */
        return y > 0.0f ? CTN_INFINITY : 0.0f;
    float whole = y + y_low;
    return ctn_exp2_sum(whole, (y - whole) + y_low);
}

CTN_FUNCTION float ctn_pow(float a, float b) {
    if (a == 1.0f || b == 0.0f)
        return 1.0f;
    if (ctn_is_nan(a) || ctn_is_nan(b))
        return CTN_NAN;
    float size = ctn_abs(a);
    if (ctn_abs(b) == CTN_INFINITY)
        return size == 1.0f ? 1.0f : (size > 1.0f) == (b > 0.0f) ? CTN_INFINITY : 0.0f;
    int whole = ctn_trunc(b) == b, odd = whole && ctn_trunc(b * 0.5f) * 2.0f != b;
    float y;
    if (size == 0.0f || size == CTN_INFINITY)
        y = (size == 0.0f) == (b > 0.0f) ? 0.0f : CTN_INFINITY;
    else if (a < 0.0f && !whole)
        return CTN_NAN;
    else
        y = size == 1.0f ? 1.0f : ctn_pow_positive(size, b);
    return odd ? ctn_with_sign(y, a) : y;
}

/* ---- hyperbolic functions ------------------------------------------------------------------- */

/* 3 ulp */
CTN_FUNCTION float ctn_tanh(float x) {
    float size = ctn_abs(x), y;
    if (size > 9.1f) {
        y = 1.0f;
    } else if (size < 0.5f) {
        float t = ctn_expm1(2.0f * size);
        y = t / (t + 2.0f);
    } else {
        y = 1.0f - 2.0f / (ctn_exp(2.0f * size) + 1.0f);
    }
    return ctn_is_nan(x) ? x : ctn_with_sign(y, x);
}

/* 1 / (1 + exp(-x)): 3 ulp */
CTN_FUNCTION float ctn_sigmoid(float x) {
    float e = ctn_exp(-ctn_abs(x));
    return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

/* 4 ulp */
CTN_FUNCTION float ctn_sinh(float x) {
    float size = ctn_abs(x), y;
    if (size > 80.0f) {
        float root = ctn_exp(0.5f * size);
        y = 0.5f * root * root;
    } else {
        float t = ctn_expm1(size);
        y = 0.5f * (t + t / (t + 1.0f));
    }
    return ctn_is_nan(x) ? x : ctn_with_sign(y, x);
}

/* 3 ulp */
CTN_FUNCTION float ctn_cosh(float x) {
    float size = ctn_abs(x);
    if (size > 80.0f) {
        float root = ctn_exp(0.5f * size);
        return 0.5f * root * root;
    }
    float e = ctn_exp(size);
    return 0.5f * e + 0.5f / e;
}

/* 4 ulp */
CTN_FUNCTION float ctn_asinh(float x) {
    float size = ctn_abs(x), y;
    if (size > 4096.0f)
        y = ctn_log(size) + 0.693147182f;
    else
        y = ctn_log1p(size + size * size / (1.0f + ctn_sqrt(size * size + 1.0f)));
    return ctn_is_nan(x) ? x : ctn_with_sign(y, x);
}

/* 4 ulp */
CTN_FUNCTION float ctn_acosh(float x) {
    if (!(x >= 1.0f))
        return CTN_NAN;
    if (x > 4096.0f)
        return ctn_log(x) + 0.693147182f;
    float t = x - 1.0f;
    return ctn_log1p(t + ctn_sqrt(2.0f * t + t * t));
}

/* 4 ulp */
CTN_FUNCTION float ctn_atanh(float x) {
    float size = ctn_abs(x);
    return ctn_is_nan(x) ? x : ctn_with_sign(0.5f * ctn_log1p(2.0f * size / (1.0f - size)), x);
}

/* ---- circular functions --------------------------------------------------------------------- */

/* 2/pi from its 32nd bit before the point on. */
static const uint32_t ctn_two_over_pi[9] = {0x00000000u, 0xa2f9836eu, 0x4e441529u,
                                            0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
                                            0x3c439041u, 0xfe5163abu, 0xdebbc561u};

static inline uint32_t ctn_two_over_pi_bits(int32_t at) {
    int32_t word = at >> 5, shift = at & 31;
    uint32_t high = ctn_two_over_pi[word] << shift;
    return shift ? high | ctn_two_over_pi[word + 1] >> (32 - shift) : high;
}

/* x = quadrant * pi/2 + r, |r| <= pi/4. |x| is an integer times a power of two; of its product with
 * 2/pi, in whole turns and 62 more bits, the whole turns are never computed. x finite */
CTN_FUNCTION float ctn_reduce_angle(float x, uint32_t *quadrant) {
    float size = ctn_abs(x);
    *quadrant = 0;
    if (size <= 0.785398185f)
        return x;
    uint32_t bits = ctn_to_bits(size), m = (bits & 0x7fffffu) | 0x800000u;
    int32_t at = (int32_t)(bits >> 23) - 150 + 30; /* x = m * 2^(exponent - 150) */
    uint64_t low = (uint64_t)m * ctn_two_over_pi_bits(at + 64);
    uint64_t middle = (uint64_t)m * ctn_two_over_pi_bits(at + 32) + (low >> 32);
    uint32_t high = m * ctn_two_over_pi_bits(at) + (uint32_t)(middle >> 32);
    uint64_t turn = (uint64_t)high << 32 | (uint32_t)middle; /* 2 bits of quadrant, 62 below */
    uint64_t rounded = turn + ((uint64_t)1 << 61);
    *quadrant = (uint32_t)(rounded >> 62);
    int64_t rest = (int64_t)(turn - (rounded >> 62 << 62));
    float r = (float)rest * 3.40612158e-19f; /* pi/2 * 2^-62 */
    if (x < 0.0f) {
        *quadrant = 0u - *quadrant;
        r = -r;
    }
    return r;
}

CTN_FUNCTION float ctn_sin_small(float r) {
    float z = r * r, p = 2.72469083e-06f;
    p = p * z - 0.000198400638f;
    p = p * z + 0.00833333191f;
    p = p * z - 0.166666672f;
    return r == 0.0f ? r : r + p * z * r; /* the sign of zero */
}

CTN_FUNCTION float ctn_cos_small(float r) {
    float z = r * r, p = 2.45454685e-05f;
    p = p * z - 0.0013888292f;
    p = p * z + 0.0416666642f;
    return 1.0f - (0.5f * z - p * z * z);
}

CTN_FUNCTION float ctn_sine(float x, uint32_t ahead) {
    uint32_t quadrant;
    if (!(ctn_abs(x) < CTN_INFINITY))
        return CTN_NAN;
    float r = ctn_reduce_angle(x, &quadrant);
    quadrant += ahead;
    float y = quadrant & 1u ? ctn_cos_small(r) : ctn_sin_small(r);
    return quadrant & 2u ? -y : y;
}

/* 3 ulp */
CTN_FUNCTION float ctn_sin(float x) {
    return ctn_sine(x, 0);
}

/* 3 ulp */
CTN_FUNCTION float ctn_cos(float x) {
    return ctn_sine(x, 1);
}

/* 5 ulp */
CTN_FUNCTION float ctn_tan(float x) {
    uint32_t quadrant;
    if (!(ctn_abs(x) < CTN_INFINITY))
        return CTN_NAN;
    float r = ctn_reduce_angle(x, &quadrant);
    float s = ctn_sin_small(r), c = ctn_cos_small(r);
    return quadrant & 1u ? -c / s : s / c;
}

/* atan(y / x) for y >= 0 and x >= 0, not both zero or infinite: 3 ulp */
CTN_FUNCTION float ctn_atan_positive(float y, float x) {
    float base = 0.0f, base_low = 0.0f, t;
    if (y > 2.41421366f * x) { /* tan(3 pi/8) */
        base = 1.57079637f;
        base_low = -4.37113883e-08f;
        t = -x / y;
    } else if (y > 0.414213568f * x) {
        base = 0.785398185f;
        base_low = -2.18556941e-08f;
        t = (y - x) / (y + x);
    } else {
        t = y / x;
    }
    float z = t * t, p = -0.0641791523f;
    p = p * z + 0.107337251f;
    p = p * z - 0.142630652f;
    p = p * z + 0.19999516f;
    p = p * z - 0.333333313f;
    return base + (t + (p * z * t + base_low));
}

CTN_FUNCTION float ctn_atan(float x) {
    if (ctn_is_nan(x))
        return x;
    return ctn_with_sign(ctn_atan_positive(ctn_abs(x), 1.0f), x);
}

/* 4 ulp */
CTN_FUNCTION float ctn_atan2(float y, float x) {
    float up = ctn_abs(y), across = ctn_abs(x), angle;
    if (ctn_is_nan(x) || ctn_is_nan(y))
        return CTN_NAN;
    if (up == across) /* both may be zero or infinite */
        angle = up == 0.0f ? 0.0f : 0.785398185f;
    else {
        if (up > 1e38f || across > 1e38f) { /* sums must not overflow */
            up *= 0.25f;
            across *= 0.25f;
        }
        angle = ctn_atan_positive(up, across);
    }
    if (ctn_to_bits(x) >> 31)
        angle = 3.14159274f - (angle + 8.74227766e-08f);
    return ctn_with_sign(angle, y);
}

/* asin(x) - x for |x| <= 1/2 */
CTN_FUNCTION float ctn_asin_rest(float x) {
    float z = x * x, p = 0.0338057466f;
    p = p * z + 0.0170778595f;
    p = p * z + 0.0311161559f;
    p = p * z + 0.0445980318f;
    p = p * z + 0.0750009865f;
    p = p * z + 0.166666657f;
    return p * z * x;
}

/* acos(x) for 1/2 <= x <= 1: 2 ulp */
CTN_FUNCTION float ctn_acos_high(float x) {
    float root = ctn_sqrt(0.5f * (1.0f - x));
    return 2.0f * (root + ctn_asin_rest(root));
}

/* 3 ulp */
CTN_FUNCTION float ctn_asin(float x) {
    float size = ctn_abs(x);
    if (size <= 0.5f)
        return x + ctn_asin_rest(x);
    return ctn_is_nan(x) ? x
                         : ctn_with_sign(1.57079637f - (ctn_acos_high(size) + 4.37113883e-08f), x);
}

/* 3 ulp */
CTN_FUNCTION float ctn_acos(float x) {
    if (ctn_abs(x) <= 0.5f)
        return 1.57079637f - (x + (ctn_asin_rest(x) + 4.37113883e-08f));
    if (x > 0.0f)
        return ctn_acos_high(x);
    return 3.14159274f - (ctn_acos_high(-x) + 8.74227766e-08f);
}

/* ---- the error function --------------------------------------------------------------------- */

/* erfc(x) for x >= 1/2: 7 ulp, results below 2^-126 are rounded twice. exp(-x^2) takes x^2 in two
 * parts. */
CTN_FUNCTION float ctn_erfc_high(float x) {
    if (!(x < 10.1f))
        return ctn_is_nan(x) ? x : 0.0f;
    float t = 1.0f / (1.0f + 0.5f * x), p = -0.0630756617f;
    p = p * t + 0.302843988f;
    p = p * t - 0.521878302f;
    p = p * t + 0.313832939f;
    p = p * t - 0.0485072322f;
    p = p * t + 0.210799649f;
    p = p * t + 0.241328001f;
    p = p * t + 0.282584697f;
    p = p * t + 0.28207624f;
    float high = ctn_high_half(x);
    float low = ctn_exp(-(x - high) * (x + high));
    return ctn_exp(-high * high) * (low * (t * p));
}

/* erf(x) for |x| <= 1/2: 1 ulp */
CTN_FUNCTION float ctn_erf_small(float x) {
    float z = x * x, p = -0.000769505685f;
    p = p * z + 0.00520044658f;
    p = p * z - 0.0268631503f;
    p = p * z + 0.112837739f;
    p = p * z - 0.376126379f;
    p = p * z + 0.128379166f;
    return x + p * x;
}

/* 4 ulp */
CTN_FUNCTION float ctn_erf(float x) {
    float size = ctn_abs(x);
    if (size <= 0.5f)
        return ctn_erf_small(x);
    return ctn_is_nan(x) ? x : ctn_with_sign(1.0f - ctn_erfc_high(size), x);
}

/* 7 ulp */
CTN_FUNCTION float ctn_erfc(float x) {
    if (ctn_abs(x) <= 0.5f)
        return 1.0f - ctn_erf_small(x);
    return x < 0.0f ? 2.0f - ctn_erfc_high(-x) : ctn_erfc_high(x);
}

#endif
