/* Dense arrays and the number formats of PyTorch. Data is little-endian as in archives and .npy
 * files, and so must be the host; arena memory is aligned for every dtype, so elements are read in
 * place. */
#include "base/base.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are used in place");

static const struct {
    DType dtype;
    const char *name;
    int size;
    bool is_float;
} dtypes[] = {
    {DT_U8, "uint8", 1, false},     {DT_I8, "int8", 1, false},    {DT_I16, "int16", 2, false},
    {DT_I32, "int32", 4, false},    {DT_I64, "int64", 8, false},  {DT_F16, "float16", 2, true},
    {DT_F32, "float32", 4, true},   {DT_F64, "float64", 8, true}, {DT_BOOL, "bool", 1, false},
    {DT_BF16, "bfloat16", 2, true},
};

static int dtype_row(DType t) {
    for (int i = 0; i < (int)COUNT_OF(dtypes); i++) {
        if (dtypes[i].dtype == t)
            return i;
    }
    return -1;
}

const char *dtype_name(DType t) {
    int row = dtype_row(t);
    return row < 0 ? "none" : dtypes[row].name;
}

DType dtype_from_name(const char *name) {
    for (int i = 0; i < (int)COUNT_OF(dtypes); i++) {
        if (strcmp(dtypes[i].name, name) == 0)
            return dtypes[i].dtype;
    }
    return DT_NONE;
}

int dtype_size(DType t) {
    int row = dtype_row(t);
    return row < 0 ? 0 : dtypes[row].size;
}

bool dtype_is_float(DType t) {
    int row = dtype_row(t);
    return row >= 0 && dtypes[row].is_float;
}

int64_t dims_count(int rank, const int64_t *dim) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        assert(dim[i] >= 0);
        if (dim[i] == 0)
            return 0;
    }
    for (int i = 0; i < rank; i++) {
        if (__builtin_mul_overflow(count, dim[i], &count))
            return INT64_MAX;
    }
    return count;
}

int64_t array_count(const Array *a) {
    return dims_count(a->rank, a->dim);
}

int64_t array_bytes(const Array *a) {
    int64_t bytes;
    if (__builtin_mul_overflow(array_count(a), dtype_size(a->dtype), &bytes))
        return INT64_MAX;
    return bytes;
}

Array *array_new(C *c, DType dtype, int rank, const int64_t *dim) {
    assert(dtype_size(dtype) > 0 && rank >= 0 && rank <= MAX_RANK);
    Array *a = NEW(c, Array);
    a->dtype = dtype;
    a->rank = rank;
    if (rank > 0)
        memcpy(a->dim, dim, (size_t)rank * sizeof *dim);
    a->data = c_alloc(c, (size_t)array_bytes(a));
    return a;
}

/* ---- 16-bit floats: sign, exponent, `mantissa_bits` of mantissa ---------------------------- */

/* Rounded to nearest even; `least_exponent` is that of the smallest normal number. With e at least
 * that, |value| is m * 2^(e - mantissa_bits) where m has its leading bit exactly when the number is
 * normal, and that bit, added to the exponent field, makes the field right; so does a carry. */
static uint16_t half_encode(double value, int mantissa_bits, int least_exponent) {
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    unsigned infinity = ((1u << (15 - mantissa_bits)) - 1) << mantissa_bits;
    if (isnan(value))
        return (uint16_t)(sign | infinity | 1u << (mantissa_bits - 1));
    double magnitude = fabs(value);
    if (magnitude >= ldexp(1, 2 - least_exponent))
        return (uint16_t)(sign | infinity);
    int exponent = magnitude > 0 ? ilogb(magnitude) : least_exponent;
    if (exponent < least_exponent)
        exponent = least_exponent;
    unsigned mantissa = (unsigned)nearbyint(ldexp(magnitude, mantissa_bits - exponent));
    unsigned bits = ((unsigned)(exponent - least_exponent) << mantissa_bits) + mantissa;
    return (uint16_t)(sign | (bits < infinity ? bits : infinity));
}

