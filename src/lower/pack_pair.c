/* Weights for the MVE kernels that compute pairs of pixels times groups of four channels: in the
 * order in which runtime/pair_s8_mve.c loads them, each run of the window padded to 16 bytes with
 * zeros, the input's zero point folded into the bias. */
#include "lower/memory.h"
#include "lower/packing.h"
#include "pair_s8_mve.h"
#include "reach.h"

#include <assert.h>
#include <string.h>

enum { GROUP = 4, VECTOR = 16 };

const void *call_data(const Call *call, const uint32_t *field) {
    int offset = (int)((const char *)field - (const char *)call->args);
    for (int i = 0; i < call->ref_count; i++)
        if (call->ref[i].field_offset == offset && call->ref[i].buffer)
            return (const char *)call->ref[i].buffer->data + call->ref[i].offset;
    return NULL;
}

bool shifts_right(const Call *call, const uint32_t *field, int count) {
    const int8_t *shift = call_data(call, field);
    for (int i = 0; i < count; i++)
        if (shift[i] > -1)
            return false;
    return true;
}

bool conv2d_pairs(const Call *call) {
    const CtnConv2dS8Args *a = call->args;
    return a->out_c < 1 << 16 && shifts_right(call, &a->shift, a->out_c);
}

static int chunks_of(int bytes) {
    return (bytes + VECTOR - 1) / VECTOR;
}

/* A strip costs the padding of each run to 16 bytes: a chunk of a pair takes 7 instructions a pixel
 * and group, a run beyond the first 3. Gathering a window first costs about 15 and 22 a row, 45
 * where that is longer than 16 bytes. */
static bool gathering_pays(const CtnConv2dS8Args *a) {
    int run = a->kernel_w * a->in_c, groups = (a->out_c + GROUP - 1) / GROUP;
    int direct = (a->kernel_h * (chunks_of(run) * 7 + 3) - 3) * groups;
    int row = run <= VECTOR ? 22 : 45;
    int gathered = chunks_of(a->kernel_h * run) * 7 * groups + row * a->kernel_h + 15;
    return a->dilation_w > 1 || gathered < direct;
}

/* Whether no window reaches over the image, the padding of its runs to vectors included. */
static bool rows_lie_within(const CtnConv2dS8Args *a) {
    int last_y = (a->out_h - 1) * a->stride_h - a->pad_top + (a->kernel_h - 1) * a->dilation_h;
    int width = (a->out_w - 1) * a->stride_w + a->kernel_w;
    return a->pad_top == 0 && a->pad_left == 0 && last_y < a->in_h && width <= a->in_w &&
           a->kernel_w * a->in_c % VECTOR == 0;
}

static int64_t scratch_bytes(const CtnConv2dS8Args *a, int64_t window) {
    if (a->gathered & CTN_GATHERED)
        return 2 * (window + VECTOR);
    if (rows_lie_within(a))
        return 0;
    int64_t width = (int64_t)(a->out_w - 1) * a->stride_w + a->kernel_w;
    return a->kernel_h * width * a->in_c + VECTOR;
}

typedef struct { /* channel-major weights, `filter` bytes a channel */
    const int8_t *weights, *shift;
    const int32_t *bias, *multiplier;
    int channels, input_zero_point;
    int64_t filter;
} Source;

static Source source_of(const Call *call) {
    const CtnConv2dS8Args *a = call->args; /* the transposed kernel has the same fields */
    return (Source){.weights = call_data(call, &a->weights),
                    .shift = call_data(call, &a->shift),
                    .bias = call_data(call, &a->bias),
                    .multiplier = call_data(call, &a->multiplier),
                    .channels = a->out_c,
                    .input_zero_point = a->input_zero_point,
                    .filter = (int64_t)a->kernel_h * a->kernel_w * (a->in_c / a->groups)};
}

