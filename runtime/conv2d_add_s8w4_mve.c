/* Convolution with 4-bit weights by MVE whose results are summed in its store. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "conv2d_s8_mve.h"
#include "pair_w4_mve.h"
#include "residual_s8_mve.h"

void ctn_conv2d_add_s8w4_mve(const CtnConv2dAddS8W4Args *a, const CtnFrame *frame) {
    CtnResidual residual;
    ctn_residual_begin(&residual, ctn_residual_add_mve, &a->skip, frame, a->scratch, a->output);
    ctn_conv2d_pairs_mve((const CtnConv2dS8Args *)(const void *)a, frame, &ctn_pair_w4_mve,
                         &residual);
}
#endif
