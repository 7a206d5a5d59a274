/* Convolution between activations of 8 or 16 bits on ARMv6-M with a
 * function of the results in its store (map_s16.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#define CTN_ROWS_MAP
#include "dot_s16.h"

#include "conv2d_rows_s16.h"

void ctn_conv2d_s16_v6m_map(const CtnConv2dS16Args *a, const CtnFrame *frame) {
    conv2d_by_rows(a, frame);
}
#endif
