/* One direction of one plain recurrent layer on ARMv7-M without DSP (rnn_step_s8.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "gate_v7m.h"

#include "rnn_step_s8.h"

void ctn_rnn_s8_v7m(const CtnRnnS8Args *a, const CtnFrame *frame) {
    ctn_rnn_all(a, frame, ctn_rnn_step);
}
#endif
