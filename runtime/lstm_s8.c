/* One direction of one LSTM layer in plain C (lstm_step_s8.h). */
#include "gate_plain.h"

#include "lstm_step_s8.h"

void ctn_lstm_s8(const CtnLstmS8Args *a, const CtnFrame *frame) {
    ctn_lstm_all(a, frame, ctn_lstm_step);
}
