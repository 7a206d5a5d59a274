/* Some output channels of a convolution in plain C: the definition that every variant equals. */
#include "ctn.h"

static inline int32_t ctn_channel_dot(const int8_t *q, const int8_t *w, int32_t depth,
                                      int32_t zero_point) {
    int32_t sum = 0;
    for (; depth > 0; depth--)
        sum += (*q++ - zero_point) * *w++;
    return sum;
}

#include "conv2d_channels_s8.h"

void ctn_conv2d_channels_s8(const CtnConv2dChannelsS8Args *a, const CtnFrame *frame) {
    ctn_conv2d_channels(a, frame);
}
