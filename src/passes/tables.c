/* Pass tables: every connected region of pointwise nodes that depends on one varying tensor (its
 * other operands being constants of one element) is a function of one number, and becomes one
 * corten::table node whose body is the region, or one aten::clamp if it does nothing but clamp.
 * No region reaches across a pinned grid or over a value that is read outside of it. */
#include "passes/passes.h"

#include "lower/lower.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 256, MAX_INPUTS = 16 };

typedef struct {
    Node *node[MAX_NODES]; /* node[0] is the last in order: the region's result */
    int node_count;
    Value *input[MAX_INPUTS]; /* distinct varying operands from outside */
    int input_count;
} Region;

static bool region_has(const Region *r, const Node *n) {
    for (int i = 0; i < r->node_count; i++)
        if (r->node[i] == n)
            return true;
    return false;
}

static bool same_dims(const Type *a, const Type *b) {
    return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

/* May n be part of a region whose result has type t? */
static bool can_join(const Node *n, const Type *t) {
    return n->op->map && n->out_count == 1 && !n->fused && !n->float_kept && !n->body &&
           !(n->op->traits & OP_RANDOM) && same_dims(&n->out[0]->type, t);
}

/* Adds n; false (r unusable) if it has an operand that no table can have. */
static bool region_add(const Graph *g, Region *r, Node *n) {
    if (r->node_count == MAX_NODES)
        return false;
    r->node[r->node_count++] = n;
    int count = node_operand_count(n);
    for (int k = 0; k < count; k++) {
        Value *v = node_operand(n, k);
        if (value_is_fixed(g, v)) {
            if (type_count(&v->type) != 1)
                return false;
            continue;
        }
        bool known = v->def && region_has(r, v->def);
        for (int i = 0; i < r->input_count && !known; i++)
            known = r->input[i] == v;
        if (known)
            continue;
        if (r->input_count == MAX_INPUTS)
            return false;
        r->input[r->input_count++] = v;
    }
    return true;
}

static bool readers_inside(const Region *r, const Value *v) {
    for (int i = 0; i < v->user_count; i++)
        if (!region_has(r, v->user[i]))
            return false;
    return v->output_count == 0;
}

/* The latest producer that the region can absorb; its value's index in `input`, or -1. */
static int next_producer(const Region *r) {
    int best = -1;
    const Type *t = &r->node[0]->out[0]->type;
    for (int i = 0; i < r->input_count; i++) {
        const Value *v = r->input[i];
        if (!v->def || v->grid || !can_join(v->def, t) || !readers_inside(r, v))
            continue;
        if (best < 0 || v->def->index > r->input[best]->def->index)
            best = i;
    }
    return best;
}

/* Bools are bytes as int8 and uint8 are; wider integers have too many values for a table. */
static bool is_table(const Region *r) {
    const Type *result = &r->node[0]->out[0]->type;
    DType in = r->input_count == 1 ? r->input[0]->type.dtype : DT_NONE;
    return r->input_count == 1 && same_dims(&r->input[0]->type, result) &&
           (dtype_is_float(in) || in == DT_BOOL || in == DT_I8 || in == DT_U8);
}

/* The largest region ending in n that depends on one varying value; false if there is none. */
static bool region_grow(const Graph *g, Node *n, Region *best) {
    Region r = {0};
    bool found = false;
    if (!can_join(n, &n->out[0]->type) || !region_add(g, &r, n))
        return false;
    for (;;) {
        if (is_table(&r)) {
            *best = r;
            found = true;
        }
        int k = next_producer(&r);
        if (k < 0)
            return found;
        Node *producer = r.input[k]->def;
        r.input[k] = r.input[--r.input_count];
        if (!region_add(g, &r, producer))
            return found;
    }
}

/* ---- the body ---------------------------------------------------------------------------- */

static int by_index(const void *a, const void *b) {
    const Node *x = *(Node *const *)a, *y = *(Node *const *)b;
    return (x->index > y->index) - (x->index < y->index);
}

/* The body's counterpart of an argument: constants become the numbers that they hold. */
static Arg body_arg(const Arg *a, Value *const *copy_of) {
    if (a->kind != ARG_VALUE)
        return *a;
    const Value *v = a->u.value;
    if (copy_of[v->id])
        return arg_value(copy_of[v->id]);
    double real = 0;
    value_is_scalar_constant(v, &real); /* through its grid, if it has one */
    return dtype_is_float(v->type.dtype) ? arg_float(real) : arg_int(array_get_int(v->constant, 0));
}

static const char *full_name(C *c, const Op *op) {
    const Schema *s = op_schema(op);
    return s->overload[0] ? c_format(c, "%s.%s", s->name, s->overload) : s->name;
}

void graph_set_single(Graph *body, Value *in, Value *out) {
    C *c = body->c;
    body->input = NEW(c, Arg);
    body->input_name = NEW(c, const char *);
    body->input[0] = arg_value(in);
    body->input_name[0] = in->name;
    body->input_count = 1;
    body->output = NEW(c, Arg);
    body->output_name = NEW(c, const char *);
    body->output[0] = arg_value(out);
    body->output_name[0] = out->name;
    body->output_count = 1;
    graph_index(body);
}

static Graph *region_body(C *c, const Graph *g, Region *r) {
    Graph *body = graph_new(c, "body");
    body->stage = STAGE_CORE;
    Value **copy_of = NEW_ARRAY(c, Value *, g->value_count);
    Value *x = value_new(body, "x", r->input[0]->type);
    x->role = ROLE_INPUT;
    copy_of[r->input[0]->id] = x;
    qsort(r->node, (size_t)r->node_count, sizeof r->node[0], by_index);
    Value *result = x;
    for (int i = 0; i < r->node_count; i++) {
        const Node *n = r->node[i];
        Arg *arg = NEW_ARRAY(c, Arg, n->arg_count);
        for (int k = 0; k < n->arg_count; k++)
            arg[k] = body_arg(&n->arg[k], copy_of);
        result = node_value(body, NULL, full_name(c, n->op), n->arg_count, arg);
        result->type = n->out[0]->type;
        copy_of[n->out[0]->id] = result;
    }
    graph_set_single(body, x, result);
    return body;
}

/* ---- what a table may reduce to ---------------------------------------------------------- */

/* Points at which a function of a real is compared with a simpler one: both signs, many
 * magnitudes, and the neighbourhood of `at`. */
static double probe(int i, double at) {
    double magnitude = ldexp(1 + (i % 16) / 16.0, i / 16 - 12);
    switch (i % 3) {
    case 0:
        return magnitude;
    case 1:
        return -magnitude;
    default:
        return at + (i % 2 ? magnitude : -magnitude) * 0x1p-6;
    }
}

typedef struct { /* min(max(scale * x + shift, low), high) */
    double scale, shift, low, high;
} Ramp;

/* The outermost probes between the ends say which line it would have to be. */
static bool ramp_line(const Node *table, Ramp *r) {
    double first = HUGE_VAL, last = -HUGE_VAL, y_first = 0, y_last = 0;
    for (int i = 0; i < 512; i++) {
        double x = probe(i, 0), y = table_body_eval(table, x);
        if (!(y > r->low && y < r->high))
            continue;
        if (x < first) {
            first = x;
            y_first = y;
        }
        if (x > last) {
            last = x;
            y_last = y;
        }
    }
    r->scale = (y_last - y_first) / (last - first);
    r->shift = y_last - r->scale * last;
    return last > first && r->scale > 0 && isfinite(r->scale) && isfinite(r->shift);
}

/* Is the table a ramp? Its ends and its middle say which one it would have to be. */
static bool is_ramp(const Node *table, Ramp *r) {
    r->low = table_body_eval(table, -HUGE_VAL);
    r->high = table_body_eval(table, HUGE_VAL);
    if (isnan(r->low) || isnan(r->high) || r->low >= r->high || !ramp_line(table, r))
        return false;
    double corner = isinf(r->low) ? isinf(r->high) ? 0 : r->high : r->low;
    for (int i = 0; i < 512; i++) {
        double x = probe(i, (corner - r->shift) / r->scale);
        double line = r->scale * x + r->shift, want = fmin(fmax(line, r->low), r->high);
        double size = fabs(r->scale * x) + fabs(r->shift) + fabs(want);
        if (!(fabs(table_body_eval(table, x) - want) <= 1e-9 * size))
            return false;
    }
    if (fabs(r->scale - 1) < 1e-9 && fabs(r->shift) < 1e-9) {
        r->scale = 1;
        r->shift = 0;
    }
    return true;
}

static Value *clamp_value(Graph *g, Node *before, Value *x, double low, double high) {
    return node_value(g, before, "aten::clamp",
                      ARGS(arg_value(x), isinf(low) ? arg_none() : arg_float(low),
                           isinf(high) ? arg_none() : arg_float(high)));
}

/* ---- replacing --------------------------------------------------------------------------- */

/* A table that only clamps becomes an aten::clamp, which kernels apply in their store; one that
 * clamps a line does so too if weights can take the line; one that does nothing gives way to its
 * operand. Returns the value that stands for the table's result. */
static Value *reduce_table(C *c, Graph *g, Node *table, bool pinned) {
    Value *x = table->arg[0].u.value;
    Ramp r;
    bool real = dtype_is_float(x->type.dtype) && dtype_is_float(table->out[0]->type.dtype);
    if (!real || !is_ramp(table, &r)) /* bytes that become reals are other bytes */
        return table->out[0];
    bool straight = r.scale == 1 && r.shift == 0, ends = !isinf(r.low) || !isinf(r.high);
    if (!ends && (pinned || !straight))
        return table->out[0];
    if (!straight) {
        if (x->grid || !weights_take_affine(c, g, x, r.scale, r.shift))
            return table->out[0];
        x->observed = NULL; /* it is another value now */
    }
    Value *result = x;
    if (ends) {
        rewrite_begin(c, table);
        result = clamp_value(g, table, x, r.low, r.high);
        rewrite_end(c);
    }
    node_remove(g, table, FATE_REMOVED, "changes nothing", NULL);
    return result;
}

/* Returns the node behind which everything has been dealt with. */
static Node *region_replace(C *c, Graph *g, Region *r) {
    Node *last = r->node[0];
    Value *old = last->out[0];
    Node *before = last->prev;
    rewrite_begin(c, last);
    Node *table = node_new(g, last, "corten::table", ARGS(arg_value(r->input[0])));
    rewrite_end(c);
    table->body = region_body(c, g, r);
    table->out[0]->type = old->type;
    for (int i = 0; i < r->node_count; i++)
        if (r->node[i] != last)
            origins_merge(g, table, r->node[i], FATE_FUSED);
    Value *out = reduce_table(c, g, table, old->grid != NULL);
    if (out != r->input[0]) {
        out->grid = old->grid;
        out->observed = old->observed;
        out->bits = old->bits;
        out->glob = old->glob;
        out->type = old->type;
    }
    value_replace(g, old, out);
    for (int i = r->node_count - 1; i >= 0; i--) {
        if (r->node[i] == before)
            before = before->prev;
        node_remove(g, r->node[i], FATE_FUSED, "part of a table", out->def);
    }
    return before;
}

void pass_tables(C *c, Graph *g, const Options *o) {
    (void)o;
    graph_index(g);
    Region region;
    for (Node *n = g->last; n;) {
        if (!n->op->map || !region_grow(g, n, &region)) {
            n = n->prev;
            continue;
        }
        n = region_replace(c, g, &region);
        graph_index(g);
    }
}
