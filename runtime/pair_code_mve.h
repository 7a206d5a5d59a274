/* What the pair blocks for weights of 8 and of 4 bits share (pair_s8_mve.h): all but a chunk and
 * how its sums come to vectors. The file that includes this defines
 *
 *   PAIR_CHUNK_BYTES   bytes of weights of a chunk
 *   PAIR_KIND          the CtnPairKind that it makes
 *   CHUNK(mac)         a chunk in 14 instructions of 4 bytes; mac: vmladav.s8 for the first one
 *   PAIR_SUMS          q0, q1 = the sums of pixel 0 and 1 from the registers
 *   dot(p, in, weights, channel)   the twin's sum of one channel of a group
 *
 * Eight accumulators are all the even registers, so a compiler has none left and would spill.
 *
 *   r0 r4 r8 r12   pixel 0, channels 0..3      r2 r6 r10 lr   pixel 1
 *   r1 r11         the pixels' operands        r3             weights, then parameters
 *   r7             passes left of the loop of six chunks, 0 if there is but one
 *   r9             segments left, r5 skip; for windows of one run: the output
 *   q0 q1          operands                    q2 q3          weights
 *   q6 q7          clamp_min, clamp_max in every byte or index; RELU: offsets of the store, 0x80
 *
 * The arguments are copied to the stack, for no register is left to point at them; behind them
 * stand the offsets of the store: pixel 0 in even, pixel 1 in odd 16-bit lanes. */
#include "block_mve.h"

#if defined(CTN_EMULATE)

static int8_t finish(const CtnPair *p, CtnEnd end, int32_t sum, const int8_t *parameters, int c) {
    return ctn_block_finish(end, sum, parameters + 4 * c, parameters + 16 + 4 * c,
                            parameters[32 + c], p->zero_point, p->clamp_min, p->clamp_max,
                            p->table);
}

static void pairs(const CtnPair *given, CtnEnd end) {
    CtnPair p = *given;
    int32_t chunks = ctn_pair_chunk_count(&p);
    int32_t group = p.segments * chunks * PAIR_CHUNK_BYTES;
    for (int32_t left = p.pairs; left > 0; left--) {
        for (const int8_t *w = p.weights; w != p.weights_end; w += group + CTN_PAIR_PARAMETERS)
            for (int c = 0; c < 4; c++) {
                *p.out0++ = finish(&p, end, dot(&p, p.in0, w, c), w + group, c);
                *p.out1++ = finish(&p, end, dot(&p, p.in1, w, c), w + group, c);
            }
        p.in0 += p.in_step;
        p.in1 += p.in_step;
        p.out0 += p.out_step;
        p.out1 += p.out_step;
    }
}

#define BLOCK(name, end, ...)                                                                      \
    static void name(const CtnPair *p) {                                                           \
        pairs(p, end);                                                                             \
    }

#else

/* Offsets 0 d 1 d + 1 2 d + 2 3 d + 3, d being out1 - out0. */
#define SAVE                                                                                       \
    "push {r4-r11, lr}\n"                                                                          \
    "vpush {d8-d15}\n"                                                                             \
    "sub sp, #108\n"                                                                               \
    "vldrw.u32 q0, [r0]\n"                                                                         \
    "vldrw.u32 q1, [r0, #16]\n"                                                                    \
    "vldrw.u32 q2, [r0, #32]\n"                                                                    \
    "vldrw.u32 q3, [r0, #48]\n"                                                                    \
    "vldrw.u32 q4, [r0, #64]\n"                                                                    \
    "vstrw.32 q0, [sp]\n"                                                                          \
    "vstrw.32 q1, [sp, #16]\n"                                                                     \
    "vstrw.32 q2, [sp, #32]\n"                                                                     \
    "vstrw.32 q3, [sp, #48]\n"                                                                     \
    "vstrw.32 q4, [sp, #64]\n"                                                                     \
    "ldrd r2, r3, [r0, #8]\n"                                                                      \
    "subs r3, r3, r2\n"                                                                            \
    "lsls r3, r3, #16\n"                                                                           \
    "movs r4, #0\n"                                                                                \
    "vidup.u16 q6, r4, #1\n"                                                                       \
    "vshr.u16 q6, q6, #1\n"                                                                        \
    "vdup.32 q7, r3\n"                                                                             \
    "vadd.i16 q6, q6, q7\n"                                                                        \
    "vstrw.32 q6, [sp, #80]\n"                                                                     \
    "adr.w r1, 4f\n" /* code addresses have bit 0 set */                                           \
    "adds r1, #1\n"                                                                                \
    "ldrd r2, r3, [r0, #32]\n"                                                                     \
    "ldrd r4, r5, [r0, #40]\n"                                                                     \
    "subs r3, r1, r3\n"                                                                            \
    "subs r5, r1, r5\n"                                                                            \
    "strd r3, r5, [sp, #96]\n"                                                                     \
    "cmp r2, #1\n"                                                                                 \
    "it ne\n"                                                                                      \
    "adrne.w r3, 6f\n"                                                                             \
    "cmp r4, #1\n"                                                                                 \
    "it ne\n"                                                                                      \
    "adrne.w r5, 7f\n"                                                                             \
    "orr r3, r3, #1\n"                                                                             \
    "orr r5, r5, #1\n"                                                                             \
    "str r3, [sp, #36]\n"                                                                          \
    "str r5, [sp, #44]\n"                                                                          \
    "movs r7, #0\n"

