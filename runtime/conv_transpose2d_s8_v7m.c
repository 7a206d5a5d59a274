/* Transposed convolution on ARMv7-M by its matrix block (dot_v7m.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "conv2d_s8_v7m.h"
#include "conv_transpose_places.h"

void ctn_conv_transpose2d_s8_v7m(const CtnConvTranspose2dS8Args *a, const CtnFrame *frame) {
    ctn_conv_transpose(a, frame, ctn_conv_places_v7m);
}
#endif
