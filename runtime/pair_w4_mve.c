/* Pairs of pixels times groups of four channels with weights of 4 bits (pair_w4_mve.h), which stand
 * for 16 times their value (nibble.h). A byte b = 16 * w1 + w0, within +-119, is multiplied as it
 * is: the sum S of odd channels. Moved up by 4 bits it is 16 * w0, of which even channels have the
 * sum E. The odd channels' is S - E / 16, which is exact. A chunk is as long as with 8 bits: 4
 * loads, 2 shifts and 8 VMLADAVA for 128 products.
 *
 * |S| <= 128 * 119 per product: the host has proven that it fits int32. */
#include "pair_w4_mve.h"

#if defined(CTN_EMULATE) || defined(__ARM_FEATURE_MVE)

#define PAIR_KIND ctn_pair_w4_mve
#define PAIR_CHUNK_BYTES 32
#define CHUNK(mac)                                                                                 \
    "vldrb.u8 q0, [r1], #16\n"                                                                     \
    "vldrb.u8 q2, [r3], #16\n" mac " r4, q2, q0\n"                                                 \
    "vldrb.u8 q1, [r11], #16\n" mac " r6, q2, q1\n"                                                \
    "vldrb.u8 q3, [r3], #16\n" mac " r12, q3, q0\n"                                                \
    "vshl.i8 q2, q2, #4\n" mac " lr, q3, q1\n"                                                     \
    "vshl.i8 q3, q3, #4\n" mac " r0, q2, q0\n" mac " r2, q2, q1\n" mac " r8, q3, q0\n" mac         \
    " r10, q3, q1\n"
#define PAIR_SUMS                                                                                  \
    "sub r4, r4, r0, asr #4\n"                                                                     \
    "sub r12, r12, r8, asr #4\n"                                                                   \
    "vmov q0[2], q0[0], r0, r8\n"                                                                  \
    "vmov q0[3], q0[1], r4, r12\n"                                                                 \
    "sub r6, r6, r2, asr #4\n"                                                                     \
    "sub lr, lr, r10, asr #4\n"                                                                    \
    "vmov q1[2], q1[0], r2, r10\n"                                                                 \
    "vmov q1[3], q1[1], r6, lr\n"

#if defined(CTN_EMULATE)
static int32_t dot(const CtnPair *p, const int8_t *in, const int8_t *weights, int channel) {
    int32_t whole = 0, low = 0, chunks = ctn_pair_chunk_count(p);
    weights += 16 * (channel / 2);
    for (int32_t s = 0; s < p->segments; s++, in += p->skip)
        for (int32_t k = 0; k < chunks; k++, in += 16, weights += 32)
            for (int i = 0; i < 16; i++) {
                whole += in[i] * weights[i];
                low += in[i] * (int8_t)(uint8_t)((uint32_t)weights[i] << 4);
            }
    return channel % 2 ? whole - (low >> 4) : low;
}
#endif

#include "pair_code_mve.h"
#endif
