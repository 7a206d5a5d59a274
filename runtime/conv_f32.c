/* Convolutions of up to three spatial dims, with groups, and transposed ones as a gather, in
 * float32. Every sum runs over its taps in row-major order and within a tap over the channels. */
#include "float32.h"

#include "ctn.h"

/* The input position along axis d that a tap reads for output position o, or -1. */
static int32_t source(const CtnConvF32Args *a, int d, int32_t o, int32_t tap) {
    int32_t at;
    if (a->transposed) {
        at = o + a->pad[d] - tap * a->dilation[d];
        if (at < 0 || at % a->stride[d] != 0)
            return -1;
        at /= a->stride[d];
    } else {
        at = o * a->stride[d] - a->pad[d] + tap * a->dilation[d];
    }
    return at >= 0 && at < a->in[d] ? at : -1;
}

static float tap_sum(const CtnConvF32Args *a, const float *image, const float *weights,
                     const int32_t o[3]) {
    int32_t depth = a->in_c / a->groups;
    float sum = 0.0f;
    for (int32_t kz = 0; kz < a->kernel[0]; kz++)
        for (int32_t ky = 0; ky < a->kernel[1]; ky++)
            for (int32_t kx = 0; kx < a->kernel[2]; kx++, weights += depth) {
                int32_t z = source(a, 0, o[0], kz), y = source(a, 1, o[1], ky);
                int32_t x = source(a, 2, o[2], kx);
                if (z < 0 || y < 0 || x < 0)
                    continue;
                const float *p = image + ((z * a->in[1] + y) * a->in[2] + x) * a->in_c;
                for (int32_t c = 0; c < depth; c++)
                    sum += p[c] * weights[c];
            }
    return sum;
}

void ctn_conv_f32(const CtnConvF32Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    const float *weights = ctn_at(frame, a->weights);
    const float *bias = ctn_at(frame, a->bias);
    float *output = ctn_at(frame, a->output);
    int32_t depth = a->in_c / a->groups, width = a->out_c / a->groups;
    int32_t filter = a->kernel[0] * a->kernel[1] * a->kernel[2] * depth;
    int32_t image = a->in[0] * a->in[1] * a->in[2] * a->in_c, o[3];
    for (int32_t b = 0; b < a->batches; b++, input += image)
        for (o[0] = 0; o[0] < a->out[0]; o[0]++)
            for (o[1] = 0; o[1] < a->out[1]; o[1]++)
                for (o[2] = 0; o[2] < a->out[2]; o[2]++)
                    for (int32_t c = 0; c < a->out_c; c++) {
                        float sum = tap_sum(a, input + c / width * depth, weights + c * filter, o);
                        *output++ = ctn_settle(bias ? sum + bias[c] : sum);
                    }
}
