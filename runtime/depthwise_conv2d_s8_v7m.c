/* Depthwise convolution on ARMv7-M without DSP, by taps.h and taps_v7m.h. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "short_store.h"
#include "taps_v7m.h"

typedef struct {
    CtnTapsV7m taps;
    const int8_t *stream;
    int32_t bytes; /* of a channel */
} Channels;

static void run(CtnTaps *taps, void *user) {
    Channels *c = user;
    c->taps.block = taps->block;
    c->taps.weights = c->stream;
    int32_t input = 0, left = 0; /* output channels that are left of the input channel before */
    for (int32_t i = taps->channels; i > 0; i--) {
        if (left-- == 0) {
            ctn_taps_expand(taps, input++);
            left = taps->per_input - 1;
        }
        ctn_taps_4_v7m(&c->taps);
        c->taps.weights += c->bytes;
        c->taps.block.output++;
    }
}

void ctn_depthwise_conv2d_s8_v7m(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    static const CtnTapsLevel level = {0, 23, ctn_taps_expand_v7m, run};
    const int8_t *table = ctn_at(frame, a->table);
    uint32_t rest = (uint32_t)(a->kernel_h * a->kernel_w) - 1;
    Channels c = {.stream = ctn_at(frame, a->weights),
                  .bytes = a->kernel_h * a->kernel_w + CTN_TAPS_CHANNEL};
    c.taps.passes = rest > 0 ? (rest + CTN_TAPS_UNROLL - 1) / CTN_TAPS_UNROLL : 1;
    c.taps.entry = c.taps.passes * CTN_TAPS_UNROLL - rest;
    c.taps.tail = ctn_tail_of(a->clamp_max, table);
    c.taps.zero = 2 * a->output_zero_point + 1;
    c.taps.table = table ? table + a->clamp_max + 1 : table;
    ctn_taps_run(&level, &c, a, frame, 0);
}
#endif
