/* Convolution on DSP cores, for weights of either kind; `a` stands for those of 4 bits too. */
#ifndef CTN_CONV2D_S8_DSP_H
#define CTN_CONV2D_S8_DSP_H

#include "ctn.h"
#include "dot_dsp.h"
#include "residual_s8.h"

/* residual: a sum in its store, or NULL; of one group. */
void ctn_conv2d_rows_dsp(const CtnConv2dS8Args *a, const CtnFrame *frame, const CtnDotKindDsp *kind,
                         CtnResidual *residual);

#endif
