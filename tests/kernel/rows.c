/* Cases of kernels that go along rows or over planes: running sums, places of extrema, reductions
 * of integers, softmax with a mask or as a logarithm, pools of a given output size. */
#include "kernel/maker.h"

#include <math.h>
#include <string.h>

int64_t line_fields(Maker *m, int32_t dim[6], int32_t stride[6], int32_t *count, int32_t *step) {
    int32_t inner = between(m, 1, 4), outer = between(m, 1, 4);
    *count = m->index == 0 ? 900 : between(m, 1, 30);
    *step = inner;
    for (int d = 0; d < 6; d++) {
        dim[d] = 1;
        stride[d] = 0;
    }
    dim[4] = outer;
    stride[4] = *count * inner;
    dim[5] = inner;
    stride[5] = 1;
    return (int64_t)outer * *count * inner;
}

void make_argmax(Maker *m, Call *call) {
    CtnArgmaxArgs *a = call->args;
    int64_t count = line_fields(m, a->dim, a->in_stride, &a->count, &a->stride);
    a->mode = between(m, 0, 1);
    a->input_bytes = between(m, 1, 2);
    call_in(call, &a->input, tensor(m, "input", a->input_bytes == 2 ? DT_I16 : DT_I8, count));
    call_out(call, &a->output, tensor(m, "output", DT_I64, count / a->count));
}

void make_cumsum_s8(Maker *m, Call *call) {
    CtnCumsumS8Args *a = call->args;
    int64_t count = line_fields(m, a->dim, a->in_stride, &a->count, &a->in_step);
    memcpy(a->out_stride, a->in_stride, sizeof a->out_stride);
    a->out_step = a->in_step;
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, -9, 1);
    call_in(call, &a->input, tensor(m, "input", DT_I8, count));
    call_out(call, &a->output, tensor(m, "output", DT_I8, count));
}

#define PLANES(m, a)                                                                               \
    do {                                                                                           \
        (a)->batches = between(m, 1, 2);                                                           \
        (a)->channels = between(m, 1, 5);                                                          \
        (a)->in_h = between(m, 1, 12);                                                             \
        (a)->in_w = between(m, 1, 12);                                                             \
        (a)->out_h = between(m, 1, 7);                                                             \
        (a)->out_w = between(m, 1, 7);                                                             \
    } while (0)

void make_adaptive_pool2d_s8(Maker *m, Call *call) {
    CtnAdaptivePool2dS8Args *a = call->args;
    PLANES(m, a);
    a->mode = between(m, 0, 1);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    if (chance(m, 60))
        random_factor(m, &a->multiplier, &a->shift, -2, 1);
    random_clamp(m, &a->clamp_min, &a->clamp_max);
    call_absent(call, &a->table);
    int64_t planes = (int64_t)a->batches * a->channels;
    call_in(call, &a->input, tensor(m, "input", DT_I8, planes * a->in_h * a->in_w));
    call_out(call, &a->output, tensor(m, "output", DT_I8, planes * a->out_h * a->out_w));
}

void make_adaptive_max_indices_s8(Maker *m, Call *call) {
    CtnAdaptiveMaxIndicesS8Args *a = call->args;
    PLANES(m, a);
    int64_t planes = (int64_t)a->batches * a->channels;
    call_in(call, &a->input, tensor(m, "input", DT_I8, planes * a->in_h * a->in_w));
    call_out(call, &a->output, tensor(m, "output", DT_I64, planes * a->out_h * a->out_w));
}

void make_max_pool2d_indices_s8(Maker *m, Call *call) {
    CtnMaxPool2dIndicesS8Args *a = call->args;
    Window w = window_of(m);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->dilation_h = w.dilation_h;
    a->dilation_w = w.dilation_w;
    call_in(call, &a->input,
            tensor(m, "input", DT_I8, (int64_t)w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I64, (int64_t)a->batches * a->out_h * a->out_w * w.in_c));
}

void make_reduce_int(Maker *m, Call *call) {
    static const DType types[] = {DT_I8, DT_I32, DT_I64};
    CtnReduceIntArgs *a = call->args;
    int64_t outputs;
    int64_t count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    DType in = types[between(m, 0, 2)], out = types[between(m, 0, 2)];
    a->in_size = dtype_size(in);
    a->out_size = dtype_size(out);
    a->mode = between(m, 0, 2);
    call_in(call, &a->input, tensor(m, "input", in, count));
    call_out(call, &a->output, tensor(m, "output", out, outputs));
}

void softmax_fields(Maker *m, int32_t *multiplier, int32_t *shift, int32_t *diff_min) {
    *multiplier = between(m, 1 << 30, 0x7fffffff);
    *shift = m->large ? between(m, 21, 23) : between(m, 17, 24);
    int64_t reach = (int64_t)31 << (31 - 5 - *shift);
    *diff_min = reach > 255 ? -255 : (int32_t)-reach;
}

void make_masked_softmax_s8(Maker *m, Call *call) {
    CtnMaskedSoftmaxS8Args *a = call->args;
    a->rows = between(m, 1, 6);
    a->row_size = m->index == 0 ? 1 : m->index == 1 ? 1500 : between(m, 1, 80);
    softmax_fields(m, &a->multiplier, &a->shift, &a->diff_min);
    a->mask_rows = chance(m, 50) ? 1 : a->rows;
    a->mask_hides = between(m, 0, 1);
    a->output_zero_point = -128;
    a->output_multiplier = between(m, 1 << 30, 0x7fffffff); /* probabilities are Q.24 */
    a->output_shift = between(m, -17, -14);
    if (chance(m, 60))
        call_in(call, &a->mask, tensor(m, "mask", DT_BOOL, (int64_t)a->mask_rows * a->row_size));
    else
        call_absent(call, &a->mask);
    call_in(call, &a->input, tensor(m, "input", DT_I8, (int64_t)a->rows * a->row_size));
    call_out(call, &a->output, tensor(m, "output", DT_I8, (int64_t)a->rows * a->row_size));
}

void make_log_softmax_s8(Maker *m, Call *call) {
    CtnLogSoftmaxS8Args *a = call->args;
    a->rows = between(m, 1, 4);
    a->row_size = m->index == 0 ? 1 : m->index == 1 ? 1500 : between(m, 1, 80);
    softmax_fields(m, &a->multiplier, &a->shift, &a->diff_min);
    double scale = ldexp(a->multiplier, a->shift - 31 - 26);
    double step = scale * between(m, 256, 1024) / 256;
    a->output_zero_point = between(m, 0, 127);
    multiplier_from(scale / step, &a->ratio_multiplier, &a->ratio_shift);
    multiplier_from(ldexp(1, 8 - 26) / step, &a->log_multiplier, &a->log_shift);
    call_in(call, &a->input, tensor(m, "input", DT_I8, (int64_t)a->rows * a->row_size));
    call_out(call, &a->output, tensor(m, "output", DT_I8, (int64_t)a->rows * a->row_size));
}
