/* The integer arithmetic of every kernel: its only definition. Kernels, constant folding, table
 * building and the simulator include it, so that equal integers mean equal bytes everywhere. It
 * rests on two's complement and an arithmetic >> of negative numbers, which every compiler for
 * Cortex-M and every host has. */
#ifndef CTN_FIX_H
#define CTN_FIX_H

#include <stddef.h>
#include <stdint.h>

static inline int32_t ctn_clamp(int32_t v, int32_t min, int32_t max) {
    return v < min ? min : v > max ? max : v;
}

/* v * multiplier / 2^31, rounded half up. The product is below 2^62 and fits unless both factors
 * are INT32_MIN; multipliers never are. */
static inline int32_t ctn_mul_high(int32_t v, int32_t multiplier) {
    return (int32_t)(((int64_t)v * multiplier + ((int64_t)1 << 30)) >> 31);
}

/* v / 2^exponent, rounded half away from zero; 0 <= exponent <= 31. */
static inline int32_t ctn_div_pow2(int32_t v, int32_t exponent) {
    int32_t mask = (int32_t)(((uint32_t)1 << exponent) - 1u);
    int32_t quotient = v >> exponent;
    int32_t threshold = (mask >> 1) + (v < 0);
    return quotient + ((v & mask) > threshold);
}

/* v * multiplier * 2^(shift - 31), rounded as CMSIS-NN and TFLM do: first to 31 bits half up,
 * then by the right shift half away from zero. -31 <= shift <= 30; a left shift must not carry v
 * out of int32, which the host proves for each layer. */
static inline int32_t ctn_requantize(int32_t v, int32_t multiplier, int32_t shift) {
    if (shift > 0)
        return ctn_mul_high((int32_t)((uint32_t)v << shift), multiplier);
    return ctn_div_pow2(ctn_mul_high(v, multiplier), -shift);
}

/* a / b rounded half away from zero, 0 for b = 0. |a| + |b| / 2 must fit int32. */
static inline int32_t ctn_div(int32_t a, int32_t b) {
    if (b == 0)
        return 0;
    if (b < 0) {
        a = -a;
        b = -b;
    }
    return a < 0 ? (a - b / 2) / b : (a + b / 2) / b;
}

/* a * multiplier * 2^(shift - 31) / b, rounded once, half away from zero; 0 for b = 0; kept within
 * +-65536. |a|, |b| <= 2^16, -14 <= shift <= 31: numerator and denominator stay below 2^62. */
static inline int32_t ctn_quotient(int32_t a, int32_t b, int32_t multiplier, int32_t shift) {
    const uint64_t limit = 65536;
    if (b == 0)
        return 0;
    int negative = (a < 0) != (b < 0);
    uint64_t top = (uint64_t)(a < 0 ? -(int64_t)a : a) * (uint32_t)multiplier;
    uint64_t bottom = (uint64_t)(b < 0 ? -(int64_t)b : b) << (31 - shift);
    uint64_t quotient = (top + bottom / 2) / bottom;
    if (quotient > limit)
        quotient = limit;
    return negative ? -(int32_t)quotient : (int32_t)quotient;
}

/* One addend: (q - zero_point) * 2^left_shift on the common scale. 256 * 2^20 and 65535 * 2^15
 * fit int32. */
static inline int32_t ctn_add_operand(int32_t q, int32_t zero_point, int32_t left_shift,
                                      int32_t multiplier, int32_t shift) {
    int32_t wide = (int32_t)((uint32_t)(q - zero_point) << left_shift);
    return ctn_requantize(wide, multiplier, shift);
}

/* clamp(rint(x * inverse_scale) + zero_point), ties to even, as torch quantizes in float32.
 * Within +-70000 no int16 result is reached early, and below 2^22 adding and taking away
 * 1.5 * 2^23 rounds to an integer. The clamp between product and sum also keeps a compiler from
 * contracting them. NaN gives the zero point. */
static inline int32_t ctn_quantize(float x, float inverse_scale, int32_t zero_point, int32_t min,
                                   int32_t max) {
    const float magic = 12582912.0f;
    float t = x * inverse_scale;
    if (!(t > -70000.0f))
        t = t < 0.0f ? -70000.0f : 0.0f;
    else if (t > 70000.0f)
        t = 70000.0f;
    float rounded = (t + magic) - magic;
    return ctn_clamp((int32_t)rounded + zero_point, min, max);
}

static inline float ctn_dequantize(int32_t q, float scale, int32_t zero_point) {
    return (float)(q - zero_point) * scale;
}

/* Arguments carry floats as their bits. */
static inline float ctn_float_from_bits(int32_t bits) {
    union {
        int32_t i;
        float f;
    } u = {bits};
    return u.f;
}

/* The last step of a store: clamp, then the table if there is one. Its entries stand for min..max:
 * 256 of them, or 1024 where the value before the table is never stored. */
static inline int8_t ctn_finish_s8(int32_t q, int32_t min, int32_t max, const int8_t *table) {
    q = ctn_clamp(q, min, max);
    return table ? table[q - min] : (int8_t)q;
}

/* Interpolated table of 513 entries over int16: 128 steps between entries, rounded half up.
 * |slope| < 2^16, so slope * 127 fits. */
static inline int16_t ctn_interpolate_s16(const int16_t *table, int32_t q) {
    int32_t position = q + 32768;
    const int16_t *entry = table + (position >> 7);
    int32_t slope = entry[1] - entry[0];
    return (int16_t)(entry[0] + ((slope * (position & 127) + 64) >> 7));
}

/* A piece of a function of int16, `distance` behind its start: with the place distance * 2^piece[0]
 * of 15 fraction bits, value + place * (slope + place * bend), the three in piece[1..3] with 4
 * fraction bits. Places are below 2^15, bend, slope and their sum below 2^16 in size: the products
 * fit. */
static inline int32_t ctn_piece_s16(const int32_t *piece, int32_t distance) {
    int32_t place = distance << piece[0];
    int32_t slope = piece[2] + ((piece[3] * place + (1 << 14)) >> 15);
    return (piece[1] + ((slope * place + (1 << 14)) >> 15) + 8) >> 4;
}

#endif
