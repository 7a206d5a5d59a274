/* Sums of a producer's results on DSP cores. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "dsp.h"

#include "residual_line_s8.h"
#include "residual_s8_dsp.h"

void ctn_residual_add_dsp(CtnResidual *r, const int8_t *from, int32_t count) {
    ctn_residual_line(r, from, count);
}
#endif
