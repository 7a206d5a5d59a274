/* Convolution on ARMv7-M without DSP whose results are summed in its store. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "conv2d_s8_v7m.h"
#include "residual_s8_v7m.h"

void ctn_conv2d_add_s8_v7m(const CtnConv2dAddS8Args *a, const CtnFrame *frame) {
    CtnResidual residual;
    ctn_residual_begin(&residual, ctn_residual_add_v7m, &a->skip, frame, a->scratch, a->output);
    const CtnConv2dS8Args *layer = (const CtnConv2dS8Args *)(const void *)a;
    CtnConvPlaces places = ctn_conv_places(layer, frame);
    places.residual = &residual;
    ctn_conv_places_v7m(layer, &places);
}
#endif
