/* Recurrent layers step by step, as other rows: what the kernels of recurrent.c do not take, which
 * are projected states and weights that the graph computes. */
#include "ops/ops.h"

#include <string.h>

typedef struct {
    Graph *g;
    Node *n;
    int64_t size;       /* of a gate */
    Value *w_hh, *b_hh; /* b_hh may be NULL */
    Value *h, *cell;    /* states; NULL: zeros */
    Value *projection;  /* [projected][size], or NULL */
    bool relu;          /* of an RNN */
} Step;

static Value *call_1(const Step *s, const char *row, Value *x) {
    return node_value(s->g, s->n, row, ARGS(arg_value(x)));
}

static Value *call_2(const Step *s, const char *row, Value *a, Value *b) {
    return node_value(s->g, s->n, row, ARGS(arg_value(a), arg_value(b)));
}

static Value *gate(const Step *s, Value *gates, int64_t k) {
    return node_value(
        s->g, s->n, "aten::slice.Tensor",
        ARGS(arg_value(gates), arg_int(1), arg_int(k * s->size), arg_int((k + 1) * s->size)));
}

static Value *linear(const Step *s, Value *x, Value *w, Value *bias) {
    return node_value(s->g, s->n, "aten::linear",
                      ARGS(arg_value(x), arg_value(w), arg_value(bias)));
}

/* What the state adds to the gates; NULL: nothing. */
static Value *from_state(const Step *s) {
    return s->h ? linear(s, s->h, s->w_hh, s->b_hh) : s->b_hh;
}

static Value *sum(const Step *s, Value *a, Value *b) {
    return b ? call_2(s, "aten::add.Tensor", a, b) : a;
}

static void lstm_step(Step *s, Value *x) {
    Value *gates = sum(s, x, from_state(s));
    Value *in = call_1(s, "aten::sigmoid", gate(s, gates, 0));
    Value *fresh = call_1(s, "aten::tanh", gate(s, gates, 2));
    Value *out = call_1(s, "aten::sigmoid", gate(s, gates, 3));
    Value *cell = call_2(s, "aten::mul.Tensor", in, fresh);
    if (s->cell) {
        Value *forget = call_1(s, "aten::sigmoid", gate(s, gates, 1));
        cell = sum(s, cell, call_2(s, "aten::mul.Tensor", forget, s->cell));
    }
    s->cell = cell;
    s->h = call_2(s, "aten::mul.Tensor", out, call_1(s, "aten::tanh", cell));
    if (s->projection)
        s->h = linear(s, s->h, s->projection, NULL);
}

/* fresh + update * (h - fresh), where fresh = tanh(x + reset * from h). */
static void gru_step(Step *s, Value *x) {
    Value *state = from_state(s), *part[3] = {NULL, NULL, NULL};
    int64_t row[2] = {1, -1};
    if (state && state->type.rank == 1) /* its bias is all that an absent h adds */
        state = node_value(s->g, s->n, "aten::reshape",
                           ARGS(arg_value(state), arg_ints(s->g->c, 2, row)));
    for (int k = 0; k < 3 && state; k++)
        part[k] = gate(s, state, k);
    Value *reset = call_1(s, "aten::sigmoid", sum(s, gate(s, x, 0), part[0]));
    Value *update = call_1(s, "aten::sigmoid", sum(s, gate(s, x, 1), part[1]));
    Value *more = state ? call_2(s, "aten::mul.Tensor", reset, part[2]) : NULL;
    Value *fresh = call_1(s, "aten::tanh", sum(s, gate(s, x, 2), more));
    Value *away = s->h ? call_2(s, "aten::sub.Tensor", s->h, fresh) : call_1(s, "aten::neg", fresh);
    s->h = sum(s, fresh, call_2(s, "aten::mul.Tensor", update, away));
}

static void rnn_step(Step *s, Value *x) {
    s->h = call_1(s, s->relu ? "aten::relu" : "aten::tanh", sum(s, x, from_state(s)));
}

static Value *argument(const Node *n, const char *name) {
    return node_takes(n, name) ? node_in(n, name) : NULL;
}

/* The products with the input are one for all steps. */
static void layer_decompose(C *c, Graph *g, Node *n, int gates, void (*step)(Step *, Value *)) {
    Value *x = node_in(n, "input"), *w = node_in(n, "w_ih");
    Step s = {.g = g, .n = n, .w_hh = node_in(n, "w_hh"), .b_hh = argument(n, "b_hh")};
    s.h = argument(n, "h0");
    s.cell = argument(n, "c0");
    s.projection = argument(n, "w_hr");
    s.relu = node_takes(n, "relu") && node_bool(n, "relu");
    s.size = w->type.rank == 2 ? w->type.dim[0] / gates : 0;
    int64_t steps = x->type.rank == 3 ? x->type.dim[0] : 0;
    if (steps < 1 || s.size < 1) {
        movement_refuse(c, n, "input %s with weights %s", shape_text(c, x->type.rank, x->type.dim),
                        shape_text(c, w->type.rank, w->type.dim));
        return;
    }
    Value **out = NEW_ARRAY(c, Value *, steps), *all = linear(&s, x, w, argument(n, "b_ih"));
    int errors = diag_error_count(c);
    for (int64_t k = 0; k < steps && diag_error_count(c) == errors; k++) {
        int64_t at = node_bool(n, "reverse") ? steps - 1 - k : k;
        step(&s, MAKE("aten::select.int", arg_value(all), arg_int(0), arg_int(at)));
        out[at] = s.h;
    }
    if (diag_error_count(c) != errors)
        return;
    value_replace(g, n->out[0], MAKE("aten::stack", arg_values(c, (int)steps, out), arg_int(0)));
    if (n->out_count > 1)
        value_replace(g, n->out[1], s.cell);
}

static void lstm_decompose(C *c, Graph *g, Node *n) {
    layer_decompose(c, g, n, 4, lstm_step);
}

static void gru_decompose(C *c, Graph *g, Node *n) {
    layer_decompose(c, g, n, 3, gru_step);
}

static void rnn_decompose(C *c, Graph *g, Node *n) {
    layer_decompose(c, g, n, 1, rnn_step);
}

static const Op rows[] = {
    /* One direction of one layer, as corten::lstm, gru and rnn. w_hr: [projected][size] */
    {.schema = "corten::lstm_steps(Tensor input, Tensor? h0, Tensor? c0, Tensor w_ih, Tensor w_hh, "
               "Tensor? b_ih, Tensor? b_hh, Tensor? w_hr, bool reverse) -> (Tensor, Tensor)",
     COMPOSITE(lstm_decompose)},
    {.schema = "corten::gru_steps(Tensor input, Tensor? h0, Tensor w_ih, Tensor w_hh, Tensor? "
               "b_ih, Tensor? b_hh, bool reverse) -> Tensor",
     COMPOSITE(gru_decompose)},
    {.schema = "corten::rnn_steps(Tensor input, Tensor? h0, Tensor w_ih, Tensor w_hh, Tensor? "
               "b_ih, Tensor? b_hh, bool reverse, bool relu) -> Tensor",
     COMPOSITE(rnn_decompose)},
};

OPS_FAMILY(steps, rows);
