/* Fully connected layer with weights of 4 bits on ARMv6-M (linear_w4.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "linear_w4.h"

void ctn_linear_s8w4_v6m(const CtnLinearS8W4Args *a, const CtnFrame *frame) {
    linear_w4(a, frame);
}
#endif
