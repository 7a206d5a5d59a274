/* Cases between 8 and 16 bits. */
#include "kernel/maker.h"

#include <stdlib.h>
#include <string.h>

static DType wide_type(int32_t bytes) {
    return bytes == 2 ? DT_I16 : DT_I8;
}

/* The width of an operand and the zero point that goes with it. */
static void random_width(Maker *m, int32_t *bytes, int32_t *zero_point) {
    *bytes = chance(m, 65) ? 2 : 1;
    *zero_point = *bytes == 2 ? 0 : random_zero_point(m);
}

static void wide_clamp(Maker *m, int32_t bytes, int32_t *min, int32_t *max) {
    random_clamp(m, min, max);
    *min *= bytes == 2 ? 256 : 1;
    *max = bytes == 2 ? *max * 258 : *max;
}

#define WIDE_ENDS(m, a)                                                                            \
    do {                                                                                           \
        random_width(m, &(a)->input_bytes, &(a)->input_zero_point);                                \
        random_width(m, &(a)->output_bytes, &(a)->output_zero_point);                              \
        wide_clamp(m, (a)->output_bytes, &(a)->clamp_min, &(a)->clamp_max);                        \
    } while (0)
#define WIDE_TENSORS(m, call, a, inputs, outputs)                                                  \
    do {                                                                                           \
        call_in(call, &(a)->input, tensor(m, "input", wide_type((a)->input_bytes), inputs));       \
        call_out(call, &(a)->output, tensor(m, "output", wide_type((a)->output_bytes), outputs));  \
    } while (0)

/* Pieces of any lengths that cover int16, from one alone to one for almost every number; 0: the
 * last would reach too far. */
static int32_t pieces_of_any_length(Maker *m, Call *call, uint32_t *start_field,
                                    uint32_t *piece_field) {
    int16_t start[400];
    int32_t piece[400][4];
    int32_t longest = 1 << between(m, 8, 15), at = -32768, pieces = 0;
    for (; pieces < 400 && at <= 32767; pieces++) {
        int32_t length = pieces == 399 ? 32768 : between(m, 1, longest), bits = 0;
        while (1 << bits < length)
            bits++;
        start[pieces] = (int16_t)at;
        int32_t slope = between(m, -65535, 65535);
        int32_t drawn[4] = {
            15 - bits, between(m, -524272, 524272), slope,
            between(m, slope > 0 ? -65535 : -65535 - slope, slope > 0 ? 65535 - slope : 65535)};
        memcpy(piece[pieces], drawn, sizeof drawn);
        at += length;
    }
    if (at <= 32767)
        return 0;
    constant(call, start_field, DT_I16, pieces, start);
    constant(call, piece_field, DT_I32, 4 * pieces, piece);
    return pieces;
}

void make_pieces_s16(Maker *m, Call *call) {
    CtnPiecesS16Args *a = call->args;
    a->count = between(m, 0, 300);
    a->pieces = pieces_of_any_length(m, call, &a->start, &a->piece);
    if (a->pieces == 0)
        a->count = 0;
    a->output_bytes = between(m, 1, 2);
    call_in(call, &a->input, tensor(m, "input", DT_I16, a->count));
    call_out(call, &a->output, tensor(m, "output", wide_type(a->output_bytes), a->count));
}

static void random_wide_table(Maker *m, Call *call, uint32_t *table, int entries) {
    int16_t entry[513];
    for (int i = 0; i < entries; i++)
        entry[i] = (int16_t)between(m, -32768, 32767);
    constant(call, table, DT_I16, entries, entry);
}

void random_map(Maker *m, Call *call, const MapFields *f, int32_t output_bytes) {
    call_absent(call, f->table);
    call_absent(call, f->start);
    call_absent(call, f->piece);
    if (output_bytes == 2 && chance(m, 50))
        random_wide_table(m, call, f->table, 513);
    else
        *f->pieces = pieces_of_any_length(m, call, f->start, f->piece);
}

#define MAP_FIELDS(a)                                                                              \
    &(MapFields) {                                                                                 \
        &(a)->table, &(a)->start, &(a)->piece, &(a)->pieces                                        \
    }
/* A function in the store, of any int16. */
#define RANDOM_MAP(m, call, a)                                                                     \
    do {                                                                                           \
        (a)->output_zero_point = 0;                                                                \
        (a)->clamp_min = -32768;                                                                   \
        (a)->clamp_max = 32767;                                                                    \
        random_map(m, call, MAP_FIELDS(a), (a)->output_bytes);                                     \
    } while (0)
