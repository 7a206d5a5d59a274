/* Sixteen channels times a list of taps, in assembly. Products of two taps are added in 16 bits
 * (2 * 128 * 127 < 2^15) before they are widened, so that widening, which binds, is paid once for
 * two taps.
 *
 *   r0 pixel   r1 output   r2 offsets   r3 weights, then parameters   r4 r5 addresses of taps
 *   r6 groups left   r7 odd tap?   r8 first offset   r9 pairs of taps   r10 zero point
 *   r11 pixels left   r12 spare
 *   q4 q5 q6 q7 sums of channels 4i, 4i + 1, 4i + 2, 4i + 3 */
#include "taps_s8_mve.h"
#include "block_mve.h"

#if defined(CTN_EMULATE)

static int8_t channel(const CtnTaps *t, CtnEnd end, const int8_t *in, const int8_t *group, int c) {
    int32_t taps = 2 * t->tap_pairs + t->odd_tap, sum = 0;
    const int8_t *weights = group + 64, *factors = weights + 16 * taps;
    int at = c % 4, lane = c / 4;
    for (int32_t k = 0; k < taps; k++)
        sum += in[t->offsets[k] + c] * weights[16 * k + c];
    return ctn_block_finish(end, sum, group + 16 * at + 4 * lane, factors + 20 * at + 4 * lane,
                            factors[20 * at + 16 + lane], t->zero_point, t->clamp_min, t->clamp_max,
                            t->table);
}

/* All 16 lanes are read and computed, as the assembly does; the last group stores some. */
static void pixels(const CtnTaps *t, CtnEnd end) {
    int32_t bytes = 16 * (2 * t->tap_pairs + t->odd_tap) + CTN_TAPS_PARAMETERS;
    for (int32_t p = 0; p < t->pixels; p++)
        for (int32_t g = 0; g < t->groups; g++)
            for (int c = 0; c < 16; c++) {
                const int8_t *in = t->in + p * t->in_step + 16 * g;
                int8_t q = channel(t, end, in, t->weights + g * bytes, c);
                if (c < (g + 1 < t->groups ? 16 : t->last))
                    t->out[p * t->out_step + 16 * g + c] = q;
            }
}

void ctn_taps_exact_mve(const CtnTaps *t) {
    pixels(t, EXACT);
}

void ctn_taps_relu_mve(const CtnTaps *t) {
    pixels(t, RELU);
}

void ctn_taps_table_mve(const CtnTaps *t) {
    pixels(t, TABLE);
}

#elif defined(__ARM_FEATURE_MVE)

/* [sp]: weights, groups, in_step and out_step less the way over the groups, clamps, table, last */
#define SAVE                                                                                       \
    "push {r4-r11, lr}\n"                                                                          \
    "vpush {d8-d15}\n"                                                                             \
    "sub sp, #36\n"                                                                                \
    "mov r12, r0\n"                                                                                \
    "ldrd r0, r1, [r12]\n"                                                                         \
    "ldrd r3, r8, [r12, #8]\n"                                                                     \
    "ldrd r9, r7, [r12, #16]\n"                                                                    \
    "ldrd r6, r2, [r12, #24]\n"                                                                    \
    "ldrd r11, r4, [r12, #32]\n"                                                                   \
    "ldrd r5, r10, [r12, #40]\n"                                                                   \
    "strd r3, r6, [sp]\n"                                                                          \
    "str r2, [sp, #28]\n"                                                                          \
    "subs r6, #1\n"                                                                                \
    "sub r4, r4, r6, lsl #4\n"                                                                     \
    "sub r5, r5, r6, lsl #4\n"                                                                     \
    "strd r4, r5, [sp, #8]\n"                                                                      \
    "ldrd r4, r5, [r12, #48]\n"                                                                    \
    "strd r4, r5, [sp, #16]\n"                                                                     \
    "ldr r4, [r12, #56]\n"                                                                         \
    "str r4, [sp, #24]\n"

#define WIDEN                                                                                      \
    "vmovlb.s16 q1, q2\n"                                                                          \
    "vadd.i32 q4, q4, q1\n"                                                                        \
    "vmovlt.s16 q1, q2\n"                                                                          \
    "vadd.i32 q6, q6, q1\n"                                                                        \
    "vmovlb.s16 q1, q0\n"                                                                          \
    "vadd.i32 q5, q5, q1\n"                                                                        \
    "vmovlt.s16 q1, q0\n"                                                                          \
    "vadd.i32 q7, q7, q1\n"

