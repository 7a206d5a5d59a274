/* Weights of depthwise convolutions for MVE: sixteen channels beside each other, tap by tap, with
 * the parameters in the lanes in which runtime/taps_s8_mve.c has its sums. */
#include "lower/packing.h"
#include "taps_s8_mve.h"

#include <string.h>

enum { LANES = CTN_TAPS_LANES };

bool depthwise_taps(const Call *call) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    const int8_t *weights = call_data(call, &a->weights);
    if (a->out_c > CTN_TAPS_TIMES * a->in_c || !shifts_right(call, &a->shift, a->out_c))
        return false;
    for (int64_t i = 0; i < (int64_t)a->kernel_h * a->kernel_w * a->out_c; i++)
        if (weights[i] == -128)
            return false;
    return true;
}

/* One group of lanes from `first` on; lane i is channel i % out_c of the pixel i / out_c of those
 * that take part together. `to` is zeroed. */
static void pack_group(const Call *call, int first, int lanes, int taps, int8_t *to) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    const int8_t *weights = call_data(call, &a->weights), *shift = call_data(call, &a->shift);
    const int32_t *bias = call_data(call, &a->bias);
    const int32_t *multiplier = call_data(call, &a->multiplier);
    struct {
        int32_t multiplier[4];
        int8_t shift[4];
    } factors[4];
    int32_t sums[4][4] = {{0}};
    for (int i = 0; i < LANES; i++) {
        factors[i % 4].multiplier[i / 4] = 0;
        factors[i % 4].shift[i / 4] = -1;
    }
    for (int i = 0; i < LANES && first + i < lanes; i++) {
        int64_t sum = 0;
        int channel = (first + i) % a->out_c;
        for (int k = 0; k < taps; k++) {
            int8_t w = weights[k * a->out_c + channel];
            to[sizeof sums + (size_t)(k * LANES + i)] = w;
            sum += w;
        }
        sums[i % 4][i / 4] = (int32_t)((bias ? bias[channel] : 0) - sum * a->input_zero_point);
        factors[i % 4].multiplier[i / 4] = multiplier[channel];
        factors[i % 4].shift[i / 4] = shift[channel];
    }
    memcpy(to, sums, sizeof sums);
    memcpy(to + sizeof sums + taps * LANES, factors, sizeof factors);
}

/* Offsets, and what padding is read from: vectors where channels fill them, else a strip with room
 * behind it for whole groups, and where several outputs read a channel one with its copies. */
static int64_t scratch_bytes(const CtnDepthwiseConv2dS8Args *a, int together) {
    int64_t taps = (int64_t)a->kernel_h * a->kernel_w;
    int64_t width = (int64_t)(a->out_w - 1) * a->stride_w + (a->kernel_w - 1) * a->dilation_w + 1;
    if (a->in_c == a->out_c && a->in_c % LANES == 0)
        return CTN_TAPS_OFFSET_ROOM * 2 * taps + CTN_TAPS_OUTSIDE * a->in_c;
    int64_t beside = CTN_TAPS_OFFSET_ROOM * taps + together * a->out_c + LANES;
    int64_t strip = a->kernel_h * width * a->in_c, times = a->out_c / a->in_c;
    return beside + strip + (times > 1 ? strip * times + (1 + times) * LANES : 0);
}

void pack_depthwise_taps(C *c, Graph *g, Call *call) {
    CtnDepthwiseConv2dS8Args *a = call->args;
    (void)g;
    int together = a->stride_w == 1 && LANES % a->out_c == 0 ? LANES / a->out_c : 1;
    int taps = a->kernel_h * a->kernel_w, lanes = a->out_c * together;
    int groups = (lanes + LANES - 1) / LANES;
    int64_t group = taps * LANES + CTN_TAPS_PARAMETERS;
    int8_t *packed = c_calloc(c, (size_t)groups, (size_t)group);
    for (int i = 0; i < groups; i++)
        pack_group(call, i * LANES, lanes, taps, packed + i * group);
    constants_pack(call, "packed", DT_I8, packed, groups * group, 4);
    call_scratch(call, &a->scratch, scratch_bytes(a, together), 16);
}
