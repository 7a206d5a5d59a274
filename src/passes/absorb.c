/* Pass absorb: archives that are quantized already (PT2E) say so with quantize and dequantize
 * nodes. Each is recognised by its operator and becomes a pinned grid on the value it is about;
 * integer constants keep their integers. A value whose grid is pinned and that is quantized again
 * with another gets a corten::requantize node. */
#include "passes/passes.h"
#include "quant/quant.h"

#include <math.h>
#include <string.h>

static bool is_quantizing(const Node *n, const char *prefix) {
    const char *name = op_schema(n->op)->name;
    const char *space = "quantized_decomposed::";
    size_t length = strlen(space);
    return strncmp(name, space, length) == 0 && strncmp(name + length, prefix, strlen(prefix)) == 0;
}

static bool per_channel(const Node *n) {
    return text_ends_with(op_schema(n->op)->name, "_per_channel");
}

/* ---- the grid that a node's arguments say ------------------------------------------------ */

/* An argument that is a number or a constant with one; NAN if it varies. */
static double number(const Graph *g, const Node *n, const char *name, int64_t index) {
    const Arg *a = node_arg(n, name);
    if (a->kind != ARG_VALUE)
        return a->kind == ARG_NONE ? 0 : node_double(n, name);
    const Value *v = a->u.value;
    if (!value_is_fixed(g, v) || index >= type_count(&v->type))
        return NAN;
    return array_get(v->constant, index);
}

/* uint8 grids are int8 grids moved by 128. */
static DType inner_dtype(DType t) {
    return t == DT_U8 ? DT_I8 : t;
}

static int32_t dtype_offset(DType t) {
    return t == DT_U8 ? 128 : 0;
}

static bool part_fill(const Graph *g, const Node *n, int k, Part *p) {
    bool channels = per_channel(n);
    double scale = number(g, n, channels ? "scales" : "scale", k);
    double zero = number(g, n, channels ? "zero_points" : "zero_point", k);
    zero -= dtype_offset(node_arg(n, "dtype")->u.dtype);
    if (!(scale > 0) || !isfinite(scale) || !(fabs(zero) <= INT32_MAX))
        return false;
    *p = (Part){.axis = -1, .scale = scale, .zero_point = (int32_t)zero};
    return true;
}

/* NULL, with a diagnostic, if there is none. */
static Grid *grid_of(C *c, const Graph *g, const Node *n, const Type *t) {
    DType dtype = inner_dtype(node_arg(n, "dtype")->u.dtype);
    int axis = per_channel(n) ? dim_wrap(c, n, node_int(n, "axis"), t->rank) : -1;
    bool known = dtype == DT_I8 || dtype == DT_I16 || dtype == DT_I32;
    if (!known || (axis >= 0 && (t->rank == 0 || t->dim[axis] > INT32_MAX))) {
        diag_error(c, DIAG_MODEL, &n->loc, "quantization to %s cannot be taken over",
                   dtype_name(dtype));
        return NULL;
    }
    if (axis >= 0 && t->dim[axis] == 1)
        axis = -1; /* one channel: a grid of one part moves freely */
    Grid *grid = NEW(c, Grid);
    *grid = (Grid){.dtype = dtype, .bits = 8 * dtype_size(dtype), .pinned = true};
    grid->part_count = axis < 0 ? 1 : (int)t->dim[axis];
    grid->part = NEW_ARRAY(c, Part, grid->part_count);
    for (int k = 0; k < grid->part_count; k++) {
        Part *p = &grid->part[k];
        if (!part_fill(g, n, k, p)) {
            diag_error(c, DIAG_MODEL, &n->loc,
                       "scale or zero point of %s is not a constant that can be used",
                       node_operator(n));
            return NULL;
        }
        p->axis = axis;
        p->start = axis < 0 ? 0 : k;
        p->stop = axis < 0 ? 0 : k + 1;
    }
    return grid;
}

/* ---- quantize ---------------------------------------------------------------------------- */

