/* Product of two activations, element by element, on ARMv7-M without DSP. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "scale_v7m.h"

#include "product_s8.h"

void ctn_mul_s8_v7m(const CtnMulS8Args *a, const CtnFrame *frame) {
    ctn_product_s8(a, frame);
}
#endif
