/* What the kernels of the DSP level ask of a call, and how its constants are packed for them
 * (runtime/dot_dsp.h has the format and the bounds that are proven here, channel by channel, from
 * the weights). */
#include "conv_dsp.h"
#include "dot_dsp.h"
#include "fix.h"
#include "lower/packing.h"
#include "reach.h"

#include <string.h>

/* ---- factors ------------------------------------------------------------------------------- */

/* One output's fixed-point factors as the kernels want them: n = right_shift. */
typedef struct {
    int32_t bias;     /* doubled, for activations q + 128 */
    int32_t raw_bias; /* for activations q */
    int32_t multiplier;
    int32_t right_shift;
} Factor;

/* What becomes of a requantized sum: plus the zero point, saturated to least..most. */
typedef struct {
    int32_t zero_point, least, most;
} Store;

static Store store_of(int32_t zero_point, int32_t clamp_max) {
    int32_t limit = clamp_max > 127 ? 512 : 128;
    return (Store){zero_point, -limit, limit - 1};
}

static int64_t magnitude(int64_t v) {
    return v < 0 ? -v : v;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Does the short store (dot_dsp.h) requantize sums of at most `sum` exactly? */
bool short_store_is_exact(int64_t sum, int32_t multiplier, int32_t shift, int32_t zero_point) {
    if (sum >= 1 << 30 || multiplier < 0 || shift > -1 || shift < -31)
        return false;
    int64_t t = magnitude(ctn_mul_high((int32_t)sum, multiplier)) + 1;
    return t + (magnitude(2LL * zero_point + 1) << (-shift - 1)) < (int64_t)1 << 31;
}

static int32_t stored(int64_t sum, int32_t multiplier, int32_t shift, const Store *s) {
    int32_t q = ctn_requantize((int32_t)sum, multiplier, shift);
    return ctn_clamp(q + s->zero_point, s->least, s->most);
}

/* An output that hardly depends on its inputs, with a large bias and a small factor: all sums of
 * low..high give one value v, or from some sum on the next one. Then any factors that step there
 * will do: half of the sum, moved so that the step is at the rounding boundary of v, and a shift
 * beyond the range. `offset` is added to the bias. */
static bool factor_of_step(int64_t low, int64_t high, const Store *s, Factor *f, int64_t *offset) {
    int32_t v = stored(low, f->multiplier, -f->right_shift, s);
    if (stored(high, f->multiplier, -f->right_shift, s) > v + 1)
        return false;
    int64_t below = low, step = high + 1; /* the least sum that gives v + 1 */
    while (below + 1 < step) {
        int64_t middle = below + (step - below) / 2;
        if (stored(middle, f->multiplier, -f->right_shift, s) > v)
            step = middle;
        else
            below = middle;
    }
    int32_t n = 1;
    while (n < 31 && (int64_t)1 << n < high - low + 2)
        n++;
    int64_t scaled = (int64_t)v - s->zero_point;
    int64_t boundary = scaled * ((int64_t)1 << n) + ((int64_t)1 << (n - 1)) + (scaled < 0);
    f->multiplier = 1 << 30;
    f->right_shift = n;
    *offset = 2 * boundary - 1 - step;
    return short_store_is_exact(larger(magnitude(low + *offset), magnitude(high + *offset)),
                                f->multiplier, -n, s->zero_point);
}

/* The factors of an output whose sums lie in low..high; false where the short store would not be
 * exact. */
static bool factor_of(int64_t low, int64_t high, int32_t multiplier, int32_t shift, const Store *s,
                      Factor *f, int64_t *offset) {
    *offset = 0;
    f->multiplier = multiplier;
    f->right_shift = -shift;
    if (short_store_is_exact(larger(magnitude(low), magnitude(high)), multiplier, shift,
                             s->zero_point))
        return true;
    bool fits = low > INT32_MIN && high < INT32_MAX && multiplier >= 0 && shift <= 0;
    return fits && factor_of_step(low, high, s, f, offset);
}

/* Constants of the outputs of a convolution or linear layer; `bias` may be NULL. */
typedef struct {
    const int8_t *weights; /* [channels][depth] times step */
    const int32_t *bias, *multiplier;
    const int8_t *shift;
    int64_t channels, depth;
    int64_t channel_step, depth_step; /* between weights */
    int32_t input_zero_point;
    Store store;
} Columns;

static bool column_factor(const Columns *k, int64_t channel, Factor *f) {
    int64_t bias = k->bias ? k->bias[channel] : 0;
    int64_t low = bias, high = bias, sum = 0;
    for (int64_t i = 0; i < k->depth; i++) {
        int64_t w = k->weights[channel * k->channel_step + i * k->depth_step];
        int64_t least = (-128 - k->input_zero_point) * w, most = (127 - k->input_zero_point) * w;
        low += least < most ? least : most;
        high += least < most ? most : least;
        sum += w;
    }
    int64_t offset;
    bool fits =
        factor_of(low, high, k->multiplier[channel], k->shift[channel], &k->store, f, &offset);
    bias += offset;
    f->raw_bias = (int32_t)(uint32_t)(bias - k->input_zero_point * sum);
    f->bias = (int32_t)(uint32_t)(2 * (bias - (k->input_zero_point + 128) * sum));
    return fits;
}

static bool columns_fit(const Columns *k) {
    Factor f;
    for (int64_t i = 0; i < k->channels; i++)
        if (!column_factor(k, i, &f))
            return false;
    return true;
}

/* ---- streams of the matrix block ----------------------------------------------------------- */

/* How a row of depth bytes is cut: runs of `run` bytes, each padded to whole steps. */
typedef struct {
    int64_t run, runs;
} Cut;

static int32_t cut_steps(Cut cut) {
    return ctn_dot_steps((int32_t)cut.run) * (int32_t)cut.runs;
}

/* The weights of one channel into every `step`-th word. */
static void stream_weights(const Columns *k, int64_t channel, Cut cut, uint32_t *word, int step) {
    const int8_t *w = k->weights + channel * k->channel_step;
    for (int64_t run = 0; run < cut.runs; run++)
        for (int64_t at = 0; at < cut.run; at += 4, word += step) {
            *word = 0;
            for (int64_t i = at; i < at + 4 && i < cut.run; i++) {
                int8_t weight = w[(run * cut.run + i) * k->depth_step];
                *word |= (uint32_t)(uint8_t)weight << 8 * (i - at);
            }
        }
}

static uint32_t *stream_pair(const Columns *k, int64_t channel, Cut cut, uint32_t *word) {
    Factor f[2];
    column_factor(k, channel, &f[0]);
    column_factor(k, channel + 1, &f[1]);
    *word++ = (uint32_t)f[0].bias;
    *word++ = (uint32_t)f[1].bias;
    stream_weights(k, channel, cut, word, 2);
    stream_weights(k, channel + 1, cut, word + 1, 2);
    word += 2 * cut_steps(cut);
    *word++ = (uint32_t)f[0].multiplier;
    *word++ = (uint32_t)(f[0].right_shift - 1) | (uint32_t)(f[1].right_shift - 1) << 8;
    *word++ = (uint32_t)f[1].multiplier;
    return word;
}

static uint32_t *stream_single(const Columns *k, int64_t channel, Cut cut, uint32_t *word) {
    Factor f;
    column_factor(k, channel, &f);
    *word++ = (uint32_t)f.bias;
    stream_weights(k, channel, cut, word, 1);
    word += cut_steps(cut);
    *word++ = (uint32_t)f.multiplier;
    *word++ = (uint32_t)(f.right_shift - 1);
    return word;
}

/* The streams of channels first .. first + count. */
static uint32_t *stream_columns(const Columns *k, int64_t first, int64_t count, Cut cut,
                                uint32_t *word) {
    int64_t channel = first;
    for (; channel + 1 < first + count; channel += 2)
        word = stream_pair(k, channel, cut, word);
    if (channel < first + count)
        word = stream_single(k, channel, cut, word);
    return word;
}

/* ---- conv2d_s8 ----------------------------------------------------------------------------- */

static bool conv2d_columns(const Call *call, Columns *k) {
    const CtnConv2dS8Args *a = call->args;
    *k = (Columns){.weights = call_data(call, &a->weights),
                   .bias = call_data(call, &a->bias),
                   .multiplier = call_data(call, &a->multiplier),
                   .shift = call_data(call, &a->shift),
                   .channels = a->out_c,
                   .depth = (int64_t)a->kernel_h * a->kernel_w * (a->in_c / a->groups),
                   .depth_step = 1,
                   .input_zero_point = a->input_zero_point,
                   .store = store_of(a->output_zero_point, a->clamp_max)};
    k->channel_step = k->depth;
    return k->weights && k->multiplier && k->shift;
}

bool conv2d_accepts_dsp(const Call *call) {
    Columns k;
    return conv2d_columns(call, &k) && columns_fit(&k);
}

/* The streams of all channels and the store; returns the steps of a row. */
static int32_t conv2d_pack_streams(C *c, Call *call, Cut cut) {
    CtnConv2dS8Args *a = call->args;
    Columns k;
    conv2d_columns(call, &k);
    int32_t steps = cut_steps(cut), columns = a->out_c / a->groups;
    int64_t bytes = (int64_t)ctn_dot_stream_bytes(columns, steps) * a->groups;
    uint32_t *stream = c_alloc(c, (size_t)bytes), *end = stream;
    for (int64_t group = 0; group < a->groups; group++)
        end = stream_columns(&k, group * columns, columns, cut, end);
    constants_pack(call, "weight", DT_I32, stream, bytes, 4);
    store_pack(call);
    return steps;
}

void conv2d_pack_dsp(C *c, Graph *g, Call *call) {
    (void)g;
    CtnConv2dS8Args *a = call->args;
    if (conv2d_is_matrix(a) && a->groups == 1)
        conv2d_to_one_row(call, CTN_DOT_ROWS);
    CtnConvCut cut = ctn_conv_cut(a);
    int32_t steps = conv2d_pack_streams(c, call, (Cut){cut.run, cut.runs});
    call_scratch(call, &a->scratch,
                 4LL * steps * CTN_DOT_STEP_WORDS + cut.joined_bytes + cut.padded_bytes, 4);
}

/* A window is one run, of one row. */
void conv2d_pack_dsp_small(C *c, Graph *g, Call *call) {
    (void)g;
    CtnConv2dS8Args *a = call->args;
    int64_t run = (int64_t)a->kernel_h * a->kernel_w * (a->in_c / a->groups);
    int32_t steps = conv2d_pack_streams(c, call, (Cut){run, 1});
    call_scratch(call, &a->scratch, 8LL * steps, 4);
}

/* ---- linear_s8 ----------------------------------------------------------------------------- */

static bool linear_columns(const Call *call, Columns *k) {
    const CtnLinearS8Args *a = call->args;
    *k = (Columns){.weights = call_data(call, &a->weights),
                   .bias = call_data(call, &a->bias),
                   .multiplier = call_data(call, &a->multiplier),
                   .shift = call_data(call, &a->shift),
                   .channels = a->columns,
                   .depth = a->depth,
                   .channel_step = a->depth,
                   .depth_step = 1,
                   .input_zero_point = a->input_zero_point,
                   .store = store_of(a->output_zero_point, a->clamp_max)};
    return k->weights && k->multiplier && k->shift;
}

bool linear_accepts_dsp(const Call *call) {
    Columns k;
    return linear_columns(call, &k) && columns_fit(&k);
}

static uint32_t *stream_four(const Columns *k, int64_t channel, Cut cut, uint32_t *word) {
    enum { COLUMNS = 4 };
    Factor f[COLUMNS];
    uint32_t *end = word + COLUMNS + COLUMNS * cut_steps(cut);
    end[COLUMNS] = 0;
    for (int i = 0; i < COLUMNS; i++) {
        column_factor(k, channel + i, &f[i]);
        word[i] = (uint32_t)f[i].raw_bias;
        stream_weights(k, channel + i, cut, word + COLUMNS + i, COLUMNS);
        end[i] = (uint32_t)f[i].multiplier;
        end[COLUMNS] |= (uint32_t)(f[i].right_shift - 1) << 8 * i;
    }
    return end + COLUMNS + 1;
}

void linear_pack_dsp(C *c, Graph *g, Call *call) {
    CtnLinearS8Args *a = call->args;
    if (linear_runs_as_pixels(call)) {
        pack_as_pixels(c, g, call);
        return;
    }
    Columns k;
    linear_columns(call, &k);
    Cut cut = {a->depth, 1};
    int64_t steps = cut_steps(cut), fours = a->columns / 4, left = a->columns % 4;
    int64_t bytes = fours * (36 + 16 * steps) + left * (CTN_DOT_SINGLE_BYTES + 4 * steps);
    uint32_t *stream = c_alloc(c, (size_t)bytes), *end = stream;
    for (int64_t i = 0; i < fours; i++)
        end = stream_four(&k, 4 * i, cut, end);
    for (int64_t i = 4 * fours; i < a->columns; i++) {
        uint32_t *start = end;
        Factor f;
        end = stream_single(&k, i, cut, end);
        column_factor(&k, i, &f);
        *start = (uint32_t)f.raw_bias;
    }
    constants_pack(call, "weight", DT_I32, stream, bytes, 4);
    store_pack(call);
}

/* ---- depthwise_conv2d_s8 ------------------------------------------------------------------- */

enum { QUAD = 4 };

static bool depthwise_columns(const Call *call, Columns *k) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    *k = (Columns){.weights = call_data(call, &a->weights),
                   .bias = call_data(call, &a->bias),
                   .multiplier = call_data(call, &a->multiplier),
                   .shift = call_data(call, &a->shift),
                   .channels = a->out_c,
                   .depth = (int64_t)a->kernel_h * a->kernel_w,
                   .channel_step = 1,
                   .depth_step = a->out_c,
                   .input_zero_point = a->input_zero_point,
                   .store = store_of(a->output_zero_point, a->clamp_max)};
    return k->weights && k->multiplier && k->shift;
}

