/* Recurrent layers. ATen's rows of several layers and directions decompose into one node for each
 * direction of a layer, over all steps; cells are layers of one step. Such a node is one kernel
 * call: its products are int8 with a factor per weight row, its gates 16 bits, which are
 * never stored as values. What it adds to from step to step, an LSTM's cell and a GRU's hidden
 * state, is int16 with a step of a power of two, and an output: 8 bits would stand still where a
 * gate lets little through. */
#include "ops/recurrent.h"
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

static const int gate_count[] = {4, 3, 1};

static RecurrentKind kind_of(const Node *n) {
    const char *name = op_schema(n->op)->name;
    return strstr(name, "lstm")  ? RECURRENT_LSTM
           : strstr(name, "gru") ? RECURRENT_GRU
                                 : RECURRENT_RNN;
}

/* ---- the internal rows ----------------------------------------------------------------------- */

static bool is_matrix(const Value *v, int64_t rows, int64_t columns) {
    return v->type.rank == 2 && v->type.dim[0] == rows && v->type.dim[1] == columns;
}

static bool is_state(const Value *v, const Recurrent *l) {
    return !v || is_matrix(v, l->batches, l->size);
}

static bool recurrent_read(C *c, const Node *n, Recurrent *l) {
    const Type *x = &node_in(n, "input")->type;
    const Value *w = node_in(n, "w_ih"), *u = node_in(n, "w_hh"), *bias = node_in(n, "bias");
    *l = (Recurrent){.kind = kind_of(n), .reverse = node_bool(n, "reverse")};
    l->relu = l->kind == RECURRENT_RNN && node_bool(n, "relu");
    if (x->rank != 3 || !dtype_is_float(x->dtype) || u->type.rank != 2)
        return movement_refuse(c, n, "needs a float input of rank 3 and matrices of weights");
    l->steps = x->dim[0];
    l->batches = x->dim[1];
    l->in_size = x->dim[2];
    l->size = u->type.dim[1];
    l->gates = gate_count[l->kind] * l->size;
    if (l->steps < 1 || !is_matrix(w, l->gates, l->in_size) || !is_matrix(u, l->gates, l->size) ||
        (bias && !is_matrix(bias, 2, l->gates)) || !is_state(node_in(n, "h0"), l) ||
        (l->kind == RECURRENT_LSTM && !is_state(node_in(n, "c0"), l)))
        return movement_refuse(c, n, "input, state and weights do not fit together");
    return true;
}

static void layer_shape(C *c, Node *n) {
    Recurrent l;
    if (!recurrent_read(c, n, &l)) {
        for (int k = 0; k < n->out_count; k++)
            n->out[k]->type = node_in(n, "input")->type;
        return;
    }
    int64_t dim[3] = {l.steps, l.batches, l.size};
    node_set_type(n, 0, DT_F32, 3, dim);
    if (l.kind != RECURRENT_RNN)
        node_set_type(n, 1, DT_F32, 2, dim + 1);
}

/* ---- float reference ------------------------------------------------------------------------ */

static float sigmoid(float x) {
    return 1 / (1 + expf(-x));
}

/* x and h: a step's products with their biases; state: the cell of an LSTM, else the output of the
 * step before. One element of the state is changed and returned as output. */
static float step_element(const Recurrent *l, const float *x, const float *h, int64_t j,
                          float *state) {
    int64_t s = l->size;
    if (l->kind == RECURRENT_RNN) {
        float sum = x[j] + h[j];
        return *state = l->relu ? fmaxf(sum, 0) : tanhf(sum);
    }
    if (l->kind == RECURRENT_GRU) {
        float reset = sigmoid(x[j] + h[j]), update = sigmoid(x[s + j] + h[s + j]);
        float fresh = tanhf(x[2 * s + j] + reset * h[2 * s + j]);
        return *state = (1 - update) * fresh + update * *state;
    }
    float in = sigmoid(x[j] + h[j]), forget = sigmoid(x[s + j] + h[s + j]);
    float cell = tanhf(x[2 * s + j] + h[2 * s + j]), out = sigmoid(x[3 * s + j] + h[3 * s + j]);
    *state = forget * *state + in * cell;
    return out * tanhf(*state);
}

