/* Cases of what multiplies by weights of 8 and of 4 bits: convolutions and linear layers. */
#include "fix.h"
#include "kernel/maker.h"
#include "residual_s8.h"

#include <stdlib.h>
#include <string.h>

/* what random shapes seldom hit: one pixel, blocks that come out even, first layers, padding wider
 * than the image, tails of every block size */
static const Window edges[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 4, 4, 16, 16, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 5, 5, 64, 20, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 3, 3, 33, 7, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 8, 8, 3, 8, 3, 3, 2, 2, 0, 0, 1, 1, 1, 1, 1},
    {1, 6, 7, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 12, 5, 1, 8, 10, 4, 2, 2, 4, 1, 5, 2, 1, 1, 1},
    {1, 2, 2, 4, 4, 5, 5, 1, 1, 4, 4, 4, 4, 1, 1, 1},
    {2, 5, 4, 8, 12, 3, 2, 2, 1, 1, 0, 1, 1, 2, 1, 1},
    {1, 6, 6, 8, 8, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2, 2},
    {1, 7, 7, 20, 6, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1},
    {1, 1, 9, 24, 5, 1, 3, 1, 1, 0, 1, 0, 1, 1, 1, 1},
    {1, 8, 8, 64, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 9, 9, 48, 17, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1, 1},
    {1, 10, 9, 32, 36, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {1, 16, 16, 3, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 3, 3, 300, 5, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 3, 3, 260, 4, 2, 2, 1, 1, 1, 1, 0, 0, 1, 1, 1},
    {1, 4, 60, 3, 10, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {2, 5, 33, 5, 7, 2, 3, 2, 1, 0, 1, 0, 1, 1, 1, 1},
    {1, 2, 90, 32, 2, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {1, 12, 50, 1, 33, 9, 3, 1, 1, 4, 1, 4, 1, 1, 1, 1},
    {1, 4, 40, 6, 21, 2, 2, 1, 1, 0, 0, 0, 0, 1, 2, 1},
};

static Window random_window(Maker *m) {
    Window w = {.batches = chance(m, 15) ? 2 : 1,
                .in_h = between(m, 1, 9),
                .in_w = between(m, 1, 9),
                .in_c = between(m, 1, 20),
                .out_c = between(m, 1, 20),
                .kernel_h = between(m, 1, 4),
                .kernel_w = between(m, 1, 4),
                .stride_h = between(m, 1, 3),
                .stride_w = between(m, 1, 3),
                .dilation_h = chance(m, 20) ? 2 : 1,
                .dilation_w = chance(m, 20) ? 2 : 1,
                .groups = 1};
    if (chance(m, 30))
        w.in_c = 4 * between(m, 1, 9);
    if (chance(m, 30))
        w.out_c = 4 * between(m, 1, 9);
    w.pad_top = between(m, 0, w.kernel_h - 1) * w.dilation_h;
    w.pad_bottom = between(m, 0, w.kernel_h - 1) * w.dilation_h;
    w.pad_left = between(m, 0, w.kernel_w - 1) * w.dilation_w;
    w.pad_right = between(m, 0, w.kernel_w - 1) * w.dilation_w;
    return w;
}

void fit(Window *w) {
    int32_t need_h = (w->kernel_h - 1) * w->dilation_h + 1 - w->pad_top - w->pad_bottom;
    int32_t need_w = (w->kernel_w - 1) * w->dilation_w + 1 - w->pad_left - w->pad_right;
    w->in_h = w->in_h < need_h ? need_h : w->in_h;
    w->in_w = w->in_w < need_w ? need_w : w->in_w;
}

void undilate(Window *w) {
    w->pad_top /= w->dilation_h;
    w->pad_bottom /= w->dilation_h;
    w->pad_left /= w->dilation_w;
    w->pad_right /= w->dilation_w;
    w->dilation_h = w->dilation_w = 1;
}

Window window_of(Maker *m) {
    Window w = m->index < (int)COUNT_OF(edges) ? edges[m->index] : random_window(m);
    fit(&w);
    return w;
}

int32_t out_size(int32_t in, int32_t before, int32_t after, int32_t kernel, int32_t dilation,
                 int32_t stride) {
    return (in + before + after - (kernel - 1) * dilation - 1) / stride + 1;
}

#define CHANNEL_FIELDS(m, call, a, w, depth)                                                       \
    do {                                                                                           \
        (a)->in_c = (w)->in_c;                                                                     \
        (a)->out_c = (w)->out_c;                                                                   \
        (a)->dilation_h = (w)->dilation_h;                                                         \
        (a)->dilation_w = (w)->dilation_w;                                                         \
        (a)->input_zero_point = random_zero_point(m);                                              \
        (a)->output_zero_point = random_zero_point(m);                                             \
        random_store(m, call, &(a)->clamp_min, &(a)->clamp_max, &(a)->table);                      \
        channel_constants(m, call, (a)->out_c, depth, &(a)->weights, &(a)->bias, &(a)->multiplier, \
                          &(a)->shift);                                                            \
                                                                                                   \
    } while (0)

static void conv2d(Maker *m, Call *call, bool transposed) {
    CtnConv2dS8Args *a = call->args;
    Window w = window_of(m);
    if (m->index >= (int)COUNT_OF(edges) && chance(m, 20)) {
        w.groups = between(m, 2, 3);
        w.in_c *= w.groups;
        w.out_c *= w.groups;
    }
    a->groups = w.groups;
    WINDOW_FIELDS(a, &w);
    if (transposed) {
        a->out_h = (w.in_h - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation_h + 1;
        a->out_w = (w.in_w - 1) * w.stride_w + (w.kernel_w - 1) * w.dilation_w + 1;
        a->pad_top = a->out_h > 1 ? w.pad_top % 2 : 0;
        a->pad_left = a->out_w > 1 ? w.pad_left % 2 : 0;
        a->out_h -= a->pad_top;
        a->out_w -= a->pad_left;
    }
    CHANNEL_FIELDS(m, call, a, &w, w.kernel_h * w.kernel_w * w.in_c / w.groups);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_h * a->out_w * a->out_c));
}

void make_conv2d_s8(Maker *m, Call *call) {
    conv2d(m, call, false);
}

/* Addends of any scale and sign, as add_s8 makes them. */
static void residual(Maker *m, Call *call, uint32_t *first, int64_t count) {
    CtnResidualArgs *r = (CtnResidualArgs *)(void *)first;
    int32_t addend[256], multiplier, shift;
    random_factor(m, &multiplier, &shift, -8, 0);
    multiplier = chance(m, 20) ? -multiplier : multiplier;
    int32_t zero_point = random_zero_point(m), other = random_zero_point(m);
    r->looks_up_skip = chance(m, 50);
    r->factor = chance(m, 20) ? -(1 << 19) : 1 << 19;
    for (int i = 0; i < 256; i++)
        addend[i] = ctn_add_operand(i - 128, zero_point, 20, multiplier, shift) - other * r->factor;
    random_factor(m, &r->sum_multiplier, &r->sum_shift, -21, -17);
    r->sum_zero_point = random_zero_point(m);
    random_store(m, call, &r->sum_clamp_min, &r->sum_clamp_max, &r->sum_table);
    constant(call, &r->addends, DT_I32, 256, addend);
    call_in(call, &r->skip, tensor(m, "skip", DT_I8, count));
}

void make_conv2d_add_s8(Maker *m, Call *call) {
    CtnConv2dAddS8Args *a = call->args;
    conv2d(m, call, false);
    residual(m, call, &a->skip, (int64_t)a->batches * a->out_h * a->out_w * a->out_c);
}

void make_conv_transpose2d_s8(Maker *m, Call *call) {
    conv2d(m, call, true);
}

/* Of a convolution or, each third time, of a transposed one; from one to all channels. */
void make_conv2d_channels_s8(Maker *m, Call *call) {
    CtnConv2dChannelsS8Args *a = call->args;
    Window w = window_of(m);
    bool transposed = m->index % 3 == 2;
    int32_t groups = chance(m, 30) ? between(m, 2, 3) : 1, per_group = w.out_c;
    a->depth = w.in_c;
    w.in_c *= groups;
    w.out_c *= groups;
    a->batches = w.batches;
    a->in_h = w.in_h;
    a->in_w = w.in_w;
    a->in_c = w.in_c;
    a->out_c = w.out_c;
    a->kernel_h = w.kernel_h;
    a->kernel_w = w.kernel_w;
    a->out_h = transposed ? (w.in_h - 1) * w.stride_h + w.kernel_h
                          : out_size(w.in_h, w.pad_top, w.pad_bottom, w.kernel_h, w.dilation_h,
                                     w.stride_h);
    a->out_w = transposed ? (w.in_w - 1) * w.stride_w + w.kernel_w
                          : out_size(w.in_w, w.pad_left, w.pad_right, w.kernel_w, w.dilation_w,
                                     w.stride_w);
    a->start_h = transposed ? w.pad_top : -w.pad_top;
    a->start_w = transposed ? w.pad_left : -w.pad_left;
    a->step_h = transposed ? 1 : w.stride_h;
    a->step_w = transposed ? 1 : w.stride_w;
    a->tap_h = transposed ? -w.dilation_h : w.dilation_h;
    a->tap_w = transposed ? -w.dilation_w : w.dilation_w;
    a->ratio_h = transposed ? w.stride_h : 1;
    a->ratio_w = transposed ? w.stride_w : 1;
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    int32_t *channel = NEW_ARRAY(m->c, int32_t, 2 * w.out_c), percent = between(m, 0, 100);
    a->channel_count = 0;
    for (int32_t i = 0; i < w.out_c; i++)
        if (chance(m, percent) || (a->channel_count == 0 && i == w.out_c - 1)) {
            channel[2 * a->channel_count] = i;
            channel[2 * a->channel_count++ + 1] = i / per_group * a->depth;
        }
    constant(call, &a->channels, DT_I32, 2 * a->channel_count, channel);
    channel_constants(m, call, a->channel_count, (int64_t)w.kernel_h * w.kernel_w * a->depth,
                      &a->weights, &a->bias, &a->multiplier, &a->shift);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, (int64_t)a->batches * a->out_h * a->out_w * a->out_c));
}

