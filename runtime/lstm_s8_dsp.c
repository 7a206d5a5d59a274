/* One direction of one LSTM layer on DSP cores (lstm_step_s8.h). */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "gate_dsp.h"

#include "lstm_step_s8.h"

void ctn_lstm_s8_dsp(const CtnLstmS8Args *a, const CtnFrame *frame) {
    ctn_lstm_all(a, frame, ctn_lstm_step);
}
#endif