static void add_bias(float *rows, int64_t count, int64_t gates, const float *bias) {
    for (int64_t r = 0; bias && r < count; r++)
        for (int64_t k = 0; k < gates; k++)
            rows[r * gates + k] += bias[k];
}

static void layer_run(const Recurrent *l, const float *x, const float *u, const float *bias,
                      float *products, float *hidden, float *state, float *out) {
    int64_t states = l->batches * l->size, width = l->batches * l->gates;
    const float *before = hidden; /* the state before the first step */
    float *h = products + l->steps * width;
    for (int64_t k = 0; k < l->steps; k++) {
        int64_t t = l->reverse ? l->steps - 1 - k : k;
        float_gemm(false, true, l->batches, l->gates, l->size, before, l->size, u, l->size, 0, h,
                   l->gates);
        add_bias(h, l->batches, l->gates, bias);
        for (int64_t b = 0; b < l->batches; b++)
            for (int64_t j = 0; j < l->size; j++)
                out[t * states + b * l->size + j] = step_element(
                    l, x + t * width + b * l->gates, h + b * l->gates, j, state + b * l->size + j);
        before = out + t * states;
    }
}

static const float *floats(const Array *a) {
    return a ? a->data : NULL;
}

static void layer_eval(C *c, Node *n) {
    Recurrent l;
    if (!recurrent_read(c, n, &l))
        return;
    int64_t states = l.batches * l.size, rows = l.steps * l.batches;
    const float *bias = floats(eval_in(c, n, "bias"));
    const float *h0 = floats(eval_in(c, n, "h0"));
    const float *c0 = l.kind == RECURRENT_LSTM ? floats(eval_in(c, n, "c0")) : h0;
    float *work = calloc((size_t)((rows + l.batches) * l.gates + 2 * states), sizeof(float));
    if (!work)
        fatal(c, DIAG_MODEL, &n->loc, "out of memory in a recurrent layer");
    float *hidden = work + (rows + l.batches) * l.gates, *state = hidden + states;
    if (h0)
        memcpy(hidden, h0, (size_t)states * sizeof(float));
    if (c0)
        memcpy(state, c0, (size_t)states * sizeof(float));
    float_gemm(false, true, rows, l.gates, l.in_size, floats(eval_in(c, n, "input")), l.in_size,
               floats(eval_in(c, n, "w_ih")), l.in_size, 0, work, l.gates);
    add_bias(work, rows, l.gates, bias);
    layer_run(&l, work, floats(eval_in(c, n, "w_hh")), bias ? bias + l.gates : NULL, work, hidden,
              state, eval_out(c, n, 0)->data);
    if (l.kind != RECURRENT_RNN)
        memcpy(eval_out(c, n, 1)->data, state, (size_t)states * sizeof(float));
    free(work);
}

/* ---- lowering ------------------------------------------------------------------------------- */

enum { SUM_BITS = 16, INPUT_BITS = 12 };

void recurrent_table(bool tangent, int16_t entry[WIDE_ENTRIES]) {
    for (int i = 0; i < WIDE_ENTRIES; i++) {
        double x = ldexp(128.0 * i - 32768, -INPUT_BITS);
        double y = round(32768 * (tangent ? tanh(x) : 1 / (1 + exp(-x))));
        entry[i] = (int16_t)fmin(y, 32767);
    }
}

static void table_const(Call *call, uint32_t *field, const char *name, bool tangent) {
    int16_t entry[WIDE_ENTRIES];
    recurrent_table(tangent, entry);
    call_const(call, field, name, DT_I16, entry, sizeof entry, 2);
}

GateRows recurrent_rows(C *c, const Array *weights, double scale) {
    int64_t rows = weights->dim[0], columns = weights->dim[1];
    GateRows g = {NEW_ARRAY(c, int8_t, rows * columns), NEW_ARRAY(c, int32_t, rows),
                  NEW_ARRAY(c, int32_t, rows)};
    for (int64_t r = 0; r < rows; r++) {
        double top = 0;
        for (int64_t k = 0; k < columns; k++)
            top = fmax(top, fabs(array_get(weights, r * columns + k)));
        double step = top > 0 ? top / 127 : 1;
        for (int64_t k = 0; k < columns; k++)
            g.weight[r * columns + k] = (int8_t)lround(array_get(weights, r * columns + k) / step);
        multiplier_from(ldexp(scale * step, SUM_BITS), &g.multiplier[r], &g.shift[r]);
    }
    return g;
}

