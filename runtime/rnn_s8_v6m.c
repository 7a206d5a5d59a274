/* One direction of one plain recurrent layer on ARMv6-M (rnn_step_s8.h). */
#include "gate_v6m.h"

#include "rnn_step_s8.h"

void ctn_rnn_s8_v6m(const CtnRnnS8Args *a, const CtnFrame *frame) {
    ctn_rnn_all(a, frame, ctn_rnn_step);
}
