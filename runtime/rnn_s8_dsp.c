/* One direction of one plain recurrent layer on DSP cores (rnn_step_s8.h). */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "gate_dsp.h"

#include "rnn_step_s8.h"

void ctn_rnn_s8_dsp(const CtnRnnS8Args *a, const CtnFrame *frame) {
    ctn_rnn_all(a, frame, ctn_rnn_step);
}
#endif
