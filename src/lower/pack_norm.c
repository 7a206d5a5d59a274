/* What the variants of norms and of PReLU ask of a call. */
#include "lower/packing.h"

enum { NORM_COUNT = 1 << 20, NORM_BETA = 1 << 26, SHIFT_MOST = 20 };

static bool is_right_shift(int32_t shift) {
    return shift <= -1 && shift >= -SHIFT_MOST;
}

/* As norm_runs_s8.h has it. */
bool norm_of_runs(const Call *call) {
    const CtnLayerNormS8Args *a = call->args;
    const int16_t *gamma = call_data(call, &a->gamma);
    const int32_t *beta = call_data(call, &a->beta);
    int64_t parameters = 1;
    for (int d = 0; d < 4; d++)
        parameters += (int64_t)(a->dim[d] - 1) * a->parameter_stride[d] +
                      (int64_t)(a->reduced[d] - 1) * a->reduced_parameter_stride[d];
    for (int64_t i = 0; beta && i < parameters; i++)
        if (beta[i] < -NORM_BETA || beta[i] > NORM_BETA)
            return false;
    bool dense =
        a->reduced_stride[3] == 1 && ((!gamma && !beta) || a->reduced_parameter_stride[3] == 1);
    return dense && a->count <= NORM_COUNT && is_right_shift(a->shift);
}

bool prelu_of_channels(const Call *call) {
    const CtnPreluS8Args *a = call->args;
    const int32_t *shift = call_data(call, &a->shift);
    int64_t channels = 1;
    for (int d = 0; d < 6; d++)
        channels += (int64_t)(a->dim[d] - 1) * a->channel_stride[d];
    for (int64_t i = 0; i < channels; i++)
        if (shift[i] > -1)
            return false;
    return a->in_stride[5] == 1 && a->channel_stride[5] == 1 && is_right_shift(a->positive_shift);
}
