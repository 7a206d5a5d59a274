/* Transposed convolutions as what they are made of (runtime/reach.h): a convolution for each pair
 * of remainders by the strides. */
#include "lower/factors.h"
#include "lower/packing.h"

#include <string.h>

const int8_t *reached_weights(C *c, const CtnConvTranspose2dS8Args *a, const int8_t *weights,
                              const CtnReach *down, const CtnReach *across) {
    int64_t depth = a->in_c / a->groups, taps = (int64_t)a->kernel_h * a->kernel_w;
    int8_t *packed = NEW_ARRAY(c, int8_t, a->out_c * taps * depth + 1), *to = packed;
    for (int64_t o = 0; o < a->out_c; o++)
        for (int32_t i = 0; i < down->count; i++)
            for (int32_t j = 0; j < across->count; j++, to += depth) {
                int64_t tap = (down->tap + i * down->tap_step) * (int64_t)a->kernel_w +
                              across->tap + j * across->tap_step;
                memcpy(to, weights + (o * taps + tap) * depth, (size_t)depth);
            }
    return packed;
}

void for_each_reach(const CtnConvTranspose2dS8Args *a,
                    void (*visit)(void *user, const CtnReach *down, const CtnReach *across),
                    void *user) {
    for (int32_t row = 0; row < a->stride_h; row++) {
        CtnReach down =
            ctn_reach(row, a->kernel_h, a->stride_h, a->dilation_h, a->pad_top, a->out_h);
        for (int32_t column = 0; column < a->stride_w; column++) {
            CtnReach across =
                ctn_reach(column, a->kernel_w, a->stride_w, a->dilation_w, a->pad_left, a->out_w);
            visit(user, &down, &across);
        }
    }
}

/* ---- the streams of all pairs, one behind the other ----------------------------------------- */

typedef struct {
    C *c;
    const CtnConvTranspose2dS8Args *a;
    const Columns *all;
    StreamOfReached *stream_of;
    Text stream;
    int64_t scratch;
} Remainders;

static void put_reached(void *user, const CtnReach *down, const CtnReach *across) {
    Remainders *r = user;
    int64_t bytes, scratch;
    if (down->places == 0 || across->places == 0)
        return;
    Columns k = reached_columns(r->c, r->a, r->all, down, across);
    const void *stream = r->stream_of(r->c, &k, r->a, &bytes, &scratch);
    text_add_bytes(&r->stream, stream, (size_t)bytes);
    r->scratch = scratch > r->scratch ? scratch : r->scratch;
}

void pack_reaches(C *c, Call *call, int alignment, StreamOfReached *stream_of) {
    CtnConvTranspose2dS8Args *a = call->args;
    Columns k;
    conv2d_columns(call, &k);
    Remainders r = {c, a, &k, stream_of, text_new(c), 0};
    for_each_reach(a, put_reached, &r);
    constants_pack(call, "packed", DT_I8, r.stream.data, (int64_t)r.stream.length, alignment);
    store_pack(call);
    call_scratch(call, &a->scratch, r.scratch, 4);
}
