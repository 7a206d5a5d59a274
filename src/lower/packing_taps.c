/* What the depthwise kernels of the scalar levels ask of a call, and how its constants are packed
 * for them (runtime/taps_v6m.h, runtime/taps_v7m.h). */
#include "lower/factors.h"
#include "taps_v6m.h"
#include "taps_v7m.h"

static bool strips_fit(const Call *call, int64_t most_taps) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    Columns k;
    return store_fits(call, &a->table, a->output_zero_point, a->clamp_min, a->clamp_max) &&
           (a->dilation_h == 1 || a->dilation_w == 1) && depthwise_columns(call, &k) &&
           k.depth <= most_taps && columns_fit(&k);
}

/* Should runs go along the height? */
static bool turning_pays(const CtnDepthwiseConv2dS8Args *a) {
    if (a->dilation_h > 1 || a->dilation_w > 1)
        return a->dilation_h > 1;
    /* (left over in height) / height < (left over in width) / width */
    return (-a->out_h & 3) * a->out_w < (-a->out_w & 3) * a->out_h;
}

/* The weight of a tap in the order of the strip. */
static int8_t weight_at(const CtnDepthwiseConv2dS8Args *a, const Columns *k, int64_t channel,
                        int64_t tap) {
    if (a->turned)
        tap = tap % a->kernel_h * a->kernel_w + tap / a->kernel_h;
    return k->weights[channel * k->channel_step + tap * k->depth_step];
}

static void finish_call(Call *call, const void *stream, int64_t bytes, int64_t reserved) {
    CtnDepthwiseConv2dS8Args *a = call->args;
    CtnTapsAxis line, run;
    ctn_taps_axes(a, &line, &run);
    int64_t lines = ctn_taps_lines(&line, &run);
    int64_t rows = (lines - 1) * line.stride + line.kernel;
    constants_pack(call, "packed", DT_I8, stream, bytes, 4);
    store_pack(call);
    call_scratch(call, &a->scratch, 4 * reserved + (16 + rows * 8) * run.kernel, 4);
}

static int8_t *put_word(int8_t *to, int64_t value) {
    for (int i = 0; i < 4; i++)
        *to++ = (int8_t)((uint32_t)value >> 8 * i & 0xff);
    return to;
}

bool depthwise_strips(const Call *call) {
    return strips_fit(call, CTN_TAPS_MAX);
}

void pack_depthwise_strips(C *c, Graph *g, Call *call) {
    (void)g;
    Columns k;
    Factor f;
    CtnDepthwiseConv2dS8Args *a = call->args;
    depthwise_columns(call, &k);
    a->turned = turning_pays(a);
    int64_t bytes = k.channels * (k.depth + CTN_TAPS_CHANNEL);
    int8_t *stream = c_alloc(c, (size_t)bytes), *to = stream;
    for (int64_t channel = 0; channel < k.channels; channel++) {
        column_factor(&k, channel, 0, &f);
        for (int64_t tap = 0; tap < k.depth; tap++)
            *to++ = weight_at(a, &k, channel, tap);
        to = put_word(to, 2 * f.bias);
        to = put_word(to, f.multiplier);
        *to++ = (int8_t)(f.right_shift - 1);
    }
    finish_call(call, stream, bytes, 0);
}

/* ---- ARMv6-M ------------------------------------------------------------------------------- */

bool depthwise_words(const Call *call) {
    return strips_fit(call, CTN_TAPS_MOST);
}

void pack_depthwise_words(C *c, Graph *g, Call *call) {
    (void)g;
    CtnDepthwiseConv2dS8Args *a = call->args;
    Columns k;
    Factor f;
    depthwise_columns(call, &k);
    a->turned = turning_pays(a);
    bool narrow = columns_are_narrow(&k);
    int64_t bytes = 4 + k.channels * (4 + CTN_STORE_FACTORS + k.depth);
    uint8_t *stream = c_alloc(c, (size_t)bytes), *to = put_bytes(stream, narrow, 4);
    uint8_t *factor = to + 4 * k.channels;
    for (int64_t channel = 0; channel < k.channels; channel++) {
        column_factor(&k, channel, CTN_TAPS_OFFSET, &f);
        to = put_bytes(to, (uint32_t)f.bias, 4);
        factor = put_factor(&f, narrow, factor);
    }
    to = factor;
    for (int64_t channel = 0; channel < k.channels; channel++)
        for (int64_t tap = 0; tap < k.depth; tap++)
            *to++ = (uint8_t)weight_at(a, &k, channel, tap);
    finish_call(call, stream, bytes, CTN_TAPS_MOST);
}
