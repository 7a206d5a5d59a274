/* Convolution with weights of 4 bits on ARMv7-M without DSP (conv2d_rows_w4.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "conv2d_rows_w4.h"

void ctn_conv2d_s8w4_v7m(const CtnConv2dS8W4Args *a, const CtnFrame *frame) {
    conv2d_w4_by_rows(a, frame);
}
#endif
