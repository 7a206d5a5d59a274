/* Pass fills: numbers like -inf or 1e9 that are filled in where a mask is true, for readers that
 * saturate or choose. They must not widen a grid, or all other numbers become one step. Needs what
 * pass masks has left: what a softmax over the last dim reads is taken there.
 *
 * A function of such numbers is a fill of what it makes of them: f(where(m, -1e9, x)) becomes
 * where(m, f(-1e9), f(x)), moved or not, and so on behind it. What still is far away where extrema
 * are looked for, or where it leaves the model, becomes corten::hide, which is just beyond all
 * others. After calibration that is a fill again, of the number that was seen. */
#include "ops/ops.h"
#include "passes/passes.h"

#include <string.h>

#define FAR 1e4 /* what is as far away, or farther, is no result but a sign */

typedef struct {
    Value *x, *mask;
    double number;
} Fill;

static bool number_given(const Graph *g, const Arg *a, double *number) {
    const Value *v = a->kind == ARG_VALUE ? a->u.value : NULL;
    if (v && value_is_fixed(g, v) && !v->grid && value_is_scalar_constant(v, number))
        return true;
    *number = a->kind == ARG_INT ? (double)a->u.i : a->kind == ARG_FLOAT ? a->u.f : NAN;
    return a->kind == ARG_INT || a->kind == ARG_FLOAT;
}

static bool is_far(double number) {
    return fabs(number) >= FAR;
}

static bool far_given(const Graph *g, const Arg *a, double *number) {
    return number_given(g, a, number) && is_far(*number);
}

static bool is_plain_float(const Value *v) {
    return v && dtype_is_float(v->type.dtype) && !v->grid;
}

/* A sum with what is zero for one truth value of a mask, and far below for the other. */
static bool fill_added(C *c, Graph *g, Node *n, Fill *f) {
    for (int k = 0; k < 2; k++) {
        Value *x = node_operand(n, k);
        Value *mask =
            value_is_fixed(g, x) ? NULL : mask_of_numbers(c, g, n, node_operand(n, 1 - k));
        if (!mask)
            continue;
        *f = (Fill){x, mask, -INFINITY};
        return true;
    }
    return false;
}

/* Does n fill far numbers in among others? */
static bool fill_read(C *c, Graph *g, Node *n, Fill *f) {
    if (n->out_count != 1 || !is_plain_float(n->out[0]) || n->float_kept)
        return false;
    if (node_is(n, "aten::masked_fill")) {
        *f = (Fill){.x = node_in(n, "self"), .mask = node_in(n, "mask")};
        return is_plain_float(f->x) && far_given(g, node_arg(n, "value"), &f->number);
    }
    if (node_is(n, "aten::where")) {
        f->mask = node_in(n, "condition");
        f->x = node_in(n, "other");
        if (is_plain_float(f->x) && far_given(g, node_arg(n, "self"), &f->number))
            return true;
        f->x = node_in(n, "self");
        if (!is_plain_float(f->x) || !far_given(g, node_arg(n, "other"), &f->number))
            return false;
        f->mask = MAKE("aten::logical_not", arg_value(f->mask));
        return true;
    }
    return node_is(n, "aten::add.Tensor") && node_operand_count(n) == 2 &&
           node_double(n, "alpha") == 1 && is_plain_float(node_operand(n, 0)) &&
           is_plain_float(node_operand(n, 1)) && fill_added(c, g, n, f);
}

/* ---- behind readers ------------------------------------------------------------------------ */

static Value *expanded_to(C *c, Graph *g, Node *n, Value *v, const Type *t) {
    bool same = v->type.rank == t->rank &&
                memcmp(v->type.dim, t->dim, (size_t)t->rank * sizeof t->dim[0]) == 0;
    return same ? v : MAKE("aten::expand", arg_value(v), arg_ints(c, t->rank, t->dim));
}

/* The node r of x instead of `old`. */
static Value *read_instead(C *c, Graph *g, const Node *r, Node *n, const Value *old, Value *x) {
    Arg *arg = NEW_ARRAY(c, Arg, r->arg_count);
    for (int i = 0; i < r->arg_count; i++)
        arg[i] = r->arg[i].kind == ARG_VALUE && r->arg[i].u.value == old ? arg_value(x) : r->arg[i];
    return node_value(g, n, op_key(r->op), r->arg_count, arg);
}

static Value *filled_in(Graph *g, Node *n, const Fill *f, double number, Value *rest) {
    if (rest->type.dtype == DT_BOOL)
        return number != 0 ? MAKE("aten::logical_or", arg_value(rest), arg_value(f->mask))
                           : MAKE("aten::logical_and", arg_value(rest),
                                  arg_value(MAKE("aten::logical_not", arg_value(f->mask))));
    return MAKE("aten::masked_fill.Scalar", arg_value(rest), arg_value(f->mask), arg_float(number));
}

