/* Weights of 4 bits for the variants: packed as the kernel for 8 bits would have them, then the
 * weights of two outputs brought into a byte or two neighbours into nibbles. */
#include "conv_dsp.h"
#include "dot_w4_dsp.h"
#include "lower/packing.h"
#include "pair_s8_mve.h"
#include "row_s8_mve.h"
#include "rows_size_s16.h"

#include <assert.h>
#include <string.h>

/* ---- the call with 8 bits ------------------------------------------------------------------ */

static const int kernels[][2] = {
    {CTN_KERNEL_conv2d_s8w4, CTN_KERNEL_conv2d_s8},
    {CTN_KERNEL_conv2d_add_s8w4, CTN_KERNEL_conv2d_add_s8},
    {CTN_KERNEL_depthwise_conv2d_s8w4, CTN_KERNEL_depthwise_conv2d_s8},
    {CTN_KERNEL_linear_s8w4, CTN_KERNEL_linear_s8},
};

static bool has_int4_weights(const Call *call) {
    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        if (kernels[i][0] == call->kernel)
            return true;
    return false;
}

static int64_t weight_count(const Call *call) {
    const CtnConv2dS8Args *v = call->args;
    const CtnDepthwiseConv2dS8Args *d = call->args;
    const CtnLinearS8Args *l = call->args;
    if (call->kernel == CTN_KERNEL_linear_s8w4)
        return (int64_t)l->columns * l->depth;
    if (call->kernel == CTN_KERNEL_depthwise_conv2d_s8w4)
        return (int64_t)d->kernel_h * d->kernel_w * d->out_c;
    return (int64_t)v->out_c * v->kernel_h * v->kernel_w * (v->in_c / v->groups);
}

/* The field of the weights has the same place in all three kernels. */
static CallRef *weight_ref(const Call *call) {
    for (int i = 0; i < call->ref_count; i++)
        if (call->ref[i].field_offset == (int)offsetof(CtnConv2dS8Args, weights))
            return &call->ref[i];
    return NULL;
}

static Buffer *bytes_of_nibbles(C *c, const Buffer *nibbles, int64_t count) {
    const uint8_t *from = nibbles->data;
    int8_t *to = c_alloc(c, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++)
        to[i] = (int8_t)(i % 2 ? from[i / 2] & 0xf0 : from[i / 2] << 4 & 0xf0);
    Buffer *b = c_memdup(c, nibbles, sizeof *b);
    b->data = to;
    b->bytes = count;
    b->element = DT_I8;
    return b;
}

/* A call of the kernel for 8 bits with the same numbers, which packing may rewrite. It stands in no
 * graph. */
static Call *call_with_bytes(const Call *call) {
    C *c = call->graph->c;
    Call *as8 = c_memdup(c, call, sizeof *as8);
    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        if (kernels[i][0] == call->kernel)
            as8->kernel = kernels[i][1];
    as8->args = c_memdup(c, call->args, (size_t)call->args_bytes);
    as8->ref = c_memdup(c, call->ref, (size_t)call->ref_count * sizeof *as8->ref);
    as8->ref_capacity = as8->ref_count;
    CallRef *weights = weight_ref(as8);
    weights->buffer = bytes_of_nibbles(c, weights->buffer, weight_count(call));
    return as8;
}

/* The call takes on what packing has made of the one with 8 bits. */
static void take_packed(Call *call, const Call *as8, const void *packed, int64_t bytes) {
    memcpy(call->args, as8->args, (size_t)call->args_bytes);
    call->ref = as8->ref;
    call->ref_count = as8->ref_count;
    call->ref_capacity = as8->ref_capacity;
    Buffer *b = weight_ref(call)->buffer;
    b->data = packed;
    b->bytes = bytes;
}

void int4_to_bytes(Call *call, const char *isa) {
    if (!has_int4_weights(call))
        return;
    Call *as8 = call_with_bytes(call);
    const Variant *v = variant_choose(as8, isa);
    if (!v->isa)
        return;
    const Buffer *bytes = weight_ref(as8)->buffer;
    Buffer *b = weight_ref(call)->buffer;
    b->data = bytes->data;
    b->bytes = bytes->bytes;
    b->element = bytes->element;
    call->kernel = as8->kernel;
    call->variant = v;
}

/* ---- two outputs a byte, for MVE ----------------------------------------------------------- */

/* 128 * 119 a product: sums of 16 * w1 + w0 fit int32 for rows of so many bytes. */
#define PAIR_DEPTH ((int64_t)1 << 17)

