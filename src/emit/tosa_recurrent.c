/* Recurrent layers in TOSA, in the arithmetic of runtime/gate.h: unrolled, for TOSA has no loop
 * whose body an NPU takes. Products with the inputs of all steps are one convolution; each step
 * multiplies the state before, and the gates go through TABLEs of 16 bits. */
#include "emit/tosa.h"
#include "ops/recurrent.h"

#include <string.h>

enum { STEPS_MOST = 256 }; /* each is some 40 operators */
enum { GATE_BITS = 4 };    /* from Q15.16 to the tables' Q3.12 */
enum { ONE_BITS = 15 };    /* of what tables give, and of products with it */

typedef struct {
    Tosa *t;
    const Node *n;
    Recurrent l;
    int of_x;             /* products with the inputs and their biases: [steps * batches][gates] */
    int weights, no_bias; /* of the state before: weights, and no bias */
    GateRows rows;
    int bias_h; /* of a GRU's products with the state before, else -1 */
    int sigmoid, tangent;
    int32_t multiplier, shift; /* to the output's grid */
} Recurring;

/* ---- parts of a step ------------------------------------------------------------------------ */

/* int8 rows [rows][depth] by weights [gates][depth], in Q15.16. */
static int products(const Recurring *r, int rows, int32_t zero, const GateRows *g, int weights) {
    TosaDims x = tosa_dims(r->t, rows), sums = {4, {x.dim[0], 1, 1, r->l.gates}};
    TosaAttributes a = {.stride = {1, 1}, .dilation = {1, 1}};
    int in[] = {tosa_reshape(r->t, rows, &(TosaDims){4, {x.dim[0], 1, 1, x.dim[1]}}), weights,
                r->no_bias, tosa_number(r->t, TOSA_INT8, zero), tosa_number(r->t, TOSA_INT8, 0)};
    int sum = tosa_add(r->t, TOSA_CONV2D, &a, 5, in, TOSA_INT32, &sums);
    sum = tosa_rescale(r->t, sum, TOSA_INT32, 0, 0, (int)r->l.gates, g->multiplier, g->shift);
    return tosa_reshape(r->t, sum, &(TosaDims){2, {x.dim[0], r->l.gates}});
}

/* Rows and columns of a matrix. */
static int part(const Recurring *r, int tensor, int64_t row, int64_t rows, int64_t column,
                int64_t columns) {
    TosaDims dims = {2, {rows, columns}};
    int in[] = {tensor, tosa_shape(r->t, 2, (int64_t[]){row, column}),
                tosa_shape(r->t, 2, dims.dim)};
    return tosa_add(r->t, TOSA_SLICE, NULL, 3, in, r->t->p.tensor[tensor].type, &dims);
}

static int gate(const Recurring *r, int sums, int which) {
    return part(r, sums, 0, r->l.batches, which * r->l.size, r->l.size);
}

/* Numbers of 32 bits, saturated, through a TABLE that leaves 7 bits of fraction, in 32 bits. */
static int looked_up(const Recurring *r, int tensor, int table) {
    enum { FRACTION = 7 };
    TosaDims dims = tosa_dims(r->t, tensor);
    int half = tosa_rescale_by(r->t, tensor, TOSA_INT16, 0, 0, 1);
    int fine = tosa_add(r->t, TOSA_TABLE, NULL, 2, (int[]){half, table}, TOSA_INT32, &dims);
    return tosa_shifted_right(r->t, fine, tosa_number_like(r->t, fine, FRACTION));
}

static int squashed(const Recurring *r, int sum, int table) {
    return looked_up(r, tosa_rounded(r->t, sum, GATE_BITS), table);
}

/* a * b / 2^bits, rounded half away from zero. */
static int scaled(const Recurring *r, int a, int b, int bits) {
    return tosa_rounded(r->t, tosa_product(r->t, a, b, 0), bits);
}

static int to_int16(const Recurring *r, int tensor) {
    return tosa_rescale_by(r->t, tensor, TOSA_INT16, 0, 0, 1);
}

