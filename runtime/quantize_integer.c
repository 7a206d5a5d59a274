/* Plain integers brought to an activation's grid, rounded once. The limit is beyond the grid's
 * ends, so that clamping first changes no result and keeps the product below 2^61. */
#include "ctn.h"
#include "fix.h"
#include "integer.h"

/* v * multiplier * 2^(shift - 31), half away from zero; shift <= 30. */
static int64_t scaled(int64_t v, int32_t multiplier, int32_t shift) {
    int64_t product = v * multiplier, half = (int64_t)1 << (30 - shift);
    return product < 0 ? -((half - product) >> (31 - shift)) : (product + half) >> (31 - shift);
}

void ctn_quantize_integer(const CtnQuantizeIntegerArgs *a, const CtnFrame *frame) {
    const void *input = ctn_at(frame, a->input);
    void *output = ctn_at(frame, a->output);
    int wide = a->output_bytes == 2;
    for (int32_t i = 0; i < a->count; i++) {
        int64_t v = ctn_load_integer(input, i, a->input_type);
        v = v < -a->limit ? -a->limit : v > a->limit ? a->limit : v;
        int32_t q = (int32_t)scaled(v, a->multiplier, a->shift) + a->zero_point;
        if (wide)
            ((int16_t *)output)[i] = (int16_t)ctn_clamp(q, -32767, 32767);
        else
            ((int8_t *)output)[i] = (int8_t)ctn_clamp(q, -128, 127);
    }
}