/* The operand's value comes to lie on the grid; the node stays until nobody reads its integers. */
static void absorb_quantize(C *c, Graph *g, Node *n) {
    Value *x = node_operand(n, 0);
    if (value_is_fixed(g, x))
        return; /* fold computes its integers */
    Grid *grid = grid_of(c, g, n, &x->type);
    if (!grid)
        return;
    if (!x->grid) {
        x->grid = grid;
    } else if (!grid_equal(x->grid, grid)) {
        rewrite_begin(c, n);
        Value *moved = node_value(g, n, "corten::requantize", ARGS(arg_value(x)));
        rewrite_end(c);
        moved->grid = grid;
        n->arg[0] = arg_value(moved);
    }
}

/* ---- dequantize -------------------------------------------------------------------------- */

static Array *shifted(C *c, const Array *a, DType dtype) {
    Array *copy = array_new(c, dtype, a->rank, a->dim);
    int64_t count = array_count(a);
    for (int64_t i = 0; i < count; i++)
        array_set_int(copy, i, array_get_int(a, i) - dtype_offset(a->dtype));
    return copy;
}

/* The real numbers that an integer constant means, with their integers. */
static Value *constant_on_grid(C *c, Graph *g, const Node *n, const Value *q, Grid *grid) {
    if (q->constant->dtype != node_arg(n, "dtype")->u.dtype) {
        diag_error(c, DIAG_MODEL, &n->loc, "%s holds %s, but is dequantized as %s", q->name,
                   dtype_name(q->constant->dtype), dtype_name(node_arg(n, "dtype")->u.dtype));
        return NULL;
    }
    Value *v = value_constant(g, q->name, shifted(c, q->constant, grid->dtype));
    v->type = n->out[0]->type;
    v->grid = grid;
    v->fqn = q->fqn;
    return v;
}

/* The value that n's result is, if it is known under another name. */
static Value *dequantized(C *c, Graph *g, Node *n, Grid *grid) {
    Value *q = node_operand(n, 0);
    if (value_is_fixed(g, q))
        return constant_on_grid(c, g, n, q, grid);
    if (!q->def || !is_quantizing(q->def, "quantize_"))
        return NULL;
    Value *x = node_operand(q->def, 0);
    return x->grid && grid_equal(x->grid, grid) && type_equal(&x->type, &n->out[0]->type) ? x
                                                                                          : NULL;
}

static void absorb_dequantize(C *c, Graph *g, Node *n) {
    Grid *grid = grid_of(c, g, n, &n->out[0]->type);
    if (!grid)
        return;
    Value *x = dequantized(c, g, n, grid);
    if (!x) { /* integers from elsewhere: the node stays and reads them with this grid */
        n->out[0]->grid = grid;
        return;
    }
    value_replace(g, n->out[0], x);
    node_remove(g, n, FATE_FOLDED, "its grid is that of its operand", x->def);
}

/* Constants that an archive holds in float although it quantizes them. */
static bool fold_quantize(C *c, Graph *g, Node *n) {
    if (!value_is_fixed(g, node_operand(n, 0)) || node_operand(n, 0)->grid)
        return false;
    struct Env *outer = c->env;
    c->env = env_new(c, g);
    node_eval(c, n);
    const Array *a = env_get(c->env, n->out[0]);
    Array *copy = array_convert(c, a, a->dtype);
    env_free(c->env);
    c->env = outer;
    Value *v = value_constant(g, n->out[0]->name, copy);
    value_replace(g, n->out[0], v);
    node_remove(g, n, FATE_FOLDED, "computed from constants", NULL);
    return true;
}

void pass_absorb(C *c, Graph *g, const Options *o) {
    (void)o;
    graph_index(g);
    for (Node *n = g->first, *next; n; n = next) {
        next = n->next;
        if (is_quantizing(n, "quantize_") && !fold_quantize(c, g, n))
            absorb_quantize(c, g, n);
        else if (is_quantizing(n, "dequantize_"))
            absorb_dequantize(c, g, n);
    }
    graph_index(g);
    graph_sweep(g);
}