/* Groups of weights and parameters: vectors of 16 bytes of the first and the second of two outputs
 * become one. */
static void pack_pairs(C *c, Call *call, const Call *as8, int64_t groups, int64_t parameters) {
    const Buffer *packed = weight_ref(as8)->buffer;
    const int8_t *from = packed->data;
    int64_t weights = packed->bytes / groups - parameters;
    int64_t bytes = groups * (weights / 2 + parameters);
    int8_t *to = c_alloc(c, (size_t)bytes), *end = to;
    for (int64_t g = 0; g < groups; g++) {
        for (int64_t at = 0; at < weights; at += 32, from += 32)
            for (int i = 0; i < 16; i++)
                *end++ = (int8_t)(from[16 + i] + from[i] / 16);
        memcpy(end, from, (size_t)parameters);
        from += parameters;
        end += parameters;
    }
    assert(end - to == bytes);
    take_packed(call, as8, to, bytes);
}

bool conv2d_int4_pairs(const Call *call) {
    const CtnConv2dS8Args *a = call->args;
    int64_t window = (int64_t)a->kernel_h * (16 + (int64_t)a->kernel_w * a->in_c);
    return a->groups == 1 && window < PAIR_DEPTH && conv2d_pairs(call_with_bytes(call));
}

void pack_conv2d_int4_pairs(C *c, Graph *g, Call *call) {
    const CtnConv2dS8Args *a = call->args;
    Call *as8 = call_with_bytes(call);
    pack_conv2d_whole_pairs(c, g, as8);
    pack_pairs(c, call, as8, (a->out_c + 3) / 4, CTN_PAIR_PARAMETERS);
}

bool linear_int4_rows(const Call *call) {
    const CtnLinearS8Args *a = call->args;
    return a->depth + 16 < PAIR_DEPTH && linear_rows(call_with_bytes(call));
}

void pack_linear_int4_rows(C *c, Graph *g, Call *call) {
    const CtnLinearS8Args *a = call->args;
    Call *as8 = call_with_bytes(call);
    pack_linear_rows(c, g, as8);
    pack_pairs(c, call, as8, (a->columns + 7) / 8, CTN_ROW_PARAMETERS);
}

/* ---- two columns a byte, for DSP ----------------------------------------------------------- */

/* Four bytes each of two columns. */
static uint32_t paired(uint32_t first, uint32_t second) {
    uint32_t word = 0;
    for (int i = 0; i < 32; i += 8) {
        int b = (int8_t)(second >> i & 0xff) + (int8_t)(first >> i & 0xff) / 16 + 8;
        word |= (uint32_t)(uint8_t)b << i;
    }
    return word;
}

/* A pair of columns, or one at the end of an odd number, as dot_dsp.h has them: *from and *to move
 * behind them. */
static void pair_columns(const uint32_t **from, uint32_t **to, int count, int64_t steps) {
    const uint32_t *w = *from;
    uint32_t *end = *to;
    if (count == 1) {
        memcpy(end, w, 4 * (size_t)(steps + 3));
        *from += steps + 3;
        *to += steps + 3;
        return;
    }
    for (int64_t i = 0; i < steps; i++)
        *end++ = paired(w[2 + 2 * i], w[3 + 2 * i]);
    *end++ = w[0];
    *end++ = w[1];
    memcpy(end, w + 2 + 2 * steps, 12);
    *from += 5 + 2 * steps;
    *to = end + 3;
}

bool conv2d_int4_rows(const Call *call) {
    const CtnConv2dS8Args *a = call->args;
    CtnConvCut cut = ctn_conv_cut(a);
    return (int64_t)cut.runs * (cut.run + 3) < CTN_DOT_DEPTH_W4 &&
           conv2d_accepts_dsp(call_with_bytes(call));
}

void pack_conv2d_int4_rows(C *c, Graph *g, Call *call) {
    const CtnConv2dS8Args *a = call->args;
    Call *as8 = call_with_bytes(call);
    CtnConvCut cut = ctn_conv_cut(a);
    int32_t steps = ctn_dot_steps(cut.run) * cut.runs, columns = a->out_c / a->groups;
    conv2d_pack_dsp(c, g, as8);
    int64_t bytes = (int64_t)a->groups * ctn_dot_kind_bytes(columns, steps, 4);
    const uint32_t *from = weight_ref(as8)->buffer->data;
    uint32_t *to = c_alloc(c, (size_t)bytes), *end = to;
    for (int32_t group = 0; group < a->groups; group++)
        for (int32_t column = 0; column < columns; column += 2)
            pair_columns(&from, &end, columns - column > 1 ? 2 : 1, steps);
    assert((char *)end - (char *)to == bytes);
    take_packed(call, as8, to, bytes);
}

