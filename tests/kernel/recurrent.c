/* Cases of recurrent layers and norms. */
#include "kernel/maker.h"

#include <stdlib.h>
#include <string.h>

/* A matrix's rows of gates with factors to Q15.16. */
static void gate_constants(Maker *m, Call *call, int64_t rows, int64_t depth, uint32_t *weights,
                           uint32_t *multiplier, uint32_t *shift) {
    int8_t *w = NEW_ARRAY(m->c, int8_t, rows * depth), *s = NEW_ARRAY(m->c, int8_t, rows);
    int32_t *f = NEW_ARRAY(m->c, int32_t, rows);
    for (int64_t i = 0; i < rows * depth; i++)
        w[i] = (int8_t)between(m, -127, 127);
    for (int64_t i = 0; i < rows; i++) {
        f[i] = between(m, 1 << 30, 0x7fffffff);
        s[i] = (int8_t)between(m, -3, 3);
    }
    constant(call, weights, DT_I8, rows * depth, w);
    constant(call, multiplier, DT_I32, rows, f);
    constant(call, shift, DT_I8, rows, s);
}

static void gate_bias(Maker *m, Call *call, uint32_t *field, int64_t gates, int32_t most) {
    int32_t *bias = NEW_ARRAY(m->c, int32_t, gates);
    for (int64_t i = 0; i < gates; i++)
        bias[i] = between(m, -most, most);
    constant(call, field, DT_I32, gates, bias);
}

static void gate_table(Call *call, uint32_t *field, int32_t middle, int32_t slope) {
    int16_t entry[513];
    for (int i = 0; i < 513; i++)
        entry[i] = (int16_t)(middle + slope * (i - 256) + (i * 37 & 63) - 32);
    constant(call, field, DT_I16, 513, entry);
}

/* Half of the time; else it is zeros. */
static bool state_before(Maker *m, Call *call, uint32_t *field, DType dtype, int64_t count) {
    call_absent(call, field);
    bool given = chance(m, 50);
    if (given)
        call_in(call, field, tensor(m, "state", dtype, count));
    return given;
}

/* The int16 state, then the int8 outputs behind it: one tensor, which tests compare as bytes. */
static void recurrent_outputs(Maker *m, Call *call, int64_t outputs, int64_t states,
                              uint32_t *output, uint32_t *state) {
    Value *all = tensor(m, "output", DT_I16, states + (outputs + 1) / 2);
    call_out(call, state, all);
    call_out_at(call, output, all, 2 * states);
}

void make_lstm_s8(Maker *m, Call *call) {
    CtnLstmS8Args *a = call->args;
    a->steps = between(m, 1, 3);
    a->batches = between(m, 1, 2);
    a->in_size = between(m, 1, 40);
    a->size = chance(m, 70) ? 4 * between(m, 1, 9) : between(m, 1, 20);
    a->reverse = chance(m, 50);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    int64_t states = (int64_t)a->batches * a->size, gates = 4LL * a->size;
    gate_constants(m, call, gates, a->in_size, &a->x_weights, &a->x_multiplier, &a->x_shift);
    gate_constants(m, call, gates, a->size, &a->h_weights, &a->h_multiplier, &a->h_shift);
    gate_bias(m, call, &a->bias, gates, 1 << 18);
    gate_table(call, &a->sigmoid, 16384, 60);
    gate_table(call, &a->tangent, 0, 120);
    if (state_before(m, call, &a->h0, DT_I8, states))
        a->h0_zero_point = random_zero_point(m);
    state_before(m, call, &a->c0, DT_I16, states);
    random_factor(m, &a->h0_multiplier, &a->h0_shift, -2, 1);
    random_factor(m, &a->multiplier, &a->shift, -24, -20);
    a->cell_bits = between(m, 0, 12);
    recurrent_outputs(m, call, a->steps * states, states, &a->output, &a->cell);
    call_in(call, &a->input,
            tensor(m, "input", DT_I8, (int64_t)a->steps * a->batches * a->in_size));
}

