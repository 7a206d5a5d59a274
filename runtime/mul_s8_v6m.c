/* Product of two activations, element by element, on ARMv6-M. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "scale_v6m.h"

#include "product_s8.h"

void ctn_mul_s8_v6m(const CtnMulS8Args *a, const CtnFrame *frame) {
    ctn_product_s8(a, frame);
}
#endif
