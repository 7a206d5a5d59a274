/* Normalization of groups of elements by their mean and variance, in float32: the mean first, then
 * the squares of what is away from it. */
#include "float32.h"

#include "ctn.h"
#include "loop.h"

static float sum_of(const CtnLayerNormF32Args *a, const float *input, float mean, int squares) {
    static const int32_t still[4] = {0};
    int32_t index[4] = {0}, offset = 0, zero = 0;
    float sum = 0.0f;
    do {
        float away = input[offset] - mean;
        sum += squares ? away * away : away;
    } while (ctn_step(4, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    return sum / (float)a->count;
}

static void normalize(const CtnLayerNormF32Args *a, const float *input, int32_t parameter,
                      const CtnFrame *frame, float *output) {
    const float *gamma = ctn_at(frame, a->gamma), *beta = ctn_at(frame, a->beta);
    float mean = a->centered ? sum_of(a, input, 0.0f, 0) : 0.0f;
    float variance = sum_of(a, input, mean, 1) + ctn_from_bits((uint32_t)a->epsilon);
    float factor = 1.0f / ctn_sqrt(variance);
    int32_t index[4] = {0}, offset = 0;
    do {
        float x = (input[offset] - mean) * factor;
        if (gamma)
            x *= gamma[parameter];
        if (beta)
            x += beta[parameter];
        output[offset] = ctn_settle(x);
    } while (ctn_step(4, a->reduced, index, a->reduced_stride, &offset, a->reduced_parameter_stride,
                      &parameter));
}

void ctn_layer_norm_f32(const CtnLayerNormF32Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    float *output = ctn_at(frame, a->output);
    int32_t index[4] = {0}, offset = 0, parameter = 0;
    if (ctn_is_empty(4, a->dim) || ctn_is_empty(4, a->reduced))
        return;
    do {
        normalize(a, input + offset, parameter, frame, output + offset);
    } while (ctn_step(4, a->dim, index, a->stride, &offset, a->parameter_stride, &parameter));
}
