/* Two-operand operators on plain integers of any width and on bool. Everything is computed modulo
 * 2^64 and stored modulo the output's width, which is what torch's integers do. */
#include "integer.h"
#include "compare.h"
#include "ctn.h"
#include "loop.h"

static void store(void *base, int32_t i, int32_t type, int64_t v) {
    switch (type) {
    case TYPE_BOOL:
        ((uint8_t *)base)[i] = v != 0;
        break;
    case TYPE_I16:
        ((int16_t *)base)[i] = (int16_t)v;
        break;
    case TYPE_I32:
        ((int32_t *)base)[i] = (int32_t)v;
        break;
    case TYPE_I64:
        ((int64_t *)base)[i] = v;
        break;
    default:
        ((uint8_t *)base)[i] = (uint8_t)v;
    }
}

static int64_t divide(int64_t a, int64_t b, int32_t op) {
    if (b == 0)
        return 0;
    int whole = op == CTN_INTEGER_FLOOR_DIVIDE || op == CTN_INTEGER_TRUNC_DIVIDE;
    if (b == -1) /* INT64_MIN / -1 does not fit */
        return whole ? (int64_t)(0 - (uint64_t)a) : 0;
    int64_t quotient = a / b, rest = a % b;
    int other_side = rest != 0 && (rest < 0) != (b < 0);
    if (whole)
        return quotient - (op == CTN_INTEGER_FLOOR_DIVIDE && other_side);
    return op == CTN_INTEGER_REMAINDER && other_side ? rest + b : rest;
}

static int64_t shift(int64_t a, int64_t b, int32_t op) {
    int wide = b < 0 || b > 63;
    if (op == CTN_INTEGER_SHIFT_LEFT)
        return wide ? 0 : (int64_t)((uint64_t)a << b);
    return a >> (wide ? 63 : b);
}

static int64_t power(int64_t a, int64_t b) {
    uint64_t result = 1, factor = (uint64_t)a;
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    for (uint64_t rest = (uint64_t)b; rest > 0; rest >>= 1) {
        if (rest & 1)
            result *= factor;
        factor *= factor;
    }
    return (int64_t)result;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The greatest common divisor or the least common multiple; both are no less than 0. */
static int64_t divisors(int64_t a, int64_t b, int32_t op) {
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    uint64_t divisor = common_divisor(x, y);
    if (op == CTN_INTEGER_GCD)
        return (int64_t)divisor;
    return divisor == 0 ? 0 : (int64_t)(x / divisor * y);
}

static int64_t apply(int64_t a, int64_t b, int32_t op, int32_t alpha) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b, factor = (uint64_t)(int64_t)alpha;
    switch (op) {
    case CTN_INTEGER_ADD:
        return (int64_t)(x + factor * y);
    case CTN_INTEGER_SUB:
        return (int64_t)(x - factor * y);
    case CTN_INTEGER_RSUB:
        return (int64_t)(y - factor * x);
    case CTN_INTEGER_MUL:
        return (int64_t)(x * y);
    case CTN_INTEGER_FLOOR_DIVIDE:
    case CTN_INTEGER_TRUNC_DIVIDE:
    case CTN_INTEGER_REMAINDER:
    case CTN_INTEGER_FMOD:
        return divide(a, b, op);
    case CTN_INTEGER_MAX:
        return a > b ? a : b;
    case CTN_INTEGER_MIN:
        return a < b ? a : b;
    case CTN_INTEGER_AND:
        return a & b;
    case CTN_INTEGER_OR:
        return a | b;
    case CTN_INTEGER_XOR:
        return a ^ b;
    case CTN_INTEGER_SHIFT_LEFT:
    case CTN_INTEGER_SHIFT_RIGHT:
        return shift(a, b, op);
    case CTN_INTEGER_POW:
        return power(a, b);
    case CTN_INTEGER_GCD:
    case CTN_INTEGER_LCM:
        return divisors(a, b, op);
    case CTN_INTEGER_LOGICAL_AND:
    case CTN_INTEGER_LOGICAL_OR:
    case CTN_INTEGER_LOGICAL_XOR:
        return ctn_logical(a != 0, b != 0, op);
    default:
        return ctn_compare((a > b) - (a < b), op);
    }
}

void ctn_integer(const CtnIntegerArgs *a, const CtnFrame *frame) {
    const void *lhs = ctn_at(frame, a->a);
    const void *rhs = ctn_at(frame, a->b);
    void *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, l = 0, r = 0, at = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        for (int32_t i = 0; i < a->dim[5]; i++) {
            int64_t x = ctn_load_integer(lhs, l + i * a->a_stride[5], a->a_type);
            int64_t y = ctn_load_integer(rhs, r + i * a->b_stride[5], a->b_type);
            store(output, at++, a->output_type, apply(x, y, a->op, a->alpha));
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &l, a->b_stride, &r));
}
