/* Normalization on DSP cores (norm_rows_s8.h). */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "dsp.h"

#include "norm_rows_s8.h"

void ctn_layer_norm_s8_dsp(const CtnLayerNormS8Args *a, const CtnFrame *frame) {
    ctn_norm_all(a, frame, ctn_norm_rows);
}
#endif
