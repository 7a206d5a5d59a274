/* Making and reading arguments. A node has all arguments of its schema in order, so that reading is
 * by the schema's name; kinds were checked at import, so the readers only differ in what they
 * accept as the same thing: a number for a list of one, a constant scalar for a number. */
#include <math.h>
#include <string.h>

#include "graph/graph.h"

/* ---- arguments ---------------------------------------------------------------------------- */

Arg arg_none(void) {
    return (Arg){.kind = ARG_NONE};
}

Arg arg_value(Value *v) {
    return v ? (Arg){.kind = ARG_VALUE, .u.value = v} : arg_none();
}

Arg arg_int(int64_t i) {
    return (Arg){.kind = ARG_INT, .u.i = i};
}

Arg arg_float(double f) {
    return (Arg){.kind = ARG_FLOAT, .u.f = f};
}

Arg arg_bool(bool b) {
    return (Arg){.kind = ARG_BOOL, .u.b = b};
}

Arg arg_string(const char *s) {
    return (Arg){.kind = ARG_STRING, .u.s = s};
}

Arg arg_dtype(DType t) {
    return (Arg){.kind = ARG_DTYPE, .u.dtype = t};
}

static Arg arg_list(C *c, int count) {
    Arg a = {.kind = ARG_LIST};
    a.u.list.count = count;
    a.u.list.item = NEW_ARRAY(c, Arg, count);
    return a;
}

Arg arg_ints(C *c, int count, const int64_t *v) {
    Arg a = arg_list(c, count);
    for (int i = 0; i < count; i++)
        a.u.list.item[i] = arg_int(v[i]);
    return a;
}