static void matrix_const(C *c, Call *call, WeightFields field, const char *name,
                         const Array *weights, double scale) {
    int64_t rows = weights->dim[0];
    GateRows g = recurrent_rows(c, weights, scale);
    int8_t *shift = NEW_ARRAY(c, int8_t, rows);
    for (int64_t r = 0; r < rows; r++)
        shift[r] = (int8_t)g.shift[r];
    call_const(call, field.weights, name, DT_I8, g.weight, rows * weights->dim[1], 4);
    call_const(call, field.multiplier, "multiplier", DT_I32, g.multiplier, rows * 4, 4);
    call_const(call, field.shift, "shift", DT_I8, shift, rows, 1);
}

const int32_t *recurrent_bias(C *c, const Node *n, const Recurrent *l, int64_t *count) {
    const Value *bias = node_in(n, "bias");
    *count = l->kind == RECURRENT_GRU ? 2 * l->gates : l->gates;
    int32_t *q = NEW_ARRAY(c, int32_t, *count);
    for (int64_t i = 0; bias && i < *count; i++) {
        double sum = array_get(bias->constant, i);
        if (l->kind != RECURRENT_GRU)
            sum += array_get(bias->constant, l->gates + i);
        q[i] = (int32_t)fmax(-1e9, fmin(1e9, round(ldexp(sum, SUM_BITS))));
    }
    return q;
}

static void hidden_in(Call *call, uint32_t *field, const Node *n, int32_t *zero_point,
                      int32_t *multiplier, int32_t *shift) {
    Value *v = node_in(n, "h0");
    if (!v) {
        call_absent(call, field);
        return;
    }
    call_in(call, field, v);
    *zero_point = value_zero_point(v);
    multiplier_from(value_scale(v) / value_scale(n->out[0]), multiplier, shift);
}

int32_t recurrent_state_bits(const Value *state) {
    return -ilogb(value_scale(state));
}

/* The int16 state before, if there is one, and after; its fraction bits. */
static int32_t state_inout(Call *call, uint32_t *before, Value *v, uint32_t *after, Value *out) {
    if (v)
        call_in(call, before, v);
    else
        call_absent(call, before);
    call_out(call, after, out);
    return recurrent_state_bits(out);
}

double recurrent_factor(const Node *n, const Recurrent *l) {
    double step = ldexp(1, l->kind == RECURRENT_LSTM ? -30 : l->relu ? -SUM_BITS : -15);
    if (l->kind == RECURRENT_GRU)
        step = value_scale(n->out[1]);
    return step / value_scale(n->out[0]);
}

/* The fields that the three kernels have in common, which begin all three. */
static void common_fields(C *c, Call *call, const Node *n, const Recurrent *l, CtnRnnS8Args *a) {
    Value *x = node_in(n, "input"), *y = n->out[0];
    call_in(call, &a->input, x);
    call_out(call, &a->output, y);
    matrix_const(c, call, (WeightFields){&a->x_weights, NULL, &a->x_multiplier, &a->x_shift},
                 "w_ih", node_in(n, "w_ih")->constant, value_scale(x));
    matrix_const(c, call, (WeightFields){&a->h_weights, NULL, &a->h_multiplier, &a->h_shift},
                 "w_hh", node_in(n, "w_hh")->constant, value_scale(y));
    int64_t biases;
    const int32_t *bias = recurrent_bias(c, n, l, &biases);
    call_const(call, &a->bias, "bias", DT_I32, bias, biases * 4, 4);
    if (l->relu)
        call_absent(call, &a->tangent);
    else
        table_const(call, &a->tangent, "tanh", true);
    a->steps = (int32_t)l->steps;
    a->batches = (int32_t)l->batches;
    a->in_size = (int32_t)l->in_size;
    a->size = (int32_t)l->size;
    a->reverse = l->reverse;
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(y);
    multiplier_from(recurrent_factor(n, l), &a->multiplier, &a->shift);
    call->macs = l->steps * l->batches * l->gates * (l->in_size + l->size);
}