#define CLAMPS(bits)                                                                               \
    "ldrd r2, r3, [r0, #64]\n"                                                                     \
    "vdup." bits " q6, r2\n"                                                                       \
    "vdup." bits " q7, r3\n"

/* r7 is 0 between runs. The code address of a run is within these chunks; for one that takes more
 * than a pass it is that of the two instructions that load r7 before. */
#define CHUNKS                                                                                     \
    "6: ldr r7, [sp, #32]\n"                                                                       \
    "ldr pc, [sp, #96]\n"                                                                          \
    "7: ldr r7, [sp, #40]\n"                                                                       \
    "ldr pc, [sp, #100]\n"                                                                         \
    ".balign 4\n"                                                                                  \
    "3:\n" CHUNK("vmladava.s8") CHUNK("vmladava.s8") CHUNK("vmladava.s8") CHUNK("vmladava.s8")     \
        CHUNK("vmladava.s8") CHUNK("vmladava.s8") "4: cbz r7, 5f\n"                                \
                                                  "subs r7, #1\n"                                  \
                                                  "bne.w 3b\n"                                     \
                                                  "5:\n"

/* Windows of any number of runs. */
#define PRODUCTS                                                                                   \
    "0: ldr r3, [sp, #16]\n"  /* a pair */                                                         \
    "1: ldrd r1, r11, [sp]\n" /* a group */                                                        \
    "ldrd r9, r5, [sp, #24]\n" CHUNK("vmladav.s8") "ldr pc, [sp, #36]\n"                           \
                                                   "2: add r1, r5\n"                               \
                                                   "add r11, r5\n"                                 \
                                                   "ldr pc, [sp, #44]\n" CHUNKS "subs r9, #1\n"    \
                                                   "bne.w 2b\n"

/* Windows of one run. */
#define PRODUCTS_ONE                                                                               \
    "0: ldr r3, [sp, #16]\n"                                                                       \
    "ldr r9, [sp, #8]\n"                                                                           \
    "1: ldrd r1, r11, [sp]\n" CHUNK("vmladav.s8") "ldr pc, [sp, #36]\n" CHUNKS

/* q0, q1: the sums of pixel 0 and 1, multiplied; the shifts stay in q5. */
#define SCALE                                                                                      \
    "vldrw.u32 q4, [r3], #16\n" PAIR_SUMS "vadd.i32 q0, q0, q4\n"                                  \
    "vadd.i32 q1, q1, q4\n"                                                                        \
    "vldrw.u32 q4, [r3], #16\n"                                                                    \
    "vqrdmulh.s32 q0, q0, q4\n"                                                                    \
    "vldrb.s32 q5, [r3], #4\n"                                                                     \
    "vqrdmulh.s32 q1, q1, q4\n"

#define SHIFT                                                                                      \
    "vrshl.s32 q0, q0, q5\n"                                                                       \
    "vrshl.s32 q1, q1, q5\n"

