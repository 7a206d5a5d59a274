/* Nodes and values: building, taking apart, ordering. A graph owns its values by id; nodes are a
 * doubly linked list in execution order. Each node carries the archive nodes it stands for, and an
 * archive node's fate is decided when the last node that stands for it goes. */
#include <math.h>
#include <string.h>

#include "graph/graph.h"

/* ---- names -------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int next_suffix; /* the first that may be free */
} TakenName;

struct NameSet { /* open addressing, never over half full */
    int count, capacity;
    TakenName *slot;
};

static uint64_t name_hash(const char *s) {
    uint64_t h = 14695981039346656037u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h;
}

static TakenName *name_slot(NameSet *set, const char *name) {
    uint64_t mask = (uint64_t)set->capacity - 1, k = name_hash(name) & mask;
    while (set->slot[k].name && strcmp(set->slot[k].name, name) != 0)
        k = (k + 1) & mask;
    return &set->slot[k];
}

static void names_grow(C *c, NameSet *set) {
    NameSet old = *set;
    set->capacity = old.capacity ? old.capacity * 2 : 64;
    set->slot = NEW_ARRAY(c, TakenName, set->capacity);
    for (int i = 0; i < old.capacity; i++)
        if (old.slot[i].name)
            *name_slot(set, old.slot[i].name) = old.slot[i];
}

const char *name_take(C *c, NameSet *set, const char *name) {
    if (2 * (set->count + 2) > set->capacity)
        names_grow(c, set);
    TakenName *taken = name_slot(set, name);
    if (!taken->name) {
        *taken = (TakenName){c_strdup(c, name), 1};
        set->count++;
        return taken->name;
    }
    for (;;) {
        const char *other = c_format(c, "%s_%d", name, taken->next_suffix++);
        TakenName *slot = name_slot(set, other);
        if (!slot->name) {
            *slot = (TakenName){other, 1};
            set->count++;
            return other;
        }
    }
}

NameSet *names_copy(C *c, const NameSet *set) {
    NameSet *copy = c_memdup(c, set, sizeof *set);
    copy->slot = NEW_ARRAY(c, TakenName, set->capacity + 1);
    if (set->capacity > 0)
        memcpy(copy->slot, set->slot, (size_t)set->capacity * sizeof *set->slot);
    return copy;
}

/* ---- types -------------------------------------------------------------------------------- */

