/* Convolution by MVE, for weights of either kind; `a` stands for those of 4 bits too. */
#ifndef CTN_CONV2D_S8_MVE_H
#define CTN_CONV2D_S8_MVE_H

#include "ctn.h"
#include "pair_s8_mve.h"

void ctn_conv2d_pairs_mve(const CtnConv2dS8Args *a, const CtnFrame *frame, const CtnPairKind *kind);

#endif
