/* Convolution in plain C whose results are summed in its store. */
#include "conv2d_plain_s8.h"

void ctn_conv2d_add_s8(const CtnConv2dAddS8Args *a, const CtnFrame *frame) {
    CtnResidual residual;
    ctn_residual_begin(&residual, 0, &a->skip, frame, CTN_NONE, a->output);
    ctn_conv2d_plain((const CtnConv2dS8Args *)(const void *)a, frame, &residual, 0);
}