#define EXACT_END                                                                                  \
    HALF_AWAY_Q0_Q1 SHIFT "ldr r0, [sp, #48]\n" NARROW_Q0_Q1 "vqmovnb.s16 q0, q0\n"                \
                          "vmax.s8 q0, q0, q6\n"                                                   \
                          "vldrw.u32 q2, [sp, #80]\n"                                              \
                          "vmin.s8 q0, q0, q7\n"

/* -128 + (0..255) is the unsigned byte with its top bit flipped. */
#define RELU_END                                                                                   \
    SHIFT "vqmovnb.s32 q0, q0\n"                                                                   \
          "vqmovnt.s32 q0, q1\n"                                                                   \
          "vqmovunb.s16 q0, q0\n"                                                                  \
          "veor q0, q0, q7\n"

/* Indices are 16 bits wide, so tables of 1024 entries are no worse than those of 256. */
#define TABLE_END                                                                                  \
    HALF_AWAY_Q0_Q1 SHIFT "ldr r0, [sp, #48]\n" NARROW_Q0_Q1 "ldr r2, [sp, #72]\n"                 \
                          "vmax.s16 q0, q0, q6\n"                                                  \
                          "vmin.s16 q1, q0, q7\n"                                                  \
                          "vldrw.u32 q2, [sp, #80]\n"                                              \
                          "vldrb.u16 q0, [r2, q1]\n"

#define STORE(offsets)                                                                             \
    "ldr r0, [sp, #8]\n"                                                                           \
    "vstrb.16 q0, [r0, " offsets "]\n"                                                             \
    "adds r0, #4\n"                                                                                \
    "str r0, [sp, #8]\n" NEXT_GROUP "ldr r5, [sp, #56]\n"                                          \
    "add r0, r5\n"                                                                                 \
    "str r0, [sp, #8]\n" NEXT_PAIR

#define STORE_ONE(offsets)                                                                         \
    "vstrb.16 q0, [r9, " offsets "]\n"                                                             \
    "add r9, #4\n" NEXT_GROUP "ldr r5, [sp, #56]\n"                                                \
    "add r9, r5\n"                                                                                 \
    "str r9, [sp, #8]\n" NEXT_PAIR

#define NEXT_GROUP                                                                                 \
    "ldr r4, [sp, #20]\n"                                                                          \
    "cmp r3, r4\n"                                                                                 \
    "bne.w 1b\n"

#define NEXT_PAIR                                                                                  \
    "ldrd r1, r11, [sp]\n"                                                                         \
    "ldr r4, [sp, #52]\n"                                                                          \
    "add r1, r4\n"                                                                                 \
    "add r11, r4\n"                                                                                \
    "strd r1, r11, [sp]\n"                                                                         \
    "ldr r4, [sp, #60]\n"                                                                          \
    "subs r4, #1\n"                                                                                \
    "str r4, [sp, #60]\n"                                                                          \
    "bne.w 0b\n"                                                                                   \
    "add sp, #108\n"                                                                               \
    "vpop {d8-d15}\n"                                                                              \
    "pop {r4-r11, pc}\n"

#define BLOCK(name, end, ...)                                                                      \
    __attribute__((naked)) static void name(const CtnPair *p __attribute__((unused))) {            \
        __asm__ volatile(SAVE __VA_ARGS__);                                                        \
    }

#endif

BLOCK(exact, EXACT, CLAMPS("8") PRODUCTS SCALE EXACT_END STORE("q2"))
BLOCK(relu, RELU, "vmov.i8 q7, #0x80\n" PRODUCTS SCALE RELU_END STORE("q6"))
BLOCK(table, TABLE, CLAMPS("16") PRODUCTS SCALE TABLE_END STORE("q2"))
BLOCK(exact_one, EXACT, CLAMPS("8") PRODUCTS_ONE SCALE EXACT_END STORE_ONE("q2"))
BLOCK(relu_one, RELU, "vmov.i8 q7, #0x80\n" PRODUCTS_ONE SCALE RELU_END STORE_ONE("q6"))
BLOCK(table_one, TABLE, CLAMPS("16") PRODUCTS_ONE SCALE TABLE_END STORE_ONE("q2"))

const CtnPairKind PAIR_KIND = {
    PAIR_CHUNK_BYTES / 16, exact, exact_one, relu, relu_one, table, table_one};
