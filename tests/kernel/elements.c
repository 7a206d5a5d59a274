/* Cases of what goes element by element: sums, products, comparisons, tables. */
#include "kernel/maker.h"

#include <stdlib.h>
#include <string.h>

void fill_dims(Maker *m, int rank, int32_t *dim) {
    for (int d = 0; d < rank; d++)
        dim[d] = chance(m, 30) ? between(m, 1, 4) : 1;
    dim[rank - 1] = between(m, 1, 40);
    if (m->large)
        for (int d = 0; d < rank; d++)
            dim[d] = d < rank - 3 ? 1 : d < rank - 1 ? between(m, 1, 8) : 4 * between(m, 1, 16);
    else if (chance(m, 3))
        dim[0] = 0;
}

int64_t dense_strides(int rank, const int32_t *dim, int32_t *stride) {
    int64_t count = 1;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = (int32_t)count;
        count *= dim[d];
    }
    return count;
}

/* Strides of an operand that may be broadcast in some dims; its size. */
static int64_t operand_strides(Maker *m, int rank, const int32_t *dim, int32_t *stride) {
    int32_t own[8];
    bool all = chance(m, 60);
    for (int d = 0; d < rank; d++)
        own[d] = all || chance(m, 50) ? dim[d] : 1;
    int64_t count = dense_strides(rank, own, stride);
    for (int d = 0; d < rank; d++)
        if (own[d] == 1)
            stride[d] = 0;
    return count;
}

void random_factor(Maker *m, int32_t *multiplier, int32_t *shift, int32_t low, int32_t high) {
    *multiplier = between(m, 1 << 30, 0x7fffffff);
    *shift = between(m, low, high);
}

static void half_factor(int32_t *multiplier, int32_t *shift) {
    *multiplier = 1 << 30;
    *shift = 0;
}

/* Two operands and their loop; the fields stand alike in all these kernels' arguments. */
#define BINARY_FIELDS(m, call, args, in, out)                                                      \
    do {                                                                                           \
        int32_t dense[6];                                                                          \
        fill_dims(m, 6, (args)->dim);                                                              \
        call_in(call, &(args)->a,                                                                  \
                tensor(m, "a", in, operand_strides(m, 6, (args)->dim, (args)->a_stride)));         \
        call_in(call, &(args)->b,                                                                  \
                tensor(m, "b", in, operand_strides(m, 6, (args)->dim, (args)->b_stride)));         \
        call_out(call, &(args)->output,                                                            \
                 tensor(m, "output", out, dense_strides(6, (args)->dim, dense)));                  \
    } while (0)

/* The end of a store of int8, or of int16, which has no table. */
static void store_as(Maker *m, Call *call, DType dtype, int32_t *min, int32_t *max,
                     uint32_t *table) {
    if (dtype == DT_I8) {
        random_store(m, call, min, max, table);
        return;
    }
    call_absent(call, table);
    random_clamp(m, min, max);
    *min *= 256;
    *max *= 256;
}

static void operand_factors(Maker *m, CtnAddS8Args *a) {
    random_factor(m, &a->a_multiplier, &a->a_shift, -6, -1);
    random_factor(m, &a->b_multiplier, &a->b_shift, -6, -1);
    if (chance(m, 60)) /* the common scale is twice the larger one */
        half_factor(&a->a_multiplier, &a->a_shift);
    if (chance(m, 30))
        half_factor(&a->b_multiplier, &a->b_shift);
    if (chance(m, 30))
        a->b_multiplier = -a->b_multiplier;
}

static void add(Maker *m, Call *call, DType dtype) {
    CtnAddS8Args *a = call->args; /* add_s16 has the same fields */
    bool wide = dtype == DT_I16;
    BINARY_FIELDS(m, call, a, dtype, dtype);
    a->left_shift = wide ? 15 : 20;
    a->a_zero_point = wide ? 0 : random_zero_point(m);
    a->b_zero_point = wide ? 0 : random_zero_point(m);
    a->output_zero_point = wide ? 0 : random_zero_point(m);
    operand_factors(m, a);
    random_factor(m, &a->output_multiplier, &a->output_shift, wide ? -15 : -20, wide ? -12 : -17);
    store_as(m, call, dtype, &a->clamp_min, &a->clamp_max, &a->table);
}