/* Layers of other weights were made as steps; a text may hold one all the same. */
bool recurrent_ready(C *c, const Node *n, Recurrent *l) {
    const Value *bias = node_in(n, "bias");
    if (!recurrent_read(c, n, l))
        return false;
    return (node_in(n, "w_ih")->constant && node_in(n, "w_hh")->constant &&
            (!bias || bias->constant)) ||
           movement_refuse(c, n, "weights that are computed at run time have no integer form");
}

static void lstm_lower(C *c, Graph *g, Node *n) {
    Recurrent l;
    if (!recurrent_ready(c, n, &l))
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_lstm_s8);
    CtnLstmS8Args *a = call->args;
    common_fields(c, call, n, &l, (CtnRnnS8Args *)a);
    hidden_in(call, &a->h0, n, &a->h0_zero_point, &a->h0_multiplier, &a->h0_shift);
    table_const(call, &a->sigmoid, "sigmoid", false);
    a->cell_bits = state_inout(call, &a->c0, node_in(n, "c0"), &a->cell, n->out[1]);
}

static void gru_lower(C *c, Graph *g, Node *n) {
    Recurrent l;
    if (!recurrent_ready(c, n, &l))
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_gru_s8);
    CtnGruS8Args *a = call->args;
    Value *h0 = node_in(n, "h0");
    common_fields(c, call, n, &l, (CtnRnnS8Args *)a);
    table_const(call, &a->sigmoid, "sigmoid", false);
    a->state_bits = state_inout(call, &a->h0, h0, &a->state, n->out[1]);
    if (h0)
        call_scratch(call, &a->scratch, l.batches * l.size, 4);
    else
        call_absent(call, &a->scratch);
}

static void rnn_lower(C *c, Graph *g, Node *n) {
    Recurrent l;
    if (!recurrent_ready(c, n, &l))
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_rnn_s8);
    CtnRnnS8Args *a = call->args;
    common_fields(c, call, n, &l, a);
    hidden_in(call, &a->h0, n, &a->h0_zero_point, &a->h0_multiplier, &a->h0_shift);
}

/* ---- decompose ------------------------------------------------------------------------------ */

#define PARAMETERS_MOST 256 /* 16 layers of two directions with projections */

static bool all_zero(const Value *v) {
    if (!v->constant || v->grid)
        return false;
    for (int64_t i = 0; i < array_count(v->constant); i++)
        if (array_get(v->constant, i) != 0)
            return false;
    return true;
}

typedef struct { /* of one layer in one direction; absent ones are NULL */
    Value *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;
} Parameters;

/* The kernels have constant weights and states as long as a gate. */
static bool has_kernel(const Parameters *p) {
    const Value *all[] = {p->w_ih, p->w_hh, p->b_ih, p->b_hh};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i] && (!all[i]->constant || all[i]->grid))
            return false;
    return !p->w_hr;
}

/* One layer in one direction, step by step. */
static Node *steps_node(Graph *g, Node *n, RecurrentKind kind, Value *x, Value *h0, Value *c0,
                        const Parameters *p, bool reverse, bool relu) {
    Arg h = arg_value(h0), in = arg_value(x), back = arg_bool(reverse);
    Arg w = arg_value(p->w_ih), u = arg_value(p->w_hh);
    Arg b_ih = arg_value(p->b_ih), b_hh = arg_value(p->b_hh);
    switch (kind) {
    case RECURRENT_LSTM:
        return node_new(g, n, "corten::lstm_steps",
                        ARGS(in, h, arg_value(c0), w, u, b_ih, b_hh, arg_value(p->w_hr), back));
    case RECURRENT_GRU:
        return node_new(g, n, "corten::gru_steps", ARGS(in, h, w, u, b_ih, b_hh, back));
    default:
        return node_new(g, n, "corten::rnn_steps",
                        ARGS(in, h, w, u, b_ih, b_hh, back, arg_bool(relu)));
    }
}

