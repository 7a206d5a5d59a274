/* PReLU by MVE, four elements at a time: both slopes, then a choice. Input and channels are dense;
 * all shifts are -1 or less. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "scale_mve.h"

typedef struct {
    int32_t offset, zero_point; /* offset: -2^16 * input zero point */
    int32_t multiplier, shift;  /* of what is not negative */
} Slopes;

__attribute__((noinline)) static void run(const Slopes *slopes, const int8_t *input,
                                          const int32_t *multiplier, const int32_t *shift,
                                          int8_t *output, int32_t count) {
    const Slopes s = *slopes;
    const int32x4_t unit = vdupq_n_s32(65536), zero = vdupq_n_s32(0);
    for (; count > 0; count -= 4, input += 4, multiplier += 4, shift += 4, output += 4) {
        mve_pred16_t live = vctp32q((uint32_t)count);
        int32x4_t v = vmlasq_n_s32(vldrbq_z_s32(input, live), unit, s.offset);
        int32x4_t up = ctn_scale_mve(vmaxq_s32(v, zero), s.multiplier, s.shift, 1);
        /* of the negative part, by the channels' factors */
        int32x4_t down = vqrdmulhq_s32(vminq_s32(v, zero), vldrwq_z_s32(multiplier, live));
        down = vaddq_s32(down, vshrq_n_s32(down, 31));
        down = vrshlq_s32(down, vldrwq_z_s32(shift, live));
        v = vaddq_n_s32(vaddq_s32(up, down), s.zero_point);
        v = vminq_s32(vmaxq_s32(v, vdupq_n_s32(-128)), vdupq_n_s32(127));
        vstrbq_p_s32(output, v, live);
    }
}

void ctn_prelu_s8_mve(const CtnPreluS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const int32_t *multiplier = ctn_at(frame, a->multiplier);
    const int32_t *shift = ctn_at(frame, a->shift);
    int8_t *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, at = 0, channel = 0;
    const Slopes s = {-65536 * a->input_zero_point, a->output_zero_point, a->positive_multiplier,
                      a->positive_shift};
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        run(&s, input + at, multiplier + channel, shift + channel, output, a->dim[5]);
        output += a->dim[5];
    } while (ctn_step(5, a->dim, index, a->in_stride, &at, a->channel_stride, &channel));
}
#endif
