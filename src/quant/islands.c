/* The boundaries of what stays float: corten::quantize behind float nodes whose values integer
 * nodes read, corten::dequantize before float nodes that read integers. Float nodes that follow one
 * another hand on floats, unless an archive has pinned a grid between them: its rounding stays. An
 * input, output or state that only float nodes touch is float itself. Afterwards no value is read
 * both as a float and as an integer. */
#include "quant/quant.h"

#include <string.h>

typedef struct {
    C *c;
    Graph *g;
    bool integer_io; /* --io int8 or int16: no float crosses the C boundary */
} Islands;

static bool is_float(const Value *v) {
    return dtype_is_float(v->type.dtype);
}

static bool read_by_float_nodes_only(const Value *v) {
    for (int i = 0; i < v->user_count; i++)
        if (!v->user[i]->float_kept)
            return false;
    return v->user_count > 0;
}

/* What a run leaves in the state is what float nodes read and write. */
static bool state_is_float(const State *s) {
    const Value *a = s->after, *b = s->before;
    return is_float(b) && !a->grid && !b->grid && a->def && a->def->float_kept &&
           read_by_float_nodes_only(b) && b->output_count == 0;
}

bool value_stays_float(const Graph *g, const Value *v) {
    if (!is_float(v) || v->grid)
        return false;
    if (v->def)
        return v->def->float_kept || node_is(v->def, "corten::dequantize");
    for (int i = 0; i < g->state_count; i++)
        if (g->state[i].before == v)
            return state_is_float(&g->state[i]);
    return v->role == ROLE_INPUT && read_by_float_nodes_only(v) && v->output_count == 0;
}

/* The chip's only float. */
static void make_f32(Islands *s, Value *v) {
    v->type.dtype = DT_F32;
    if (v->constant && v->constant->dtype != DT_F32)
        v->constant = array_convert(s->c, v->constant, DT_F32);
    if (v->initial && v->initial->dtype != DT_F32)
        v->initial = array_convert(s->c, v->initial, DT_F32);
}

static void replace_operand(Node *n, const Value *old, Value *new_value) {
    for (int i = 0; i < n->arg_count; i++) {
        Arg *arg = &n->arg[i];
        int count = arg->kind == ARG_LIST ? arg->u.list.count : 1;
        for (int k = 0; k < count; k++) {
            Arg *item = arg->kind == ARG_LIST ? &arg->u.list.item[k] : arg;
            if (item->kind == ARG_VALUE && item->u.value == old)
                item->u.value = new_value;
        }
    }
}

/* ---- constants ------------------------------------------------------------------------------ */

/* A copy for float nodes of a constant that has integers or other readers. */
static void own_constant(Islands *s, Node *n, Value *v) {
    if (!is_float(v) || (!v->grid && read_by_float_nodes_only(v) && v->output_count == 0)) {
        if (is_float(v))
            make_f32(s, v);
        return;
    }
    Env *env = env_new(s->c, s->g); /* sees constants through their grids */
    Array *real = array_convert(s->c, env_get(env, v), DT_F32);
    env_free(env);
    replace_operand(n, v, value_constant(s->g, v->name, real));
}

/* ---- values --------------------------------------------------------------------------------- */

static Node *boundary(Islands *s, const Node *of, Node *before, const char *row, Value *v) {
    rewrite_begin(s->c, of);
    Node *n = node_new(s->g, before, row, ARGS(arg_value(v)));
    rewrite_end(s->c);
    return n;
}

/* Before the first of its float readers: v, which has or gets a grid, as a float. */
static void dequantize(Islands *s, Value *v, Node *const *user, int count) {
    Value *real = NULL;
    for (int i = 0; i < count; i++) {
        if (!user[i]->float_kept)
            continue;
        if (!real) {
            real = boundary(s, user[i], user[i], "corten::dequantize", v)->out[0];
            make_f32(s, real);
        }
        replace_operand(user[i], v, real);
    }
}

static bool has_integer_reader(const Islands *s, const Value *v) {
    for (int i = 0; i < v->user_count; i++)
        if (!v->user[i]->float_kept)
            return true;
    for (int i = 0; i < s->g->state_count; i++)
        if (s->g->state[i].after == v && !state_is_float(&s->g->state[i]))
            return true;
    return v->output_count > 0 && s->integer_io;
}

/* v, made by float node n, for those who want integers: all readers if its grid is pinned. */
static void quantize(Islands *s, Node *n, Value *v) {
    bool pinned = v->grid != NULL;
    Type type = v->type;
    int count = v->user_count;
    if (!pinned && !has_integer_reader(s, v))
        return;
    Node **user = NEW_ARRAY(s->c, Node *, count);
    for (int i = 0; i < count; i++)
        user[i] = v->user[i];
    bool outputs = pinned || s->integer_io;
    Value *q = boundary(s, n, n->next, "corten::quantize", v)->out[0];
    q->type = type;
    q->grid = v->grid;
    q->observed = v->observed;
    v->grid = NULL;
    for (int i = 0; i < count; i++)
        if (pinned || !user[i]->float_kept)
            replace_operand(user[i], v, q);
    for (int i = 0; i < s->g->output_count; i++)
        if (outputs && s->g->output[i].kind == ARG_VALUE && s->g->output[i].u.value == v)
            s->g->output[i].u.value = q;
    for (int i = 0; i < s->g->state_count; i++)
        if (s->g->state[i].after == v && !state_is_float(&s->g->state[i]))
            s->g->state[i].after = q;
    if (pinned)
        dequantize(s, q, user, count);
}

static void bound_operands(Islands *s, Node *n) {
    int count = node_operand_count(n);
    Value **operand = NEW_ARRAY(s->c, Value *, count);
    node_operands(n, operand, count);
    for (int k = 0; k < count; k++) {
        Value *v = operand[k];
        if (value_is_fixed(s->g, v))
            own_constant(s, n, v);
        else if (is_float(v) && !value_stays_float(s->g, v))
            dequantize(s, v, v->user, v->user_count);
    }
}

void islands_bound(C *c, Graph *g, const Options *o) {
    Islands s = {c, g, o->io == IO_INT8 || o->io == IO_INT16 || o->io == IO_UINT8};
    graph_index(g);
    for (int i = 0; i < g->input_count; i++) {
        Value *v = g->input[i].kind == ARG_VALUE ? g->input[i].u.value : NULL;
        if (v && s.integer_io && value_stays_float(g, v))
            dequantize(&s, v, v->user, v->user_count);
        else if (v && value_stays_float(g, v))
            make_f32(&s, v);
    }
    graph_index(g);
    for (int i = 0; i < g->state_count; i++)
        if (state_is_float(&g->state[i]))
            make_f32(&s, g->state[i].before);
    for (Node *n = g->first, *next; n; n = next) {
        next = n->next;
        for (int k = 0; n->float_kept && k < n->out_count; k++)
            if (is_float(n->out[k]))
                quantize(&s, n, n->out[k]);
    }
    graph_index(g);
    for (Node *n = g->first; n; n = n->next)
        if (n->float_kept)
            bound_operands(&s, n);
    for (Node *n = g->first; n; n = n->next)
        for (int k = 0; n->float_kept && k < n->out_count; k++)
            if (is_float(n->out[k]))
                make_f32(&s, n->out[k]);
    graph_index(g);
}