/* One group: weights by run, chunk and channel, then its parameters; `to` is zeroed. */
static int8_t *pack_group(const Source *s, int first, int runs, int run, int8_t *to) {
    struct {
        int32_t bias[GROUP], multiplier[GROUP];
        int8_t shift[GROUP];
    } parameters = {{0}, {0}, {-1, -1, -1, -1}};
    for (int c = 0; c < GROUP && first + c < s->channels; c++) {
        const int8_t *from = s->weights + (first + c) * s->filter;
        int64_t sum = 0;
        for (int r = 0; r < runs; r++)
            for (int i = 0; i < run; i++) {
                int8_t w = from[r * run + i];
                to[((r * chunks_of(run) + i / VECTOR) * GROUP + c) * VECTOR + i % VECTOR] = w;
                sum += w;
            }
        parameters.bias[c] =
            (int32_t)((s->bias ? s->bias[first + c] : 0) - sum * s->input_zero_point);
        parameters.multiplier[c] = s->multiplier[first + c];
        parameters.shift[c] = s->shift[first + c];
    }
    to += runs * chunks_of(run) * GROUP * VECTOR;
    memcpy(to, &parameters, sizeof parameters);
    return to + sizeof parameters;
}

static int64_t packed_bytes(const Source *s, int runs, int run) {
    int64_t groups = (s->channels + GROUP - 1) / GROUP;
    return groups * ((int64_t)runs * chunks_of(run) * VECTOR * GROUP + CTN_PAIR_PARAMETERS);
}

static int8_t *pack_all(const Source *s, int runs, int run, int8_t *to) {
    for (int first = 0; first < s->channels; first += GROUP)
        to = pack_group(s, first, runs, run, to);
    return to;
}

/* The channels beyond whole groups as they are, the input's zero point folded into the bias. */
static int8_t *pack_folded(const Source *s, int8_t *to) {
    int count = s->channels % GROUP, first = s->channels - count;
    for (int c = 0; c < count; c++) {
        const int8_t *from = s->weights + (first + c) * s->filter;
        int64_t sum = 0;
        for (int64_t i = 0; i < s->filter; i++)
            sum += from[i];
        int32_t bias = (int32_t)((s->bias ? s->bias[first + c] : 0) - sum * s->input_zero_point);
        memcpy(to + 4 * c, &bias, 4);
        memcpy(to + 4 * (count + c), &s->multiplier[first + c], 4);
        to[8 * count + c] = s->shift[first + c];
    }
    memcpy(to + 9 * count, s->weights + first * s->filter, (size_t)(count * s->filter));
    return to + ctn_pair_folded(count, (int32_t)s->filter);
}

/* Unfolding takes about 60 instructions and 8 for each vector: at most a twentieth of what a row of
 * outputs takes, since a strip's step may have no more than that. */
static bool unfolding_is_cheap(const CtnConv2dS8Args *a, int vectors) {
    int64_t pairs = (a->out_w + 1) / 2, groups = (a->out_c + GROUP - 1) / GROUP;
    return 20 * (60 + 8LL * (a->out_c % GROUP) * vectors) <= pairs * groups * (25 + 7LL * vectors);
}

/* The channels behind those of the source. */
static void source_skip(Source *s) {
    s->weights += s->channels * s->filter;
    s->bias = s->bias ? s->bias + s->channels : NULL;
    s->multiplier += s->channels;
    s->shift += s->channels;
}

static void set_packed(Call *call, const int8_t *packed, int64_t bytes, int64_t scratch) {
    CtnConv2dS8Args *a = call->args;
    constants_pack(call, "packed", DT_I8, packed, bytes, 4);
    if (scratch > 0)
        call_scratch(call, &a->scratch, scratch, 16);
}

/* One group of the convolution; its constants are one stream. */
static void pack_one_group(C *c, Call *call, bool folds) {
    CtnConv2dS8Args *a = call->args;
    Source s = source_of(call);
    int runs = a->gathered ? 1 : a->kernel_h, run = (int)s.filter / runs;
    int vectors = runs * chunks_of(run);
    int64_t scratch = scratch_bytes(a, (int64_t)vectors * VECTOR);
    int64_t bytes = packed_bytes(&s, runs, run);
    if (folds && a->out_c % GROUP > 0 && unfolding_is_cheap(a, vectors)) {
        int64_t group = (int64_t)vectors * VECTOR * GROUP + CTN_PAIR_PARAMETERS;
        a->gathered |= CTN_UNFOLDED;
        s.channels -= s.channels % GROUP;
        bytes = s.channels / GROUP * group + ctn_pair_folded(a->out_c % GROUP, (int32_t)s.filter);
        scratch += align_up(group, VECTOR);
    }
    int8_t *packed = c_calloc(c, (size_t)bytes, 1), *to = pack_all(&s, runs, run, packed);
    s.channels = a->out_c;
    if (a->gathered & CTN_UNFOLDED)
        to = pack_folded(&s, to);
    assert(to - packed == bytes);
    set_packed(call, packed, bytes, scratch);
}

