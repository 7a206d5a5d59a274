/* What the kernels of the scalar levels ask of a call, and how its constants are packed for them:
 * the streams that runtime/dot_v7m.h describes. */
#include "dot_v7m.h"
#include "lower/factors.h"
#include "vector_v7m.h"

#include <string.h>

static int8_t *put_word(int8_t *to, int64_t value) {
    uint32_t word = (uint32_t)value;
    for (int i = 0; i < 4; i++)
        *to++ = (int8_t)(word >> 8 * i & 0xff);
    return to;
}

/* ---- the matrix block of ARMv7-M ----------------------------------------------------------- */

/* Rows of taps * depth bytes in segments of tap_step taps and depth_step bytes of each. */
typedef struct {
    int32_t taps, depth, tap_step, depth_step;
} Cut;

static Cut cut_of(int32_t taps, int32_t depth) {
    Cut cut = {.taps = taps, .depth = depth};
    cut.depth_step = ctn_dot_share(depth, CTN_DOT_DEPTH);
    cut.tap_step = cut.depth_step < depth ? 1 : ctn_dot_share(taps, CTN_DOT_DEPTH / cut.depth_step);
    return cut;
}

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static int segment_count(Cut cut) {
    return ((cut.taps + cut.tap_step - 1) / cut.tap_step) *
           ((cut.depth + cut.depth_step - 1) / cut.depth_step);
}

/* `count` columns (2, or 1 at the end of an odd number) of one segment. */
static int8_t *put_columns(const Columns *k, int64_t channel, int count, Cut cut, int32_t tap,
                           int32_t first, int8_t *to) {
    int32_t tap_end = least(tap + cut.tap_step, cut.taps);
    int32_t end = least(first + cut.depth_step, cut.depth);
    bool last = tap_end == cut.taps && end == cut.depth;
    Factor f[2];
    for (int32_t t = tap; t < tap_end; t++)
        for (int32_t i = first; i < end; i++)
            for (int c = 0; c < count; c++)
                *to++ = k->weights[(channel + c) * k->channel_step + t * cut.depth + i];
    for (int c = 0; c < count; c++) {
        column_factor(k, channel + c, 0, &f[c]);
        to = put_word(to, last ? 2 * f[c].bias : 0);
    }
    for (int c = 0; last && c < count; c++)
        to = put_word(to, f[c].multiplier);
    for (int c = 0; last && c < count; c++)
        *to++ = (int8_t)(f[c].right_shift - 1);
    return to;
}

static int8_t *put_group(const Columns *k, int64_t channel, int64_t count, Cut cut, int8_t *to) {
    for (int32_t tap = 0; tap < cut.taps; tap += cut.tap_step)
        for (int32_t first = 0; first < cut.depth; first += cut.depth_step)
            for (int64_t c = 0; c < count; c += 2)
                to = put_columns(k, channel + c, count - c > 1 ? 2 : 1, cut, tap, first, to);
    return to;
}

static int64_t stream_bytes(const Columns *k, Cut cut) {
    return k->channels * (k->depth + 4LL * segment_count(cut) + 5);
}

/* Expanded rows, and where there are several segments the sums of all columns. */
static int64_t block_scratch(int64_t columns, Cut cut) {
    return 8LL * cut.tap_step * cut.depth_step + (segment_count(cut) > 1 ? 16 * columns : 0);
}

static Cut conv2d_cut(const CtnConv2dS8Args *a) {
    return cut_of(a->kernel_h * a->kernel_w, a->in_c / a->groups);
}

bool conv2d_dots(const Call *call) {
    const CtnConv2dS8Args *a = call->args;
    Columns k;
    return store_fits(call, &a->table, a->output_zero_point, a->clamp_min, a->clamp_max) &&
           conv2d_columns(call, &k) && columns_fit(&k);
}

