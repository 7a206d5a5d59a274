/* Linear and cubic upsampling in float32: rows and columns have their taps in tables. */
#include "float32.h"

#include "ctn.h"

void ctn_resample2d_f32(const CtnResample2dF32Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    const int32_t *row_index = ctn_at(frame, a->row_index);
    const int32_t *column_index = ctn_at(frame, a->column_index);
    const float *row_weight = ctn_at(frame, a->row_weight);
    const float *column_weight = ctn_at(frame, a->column_weight);
    float *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, input += a->in_h * a->in_w * a->channels)
        for (int32_t y = 0; y < a->out_h; y++)
            for (int32_t x = 0; x < a->out_w; x++)
                for (int32_t c = 0; c < a->channels; c++) {
                    float sum = 0.0f;
                    for (int32_t i = y * a->taps; i < (y + 1) * a->taps; i++) {
                        const float *row = input + row_index[i] * a->in_w * a->channels + c;
                        float part = 0.0f;
                        for (int32_t k = x * a->taps; k < (x + 1) * a->taps; k++)
                            part += row[column_index[k] * a->channels] * column_weight[k];
                        sum += part * row_weight[i];
                    }
                    *output++ = ctn_settle(sum);
                }
}
