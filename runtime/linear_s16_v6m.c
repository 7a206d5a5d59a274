/* Fully connected layer between activations of 8 or 16 bits on ARMv6-M (linear_rows_s16.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "dot_s16.h"

#include "linear_rows_s16.h"

void ctn_linear_s16_v6m(const CtnLinearS16Args *a, const CtnFrame *frame) {
    linear_by_rows(a, frame);
}
#endif
