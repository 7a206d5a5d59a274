/* One direction of one GRU layer on ARMv6-M (gru_step_s8.h). */
#include "gate_v6m.h"

#include "gru_step_s8.h"

void ctn_gru_s8_v6m(const CtnGruS8Args *a, const CtnFrame *frame) {
    ctn_gru_all(a, frame, ctn_gru_step);
}
