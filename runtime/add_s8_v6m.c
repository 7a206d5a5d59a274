/* Sum of two activations on ARMv6-M. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "scale_v6m.h"

#include "sum_s8.h"

void ctn_add_s8_v6m(const CtnAddS8Args *a, const CtnFrame *frame) {
    ctn_sum_s8(a, frame);
}
#endif
