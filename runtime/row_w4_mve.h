/* A row times groups of eight columns as in row_s8_mve.h, with weights of 4 bits: per chunk 16
 * bytes 16 * w1 + w0 of columns 0 and 1, then of 2 and 3, 4 and 5, 6 and 7. */
#ifndef CTN_ROW_W4_MVE_H
#define CTN_ROW_W4_MVE_H

#include "row_s8_mve.h"

extern const CtnRowKind ctn_row_w4_mve;

#endif
