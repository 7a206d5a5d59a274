/* What the row blocks for weights of 8 and of 4 bits share (row_s8_mve.h): all but a chunk and how
 * its sums come to results. The file that includes this defines
 *
 *   ROW_CHUNK_BYTES   bytes of weights of a chunk
 *   ROW_KIND          the CtnRowKind that it makes
 *   CHUNK(mac)        a chunk in 17 instructions of 4 bytes; mac: vmladav.s8 for the first one
 *   ROW_SUMS          from sums in q0 (even columns) and q1 to those of the columns
 *   dot(in, weights, column, chunks)   the twin's sum of one column of a group
 *
 *   r0 r2 r4 r6 r8 r10 r12 lr   columns 0..7    r1 row   r3 weights, then parameters
 *   r5 output   r7 passes left of the loop of four chunks   r9 columns left   r11 start of the row
 *   q0 row   q1 q2 q3 weights   q6 q7 clamp_min, clamp_max in every byte or index */
#include "block_mve.h"

#if defined(CTN_EMULATE)

static int8_t column(const CtnRow *r, CtnEnd end, const int8_t *in, const int8_t *group, int c) {
    int32_t chunks = (r->passes - 1) * 4 + r->code / CTN_ROW_CHUNK + 1;
    const int8_t *parameters = group + ROW_CHUNK_BYTES * chunks + 16 * (c % 2) + 4 * (c / 2);
    const int8_t *shifts = group + ROW_CHUNK_BYTES * chunks + 64;
    return ctn_block_finish(end, dot(in, group, c, chunks), parameters, parameters + 32,
                            shifts[4 * (c % 2) + c / 2], r->zero_point, r->clamp_min, r->clamp_max,
                            r->table);
}

static void rows(const CtnRow *r, CtnEnd end) {
    int32_t chunks = (r->passes - 1) * 4 + r->code / CTN_ROW_CHUNK + 1;
    for (int32_t row = 0; row < r->rows; row++)
        for (int32_t n = 0; n < r->columns; n++)
            r->out[row * r->out_step + n] =
                column(r, end, r->in + row * r->in_step,
                       r->weights + n / 8 * (ROW_CHUNK_BYTES * chunks + CTN_ROW_PARAMETERS), n % 8);
}

#define BLOCK(name, end, ...)                                                                      \
    static void name(const CtnRow *r) {                                                            \
        rows(r, end);                                                                              \
    }

#else

/* [sp]: weights, passes, code address, columns, rows, in_step, out_step less the way over the
 * groups, zero point, table */
#define SAVE(bits)                                                                                 \
    "push {r4-r11, lr}\n"                                                                          \
    "vpush {d8-d15}\n"                                                                             \
    "sub sp, #36\n"                                                                                \
    "ldrd r11, r5, [r0]\n"                                                                         \
    "ldrd r1, r2, [r0, #8]\n"                                                                      \
    "ldrd r3, r4, [r0, #16]\n"                                                                     \
    "adr.w r12, 4f\n" /* code addresses have bit 0 set */                                          \
    "add r12, #1\n"                                                                                \
    "subs r3, r12, r3\n"                                                                           \
    "strd r1, r2, [sp]\n"                                                                          \
    "strd r3, r4, [sp, #8]\n"                                                                      \
    "ldrd r1, r2, [r0, #24]\n"                                                                     \
    "strd r1, r2, [sp, #16]\n"                                                                     \
    "ldrd r1, r2, [r0, #32]\n"                                                                     \
    "adds r4, #7\n"                                                                                \
    "bic r4, r4, #7\n"                                                                             \
    "subs r1, r1, r4\n"                                                                            \
    "strd r1, r2, [sp, #24]\n"                                                                     \
    "ldrd r1, r2, [r0, #40]\n"                                                                     \
    "vdup." bits " q6, r1\n"                                                                       \
    "vdup." bits " q7, r2\n"                                                                       \
    "ldr r1, [r0, #48]\n"                                                                          \
    "str r1, [sp, #32]\n"

