/* One direction of one GRU layer on DSP cores (gru_step_s8.h). */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "gate_dsp.h"

#include "gru_step_s8.h"

void ctn_gru_s8_dsp(const CtnGruS8Args *a, const CtnFrame *frame) {
    ctn_gru_all(a, frame, ctn_gru_step);
}
#endif
