/* Pairs of pixels times groups of four channels as in pair_s8_mve.h, with weights of 4 bits: per
 * segment and chunk 16 bytes 16 * w1 + w0 of channels 0 and 1, and 16 of channels 2 and 3. */
#ifndef CTN_PAIR_W4_MVE_H
#define CTN_PAIR_W4_MVE_H

#include "pair_s8_mve.h"

extern const CtnPairKind ctn_pair_w4_mve;

#endif
