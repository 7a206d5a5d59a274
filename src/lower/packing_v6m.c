/* What the kernels of ARMv6-M ask of a call, and how its constants are packed for them: the streams
 * that runtime/dot_v6m.h describes. */
#include "dot_v6m.h"
#include "lower/factors.h"
#include "vector_v6m.h"

#include <assert.h>

enum { OFFSET = 128 }; /* activations are given as q + 128 */

static uint8_t *put_aligned(uint8_t *start, uint8_t *to) {
    while ((to - start) % 4 != 0)
        *to++ = 0;
    return to;
}

/* A group of columns of some steps of depth, those beyond the weights' as zeros, for activations
 * that are given as q + offset. */
static uint8_t *put_group(const Columns *k, int64_t channel, int count, int64_t depth,
                          int32_t offset, bool narrow, uint8_t *to) {
    uint8_t *start = to;
    Factor f[8];
    for (int c = 0; c < count; c++) {
        column_factor(k, channel + c, offset, &f[c]);
        to = put_bytes(to, (uint32_t)f[c].bias, 4);
    }
    for (int64_t i = 0; i < depth; i++)
        for (int c = 0; c < count; c++) {
            int8_t w = i < k->depth ? k->weights[(channel + c) * k->channel_step + i] : -OFFSET;
            *to++ = (uint8_t)(w + OFFSET);
        }
    to = put_aligned(start, to);
    for (int c = 0; c < count; c++)
        to = put_factor(&f[c], narrow, to);
    return put_aligned(start, to);
}

/* ---- the matrix block ---------------------------------------------------------------------- */

static int group_at(int64_t left) {
    return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* All channels in blocks of `columns`, behind the head. */
static void *stream_of(C *c, const Columns *k, int32_t columns, int64_t *bytes) {
    bool narrow = columns_are_narrow(k);
    int32_t depth = (int32_t)k->depth;
    int64_t block = 0;
    for (int32_t left = columns; left > 0; left -= group_at(left))
        block += ctn_dot_group(depth, group_at(left));
    *bytes = CTN_DOT_HEAD + k->channels / columns * block;
    uint8_t *stream = c_alloc(c, (size_t)*bytes);
    uint8_t *to = put_bytes(stream, narrow, CTN_DOT_HEAD);
    for (int64_t channel = 0; channel < k->channels; channel += columns)
        for (int32_t at = 0; at < columns; at += group_at(columns - at))
            to = put_group(k, channel + at, group_at(columns - at), ctn_dot_even(depth), OFFSET,
                           narrow, to);
    assert(to - stream == *bytes);
    return stream;
}

void pack_conv2d_bytes(C *c, Graph *g, Call *call) {
    (void)g;
    CtnConv2dS8Args *a = call->args;
    Columns k;
    int64_t bytes;
    conv2d_columns(call, &k);
    if (conv2d_is_matrix(a))
        conv2d_to_one_row(call, CTN_DOT_ROWS);
    void *stream = stream_of(c, &k, a->out_c / a->groups, &bytes);
    constants_pack(call, "packed", DT_I8, stream, bytes, 4);
    store_pack(call);
    call_scratch(call, &a->scratch, 4LL * ctn_dot_even((int32_t)k.depth) + a->in_c / a->groups, 4);
}

/* ---- transposed convolutions ---------------------------------------------------------------- */

static void *stream_of_reached(C *c, const Columns *k, const CtnConvTranspose2dS8Args *a,
                               int64_t *bytes, int64_t *scratch) {
    *scratch = 4LL * ctn_dot_even((int32_t)k->depth) + a->in_c / a->groups;
    return stream_of(c, k, a->out_c / a->groups, bytes);
}

void pack_conv_transpose2d_bytes(C *c, Graph *g, Call *call) {
    (void)g;
    pack_reaches(c, call, 4, stream_of_reached);
}

/* ---- linear layers ------------------------------------------------------------------------- */

static int vector_group_at(int64_t left) {
    return left >= 8 ? 8 : left >= 4 ? 4 : 1;
}

static void *vector_stream(C *c, const Columns *k, int64_t *bytes) {
    bool narrow = columns_are_narrow(k);
    *bytes = 4;
    for (int64_t left = k->channels; left > 0; left -= vector_group_at(left))
        *bytes += ctn_vector_group((int32_t)k->depth, vector_group_at(left));
    uint8_t *stream = c_alloc(c, (size_t)*bytes);
    uint8_t *to = put_bytes(stream, narrow, 4);
    for (int64_t at = 0; at < k->channels; at += vector_group_at(k->channels - at))
        to = put_group(k, at, vector_group_at(k->channels - at), k->depth, 0, narrow, to);
    assert(to - stream == *bytes);
    return stream;
}

void pack_linear_bytes(C *c, Graph *g, Call *call) {
    (void)g;
    CtnLinearS8Args *a = call->args;
    Columns k;
    int64_t bytes;
    void *stream;
    linear_columns(call, &k);
    if (a->rows == 1) {
        stream = vector_stream(c, &k, &bytes);
    } else {
        stream = stream_of(c, &k, a->columns, &bytes);
        call_scratch(call, &a->scratch, 4LL * ctn_dot_even(a->depth), 4);
    }
    constants_pack(call, "packed", DT_I8, stream, bytes, 4);
    store_pack(call);
}
