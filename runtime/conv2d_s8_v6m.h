/* Convolution by blocks of positions on this level. */
#ifndef CTN_CONV2D_S8_V6M_H
#define CTN_CONV2D_S8_V6M_H

#include "conv_places.h"

/* All positions of all images of the shape, one pitch after the other; returns what follows the
 * weights. A dilation may be negative. */
const void *ctn_conv_places_v6m(const CtnConv2dS8Args *a, const CtnConvPlaces *places);

#endif