/* One layer in one direction. h0 and c0 may be NULL. */
static Node *layer_node(C *c, Graph *g, Node *n, RecurrentKind kind, Value *x, Value *h0, Value *c0,
                        const Parameters *p, bool reverse) {
    bool relu = strstr(op_schema(n->op)->name, "relu") != NULL;
    if (!has_kernel(p))
        return steps_node(g, n, kind, x, h0, c0, p, reverse, relu);
    Arg h = arg_value(h0), cell = arg_value(c0);
    Arg w = arg_value(p->w_ih), u = arg_value(p->w_hh);
    Arg bias = arg_none(), back = arg_bool(reverse), in = arg_value(x);
    Value *both[2] = {p->b_ih, p->b_hh};
    if (p->b_ih)
        bias = arg_value(MAKE("aten::stack", arg_values(c, 2, both), arg_int(0)));
    switch (kind) {
    case RECURRENT_LSTM:
        return node_new(g, n, "corten::lstm", ARGS(in, h, cell, w, u, bias, back));
    case RECURRENT_GRU:
        return node_new(g, n, "corten::gru", ARGS(in, h, w, u, bias, back));
    default:
        return node_new(g, n, "corten::rnn", ARGS(in, h, w, u, bias, back, arg_bool(relu)));
    }
}

static Value *pick(Graph *g, Node *n, Value *v, int64_t index) {
    return MAKE("aten::select.int", arg_value(v), arg_int(0), arg_int(index));
}

static Value *joined(C *c, Graph *g, Node *n, int count, Value **v, int dim) {
    return count == 1 ? v[0] : MAKE("aten::cat", arg_values(c, count, v), arg_int(dim));
}

typedef struct {
    RecurrentKind kind;
    int layers, directions, each; /* parameters of one layer and direction */
    bool biases, projects;
    Value *x, *h0, *c0;
    Value *parameter[PARAMETERS_MOST];
    Value *h[PARAMETERS_MOST], *c[PARAMETERS_MOST]; /* last states, [1][batches][size] */
} Stack;

static bool stack_states(C *c, const Node *n, Stack *s) {
    Value *hx[2] = {NULL, NULL};
    if (s->kind == RECURRENT_LSTM && node_values(n, "hx", hx, 2) != 2)
        return movement_refuse(c, n, "needs two states");
    s->h0 = s->kind == RECURRENT_LSTM ? hx[0] : node_in(n, "hx");
    s->c0 = hx[1];
    int64_t want = (int64_t)s->layers * s->directions;
    if (s->h0->type.rank != 3 || s->h0->type.dim[0] != want ||
        (s->c0 && (s->c0->type.rank != 3 || s->c0->type.dim[0] != want)))
        return movement_refuse(c, n, "the state does not fit the layers");
    s->h0 = all_zero(s->h0) ? NULL : s->h0;
    s->c0 = s->c0 && !all_zero(s->c0) ? s->c0 : NULL;
    return true;
}

static bool stack_read(C *c, const Node *n, Stack *s) {
    int64_t layers = node_int(n, "num_layers");
    *s = (Stack){.kind = kind_of(n), .directions = node_bool(n, "bidirectional") ? 2 : 1};
    s->biases = node_bool(n, "has_biases");
    s->each = s->biases ? 4 : 2;
    s->x = node_in(n, "input");
    int count = node_values(n, "params", s->parameter, PARAMETERS_MOST);
    if (node_bool(n, "train") && node_double(n, "dropout") != 0)
        return movement_refuse(c, n,
                               "train=True with dropout (call model.eval() before the export)");
    if (layers < 1 || layers * s->directions * s->each > PARAMETERS_MOST)
        return movement_refuse(c, n, "num_layers is out of range");
    s->layers = (int)layers;
    s->projects = s->kind == RECURRENT_LSTM && count == s->layers * s->directions * (s->each + 1);
    s->each += s->projects; /* the last one of each */
    if (count != s->layers * s->directions * s->each || s->x->type.rank != 3)
        return movement_refuse(c, n, "parameters or input do not fit the layers");
    return stack_states(c, n, s);
}

static Parameters stack_parameters(const Stack *s, int at) {
    Value *const *p = s->parameter + (ptrdiff_t)at * s->each;
    return (Parameters){.w_ih = p[0],
                        .w_hh = p[1],
                        .b_ih = s->biases ? p[2] : NULL,
                        .b_hh = s->biases ? p[3] : NULL,
                        .w_hr = s->projects ? p[s->each - 1] : NULL};
}

