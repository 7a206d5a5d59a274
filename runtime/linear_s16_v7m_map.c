/* Fully connected layer between activations of 8 or 16 bits on ARMv7-M without DSP with a
 * function of the results in its store (map_s16.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#define CTN_ROWS_MAP
#include "dot_s16.h"

#include "linear_rows_s16.h"

void ctn_linear_s16_v7m_map(const CtnLinearS16Args *a, const CtnFrame *frame) {
    linear_by_rows(a, frame);
}
#endif
