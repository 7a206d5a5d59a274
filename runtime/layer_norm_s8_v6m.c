/* Normalization on ARMv6-M (norm_rows_s8.h). */
#include "scale_v6m.h"

#include "norm_rows_s8.h"

void ctn_layer_norm_s8_v6m(const CtnLayerNormS8Args *a, const CtnFrame *frame) {
    ctn_norm_all(a, frame, ctn_norm_rows);
}