/* Of a reader that is a function of what was filled and of numbers: what it makes of the fill. */
static bool function_of(const Graph *g, const Node *r, const Value *v, double number, double *y) {
    double in[MAP_OPERANDS];
    int slot;
    bool once = true;
    for (int k = 0, seen = 0; k < node_operand_count(r); k++) {
        seen += node_operand(r, k) == v;
        once &= seen < 2 && (node_operand(r, k) == v || type_count(&node_operand(r, k)->type) == 1);
    }
    if (!r->op->map || r->out_count != 1 || (r->op->traits & OP_RANDOM) || r->out[0]->grid ||
        !once || !(dtype_is_float(r->out[0]->type.dtype) || r->out[0]->type.dtype == DT_BOOL) ||
        !pointwise_numbers(g, r, v, 0, in, &slot))
        return false;
    in[slot] = number;
    *y = r->op->map(r, in);
    return !isnan(*y);
}

/* Sums and differences with another operand leave what is far away where it is. */
static bool stays_far(const Node *r, const Value *v, double number, double *y) {
    bool sub = node_is(r, "aten::sub.Tensor");
    if ((!sub && !node_is(r, "aten::add.Tensor")) || node_operand_count(r) != 2 ||
        node_double(r, "alpha") != 1 || node_operand(r, 0) == node_operand(r, 1) || r->out[0]->grid)
        return false;
    *y = sub && node_operand(r, 1) == v ? -number : number;
    return true;
}

static bool moves_alone(const Node *r, const Value *v) {
    return (r->op->traits & OP_MOVES_DATA) && node_operand_count(r) == 1 && r->out_count == 1 &&
           node_operand(r, 0) == v && !r->out[0]->grid && r->out[0]->type.dtype == v->type.dtype;
}

static Value *log_of_visible(C *c, Graph *g, Node *r, const Fill *f) {
    Node *n = r;
    Dims d = {.count = 1};
    int dim = (int)node_int(r, "dim");
    d.reduced[dim] = true;
    d.count = r->out[0]->type.dim[dim];
    int64_t dims = dim;
    Value *hidden = MAKE("corten::hide", arg_value(f->x), arg_value(f->mask), arg_bool(false));
    Value *top = MAKE("corten::reduce_max", arg_value(hidden), arg_ints(c, 1, &dims),
                      arg_bool(true), arg_bool(false));
    Value *away = MAKE("aten::sub.Tensor", arg_value(f->x), arg_value(top));
    /* what is hidden may lie above all that is not */
    Value *share = MAKE("aten::exp",
                        arg_value(MAKE("aten::clamp", arg_value(away), arg_none(), arg_float(0))));
    share = MAKE("aten::masked_fill.Scalar", arg_value(share), arg_value(f->mask), arg_float(0));
    Value *sum = sum_node(c, g, n, share, &d, true, 1);
    return MAKE("aten::sub.Tensor", arg_value(away), arg_value(MAKE("aten::log", arg_value(sum))));
}

/* A softmax over another dim than the last, which pass masks has left: masks are of rows. */
static bool is_across(const Node *r) {
    return (node_is(r, "corten::softmax") || node_is(r, "corten::softmax_scaled")) &&
           node_int(r, "dim") != r->out[0]->type.rank - 1 && !r->out[0]->grid;
}

static Value *softmax_of_visible(C *c, Graph *g, Node *r, const Type *type, const Fill *f) {
    Node *n = r;
    Arg dim = *node_arg(r, "dim"), last = arg_int(type->rank - 1);
    Value *x = MAKE("aten::transpose.int", arg_value(expanded_to(c, g, n, f->x, type)), dim, last);
    Value *mask =
        MAKE("aten::transpose.int", arg_value(expanded_to(c, g, n, f->mask, type)), dim, last);
    Value *y = softmax_node(c, g, n, x, type->rank - 1, node_double(r, "beta"), mask, true);
    return MAKE("aten::transpose.int", arg_value(y), dim, last);
}