void make_add_s8(Maker *m, Call *call) {
    add(m, call, DT_I8);
}

void make_add_s16(Maker *m, Call *call) {
    add(m, call, DT_I16);
}

static void mul(Maker *m, Call *call, DType dtype) {
    CtnMulS8Args *a = call->args;
    bool wide = dtype == DT_I16;
    BINARY_FIELDS(m, call, a, dtype, dtype);
    a->a_zero_point = wide ? 0 : random_zero_point(m);
    a->b_zero_point = wide ? 0 : random_zero_point(m);
    a->output_zero_point = wide ? 0 : random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, wide ? -15 : -9, wide ? -10 : 1);
    store_as(m, call, dtype, &a->clamp_min, &a->clamp_max, &a->table);
}

void make_mul_s8(Maker *m, Call *call) {
    mul(m, call, DT_I8);
}

void make_mul_s16(Maker *m, Call *call) {
    mul(m, call, DT_I16);
}

/* Operands of bytes or int16, a result of either, and a function of the int16 between them. */
#define MAPPED_FIELDS(m, call, a)                                                                  \
    do {                                                                                           \
        bool wide = chance(m, 60);                                                                 \
        (a)->input_bytes = wide ? 2 : 1;                                                           \
        (a)->output_bytes = chance(m, 60) ? 2 : 1;                                                 \
        BINARY_FIELDS(m, call, a, wide ? DT_I16 : DT_I8, (a)->output_bytes == 2 ? DT_I16 : DT_I8); \
        (a)->a_zero_point = wide ? 0 : random_zero_point(m);                                       \
        (a)->b_zero_point = wide ? 0 : random_zero_point(m);                                       \
        random_clamp(m, &(a)->clamp_min, &(a)->clamp_max);                                         \
        (a)->clamp_min *= 256;                                                                     \
        (a)->clamp_max *= 256;                                                                     \
        random_map(m, call, &(MapFields){&(a)->table, &(a)->start, &(a)->piece, &(a)->pieces},     \
                   (a)->output_bytes);                                                             \
    } while (0)

void make_add_map_s16(Maker *m, Call *call) {
    CtnAddMapS16Args *a = call->args;
    MAPPED_FIELDS(m, call, a);
    a->left_shift = 15;
    operand_factors(m, call->args); /* the fields of a sum come first */
    int32_t low = a->input_bytes == 2 ? -15 : -8;
    random_factor(m, &a->output_multiplier, &a->output_shift, low, m->index % 6 ? low + 3 : 1);
}

void make_mul_map_s16(Maker *m, Call *call) {
    CtnMulMapS16Args *a = call->args;
    MAPPED_FIELDS(m, call, a);
    int32_t low = a->input_bytes == 2 ? -15 : -3;
    random_factor(m, &a->multiplier, &a->shift, low, m->index % 6 ? low + 3 : 1);
}

void make_div_s8(Maker *m, Call *call) {
    CtnDivS8Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I8, DT_I8);
    a->a_zero_point = random_zero_point(m);
    a->b_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, m->index % 5 ? 0 : -14, m->index % 5 ? 8 : 31);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
}

void make_div_s16(Maker *m, Call *call) {
    CtnDivS16Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I16, DT_I16);
    random_factor(m, &a->multiplier, &a->shift, m->index % 5 ? 0 : -14, m->index % 5 ? 12 : 31);
    call_absent(call, &a->table);
    a->clamp_min = -32767;
    a->clamp_max = chance(m, 30) ? 1000 : 32767;
}

void make_minmax_s8(Maker *m, Call *call) {
    CtnMinmaxS8Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I8, DT_I8);
    random_table(m, call, &a->a_table, 50);
    random_table(m, call, &a->b_table, 50);
    a->minimum = chance(m, 50);
}

