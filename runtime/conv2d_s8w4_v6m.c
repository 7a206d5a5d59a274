/* Convolution with weights of 4 bits on ARMv6-M (conv2d_rows_w4.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "conv2d_rows_w4.h"

void ctn_conv2d_s8w4_v6m(const CtnConv2dS8W4Args *a, const CtnFrame *frame) {
    conv2d_w4_by_rows(a, frame);
}
#endif
