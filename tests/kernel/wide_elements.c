/* References of what goes element by element, and of the C boundary. */
#include "base/base.h"
#include "kernel/wide_math.h"

#include <math.h>
#include <string.h>

/* The clamped sum i. */
static int64_t sum_at(const CtnAddS8Args *a, const CtnFrame *f, bool wide, int64_t i) {
    int64_t p = wide_element(ctn_at(f, a->a), wide, wide_offset(6, a->dim, a->a_stride, i));
    int64_t q = wide_element(ctn_at(f, a->b), wide, wide_offset(6, a->dim, a->b_stride, i));
    int64_t unit = (int64_t)1 << a->left_shift;
    int64_t sum = wide_requantize((p - a->a_zero_point) * unit, a->a_multiplier, a->a_shift) +
                  wide_requantize((q - a->b_zero_point) * unit, a->b_multiplier, a->b_shift);
    sum = wide_requantize(sum, a->output_multiplier, a->output_shift) + a->output_zero_point;
    return wide_limit(sum, a->clamp_min, a->clamp_max);
}

static void add(const CtnAddS8Args *a, const CtnFrame *f, bool wide) {
    for (int64_t i = 0; i < wide_count(6, a->dim); i++)
        wide_store(ctn_at(f, a->output), wide, i, sum_at(a, f, wide, i), a->clamp_min,
                   ctn_at(f, a->table));
}

void wide_add_s8(const CtnAddS8Args *a, const CtnFrame *f) {
    add(a, f, false);
}

void wide_add_s16(const CtnAddS16Args *a, const CtnFrame *f) {
    CtnAddS8Args same;
    memcpy(&same, a, sizeof same);
    add(&same, f, true);
}

/* The clamped product i. */
static int64_t product_at(const CtnMulS8Args *a, const CtnFrame *f, bool wide, int64_t i) {
    int64_t p = wide_element(ctn_at(f, a->a), wide, wide_offset(6, a->dim, a->a_stride, i));
    int64_t q = wide_element(ctn_at(f, a->b), wide, wide_offset(6, a->dim, a->b_stride, i));
    int64_t product = (p - a->a_zero_point) * (q - a->b_zero_point);
    product = wide_requantize(product, a->multiplier, a->shift) + a->output_zero_point;
    return wide_limit(product, a->clamp_min, a->clamp_max);
}

static void mul(const CtnMulS8Args *a, const CtnFrame *f, bool wide) {
    for (int64_t i = 0; i < wide_count(6, a->dim); i++)
        wide_store(ctn_at(f, a->output), wide, i, product_at(a, f, wide, i), a->clamp_min,
                   ctn_at(f, a->table));
}

void wide_mul_s8(const CtnMulS8Args *a, const CtnFrame *f) {
    mul(a, f, false);
}

void wide_mul_s16(const CtnMulS16Args *a, const CtnFrame *f) {
    CtnMulS8Args same;
    memcpy(&same, a, sizeof same);
    mul(&same, f, true);
}

void wide_add_map_s16(const CtnAddMapS16Args *a, const CtnFrame *f) {
    CtnAddS8Args sum;
    memcpy(&sum, a, sizeof sum);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++)
        WIDE_MAPPED(a, f, i, sum_at(&sum, f, a->input_bytes == 2, i));
}

void wide_mul_map_s16(const CtnMulMapS16Args *a, const CtnFrame *f) {
    CtnMulS8Args product;
    memcpy(&product, a, sizeof product);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++)
        WIDE_MAPPED(a, f, i, product_at(&product, f, a->input_bytes == 2, i));
}

/* a * factor / b, with factor = multiplier * 2^(shift - 31) */
static void divide(const CtnDivS8Args *a, const CtnFrame *f, bool wide) {
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        Wide top = wide_element(ctn_at(f, a->a), wide, wide_offset(6, a->dim, a->a_stride, i)) -
                   a->a_zero_point;
        Wide bottom = wide_element(ctn_at(f, a->b), wide, wide_offset(6, a->dim, a->b_stride, i)) -
                      a->b_zero_point;
        top *= (Wide)a->multiplier * ((Wide)1 << (a->shift + 14));
        bottom *= (Wide)1 << 45;
        int64_t q = bottom == 0  ? 0
                    : bottom < 0 ? wide_half_away(-top, -bottom)
                                 : wide_half_away(top, bottom);
        q = wide_limit(q + a->output_zero_point, a->clamp_min, a->clamp_max);
        wide_store(ctn_at(f, a->output), wide, i, q, a->clamp_min, ctn_at(f, a->table));
    }
}

void wide_div_s8(const CtnDivS8Args *a, const CtnFrame *f) {
    divide(a, f, false);
}

