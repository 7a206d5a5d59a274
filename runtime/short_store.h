/* The short store of ARMv7-M (dot_v7m.h proves it), for what is written in C. */
#ifndef CTN_SHORT_STORE_H
#define CTN_SHORT_STORE_H

#include <stdint.h>

typedef enum {
    CTN_TAIL_S8,       /* saturated */
    CTN_TAIL_TABLE,    /* saturated, then mapped */
    CTN_TAIL_TABLE_10, /* saturated to 10 bits, then mapped */
} CtnTail;

static inline uint32_t ctn_tail_of(int32_t clamp_max, const int8_t *table) {
    return !table ? CTN_TAIL_S8 : clamp_max == 511 ? CTN_TAIL_TABLE_10 : CTN_TAIL_TABLE;
}

/* sum: doubled; n: right shift less one; zero: 2 * zero point + 1; table: at result 0, or NULL. */
static inline int8_t ctn_short_store(int32_t sum, int32_t multiplier, int32_t n, int32_t zero,
                                     uint32_t tail, const int8_t *table) {
    int32_t t = (int32_t)(((int64_t)sum * multiplier + 0x80000000) >> 32);
    int32_t q = (t + (int32_t)((uint32_t)zero << n) + (sum >> 31)) >> n >> 1;
    int32_t limit = tail == CTN_TAIL_TABLE_10 ? 512 : 128;
    q = q < -limit ? -limit : q >= limit ? limit - 1 : q;
    return table ? table[q] : (int8_t)q;
}

/* An int32 of a stream that is not aligned. */
static inline int32_t ctn_stream_word(const int8_t *p) {
    const uint8_t *b = (const uint8_t *)p;
    return (int32_t)(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

#endif
