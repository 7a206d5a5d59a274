/* One direction of one LSTM layer on ARMv7-M without DSP (lstm_step_s8.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "gate_v7m.h"

#include "lstm_step_s8.h"

void ctn_lstm_s8_v7m(const CtnLstmS8Args *a, const CtnFrame *frame) {
    ctn_lstm_all(a, frame, ctn_lstm_step);
}
#endif
