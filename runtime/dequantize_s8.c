/* int8 to float32 at the C boundary and before float islands. */
#include "ctn.h"
#include "fix.h"

void ctn_dequantize_s8(const CtnDequantizeS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    float *output = ctn_at(frame, a->output);
    float scale = ctn_float_from_bits(a->scale);
    for (int32_t i = 0; i < a->count; i++)
        output[i] = ctn_dequantize(input[i], scale, a->zero_point);
}