Arg arg_values(C *c, int count, Value *const *v) {
    Arg a = arg_list(c, count);
    for (int i = 0; i < count; i++)
        a.u.list.item[i] = arg_value(v[i]);
    return a;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* What node_double gave of a node whose arguments stay as they are: see node_keeps. Names are
 * string literals: the same address is the same name. */
enum { KEPT_MOST = 4 };

static _Thread_local struct {
    const Node *node;
    int count;
    const char *name[KEPT_MOST];
    double number[KEPT_MOST];
} kept;

void node_keeps(const Node *n) {
    kept.node = n;
    kept.count = 0;
}

/* -1: the operator takes none of this name. */
static int arg_find(const Node *n, const char *name) {
    const Schema *s = op_schema(n->op);
    for (int i = 0; i < s->arg_count; i++)
        if (strcmp(s->arg[i].name, name) == 0)
            return i;
    return -1;
}

int node_arg_index(const Node *n, const char *name) {
    int i = arg_find(n, name);
    if (i >= 0)
        return i;
    node_keeps(NULL);
    fatal(n->graph->c, DIAG_BUG, &n->loc, "%s has no argument %s", op_schema(n->op)->name, name);
}

const Arg *node_arg(const Node *n, const char *name) {
    return &n->arg[node_arg_index(n, name)];
}

bool node_takes(const Node *n, const char *name) {
    return arg_find(n, name) >= 0;
}

bool node_has(const Node *n, const char *name) {
    return node_arg(n, name)->kind != ARG_NONE;
}

Value *node_in(const Node *n, const char *name) {
    const Arg *a = node_arg(n, name);
    return a->kind == ARG_VALUE ? a->u.value : NULL;
}

/* A number, or a constant tensor with one element in its place. */
static bool arg_number(const Arg *a, double *f, int64_t *i) {
    switch (a->kind) {
    case ARG_INT:
        *i = a->u.i;
        *f = (double)a->u.i;
        return true;
    case ARG_BOOL:
        *i = a->u.b;
        *f = a->u.b;
        return true;
    case ARG_FLOAT:
        *f = a->u.f;
        *i = a->u.f > -9e18 && a->u.f < 9e18 ? (int64_t)a->u.f : 0;
        return true;
    case ARG_VALUE:
        if (!value_is_scalar_constant(a->u.value, f))
            return false;
        *i = a->u.value->grid ? (int64_t)*f : array_get_int(a->u.value->constant, 0);
        return true;
    default:
        return false;
    }
}

static void read_number(const Node *n, const char *name, double *f, int64_t *i) {
    if (arg_number(node_arg(n, name), f, i))
        return;
    node_keeps(NULL);
    fatal(n->graph->c, DIAG_MODEL, &n->loc, "%s: %s is not a constant number", n->name, name);
}

int64_t node_int(const Node *n, const char *name) {
    double f;
    int64_t i;
    read_number(n, name, &f, &i);
    return i;
}

double node_double(const Node *n, const char *name) {
    for (int k = 0; n == kept.node && k < kept.count; k++)
        if (kept.name[k] == name)
            return kept.number[k];
    double f;
    int64_t i;
    read_number(n, name, &f, &i);
    if (n == kept.node && kept.count < KEPT_MOST) {
        kept.name[kept.count] = name;
        kept.number[kept.count++] = f;
    }
    return f;
}

bool node_bool(const Node *n, const char *name) {
    return node_double(n, name) != 0;
}

const char *node_string(const Node *n, const char *name) {
    const Arg *a = node_arg(n, name);
    return a->kind == ARG_STRING ? a->u.s : NULL;
}

int node_ints(const Node *n, const char *name, int64_t *out, int capacity) {
    const Arg *a = node_arg(n, name), *item = a;
    int count = a->kind == ARG_LIST ? a->u.list.count : a->kind != ARG_NONE;
    double f;
    if (a->kind == ARG_LIST)
        item = a->u.list.item;
    if (count > capacity) {
        diag_error(n->graph->c, DIAG_MODEL, &n->loc,
                   "%s: %s has %d numbers, at most %d are possible", n->name, name, count,
                   capacity);
        count = capacity;
    }
    for (int i = 0; i < count; i++)
        if (!arg_number(&item[i], &f, &out[i]))
            fatal(n->graph->c, DIAG_MODEL, &n->loc, "%s: %s is not a list of constant numbers",
                  n->name, name);
    return count;
}

void node_ints_spread(const Node *n, const char *name, int64_t *out, int want) {
    const Arg *a = node_arg(n, name);
    int given = a->kind == ARG_LIST ? a->u.list.count : a->kind != ARG_NONE;
    out[0] = 1;
    if (given == 1 || given == want)
        node_ints(n, name, out, want);
    else
        diag_error(n->graph->c, DIAG_MODEL, &n->loc, "%s: %s has %d numbers, 1 or %d are needed",
                   n->name, name, given, want);
    for (int i = given == want ? want : 1; i < want; i++)
        out[i] = out[0];
}

int node_values(const Node *n, const char *name, Value **out, int capacity) {
    const Arg *a = node_arg(n, name), *item = a;
    int count = a->kind == ARG_LIST ? a->u.list.count : a->kind != ARG_NONE;
    if (a->kind == ARG_LIST)
        item = a->u.list.item;
    if (count > capacity) {
        diag_error(n->graph->c, DIAG_MODEL, &n->loc,
                   "%s: %s has %d tensors, at most %d are possible", n->name, name, count,
                   capacity);
        count = capacity;
    }
    for (int i = 0; i < count; i++)
        out[i] = item[i].kind == ARG_VALUE ? item[i].u.value : NULL;
    return count;
}

int dim_wrap(C *c, const Node *n, int64_t dim, int rank) {
    int64_t span = rank > 0 ? rank : 1; /* PyTorch takes 0 and -1 of a 0-d tensor */
    if (dim >= -span && dim < span)
        return (int)(dim < 0 ? dim + span : dim);
    diag_error(c, DIAG_MODEL, &n->loc, "%s: dimension %lld is out of range for rank %d", n->name,
               (long long)dim, rank);
    return 0;
}

bool value_is_scalar_constant(const Value *v, double *out) {
    if (!v->constant || array_count(v->constant) != 1)
        return false;
    double x = array_get(v->constant, 0);
    if (v->grid && v->grid->part_count > 0)
        x = v->grid->part[0].scale * (x - v->grid->part[0].zero_point);
    *out = x;
    return true;
}
