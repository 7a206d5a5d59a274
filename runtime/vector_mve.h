/* Copying and filling bytes by MVE, in whole vectors: up to 15 bytes behind the end are written,
 * none behind it are read. */
#ifndef CTN_VECTOR_MVE_H
#define CTN_VECTOR_MVE_H

#include "mve.h"

static inline void ctn_copy_mve(int8_t *to, const int8_t *from, int32_t bytes) {
    for (; bytes > 0; bytes -= 16, to += 16, from += 16)
        vstrbq_s8(to, vldrbq_z_s8(from, vctp8q((uint32_t)bytes)));
}

static inline void ctn_fill_mve(int8_t *to, int32_t value, int32_t bytes) {
    const int8x16_t v = vdupq_n_s8((int8_t)value);
    for (; bytes > 0; bytes -= 16, to += 16)
        vstrbq_s8(to, v);
}

#endif
