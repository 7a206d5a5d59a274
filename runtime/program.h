/* The interpreter of the program_*_f32 kernels. A kernel says by CTN_LAST_OP which operators it
 * has; the compiler then leaves out the functions of the others. Programs were checked on the host:
 * the stack never runs over or empty. */
#ifndef CTN_PROGRAM_H
#define CTN_PROGRAM_H

#include "float32.h"

#include "ctn.h"
#include "integer.h"
#include "loop.h"

enum { CTN_TYPE_F32 = 7, CTN_STACK = 8 };

static inline float ctn_load_number(const void *base, int32_t i, int32_t type) {
    return type == CTN_TYPE_F32 ? ((const float *)base)[i] : (float)ctn_load_integer(base, i, type);
}

/* Cut towards zero and kept within -2^bits .. 2^bits - 1; beyond 2^23 floats are whole. */
static inline int64_t ctn_whole_number(float x, int bits) {
    float limit = (float)((int64_t)1 << (bits - 1)) * 2.0f;
    int64_t high = (int64_t)(((uint64_t)1 << bits) - 1u);
    if (ctn_is_nan(x))
        return 0;
    return x >= limit ? high : x <= -limit ? -high - 1 : (int64_t)x;
}

static inline void ctn_store_number(void *base, int32_t i, int32_t type, float x) {
    switch (type) {
    case CTN_TYPE_F32:
        ((float *)base)[i] = ctn_settle(x);
        break;
    case TYPE_BOOL:
        ((uint8_t *)base)[i] = x != 0.0f;
        break;
    case TYPE_U8:
        ((uint8_t *)base)[i] = (uint8_t)(x > 0.0f ? ctn_whole_number(x, 8) : 0);
        break;
    case TYPE_I8:
        ((int8_t *)base)[i] = (int8_t)ctn_whole_number(x, 7);
        break;
    case TYPE_I16:
        ((int16_t *)base)[i] = (int16_t)ctn_whole_number(x, 15);
        break;
    case TYPE_I32:
        ((int32_t *)base)[i] = (int32_t)ctn_whole_number(x, 31);
        break;
    default:
        ((int64_t *)base)[i] = ctn_whole_number(x, 63);
    }
}

static inline float ctn_truth(int true_or_not) {
    return true_or_not ? 1.0f : 0.0f;
}

/* A function of one number. */
static inline float ctn_apply_1(int op, float x) {
    switch (op) {
    case CTN_FLOAT_NOT:
        return ctn_truth(x == 0.0f);
    case CTN_FLOAT_NEG:
        return -x;
    case CTN_FLOAT_ABS:
        return ctn_abs(x);
    case CTN_FLOAT_SIGNBIT:
        return ctn_truth(ctn_to_bits(x) >> 31 != 0u);
    case CTN_FLOAT_FLOOR:
        return ctn_floor(x);
    case CTN_FLOAT_TRUNC:
        return ctn_trunc(x);
    case CTN_FLOAT_ROUND:
        return ctn_round(x);
    case CTN_FLOAT_SQRT:
        return ctn_sqrt(x);
#define FUNCTION(name, function)                                                                   \
    case CTN_FLOAT_##name:                                                                         \
        return CTN_FLOAT_##name <= CTN_LAST_OP ? function(x) : x;
        FUNCTION(EXP, ctn_exp)
        FUNCTION(LOG, ctn_log)
        FUNCTION(EXPM1, ctn_expm1)
        FUNCTION(LOG1P, ctn_log1p)
        FUNCTION(TANH, ctn_tanh)
        FUNCTION(SIGMOID, ctn_sigmoid)
        FUNCTION(LOG2, ctn_log2)
        FUNCTION(LOG10, ctn_log10)
        FUNCTION(SIN, ctn_sin)
        FUNCTION(COS, ctn_cos)
        FUNCTION(TAN, ctn_tan)
        FUNCTION(ASIN, ctn_asin)
        FUNCTION(ACOS, ctn_acos)
        FUNCTION(ATAN, ctn_atan)
        FUNCTION(SINH, ctn_sinh)
        FUNCTION(COSH, ctn_cosh)
        FUNCTION(ASINH, ctn_asinh)
        FUNCTION(ACOSH, ctn_acosh)
        FUNCTION(ATANH, ctn_atanh)
        FUNCTION(ERF, ctn_erf)
        FUNCTION(ERFC, ctn_erfc)
#undef FUNCTION
    default:
        return x;
    }
}

