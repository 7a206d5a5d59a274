/* Convolution by MVE, for weights of either kind; `a` stands for those of 4 bits too. */
#ifndef CTN_CONV2D_S8_MVE_H
#define CTN_CONV2D_S8_MVE_H

#include "ctn.h"
#include "pair_s8_mve.h"
#include "residual_s8.h"

/* Pixels in the block of a sum. */
enum { CTN_RESIDUAL_PIXELS = 16 };

/* residual: a sum in its store, or NULL; of one group. */
void ctn_conv2d_pairs_mve(const CtnConv2dS8Args *a, const CtnFrame *frame, const CtnPairKind *kind,
                          CtnResidual *residual);

#endif