#define PRODUCTS                                                                                   \
    "0: ldr r3, [sp]\n" /* a row */                                                                \
    "ldr r9, [sp, #12]\n"                                                                          \
    "1: mov r1, r11\n" /* a group */                                                               \
        CHUNK("vmladav.s8") "ldr r7, [sp, #4]\n"                                                   \
                            "ldr pc, [sp, #8]\n"                                                   \
                            ".balign 4\n"                                                          \
                            "3:\n" CHUNK("vmladava.s8") CHUNK("vmladava.s8") CHUNK("vmladava.s8")  \
                                CHUNK("vmladava.s8") "4: subs r7, #1\n"                            \
                                                     "bne.w 3b\n"

#define SCALE                                                                                      \
    "vldrw.u32 q4, [r3], #16\n"                                                                    \
    "vmov q0[2], q0[0], r0, r8\n"                                                                  \
    "vmov q0[3], q0[1], r4, r12\n"                                                                 \
    "vldrw.u32 q5, [r3], #16\n"                                                                    \
    "vmov q1[2], q1[0], r2, r10\n"                                                                 \
    "vmov q1[3], q1[1], r6, lr\n" ROW_SUMS "vadd.i32 q0, q0, q4\n"                                 \
    "vadd.i32 q1, q1, q5\n"                                                                        \
    "vldrw.u32 q4, [r3], #16\n"                                                                    \
    "vqrdmulh.s32 q0, q0, q4\n"                                                                    \
    "vldrw.u32 q5, [r3], #16\n"                                                                    \
    "vqrdmulh.s32 q1, q1, q5\n"                                                                    \
    "vldrb.s32 q4, [r3], #4\n"                                                                     \
    "vldrb.s32 q5, [r3], #4\n"

#define NARROW                                                                                     \
    "vrshl.s32 q0, q0, q4\n"                                                                       \
    "ldr r0, [sp, #28]\n"                                                                          \
    "vrshl.s32 q1, q1, q5\n" NARROW_Q0_Q1

#define STORE                                                                                      \
    "vctp.16 r9\n"                                                                                 \
    "vpst\n"                                                                                       \
    "vstrbt.16 q0, [r5], #8\n"                                                                     \
    "subs r9, #8\n"                                                                                \
    "bgt.w 1b\n"                                                                                   \
    "ldrd r0, r1, [sp, #16]\n"                                                                     \
    "ldr r2, [sp, #24]\n"                                                                          \
    "add r11, r1\n"                                                                                \
    "add r5, r2\n"                                                                                 \
    "subs r0, #1\n"                                                                                \
    "str r0, [sp, #16]\n"                                                                          \
    "bne.w 0b\n"                                                                                   \
    "add sp, #36\n"                                                                                \
    "vpop {d8-d15}\n"                                                                              \
    "pop {r4-r11, pc}\n"

#define BLOCK(name, end, ...)                                                                      \
    __attribute__((naked)) static void name(const CtnRow *r __attribute__((unused))) {             \
        __asm__ volatile(__VA_ARGS__);                                                             \
    }

#endif

BLOCK(exact, EXACT,
      SAVE("8") PRODUCTS SCALE HALF_AWAY_Q0_Q1 NARROW "vqmovnb.s16 q0, q0\n"
                                                      "vmax.s8 q0, q0, q6\n"
                                                      "vmin.s8 q0, q0, q7\n" STORE)
BLOCK(relu, RELU, SAVE("8") PRODUCTS SCALE NARROW "vqmovnb.s16 q0, q0\n" STORE)
BLOCK(table, TABLE,
      SAVE("16") PRODUCTS SCALE HALF_AWAY_Q0_Q1 NARROW "ldr r2, [sp, #32]\n"
                                                       "vmax.s16 q0, q0, q6\n"
                                                       "vmin.s16 q1, q0, q7\n"
                                                       "vldrb.u16 q0, [r2, q1]\n" STORE)

const CtnRowKind ROW_KIND = {exact, relu, table};
