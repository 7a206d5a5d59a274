/* Sum of two activations of 8 or 16 bits by MVE with a function of it in its store, four
 * elements at a time (map_s16_mve.h). */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "map_s16_mve.h"
#include "runs_s16.h"
#include "scale_s16_mve.h"

typedef struct {
    const CtnAddMapS16Args *args;
    const void *a, *b;
    void *output;
    CtnMapS16 map;
} Sum;

static void run(const void *user, int32_t first, int32_t second, int32_t at, int32_t count) {
    const Sum *s = user;
    const CtnAddMapS16Args *a = s->args;
    const CtnScaleMve scale_a = ctn_scale_begin(a->a_multiplier, a->a_shift);
    const CtnScaleMve scale_b = ctn_scale_begin(a->b_multiplier, a->b_shift);
    const CtnScaleMve scale = ctn_scale_begin(a->output_multiplier, a->output_shift);
    const int32x4_t up = vdupq_n_s32(a->left_shift);
    const int32x4_t min = vdupq_n_s32(a->clamp_min), max = vdupq_n_s32(a->clamp_max);
    int32_t first_step = a->a_stride[5], second_step = a->b_stride[5], bytes = a->input_bytes;
    for (int32_t i = 0; i < count; i += 4) {
        mve_pred16_t live = vctp32q((uint32_t)(count - i));
        int32x4_t p = ctn_load_four(s->a, bytes, first_step, first + i * first_step, live);
        int32x4_t r = ctn_load_four(s->b, bytes, second_step, second + i * second_step, live);
        p = vaddq_n_s32(p, -a->a_zero_point);
        r = vaddq_n_s32(r, -a->b_zero_point);
        p = ctn_scale(vshlq_s32(p, up), &scale_a);
        r = ctn_scale(vshlq_s32(r, up), &scale_b);
        p = ctn_scale(vaddq_s32(p, r), &scale);
        p = ctn_map_four(&s->map, vminq_s32(vmaxq_s32(p, min), max));
        ctn_store_four(s->output, a->output_bytes, at + i, p, live);
    }
}

void ctn_add_map_s16_mve(const CtnAddMapS16Args *a, const CtnFrame *frame) {
    const Sum s = {a, ctn_at(frame, a->a), ctn_at(frame, a->b), ctn_at(frame, a->output),
                   CTN_MAP_S16(a, frame)};
    ctn_runs_at(a->dim, a->a_stride, a->b_stride, run, &s);
}
#endif
