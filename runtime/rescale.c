/* Activations of 8 or 16 bits on another grid. */
#include "ctn.h"
#include "fix.h"

void ctn_rescale(const CtnRescaleArgs *a, const CtnFrame *frame) {
    const void *input = ctn_at(frame, a->input);
    void *output = ctn_at(frame, a->output);
    int from_wide = a->input_bytes == 2, to_wide = a->output_bytes == 2;
    for (int32_t i = 0; i < a->count; i++) {
        int32_t v = from_wide ? ((const int16_t *)input)[i] : ((const int8_t *)input)[i];
        v = ctn_requantize(v - a->input_zero_point, a->multiplier, a->shift) + a->output_zero_point;
        if (to_wide)
            ((int16_t *)output)[i] = (int16_t)ctn_clamp(v, -32767, 32767);
        else
            ((int8_t *)output)[i] = (int8_t)ctn_clamp(v, -128, 127);
    }
}
