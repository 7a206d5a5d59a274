/* Product of two activations, element by element, on DSP cores. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "dsp.h"

#include "product_s8.h"

void ctn_mul_s8_dsp(const CtnMulS8Args *a, const CtnFrame *frame) {
    ctn_product_s8(a, frame);
}
#endif
