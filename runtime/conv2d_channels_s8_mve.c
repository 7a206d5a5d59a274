/* Some output channels of a convolution by MVE, sixteen products at a time. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "mve.h"

static inline int32_t ctn_channel_dot(const int8_t *q, const int8_t *w, int32_t depth,
                                      int32_t zero_point) {
    int32_t sum = 0, weights = 0;
    for (; depth > 0; depth -= 16, q += 16, w += 16) {
        mve_pred16_t live = vctp8q((uint32_t)depth);
        int8x16_t v = vldrbq_z_s8(w, live);
        sum = vmladavaq_s8(sum, vldrbq_z_s8(q, live), v);
        weights = vaddvaq_s8(weights, v);
    }
    return sum - zero_point * weights;
}

#include "conv2d_channels_s8.h"

void ctn_conv2d_channels_s8_mve(const CtnConv2dChannelsS8Args *a, const CtnFrame *frame) {
    ctn_conv2d_channels(a, frame);
}
#endif
