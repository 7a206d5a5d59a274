/* Sums of a producer's results on this level. */
#ifndef CTN_RESIDUAL_S8_V7M_H
#define CTN_RESIDUAL_S8_V7M_H

#include "residual_s8.h"

CtnResidualAdd ctn_residual_add_v7m;

#endif
