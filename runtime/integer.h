/* Reading plain integers of any width. */
#ifndef CTN_INTEGER_H
#define CTN_INTEGER_H

#include <stdint.h>

/* PyTorch's numbers of its types */
enum { TYPE_U8 = 1, TYPE_I8 = 2, TYPE_I16 = 3, TYPE_I32 = 4, TYPE_I64 = 5, TYPE_BOOL = 12 };

static inline int64_t ctn_load_integer(const void *base, int32_t i, int32_t type) {
    switch (type) {
    case TYPE_I8:
        return ((const int8_t *)base)[i];
    case TYPE_I16:
        return ((const int16_t *)base)[i];
    case TYPE_I32:
        return ((const int32_t *)base)[i];
    case TYPE_I64:
        return ((const int64_t *)base)[i];
    default:
        return ((const uint8_t *)base)[i];
    }
}

#endif