bool depthwise_accepts_dsp(const Call *call) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    Columns k;
    bool strides =
        (a->stride_h == 1 || a->dilation_h == 1) && (a->stride_w == 1 || a->dilation_w == 1);
    return strides && a->out_c >= QUAD && depthwise_columns(call, &k) && columns_fit(&k);
}

/* Four channels: biases, multipliers, shifts, and the taps column by column. */
static uint32_t *stream_quad(const CtnDepthwiseConv2dS8Args *a, const Columns *k, int64_t first,
                             uint32_t *word) {
    uint32_t *tap = word + 2 * QUAD + 1;
    word[2 * QUAD] = 0;
    for (int c = 0; c < QUAD; c++) {
        Factor f;
        column_factor(k, first + c, &f);
        word[c] = (uint32_t)f.bias;
        word[QUAD + c] = (uint32_t)f.multiplier;
        word[2 * QUAD] |= (uint32_t)(f.right_shift - 1) << 8 * c;
    }
    for (int64_t x = 0; x < a->kernel_w; x++)
        for (int64_t y = 0; y < a->kernel_h; y++, tap++) {
            *tap = 0;
            for (int c = 0; c < QUAD; c++) {
                int8_t w = k->weights[(y * a->kernel_w + x) * a->out_c + first + c];
                *tap |= (uint32_t)(uint8_t)w << 8 * c;
            }
        }
    return tap;
}

