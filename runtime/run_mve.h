/* Rows of bytes by MVE. A compiler makes more of the loops' ends than of their bodies, so they are
 * assembly: of each row four vectors at a time, then what is left under tail predication. What it
 * writes it reads again in the next row beside all its inputs: no input may share a register with
 * it, whatever numbers they hold. */
#ifndef CTN_RUN_MVE_H
#define CTN_RUN_MVE_H

#include "mve.h"

#include <stdint.h>

/* count > 0 rows of bytes >= 0, and from the start of one to that of the next. */
typedef struct {
    int32_t count, bytes, in_stride, out_stride;
} CtnByteRows;

/* The two do not overlap. */
static inline void ctn_copy_rows_mve(uint8_t *to, const uint8_t *from, const CtnByteRows *rows);
/* The value over and over; in_stride is not read. */
static inline void ctn_fill_rows_mve(uint8_t *to, uint8x16_t value, const CtnByteRows *rows);

#ifdef CTN_EMULATE
static inline void ctn_copy_rows_mve(uint8_t *to, const uint8_t *from, const CtnByteRows *rows) {
    for (int32_t row = 0; row < rows->count; row++)
        for (int32_t i = 0; i < rows->bytes; i++)
            to[row * rows->out_stride + i] = from[row * rows->in_stride + i];
}

static inline void ctn_fill_rows_mve(uint8_t *to, uint8x16_t value, const CtnByteRows *rows) {
    for (int32_t row = 0; row < rows->count; row++, to += rows->out_stride)
        for (int32_t i = 0; i < rows->bytes; i += 16)
            vstrbq_p_u8(to + i, value, vctp8q((uint32_t)(rows->bytes - i)));
}
#else
/* Both pointers end a row behind the vectors of it: a row of b bytes moves them by b rounded up. */
static inline int32_t ctn_row_gap(int32_t stride, int32_t bytes) {
    return stride - ((bytes + 15) & ~15);
}

static inline void ctn_copy_rows_mve(uint8_t *to, const uint8_t *from, const CtnByteRows *rows) {
    int32_t count = rows->count, bytes = rows->bytes;
    __asm__ volatile("0: wls lr, %[fours], 2f\n"
                     "1: vldrb.8 q0, [%[from]], #16\n"
                     "vldrb.8 q1, [%[from]], #16\n"
                     "vldrb.8 q2, [%[from]], #16\n"
                     "vldrb.8 q3, [%[from]], #16\n"
                     "vstrb.8 q0, [%[to]], #16\n"
                     "vstrb.8 q1, [%[to]], #16\n"
                     "vstrb.8 q2, [%[to]], #16\n"
                     "vstrb.8 q3, [%[to]], #16\n"
                     "le lr, 1b\n"
                     "2: wlstp.8 lr, %[rest], 4f\n"
                     "3: vldrb.8 q0, [%[from]], #16\n"
                     "vstrb.8 q0, [%[to]], #16\n"
                     "letp lr, 3b\n"
                     "4: add %[from], %[from], %[in_gap]\n"
                     "add %[to], %[to], %[out_gap]\n"
                     "subs %[count], %[count], #1\n"
                     "bne 0b\n"
                     : [to] "+&r"(to), [from] "+&r"(from), [count] "+&r"(count)
                     : [fours] "r"(bytes >> 6), [rest] "r"(bytes & 63),
                       [in_gap] "r"(ctn_row_gap(rows->in_stride, bytes)),
                       [out_gap] "r"(ctn_row_gap(rows->out_stride, bytes))
                     : "lr", "q0", "q1", "q2", "q3", "memory", "cc");
}

static inline void ctn_fill_rows_mve(uint8_t *to, uint8x16_t value, const CtnByteRows *rows) {
    int32_t count = rows->count, bytes = rows->bytes;
    __asm__ volatile("0: wls lr, %[fours], 2f\n"
                     "1: vstrb.8 %q[value], [%[to]], #16\n"
                     "vstrb.8 %q[value], [%[to]], #16\n"
                     "vstrb.8 %q[value], [%[to]], #16\n"
                     "vstrb.8 %q[value], [%[to]], #16\n"
                     "le lr, 1b\n"
                     "2: wlstp.8 lr, %[rest], 4f\n"
                     "3: vstrb.8 %q[value], [%[to]], #16\n"
                     "letp lr, 3b\n"
                     "4: add %[to], %[to], %[gap]\n"
                     "subs %[count], %[count], #1\n"
                     "bne 0b\n"
                     : [to] "+&r"(to), [count] "+&r"(count)
                     : [value] "w"(value), [fours] "r"(bytes >> 6), [rest] "r"(bytes & 63),
                       [gap] "r"(ctn_row_gap(rows->out_stride, bytes))
                     : "lr", "memory", "cc");
}
#endif

#endif
