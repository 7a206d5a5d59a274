/* Convolution with 4-bit weights in plain C whose results are summed in its store. */
#include "conv2d_plain_s8.h"

void ctn_conv2d_add_s8w4(const CtnConv2dAddS8W4Args *a, const CtnFrame *frame) {
    CtnResidual residual;
    ctn_residual_begin(&residual, 0, &a->skip, frame, CTN_NONE, a->output);
    ctn_conv2d_plain((const CtnConv2dS8Args *)(const void *)a, frame, &residual, 1);
}
