/* The DSP instructions in plain C, after Arm's description of each; dsp.h says what they do. */
#ifndef CTN_EMUL_DSP_H
#define CTN_EMUL_DSP_H

#include <stdint.h>

static inline int32_t ctn_smmlar(int32_t a, int32_t b, int32_t addend) {
    int64_t product = (int64_t)a * b + ((int64_t)1 << 31);
    return (int32_t)((uint32_t)(product >> 32) + (uint32_t)addend);
}

static inline uint32_t ctn_sxtb16(uint32_t v) {
    uint32_t low = (uint32_t)(int32_t)(int8_t)v, high = (uint32_t)(int32_t)(int8_t)(v >> 16);
    return (low & 0xffffu) | high << 16;
}

static inline uint32_t ctn_sxtb16_odd(uint32_t v) {
    return ctn_sxtb16(v >> 8);
}

static inline uint32_t ctn_sxtab16(uint32_t sum, uint32_t v) {
    uint32_t d = ctn_sxtb16(v);
    return ((sum + d) & 0xffffu) | ((sum >> 16) + (d >> 16)) << 16;
}

static inline uint32_t ctn_sxtab16_odd(uint32_t sum, uint32_t v) {
    return ctn_sxtab16(sum, v >> 8);
}

static inline int32_t ctn_smlad(uint32_t a, uint32_t b, int32_t sum) {
    int32_t low = (int16_t)a * (int16_t)b;
    int32_t high = (int16_t)(a >> 16) * (int16_t)(b >> 16);
    return (int32_t)((uint32_t)sum + (uint32_t)low + (uint32_t)high);
}

static inline int32_t ctn_smlabb(uint32_t a, uint32_t b, int32_t sum) {
    int32_t product = (int16_t)a * (int16_t)b;
    return (int32_t)((uint32_t)sum + (uint32_t)product);
}

static inline int32_t ctn_smlatt(uint32_t a, uint32_t b, int32_t sum) {
    return ctn_smlabb(a >> 16, b >> 16, sum);
}

static inline uint32_t ctn_max4(uint32_t a, uint32_t b) {
    uint32_t d = 0;
    for (int i = 0; i < 32; i += 8) {
        int8_t x = (int8_t)(a >> i), y = (int8_t)(b >> i);
        d |= (uint32_t)(uint8_t)(x >= y ? x : y) << i;
    }
    return d;
}

static inline uint32_t ctn_min4(uint32_t a, uint32_t b) {
    uint32_t d = 0;
    for (int i = 0; i < 32; i += 8) {
        int8_t x = (int8_t)(a >> i), y = (int8_t)(b >> i);
        d |= (uint32_t)(uint8_t)(x >= y ? y : x) << i;
    }
    return d;
}

static inline int32_t ctn_ssat8_half(int32_t v) {
    v >>= 1;
    return v < -128 ? -128 : v > 127 ? 127 : v;
}

#endif