bool type_equal(const Type *a, const Type *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

Type type_make(DType dtype, int rank, const int64_t *dim) {
    Type t = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    return t;
}

double grid_unit(const Grid *grid, int k) {
    return grid->bits == 4 ? grid->part[k].scale / 16 : grid->part[k].scale;
}

int64_t type_count(const Type *t) {
    return dims_count(t->rank, t->dim);
}

/* ---- graph and values --------------------------------------------------------------------- */

Graph *graph_new(C *c, const char *name) {
    Graph *g = NEW(c, Graph);
    g->c = c;
    g->name = c_strdup(c, name);
    g->value_names = NEW(c, NameSet);
    g->node_names = NEW(c, NameSet);
    g->call_names = NEW(c, NameSet);
    g->buffer_names = NEW(c, NameSet);
    return g;
}

Value *value_new(Graph *g, const char *name, Type type) {
    Value *v = NEW(g->c, Value);
    v->id = g->value_count++;
    v->name = name_take(g->c, g->value_names, name);
    v->type = type;
    for (int i = 0; i < MAX_RANK; i++)
        v->order[i] = (int8_t)i;
    int64_t step = 1;
    for (int i = type.rank - 1; i >= 0; i--) {
        v->stride[i] = step;
        step *= type.dim[i] > 0 ? type.dim[i] : 1;
    }
    g->value = (Value **)c_grow(g->c, (void *)g->value, v->id, &g->value_capacity, v->id + 1,
                                sizeof *g->value);
    g->value[v->id] = v;
    return v;
}

Value *value_constant(Graph *g, const char *name, Array *a) {
    Value *v = value_new(g, name, type_make(a->dtype, a->rank, a->dim));
    v->role = ROLE_CONSTANT;
    v->constant = a;
    return v;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static void node_link(Graph *g, Node *n, Node *before) {
    n->next = before;
    n->prev = before ? before->prev : g->last;
    *(n->prev ? &n->prev->next : &g->first) = n;
    *(before ? &before->prev : &g->last) = n;
    g->node_count++;
}

static void node_unlink(Graph *g, Node *n) {
    *(n->prev ? &n->prev->next : &g->first) = n->next;
    *(n->next ? &n->next->prev : &g->last) = n->prev;
    n->prev = n->next = NULL;
    g->node_count--;
}

void node_set_out_count(Node *n, int count) {
    Graph *g = n->graph;
    if (count <= n->out_count)
        return;
    Value **out = NEW_ARRAY(g->c, Value *, count);
    for (int k = 0; k < count; k++) {
        if (k < n->out_count) {
            out[k] = n->out[k];
            continue;
        }
        const char *name = count == 1 ? n->name : c_format(g->c, "%s_out%d", n->name, k);
        out[k] = value_new(g, name, (Type){0});
        out[k]->def = n;
        out[k]->def_index = k;
    }
    n->out = out;
    n->out_count = count;
}

/* The node without outputs; `arg` has the first arg_count arguments of the schema. */
static Node *node_start(Graph *g, Node *before, const Op *op, const char *name, int arg_count,
                        const Arg *arg) {
    const Schema *s = op_schema(op);
    Node *n = NEW(g->c, Node);
    n->graph = g;
    n->op = op;
    n->name = name_take(g->c, g->node_names, name);
    n->sqnr_db = NAN;
    n->loc = g->c->loc;
    if (g->c->origins)
        n->origins = *g->c->origins;
    n->arg_count = s->arg_count;
    n->arg = NEW_ARRAY(g->c, Arg, s->arg_count);
    for (int i = 0; i < s->arg_count; i++)
        n->arg[i] = i < arg_count ? arg[i] : s->arg[i].default_value;
    node_link(g, n, before);
    return n;
}

Node *node_insert(Graph *g, Node *before, const Op *op, const char *name, const Arg *arg,
                  int out_count, const Type *type) {
    Node *n = node_start(g, before, op, name, op_schema(op)->arg_count, arg);
    node_set_out_count(n, out_count);
    for (int k = 0; k < out_count; k++)
        n->out[k]->type = type[k];
    return n;
}

/* "mul" for "aten::mul.Tensor". */
static const char *short_name(C *c, const Schema *s) {
    const char *colon = strstr(s->name, "::");
    return c_strdup(c, colon ? colon + 2 : s->name);
}

static void set_contiguous(Value *v) {
    int64_t step = 1;
    for (int i = v->type.rank - 1; i >= 0; i--) {
        v->stride[i] = step;
        step *= v->type.dim[i] > 0 ? v->type.dim[i] : 1;
    }
}

Node *node_new(Graph *g, Node *before, const char *schema_name, int arg_count, const Arg *arg) {
    C *c = g->c;
    const Op *op = op_find(schema_name);
    if (!op)
        fatal(c, DIAG_BUG, &c->loc, "the operator table has no row %s", schema_name);
    const Schema *s = op_schema(op);
    if (arg_count > s->arg_count)
        fatal(c, DIAG_BUG, &c->loc, "%s takes %d arguments, not %d", schema_name, s->arg_count,
              arg_count);
    for (int i = arg_count; i < s->arg_count; i++)
        if (!s->arg[i].has_default)
            fatal(c, DIAG_BUG, &c->loc, "%s: argument %s is needed", schema_name, s->arg[i].name);
    const char *name = short_name(c, s);
    if (c->loc.node)
        name = c_format(c, "%s_%s", c->loc.node, name);
    Node *n = node_start(g, before, op, name, arg_count, arg);
    int out_count = s->return_count == 1 && s->ret[0].list ? 0 : s->return_count;
    node_set_out_count(n, out_count); /* of a list: what the shape function says */
    node_infer(c, n);
    for (int k = 0; k < n->out_count; k++)
        set_contiguous(n->out[k]);
    return n;
}

Value *node_value(Graph *g, Node *before, const char *schema_name, int arg_count, const Arg *arg) {
    return node_new(g, before, schema_name, arg_count, arg)->out[0];
}

Value *channels_scaled(Graph *g, Node *before, Value *x, Array *scale, Array *offset) {
    C *c = g->c;
    int64_t one[2] = {1, 1}, none[4] = {0};
    return node_value(g, before, "corten::conv2d",
                      ARGS(arg_value(x), arg_value(value_constant(g, "scale", scale)),
                           arg_value(value_constant(g, "offset", offset)), arg_ints(c, 2, one),
                           arg_ints(c, 4, none), arg_ints(c, 2, one), arg_int(scale->dim[0])));
}

Value *value_converted(Graph *g, Node *before, Value *v, DType dtype) {
    if (v->type.dtype == dtype)
        return v;
    return node_value(g, before, "aten::_to_copy", ARGS(arg_value(v), arg_dtype(dtype)));
}

void rewrite_begin(C *c, const Node *n) {
    c->origins = c_memdup(c, &n->origins, sizeof n->origins);
    c->loc = n->loc;
    if (!c->loc.node)
        c->loc.node = n->name;
}

void rewrite_end(C *c) {
    c->origins = NULL;
    c->loc = (Loc){0};
}

void node_move_before(Graph *g, Node *n, Node *before) {
    if (n == before)
        return;
    node_unlink(g, n);
    node_link(g, n, before);
}

/* ---- origins ------------------------------------------------------------------------------ */

bool origins_have(const Origins *o, int id) {
    int low = 0, high = o->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (o->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < o->count && o->id[low] == id;
}

Origins origins_union(C *c, const Origins *a, const Origins *b) {
    Origins u = {0, NEW_ARRAY(c, int, (int64_t)a->count + b->count)};
    for (int i = 0, k = 0; i < a->count || k < b->count;) {
        int x = i < a->count ? a->id[i] : INT32_MAX, y = k < b->count ? b->id[k] : INT32_MAX;
        u.id[u.count++] = x < y ? x : y;
        i += x <= y;
        k += y <= x;
    }
    return u;
}

static bool stands_elsewhere(const Graph *g, const Node *but, int id) {
    for (const Node *n = g->first; n; n = n->next)
        if (n != but && origins_have(&n->origins, id))
            return true;
    return false;
}

static int origin_first(const Node *n) {
    return n && n->origins.count > 0 ? n->origins.id[0] : -1;
}

void node_remove(Graph *g, Node *n, Fate fate, const char *reason, const Node *into) {
    for (int i = 0; i < n->origins.count; i++) {
        int id = n->origins.id[i];
        if (id < 0 || id >= g->archive_count || g->archive[id].fate != FATE_LIVE ||
            stands_elsewhere(g, n, id))
            continue;
        g->archive[id].fate = fate;
        g->archive[id].reason = reason;
        g->archive[id].into = origin_first(into);
    }
    node_unlink(g, n);
    n->index = -1;
}

void origins_merge(Graph *g, Node *dst, const Node *src, Fate fate) {
    for (int i = 0; i < src->origins.count; i++) {
        int id = src->origins.id[i];
        if (id < 0 || id >= g->archive_count || g->archive[id].fate != FATE_LIVE ||
            origins_have(&dst->origins, id))
            continue;
        g->archive[id].fate = fate;
        g->archive[id].into = origin_first(dst);
    }
    dst->origins = origins_union(g->c, &dst->origins, &src->origins);
}

/* ---- readers ------------------------------------------------------------------------------ */

static int operands_add(Arg *a, Value **out, int count, int capacity) {
    if (a->kind == ARG_VALUE) {
        if (count < capacity)
            out[count] = a->u.value;
        return count + 1;
    }
    if (a->kind == ARG_LIST)
        for (int i = 0; i < a->u.list.count; i++)
            count = operands_add(&a->u.list.item[i], out, count, capacity);
    return count;
}

int node_operands(const Node *n, Value **out, int capacity) {
    int count = 0;
    for (int i = 0; i < n->arg_count; i++)
        count = operands_add(&n->arg[i], out, count, capacity);
    for (int i = 0; i < n->out_arg_count; i++, count++)
        if (out && count < capacity)
            out[count] = n->out_arg[i];
    return count < capacity || !out ? count : capacity;
}

int node_operand_count(const Node *n) {
    return node_operands(n, NULL, 0);
}

static Value *operand_at(const Arg *a, int *k) {
    if (a->kind == ARG_VALUE)
        return (*k)-- == 0 ? a->u.value : NULL;
    for (int i = 0; a->kind == ARG_LIST && i < a->u.list.count; i++) {
        Value *v = operand_at(&a->u.list.item[i], k);
        if (v)
            return v;
    }
    return NULL;
}

Value *node_operand(const Node *n, int k) {
    for (int i = 0; i < n->arg_count; i++) {
        Value *v = operand_at(&n->arg[i], &k);
        if (v)
            return v;
    }
    return k < n->out_arg_count ? n->out_arg[k] : NULL;
}

static void replace_in(Arg *a, const Value *old_value, Value *new_value) {
    if (a->kind == ARG_VALUE && a->u.value == old_value)
        a->u.value = new_value;
    for (int i = 0; a->kind == ARG_LIST && i < a->u.list.count; i++)
        replace_in(&a->u.list.item[i], old_value, new_value);
}

static void swap_names(const char **a, const char **b) {
    const char *t = *a;
    *a = *b;
    *b = t;
}

/* What stands for an archive's value goes by its name, so that reports, generated C and the float
 * reference speak of the same thing. A node made for the purpose takes its node's name as well. */
static void take_names(Value *old_value, Value *new_value) {
    Node *a = old_value->def, *b = new_value->def;
    if (!a || !b || old_value == new_value)
        return;
    swap_names(&old_value->name, &new_value->name);
    if (new_value->factor_count == 0) {
        new_value->factor_count = old_value->factor_count;
        new_value->factor_axis = old_value->factor_axis;
        new_value->factor = old_value->factor;
    }
    if (new_value->id > old_value->id && a->out_count == 1 && b->out_count == 1)
        swap_names(&a->name, &b->name);
}

void value_replace(Graph *g, Value *old_value, Value *new_value) {
    take_names(old_value, new_value);
    for (Node *n = g->first; n; n = n->next) {
        for (int i = 0; i < n->arg_count; i++)
            replace_in(&n->arg[i], old_value, new_value);
        for (int i = 0; i < n->out_arg_count; i++)
            if (n->out_arg[i] == old_value)
                n->out_arg[i] = new_value;
    }
    for (int i = 0; i < g->output_count; i++)
        replace_in(&g->output[i], old_value, new_value);
    for (int i = 0; i < g->state_count; i++)
        if (g->state[i].after == old_value)
            g->state[i].after = new_value;
}

static void count_output(const Arg *a) {
    if (a->kind == ARG_VALUE)
        a->u.value->output_count++;
    for (int i = 0; a->kind == ARG_LIST && i < a->u.list.count; i++)
        count_output(&a->u.list.item[i]);
}

/* Calls visit(v, n) once per node and value that it reads. `mark[id]` is the last reader + 1. */
static void each_read(Graph *g, int *mark, void (*visit)(Value *, Node *)) {
    int capacity = 0, index = 0;
    Value **operand = NULL;
    for (Node *n = g->first; n; n = n->next, index++) {
        int count = node_operand_count(n);
        operand = (Value **)c_grow(g->c, (void *)operand, 0, &capacity, count, sizeof *operand);
        node_operands(n, operand, count);
        for (int i = 0; i < count; i++) {
            if (mark[operand[i]->id] == index + 1)
                continue;
            mark[operand[i]->id] = index + 1;
            visit(operand[i], n);
        }
    }
}

bool graph_has_input(const Graph *g, const Value *v) {
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE && g->input[i].u.value == v)
            return true;
    return false;
}

static void visit_count(Value *v, Node *n) {
    (void)n;
    v->user_count++;
}

static void visit_add(Value *v, Node *n) {
    v->user[v->user_count++] = n;
}

void graph_index(Graph *g) {
    int index = 0;
    for (int i = 0; i < g->value_count; i++) {
        g->value[i]->user_count = g->value[i]->output_count = 0;
        g->value[i]->user = NULL;
    }
    for (Node *n = g->first; n; n = n->next)
        n->index = index++;
    int *mark = NEW_ARRAY(g->c, int, g->value_count);
    each_read(g, mark, visit_count);
    for (int i = 0; i < g->value_count; i++) {
        Value *v = g->value[i];
        if (v->user_count > 0)
            v->user = NEW_ARRAY(g->c, Node *, v->user_count);
        v->user_count = 0;
        mark[i] = 0;
    }
    each_read(g, mark, visit_add);
    for (int i = 0; i < g->output_count; i++)
        count_output(&g->output[i]);
    for (int i = 0; i < g->state_count; i++)
        g->state[i].after->output_count++;
}

static bool node_is_read(const Node *n) {
    for (int k = 0; k < n->out_count; k++)
        if (n->out[k]->user_count > 0 || n->out[k]->output_count > 0)
            return true;
    return false;
}

/* Backwards, so that what only a dead node reads is dead when its turn comes. */
int graph_sweep(Graph *g) {
    int removed = 0, capacity = 0;
    Value **operand = NULL;
    graph_index(g);
    for (Node *n = g->last, *prev; n; n = prev) {
        prev = n->prev;
        if (n->writes || node_is_read(n))
            continue;
        int count = node_operand_count(n);
        operand = (Value **)c_grow(g->c, (void *)operand, 0, &capacity, count, sizeof *operand);
        node_operands(n, operand, count);
        for (int i = 0; i < count; i++) {
            bool again = false;
            for (int k = 0; k < i; k++)
                again |= operand[k] == operand[i];
            operand[i]->user_count -= !again;
        }
        node_remove(g, n, FATE_REMOVED,
                    n->op->traits & OP_ASSERTS ? "checks only" : "its result is not used", NULL);
        removed++;
    }
    graph_index(g);
    return removed;
}

/* ---- order -------------------------------------------------------------------------------- */

typedef struct {
    Node *node;
    int next_operand;
} SortFrame;

/* Depth first without recursion: a node goes to the end of the new list after its operands' nodes.
 * state[index]: 0 not seen, 1 on the stack, 2 placed. */
bool graph_sort(Graph *g) {
    C *c = g->c;
    graph_index(g);
    int count = g->node_count, placed = 0;
    char *state = NEW_ARRAY(c, char, count);
    Node **order = NEW_ARRAY(c, Node *, count);
    SortFrame *stack = NEW_ARRAY(c, SortFrame, count);
    for (Node *start = g->first; start; start = start->next) {
        int depth = 0;
        if (state[start->index] == 0) {
            state[start->index] = 1;
            stack[depth++] = (SortFrame){start, 0};
        }
        while (depth > 0) {
            SortFrame *top = &stack[depth - 1];
            Value *v = node_operand(top->node, top->next_operand++);
            if (!v) {
                state[top->node->index] = 2;
                order[placed++] = top->node;
                depth--;
                continue;
            }
            int def = v->def ? v->def->index : -1; /* -1: none, or a node that was removed */
            if (def >= 0 && state[def] == 1)
                return false;
            if (def >= 0 && state[def] == 0) {
                state[def] = 1;
                stack[depth++] = (SortFrame){v->def, 0};
            }
        }
    }
    g->first = g->last = NULL;
    g->node_count = 0;
    for (int i = 0; i < count; i++)
        node_link(g, order[i], NULL);
    graph_index(g);
    return true;
}
