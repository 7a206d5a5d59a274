/* Transposed convolution on ARMv6-M by its matrix block (dot_v6m.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "conv2d_s8_v6m.h"
#include "conv_transpose_places.h"

void ctn_conv_transpose2d_s8_v6m(const CtnConvTranspose2dS8Args *a, const CtnFrame *frame) {
    ctn_conv_transpose(a, frame, ctn_conv_places_v6m);
}
#endif
