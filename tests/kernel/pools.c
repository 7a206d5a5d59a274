/* Cases of pools, sums, products of activations and softmax; quantizing at the boundary. */
#include "kernel/maker.h"

#include <stdlib.h>
#include <string.h>

void make_max_pool2d_s8(Maker *m, Call *call) {
    CtnMaxPool2dS8Args *a = call->args;
    Window w = window_of(m);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->dilation_h = w.dilation_h;
    a->dilation_w = w.dilation_w;
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_h * a->out_w * w.in_c));
}

void make_avg_pool2d_s8(Maker *m, Call *call) {
    CtnAvgPool2dS8Args *a = call->args;
    Window w = window_of(m);
    undilate(&w);
    if (m->index == 0) { /* more taps than int16 sums */
        w.in_h = w.kernel_h = 17;
        w.in_w = w.kernel_w = 18;
        w.in_c = 21;
    }
    fit(&w);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->pad_bottom = w.pad_bottom;
    a->pad_right = w.pad_right;
    a->include_padding = chance(m, 50);
    a->divisor = chance(m, 20) ? between(m, 1, 20) : 0;
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = a->input_zero_point;
    if (chance(m, 40)) {
        random_factor(m, &a->multiplier, &a->shift, -2, 1);
        a->output_zero_point = random_zero_point(m);
    }
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_h * a->out_w * w.in_c));
}

/* Some dims of a dense tensor of rank 5 are reduced. */
int64_t split_dims(Maker *m, int32_t *dim, int32_t *stride, int32_t *reduced,
                   int32_t *reduced_stride, int64_t *outputs) {
    int32_t size[5], dense[5];
    int kept = 0, gone = 0;
    for (int d = 0; d < 6; d++) {
        dim[d] = reduced[d] = 1;
        stride[d] = reduced_stride[d] = 0;
    }
    for (int d = 0; d < 5; d++)
        size[d] = !m->large ? between(m, 1, 5) : d < 2 ? 1 : between(m, 2, 20);
    int64_t count = dense_strides(5, size, dense);
    *outputs = 1;
    for (int d = 4; d >= 0; d--) {
        if (chance(m, 50)) {
            reduced[5 - gone] = size[d];
            reduced_stride[5 - gone++] = dense[d];
        } else {
            dim[5 - kept] = size[d];
            stride[5 - kept++] = dense[d];
            *outputs *= size[d];
        }
    }
    return count;
}

void make_reduce_sum_s8(Maker *m, Call *call) {
    CtnReduceSumS8Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, -9, 1);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_in(call, &a->input, tensor(m, "input", DT_I8, count));
    call_out(call, &a->output, tensor(m, "output", DT_I8, outputs));
}

void make_reduce_max_s8(Maker *m, Call *call) {
    CtnReduceMaxS8Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    a->mode = between(m, 0, 1);
    random_table(m, call, &a->table, 30);
    call_in(call, &a->input, tensor(m, "input", DT_I8, count));
    call_out(call, &a->output, tensor(m, "output", DT_I8, outputs));
}

void make_reduce_max_s16(Maker *m, Call *call) {
    CtnReduceMaxS16Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    a->mode = between(m, 0, 1);
    call_in(call, &a->input, tensor(m, "input", DT_I16, count));
    call_out(call, &a->output, tensor(m, "output", DT_I16, outputs));
}

void make_matmul_s8(Maker *m, Call *call) {
    CtnMatmulS8Args *a = call->args;
    a->rows = between(m, 1, 9);
    a->depth = between(m, 1, 40);
    a->columns = between(m, 1, 9);
    if (m->index == 0) { /* more columns than a variant packs at a time */
        a->depth = 300;
        a->columns = 25;
    }
    if (m->index == 1)
        a->columns = 1;
    for (int d = 0; d < 4; d++)
        a->batch[d] = d == 0 && chance(m, 50) ? 2 : 1;
    int64_t lhs = a->rows * a->depth, rhs = a->depth * a->columns;
    bool shared = chance(m, 30), lhs_turned = chance(m, 30), rhs_turned = chance(m, 50);
    a->lhs_batch_stride[0] = (int32_t)lhs;
    a->rhs_batch_stride[0] = shared ? 0 : (int32_t)rhs;
    a->lhs_row_stride = lhs_turned ? 1 : a->depth;
    a->lhs_depth_stride = lhs_turned ? a->rows : 1;
    a->rhs_depth_stride = rhs_turned ? 1 : a->columns;
    a->rhs_column_stride = rhs_turned ? a->depth : 1;
    a->lhs_zero_point = random_zero_point(m);
    a->rhs_zero_point = chance(m, 30) ? 0 : random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, -12, -5);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_absent(call, &a->scratch);
    call_in(call, &a->lhs, tensor(m, "lhs", DT_I8, a->batch[0] * lhs));
    call_in(call, &a->rhs, tensor(m, "rhs", DT_I8, shared ? rhs : a->batch[0] * rhs));
    call_out(call, &a->output, tensor(m, "output", DT_I8, a->batch[0] * a->rows * a->columns));
}

void make_softmax_s8(Maker *m, Call *call) {
    CtnSoftmaxS8Args *a = call->args;
    a->rows = between(m, 1, 4);
    a->row_size = m->index == 0 ? 1 : m->index == 1 ? 1500 : between(m, 1, 80);
    softmax_fields(m, &a->multiplier, &a->shift, &a->diff_min);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->rows * a->row_size));
    call_out(call, &a->output, tensor(m, "output", DT_I8, a->rows * a->row_size));
}

static int32_t float_bits(float f) {
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void quantize(Maker *m, Call *call, DType type) {
    CtnQuantizeS8Args *a = call->args;
    a->count = between(m, 0, 60);
    /* inputs are random bits, thus of any magnitude, infinite and NaN included */
    a->inverse_scale = float_bits((float)between(m, 1, 4000) / 256.0f);
    a->zero_point = type == DT_I16 ? 0 : random_zero_point(m);
    call_in(call, &a->input, tensor(m, "floats", DT_F32, a->count));
    call_out(call, &a->output, tensor(m, "output", type, a->count));
}

void make_quantize_s8(Maker *m, Call *call) {
    quantize(m, call, DT_I8);
}

void make_quantize_s16(Maker *m, Call *call) {
    quantize(m, call, DT_I16);
}

static void dequantize(Maker *m, Call *call, DType type) {
    CtnDequantizeS8Args *a = call->args;
    a->count = between(m, 0, 60);
    a->scale = float_bits((float)between(m, 1, 4000) / 4096.0f);
    a->zero_point = type == DT_I16 ? 0 : random_zero_point(m);
    call_in(call, &a->input, tensor(m, "input", type, a->count));
    call_out(call, &a->output, tensor(m, "output", DT_F32, a->count));
}

void make_dequantize_s8(Maker *m, Call *call) {
    dequantize(m, call, DT_I8);
}

void make_dequantize_s16(Maker *m, Call *call) {
    dequantize(m, call, DT_I16);
}
