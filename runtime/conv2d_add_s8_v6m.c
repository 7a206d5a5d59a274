/* Convolution on ARMv6-M whose results are summed in its store. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "conv2d_s8_v6m.h"
#include "residual_s8_v6m.h"

void ctn_conv2d_add_s8_v6m(const CtnConv2dAddS8Args *a, const CtnFrame *frame) {
    CtnResidual residual;
    ctn_residual_begin(&residual, ctn_residual_add_v6m, &a->skip, frame, a->scratch, a->output);
    const CtnConv2dS8Args *layer = (const CtnConv2dS8Args *)(const void *)a;
    CtnConvPlaces places = ctn_conv_places(layer, frame);
    places.residual = &residual;
    ctn_conv_places_v6m(layer, &places);
}
#endif
