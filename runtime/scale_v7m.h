/* Scaling on ARMv7-M without DSP: what dsp.h has single instructions for. */
#ifndef CTN_SCALE_V7M_H
#define CTN_SCALE_V7M_H

#include <stdint.h>

/* (a * b + addend * 2^32 + 2^31) / 2^32, rounded down: SMLAL with both words preloaded. */
static inline int32_t ctn_smmlar(int32_t a, int32_t b, int32_t addend) {
    uint64_t sum = (uint64_t)(uint32_t)addend << 32 | 0x80000000u;
    return (int32_t)((sum + (uint64_t)((int64_t)a * b)) >> 32);
}

static inline int32_t ctn_saturate(int32_t v) {
    v = v < -128 ? -128 : v;
    return v > 127 ? 127 : v;
}

/* v / 2, rounded down, saturated to int8. */
static inline int32_t ctn_ssat8_half(int32_t v) {
    return ctn_saturate(v >> 1);
}

#endif
