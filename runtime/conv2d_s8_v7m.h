/* Convolution by blocks of pixels on this level. */
#ifndef CTN_CONV2D_S8_V7M_H
#define CTN_CONV2D_S8_V7M_H

#include "residual_s8.h"

/* residual: a sum in its store, or NULL; of one group. */
void ctn_conv2d_blocks_v7m(const CtnConv2dS8Args *a, const CtnFrame *frame, CtnResidual *residual);

#endif