/* All directions of layer k: their outputs side by side. */
static Value *stack_layer(C *c, Graph *g, Node *n, Stack *s, int k, Value *x) {
    Value *out[2];
    int64_t steps = x->type.dim[0];
    for (int d = 0; d < s->directions; d++) {
        int at = k * s->directions + d;
        Parameters p = stack_parameters(s, at);
        Node *layer = layer_node(c, g, n, s->kind, x, s->h0 ? pick(g, n, s->h0, at) : NULL,
                                 s->c0 ? pick(g, n, s->c0, at) : NULL, &p, d == 1);
        out[d] = layer->out[0];
        bool apart = node_is(layer, "corten::gru"); /* its state has more bits than its outputs */
        Value *last = apart ? layer->out[1] : pick(g, n, out[d], d == 1 ? 0 : steps - 1);
        s->h[at] = MAKE("aten::unsqueeze", arg_value(last), arg_int(0));
        if (s->kind == RECURRENT_LSTM)
            s->c[at] = MAKE("aten::unsqueeze", arg_value(layer->out[1]), arg_int(0));
    }
    return joined(c, g, n, s->directions, out, 2);
}

static void stack_decompose(C *c, Graph *g, Node *n) {
    Stack s;
    if (!stack_read(c, n, &s))
        return;
    bool batch_first = node_bool(n, "batch_first");
    Value *x = s.x;
    if (batch_first)
        x = MAKE("aten::transpose.int", arg_value(x), arg_int(0), arg_int(1));
    if (x->type.dim[0] < 1) {
        movement_refuse(c, n, "has no steps");
        return;
    }
    int errors = diag_error_count(c);
    for (int k = 0; k < s.layers && diag_error_count(c) == errors; k++)
        x = stack_layer(c, g, n, &s, k, x);
    if (diag_error_count(c) != errors)
        return;
    if (batch_first)
        x = MAKE("aten::transpose.int", arg_value(x), arg_int(0), arg_int(1));
    value_replace(g, n->out[0], x);
    value_replace(g, n->out[1], joined(c, g, n, s.layers * s.directions, s.h, 0));
    if (s.kind == RECURRENT_LSTM)
        value_replace(g, n->out[2], joined(c, g, n, s.layers * s.directions, s.c, 0));
}

/* How many movements may lie between a cell's output and the state that it becomes. */
enum { STATE_DEPTH = 8 };

static void replace_in_state(Node *n, const Value *v, Value *state, int depth);

static void replace_in_arg(Arg *a, const Value *v, Value *state, int depth) {
    for (int i = 0; a->kind == ARG_LIST && i < a->u.list.count; i++)
        replace_in_arg(&a->u.list.item[i], v, state, depth);
    if (a->kind == ARG_VALUE && a->u.value == v)
        *a = arg_value(state);
    else if (a->kind == ARG_VALUE && a->u.value->def)
        replace_in_state(a->u.value->def, v, state, depth - 1);
}

static void replace_in_state(Node *n, const Value *v, Value *state, int depth) {
    bool joins = node_is(n, "aten::stack") || node_is(n, "aten::cat");
    if (depth > 0 && (joins || (n->op->traits & OP_MOVES_DATA)))
        for (int i = 0; i < n->arg_count; i++)
            replace_in_arg(&n->arg[i], v, state, depth);
}

/* The next step of a GRU and the next run read `state` where they would read v, its output. */
static void replace_in_states(Graph *g, Node *cell, const Value *v, Value *state) {
    for (Node *n = cell->next; n; n = n->next)
        if (node_is(n, "aten::gru_cell") && node_in(n, "hx") == v)
            n->arg[node_arg_index(n, "hx")] = arg_value(state);
    for (int i = 0; i < g->state_count; i++) {
        State *s = &g->state[i];
        if (s->after == v)
            s->after = state;
        else if (s->after->def)
            replace_in_state(s->after->def, v, state, STATE_DEPTH);
    }
}

