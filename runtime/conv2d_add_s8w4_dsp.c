/* Convolution with 4-bit weights on DSP cores whose results are summed in its store. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "conv2d_s8_dsp.h"
#include "dot_w4_dsp.h"
#include "residual_s8_dsp.h"

void ctn_conv2d_add_s8w4_dsp(const CtnConv2dAddS8W4Args *a, const CtnFrame *frame) {
    CtnResidual residual;
    ctn_residual_begin(&residual, ctn_residual_add_dsp, &a->skip, frame, a->scratch, a->output);
    ctn_conv2d_rows_dsp((const CtnConv2dS8Args *)(const void *)a, frame, &ctn_dot_w4_dsp,
                        &residual);
}
#endif
