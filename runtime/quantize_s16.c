/* float32 to int16 at the C boundary, as torch quantizes. Symmetric: -32768 never occurs. */
#include "ctn.h"
#include "fix.h"

void ctn_quantize_s16(const CtnQuantizeS16Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    int16_t *output = ctn_at(frame, a->output);
    float inverse_scale = ctn_float_from_bits(a->inverse_scale);
    for (int32_t i = 0; i < a->count; i++)
        output[i] = (int16_t)ctn_quantize(input[i], inverse_scale, a->zero_point, -32767, 32767);
}