static void depthwise_pack_streams(C *c, Call *call) {
    CtnDepthwiseConv2dS8Args *a = call->args;
    Columns k;
    depthwise_columns(call, &k);
    int64_t taps = k.depth, quads = (a->out_c + QUAD - 1) / QUAD;
    int64_t bytes = 4 * quads * (2 * QUAD + 1 + taps);
    uint32_t *stream = c_alloc(c, (size_t)bytes), *end = stream;
    for (int64_t first = 0; first < a->out_c; first += QUAD)
        end = stream_quad(a, &k, first + QUAD > a->out_c ? a->out_c - QUAD : first, end);
    constants_pack(call, "weight", DT_I32, stream, bytes, 4);
    store_pack(call);
}

void depthwise_pack_dsp(C *c, Graph *g, Call *call) {
    (void)g;
    CtnDepthwiseConv2dS8Args *a = call->args;
    int64_t taps = (int64_t)a->kernel_h * a->kernel_w;
    depthwise_pack_streams(c, call);
    int64_t pixels = (a->out_w + a->dilation_w - 1) / a->dilation_w;
    int64_t positions = (pixels - 1) * a->stride_w + a->kernel_w;
    call_scratch(call, &a->scratch, 4 * (4 * QUAD + 2 * taps + 2 * a->kernel_h * positions), 4);
}