void wide_div_s16(const CtnDivS16Args *a, const CtnFrame *f) {
    CtnDivS8Args same;
    memcpy(&same, a, sizeof same);
    divide(&same, f, true);
}

static int64_t mapped(const int8_t *table, int64_t q) {
    return table ? table[q + 128] : q;
}

void wide_minmax_s8(const CtnMinmaxS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t p = wide_element(ctn_at(f, a->a), false, wide_offset(6, a->dim, a->a_stride, i));
        int64_t q = wide_element(ctn_at(f, a->b), false, wide_offset(6, a->dim, a->b_stride, i));
        p = mapped(ctn_at(f, a->a_table), p);
        q = mapped(ctn_at(f, a->b_table), q);
        ((int8_t *)ctn_at(f, a->output))[i] = (int8_t)((a->minimum ? p < q : p > q) ? p : q);
    }
}

void wide_minmax_s16(const CtnMinmaxS16Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t p = wide_element(ctn_at(f, a->a), true, wide_offset(6, a->dim, a->a_stride, i));
        int64_t q = wide_element(ctn_at(f, a->b), true, wide_offset(6, a->dim, a->b_stride, i));
        p = wide_limit(wide_requantize(p, a->a_multiplier, a->a_shift), -32767, 32767);
        q = wide_limit(wide_requantize(q, a->b_multiplier, a->b_shift), -32767, 32767);
        ((int16_t *)ctn_at(f, a->output))[i] = (int16_t)((a->minimum ? p < q : p > q) ? p : q);
    }
}

static bool holds(int op, int64_t p, int64_t q) {
    switch (op) {
    case CTN_INTEGER_EQ:
        return p == q;
    case CTN_INTEGER_NE:
        return p != q;
    case CTN_INTEGER_LT:
        return p < q;
    case CTN_INTEGER_LE:
        return p <= q;
    case CTN_INTEGER_GT:
        return p > q;
    case CTN_INTEGER_GE:
        return p >= q;
    case CTN_INTEGER_LOGICAL_AND:
        return p && q;
    case CTN_INTEGER_LOGICAL_OR:
        return p || q;
    default:
        return (p != 0) != (q != 0);
    }
}

static void compare(const CtnCompareS8Args *a, const CtnFrame *f, bool wide) {
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t p = wide_element(ctn_at(f, a->a), wide, wide_offset(6, a->dim, a->a_stride, i));
        int64_t q = wide_element(ctn_at(f, a->b), wide, wide_offset(6, a->dim, a->b_stride, i));
        ((uint8_t *)ctn_at(f, a->output))[i] =
            holds(a->op, (p - a->a_zero_point) * a->a_factor, (q - a->b_zero_point) * a->b_factor);
    }
}

void wide_compare_s8(const CtnCompareS8Args *a, const CtnFrame *f) {
    compare(a, f, false);
}

void wide_compare_s16(const CtnCompareS16Args *a, const CtnFrame *f) {
    CtnCompareS8Args same;
    memcpy(&same, a, sizeof same);
    compare(&same, f, true);
}

void wide_logical_s8(const CtnLogicalS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t p = wide_element(ctn_at(f, a->a), false, wide_offset(6, a->dim, a->a_stride, i));
        int64_t q = wide_element(ctn_at(f, a->b), false, wide_offset(6, a->dim, a->b_stride, i));
        ((uint8_t *)ctn_at(f, a->output))[i] =
            holds(a->op, p - a->a_zero_point, q - a->b_zero_point);
    }
}

void wide_where(const CtnWhereArgs *a, const CtnFrame *f) {
    const char *condition = ctn_at(f, a->condition);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        bool yes = condition[wide_offset(6, a->dim, a->condition_stride, i)] != 0;
        const char *in = ctn_at(f, yes ? a->a : a->b);
        char *out = (char *)ctn_at(f, a->output) + i * a->element_size;
        int64_t at = wide_offset(6, a->dim, yes ? a->a_stride : a->b_stride, i);
        memcpy(out, in + at * a->element_size, (size_t)a->element_size);
        if (a->element_size == 1)
            *out = (char)mapped(ctn_at(f, yes ? a->a_table : a->b_table), (int8_t)*out);
    }
}

void wide_prelu_s8(const CtnPreluS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t q =
            wide_element(ctn_at(f, a->input), false, wide_offset(6, a->dim, a->in_stride, i));
        int64_t c = wide_offset(6, a->dim, a->channel_stride, i);
        int64_t v = (q - a->input_zero_point) * 65536;
        v = v >= 0 ? wide_requantize(v, a->positive_multiplier, a->positive_shift)
                   : wide_requantize(v, ((int32_t *)ctn_at(f, a->multiplier))[c],
                                     ((int32_t *)ctn_at(f, a->shift))[c]);
        ((int8_t *)ctn_at(f, a->output))[i] =
            (int8_t)wide_limit(v + a->output_zero_point, -128, 127);
    }
}