/* In half of the cases. */
#define PERHAPS_MAP(m, call, a)                                                                    \
    do {                                                                                           \
        call_absent(call, &(a)->table);                                                            \
        call_absent(call, &(a)->start);                                                            \
        call_absent(call, &(a)->piece);                                                            \
        if (chance(m, 50))                                                                         \
            RANDOM_MAP(m, call, a);                                                                \
    } while (0)

void make_linear_s16(Maker *m, Call *call) {
    CtnLinearS16Args *a = call->args;
    a->rows = between(m, 1, 4);
    a->depth = m->index == 0 ? 700 : between(m, 1, 300); /* several blocks of 32-bit sums */
    a->columns = between(m, 1, 12);
    WIDE_ENDS(m, a);
    channel_constants(m, call, a->columns, a->depth, &a->weights, &a->bias, &a->multiplier,
                      &a->shift);
    PERHAPS_MAP(m, call, a);
    WIDE_TENSORS(m, call, a, a->rows * a->depth, a->rows * a->columns);
}

void make_conv2d_s16(Maker *m, Call *call) {
    CtnConv2dS16Args *a = call->args;
    Window w = window_of(m);
    a->groups = chance(m, 30) ? w.in_c : 1; /* depthwise */
    if (a->groups > 1)
        w.out_c = w.in_c * between(m, 1, 2);
    WINDOW_FIELDS(a, &w);
    a->in_c = w.in_c;
    a->out_c = w.out_c;
    a->dilation_h = w.dilation_h;
    a->dilation_w = w.dilation_w;
    WIDE_ENDS(m, a);
    channel_constants(m, call, a->out_c, w.kernel_h * w.kernel_w * w.in_c / a->groups, &a->weights,
                      &a->bias, &a->multiplier, &a->shift);
    PERHAPS_MAP(m, call, a);
    WIDE_TENSORS(m, call, a, w.batches * w.in_h * w.in_w * w.in_c,
                 a->batches * a->out_h * a->out_w * a->out_c);
}

void make_matmul_s16(Maker *m, Call *call) {
    CtnMatmulS16Args *a = call->args;
    a->rows = between(m, 1, 9);
    a->depth = between(m, 1, m->index % 8 == 0 ? 900 : 40);
    a->columns = between(m, 1, 9);
    for (int d = 0; d < 4; d++)
        a->batch[d] = d == 0 && chance(m, 50) ? 2 : 1;
    int64_t lhs = a->rows * a->depth, rhs = a->depth * a->columns;
    bool turned = chance(m, 50);
    a->lhs_batch_stride[0] = (int32_t)lhs;
    a->rhs_batch_stride[0] = (int32_t)rhs;
    a->lhs_row_stride = a->depth;
    a->lhs_depth_stride = 1;
    a->rhs_depth_stride = turned ? 1 : a->columns;
    a->rhs_column_stride = turned ? a->depth : 1;
    random_width(m, &a->lhs_bytes, &a->lhs_zero_point);
    random_width(m, &a->rhs_bytes, &a->rhs_zero_point);
    random_width(m, &a->output_bytes, &a->output_zero_point);
    wide_clamp(m, a->output_bytes, &a->clamp_min, &a->clamp_max);
    random_factor(m, &a->multiplier, &a->shift, -20, -2);
    call_in(call, &a->lhs, tensor(m, "lhs", wide_type(a->lhs_bytes), a->batch[0] * lhs));
    call_in(call, &a->rhs, tensor(m, "rhs", wide_type(a->rhs_bytes), a->batch[0] * rhs));
    call_out(call, &a->output,
             tensor(m, "output", wide_type(a->output_bytes), a->batch[0] * a->rows * a->columns));
}

#define AVG_POOL(m, call, a)                                                                       \
    do {                                                                                           \
        Window w = window_of(m);                                                                   \
        undilate(&w);                                                                              \
        fit(&w);                                                                                   \
        WINDOW_FIELDS(a, &w);                                                                      \
        (a)->channels = w.in_c;                                                                    \
        (a)->pad_bottom = w.pad_bottom;                                                            \
        (a)->pad_right = w.pad_right;                                                              \
        (a)->include_padding = chance(m, 50);                                                      \
        (a)->divisor = chance(m, 20) ? between(m, 1, 20) : 0;                                      \
        WIDE_ENDS(m, a);                                                                           \
        random_factor(m, &(a)->multiplier, &(a)->shift, -24, -8);                                  \
        WIDE_TENSORS(m, call, a, w.batches *w.in_h *w.in_w *w.in_c,                                \
                     (a)->batches *(a)->out_h *(a)->out_w *w.in_c);                                \
    } while (0)

