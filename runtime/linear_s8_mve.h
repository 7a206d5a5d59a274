/* Fully connected layer by MVE, for weights of either kind; `a` stands for those of 4 bits too. */
#ifndef CTN_LINEAR_S8_MVE_H
#define CTN_LINEAR_S8_MVE_H

#include "ctn.h"
#include "row_s8_mve.h"

void ctn_linear_rows_mve(const CtnLinearS8Args *a, const CtnFrame *frame, const CtnRowKind *kind);

#endif
