/* Sum of two activations on DSP cores. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "dsp.h"

#include "sum_s8.h"

void ctn_add_s8_dsp(const CtnAddS8Args *a, const CtnFrame *frame) {
    ctn_sum_s8(a, frame);
}
#endif
