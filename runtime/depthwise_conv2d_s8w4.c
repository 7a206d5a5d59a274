/* Depthwise convolution with 4-bit weights in plain C. */
#include "depthwise_plain_s8.h"

void ctn_depthwise_conv2d_s8w4(const CtnDepthwiseConv2dS8W4Args *a, const CtnFrame *frame) {
    ctn_depthwise_plain((const CtnDepthwiseConv2dS8Args *)(const void *)a, frame, 1);
}
