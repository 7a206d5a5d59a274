/* Sizes that rows_s16.h and the loops of the levels agree on. */
#ifndef CTN_ROWS_SIZE_S16_H
#define CTN_ROWS_SIZE_S16_H

#include <stdint.h>

enum {
    CTN_ROWS_UNIT = 8, /* of a depth */
    CTN_ROWS_PART = 256,
    CTN_ROWS_CHANNELS = 4,
    CTN_ROWS_BATCH = 16 /* channels whose sums are kept before they are stored */
};

static inline int32_t ctn_rows_depth(int32_t depth) {
    return (depth + CTN_ROWS_UNIT - 1) & ~(CTN_ROWS_UNIT - 1);
}

#endif
