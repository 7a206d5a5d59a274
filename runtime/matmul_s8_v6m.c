/* Product of two activations on ARMv6-M, by matmul_s8.h: the inner loop in assembly, on the host
 * its twin in plain C. */
#include "matmul_block.h"
#include "scale_v6m.h"

#if defined(CTN_EMULATE) || !(defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__))
static void ctn_matmul_block(CtnMatmulBlock *b) {
    for (int i = 0; i < 4; i++) {
        b->sum[i] = 0;
        for (int32_t k = 0; k < b->depth; k++)
            b->sum[i] += b->row[i & 1][k] * b->column[i >> 1][k * b->step];
    }
}
#else
#define PRODUCT(first, second, sum)                                                                \
    "muls " first ", " second "\n"                                                                 \
    "add " sum ", " first "\n"

/* clang-format off */
/* r0, r1 ends of the rows, r2, r3 columns; r4 from -depth to 0, r5 offset in the columns; r6, r7
 * values; r8-r11 sums; r12 step, lr the block. 16 instructions for four products: MULS destroys an
 * operand, so the first column's value is read twice. */
__attribute__((naked, noinline)) static void
ctn_matmul_block(__attribute__((unused)) CtnMatmulBlock *b) {
    __asm__(".syntax unified\n"
            "push {r4-r7, lr}\n"
            "mov r4, r8\n"
            "mov r5, r9\n"
            "mov r6, r10\n"
            "mov r7, r11\n"
            "push {r4-r7}\n"
            "mov lr, r0\n"
            "ldr r5, [r0, #20]\n"
            "mov r12, r5\n"
            "ldr r4, [r0, #16]\n"
            "ldr r3, [r0, #12]\n"
            "ldr r2, [r0, #8]\n"
            "ldm r0, {r0, r1}\n"
            "adds r0, r0, r4\n"
            "adds r1, r1, r4\n"
            "rsbs r4, r4, #0\n"
            "movs r5, #0\n"
            "mov r8, r5\n"
            "mov r9, r5\n"
            "mov r10, r5\n"
            "mov r11, r5\n"
            "1: ldrsb r6, [r0, r4]\n"
            "ldrsb r7, [r2, r5]\n"
            PRODUCT("r7", "r6", "r8")
            "ldrsb r7, [r3, r5]\n"
            PRODUCT("r6", "r7", "r10")
            "ldrsb r6, [r1, r4]\n"
            PRODUCT("r7", "r6", "r11")
            "ldrsb r7, [r2, r5]\n"
            PRODUCT("r6", "r7", "r9")
            "add r5, r12\n"
            "adds r4, #1\n"
            "bne 1b\n"
            "mov r0, lr\n"
            "adds r0, #24\n"
            "mov r4, r8\n"
            "mov r5, r9\n"
            "mov r6, r10\n"
            "mov r7, r11\n"
            "stm r0!, {r4-r7}\n"
            "pop {r4-r7}\n"
            "mov r8, r4\n"
            "mov r9, r5\n"
            "mov r10, r6\n"
            "mov r11, r7\n"
            "pop {r4-r7, pc}\n");
}
/* clang-format on */
#endif

#include "matmul_s8.h"

void ctn_matmul_s8_v6m(const CtnMatmulS8Args *a, const CtnFrame *frame) {
    ctn_matmul_all(a, frame);
}
