/* References of recurrent layers. */
#include "kernel/wide_math.h"

/* A row's products with x, in Q15.16. */
static int64_t gate_sum(const CtnFrame *f, uint32_t weights, uint32_t multiplier, uint32_t shift,
                        int64_t row, int64_t depth, const int8_t *x, int32_t zero_point) {
    const int8_t *w = (const int8_t *)ctn_at(f, weights) + row * depth;
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; k++)
        sum += (x[k] - zero_point) * w[k];
    return wide_requantize(sum, ((const int32_t *)ctn_at(f, multiplier))[row],
                           ((const int8_t *)ctn_at(f, shift))[row]);
}

/* The int8 output of a state. */
static int64_t output_of(int64_t state, int32_t multiplier, int32_t shift, int32_t zero_point) {
    return wide_limit(wide_requantize(state, multiplier, shift) + zero_point, -128, 127);
}

/* Unit j of a sequence in step t: c before and after, of cell_bits; h: the states before, or NULL.
 */
static int64_t lstm_unit(const CtnLstmS8Args *a, const CtnFrame *f, int32_t j, const int8_t *x,
                         const int8_t *h, bool first, int64_t *c) {
    const int16_t *sigmoid = ctn_at(f, a->sigmoid), *tangent = ctn_at(f, a->tangent);
    int64_t gate[4];
    for (int g = 0; g < 4; g++) {
        int64_t row = g * a->size + j, of_state = 0;
        if (h)
            of_state = gate_sum(f, a->h_weights, a->h_multiplier, a->h_shift, row, a->size, h,
                                first ? a->h0_zero_point : a->output_zero_point);
        if (h && first && a->h0_multiplier != 0)
            of_state = wide_requantize(of_state, a->h0_multiplier, a->h0_shift);
        int64_t sum = gate_sum(f, a->x_weights, a->x_multiplier, a->x_shift, row, a->in_size, x,
                               a->input_zero_point);
        sum += of_state + ((const int32_t *)ctn_at(f, a->bias))[row];
        gate[g] = wide_interpolated(g == 2 ? tangent : sigmoid, wide_half_away(sum, 16));
    }
    int64_t kept = wide_half_away(gate[1] * *c, 1 << 15),
            fresh = wide_half_away(gate[0] * gate[2], 1 << (30 - a->cell_bits));
    *c = wide_limit(kept + fresh, -32768, 32767);
    int64_t squashed = wide_interpolated(tangent, *c * (1 << (12 - a->cell_bits)));
    return output_of(gate[3] * squashed, a->multiplier, a->shift, a->output_zero_point);
}

void wide_lstm_s8(const CtnLstmS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input), *h = ctn_at(f, a->h0);
    const int16_t *c0 = ctn_at(f, a->c0);
    int8_t *output = ctn_at(f, a->output);
    int32_t states = a->batches * a->size;
    int64_t c[2 * 64] = {0};
    for (int32_t i = 0; c0 && i < states; i++)
        c[i] = c0[i];
    for (int32_t k = 0; k < a->steps; k++) {
        int32_t t = a->reverse ? a->steps - 1 - k : k;
        for (int32_t i = 0; i < states; i++) {
            int32_t b = i / a->size;
            const int8_t *x = input + (t * a->batches + b) * a->in_size;
            output[t * states + i] =
                (int8_t)lstm_unit(a, f, i % a->size, x, h ? h + b * a->size : h, k == 0, &c[i]);
        }
        h = output + t * states;
    }
    for (int32_t i = 0; i < states; i++)
        ((int16_t *)ctn_at(f, a->cell))[i] = (int16_t)c[i];
}

