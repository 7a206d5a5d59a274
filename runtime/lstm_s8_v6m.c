/* One direction of one LSTM layer on ARMv6-M (lstm_step_s8.h). */
#include "gate_v6m.h"

#include "lstm_step_s8.h"

void ctn_lstm_s8_v6m(const CtnLstmS8Args *a, const CtnFrame *frame) {
    ctn_lstm_all(a, frame, ctn_lstm_step);
}
