/* Convolution by MVE (conv2d_s8_mve.c) with weights of 4 bits (pair_w4_mve.h). */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "conv2d_s8_mve.h"
#include "int4_args.h"
#include "pair_w4_mve.h"

void ctn_conv2d_s8w4_mve(const CtnConv2dS8W4Args *a, const CtnFrame *frame) {
    const CtnConv2dS8Args as8 = ctn_conv2d_of_int4(a);
    ctn_conv2d_pairs_mve(&as8, frame, &ctn_pair_w4_mve, 0);
}
#endif