#define PRODUCTS                                                                                   \
    "0: ldrd r3, r6, [sp]\n" /* a pixel */                                                         \
    "1: mov r2, r8\n"        /* a group */                                                         \
    "vldrw.u32 q4, [r3], #16\n"                                                                    \
    "vldrw.u32 q5, [r3], #16\n"                                                                    \
    "vldrw.u32 q6, [r3], #16\n"                                                                    \
    "vldrw.u32 q7, [r3], #16\n"                                                                    \
    "wls lr, r9, 3f\n"                                                                             \
    "2: ldrd r4, r5, [r2], #8\n"                                                                   \
    "add r4, r0\n"                                                                                 \
    "vldrb.u8 q0, [r4]\n"                                                                          \
    "vldrb.u8 q1, [r3], #16\n"                                                                     \
    "vmullb.s8 q2, q0, q1\n"                                                                       \
    "add r5, r0\n"                                                                                 \
    "vmullt.s8 q0, q0, q1\n"                                                                       \
    "vldrb.u8 q1, [r5]\n"                                                                          \
    "vldrb.u8 q3, [r3], #16\n"                                                                     \
    "vmullb.s8 q1, q1, q3\n"                                                                       \
    "vadd.i16 q2, q2, q1\n"                                                                        \
    "vldrb.u8 q1, [r5]\n"                                                                          \
    "vmullt.s8 q1, q1, q3\n"                                                                       \
    "vadd.i16 q0, q0, q1\n" WIDEN "le lr, 2b\n"                                                    \
    "3: cbz r7, 4f\n"                                                                              \
    "ldr r4, [r2]\n"                                                                               \
    "add r4, r0\n"                                                                                 \
    "vldrb.u8 q0, [r4]\n"                                                                          \
    "vldrb.u8 q1, [r3], #16\n"                                                                     \
    "vmullb.s8 q2, q0, q1\n"                                                                       \
    "vmullt.s8 q0, q0, q1\n" WIDEN "4:\n"

#define HALF_AWAY(q)                                                                               \
    "vshr.s32 q0, " q ", #31\n"                                                                    \
    "vadd.i32 " q ", " q ", q0\n"
#define NO_CARE(q)
#define SCALE(q, care)                                                                             \
    "vldrw.u32 q0, [r3], #16\n"                                                                    \
    "vldrb.s32 q1, [r3], #4\n"                                                                     \
    "vqrdmulh.s32 " q ", " q ", q0\n" care(q) "vrshl.s32 " q ", " q ", q1\n"

/* 16-bit lanes: channels 2i in q4, 2i + 1 in q5 */
#define NARROW(care)                                                                               \
    SCALE("q4", care)                                                                              \
    SCALE("q5", care)                                                                              \
    SCALE("q6", care)                                                                              \
    SCALE("q7", care)                                                                              \
    "vqmovnb.s32 q4, q4\n"                                                                         \
    "vqmovnb.s32 q5, q5\n"                                                                         \
    "vqmovnt.s32 q4, q6\n"                                                                         \
    "vqmovnt.s32 q5, q7\n"                                                                         \
    "vqadd.s16 q4, q4, r10\n"                                                                      \
    "vqadd.s16 q5, q5, r10\n"

#define TO_BYTES                                                                                   \
    "vqmovnb.s16 q4, q4\n"                                                                         \
    "vqmovnt.s16 q4, q5\n"

#define STORE                                                                                      \
    "subs r6, #1\n"                                                                                \
    "beq.w 5f\n"                                                                                   \
    "vstrb.8 q4, [r1], #16\n"                                                                      \
    "adds r0, #16\n"                                                                               \
    "b.w 1b\n"                                                                                     \
    "5: ldr r2, [sp, #28]\n"                                                                       \
    "ldrd r4, r5, [sp, #8]\n"                                                                      \
    "vctp.8 r2\n"                                                                                  \
    "vpst\n"                                                                                       \
    "vstrbt.8 q4, [r1]\n"                                                                          \
    "add r0, r4\n"                                                                                 \
    "add r1, r5\n"                                                                                 \
    "subs r11, #1\n"                                                                               \
    "bne.w 0b\n"                                                                                   \
    "add sp, #36\n"                                                                                \
    "vpop {d8-d15}\n"                                                                              \
    "pop {r4-r11, pc}\n"

__attribute__((naked)) void ctn_taps_exact_mve(const CtnTaps *t __attribute__((unused))) {
    __asm__ volatile(SAVE PRODUCTS NARROW(HALF_AWAY) TO_BYTES "ldrd r4, r5, [sp, #16]\n"
                                                              "vdup.8 q0, r4\n"
                                                              "vdup.8 q1, r5\n"
                                                              "vmax.s8 q4, q4, q0\n"
                                                              "vmin.s8 q4, q4, q1\n" STORE);
}

__attribute__((naked)) void ctn_taps_relu_mve(const CtnTaps *t __attribute__((unused))) {
    __asm__ volatile(SAVE PRODUCTS NARROW(NO_CARE) TO_BYTES STORE);
}

__attribute__((naked)) void ctn_taps_table_mve(const CtnTaps *t __attribute__((unused))) {
    __asm__ volatile(SAVE PRODUCTS NARROW(HALF_AWAY) "ldrd r4, r5, [sp, #16]\n"
                                                     "vdup.16 q0, r4\n"
                                                     "vdup.16 q1, r5\n"
                                                     "ldr r2, [sp, #24]\n"
                                                     "vmax.s16 q4, q4, q0\n"
                                                     "vmax.s16 q5, q5, q0\n"
                                                     "vmin.s16 q2, q4, q1\n"
                                                     "vmin.s16 q3, q5, q1\n"
                                                     "vldrb.u16 q4, [r2, q2]\n"
                                                     "vldrb.u16 q5, [r2, q3]\n"
                                                     "vmovnt.i16 q4, q5\n" STORE);
}
#endif
