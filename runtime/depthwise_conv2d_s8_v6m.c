/* Depthwise convolution on ARMv6-M, by taps.h and taps_v6m.h. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "taps_v6m.h"

typedef uint32_t __attribute__((may_alias)) Word;

typedef struct {
    CtnTapsV6m taps;
    const Word *bias;
    const uint8_t *factors;
    const int8_t *weights;
    int32_t *words; /* [count], a channel's weights */
    int32_t count;
} Channels;

static void set_channel(Channels *c, const int8_t *weight, uint32_t bias, const uint8_t *factor) {
    uint32_t negative = 0;
    for (int32_t i = 0; i < c->count; i++) {
        c->words[i] = weight[i];
        negative += weight[i] < 0;
    }
    c->taps.second = bias + negative;
    c->taps.first = bias + (c->taps.second << 16) - (negative << 16);
    c->taps.factor = factor;
}

static void run(CtnTaps *taps, void *user) {
    Channels *c = user;
    const Word *bias = c->bias;
    const uint8_t *factor = c->factors;
    const int8_t *weight = c->weights;
    int32_t input = 0, left = 0; /* output channels that are left of the input channel before */
    c->taps.block = taps->block;
    for (int32_t i = taps->channels; i > 0; i--) {
        if (left-- == 0) {
            ctn_taps_expand(taps, input++);
            left = taps->per_input - 1;
        }
        set_channel(c, weight, *bias++, factor);
        ctn_taps_4_v6m(&c->taps);
        factor += CTN_STORE_FACTORS;
        weight += c->count;
        c->taps.block.output++;
    }
}

void ctn_depthwise_conv2d_s8_v6m(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    static const CtnTapsLevel level = {(uint32_t)CTN_TAPS_OFFSET * 0x10001u, 16,
                                       ctn_taps_expand_v6m, run};
    const uint8_t *stream = ctn_at(frame, a->weights);
    Channels c = {.count = a->kernel_h * a->kernel_w, .words = ctn_at(frame, a->scratch)};
    int32_t out = CTN_TAPS_MOST - c.count;
    c.taps.store =
        ctn_store_begin_v6m(*stream, a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    c.taps.entry = 20 * (uint32_t)out;
    c.taps.weights = c.words - out;
    c.bias = (const Word *)(const void *)stream + 1;
    c.factors = stream + 4 + 4 * a->out_c;
    c.weights = (const int8_t *)c.factors + CTN_STORE_FACTORS * a->out_c;
    ctn_taps_run(&level, &c, a, frame, CTN_TAPS_MOST);
}
#endif