static int to_output(const Recurring *r, int tensor) {
    return tosa_rescale(r->t, tensor, TOSA_INT8, 0, value_zero_point(r->n->out[0]), 1,
                        &r->multiplier, &r->shift);
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* `x`: the sums of one step's inputs; `h`: products with the state before, -1 where that is zero.
 * Gates are in PyTorch's order. *state, of 16 bits, is -1 for zeros; returns int8 outputs. */
static int lstm_step(const Recurring *r, int x, int h, int *state) {
    Tosa *t = r->t;
    int bits = recurrent_state_bits(r->n->out[1]);
    int sums = h < 0 ? x : tosa_pair(t, TOSA_ADD, x, h);
    int in = squashed(r, gate(r, sums, 0), r->sigmoid);
    int cell = squashed(r, gate(r, sums, 2), r->tangent);
    int out = squashed(r, gate(r, sums, 3), r->sigmoid);
    int next = scaled(r, in, cell, 2 * ONE_BITS - bits);
    if (*state >= 0) {
        int forget = squashed(r, gate(r, sums, 1), r->sigmoid);
        int kept = scaled(r, forget, tosa_widened(t, *state, 0, 0), ONE_BITS);
        next = tosa_pair(t, TOSA_ADD, kept, next);
    }
    *state = to_int16(r, next);
    int fine = tosa_widened(t, *state, 0, 12 - bits);
    return to_output(r, tosa_product(t, out, looked_up(r, fine, r->tangent), 0));
}

static int gru_step(const Recurring *r, int x, int h, int *state) {
    Tosa *t = r->t;
    int bits = recurrent_state_bits(r->n->out[1]);
    h = h < 0 ? r->bias_h : tosa_pair(t, TOSA_ADD, h, r->bias_h);
    int64_t rows = tosa_dims(t, h).dim[0]; /* one of biases for all, without products */
    int hidden[3];
    for (int k = 0; k < 3; k++)
        hidden[k] = part(r, h, 0, rows, k * r->l.size, r->l.size);
    int reset = squashed(r, tosa_pair(t, TOSA_ADD, gate(r, x, 0), hidden[0]), r->sigmoid);
    int update = squashed(r, tosa_pair(t, TOSA_ADD, gate(r, x, 1), hidden[1]), r->sigmoid);
    int kept = tosa_product(t, reset, hidden[2], ONE_BITS);
    int fresh = squashed(r, tosa_pair(t, TOSA_ADD, gate(r, x, 2), kept), r->tangent);
    int rest = tosa_pair(t, TOSA_SUB, tosa_number_like(t, update, 1 << ONE_BITS), update);
    int next = scaled(r, rest, fresh, 2 * ONE_BITS - bits);
    if (*state >= 0)
        next = tosa_pair(t, TOSA_ADD, next,
                         scaled(r, update, tosa_widened(t, *state, 0, 0), ONE_BITS));
    *state = to_int16(r, next);
    return to_output(r, tosa_widened(t, *state, 0, 0));
}

static int rnn_step(const Recurring *r, int x, int h, int *state) {
    (void)state;
    int sum = h < 0 ? x : tosa_pair(r->t, TOSA_ADD, x, h);
    return to_output(r, r->l.relu
                            ? tosa_pair(r->t, TOSA_MAXIMUM, sum, tosa_number_like(r->t, sum, 0))
                            : squashed(r, sum, r->tangent));
}

static int step(const Recurring *r, int x, int h, int *state) {
    switch (r->l.kind) {
    case RECURRENT_LSTM:
        return lstm_step(r, x, h, state);
    case RECURRENT_GRU:
        return gru_step(r, x, h, state);
    default:
        return rnn_step(r, x, h, state);
    }
}

/* ---- the layer ------------------------------------------------------------------------------ */

static int table_tensor(Tosa *t, bool tangent) {
    int16_t entry[WIDE_ENTRIES];
    recurrent_table(tangent, entry);
    return tosa_const(t, TOSA_INT16, &(TosaDims){1, {WIDE_ENTRIES}}, entry);
}

static int matrix(Tosa *t, const GateRows *g, const Value *weights) {
    TosaDims dims = {4, {weights->type.dim[0], 1, 1, weights->type.dim[1]}};
    return tosa_const(t, TOSA_INT8, &dims, g->weight);
}

/* What does not change from step to step. */
static void prepare(Recurring *r) {
    Tosa *t = r->t;
    const Node *n = r->n;
    const Value *x = node_in(n, "input"), *w = node_in(n, "w_ih"), *u = node_in(n, "w_hh");
    TosaDims gates = {2, {1, r->l.gates}};
    int64_t biases;
    const int32_t *bias = recurrent_bias(t->c, n, &r->l, &biases);
    GateRows rows = recurrent_rows(t->c, w->constant, value_scale(x));
    r->rows = recurrent_rows(t->c, u->constant, value_scale(n->out[0]));
    r->no_bias = tosa_const(t, TOSA_INT32, &(TosaDims){1, {r->l.gates}},
                            NEW_ARRAY(t->c, int32_t, r->l.gates));
    r->weights = matrix(t, &r->rows, u);
    int in = tosa_reshape(t, tosa_in_logical_order(t, x),
                          &(TosaDims){2, {r->l.steps * r->l.batches, r->l.in_size}});
    int sums = products(r, in, value_zero_point(x), &rows, matrix(t, &rows, w));
    r->of_x = tosa_pair(t, TOSA_ADD, sums, tosa_const(t, TOSA_INT32, &gates, bias));
    r->bias_h = biases > r->l.gates ? tosa_const(t, TOSA_INT32, &gates, bias + r->l.gates) : -1;
    r->tangent = r->l.relu ? -1 : table_tensor(t, true);
    r->sigmoid = r->l.kind == RECURRENT_RNN ? -1 : table_tensor(t, false);
    multiplier_from(recurrent_factor(n, &r->l), &r->multiplier, &r->shift);
}

/* Products with the state that the layer is given; -1: it is given none. A GRU's is int16: its int8
 * form is made as outputs are. An int8 one has a grid of its own. */
static int first_products(const Recurring *r, int *state) {
    const Value *h0 = node_in(r->n, "h0"), *y = r->n->out[0];
    const Value *c0 = r->l.kind == RECURRENT_LSTM ? node_in(r->n, "c0") : NULL;
    int32_t multiplier, shift;
    *state = c0 ? tosa_in_logical_order(r->t, c0) : -1;
    if (!h0)
        return -1;
    int h = tosa_in_logical_order(r->t, h0);
    if (r->l.kind == RECURRENT_GRU) {
        *state = h;
        h = to_output(r, tosa_widened(r->t, h, 0, 0));
        return products(r, h, value_zero_point(y), &r->rows, r->weights);
    }
    h = products(r, h, value_zero_point(h0), &r->rows, r->weights);
    multiplier_from(value_scale(h0) / value_scale(y), &multiplier, &shift);
    return tosa_rescale(r->t, h, TOSA_INT32, 0, 0, 1, &multiplier, &shift);
}

/* The elements of v in logical order are its tensor. */
static void give(Tosa *t, const Value *v, int tensor) {
    TosaDims dims = {v->type.rank, {0}};
    int32_t perm[MAX_RANK];
    for (int d = 0; d < v->type.rank; d++) {
        dims.dim[d] = v->type.dim[d];
        perm[d] = v->order[d];
    }
    t->of_value[v->id] = tosa_transpose(t, tosa_reshape(t, tensor, &dims), perm);
}

static void write_steps(Recurring *r) {
    Tosa *t = r->t;
    const Recurrent *l = &r->l;
    int state, h = first_products(r, &state), *output = NEW_ARRAY(t->c, int, l->steps);
    for (int64_t k = 0; k < l->steps; k++) {
        int64_t at = l->reverse ? l->steps - 1 - k : k;
        int x = part(r, r->of_x, at * l->batches, l->batches, 0, l->gates);
        output[at] = step(r, x, h, &state);
        if (k < l->steps - 1)
            h = products(r, output[at], value_zero_point(r->n->out[0]), &r->rows, r->weights);
    }
    give(t, r->n->out[0], tosa_joined(t, 0, (int)l->steps, output));
    if (r->n->out_count > 1)
        give(t, r->n->out[1], state);
}

static bool fits(const Node *n, const Recurrent *l) {
    const Value *h0 = node_in(n, "h0");
    bool wide = l->kind == RECURRENT_GRU;
    return layer_int8(node_in(n, "input")) && layer_int8(n->out[0]) &&
           (!h0 || (wide ? layer_int16(h0) : layer_int8(h0)));
}

bool tosa_recurrent(Tosa *t, Node *n) {
    Recurring r = {.t = t, .n = n};
    if (!recurrent_ready(t->c, n, &r.l) || !fits(n, &r.l))
        return false;
    if (r.l.steps > STEPS_MOST) {
        t->refusal = c_format(t->c, "%s has %lld steps; Corten writes at most %d, each by itself",
                              node_operator(n), (long long)r.l.steps, STEPS_MOST);
        return false;
    }
    prepare(&r);
    write_steps(&r);
    return true;
}