/* Takes the fill of v behind its reader r, if that can be. */
static void fill_sink(C *c, Graph *g, Node *r, Value *v, const Fill *f) {
    double y;
    Fill moved = *f;
    Value *rest;
    if (is_across(r) && f->number < 0) {
        value_replace(g, r->out[0], softmax_of_visible(c, g, r, &v->type, f));
        return;
    }
    if (function_of(g, r, v, f->number, &y) || stays_far(r, v, f->number, &y)) {
        rest = read_instead(c, g, r, r, v, expanded_to(c, g, r, f->x, &v->type));
    } else if (moves_alone(r, v)) {
        y = f->number;
        rest = read_instead(c, g, r, r, v, expanded_to(c, g, r, f->x, &v->type));
        moved.mask = read_instead(c, g, r, r, v, expanded_to(c, g, r, f->mask, &v->type));
    } else if (node_is(r, "corten::log_softmax") && f->number < 0) {
        y = f->number;
        moved.x = expanded_to(c, g, r, f->x, &v->type);
        rest = log_of_visible(c, g, r, &moved);
    } else {
        return;
    }
    value_replace(g, r->out[0], filled_in(g, r, &moved, y, rest));
}

/* ---- extrema ------------------------------------------------------------------------------- */

static bool chooses(const Node *r, bool above) {
    if (node_is(r, "corten::reduce_max") || node_is(r, "corten::argmax"))
        return node_bool(r, "minimum") == above;
    return (r->op->traits & OP_PICKS) && !above;
}

/* The fill of v for those that look for the extremum at its other end, and for the user. */
static void fill_hide(C *c, Graph *g, Node *def, Value *v, const Fill *f) {
    Node *n = def->next;
    Value *hidden = NULL;
    bool above = f->number > 0;
    (void)c;
    for (int i = 0; i < v->user_count; i++) {
        Node *r = v->user[i];
        if (!chooses(r, above))
            continue;
        if (!hidden)
            hidden = node_value(g, n, "corten::hide",
                                ARGS(arg_value(f->x), arg_value(f->mask), arg_bool(above)));
        for (int k = 0; k < r->arg_count; k++)
            if (r->arg[k].kind == ARG_VALUE && r->arg[k].u.value == v)
                r->arg[k] = arg_value(hidden);
    }
    if (v->output_count == 0)
        return;
    if (!hidden)
        hidden = node_value(g, n, "corten::hide",
                            ARGS(arg_value(f->x), arg_value(f->mask), arg_bool(above)));
    for (int k = 0; k < g->output_count; k++)
        if (g->output[k].kind == ARG_VALUE && g->output[k].u.value == v)
            g->output[k] = arg_value(hidden);
    diag_warning(c, &def->loc,
                 "%g is filled in and leaves the model as the number next to the %s that "
                 "calibration sees: on one grid with it all others would be alike",
                 f->number, above ? "greatest" : "least");
}

static bool wants_care(const Graph *g, const Value *v) {
    double y;
    if (v->output_count > 0)
        return true;
    for (int i = 0; i < v->user_count; i++) {
        const Node *r = v->user[i];
        if (moves_alone(r, v) || chooses(r, true) || chooses(r, false) ||
            node_is(r, "corten::log_softmax") || is_across(r) || function_of(g, r, v, -1e9, &y) ||
            stays_far(r, v, -1e9, &y))
            return true;
    }
    return false;
}

void pass_fills(C *c, Graph *g, const Options *o) {
    (void)o;
    graph_index(g);
    for (Node *n = g->first; n; n = n->next) {
        Fill f;
        Value *v = n->out_count == 1 ? n->out[0] : NULL;
        if (!v || !is_plain_float(v) || !wants_care(g, v))
            continue;
        rewrite_begin(c, n);
        if (fill_read(c, g, n, &f)) {
            Node **reader = c_memdup(c, (void *)v->user, sizeof *reader * (size_t)v->user_count);
            int count = v->user_count;
            for (int i = 0; i < count; i++) {
                rewrite_begin(c, reader[i]);
                fill_sink(c, g, reader[i], v, &f);
                rewrite_end(c);
            }
            fill_hide(c, g, n, v, &f);
            graph_index(g);
        }
        rewrite_end(c);
    }
    graph_index(g);
    graph_sweep(g);
}

void fills_return(C *c, Graph *g) {
    for (Node *n = g->first, *next; n; n = next) {
        next = n->next;
        const Observed *seen = node_is(n, "corten::hide") ? n->out[0]->observed : NULL;
        if (!seen)
            continue;
        double number = node_bool(n, "above") ? seen->max : seen->min;
        rewrite_begin(c, n);
        Value *filled = node_value(
            g, n, "aten::masked_fill.Scalar",
            ARGS(arg_value(node_in(n, "input")), arg_value(node_in(n, "mask")), arg_float(number)));
        filled->observed = n->out[0]->observed;
        value_replace(g, n->out[0], filled);
        node_remove(g, n, FATE_FUSED, "a fill", filled->def);
        rewrite_end(c);
    }
}
