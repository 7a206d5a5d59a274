/* Convolution in plain C. */
#include "conv2d_plain_s8.h"

void ctn_conv2d_s8(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    ctn_conv2d_plain(a, frame, 0, 0);
}