void make_minmax_s16(Maker *m, Call *call) {
    CtnMinmaxS16Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I16, DT_I16);
    random_factor(m, &a->a_multiplier, &a->a_shift, -4, 2);
    random_factor(m, &a->b_multiplier, &a->b_shift, -4, 2);
    a->minimum = chance(m, 50);
}

/* Narrow numbers, so that many pairs are equal. */
static void compare(Maker *m, Call *call, DType dtype, int32_t most) {
    CtnCompareS8Args *a = call->args;
    BINARY_FIELDS(m, call, a, dtype, DT_BOOL);
    a->a_factor = most;
    a->b_factor = chance(m, 50) ? most : between(m, 1, most);
    a->op = between(m, CTN_INTEGER_EQ, CTN_INTEGER_GE);
}

void make_compare_s8(Maker *m, Call *call) {
    CtnCompareS8Args *a = call->args;
    compare(m, call, DT_I8, 1 << 22);
    a->a_zero_point = random_zero_point(m);
    a->b_zero_point = random_zero_point(m);
}

void make_compare_s16(Maker *m, Call *call) {
    compare(m, call, DT_I16, 1 << 30);
}

void make_logical_s8(Maker *m, Call *call) {
    CtnLogicalS8Args *a = call->args;
    BINARY_FIELDS(m, call, a, DT_I8, DT_BOOL);
    a->a_zero_point = m->extreme ? -128 : random_zero_point(m);
    a->b_zero_point = m->extreme ? 127 : random_zero_point(m);
    a->op = between(m, CTN_INTEGER_LOGICAL_AND, CTN_INTEGER_LOGICAL_XOR);
}

void make_where(Maker *m, Call *call) {
    CtnWhereArgs *a = call->args;
    static const DType type[4] = {DT_I8, DT_I16, DT_I32, DT_I64};
    DType t = type[between(m, 0, 3)];
    BINARY_FIELDS(m, call, a, t, t);
    int64_t count = operand_strides(m, 6, a->dim, a->condition_stride);
    Value *condition = tensor(m, "condition", DT_BOOL, count);
    call_in(call, &a->condition, condition);
    a->element_size = dtype_size(t);
    random_table(m, call, &a->a_table, t == DT_I8 ? 50 : 0);
    random_table(m, call, &a->b_table, t == DT_I8 ? 50 : 0);
}

void make_prelu_s8(Maker *m, Call *call) {
    CtnPreluS8Args *a = call->args;
    int32_t dense[6], multiplier[8192], shift[8192];
    fill_dims(m, 6, a->dim);
    call_out(call, &a->output, tensor(m, "output", DT_I8, dense_strides(6, a->dim, dense)));
    call_in(call, &a->input,
            tensor(m, "input", DT_I8, operand_strides(m, 6, a->dim, a->in_stride)));
    int64_t slopes = 1;
    for (int d = 4; d < 6; d++) /* two dims have slopes of their own */
        slopes *= a->dim[d];
    a->channel_stride[5] = 1;
    a->channel_stride[4] = a->dim[5];
    for (int64_t i = 0; i < slopes; i++) {
        random_factor(m, &multiplier[i], &shift[i], -20, -14);
        multiplier[i] = chance(m, 20) ? -multiplier[i] : multiplier[i];
    }
    constant(call, &a->multiplier, DT_I32, slopes, multiplier);
    constant(call, &a->shift, DT_I32, slopes, shift);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->positive_multiplier, &a->positive_shift, -17, -14);
}

