/* One direction of one GRU layer on ARMv7-M without DSP (gru_step_s8.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "gate_v7m.h"

#include "gru_step_s8.h"

void ctn_gru_s8_v7m(const CtnGruS8Args *a, const CtnFrame *frame) {
    ctn_gru_all(a, frame, ctn_gru_step);
}
#endif