void wide_pointwise2_s8(const CtnPointwise2S8Args *a, const CtnFrame *f) {
    const int8_t *table = ctn_at(f, a->table);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t p = wide_element(ctn_at(f, a->a), false, wide_offset(6, a->dim, a->a_stride, i));
        int64_t q = wide_element(ctn_at(f, a->b), false, wide_offset(6, a->dim, a->b_stride, i));
        ((int8_t *)ctn_at(f, a->output))[i] = table[256 * (q + 128) + p + 128];
    }
}

static int64_t load(const void *base, int64_t i, int32_t type) {
    Array a = {.dtype = (DType)type, .rank = 1, .dim = {i + 1}, .data = (void *)base};
    return type == DT_BOOL ? ((const uint8_t *)base)[i] : array_get_int(&a, i);
}

static Wide floor_quotient(Wide a, Wide b) {
    Wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Modulo 2^64, by halving the exponent. */
static Wide integer_power(Wide p, Wide q) {
    if (q < 0)
        return p == 1 || (p == -1 && q % 2 == 0) ? 1 : p == -1 ? -1 : 0;
    if (q == 0)
        return 1;
    uint64_t half = (uint64_t)integer_power(p, q / 2);
    return (Wide)(half * half * (q % 2 ? (uint64_t)p : 1));
}

static Wide integer_divisor(Wide p, Wide q) {
    return q == 0 ? (p < 0 ? -p : p) : integer_divisor(q, p % q);
}

static Wide integer_multiple(Wide p, Wide q) {
    Wide product = p * q, divisor = integer_divisor(p, q);
    return divisor == 0 ? 0 : (product < 0 ? -product : product) / divisor;
}

/* Without bound; the store takes the result modulo the output's width. */
static Wide integer_result(const CtnIntegerArgs *a, Wide p, Wide q) {
    bool out_of_range = q < 0 || q > 63;
    switch (a->op) {
    case CTN_INTEGER_ADD:
        return p + a->alpha * q;
    case CTN_INTEGER_SUB:
        return p - a->alpha * q;
    case CTN_INTEGER_RSUB:
        return q - a->alpha * p;
    case CTN_INTEGER_MUL:
        return p * q;
    case CTN_INTEGER_FLOOR_DIVIDE:
        return q == 0 ? 0 : floor_quotient(p, q);
    case CTN_INTEGER_TRUNC_DIVIDE:
        return q == 0 ? 0 : p / q;
    case CTN_INTEGER_REMAINDER:
        return q == 0 ? 0 : p - q * floor_quotient(p, q);
    case CTN_INTEGER_FMOD:
        return q == 0 ? 0 : p % q;
    case CTN_INTEGER_MAX:
        return p > q ? p : q;
    case CTN_INTEGER_MIN:
        return p < q ? p : q;
    case CTN_INTEGER_AND:
        return p & q;
    case CTN_INTEGER_OR:
        return p | q;
    case CTN_INTEGER_XOR:
        return p ^ q;
    case CTN_INTEGER_SHIFT_LEFT:
        return out_of_range ? 0 : p * ((Wide)1 << (int)q);
    case CTN_INTEGER_SHIFT_RIGHT:
        return out_of_range ? (p < 0 ? -1 : 0) : floor_quotient(p, (Wide)1 << (int)q);
    case CTN_INTEGER_POW:
        return integer_power(p, q);
    case CTN_INTEGER_GCD:
        return integer_divisor(p, q);
    case CTN_INTEGER_LCM:
        return integer_multiple(p, q);
    default:
        return holds(a->op, (int64_t)p, (int64_t)q);
    }
}

void wide_integer(const CtnIntegerArgs *a, const CtnFrame *f) {
    int size = dtype_size((DType)a->output_type);
    for (int64_t i = 0; i < wide_count(6, a->dim); i++) {
        int64_t p = load(ctn_at(f, a->a), wide_offset(6, a->dim, a->a_stride, i), a->a_type);
        int64_t q = load(ctn_at(f, a->b), wide_offset(6, a->dim, a->b_stride, i), a->b_type);
        uint64_t r = (uint64_t)integer_result(a, p, q);
        if (a->output_type == DT_BOOL)
            r = r != 0;
        memcpy((char *)ctn_at(f, a->output) + i * size, &r, (size_t)size);
    }
}

void wide_quantize_integer(const CtnQuantizeIntegerArgs *a, const CtnFrame *f) {
    bool wide = a->output_bytes == 2;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t v = wide_limit(load(ctn_at(f, a->input), i, a->input_type), -a->limit, a->limit);
        int64_t q = wide_half_away((Wide)v * a->multiplier, (Wide)1 << (31 - a->shift));
        q = wide_limit(q + a->zero_point, wide ? -32767 : -128, wide ? 32767 : 127);
        wide_store(ctn_at(f, a->output), wide, i, q, 0, NULL);
    }
}

