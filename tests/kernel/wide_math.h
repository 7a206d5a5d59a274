/* What the references of kernels share: wide arithmetic, the end of a store, and offsets from a
 * flat index; each reference writes the output that its kernel must give. */
#ifndef CORTEN_KERNEL_WIDE_MATH_H
#define CORTEN_KERNEL_WIDE_MATH_H

#include "ctn.h"

#include <stdbool.h>

/* Not all kernels have one (wide.h). */
#define DECLARE_WIDE(name, Struct, FIELDS)                                                         \
    void wide_##name(const Ctn##Struct##Args *a, const CtnFrame *f);
CTN_KERNELS(DECLARE_WIDE)

__extension__ typedef __int128 Wide;

static inline int64_t wide_floor_div(Wide a, Wide b) { /* b > 0 */
    Wide q = a / b;
    return (int64_t)(a % b < 0 ? q - 1 : q);
}

static inline int64_t wide_half_away(Wide a, Wide b) { /* b > 0 */
    return a < 0 ? -wide_floor_div(-2 * a + b, 2 * b) : wide_floor_div(2 * a + b, 2 * b);
}

static inline int64_t wide_requantize(int64_t v, int32_t multiplier, int32_t shift) {
    Wide product = (Wide)v * multiplier * ((Wide)1 << (shift > 0 ? shift : 0));
    int64_t high = wide_floor_div(product + ((Wide)1 << 30), (Wide)1 << 31);
    return wide_half_away(high, (Wide)1 << (shift < 0 ? -shift : 0));
}

static inline int64_t wide_limit(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

static inline int8_t wide_finish(int64_t v, int32_t low, int32_t high, const int8_t *table) {
    int64_t q = wide_limit(v, low, high);
    return table ? table[q - low] : (int8_t)q;
}

/* A function of int16: a table, or pieces; with neither the number itself (wide_elements.c). */
typedef struct {
    const int16_t *table, *start;
    const int32_t *piece;
    int64_t pieces;
} WideMap;

int64_t wide_mapped(const WideMap *m, int64_t q);
/* Stores the function of q as element i. */
void wide_put_mapped(const WideMap *m, void *output, int32_t bytes, int64_t i, int64_t q);
#define WIDE_MAPPED(a, f, i, q)                                                                    \
    wide_put_mapped(&(WideMap){ctn_at(f, (a)->table), ctn_at(f, (a)->start),                       \
                               ctn_at(f, (a)->piece), (a)->pieces},                                \
                    ctn_at(f, (a)->output), (a)->output_bytes, i, q)

static inline int64_t wide_count(int rank, const int32_t *dim) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= dim[d];
    return n;
}

static inline int64_t wide_offset(int rank, const int32_t *dim, const int32_t *stride,
                                  int64_t flat) {
    int64_t offset = 0;
    for (int d = rank - 1; d >= 0; d--) {
        offset += flat % dim[d] * stride[d];
        flat /= dim[d];
    }
    return offset;
}

/* Element i of an int8 or int16 array. */
static inline int64_t wide_element(const void *p, bool wide, int64_t i) {
    return wide ? ((const int16_t *)p)[i] : ((const int8_t *)p)[i];
}

static inline void wide_store(void *p, bool wide, int64_t i, int64_t q, int32_t low,
                              const void *table) {
    if (wide)
        ((int16_t *)p)[i] = (int16_t)q;
    else
        ((int8_t *)p)[i] = table ? ((const int8_t *)table)[q - low] : (int8_t)q;
}

/* Linear between 513 entries, rounded half up. */
static inline int64_t wide_interpolated(const int16_t *table, int64_t q) {
    q = wide_limit(q, -32768, 32767) + 32768;
    const int16_t *e = table + q / 128;
    return e[0] + wide_floor_div(2 * (e[1] - e[0]) * (q % 128) + 128, 256);
}

#endif
