/* Channels that no fast store can scale: by factors of a half and more, which shift to the left.
 * Where all others could go through a fast kernel they do, with weights and factors of zero in the
 * place of these, and a second call, conv2d_channels_s8, writes what these are. */
#include "lower/factors.h"
#include "lower/memory.h"

#include <string.h>

static const struct {
    int kernel;
    bool (*columns)(const Call *call, Columns *k);
    bool transposed;
} kernels[] = {
    {CTN_KERNEL_conv2d_s8, conv2d_columns, false},
    {CTN_KERNEL_conv_transpose2d_s8, conv2d_columns, true},
    {CTN_KERNEL_depthwise_conv2d_s8, depthwise_columns, false},
    {CTN_KERNEL_linear_s8, linear_columns, false},
};

typedef struct {
    Columns all;
    bool transposed;
    int32_t count, *channel; /* those that shift to the left, ascending */
} Left;

static bool find_left(C *c, const Call *call, Left *left) {
    size_t k = 0;
    while (k < COUNT_OF(kernels) && kernels[k].kernel != call->kernel)
        k++;
    if (k == COUNT_OF(kernels) || !kernels[k].columns(call, &left->all))
        return false;
    left->transposed = kernels[k].transposed;
    left->channel = NEW_ARRAY(c, int32_t, left->all.channels + 1);
    left->count = 0;
    for (int32_t i = 0; i < left->all.channels; i++)
        if (left->all.shift[i] > -1)
            left->channel[left->count++] = i;
    return left->count > 0 && left->count < left->all.channels;
}

static uint32_t *field_at(const Call *call, const char *name) {
    return (uint32_t *)call->args + kernel_field(call->kernel, name)->offset / 4;
}

/* ---- the call of the others ------------------------------------------------------------------ */

static Call call_without(C *c, const Call *call, const Left *left) {
    const Columns *k = &left->all;
    Call others = *call;
    int64_t weights = k->channels * k->depth;
    int8_t *w = c_memdup(c, k->weights, (size_t)weights);
    int8_t *shift = c_memdup(c, k->shift, (size_t)k->channels);
    int32_t *multiplier = c_memdup(c, k->multiplier, 4 * (size_t)k->channels);
    int32_t *bias = k->bias ? c_memdup(c, k->bias, 4 * (size_t)k->channels) : NULL;
    for (int32_t i = 0; i < left->count; i++) {
        int64_t channel = left->channel[i];
        for (int64_t n = 0; n < k->depth; n++)
            w[channel * k->channel_step + n * k->depth_step] = 0;
        multiplier[channel] = 0;
        shift[channel] = -1;
        if (bias)
            bias[channel] = 0;
    }
    others.args = c_memdup(c, call->args, (size_t)call->args_bytes);
    others.ref = c_memdup(c, call->ref, sizeof *call->ref * (size_t)call->ref_count);
    others.ref_capacity = call->ref_count;
    call_const(&others, field_at(&others, "weights"), "weight", DT_I8, w, weights, 1);
    call_const(&others, field_at(&others, "shift"), "shift", DT_I8, shift, k->channels, 1);
    call_const(&others, field_at(&others, "multiplier"), "multiplier", DT_I32, multiplier,
               4 * k->channels, 4);
    if (bias)
        call_const(&others, field_at(&others, "bias"), "bias", DT_I32, bias, 4 * k->channels, 4);
    return others;
}

/* ---- the call of these channels -------------------------------------------------------------- */

static int32_t number(const Call *call, const char *name, int32_t otherwise) {
    const int32_t *p = call_ints(call, name);
    return p ? *p : otherwise;
}