/* Four channels of the output are four side by side of the input. */
bool depthwise_accepts_dsp_small(const Call *call) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    return a->in_c == a->out_c && depthwise_accepts_dsp(call);
}

void depthwise_pack_dsp_small(C *c, Graph *g, Call *call) {
    (void)g;
    depthwise_pack_streams(c, call);
}

/* ---- matmul_s8 ----------------------------------------------------------------------------- */

static int64_t farthest(int32_t zero_point) { /* of a byte from its zero point */
    int64_t low = zero_point + 128, high = 127 - zero_point;
    return low > high ? low : high;
}

static int64_t matmul_largest(const CtnMatmulS8Args *a) { /* sum */
    return a->depth * farthest(a->lhs_zero_point) * farthest(a->rhs_zero_point);
}

static bool matmul_of_exact_stores(const Call *call) {
    const CtnMatmulS8Args *a = call->args;
    return a->depth > 0 &&
           short_store_is_exact(matmul_largest(a), a->multiplier, a->shift, a->output_zero_point);
}

bool matmul_accepts_dsp(const Call *call) {
    const CtnMatmulS8Args *a = call->args;
    return (a->columns > 1 || a->rows > 1) && matmul_of_exact_stores(call);
}

bool matmul_of_dense_rows(const Call *call) {
    const CtnMatmulS8Args *a = call->args;
    return (a->lhs_depth_stride == 1 || a->depth == 1) && matmul_of_exact_stores(call);
}

