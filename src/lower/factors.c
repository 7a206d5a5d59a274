/* Bounds of sums from the weights, and factors for the short stores. */
#include "lower/factors.h"
#include "fix.h"

static int64_t magnitude(int64_t v) {
    return v < 0 ? -v : v;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Is the short store exact for these sums? */
static bool store_is_exact(const Factor *f, int32_t zero_point) {
    int64_t sum = larger(magnitude(f->low), magnitude(f->high));
    if (sum >= 1 << 30 || f->multiplier < 0 || f->right_shift < 1 ||
        f->right_shift > FACTOR_SHIFT_MAX)
        return false;
    int64_t t = magnitude(ctn_mul_high((int32_t)sum, f->multiplier)) + 1;
    return t + (magnitude(2LL * zero_point + 1) << f->right_shift) < (int64_t)1 << 31;
}

static int32_t stored(const Columns *k, int64_t channel, int64_t sum) {
    int32_t q = ctn_requantize((int32_t)sum, k->multiplier[channel], k->shift[channel]);
    return ctn_clamp(q + k->output_zero_point, -512, 511);
}

/* An output that hardly depends on its inputs, with a large bias and a small factor: all its sums
 * give one value v, or from some sum on the next one. Any factors that step there will do: half of
 * the sum, moved so that the step is where v is rounded up, and a shift beyond the range. */
static bool factor_of_step(const Columns *k, int64_t channel, Factor *f) {
    int32_t v = stored(k, channel, f->low);
    if (stored(k, channel, f->high) > v + 1)
        return false;
    int64_t below = f->low, step = f->high + 1; /* the least sum that gives v + 1 */
    while (below + 1 < step) {
        int64_t middle = below + (step - below) / 2;
        if (stored(k, channel, middle) > v)
            step = middle;
        else
            below = middle;
    }
    f->right_shift = 1;
    while ((int64_t)1 << f->right_shift < f->high - f->low + 2)
        f->right_shift++;
    int64_t scaled = (int64_t)v - k->output_zero_point;
    int64_t boundary = (2 * scaled + 1) * ((int64_t)1 << (f->right_shift - 1)) + (scaled < 0);
    int64_t move = 2 * boundary - 1 - step;
    f->multiplier = 1 << 30;
    f->bias += move;
    f->low += move;
    f->high += move;
    return store_is_exact(f, k->output_zero_point);
}

bool column_factor(const Columns *k, int64_t channel, int32_t offset, Factor *f) {
    int64_t bias = k->bias ? k->bias[channel] : 0, sum = 0;
    f->low = f->high = bias;
    for (int64_t i = 0; i < k->depth; i++) {
        int64_t w = k->weights[channel * k->channel_step + i * k->depth_step];
        int64_t least = (-128 - k->input_zero_point) * w, most = (127 - k->input_zero_point) * w;
        f->low += least < most ? least : most;
        f->high += least < most ? most : least;
        sum += w;
    }
    f->bias = bias - (k->input_zero_point + offset) * sum;
    f->multiplier = k->multiplier[channel];
    f->right_shift = -k->shift[channel];
    if (store_is_exact(f, k->output_zero_point))
        return true;
    bool fits = f->low > INT32_MIN && f->high < INT32_MAX && f->multiplier >= 0 &&
                f->right_shift >= 0 && f->right_shift <= 31;
    return fits && factor_of_step(k, channel, f);
}

bool columns_fit(const Columns *k) {
    Factor f;
    for (int64_t i = 0; i < k->channels; i++)
        if (!column_factor(k, i, 0, &f))
            return false;
    return true;
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
                   .input_zero_point = a->input_zero_point,
                   .output_zero_point = a->output_zero_point};
    k->channel_step = k->depth;
    return k->weights && k->multiplier && k->shift;
}

bool depthwise_columns(const Call *call, Columns *k) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    *k = (Columns){.weights = call_data(call, &a->weights),
                   .bias = call_data(call, &a->bias),
                   .multiplier = call_data(call, &a->multiplier),
                   .shift = call_data(call, &a->shift),
                   .channels = a->out_c,
                   .depth = (int64_t)a->kernel_h * a->kernel_w,
                   .channel_step = 1,
                   .depth_step = a->out_c,
                   .input_zero_point = a->input_zero_point,
                   .output_zero_point = a->output_zero_point};
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
                   .input_zero_point = a->input_zero_point,
                   .output_zero_point = a->output_zero_point};
    return k->weights && k->multiplier && k->shift;
}

/* ---- the factors of ARMv6-M ---------------------------------------------------------------- */

uint8_t *put_bytes(uint8_t *to, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

/* May the store of this column be the narrow one? */
static bool factor_is_narrow(const Factor *f, int32_t zero_point) {
    const int64_t sum_limit = (int64_t)1 << 19, limit = ((int64_t)1 << 31) - 1;
    int64_t top = f->high > -f->low ? f->high : -f->low;
    int64_t zero = 2 * (int64_t)zero_point + 1;
    int64_t constant = (zero < 0 ? -zero : zero) << (f->right_shift + 11);
    return top < sum_limit && constant < limit && f->right_shift + 11 <= 31 &&
           (top * f->multiplier >> 20) + constant / 2 + 4096 < limit;
}

bool columns_are_narrow(const Columns *k) {
    Factor f;
    for (int64_t i = 0; i < k->channels; i++) {
        column_factor(k, i, 0, &f);
        if (!factor_is_narrow(&f, k->output_zero_point))
            return false;
    }
    return true;
}

uint8_t *put_factor(const Factor *f, bool narrow, uint8_t *to) {
    uint32_t m = (uint32_t)f->multiplier, n = (uint32_t)f->right_shift;
    if (narrow) {
        to = put_bytes(to, m >> 8 & 0xfff, 2);
        to = put_bytes(to, m >> 20, 2);
        to = put_bytes(to, m & 0xff, 1);
        return put_bytes(to, n + 11, 1);
    }
    to = put_bytes(to, m, 4);
    to = put_bytes(to, 0, 1);
    return put_bytes(to, n, 1);
}

Columns reached_columns(C *c, const CtnConvTranspose2dS8Args *a, const Columns *all,
                        const CtnReach *down, const CtnReach *across) {
    Columns k = *all;
    int64_t depth = a->in_c / a->groups, taps = (int64_t)down->count * across->count;
    k.weights = taps > 0 ? reached_weights(c, a, k.weights, down, across)
                         : NEW_ARRAY(c, int8_t, k.channels * depth);
    k.depth = k.channel_step = (taps > 0 ? taps : 1) * depth;
    return k;
}