bool linear_int4_words(const Call *call) {
    const CtnLinearS8Args *a = call->args;
    return a->depth + 3 < CTN_DOT_DEPTH_W4 && linear_accepts_dsp(call_with_bytes(call));
}

static uint32_t *pair_four(const uint32_t *from, int64_t steps, uint32_t *to) {
    memcpy(to, from, 16);
    from += 4;
    to += 4;
    for (; steps > 0; steps--, from += 4, to += 2) {
        to[0] = paired(from[0], from[1]);
        to[1] = paired(from[2], from[3]);
    }
    memcpy(to, from, 20);
    return to + 5;
}

void pack_linear_int4_words(C *c, Graph *g, Call *call) {
    const CtnLinearS8Args *a = call->args;
    if (linear_runs_as_pixels(call)) {
        pack_as_pixels(c, g, call);
        return;
    }
    Call *as8 = call_with_bytes(call);
    linear_pack_dsp(c, g, as8);
    int64_t steps = ctn_dot_steps(a->depth), fours = a->columns / 4, left = a->columns % 4;
    int64_t rest = 4 * left * (steps + 3), bytes = fours * (36 + 8 * steps) + rest;
    const uint32_t *from = weight_ref(as8)->buffer->data;
    uint32_t *to = c_alloc(c, (size_t)bytes), *end = to;
    for (int64_t i = 0; i < fours; i++, from += 9 + 4 * steps)
        end = pair_four(from, steps, end);
    memcpy(end, from, (size_t)rest);
    take_packed(call, as8, to, bytes);
}

/* ---- two outputs a byte, for the scalar levels --------------------------------------------- */

/* Pairs of channels, filled up to a whole depth and to whole fours. */
static void pack_bytes(C *c, Call *call, int64_t channels, int64_t depth, int64_t filled) {
    const Call *as8 = call_with_bytes(call);
    const int8_t *from = weight_ref(as8)->buffer->data;
    int64_t bytes = (channels + 3) / 4 * 2 * filled;
    int8_t *to = c_calloc(c, (size_t)bytes, 1);
    for (int64_t o = 0; o < channels; o++)
        for (int64_t k = 0; k < depth; k++) {
            int8_t w = from[o * depth + k];
            int8_t *b = &to[o / 2 * filled + k];
            *b = (int8_t)(*b + (o % 2 ? w : w / 16));
        }
    CtnConv2dS8Args *a = call->args; /* the field of the weights has the same place */
    call_const(call, &a->weights, "packed", DT_I8, to, bytes, 4);
}

bool conv2d_int4_bytes(const Call *call) {
    const CtnConv2dS8Args *a = call->args;
    return a->groups == 1;
}

void pack_conv2d_int4_bytes(C *c, Graph *g, Call *call) {
    CtnConv2dS8Args *a = call->args;
    (void)g;
    int32_t depth = a->kernel_h * a->kernel_w * a->in_c, filled = ctn_rows_depth(depth);
    pack_bytes(c, call, a->out_c, depth, filled);
    if (!call_data(call, &a->bias))
        call_const(call, &a->bias, "bias", DT_I32, NEW_ARRAY(c, int32_t, a->out_c), 4LL * a->out_c,
                   4);
    call_scratch(call, &a->scratch, 4LL * filled, 4);
}

/* Bias with the input's zero point folded in: rows are read as they are. */
void pack_linear_int4_bytes(C *c, Graph *g, Call *call) {
    CtnLinearS8Args *a = call->args;
    (void)g;
    const int8_t *w = weight_ref(call_with_bytes(call))->buffer->data;
    const int32_t *bias = call_data(call, &a->bias);
    int32_t *folded = NEW_ARRAY(c, int32_t, a->columns);
    for (int64_t n = 0; n < a->columns; n++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < a->depth; k++)
            sum += w[n * a->depth + k];
        folded[n] = (int32_t)((bias ? bias[n] : 0) - sum * a->input_zero_point);
    }
    pack_bytes(c, call, a->columns, a->depth, a->depth);
    call_const(call, &a->bias, "bias", DT_I32, folded, 4LL * a->columns, 4);
}