static double f16_decode(uint16_t bits) {
    unsigned mantissa = bits & 0x3ff, field = bits >> 10 & 31;
    double magnitude;
    if (field == 31)
        magnitude = mantissa == 0 ? INFINITY : NAN;
    else if (field == 0)
        magnitude = mantissa * 0x1p-24;
    else
        magnitude = ldexp(mantissa + 1024u, (int)field - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static double bf16_decode(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* ---- elements ------------------------------------------------------------------------------ */

static int64_t round_to_int(double value, int64_t low, int64_t high) {
    if (isnan(value))
        return 0;
    double rounded = nearbyint(value);
    if (rounded <= (double)low)
        return low;
    if (rounded >= (double)high) /* 2^63 for INT64_MAX, which is why this is not `>` */
        return high;
    return (int64_t)rounded;
}

static int64_t clamp_int(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

double array_get(const Array *a, int64_t index) {
    switch (a->dtype) {
    case DT_F16:
        return f16_decode(((const uint16_t *)a->data)[index]);
    case DT_BF16:
        return bf16_decode(((const uint16_t *)a->data)[index]);
    case DT_F32:
        return ((const float *)a->data)[index];
    case DT_F64:
        return ((const double *)a->data)[index];
    default:
        assert(a->dtype != DT_NONE);
        return (double)array_get_int(a, index);
    }
}

int64_t array_get_int(const Array *a, int64_t index) {
    switch (a->dtype) {
    case DT_U8:
        return ((const uint8_t *)a->data)[index];
    case DT_BOOL:
        return ((const uint8_t *)a->data)[index] != 0;
    case DT_I8:
        return ((const int8_t *)a->data)[index];
    case DT_I16:
        return ((const int16_t *)a->data)[index];
    case DT_I32:
        return ((const int32_t *)a->data)[index];
    case DT_I64:
        return ((const int64_t *)a->data)[index];
    default:
        return round_to_int(array_get(a, index), INT64_MIN, INT64_MAX);
    }
}

void array_set(Array *a, int64_t index, double value) {
    switch (a->dtype) {
    case DT_BOOL:
        ((uint8_t *)a->data)[index] = value != 0;
        break;
    case DT_F16:
        ((uint16_t *)a->data)[index] = half_encode(value, 10, -14);
        break;
    case DT_BF16:
        ((uint16_t *)a->data)[index] = half_encode(value, 7, -126);
        break;
    case DT_F32:
        ((float *)a->data)[index] = (float)value;
        break;
    case DT_F64:
        ((double *)a->data)[index] = value;
        break;
    default:
        assert(a->dtype != DT_NONE);
        array_set_int(a, index, round_to_int(value, INT64_MIN, INT64_MAX));
    }
}

void array_set_int(Array *a, int64_t index, int64_t value) {
    switch (a->dtype) {
    case DT_U8:
        ((uint8_t *)a->data)[index] = (uint8_t)clamp_int(value, 0, UINT8_MAX);
        break;
    case DT_BOOL:
        ((uint8_t *)a->data)[index] = value != 0;
        break;
    case DT_I8:
        ((int8_t *)a->data)[index] = (int8_t)clamp_int(value, INT8_MIN, INT8_MAX);
        break;
    case DT_I16:
        ((int16_t *)a->data)[index] = (int16_t)clamp_int(value, INT16_MIN, INT16_MAX);
        break;
    case DT_I32:
        ((int32_t *)a->data)[index] = (int32_t)clamp_int(value, INT32_MIN, INT32_MAX);
        break;
    case DT_I64:
        ((int64_t *)a->data)[index] = value;
        break;
    case DT_F32: /* at once: by way of double it would be rounded twice */
        ((float *)a->data)[index] = (float)value;
        break;
    default:
        array_set(a, index, (double)value);
    }
}

Array *array_convert(C *c, const Array *a, DType dtype) {
    Array *out = array_new(c, dtype, a->rank, a->dim);
    int64_t count = array_count(a);
    if (dtype == a->dtype) {
        memcpy(out->data, a->data, (size_t)array_bytes(a));
    } else if (dtype_is_float(a->dtype)) {
        for (int64_t i = 0; i < count; i++)
            array_set(out, i, array_get(a, i));
    } else {
        for (int64_t i = 0; i < count; i++)
            array_set_int(out, i, array_get_int(a, i));
    }
    return out;
}

const char *shape_text(C *c, int rank, const int64_t *dim) {
    Text t = text_new(c);
    text_add(&t, "[");
    for (int i = 0; i < rank; i++)
        text_add(&t, "%s%lld", i > 0 ? ", " : "", (long long)dim[i]);
    text_add(&t, "]");
    return text_string(&t);
}
