/* Cases of what moves elements or interpolates between them. */
#include "kernel/maker.h"

#include <stdlib.h>
#include <string.h>

static const DType sized[4] = {DT_I8, DT_I16, DT_I32, DT_I64};

static void shuffle_order(Maker *m, int order[8]) {
    for (int d = 7; d > 0; d--) {
        int k = between(m, 0, d), t = order[d];
        order[d] = order[k];
        order[k] = t;
    }
}

/* A permutation of a dense tensor, some dims running backwards; or to a place in a wider output, as
 * cat copies. */
void make_copy(Maker *m, Call *call) {
    CtnCopyArgs *a = call->args;
    bool joins = chance(m, 30);
    DType type = joins ? DT_I8 : sized[between(m, 0, 3)];
    fill_dims(m, 8, a->dim);
    int32_t permuted[8], stride[8], whole[8];
    memcpy(whole, a->dim, sizeof whole);
    whole[7] += joins ? between(m, 1, 20) : 0;
    int64_t outputs = dense_strides(8, whole, a->out_stride);
    int order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (!joins && chance(m, 60))
        shuffle_order(m, order);
    for (int d = 0; d < 8; d++)
        permuted[d] = a->dim[order[d]];
    int64_t count = dense_strides(8, permuted, stride), start = 0;
    for (int d = 0; d < 8; d++)
        a->in_stride[order[d]] = stride[d];
    for (int d = 0; d < (joins ? 7 : 8); d++)
        if (chance(m, 20) && a->dim[d] > 0) {
            start += (int64_t)a->in_stride[d] * (a->dim[d] - 1);
            a->in_stride[d] = -a->in_stride[d];
        }
    a->element_size = dtype_size(type);
    random_table(m, call, &a->table, type == DT_I8 ? 40 : 0);
    call_in_at(call, &a->input, tensor(m, "input", type, count), start * a->element_size);
    call_out(call, &a->output, tensor(m, "output", type, outputs));
}

void make_gather(Maker *m, Call *call) {
    CtnGatherArgs *a = call->args;
    DType type = sized[between(m, 0, 3)];
    int32_t indices[256], used = 0;
    int64_t reach = 0;
    fill_dims(m, 8, a->dim);
    for (int d = 0; d < 8; d++) {
        a->index_start[d] = -1;
        a->in_stride[d] = between(m, 0, 3);
        if (chance(m, 40)) {
            a->index_start[d] = used;
            for (int32_t i = 0; i < a->dim[d]; i++)
                indices[used++] = between(m, 0, 20);
            reach += 20;
        } else if (a->dim[d] > 0) {
            reach += a->in_stride[d] * (a->dim[d] - 1);
        }
    }
    int32_t dense[8];
    int64_t count = dense_strides(8, a->dim, dense);
    a->element_size = dtype_size(type);
    if (used > 0)
        constant(call, &a->indices, DT_I32, used, indices);
    else
        call_absent(call, &a->indices);
    call_in(call, &a->input, tensor(m, "input", type, reach + 1));
    call_out(call, &a->output, tensor(m, "output", type, count));
}

/* From one place of a tensor to another, which overlap in most cases. */
void make_move(Maker *m, Call *call) {
    CtnMoveArgs *a = call->args;
    a->count = between(m, 0, 90);
    int32_t in = between(m, 0, 40), out = in + (m->index == 0 ? 1 : between(m, 1, 40));
    if (chance(m, 40)) {
        int32_t t = in;
        in = out;
        out = t;
    }
    Value *all = tensor(m, "bytes", DT_I8, a->count + (in > out ? in : out));
    call_in_at(call, &a->input, all, in);
    call_out_at(call, &a->output, all, out);
}

void make_fill(Maker *m, Call *call) {
    CtnFillArgs *a = call->args;
    DType type = sized[between(m, 0, 3)];
    a->element_size = dtype_size(type);
    a->count = between(m, 0, 300);
    a->value = (int32_t)next(m);
    a->runs = chance(m, 50) ? 1 : between(m, 0, 5);
    a->stride = a->count + between(m, 0, 9);
    call_out(call, &a->output, tensor(m, "output", type, (int64_t)a->runs * a->stride));
}

/* Indices are random bits, so that most lie outside. */
void make_take(Maker *m, Call *call) {
    CtnTakeArgs *a = call->args;
    DType type = sized[between(m, 0, 3)], index = chance(m, 50) ? DT_I64 : DT_I32;
    a->element_size = dtype_size(type);
    a->index_size = dtype_size(index);
    a->outer = between(m, 0, 3);
    a->rows = between(m, 1, 9);
    a->count = between(m, 0, 7);
    a->inner = between(m, 0, 9);
    a->each = chance(m, 40);
    int64_t out = (int64_t)a->outer * a->count * a->inner;
    call_in(call, &a->input, tensor(m, "input", type, (int64_t)a->outer * a->rows * a->inner));
    call_in(call, &a->indices, tensor(m, "indices", index, a->each ? out : a->count));
    call_out(call, &a->output, tensor(m, "output", type, out));
}

static void taps(Maker *m, Call *call, uint32_t *field, int32_t size, int32_t count) {
    int32_t tap[16];
    for (int32_t i = 0; i < count; i++)
        tap[i] = between(m, 0, size - 1) << 13 | between(m, 0, 4096);
    constant(call, field, DT_I32, count, tap);
}

static void upsample_bilinear2d(Maker *m, Call *call, DType type) {
    CtnUpsampleBilinear2dS8Args *a = call->args;
    a->batches = between(m, 0, 2);
    a->in_h = between(m, 1, 5);
    a->in_w = between(m, 1, 5);
    a->channels = between(m, 1, 9);
    a->out_h = between(m, 1, 9);
    a->out_w = between(m, 1, 9);
    taps(m, call, &a->rows, a->in_h, a->out_h);
    taps(m, call, &a->columns, a->in_w, a->out_w);
    int64_t pixels = (int64_t)a->batches * a->channels;
    call_in(call, &a->input, tensor(m, "input", type, pixels * a->in_h * a->in_w));
    call_out(call, &a->output, tensor(m, "output", type, pixels * a->out_h * a->out_w));
}

void make_upsample_bilinear2d_s8(Maker *m, Call *call) {
    upsample_bilinear2d(m, call, DT_I8);
}

void make_upsample_bilinear2d_s16(Maker *m, Call *call) {
    upsample_bilinear2d(m, call, DT_I16);
}
