/* Depthwise convolution in plain C. */
#include "depthwise_plain_s8.h"

void ctn_depthwise_conv2d_s8(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    ctn_depthwise_plain(a, frame, 0);
}
