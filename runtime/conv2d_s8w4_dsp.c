/* Convolution on DSP cores (conv2d_s8_dsp.c) with weights of 4 bits (dot_w4_dsp.h). */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "conv2d_s8_dsp.h"
#include "dot_w4_dsp.h"
#include "int4_args.h"

void ctn_conv2d_s8w4_dsp(const CtnConv2dS8W4Args *a, const CtnFrame *frame) {
    const CtnConv2dS8Args as8 = ctn_conv2d_of_int4(a);
    ctn_conv2d_rows_dsp(&as8, frame, &ctn_dot_w4_dsp, 0);
}
#endif
