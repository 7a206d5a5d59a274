/* Layers between 8 and 16 bits for the variants of rows_s16.h: which of them may be narrow, and
 * their weights filled up. */
#include "dot_s16.h"

#include "lower/memory.h"
#include "lower/packing.h"
#include "taps_s16.h"

#include <string.h>

enum { TAPS_MOST = 500 };

/* The constants of the outputs; weights [channels][depth]. */
typedef struct {
    const int8_t *weights;
    const int32_t *bias; /* NULL: zeros */
    const int8_t *shift;
    int64_t channels, depth;
    int32_t input_bytes, input_zero_point;
} Layer;

/* Do all sums fit int32, and are all shifts as the short requantization wants them? */
static bool is_narrow(const Layer *l) {
    int64_t below = l->input_bytes == 2 ? 32768 : 128 + (int64_t)l->input_zero_point;
    int64_t above = l->input_bytes == 2 ? 32767 : 127 - (int64_t)l->input_zero_point;
    int64_t most = below > above ? below : above;
    for (int64_t c = 0; c < l->channels; c++) {
        int64_t bias = l->bias ? l->bias[c] : 0, sum = bias < 0 ? -bias : bias;
        for (int64_t k = 0; k < l->depth; k++) {
            int64_t w = l->weights[c * l->depth + k];
            sum += (w < 0 ? -w : w) * most;
        }
        if (sum > INT32_MAX || l->shift[c] > -2 || l->shift[c] < -31)
            return false;
    }
    return true;
}

/* The last block of a group may reach over its end. */
static int64_t filled_channels(int64_t channels, int64_t groups) {
    return groups > 1 ? channels + CTN_ROWS_CHANNELS - 1
                      : (channels + CTN_ROWS_CHANNELS - 1) / CTN_ROWS_CHANNELS * CTN_ROWS_CHANNELS;
}

/* Channels filled up to a whole depth; `swapped`: of four weights the two in the middle. */
static int8_t *fill_up(C *c, const Layer *l, bool swapped) {
    int64_t depth = ctn_rows_depth((int32_t)l->depth);
    int8_t *to = c_calloc(c, (size_t)(l->channels + CTN_ROWS_CHANNELS), (size_t)depth);
    for (int64_t o = 0; o < l->channels; o++)
        for (int64_t k = 0; k < l->depth; k++) {
            int64_t at = swapped && (k & 3) % 3 != 0 ? k ^ 3 : k;
            to[o * depth + at] = l->weights[o * l->depth + k];
        }
    return to;
}

static void set_constants(C *c, Call *call, const Layer *l, uint32_t *weights, const int8_t *packed,
                          int64_t bytes, uint32_t *bias) {
    call_const(call, weights, "packed", DT_I8, packed, bytes, 4);
    if (!l->bias)
        call_const(call, bias, "bias", DT_I32, NEW_ARRAY(c, int32_t, l->channels), 4 * l->channels,
                   4);
}

/* ---- linear layers ------------------------------------------------------------------------- */

/* Is there a function in the store? */
static bool maps(const Call *call) {
    return call_ref_named(call, "table") || call_ref_named(call, "piece");
}

static bool has_rows(const Call *call) {
    return ((const CtnLinearS16Args *)call->args)->rows > 0;
}

bool linear_of_rows(const Call *call) {
    return has_rows(call) && !maps(call);
}

bool linear_of_rows_mapped(const Call *call) {
    return has_rows(call) && maps(call);
}

static void pack_linear(C *c, Call *call, bool swapped) {
    CtnLinearS16Args *a = call->args;
    Layer l = {call_data(call, &a->weights),
               call_data(call, &a->bias),
               call_data(call, &a->shift),
               a->columns,
               a->depth,
               a->input_bytes,
               a->input_zero_point};
    int64_t depth = ctn_rows_depth(a->depth);
    a->narrow = is_narrow(&l);
    set_constants(c, call, &l, &a->weights, fill_up(c, &l, swapped),
                  filled_channels(a->columns, 1) * depth, &a->bias);
    if (a->input_bytes != 2 || depth != a->depth)
        call_scratch(call, &a->scratch, 2 * depth, 4);
}

