/* Sums of a producer's results on ARMv6-M. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "scale_v6m.h"

#include "residual_line_s8.h"
#include "residual_s8_v6m.h"

void ctn_residual_add_v6m(CtnResidual *r, const int8_t *from, int32_t count) {
    ctn_residual_line(r, from, count);
}
#endif