/* A linear layer is one row of pixels. */
static void set_window(CtnConv2dChannelsS8Args *a, const Call *call, bool transposed) {
    int32_t rows = number(call, "rows", 1);
    int32_t stride_h = number(call, "stride_h", 1), stride_w = number(call, "stride_w", 1);
    int32_t pad_h = number(call, "pad_top", 0), pad_w = number(call, "pad_left", 0);
    int32_t dilation_h = number(call, "dilation_h", 1), dilation_w = number(call, "dilation_w", 1);
    a->batches = number(call, "batches", 1);
    a->in_h = number(call, "in_h", 1);
    a->in_w = number(call, "in_w", rows);
    a->in_c = number(call, "in_c", number(call, "depth", 1));
    a->out_h = number(call, "out_h", 1);
    a->out_w = number(call, "out_w", rows);
    a->out_c = number(call, "out_c", number(call, "columns", 1));
    a->kernel_h = number(call, "kernel_h", 1);
    a->kernel_w = number(call, "kernel_w", 1);
    a->depth = a->in_c / number(call, "groups", call->kernel == CTN_KERNEL_linear_s8 ? 1 : a->in_c);
    a->start_h = transposed ? pad_h : -pad_h;
    a->start_w = transposed ? pad_w : -pad_w;
    a->step_h = transposed ? 1 : stride_h;
    a->step_w = transposed ? 1 : stride_w;
    a->tap_h = transposed ? -dilation_h : dilation_h;
    a->tap_w = transposed ? -dilation_w : dilation_w;
    a->ratio_h = transposed ? stride_h : 1;
    a->ratio_w = transposed ? stride_w : 1;
    a->input_zero_point = *call_ints(call, "input_zero_point");
    a->output_zero_point = *call_ints(call, "output_zero_point");
    a->clamp_min = *call_ints(call, "clamp_min");
    a->clamp_max = *call_ints(call, "clamp_max");
}

static void set_constants(C *c, Call *call, const Left *left) {
    CtnConv2dChannelsS8Args *a = call->args;
    const Columns *k = &left->all;
    int64_t per_group = a->out_c / (a->in_c / a->depth);
    int64_t count = left->count;
    int8_t *weights = NEW_ARRAY(c, int8_t, count * k->depth), *w = weights;
    int8_t *shift = NEW_ARRAY(c, int8_t, count);
    int32_t *multiplier = NEW_ARRAY(c, int32_t, count), *bias = NEW_ARRAY(c, int32_t, count);
    int32_t *channels = NEW_ARRAY(c, int32_t, 2 * count);
    for (int32_t i = 0; i < count; i++) {
        int64_t channel = left->channel[i];
        for (int64_t n = 0; n < k->depth; n++)
            *w++ = k->weights[channel * k->channel_step + n * k->depth_step];
        channels[2 * i] = (int32_t)channel;
        channels[2 * i + 1] = (int32_t)(channel / per_group * a->depth);
        shift[i] = k->shift[channel];
        multiplier[i] = k->multiplier[channel];
        bias[i] = k->bias ? k->bias[channel] : 0;
    }
    a->channel_count = left->count;
    call_const(call, &a->weights, "weight", DT_I8, weights, count * k->depth, 1);
    call_const(call, &a->shift, "shift", DT_I8, shift, count, 1);
    call_const(call, &a->multiplier, "multiplier", DT_I32, multiplier, 4 * count, 4);
    call_const(call, &a->bias, "bias", DT_I32, bias, 4 * count, 4);
    call_const(call, &a->channels, "channels", DT_I32, channels, 8 * count, 4);
}

static Call *call_of(C *c, Graph *g, Call *call, const Left *left, const char *isa) {
    Call *these = call_new_behind(c, g, call, CTN_KERNEL_conv2d_channels_s8);
    CtnConv2dChannelsS8Args *a = these->args;
    set_window(a, call, left->transposed);
    set_constants(c, these, left);
    call_take(these, &a->input, call_ref_named(call, "input"));
    call_take(these, &a->output, call_ref_named(call, "output"));
    call_take(these, &a->table, call_ref_named(call, "table"));
    these->macs = call->macs * left->count / left->all.channels;
    these->variant = variant_choose(these, isa);
    return these;
}

void channels_split(C *c, Graph *g, Call *call, const Options *o) {
    Left left;
    if (call->variant->isa || !find_left(c, call, &left))
        return;
    Call others = call_without(c, call, &left);
    others.variant = variant_choose(&others, o->isa);
    if (!others.variant->isa)
        return;
    Call *these = call_of(c, g, call, &left, o->isa);
    double both = call_instructions(g, &others, o) + call_instructions(g, these, o);
    if (!(both < call_instructions(g, call, o))) {
        call_remove(g, these);
        return;
    }
    others.macs -= these->macs;
    others.next = these;
    *call = others;
}