static void pack_linear_or_conv2d(C *c, Graph *g, Call *call, bool swapped) {
    if (linear_runs_as_pixels(call))
        pack_as_pixels(c, g, call);
    else
        pack_linear(c, call, swapped);
}

void pack_linear_by_rows(C *c, Graph *g, Call *call) {
    pack_linear_or_conv2d(c, g, call, false);
}

void pack_linear_by_rows_dsp(C *c, Graph *g, Call *call) {
    pack_linear_or_conv2d(c, g, call, true);
}

/* ---- convolutions -------------------------------------------------------------------------- */

static bool is_depthwise(const CtnConv2dS16Args *a) {
    return a->groups > 1 && a->groups == a->in_c;
}

static bool few_taps(const CtnConv2dS16Args *a) {
    return !is_depthwise(a) || (int64_t)a->kernel_h * a->kernel_w <= TAPS_MOST;
}

bool conv2d_by_rows(const Call *call) {
    return few_taps(call->args) && !maps(call);
}

bool conv2d_by_rows_mapped(const Call *call) {
    return few_taps(call->args) && maps(call);
}

/* [channels][taps] to [taps][channels] */
static int8_t *by_taps(C *c, const Layer *l) {
    int8_t *to = c_alloc(c, (size_t)(l->channels * l->depth));
    for (int64_t o = 0; o < l->channels; o++)
        for (int64_t k = 0; k < l->depth; k++)
            to[k * l->channels + o] = l->weights[o * l->depth + k];
    return to;
}

static void pack_conv2d(C *c, Call *call, bool swapped) {
    CtnConv2dS16Args *a = call->args;
    int64_t taps = (int64_t)a->kernel_h * a->kernel_w;
    Layer l = {call_data(call, &a->weights), call_data(call, &a->bias),
               call_data(call, &a->shift),   a->out_c,
               taps * (a->in_c / a->groups), a->input_bytes,
               a->input_zero_point};
    int64_t depth = ctn_rows_depth((int32_t)l.depth);
    a->narrow = is_narrow(&l);
    if (is_depthwise(a)) {
        set_constants(c, call, &l, &a->weights, by_taps(c, &l), a->out_c * taps, &a->bias);
        call_scratch(call, &a->scratch, taps * (int64_t)sizeof(CtnTapS16), 4);
        return;
    }
    set_constants(c, call, &l, &a->weights, fill_up(c, &l, swapped),
                  filled_channels(a->out_c, a->groups) * depth, &a->bias);
    call_scratch(call, &a->scratch, 4 * depth, 4);
}

void pack_conv2d_by_rows(C *c, Graph *g, Call *call) {
    (void)g;
    pack_conv2d(c, call, false);
}

void pack_conv2d_by_rows_dsp(C *c, Graph *g, Call *call) {
    (void)g;
    pack_conv2d(c, call, true);
}

/* ---- sums and products ---------------------------------------------------------------------- */

static bool goes_on(const int32_t *stride) {
    return stride[5] == 0 || stride[5] == 1;
}

static bool add_shifts_right(const CtnAddS16Args *a) {
    return a->a_shift <= 0 && a->b_shift <= 0 && a->output_shift <= 0 && a->left_shift == 15 &&
           a->output_zero_point == 0 && goes_on(a->a_stride) && goes_on(a->b_stride);
}

bool add_of_halves(const Call *call) {
    const CtnAddS16Args *a = call->args;
    return add_shifts_right(a) && a->a_zero_point == 0 && a->b_zero_point == 0 &&
           !call_data(call, &a->table);
}

bool add_mapped(const Call *call) {
    return add_shifts_right(call->args); /* its fields come first */
}

static bool mul_shifts_right(const CtnMulS16Args *a) {
    return a->shift <= 0 && goes_on(a->a_stride) && goes_on(a->b_stride);
}

bool mul_of_halves(const Call *call) {
    const CtnMulS16Args *a = call->args;
    return mul_shifts_right(a) && !call_data(call, &a->table);
}

bool mul_mapped(const Call *call) {
    const CtnMulMapS16Args *a = call->args;
    return mul_shifts_right(call->args) && a->output_zero_point == 0; /* its fields come first */
}
