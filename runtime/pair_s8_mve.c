/* Pairs of pixels times groups of four channels (pair_code_mve.h). One chunk is 6 loads and 8
 * VMLADAVA for 128 products. */
#include "pair_s8_mve.h"

#if defined(CTN_EMULATE) || defined(__ARM_FEATURE_MVE)

#define PAIR_KIND ctn_pair_s8_mve
#define PAIR_CHUNK_BYTES 64
#define CHUNK(mac)                                                                                 \
    "vldrb.u8 q0, [r1], #16\n"                                                                     \
    "vldrb.u8 q2, [r3], #16\n" mac " r0, q2, q0\n"                                                 \
    "vldrb.u8 q1, [r11], #16\n" mac " r2, q2, q1\n"                                                \
    "vldrb.u8 q3, [r3], #16\n" mac " r4, q3, q0\n"                                                 \
    "vldrb.u8 q2, [r3], #16\n" mac " r6, q3, q1\n" mac " r8, q2, q0\n"                             \
    "vldrb.u8 q3, [r3], #16\n" mac " r10, q2, q1\n" mac " r12, q3, q0\n" mac " lr, q3, q1\n"
#define PAIR_SUMS                                                                                  \
    "vmov q0[2], q0[0], r0, r8\n"                                                                  \
    "vmov q0[3], q0[1], r4, r12\n"                                                                 \
    "vmov q1[2], q1[0], r2, r10\n"                                                                 \
    "vmov q1[3], q1[1], r6, lr\n"

#if defined(CTN_EMULATE)
static int32_t dot(const CtnPair *p, const int8_t *in, const int8_t *weights, int channel) {
    int32_t sum = 0, chunks = ctn_pair_chunk_count(p);
    for (int32_t s = 0; s < p->segments; s++, in += p->skip)
        for (int32_t k = 0; k < chunks; k++, in += 16, weights += 64)
            for (int i = 0; i < 16; i++)
                sum += in[i] * weights[16 * channel + i];
    return sum;
}
#endif

#include "pair_code_mve.h"
#endif