/* A cell is a layer of one step. */
static void cell_decompose(C *c, Graph *g, Node *n) {
    RecurrentKind kind = kind_of(n);
    Value *hx[2] = {NULL, NULL}, *x = node_in(n, "input");
    Parameters p = {node_in(n, "w_ih"), node_in(n, "w_hh"), node_in(n, "b_ih"), node_in(n, "b_hh"),
                    NULL};
    if (kind == RECURRENT_LSTM)
        node_values(n, "hx", hx, 2);
    else
        hx[0] = node_in(n, "hx");
    if (x->type.rank != 2 || (p.b_ih == NULL) != (p.b_hh == NULL)) {
        movement_refuse(c, n, "needs an input of rank 2, and both biases or none");
        return;
    }
    for (int k = 0; k < 2; k++)
        if (hx[k] && all_zero(hx[k]))
            hx[k] = NULL;
    x = MAKE("aten::unsqueeze", arg_value(x), arg_int(0));
    Node *layer = layer_node(c, g, n, kind, x, hx[0], hx[1], &p, false);
    if (node_is(layer, "corten::gru"))
        replace_in_states(g, n, n->out[0], layer->out[1]);
    value_replace(g, n->out[0], MAKE("aten::squeeze.dim", arg_value(layer->out[0]), arg_int(0)));
    if (kind == RECURRENT_LSTM)
        value_replace(g, n->out[1], layer->out[1]);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define STACK_ARGUMENTS                                                                            \
    "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool "           \
    "bidirectional, bool batch_first)"
#define CELL_ARGUMENTS "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)"

static const Op rows[] = {
    {.schema = "aten::lstm.input(Tensor input, Tensor[] hx, " STACK_ARGUMENTS
               " -> (Tensor, Tensor, Tensor)",
     COMPOSITE(stack_decompose)},
    {.schema = "aten::gru.input(Tensor input, Tensor hx, " STACK_ARGUMENTS " -> (Tensor, Tensor)",
     COMPOSITE(stack_decompose)},
    {.schema =
         "aten::rnn_tanh.input(Tensor input, Tensor hx, " STACK_ARGUMENTS " -> (Tensor, Tensor)",
     COMPOSITE(stack_decompose)},
    {.schema =
         "aten::rnn_relu.input(Tensor input, Tensor hx, " STACK_ARGUMENTS " -> (Tensor, Tensor)",
     COMPOSITE(stack_decompose)},
    {.schema = "aten::lstm_cell(Tensor input, Tensor[] hx, " CELL_ARGUMENTS " -> (Tensor, Tensor)",
     COMPOSITE(cell_decompose)},
    {.schema = "aten::gru_cell(Tensor input, Tensor hx, " CELL_ARGUMENTS " -> Tensor",
     COMPOSITE(cell_decompose)},
    {.schema = "aten::rnn_tanh_cell(Tensor input, Tensor hx, " CELL_ARGUMENTS " -> Tensor",
     COMPOSITE(cell_decompose)},
    {.schema = "aten::rnn_relu_cell(Tensor input, Tensor hx, " CELL_ARGUMENTS " -> Tensor",
     COMPOSITE(cell_decompose)},
    /* One direction of one layer: outputs [steps][batches][size]; the last cell state of an LSTM,
     * hidden state of a GRU. bias: [2][gates], of input and hidden state. Absent states are zeros.
     */
    {.schema = "corten::lstm(Tensor input, Tensor? h0, Tensor? c0, Tensor w_ih, Tensor w_hh, "
               "Tensor? bias, bool reverse) -> (Tensor, Tensor)",
     .shape = layer_shape,
     .eval = layer_eval,
     .traits = OP_RECURS,
     .quant = {.in = {Q_ACT, Q_ACT, Q_STATE, Q_RAW, Q_RAW, Q_RAW},
               .out = {Q_ACT, Q_STATE},
               .scale = 0x1p-12},
     .lower = lstm_lower},
    {.schema = "corten::gru(Tensor input, Tensor? h0, Tensor w_ih, Tensor w_hh, Tensor? bias, bool "
               "reverse) -> (Tensor, Tensor)",
     .shape = layer_shape,
     .eval = layer_eval,
     .traits = OP_RECURS,
     .quant = {.in = {Q_ACT, Q_STATE, Q_RAW, Q_RAW, Q_RAW},
               .out = {Q_ACT, Q_STATE},
               .scale = 0x1p-15},
     .lower = gru_lower},
    {.schema = "corten::rnn(Tensor input, Tensor? h0, Tensor w_ih, Tensor w_hh, Tensor? bias, bool "
               "reverse, bool relu) -> Tensor",
     .shape = layer_shape,
     .eval = layer_eval,
     .traits = OP_RECURS,
     .quant = {.in = {Q_ACT, Q_ACT, Q_RAW, Q_RAW, Q_RAW}, .out = {Q_ACT}},
     .lower = rnn_lower},
};

OPS_FAMILY(recurrent, rows);
