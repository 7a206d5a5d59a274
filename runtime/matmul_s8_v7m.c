/* Product of two activations on ARMv7-M without DSP, by matmul_s8.h. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "matmul_block.h"
#include "scale_v7m.h"

#define PRODUCTS(i)                                                                                \
    do {                                                                                           \
        int32_t a0 = l0[i], a1 = l1[i], b0 = r0[0], b1 = r0[r1];                                   \
        r0 += step;                                                                                \
        s0 += a0 * b0;                                                                             \
        s1 += a1 * b0;                                                                             \
        s2 += a0 * b1;                                                                             \
        s3 += a1 * b1;                                                                             \
    } while (0)

/* Out of line, or the loop has no registers left. */
__attribute__((noinline)) static void ctn_matmul_block(CtnMatmulBlock *b) {
    const int8_t *l0 = b->row[0], *l1 = b->row[1], *r0 = b->column[0];
    int32_t r1 = (int32_t)(b->column[1] - r0), step = b->step, k = b->depth;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; k >= 4; k -= 4, l0 += 4, l1 += 4) {
        PRODUCTS(0);
        PRODUCTS(1);
        PRODUCTS(2);
        PRODUCTS(3);
    }
    for (; k > 0; k--, l0++, l1++)
        PRODUCTS(0);
    b->sum[0] = s0;
    b->sum[1] = s1;
    b->sum[2] = s2;
    b->sum[3] = s3;
}

#include "matmul_s8.h"

void ctn_matmul_s8_v7m(const CtnMatmulS8Args *a, const CtnFrame *frame) {
    ctn_matmul_all(a, frame);
}
#endif