/* As lstm_unit, without a state of its own. */
static int64_t rnn_unit(const CtnRnnS8Args *a, const CtnFrame *f, int32_t j, const int8_t *x,
                        const int8_t *h, bool first) {
    const int16_t *tangent = ctn_at(f, a->tangent);
    int64_t of_state = 0;
    if (h)
        of_state = gate_sum(f, a->h_weights, a->h_multiplier, a->h_shift, j, a->size, h,
                            first ? a->h0_zero_point : a->output_zero_point);
    if (h && first && a->h0_multiplier != 0)
        of_state = wide_requantize(of_state, a->h0_multiplier, a->h0_shift);
    int64_t sum = gate_sum(f, a->x_weights, a->x_multiplier, a->x_shift, j, a->in_size, x,
                           a->input_zero_point);
    sum += of_state + ((const int32_t *)ctn_at(f, a->bias))[j];
    sum = tangent ? wide_interpolated(tangent, wide_half_away(sum, 16)) : sum < 0 ? 0 : sum;
    return output_of(sum, a->multiplier, a->shift, a->output_zero_point);
}

void wide_rnn_s8(const CtnRnnS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input), *h = ctn_at(f, a->h0);
    int8_t *output = ctn_at(f, a->output);
    int32_t states = a->batches * a->size;
    for (int32_t k = 0; k < a->steps; k++) {
        int32_t t = a->reverse ? a->steps - 1 - k : k;
        for (int32_t i = 0; i < states; i++) {
            int32_t b = i / a->size;
            const int8_t *x = input + (t * a->batches + b) * a->in_size;
            output[t * states + i] =
                (int8_t)rnn_unit(a, f, i % a->size, x, h ? h + b * a->size : h, k == 0);
        }
        h = output + t * states;
    }
}

/* Unit j: its state before to the one after, of state_bits; h: the states before, or NULL. */
static int64_t gru_unit(const CtnGruS8Args *a, const CtnFrame *f, int32_t j, const int8_t *x,
                        const int8_t *h, int64_t state) {
    const int16_t *sigmoid = ctn_at(f, a->sigmoid), *tangent = ctn_at(f, a->tangent);
    const int32_t *bias = ctn_at(f, a->bias);
    int64_t of_x[3], of_h[3], gate[2];
    for (int g = 0; g < 3; g++) {
        int32_t row = g * a->size + j;
        of_x[g] = gate_sum(f, a->x_weights, a->x_multiplier, a->x_shift, row, a->in_size, x,
                           a->input_zero_point) +
                  bias[row];
        of_h[g] = bias[3 * a->size + row];
        if (h)
            of_h[g] += gate_sum(f, a->h_weights, a->h_multiplier, a->h_shift, row, a->size, h,
                                a->output_zero_point);
    }
    for (int g = 0; g < 2; g++)
        gate[g] = wide_interpolated(sigmoid, wide_half_away(of_x[g] + of_h[g], 16));
    int64_t sum = of_x[2] + wide_floor_div(2 * gate[0] * of_h[2] + (1 << 15), 1 << 16);
    int64_t fresh = wide_interpolated(tangent, wide_half_away(sum, 16));
    int64_t next = wide_half_away((32768 - gate[1]) * fresh, 1 << (30 - a->state_bits));
    return wide_limit(next + wide_half_away(gate[1] * state, 1 << 15), -32768, 32767);
}

void wide_gru_s8(const CtnGruS8Args *a, const CtnFrame *f) {
    const int8_t *input = ctn_at(f, a->input);
    const int16_t *h0 = ctn_at(f, a->h0);
    int8_t *output = ctn_at(f, a->output), narrow[2 * 64];
    int16_t *state = ctn_at(f, a->state);
    int32_t states = a->batches * a->size;
    for (int32_t i = 0; i < states; i++) {
        state[i] = h0 ? h0[i] : 0;
        narrow[i] = (int8_t)output_of(state[i], a->multiplier, a->shift, a->output_zero_point);
    }
    const int8_t *h = h0 ? narrow : NULL;
    for (int32_t k = 0; k < a->steps; k++) {
        int32_t t = a->reverse ? a->steps - 1 - k : k;
        for (int32_t i = 0; i < states; i++) {
            int32_t b = i / a->size;
            const int8_t *x = input + (t * a->batches + b) * a->in_size;
            state[i] = (int16_t)gru_unit(a, f, i % a->size, x, h ? h + b * a->size : h, state[i]);
            output[t * states + i] =
                (int8_t)output_of(state[i], a->multiplier, a->shift, a->output_zero_point);
        }
        h = output + t * states;
    }
}
