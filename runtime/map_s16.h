/* A function of int16, one number at a time, as kernels have it in their store: a table with
 * interpolation, or quadratic pieces. */
#ifndef CTN_MAP_S16_H
#define CTN_MAP_S16_H

#include "fix.h"

typedef struct {
    const int16_t *table; /* [513], or NULL: */
    const int16_t *start; /* [pieces], rising from -32768 */
    const int32_t *piece; /* [pieces][4] */
    int32_t pieces;
} CtnMapS16;

/* Of an argument list with CTN_MAP_S16_FIELDS. */
#define CTN_MAP_S16(a, frame)                                                                      \
    { ctn_at(frame, (a)->table), ctn_at(frame, (a)->start), ctn_at(frame, (a)->piece), (a)->pieces }

/* The last piece that starts at q or before it. */
static inline int32_t ctn_piece_of(const int16_t *start, int32_t pieces, int32_t q) {
    int32_t low = 0, high = pieces;
    while (high - low > 1) {
        int32_t middle = (low + high) >> 1;
        if (start[middle] <= q)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline int32_t ctn_map_pieces(const CtnMapS16 *m, int32_t q) {
    int32_t k = ctn_piece_of(m->start, m->pieces, q);
    return ctn_piece_s16(m->piece + 4 * k, q - m->start[k]);
}

/* Where the table of a byte's function, int16 [257], has its number: on an entry. */
static inline int32_t ctn_map_byte(int32_t q) {
    return q * 128 - 16384;
}

/* Without a function q itself. */
static inline int32_t ctn_map_s16(const CtnMapS16 *m, int32_t q) {
    if (m->table)
        return ctn_interpolate_s16(m->table, q);
    return m->pieces ? ctn_map_pieces(m, q) : q;
}

#endif
