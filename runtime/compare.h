/* Comparisons, shared by the kernels that give truth values. */
#ifndef CTN_COMPARE_H
#define CTN_COMPARE_H

#include "ctn.h"

/* order is -1, 0 or 1: the first operand is less, equal or greater. */
static inline uint8_t ctn_compare(int32_t order, int32_t op) {
    switch (op) {
    case CTN_INTEGER_EQ:
        return order == 0;
    case CTN_INTEGER_NE:
        return order != 0;
    case CTN_INTEGER_LT:
        return order < 0;
    case CTN_INTEGER_LE:
        return order <= 0;
    case CTN_INTEGER_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static inline uint8_t ctn_logical(int32_t a, int32_t b, int32_t op) {
    switch (op) {
    case CTN_INTEGER_LOGICAL_AND:
        return a && b;
    case CTN_INTEGER_LOGICAL_OR:
        return a || b;
    default:
        return !a != !b;
    }
}

#endif
