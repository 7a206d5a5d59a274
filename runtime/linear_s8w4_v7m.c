/* Fully connected layer with weights of 4 bits on ARMv7-M without DSP (linear_w4.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "linear_w4.h"

void ctn_linear_s8w4_v7m(const CtnLinearS8W4Args *a, const CtnFrame *frame) {
    linear_w4(a, frame);
}
#endif