/* What is scaled is twice the sum: scale_v6m.h. */
bool matmul_of_small_sums(const Call *call) {
    return matmul_of_dense_rows(call) && matmul_largest(call->args) < 1 << 28;
}

void pack_matmul_sums(C *c, Graph *g, Call *call) {
    (void)c, (void)g;
    CtnMatmulS8Args *a = call->args;
    call_scratch(call, &a->scratch, 4LL * a->columns, 4);
}

void matmul_pack_dsp(C *c, Graph *g, Call *call) {
    (void)c;
    (void)g;
    CtnMatmulS8Args *a = call->args;
    int32_t steps = ctn_dot_steps(a->depth);
    int32_t pairs = ctn_dot_columns_s16(a->columns == 1 ? a->rows : a->columns, steps) / 2;
    store_pack(call);
    call_scratch(call, &a->scratch,
                 4LL * steps * CTN_DOT_STEP_WORDS +
                     (int64_t)pairs * (CTN_DOT_PAIR_BYTES + 16 * steps) + a->depth,
                 4);
}

/* ---- conv_transpose2d_s8 ------------------------------------------------------------------- */

typedef struct {
    C *c;
    const CtnConvTranspose2dS8Args *a;
    const Columns *all;
    int64_t group;
    Text stream;
    int32_t most_steps;
} Remainders;

static void stream_reached(void *user, const CtnReach *down, const CtnReach *across) {
    Remainders *r = user;
    const CtnConvTranspose2dS8Args *a = r->a;
    static const int8_t none = 0;
    Columns k = *r->all;
    k.weights = reached_weights(r->c, a, k.weights, down, across);
    k.depth = k.channel_step = (int64_t)down->count * across->count * (a->in_c / a->groups);
    Cut cut = {a->in_c / a->groups, (int64_t)down->count * across->count};
    if (cut.runs == 0) { /* one step of zeros */
        k.depth = 0;
        cut = (Cut){4, 1};
        k.channel_step = 0;
        k.depth_step = 0;
        k.weights = &none;
    }
    int32_t columns = a->out_c / a->groups, steps = cut_steps(cut);
    int64_t bytes = ctn_dot_stream_bytes(columns, steps);
    uint32_t *word = c_alloc(r->c, (size_t)bytes);
    stream_columns(&k, r->group * columns, columns, cut, word);
    text_add_bytes(&r->stream, word, (size_t)bytes);
    r->most_steps = steps > r->most_steps ? steps : r->most_steps;
}

bool conv_transpose2d_accepts_dsp(const Call *call) {
    return conv2d_accepts_dsp(call); /* the fields are the same, and so are the bounds */
}

void conv_transpose2d_pack_dsp(C *c, Graph *g, Call *call) {
    (void)g;
    CtnConvTranspose2dS8Args *a = call->args;
    Columns k;
    conv2d_columns(call, &k);
    Remainders r = {c, a, &k, 0, text_new(c), 0};
    for (; r.group < a->groups; r.group++)
        for_each_reach(a, stream_reached, &r);
    constants_pack(call, "weight", DT_I32, r.stream.data, (int64_t)r.stream.length, 4);
    store_pack(call);
    call_scratch(call, &a->scratch, 4LL * r.most_steps * CTN_DOT_STEP_WORDS, 4);
}
