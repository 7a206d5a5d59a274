/* A row times groups of eight columns with weights of 4 bits (row_w4_mve.h), summed as in
 * pair_w4_mve.c: even columns are E, odd ones S - E / 16. A chunk is 5 loads, 4 shifts and 8
 * VMLADAVA for 128 products. */
#include "row_w4_mve.h"

#if defined(CTN_EMULATE) || defined(__ARM_FEATURE_MVE)

#define ROW_KIND ctn_row_w4_mve
#define ROW_CHUNK_BYTES 64
#define COLUMNS(mac, even, odd, q)                                                                 \
    "vldrb.u8 " q ", [r3], #16\n" mac " " odd ", " q ", q0\n"                                      \
    "vshl.i8 " q ", " q ", #4\n" mac " " even ", " q ", q0\n"
#define CHUNK(mac)                                                                                 \
    "vldrb.u8 q0, [r1], #16\n" COLUMNS(mac, "r0", "r2", "q1") COLUMNS(mac, "r4", "r6", "q2")       \
        COLUMNS(mac, "r8", "r10", "q3") COLUMNS(mac, "r12", "lr", "q1")
#define ROW_SUMS                                                                                   \
    "vshr.s32 q2, q0, #4\n"                                                                        \
    "vsub.i32 q1, q1, q2\n"

#if defined(CTN_EMULATE)
static int32_t dot(const int8_t *in, const int8_t *weights, int column, int32_t chunks) {
    int32_t whole = 0, low = 0;
    for (weights += 16 * (column / 2); chunks > 0; chunks--, in += 16, weights += 64)
        for (int i = 0; i < 16; i++) {
            whole += in[i] * weights[i];
            low += in[i] * (int8_t)(uint8_t)((uint32_t)weights[i] << 4);
        }
    return column % 2 ? whole - (low >> 4) : low;
}
#endif

#include "row_code_mve.h"
#endif
