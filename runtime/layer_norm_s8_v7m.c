/* Normalization on ARMv7-M without DSP (norm_rows_s8.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "scale_v7m.h"

#include "norm_rows_s8.h"

void ctn_layer_norm_s8_v7m(const CtnLayerNormS8Args *a, const CtnFrame *frame) {
    ctn_norm_all(a, frame, ctn_norm_rows);
}
#endif
