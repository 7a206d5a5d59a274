/* Runs of bytes by MVE. A compiler makes more of the loops' ends than of their bodies, so they are
 * assembly: four vectors at a time, then what is left under tail predication. */
#ifndef CTN_RUN_MVE_H
#define CTN_RUN_MVE_H

#include "mve.h"

#include <stdint.h>

/* bytes >= 0; the two do not overlap. */
static inline void ctn_copy_run_mve(uint8_t *to, const uint8_t *from, int32_t bytes);
/* The value over and over. */
static inline void ctn_fill_run_mve(uint8_t *to, uint8x16_t value, int32_t bytes);

#ifdef CTN_EMULATE
static inline void ctn_copy_run_mve(uint8_t *to, const uint8_t *from, int32_t bytes) {
    for (int32_t i = 0; i < bytes; i++)
        to[i] = from[i];
}

static inline void ctn_fill_run_mve(uint8_t *to, uint8x16_t value, int32_t bytes) {
    for (; bytes > 0; bytes -= 16, to += 16)
        vstrbq_p_u8(to, value, vctp8q((uint32_t)bytes));
}
#else
static inline void ctn_copy_run_mve(uint8_t *to, const uint8_t *from, int32_t bytes) {
    __asm__ volatile("wls lr, %[fours], 2f\n"
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
                     "4:\n"
                     : [to] "+r"(to), [from] "+r"(from)
                     : [fours] "r"(bytes >> 6), [rest] "r"(bytes & 63)
                     : "lr", "q0", "q1", "q2", "q3", "memory");
}

static inline void ctn_fill_run_mve(uint8_t *to, uint8x16_t value, int32_t bytes) {
    __asm__ volatile("wls lr, %[fours], 2f\n"
                     "1: vstrb.8 %q[value], [%[to]], #16\n"
                     "vstrb.8 %q[value], [%[to]], #16\n"
                     "vstrb.8 %q[value], [%[to]], #16\n"
                     "vstrb.8 %q[value], [%[to]], #16\n"
                     "le lr, 1b\n"
                     "2: wlstp.8 lr, %[rest], 4f\n"
                     "3: vstrb.8 %q[value], [%[to]], #16\n"
                     "letp lr, 3b\n"
                     "4:\n"
                     : [to] "+r"(to)
                     : [value] "w"(value), [fours] "r"(bytes >> 6), [rest] "r"(bytes & 63)
                     : "lr", "memory");
}
#endif

#endif
