/* Cases of kernels on float32. Numbers are near one, a few of them any bits, infinities and NaN
 * among them. */
#include "kernel/maker.h"

#include <string.h>

static int32_t float_bits(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float number(Maker *m) {
    return (float)between(m, -4000, 4000) / 1024.0f;
}

static void numbers(Maker *m, Call *call, uint32_t *field, int64_t count) {
    float *x = NEW_ARRAY(m->c, float, count);
    for (int64_t i = 0; i < count; i++)
        x[i] = number(m);
    constant(call, field, DT_F32, count, x);
}

static void maybe_numbers(Maker *m, Call *call, uint32_t *field, int64_t count) {
    if (chance(m, 70))
        numbers(m, call, field, count);
    else
        call_absent(call, field);
}

void make_conv_f32(Maker *m, Call *call) {
    CtnConvF32Args *a = call->args;
    Window w = window_of(m);
    m->near_one = true;
    a->transposed = chance(m, 30);
    a->groups = chance(m, 20) ? 2 : 1;
    a->batches = w.batches;
    a->in_c = (w.in_c % 8 + 1) * a->groups;
    a->out_c = (w.out_c % 8 + 1) * a->groups;
    const int32_t in[3] = {between(m, 1, 2), w.in_h, w.in_w};
    const int32_t kernel[3] = {1, w.kernel_h % 4 + 1, w.kernel_w % 4 + 1};
    const int32_t stride[3] = {1, w.stride_h, w.stride_w};
    const int32_t dilation[3] = {1, w.dilation_h, w.dilation_w};
    int64_t outputs = a->batches * a->out_c, inputs = a->batches * a->in_c, taps = 1;
    for (int d = 0; d < 3; d++) {
        a->in[d] = in[d];
        a->kernel[d] = kernel[d];
        a->stride[d] = stride[d];
        a->dilation[d] = dilation[d];
        a->pad[d] = between(m, 0, kernel[d] - 1);
        a->out[d] = between(m, 1, 9); /* reads nothing beyond the input, whatever it is */
        outputs *= a->out[d];
        inputs *= in[d];
        taps *= kernel[d];
    }
    numbers(m, call, &a->weights, a->out_c * taps * a->in_c / a->groups);
    maybe_numbers(m, call, &a->bias, a->out_c);
    call_in(call, &a->input, tensor(m, "input", DT_F32, inputs));
    call_out(call, &a->output, tensor(m, "output", DT_F32, outputs));
}

void make_matmul_f32(Maker *m, Call *call) {
    CtnMatmulF32Args *a = call->args;
    m->near_one = true;
    int32_t lhs[4], rhs[4];
    for (int d = 0; d < 4; d++)
        a->batch[d] = chance(m, 30) ? between(m, 0, 3) : 1;
    a->rows = between(m, 1, 5);
    a->depth = between(m, 1, 30);
    a->columns = between(m, 1, 9);
    bool turned = chance(m, 50);
    int64_t batches = dense_strides(4, a->batch, lhs);
    dense_strides(4, a->batch, rhs);
    for (int d = 0; d < 4; d++) {
        a->lhs_batch_stride[d] = lhs[d] * a->rows * a->depth;
        a->rhs_batch_stride[d] = rhs[d] * a->columns * a->depth;
    }
    a->lhs_row_stride = a->depth;
    a->lhs_depth_stride = 1;
    a->rhs_depth_stride = turned ? 1 : a->columns;
    a->rhs_column_stride = turned ? a->depth : 1;
    maybe_numbers(m, call, &a->bias, a->columns);
    call_in(call, &a->lhs, tensor(m, "lhs", DT_F32, batches * a->rows * a->depth));
    call_in(call, &a->rhs, tensor(m, "rhs", DT_F32, batches * a->columns * a->depth));
    call_out(call, &a->output, tensor(m, "output", DT_F32, batches * a->rows * a->columns));
}

void make_pool_f32(Maker *m, Call *call) {
    CtnPoolF32Args *a = call->args;
    Window w = window_of(m);
    m->near_one = true;
    a->mode = between(m, 0, 2);
    a->adaptive = chance(m, 30);
    a->include_padding = chance(m, 50);
    if (a->mode == 0)
        undilate(&w);
    fit(&w);
    a->batches = w.batches;
    a->channels = w.in_c;
    const int32_t in[2] = {w.in_h, w.in_w}, kernel[2] = {w.kernel_h, w.kernel_w};
    const int32_t stride[2] = {w.stride_h, w.stride_w}, before[2] = {w.pad_top, w.pad_left};
    const int32_t after[2] = {w.pad_bottom, w.pad_right}, gap[2] = {w.dilation_h, w.dilation_w};
    for (int d = 0; d < 2; d++) {
        a->in[d] = in[d];
        a->kernel[d] = kernel[d];
        a->stride[d] = stride[d];
        a->pad_before[d] = before[d];
        a->pad_after[d] = after[d];
        a->dilation[d] = gap[d];
        a->out[d] = a->adaptive
                        ? between(m, 1, 7)
                        : out_size(in[d], before[d], after[d], kernel[d], gap[d], stride[d]);
    }
    int64_t planes = (int64_t)a->batches * a->channels;
    call_in(call, &a->input, tensor(m, "input", DT_F32, planes * a->in[0] * a->in[1]));
    call_out(call, &a->output,
             tensor(m, "output", a->mode == 2 ? DT_I64 : DT_F32, planes * a->out[0] * a->out[1]));
}

void make_reduce_f32(Maker *m, Call *call) {
    CtnReduceF32Args *a = call->args;
    int64_t outputs;
    m->near_one = true;
    int64_t count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    a->mode = between(m, 0, 4);
    a->factor = float_bits(number(m));
    call_in(call, &a->input, tensor(m, "input", DT_F32, count));
    call_out(call, &a->output, tensor(m, "output", a->mode > 2 ? DT_I64 : DT_F32, outputs));
}

void make_cumsum_f32(Maker *m, Call *call) {
    CtnCumsumF32Args *a = call->args;
    m->near_one = true;
    int64_t count = line_fields(m, a->dim, a->in_stride, &a->count, &a->in_step);
    memcpy(a->out_stride, a->in_stride, sizeof a->out_stride);
    a->out_step = a->in_step;
    call_in(call, &a->input, tensor(m, "input", DT_F32, count));
    call_out(call, &a->output, tensor(m, "output", DT_F32, count));
}

void make_softmax_f32(Maker *m, Call *call) {
    CtnSoftmaxF32Args *a = call->args;
    m->near_one = true;
    a->rows = between(m, 1, 4);
    a->row_size = between(m, 1, 40);
    a->mask_rows = chance(m, 50) ? 1 : a->rows;
    a->mask_hides = between(m, 0, 1);
    a->beta = float_bits(number(m));
    a->logarithm = chance(m, 50);
    call_absent(call, &a->mask);
    if (chance(m, 50))
        call_in(call, &a->mask, tensor(m, "mask", DT_BOOL, (int64_t)a->mask_rows * a->row_size));
    call_in(call, &a->input, tensor(m, "input", DT_F32, (int64_t)a->rows * a->row_size));
    call_out(call, &a->output, tensor(m, "output", DT_F32, (int64_t)a->rows * a->row_size));
}

/* Groups of neighbours, or of what lies a number of groups apart. */
void make_layer_norm_f32(Maker *m, Call *call) {
    CtnLayerNormF32Args *a = call->args;
    m->near_one = true;
    for (int d = 0; d < 4; d++) {
        a->dim[d] = a->reduced[d] = 1;
        a->stride[d] = a->parameter_stride[d] = 0;
        a->reduced_stride[d] = a->reduced_parameter_stride[d] = 0;
    }
    bool apart = chance(m, 40);
    a->dim[3] = between(m, 1, 9);
    a->count = a->reduced[3] = between(m, 1, 50);
    a->stride[3] = apart ? 1 : a->count;
    a->parameter_stride[3] = apart;
    a->reduced_stride[3] = apart ? a->dim[3] : 1;
    a->reduced_parameter_stride[3] = !apart;
    a->centered = chance(m, 80);
    a->epsilon = float_bits(1e-5f);
    maybe_numbers(m, call, &a->gamma, apart ? a->dim[3] : a->count);
    maybe_numbers(m, call, &a->beta, apart ? a->dim[3] : a->count);
    int64_t count = (int64_t)a->dim[3] * a->count;
    call_in(call, &a->input, tensor(m, "input", DT_F32, count));
    call_out(call, &a->output, tensor(m, "output", DT_F32, count));
}

static void places(Maker *m, Call *call, uint32_t *field, int64_t count, int32_t size) {
    int32_t *place = NEW_ARRAY(m->c, int32_t, count);
    for (int64_t i = 0; i < count; i++)
        place[i] = between(m, 0, size - 1);
    constant(call, field, DT_I32, count, place);
}

void make_resample2d_f32(Maker *m, Call *call) {
    CtnResample2dF32Args *a = call->args;
    m->near_one = true;
    a->batches = between(m, 0, 2);
    a->in_h = between(m, 1, 6);
    a->in_w = between(m, 1, 6);
    a->channels = between(m, 1, 5);
    a->out_h = between(m, 1, 9);
    a->out_w = between(m, 1, 9);
    a->taps = chance(m, 50) ? 2 : 4;
    places(m, call, &a->row_index, a->out_h * a->taps, a->in_h);
    places(m, call, &a->column_index, a->out_w * a->taps, a->in_w);
    numbers(m, call, &a->row_weight, a->out_h * a->taps);
    numbers(m, call, &a->column_weight, a->out_w * a->taps);
    int64_t planes = (int64_t)a->batches * a->channels;
    call_in(call, &a->input, tensor(m, "input", DT_F32, planes * a->in_h * a->in_w));
    call_out(call, &a->output, tensor(m, "output", DT_F32, planes * a->out_h * a->out_w));
}

/* Places up to four times as far out as the edges. */
void make_grid_sample2d_f32(Maker *m, Call *call) {
    CtnGridSample2dF32Args *a = call->args;
    m->near_one = true;
    a->batches = between(m, 0, 2);
    a->channels = between(m, 1, 4);
    a->in_h = between(m, 1, 6);
    a->in_w = between(m, 1, 6);
    a->places = between(m, 1, 30);
    a->nearest = chance(m, 40);
    a->align_corners = chance(m, 50);
    a->border = chance(m, 40);
    a->reflect = !a->border && chance(m, 50);
    int64_t planes = (int64_t)a->batches * a->channels;
    call_in(call, &a->input, tensor(m, "input", DT_F32, planes * a->in_h * a->in_w));
    call_in(call, &a->grid, tensor(m, "grid", DT_F32, 2LL * a->batches * a->places));
    call_out(call, &a->output, tensor(m, "output", DT_F32, planes * a->places));
}

/* The places, then the values behind them: one tensor, which tests compare as bytes. */
void make_sort_f32(Maker *m, Call *call) {
    CtnSortF32Args *a = call->args;
    m->near_one = true;
    a->outer = between(m, 0, 3);
    a->count = between(m, 1, 30);
    a->inner = between(m, 1, 3);
    a->descending = chance(m, 50);
    bool one = chance(m, 30);
    a->keep = one ? a->count : between(m, 1, a->count);
    a->pick = one ? between(m, 0, a->count - 1) : -1;
    int64_t kept = (int64_t)a->outer * a->inner * (one ? 1 : a->keep);
    Value *all = tensor(m, "output", DT_I64, kept + (kept + 1) / 2);
    call_out(call, &a->output, all);
    call_absent(call, &a->values);
    if (chance(m, 80))
        call_out_at(call, &a->values, all, 8 * kept);
    call_scratch(call, &a->scratch, 4LL * a->keep, 4);
    call_in(call, &a->input, tensor(m, "input", DT_F32, (int64_t)a->outer * a->count * a->inner));
}

/* ---- programs ------------------------------------------------------------------------------ */

enum { LENGTH = 24, CONSTANTS = 4, STACK = 8 };

typedef struct {
    uint8_t code[LENGTH + 2 * STACK];
    int length, height; /* of the stack */
} Program;

static void put(Program *p, int op, int constant, int more) {
    p->code[p->length++] = (uint8_t)op;
    p->code[p->length++] = (uint8_t)constant;
    p->height += more;
}

static bool takes_two(int op) {
    return (op >= CTN_FLOAT_ADD && op <= CTN_FLOAT_COPYSIGN) ||
           (op >= CTN_FLOAT_FMOD && op <= CTN_FLOAT_ATAN2);
}

/* Operators as the stack allows them, then a sum of what is left on it. */
static Program program_of(Maker *m, int last) {
    Program p = {.length = 0};
    int length = 2 * between(m, 1, LENGTH / 2);
    while (p.length < length) {
        int op = chance(m, 40) ? between(m, CTN_FLOAT_A, CTN_FLOAT_CONSTANT)
                               : between(m, CTN_FLOAT_DUPLICATE, last);
        if (op <= CTN_FLOAT_DUPLICATE) {
            if (p.height < STACK && (op < CTN_FLOAT_DUPLICATE || p.height > 0))
                put(&p, op, between(m, 0, CONSTANTS - 1), 1);
        } else if (op == CTN_FLOAT_SELECT) {
            if (p.height > 2)
                put(&p, op, 0, -2);
        } else if (takes_two(op)) {
            if (p.height > 1)
                put(&p, op, 0, -1);
        } else if (p.height > 0) {
            put(&p, op, 0, 0);
        }
    }
    while (p.height > 1)
        put(&p, CTN_FLOAT_ADD, 0, -1);
    return p;
}

static void program(Maker *m, Call *call, int last) {
    static const DType type[] = {DT_U8, DT_I8, DT_I16, DT_I32, DT_I64, DT_BOOL};
    CtnProgramF32Args *a = call->args;
    int32_t dense[6];
    m->near_one = true;
    fill_dims(m, 6, a->dim);
    int64_t count = dense_strides(6, a->dim, dense);
    uint32_t *field[3] = {&a->a, &a->b, &a->c};
    int32_t *stride[3] = {a->a_stride, a->b_stride, a->c_stride};
    int32_t *types[3] = {&a->a_type, &a->b_type, &a->c_type};
    for (int i = 0; i < 3; i++) {
        DType in = chance(m, 70) ? DT_F32 : type[between(m, 0, COUNT_OF(type) - 1)];
        int64_t size = chance(m, 80) ? count : 1;
        for (int d = 0; d < 6; d++)
            stride[i][d] = size == count ? dense[d] : 0;
        *types[i] = in;
        call_absent(call, field[i]);
        if (chance(m, 80))
            call_in(call, field[i], tensor(m, "operand", in, size));
    }
    Program p = program_of(m, last);
    a->length = p.length;
    a->output_type = chance(m, 70) ? DT_F32 : type[between(m, 0, COUNT_OF(type) - 1)];
    constant(call, &a->program, DT_U8, p.length, p.code);
    numbers(m, call, &a->constants, CONSTANTS);
    call_out(call, &a->output, tensor(m, "output", (DType)a->output_type, count));
}

void make_program_f32(Maker *m, Call *call) {
    program(m, call, CTN_FLOAT_ATANH);
}

void make_program_erf_f32(Maker *m, Call *call) {
    program(m, call, CTN_FLOAT_ERFC);
}

void make_program_exp_f32(Maker *m, Call *call) {
    program(m, call, CTN_FLOAT_SIGMOID);
}

void make_program_basic_f32(Maker *m, Call *call) {
    program(m, call, CTN_FLOAT_SQRT);
}
