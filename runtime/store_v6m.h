/* The store of ARMv6-M: a sum becomes a byte of the output.
 *
 * Store, for a right shift by n, 1 <= n <= 20, as in dot_v7m.h: t = ctn_mul_high(sum, m), C =
 * (2 * zero_point + 1) * 2^(n-1), result = (t + C - (sum < 0)) >> n. Where the zero point is -128
 * and there is no table, what negative sums give saturates whether they are rounded this way or
 * that, and the last term is left out. There are no long products:
 * - wide, |sum| < 2^30: sum = h * 2^16 + l with -2^15 <= l < 2^15, m = mh * 2^16 + ml; then
 *   t = 2 * h * mh + ((h * ml + l * mh + (l * ml >> 16) + 2^14) >> 15), where the bracket stays
 *   within 2^29 + 2^30 + 2^15 + 2^14. The pieces are ml, mh, and n as it is.
 * - narrow, |sum| < 2^19: m = m2 * 2^20 + m1 * 2^8 + m0; x = ((sum * m0 >> 8) + sum * m1 >> 12) +
 *   sum * m2 is the product less 20 bits, rounded down, and t = (x + 2^10) >> 11. The bracket is
 *   sum * (m % 2^20) >> 8 and so within 2^31. Both shifts make one: result = (x + 2^10 + C * 2^11 -
 *   (sum < 0) * 2^11) >> (n + 11); the host has proven that this does not overflow. The pieces are
 *   m1, m2, m0, and n + 11.
 *
 * Factors of an output are 6 bytes: two pieces of 16 bits; one of 8, zero where there are but two;
 * the byte of the shift. */
#ifndef CTN_STORE_V6M_H
#define CTN_STORE_V6M_H

#include <stdint.h>

enum { CTN_STORE_FACTORS = 6 /* bytes of an output's factors */ };

typedef enum {
    CTN_STORE_WIDE,     /* and the CtnTail of short_store.h; CTN_STORE_NARROW likewise */
    CTN_STORE_RELU = 3, /* saturated, without the sign's rounding */
    CTN_STORE_NARROW = 4,
    CTN_STORE_KINDS = 8
} CtnStoreKind;

/* Words that loops in assembly keep at the bottom of their stack. */
typedef struct {
    uint32_t constant;   /* here the CtnTail; on the stack C of the output at hand */
    const int8_t *table; /* at the entry of result 0 */
    int32_t zero;        /* 2 * output zero point + 1 */
    uint32_t round;      /* 2^10 if narrow, else 0 */
    uintptr_t code;      /* of ctn_store_code_v6m */
} CtnStoreV6m;

/* Bytes of the biases and factors of a group of columns, filled up to words. */
static inline int32_t ctn_store_columns_v6m(int32_t columns) {
    return 4 * columns + ((CTN_STORE_FACTORS * columns + 3) & ~3);
}

/* The factors of a column from the end of its group of columns. */
static inline int32_t ctn_store_behind_v6m(int32_t columns, int32_t column) {
    return ctn_store_columns_v6m(columns) - 4 * columns - CTN_STORE_FACTORS * column;
}

CtnStoreV6m ctn_store_begin_v6m(uint32_t narrow, int32_t output_zero_point, int32_t clamp_max,
                                const int8_t *table);
/* What the stack holds for a kind: on the chip the address of its routine, on the host the kind. */
uintptr_t ctn_store_code_v6m(uint32_t kind);
/* The same in C. */
int8_t ctn_store_v6m(const CtnStoreV6m *store, uint32_t sum, const uint8_t *factor);

/* For assembly: r1 points at an output's factors; gives r7, its shift, and the constant on the
 * stack; uses r4, r5. The routine then takes the sum in r2, r1 and r7 and gives the byte in r2; it
 * uses r3 - r6. */
#define CTN_STORE_COLUMN                                                                           \
    "ldrb r7, [r1, #5]\n"                                                                          \
    "ldr r4, [sp, #8]\n"                                                                           \
    "lsls r4, r7\n"                                                                                \
    "asrs r4, r4, #1\n"                                                                            \
    "ldr r5, [sp, #12]\n"                                                                          \
    "adds r4, r4, r5\n"                                                                            \
    "str r4, [sp]\n"
#define CTN_STORE_CODE "[sp, #16]"

#endif