/* One group after the other. */
static void pack_groups(C *c, Call *call) {
    CtnConv2dS8Args *a = call->args;
    Source s = source_of(call);
    s.channels = a->out_c / a->groups;
    int run = (int)s.filter;
    int64_t bytes = packed_bytes(&s, 1, run) * a->groups;
    int8_t *packed = c_calloc(c, (size_t)bytes, 1), *to = packed;
    for (int g = 0; g < a->groups; g++) {
        to = pack_all(&s, 1, run, to);
        source_skip(&s);
    }
    set_packed(call, packed, bytes, scratch_bytes(a, (int64_t)chunks_of(run) * VECTOR));
}

static void pack_pairs(C *c, Call *call, bool folds) {
    CtnConv2dS8Args *a = call->args;
    if (conv2d_is_matrix(a) && a->in_c / a->groups % VECTOR == 0)
        conv2d_to_one_row(call, 2);
    a->gathered = a->groups > 1 || gathering_pays(a) ? CTN_GATHERED : 0;
    if (a->groups > 1)
        pack_groups(c, call);
    else
        pack_one_group(c, call, folds);
}

void pack_conv2d_pairs(C *c, Graph *g, Call *call) {
    (void)g;
    pack_pairs(c, call, true);
}

void pack_conv2d_whole_pairs(C *c, Graph *g, Call *call) {
    (void)g;
    pack_pairs(c, call, false);
}

/* ---- transposed ---------------------------------------------------------------------------- */

/* The filter of the taps that reach one pair of remainders, in the order in which the kernel
 * gathers them; a single zero where none does. */
static Source reached(C *c, const Call *call, const CtnReach *down, const CtnReach *across) {
    const CtnConvTranspose2dS8Args *a = call->args;
    Source s = source_of(call);
    const int8_t *from = s.weights;
    int64_t filter = s.filter, taps = (int64_t)down->count * across->count;
    s.filter = taps > 0 ? taps * a->in_c : 1;
    int8_t *to = c_calloc(c, (size_t)s.channels, (size_t)s.filter);
    s.weights = to;
    for (int o = 0; taps > 0 && o < s.channels; o++)
        for (int i = 0; i < down->count; i++)
            for (int j = 0; j < across->count; j++, to += a->in_c) {
                int64_t tap = (int64_t)(down->tap + i * down->tap_step) * a->kernel_w +
                              across->tap + j * across->tap_step;
                memcpy(to, from + o * filter + tap * a->in_c, (size_t)a->in_c);
            }
    return s;
}

bool conv_transpose2d_pairs(const Call *call) {
    const CtnConvTranspose2dS8Args *a = call->args;
    return a->groups == 1 && (int64_t)a->out_c * a->stride_w < 1 << 16 &&
           shifts_right(call, &a->shift, a->out_c);
}

void pack_conv_transpose2d_pairs(C *c, Graph *g, Call *call) {
    CtnConvTranspose2dS8Args *a = call->args;
    (void)g;
    Text stream = text_new(c);
    int64_t largest = 0;
    for (int row = 0; row < a->stride_h; row++)
        for (int column = 0; column < a->stride_w; column++) {
            CtnReach down =
                ctn_reach(row, a->kernel_h, a->stride_h, a->dilation_h, a->pad_top, a->out_h);
            CtnReach across =
                ctn_reach(column, a->kernel_w, a->stride_w, a->dilation_w, a->pad_left, a->out_w);
            Source s = reached(c, call, &down, &across);
            int64_t bytes = packed_bytes(&s, 1, (int)s.filter);
            int8_t *packed = c_calloc(c, (size_t)bytes, 1);
            pack_all(&s, 1, (int)s.filter, packed);
            text_add_bytes(&stream, packed, (size_t)bytes);
            largest = s.filter > largest ? s.filter : largest;
        }
    set_packed(call, (const int8_t *)stream.data, (int64_t)stream.length,
               2 * (largest + 2 * VECTOR));
}