void make_depthwise_conv2d_s8(Maker *m, Call *call) {
    CtnDepthwiseConv2dS8Args *a = call->args;
    Window w = window_of(m);
    w.out_c = w.in_c * (chance(m, 70) ? 1 : between(m, 2, 3));
    WINDOW_FIELDS(a, &w);
    CHANNEL_FIELDS(m, call, a, &w, w.kernel_h * w.kernel_w);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_h * a->out_w * a->out_c));
}

void make_conv3d_s8(Maker *m, Call *call) {
    CtnConv3dS8Args *a = call->args;
    Window w = window_of(m);
    w.in_c = w.in_c % 6 + 1;
    w.out_c = w.out_c % 6 + 1;
    WINDOW_FIELDS(a, &w);
    a->in_d = between(m, 2, 4);
    a->kernel_d = between(m, 1, 3);
    a->stride_d = between(m, 1, 2);
    a->dilation_d = 1;
    a->pad_front = between(m, 0, a->kernel_d - 1);
    a->out_d = out_size(a->in_d, a->pad_front, 1, a->kernel_d, 1, a->stride_d);
    a->groups = 1;
    CHANNEL_FIELDS(m, call, a, &w, a->kernel_d * w.kernel_h * w.kernel_w * w.in_c);
    call_in(call, &a->input,
            tensor(m, "input", DT_I8, w.batches * a->in_d * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I8, a->batches * a->out_d * a->out_h * a->out_w * a->out_c));
}

void make_linear_s8(Maker *m, Call *call) {
    static const int32_t shape[][3] = {{1, 1, 1},    {1, 16, 4},  {1, 64, 12},
                                       {1, 640, 16}, {3, 37, 10}, {2, 128, 8},
                                       {1, 15, 5},   {4, 4, 4},   {5, 600, 7}};
    CtnLinearS8Args *a = call->args;
    bool edge = m->index < (int)COUNT_OF(shape);
    a->rows = edge ? shape[m->index][0] : between(m, 1, 5);
    a->depth = edge ? shape[m->index][1] : between(m, 1, 100);
    a->columns = edge ? shape[m->index][2] : between(m, 1, 24);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    channel_constants(m, call, a->columns, a->depth, &a->weights, &a->bias, &a->multiplier,
                      &a->shift);
    call_absent(call, &a->scratch);
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->rows * a->depth));
    call_out(call, &a->output, tensor(m, "output", DT_I8, a->rows * a->columns));
}