void make_layer_norm_s8(Maker *m, Call *call) {
    CtnLayerNormS8Args *a = call->args;
    for (int d = 0; d < 4; d++) {
        a->dim[d] = a->reduced[d] = 1;
        a->stride[d] = a->reduced_stride[d] = 0;
        a->parameter_stride[d] = a->reduced_parameter_stride[d] = 0;
    }
    a->dim[3] = between(m, 1, 9);
    int32_t run = between(m, 1, 70), lines = chance(m, 40) ? between(m, 2, 5) : 1;
    a->reduced[3] = a->stride[3] = run;
    a->reduced[2] = lines; /* a group of channels in all places */
    a->reduced_stride[2] = a->dim[3] * run;
    a->count = run * lines;
    a->reduced_stride[3] = a->reduced_parameter_stride[3] = 1;
    a->centered = chance(m, 80);
    a->epsilon_low = between(m, 1, 1000);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    random_factor(m, &a->multiplier, &a->shift, -11, -9);
    int16_t gamma[70];
    int32_t beta[70];
    for (int i = 0; i < 70; i++) {
        gamma[i] = (int16_t)between(m, -32767, 32767);
        beta[i] = between(m, -20000, 20000);
    }
    call_absent(call, &a->gamma);
    call_absent(call, &a->beta);
    if (chance(m, 80))
        constant(call, &a->gamma, DT_I16, run, gamma);
    if (chance(m, 80))
        constant(call, &a->beta, DT_I32, run, beta);
    random_store(m, call, &a->clamp_min, &a->clamp_max, &a->table);
    call_in(call, &a->input, tensor(m, "input", DT_I8, (int64_t)a->dim[3] * a->count));
    call_out(call, &a->output, tensor(m, "output", DT_I8, (int64_t)a->dim[3] * a->count));
}

void make_gru_s8(Maker *m, Call *call) {
    CtnGruS8Args *a = call->args;
    a->steps = between(m, 1, 4);
    a->batches = chance(m, 20) ? 2 : 1;
    a->in_size = between(m, 1, 40);
    a->size = between(m, 1, 40);
    a->reverse = chance(m, 30);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    int64_t gates = 3 * (int64_t)a->size, states = (int64_t)a->batches * a->size;
    gate_constants(m, call, gates, a->in_size, &a->x_weights, &a->x_multiplier, &a->x_shift);
    gate_constants(m, call, gates, a->size, &a->h_weights, &a->h_multiplier, &a->h_shift);
    gate_bias(m, call, &a->bias, gates, 65536);
    gate_table(call, &a->sigmoid, 16384, 60);
    gate_table(call, &a->tangent, 0, 120);
    a->state_bits = between(m, 12, 15);
    random_factor(m, &a->multiplier, &a->shift, 6 - a->state_bits, 8 - a->state_bits);
    call_absent(call, &a->scratch);
    if (state_before(m, call, &a->h0, DT_I16, states))
        call_scratch(call, &a->scratch, states, 4);
    recurrent_outputs(m, call, a->steps * states, states, &a->output, &a->state);
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->steps * a->batches * a->in_size));
}

void make_rnn_s8(Maker *m, Call *call) {
    CtnRnnS8Args *a = call->args;
    a->steps = between(m, 1, 4);
    a->batches = chance(m, 20) ? 2 : 1;
    a->in_size = between(m, 1, 40);
    a->size = between(m, 1, 40);
    a->reverse = chance(m, 30);
    a->input_zero_point = random_zero_point(m);
    a->output_zero_point = random_zero_point(m);
    int64_t states = (int64_t)a->batches * a->size;
    gate_constants(m, call, a->size, a->in_size, &a->x_weights, &a->x_multiplier, &a->x_shift);
    gate_constants(m, call, a->size, a->size, &a->h_weights, &a->h_multiplier, &a->h_shift);
    gate_bias(m, call, &a->bias, a->size, 1 << 18);
    call_absent(call, &a->tangent);
    bool relu = chance(m, 40);
    if (!relu)
        gate_table(call, &a->tangent, 0, 120);
    random_factor(m, &a->multiplier, &a->shift, relu ? -14 : -9, relu ? -10 : -6);
    if (state_before(m, call, &a->h0, DT_I8, states)) {
        a->h0_zero_point = random_zero_point(m);
        if (chance(m, 70))
            random_factor(m, &a->h0_multiplier, &a->h0_shift, -2, 1);
    }
    call_in(call, &a->input, tensor(m, "input", DT_I8, a->steps * a->batches * a->in_size));
    call_out(call, &a->output, tensor(m, "output", DT_I8, a->steps * states));
}
