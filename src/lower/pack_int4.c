/* Weights of 4 bits for the variants: packed as the kernel for 8 bits would have them, then the
 * weights of two outputs brought into a byte or two neighbours into nibbles. */
#include "lower/packing.h"
#include "pair_s8_mve.h"
#include "row_s8_mve.h"

#include <assert.h>
#include <string.h>

/* ---- the call with 8 bits ------------------------------------------------------------------ */

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
        to[i] = (int8_t)(((from[i / 2] >> (i % 2 ? 4 : 0) & 15) ^ 8) - 8);
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
    static const int kernel[][2] = {
        {CTN_KERNEL_conv2d_s8w4, CTN_KERNEL_conv2d_s8},
        {CTN_KERNEL_depthwise_conv2d_s8w4, CTN_KERNEL_depthwise_conv2d_s8},
        {CTN_KERNEL_linear_s8w4, CTN_KERNEL_linear_s8}};
    Call *as8 = c_memdup(c, call, sizeof *as8);
    for (size_t i = 0; i < COUNT_OF(kernel); i++)
        if (kernel[i][0] == call->kernel)
            as8->kernel = kernel[i][1];
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
                *end++ = (int8_t)(16 * from[16 + i] + from[i]);
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
    return window < PAIR_DEPTH && conv2d_pairs(call_with_bytes(call));
}

void pack_conv2d_int4_pairs(C *c, Graph *g, Call *call) {
    const CtnConv2dS8Args *a = call->args;
    Call *as8 = call_with_bytes(call);
    pack_conv2d_pairs(c, g, as8);
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
