/* Sums of a producer's results on ARMv7-M without DSP. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "scale_v7m.h"

#include "residual_line_s8.h"
#include "residual_s8_v7m.h"

void ctn_residual_add_v7m(CtnResidual *r, const int8_t *from, int32_t count) {
    ctn_residual_line(r, from, count);
}
#endif
