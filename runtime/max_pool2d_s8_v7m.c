/* Maximum over windows on ARMv7-M without DSP (max_pool_s8.h): words by plain operations. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include <stdint.h>

/* 255 in each byte in which a is the greater or equal signed one. With equal signs the difference
 * of the low seven bits, of which none borrows from its neighbour, has bit 7 set; else b's sign
 * says it. */
static inline uint32_t not_below4(uint32_t a, uint32_t b) {
    const uint32_t signs = 0x80808080u;
    uint32_t unlike = a ^ b, difference = (a | signs) - (b & ~signs);
    uint32_t set = (difference ^ ((difference ^ b) & unlike)) & signs;
    return set | (set - (set >> 7));
}

static inline uint32_t ctn_max4(uint32_t a, uint32_t b) {
    return b ^ ((a ^ b) & not_below4(a, b));
}

static inline uint32_t ctn_min4(uint32_t a, uint32_t b) {
    return a ^ ((a ^ b) & not_below4(a, b));
}

#include "max_pool_s8.h"

void ctn_max_pool2d_s8_v7m(const CtnMaxPool2dS8Args *a, const CtnFrame *frame) {
    ctn_max_pool_s8(a, frame);
}
#endif