void pack_conv2d_dots(C *c, Graph *g, Call *call) {
    (void)g;
    CtnConv2dS8Args *a = call->args;
    Columns k;
    conv2d_columns(call, &k);
    if (conv2d_is_matrix(a))
        conv2d_to_one_row(call, CTN_DOT_ROWS);
    Cut cut = conv2d_cut(a);
    int64_t bytes = stream_bytes(&k, cut), columns = a->out_c / a->groups;
    int8_t *stream = c_alloc(c, (size_t)bytes), *end = stream;
    for (int64_t group = 0; group < a->groups; group++)
        end = put_group(&k, group * columns, columns, cut, end);
    constants_pack(call, "packed", DT_I8, stream, bytes, 1);
    store_pack(call);
    call_scratch(call, &a->scratch, block_scratch(columns, cut) + cut.depth_step, 4);
}

/* ---- transposed convolutions ---------------------------------------------------------------- */

static void *stream_of_reached(C *c, const Columns *k, const CtnConvTranspose2dS8Args *a,
                               int64_t *bytes, int64_t *scratch) {
    int64_t columns = a->out_c / a->groups;
    Cut cut = cut_of((int32_t)(k->depth / (a->in_c / a->groups)), a->in_c / a->groups);
    *bytes = stream_bytes(k, cut);
    *scratch = block_scratch(columns, cut) + cut.depth_step;
    int8_t *stream = c_alloc(c, (size_t)*bytes), *end = stream;
    for (int64_t group = 0; group < a->groups; group++)
        end = put_group(k, group * columns, columns, cut, end);
    return stream;
}

void pack_conv_transpose2d_dots(C *c, Graph *g, Call *call) {
    (void)g;
    pack_reaches(c, call, 1, stream_of_reached);
}

/* ---- linear layers on ARMv7-M -------------------------------------------------------------- */

static int8_t *put_four(const Columns *k, int64_t channel, int8_t *to) {
    Factor f[4];
    for (int64_t i = 0; i < k->depth; i++) {
        const int8_t *w = k->weights + channel * k->channel_step + i;
        *to++ = (int8_t)(w[0] ^ -128); /* w + 128 as a byte */
        *to++ = w[3 * k->channel_step];
        *to++ = (int8_t)(w[2 * k->channel_step] ^ -128);
        *to++ = w[k->channel_step];
    }
    for (int c = 0; c < 4; c++) {
        column_factor(k, channel + c, 0, &f[c]);
        to = put_word(to, 2 * f[c].bias);
    }
    for (int c = 0; c < 4; c++)
        to = put_word(to, f[c].multiplier);
    for (int c = 0; c < 4; c++)
        *to++ = (int8_t)(f[c].right_shift - 1);
    return to;
}

static int8_t *put_vectors(const Columns *k, int8_t *to) {
    int64_t channel = 0;
    Cut whole = {1, (int32_t)k->depth, 1, (int32_t)k->depth};
    for (; channel + 4 <= k->channels; channel += 4)
        to = put_four(k, channel, to);
    for (; channel < k->channels; channel++)
        to = put_columns(k, channel, 1, whole, 0, 0, to);
    return to;
}

bool linear_dots(const Call *call) {
    const CtnLinearS8Args *a = call->args;
    Columns k;
    return store_fits(call, &a->table, a->output_zero_point, a->clamp_min, a->clamp_max) &&
           linear_columns(call, &k) && columns_fit(&k);
}

void pack_linear_dots(C *c, Graph *g, Call *call) {
    (void)g;
    CtnLinearS8Args *a = call->args;
    Columns k;
    linear_columns(call, &k);
    Cut cut = cut_of(1, a->depth);
    bool rows = a->rows >= CTN_DOT_ROWS;
    int64_t bytes = rows ? stream_bytes(&k, cut)
                         : (k.channels / 4) * (4 * k.depth + CTN_VECTOR_FOUR) +
                               (k.channels % 4) * (k.depth + CTN_VECTOR_ONE);
    int8_t *stream = c_alloc(c, (size_t)bytes);
    if (rows) {
        put_group(&k, 0, k.channels, cut, stream);
        call_scratch(call, &a->scratch, block_scratch(k.channels, cut), 4);
    } else {
        put_vectors(&k, stream);
    }
    constants_pack(call, "packed", DT_I8, stream, bytes, 4);
    store_pack(call);
}
