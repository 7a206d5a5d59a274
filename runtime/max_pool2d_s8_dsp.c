/* Maximum over windows on DSP cores (max_pool_s8.h). */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "dsp.h"
#include "max_pool_s8.h"

void ctn_max_pool2d_s8_dsp(const CtnMaxPool2dS8Args *a, const CtnFrame *frame) {
    ctn_max_pool_s8(a, frame);
}
#endif
