/* The DSP instructions that the kernels use, each named after its mnemonic: one instruction on the
 * chip, plain C on the host. Products and sums wrap modulo 2^32 as the instructions' do. */
#ifndef CTN_DSP_H
#define CTN_DSP_H

#include <stdint.h>

/* (a * b + addend * 2^32 + 2^31) / 2^32, rounded down. */
static inline int32_t ctn_smmlar(int32_t a, int32_t b, int32_t addend);
/* Bytes 0 and 2 (or 1 and 3) of v, sign-extended to two int16. */
static inline uint32_t ctn_sxtb16(uint32_t v);
static inline uint32_t ctn_sxtb16_odd(uint32_t v);
/* The same, added to the two int16 of `sum`. */
static inline uint32_t ctn_sxtab16(uint32_t sum, uint32_t v);
static inline uint32_t ctn_sxtab16_odd(uint32_t sum, uint32_t v);
/* Both products of int16, added to sum. */
static inline int32_t ctn_smlad(uint32_t a, uint32_t b, int32_t sum);
/* The product of the low or of the high int16, added to sum. */
static inline int32_t ctn_smlabb(uint32_t a, uint32_t b, int32_t sum);
static inline int32_t ctn_smlatt(uint32_t a, uint32_t b, int32_t sum);
/* The greater of four signed bytes each. */
static inline uint32_t ctn_max4(uint32_t a, uint32_t b);
static inline uint32_t ctn_min4(uint32_t a, uint32_t b);
/* v / 2, rounded down, saturated to int8. */
static inline int32_t ctn_ssat8_half(int32_t v);

#ifdef CTN_EMULATE
#include "emul/dsp.h"
#else

static inline int32_t ctn_smmlar(int32_t a, int32_t b, int32_t addend) {
    int32_t d;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(d) : "r"(a), "r"(b), "r"(addend));
    return d;
}

static inline uint32_t ctn_sxtb16(uint32_t v) {
    uint32_t d;
    __asm__("sxtb16 %0, %1" : "=r"(d) : "r"(v));
    return d;
}

static inline uint32_t ctn_sxtb16_odd(uint32_t v) {
    uint32_t d;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(d) : "r"(v));
    return d;
}

static inline uint32_t ctn_sxtab16(uint32_t sum, uint32_t v) {
    uint32_t d;
    __asm__("sxtab16 %0, %1, %2" : "=r"(d) : "r"(sum), "r"(v));
    return d;
}

static inline uint32_t ctn_sxtab16_odd(uint32_t sum, uint32_t v) {
    uint32_t d;
    __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(d) : "r"(sum), "r"(v));
    return d;
}

static inline int32_t ctn_smlad(uint32_t a, uint32_t b, int32_t sum) {
    int32_t d;
    __asm__("smlad %0, %1, %2, %3" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
    return d;
}

static inline int32_t ctn_smlabb(uint32_t a, uint32_t b, int32_t sum) {
    int32_t d;
    __asm__("smlabb %0, %1, %2, %3" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
    return d;
}

static inline int32_t ctn_smlatt(uint32_t a, uint32_t b, int32_t sum) {
    int32_t d;
    __asm__("smlatt %0, %1, %2, %3" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
    return d;
}

/* SSUB8 sets a GE bit where a >= b; SEL takes a there, b elsewhere. */
static inline uint32_t ctn_max4(uint32_t a, uint32_t b) {
    uint32_t d;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(d) : "r"(a), "r"(b) : "cc");
    return d;
}

static inline uint32_t ctn_min4(uint32_t a, uint32_t b) {
    uint32_t d;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(d) : "r"(a), "r"(b) : "cc");
    return d;
}

static inline int32_t ctn_ssat8_half(int32_t v) {
    int32_t d;
    __asm__("ssat %0, #8, %1, asr #1" : "=r"(d) : "r"(v));
    return d;
}
#endif

#endif
