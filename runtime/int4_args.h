/* Kernels for weights of 4 bits have the fields of those for 8: where only the packed weights
 * differ, both are run by the same functions. */
#ifndef CTN_INT4_ARGS_H
#define CTN_INT4_ARGS_H

#include "ctn.h"

#define CTN_INT4_FIELD(name) .name = a->name,
#define CTN_INT4_FIELDS(name, n)

static inline CtnConv2dS8Args ctn_conv2d_of_int4(const CtnConv2dS8W4Args *a) {
    const CtnConv2dS8Args as8 = {
        CTN_CONV2D_S8_FIELDS(CTN_INT4_FIELD, CTN_INT4_FIELD, CTN_INT4_FIELDS)};
    return as8;
}

static inline CtnDepthwiseConv2dS8Args ctn_depthwise_of_int4(const CtnDepthwiseConv2dS8W4Args *a) {
    const CtnDepthwiseConv2dS8Args as8 = {
        CTN_DEPTHWISE_CONV2D_S8_FIELDS(CTN_INT4_FIELD, CTN_INT4_FIELD, CTN_INT4_FIELDS)};
    return as8;
}

static inline CtnLinearS8Args ctn_linear_of_int4(const CtnLinearS8W4Args *a) {
    const CtnLinearS8Args as8 = {
        CTN_LINEAR_S8_FIELDS(CTN_INT4_FIELD, CTN_INT4_FIELD, CTN_INT4_FIELDS)};
    return as8;
}

#endif
