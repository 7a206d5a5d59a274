/* Bounds of sums from the weights, and factors for the short stores. */
#include "lower/factors.h"
#include "fix.h"

bool column_factor(const Columns *k, int64_t channel, int32_t offset, Factor *f) {
    const int64_t limit = (int64_t)1 << 30;
    int64_t bias = k->bias ? k->bias[channel] : 0, sum = 0;
    f->low = f->high = bias;
    for (int64_t i = 0; i < k->depth; i++) {
        int64_t w = k->weights[channel * k->channel_step + i * k->depth_step];
        int64_t least = (-128 - k->input_zero_point) * w, most = (127 - k->input_zero_point) * w;
        f->low += least < most ? least : most;
        f->high += least < most ? most : least;
        sum += w;
    }
    int32_t multiplier = k->multiplier[channel], shift = k->shift[channel];
    f->bias = bias - (k->input_zero_point + offset) * sum;
    f->multiplier = multiplier;
    f->right_shift = -shift;
    if (f->low <= -limit || f->high >= limit || multiplier < 0)
        return false;
    if (multiplier == 0 || (shift <= 0 && ctn_requantize((int32_t)f->low, multiplier, shift) == 0 &&
                            ctn_requantize((int32_t)f->high, multiplier, shift) == 0)) {
        f->multiplier = 0;
        f->right_shift = 1;
    }
    return f->right_shift >= 1 && f->right_shift <= FACTOR_SHIFT_MAX;
}

bool columns_fit(const Columns *k) {
    Factor f;
    for (int64_t i = 0; i < k->channels; i++)
        if (!column_factor(k, i, 0, &f))
            return false;
    return true;
}

void store_pack(Call *call, uint32_t *table, int32_t *clamp_min, int32_t *clamp_max) {
    if (call_data(call, table) || (*clamp_min == -128 && *clamp_max == 127))
        return;
    int8_t entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = (int8_t)ctn_clamp(i - 128, *clamp_min, *clamp_max);
    call_const(call, table, "clamp", DT_I8, entry, sizeof entry, 1);
    *clamp_min = -128;
    *clamp_max = 127;
}

bool store_fits(const Call *call, const uint32_t *table, int32_t zero_point, int32_t clamp_min,
                int32_t clamp_max) {
    if (zero_point < -512 || zero_point > 511)
        return false;
    if (!call_data(call, table))
        return clamp_min >= -128 && clamp_max <= 127;
    return (clamp_min == -128 && clamp_max == 127) || (clamp_min == -512 && clamp_max == 511);
}

bool conv2d_columns(const Call *call, Columns *k) {
    const CtnConv2dS8Args *a = call->args;
    *k = (Columns){.weights = call_data(call, &a->weights),
                   .bias = call_data(call, &a->bias),
                   .multiplier = call_data(call, &a->multiplier),
                   .shift = call_data(call, &a->shift),
                   .channels = a->out_c,
                   .depth = (int64_t)a->kernel_h * a->kernel_w * (a->in_c / a->groups),
                   .depth_step = 1,
                   .input_zero_point = a->input_zero_point};
    k->channel_step = k->depth;
    return k->weights && k->multiplier && k->shift;
}

bool linear_columns(const Call *call, Columns *k) {
    const CtnLinearS8Args *a = call->args;
    *k = (Columns){.weights = call_data(call, &a->weights),
                   .bias = call_data(call, &a->bias),
                   .multiplier = call_data(call, &a->multiplier),
                   .shift = call_data(call, &a->shift),
                   .channels = a->columns,
                   .depth = a->depth,
                   .channel_step = a->depth,
                   .depth_step = 1,
                   .input_zero_point = a->input_zero_point};
    return k->weights && k->multiplier && k->shift;
}