/* The second operand is a constant with few values, for the table's sake. */
void make_pointwise2_s8(Maker *m, Call *call) {
    CtnPointwise2S8Args *a = call->args;
    enum { ROWS = 5 };
    int32_t dense[6];
    int8_t row[16384], entry[ROWS * 256];
    fill_dims(m, 6, a->dim);
    call_out(call, &a->output, tensor(m, "output", DT_I8, dense_strides(6, a->dim, dense)));
    call_in(call, &a->a, tensor(m, "a", DT_I8, operand_strides(m, 6, a->dim, a->a_stride)));
    a->b_stride[5] = 1;
    for (int32_t i = 0; i < a->dim[5]; i++)
        row[i] = (int8_t)(between(m, 0, ROWS - 1) - 128);
    for (int i = 0; i < ROWS * 256; i++)
        entry[i] = (int8_t)next(m);
    constant(call, &a->b, DT_I8, a->dim[5], row);
    constant(call, &a->table, DT_I8, ROWS * 256, entry);
}

static const DType integer_type[6] = {DT_U8, DT_I8, DT_I16, DT_I32, DT_I64, DT_BOOL};

void make_integer(Maker *m, Call *call) {
    CtnIntegerArgs *a = call->args;
    a->op = m->index % (CTN_INTEGER_GE + 1);
    DType in = integer_type[between(m, 0, 5)], out = integer_type[between(m, 0, 5)];
    if (a->op >= CTN_INTEGER_LOGICAL_AND)
        out = DT_BOOL;
    BINARY_FIELDS(m, call, a, in, out);
    a->a_type = a->b_type = in;
    a->output_type = out;
    a->alpha = chance(m, 50) ? 1 : between(m, -9, 9);
}

void make_quantize_integer(Maker *m, Call *call) {
    CtnQuantizeIntegerArgs *a = call->args;
    DType in = integer_type[between(m, 0, 5)], out = chance(m, 70) ? DT_I8 : DT_I16;
    a->count = between(m, 0, 300);
    a->input_type = in;
    a->output_bytes = dtype_size(out);
    random_factor(m, &a->multiplier, &a->shift, m->index % 4 ? -8 : -31, m->index % 4 ? 2 : 30);
    a->limit = a->shift > 0 ? 0x7fffffff >> a->shift : 1 << 30;
    a->zero_point = out == DT_I8 ? random_zero_point(m) : 0;
    call_in(call, &a->input, tensor(m, "input", in, a->count));
    call_out(call, &a->output, tensor(m, "output", out, a->count));
}

void make_rescale(Maker *m, Call *call) {
    CtnRescaleArgs *a = call->args;
    DType in = chance(m, 50) ? DT_I8 : DT_I16, out = chance(m, 50) ? DT_I8 : DT_I16;
    a->count = between(m, 0, 300);
    a->input_bytes = dtype_size(in);
    a->output_bytes = dtype_size(out);
    a->input_zero_point = in == DT_I8 ? random_zero_point(m) : 0;
    a->output_zero_point = out == DT_I8 ? random_zero_point(m) : 0;
    random_factor(m, &a->multiplier, &a->shift, -12, m->index % 5 ? 2 : 14);
    call_in(call, &a->input, tensor(m, "input", in, a->count));
    call_out(call, &a->output, tensor(m, "output", out, a->count));
}

void make_table_s8(Maker *m, Call *call) {
    CtnTableS8Args *a = call->args;
    static const DType type[4] = {DT_I8, DT_I16, DT_I32, DT_I64};
    int k = m->index % 4 == 3 ? between(m, 1, 3) : 0;
    a->count = m->index < 20 ? m->index : between(m, 1, 300);
    a->entry_size = dtype_size(type[k]);
    uint32_t entry[512];
    for (int i = 0; i < 512; i++)
        entry[i] = next(m);
    constant(call, &a->table, type[k], 256, entry);
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->count));
    call_out(call, &a->output, tensor(m, "output", type[k], a->count));
}

void make_table_s16(Maker *m, Call *call) {
    CtnTableS16Args *a = call->args;
    a->count = between(m, 0, 300);
    int16_t entry[513];
    for (int i = 0; i < 513; i++)
        entry[i] = (int16_t)next(m);
    constant(call, &a->table, DT_I16, 513, entry);
    call_in(call, &a->input, tensor(m, "input", DT_I16, a->count));
    call_out(call, &a->output, tensor(m, "output", DT_I16, a->count));
}