void make_avg_pool2d_s16(Maker *m, Call *call) {
    CtnAvgPool2dS16Args *a = call->args;
    AVG_POOL(m, call, a);
}

void make_avg_pool2d_map_s16(Maker *m, Call *call) {
    CtnAvgPool2dMapS16Args *a = call->args;
    AVG_POOL(m, call, a);
    RANDOM_MAP(m, call, a);
}

void make_max_pool2d_s16(Maker *m, Call *call) {
    CtnMaxPool2dS16Args *a = call->args;
    Window w = window_of(m);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->dilation_h = w.dilation_h;
    a->dilation_w = w.dilation_w;
    wide_clamp(m, 2, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, tensor(m, "input", DT_I16, w.batches * w.in_h * w.in_w * w.in_c));
    call_out(call, &a->output,
             tensor(m, "output", DT_I16, a->batches * a->out_h * a->out_w * w.in_c));
}

/* The function of a maximum; of bytes a table of int16. */
#define MAX_MAP(m, call, a)                                                                        \
    do {                                                                                           \
        (a)->input_bytes = chance(m, 60) ? 2 : 1;                                                  \
        (a)->output_bytes = (a)->input_bytes == 1 || chance(m, 60) ? 2 : 1;                        \
        random_map(m, call, MAP_FIELDS(a), (a)->output_bytes);                                     \
        if ((a)->input_bytes == 1) {                                                               \
            (a)->pieces = 0;                                                                       \
            call_absent(call, &(a)->start);                                                        \
            call_absent(call, &(a)->piece);                                                        \
            random_wide_table(m, call, &(a)->table, 257);                                          \
        }                                                                                          \
    } while (0)

void make_max_pool2d_map_s16(Maker *m, Call *call) {
    CtnMaxPool2dMapS16Args *a = call->args;
    Window w = window_of(m);
    WINDOW_FIELDS(a, &w);
    a->channels = w.in_c;
    a->dilation_h = w.dilation_h;
    a->dilation_w = w.dilation_w;
    MAX_MAP(m, call, a);
    wide_clamp(m, a->input_bytes, &a->clamp_min, &a->clamp_max);
    WIDE_TENSORS(m, call, a, w.batches * w.in_h * w.in_w * w.in_c,
                 a->batches * a->out_h * a->out_w * w.in_c);
}

void make_reduce_max_map_s16(Maker *m, Call *call) {
    CtnReduceMaxMapS16Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    a->mode = between(m, 0, 1);
    MAX_MAP(m, call, a);
    WIDE_TENSORS(m, call, a, count, outputs);
}

void make_reduce_sum_map_s16(Maker *m, Call *call) {
    CtnReduceSumMapS16Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    WIDE_ENDS(m, a);
    random_factor(m, &a->multiplier, &a->shift, -9, 4);
    RANDOM_MAP(m, call, a);
    WIDE_TENSORS(m, call, a, count, outputs);
}

void make_reduce_sum_s16(Maker *m, Call *call) {
    CtnReduceSumS16Args *a = call->args;
    int64_t outputs,
        count = split_dims(m, a->dim, a->in_stride, a->reduced, a->reduced_stride, &outputs);
    WIDE_ENDS(m, a);
    random_factor(m, &a->multiplier, &a->shift, -9, 4);
    WIDE_TENSORS(m, call, a, count, outputs);
}

void make_softmax_s16(Maker *m, Call *call) {
    CtnSoftmaxS16Args *a = call->args;
    a->rows = between(m, 1, 4);
    a->row_size = m->index == 0 ? 1 : m->index == 1 ? 1500 : between(m, 1, 80);
    a->mask_rows = between(m, 1, 3);
    a->mask_hides = chance(m, 50);
    a->input_bytes = chance(m, 65) ? 2 : 1;
    a->output_bytes = chance(m, 65) ? 2 : 1;
    a->output_zero_point = a->output_bytes == 2 ? 0 : -128;
    a->output_multiplier = 1 << 30; /* 2^-24 to 2^-8, or to 2^-15 */
    a->output_shift = a->output_bytes == 2 ? -8 : -15;
    a->multiplier = between(m, 1 << 30, 0x7fffffff);
    a->shift = (m->large ? between(m, 21, 23) : between(m, 17, 24)) - (a->input_bytes == 2 ? 8 : 0);
    a->diff_min = -(int32_t)(((int64_t)31 << 26) >> a->shift);
    if (chance(m, 40))
        call_in(call, &a->mask, tensor(m, "mask", DT_BOOL, a->mask_rows * a->row_size));
    else
        call_absent(call, &a->mask);
    WIDE_TENSORS(m, call, a, a->rows * a->row_size, a->rows * a->row_size);
}