/* A function of two. */
static inline float ctn_apply_2(int op, float x, float y) {
    switch (op) {
    case CTN_FLOAT_ADD:
        return x + y;
    case CTN_FLOAT_SUB:
        return x - y;
    case CTN_FLOAT_MUL:
        return x * y;
    case CTN_FLOAT_DIV:
        return x / y;
    case CTN_FLOAT_MAX:
        return ctn_is_nan(x) || x > y ? x : y;
    case CTN_FLOAT_MIN:
        return ctn_is_nan(x) || x < y ? x : y;
    case CTN_FLOAT_FMAX:
        return ctn_is_nan(y) || x > y ? x : y;
    case CTN_FLOAT_FMIN:
        return ctn_is_nan(y) || x < y ? x : y;
    case CTN_FLOAT_EQ:
        return ctn_truth(x == y);
    case CTN_FLOAT_LT:
        return ctn_truth(x < y);
    case CTN_FLOAT_LE:
        return ctn_truth(x <= y);
    case CTN_FLOAT_AND:
        return ctn_truth(x != 0.0f && y != 0.0f);
    case CTN_FLOAT_OR:
        return ctn_truth(x != 0.0f || y != 0.0f);
    case CTN_FLOAT_COPYSIGN:
        return ctn_with_sign(x, y);
    case CTN_FLOAT_FMOD:
        return CTN_FLOAT_FMOD <= CTN_LAST_OP ? ctn_fmod(x, y) : x;
    case CTN_FLOAT_POW:
        return CTN_FLOAT_POW <= CTN_LAST_OP ? ctn_pow(x, y) : x;
    case CTN_FLOAT_ATAN2:
        return CTN_FLOAT_ATAN2 <= CTN_LAST_OP ? ctn_atan2(x, y) : x;
    default:
        return x;
    }
}

static inline int ctn_takes_two(int op) {
    return (op >= CTN_FLOAT_ADD && op <= CTN_FLOAT_COPYSIGN) ||
           (op >= CTN_FLOAT_FMOD && op <= CTN_FLOAT_ATAN2);
}

/* The operands' numbers at one place, by the program. */
static inline float ctn_interpret(const uint8_t *program, int32_t length, const float *constant,
                                  const float operand[3]) {
    float stack[CTN_STACK], *top = stack; /* the first free place */
    for (const uint8_t *p = program, *end = program + length; p < end; p += 2) {
        int op = p[0];
        if (op <= CTN_FLOAT_C) {
            *top++ = operand[op];
        } else if (op == CTN_FLOAT_CONSTANT) {
            *top++ = constant[p[1]];
        } else if (op == CTN_FLOAT_DUPLICATE) {
            *top = top[-1];
            top++;
        } else if (op == CTN_FLOAT_SELECT) {
            top -= 2;
            top[-1] = top[-1] != 0.0f ? top[0] : top[1];
        } else if (ctn_takes_two(op)) {
            top--;
            top[-1] = ctn_apply_2(op, top[-1], top[0]);
        } else {
            top[-1] = ctn_apply_1(op, top[-1]);
        }
    }
    return top[-1];
}

#define CTN_PROGRAM_KERNEL(name, Struct)                                                           \
    void ctn_##name(const Ctn##Struct##Args *a, const CtnFrame *frame) {                           \
        const void *lhs = ctn_at(frame, a->a), *rhs = ctn_at(frame, a->b);                         \
        const void *third = ctn_at(frame, a->c);                                                   \
        const uint8_t *program = ctn_at(frame, a->program);                                        \
        const float *constant = ctn_at(frame, a->constants);                                       \
        void *output = ctn_at(frame, a->output);                                                   \
        int32_t index[6] = {0}, l = 0, r = 0, at = 0;                                              \
        if (ctn_is_empty(6, a->dim))                                                               \
            return;                                                                                \
        do {                                                                                       \
            float operand[3] = {0.0f, 0.0f, 0.0f};                                                 \
            if (lhs)                                                                               \
                operand[0] = ctn_load_number(lhs, l, a->a_type);                                   \
            if (rhs)                                                                               \
                operand[1] = ctn_load_number(rhs, r, a->b_type);                                   \
            if (third) {                                                                           \
                int32_t t = 0;                                                                     \
                for (int d = 0; d < 6; d++)                                                        \
                    t += index[d] * a->c_stride[d];                                                \
                operand[2] = ctn_load_number(third, t, a->c_type);                                 \
            }                                                                                      \
            float y = ctn_interpret(program, a->length, constant, operand);                        \
            ctn_store_number(output, at++, a->output_type, y);                                     \
        } while (ctn_step(6, a->dim, index, a->a_stride, &l, a->b_stride, &r));                    \
    }

#endif
