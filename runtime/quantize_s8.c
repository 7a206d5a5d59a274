/* float32 to int8 at the C boundary, as torch quantizes. */
#include "ctn.h"
#include "fix.h"

void ctn_quantize_s8(const CtnQuantizeS8Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    float inverse_scale = ctn_float_from_bits(a->inverse_scale);
    for (int32_t i = 0; i < a->count; i++)
        output[i] = (int8_t)ctn_quantize(input[i], inverse_scale, a->zero_point, -128, 127);
}
