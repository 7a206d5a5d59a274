/* Convolution with 4-bit weights in plain C. */
#include "conv2d_plain_s8.h"

void ctn_conv2d_s8w4(const CtnConv2dS8W4Args *a, const CtnFrame *frame) {
    ctn_conv2d_plain((const CtnConv2dS8Args *)(const void *)a, frame, 0, 1);
}