void wide_rescale(const CtnRescaleArgs *a, const CtnFrame *f) {
    bool wide = a->output_bytes == 2;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t q = wide_element(ctn_at(f, a->input), a->input_bytes == 2, i) - a->input_zero_point;
        q = wide_requantize(q, a->multiplier, a->shift) + a->output_zero_point;
        q = wide_limit(q, wide ? -32767 : -128, wide ? 32767 : 127);
        wide_store(ctn_at(f, a->output), wide, i, q, 0, NULL);
    }
}

void wide_table_s8(const CtnTableS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    for (int64_t i = 0; i < a->count; i++)
        memcpy((char *)ctn_at(f, a->output) + i * a->entry_size,
               (const char *)ctn_at(f, a->table) + (input[i] + 128) * a->entry_size,
               (size_t)a->entry_size);
}

static int64_t interpolated(const int16_t *table, int64_t q) {
    double position = ((double)q + 32768.0) / 128.0, low = floor(position);
    double y = table[(int)low] + (position - low) * (table[(int)low + 1] - table[(int)low]);
    return (int64_t)floor(y + 0.5);
}

static int64_t pieced(const WideMap *m, int64_t q) {
    int64_t k = m->pieces - 1;
    while (m->start[k] > q)
        k--;
    const int32_t *p = m->piece + 4 * k;
    int64_t place = (q - m->start[k]) << p[0];
    int64_t slope = p[2] + (int64_t)floor(ldexp((double)(p[3] * place), -15) + 0.5);
    int64_t y = p[1] + (int64_t)floor(ldexp((double)(slope * place), -15) + 0.5);
    return (int64_t)floor(ldexp((double)y, -4) + 0.5);
}

int64_t wide_mapped(const WideMap *m, int64_t q) {
    return m->table ? interpolated(m->table, q) : m->pieces > 0 ? pieced(m, q) : q;
}

void wide_put_mapped(const WideMap *m, void *output, int32_t bytes, int64_t i, int64_t q) {
    wide_store(output, bytes == 2, i, wide_mapped(m, q), 0, NULL);
}

void wide_table_s16(const CtnTableS16Args *a, const CtnFrame *f) {
    const int16_t *input = ctn_at(f, a->input);
    const WideMap map = {.table = ctn_at(f, a->table)};
    for (int64_t i = 0; i < a->count; i++)
        ((int16_t *)ctn_at(f, a->output))[i] = (int16_t)wide_mapped(&map, input[i]);
}

void wide_pieces_s16(const CtnPiecesS16Args *a, const CtnFrame *f) {
    const int16_t *input = ctn_at(f, a->input);
    const WideMap map = {NULL, ctn_at(f, a->start), ctn_at(f, a->piece), a->pieces};
    for (int64_t i = 0; i < a->count; i++) {
        int64_t q = wide_mapped(&map, input[i]);
        if (a->output_bytes == 2)
            ((int16_t *)ctn_at(f, a->output))[i] = (int16_t)q;
        else
            ((int8_t *)ctn_at(f, a->output))[i] = (int8_t)q;
    }
}

static float bits_float(int32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static int64_t quantize(float x, int32_t inverse, int32_t zero_point, bool wide) {
    float t = rintf(x * bits_float(inverse));
    if (isnan(t))
        return zero_point;
    double q = (double)t + zero_point;
    return (int64_t)(wide ? fmin(fmax(q, -32767), 32767) : fmin(fmax(q, -128), 127));
}

void wide_quantize_s8(const CtnQuantizeS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < a->count; i++)
        ((int8_t *)ctn_at(f, a->output))[i] = (int8_t)quantize(
            ((float *)ctn_at(f, a->input))[i], a->inverse_scale, a->zero_point, false);
}

void wide_quantize_s16(const CtnQuantizeS16Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < a->count; i++)
        ((int16_t *)ctn_at(f, a->output))[i] = (int16_t)quantize(
            ((float *)ctn_at(f, a->input))[i], a->inverse_scale, a->zero_point, true);
}

void wide_dequantize_s8(const CtnDequantizeS8Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < a->count; i++)
        ((float *)ctn_at(f, a->output))[i] =
            (float)((double)(((int8_t *)ctn_at(f, a->input))[i] - a->zero_point) *
                    bits_float(a->scale));
}

void wide_dequantize_s16(const CtnDequantizeS16Args *a, const CtnFrame *f) {
    for (int64_t i = 0; i < a->count; i++)
        ((float *)ctn_at(f, a->output))[i] =
            (float)((double)(((int16_t *)ctn_at(f, a->input))[i] - a->zero_point) *
                    bits_float(a->scale));
}
