/* A row times groups of eight columns (row_code_mve.h): a chunk is 9 loads and 8 VMLADAVA for 128
 * products. */
#include "row_s8_mve.h"

#if defined(CTN_EMULATE) || defined(__ARM_FEATURE_MVE)

#define ROW_KIND ctn_row_s8_mve
#define ROW_CHUNK_BYTES 128
#define COLUMN(mac, sum, q) "vldrb.u8 " q ", [r3], #16\n" mac " " sum ", " q ", q0\n"
#define CHUNK(mac)                                                                                 \
    "vldrb.u8 q0, [r1], #16\n" COLUMN(mac, "r0", "q1") COLUMN(mac, "r2", "q2")                     \
        COLUMN(mac, "r4", "q3") COLUMN(mac, "r6", "q1") COLUMN(mac, "r8", "q2")                    \
            COLUMN(mac, "r10", "q3") COLUMN(mac, "r12", "q1") COLUMN(mac, "lr", "q2")
#define ROW_SUMS

#if defined(CTN_EMULATE)
static int32_t dot(const int8_t *in, const int8_t *weights, int column, int32_t chunks) {
    int32_t sum = 0;
    for (weights += 16 * column; chunks > 0; chunks--, in += 16, weights += 128)
        for (int i = 0; i < 16; i++)
            sum += in[i] * weights[i];
    return sum;
}
#endif

#include "row_code_mve.h"
#endif
