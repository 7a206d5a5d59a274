/* Pass functionalize: in-place writes and views become values. It follows PyTorch's semantics:
 * memory (Storage) is one value that changes over time; each tensor of the archive (Tensor) is the
 * whole of a memory or a view of another tensor. A write through any of them makes a new value of
 * the memory; a tensor read after that is made anew by applying its views to the memory's value of
 * that moment.
 *
 * What aliases and what is written is read off the schemas, the in-place twins that op_match
 * derived, the archive's strides, and two traits; no operator is named here but as_strided, whose
 * arguments speak of memory itself. Needs an imported graph; gives one in which no node writes and
 * values do not alias. A written parameter or buffer becomes state of the graph. */
#include "passes/passes.h"

#include <string.h>

typedef struct Tensor Tensor;

typedef struct {
    Value *root; /* the value that it starts with: whole, in the archive's shape */
    Tensor *whole;
    Value *now;
    int version; /* counts writes */
} Storage;

struct Tensor {
    Storage *storage;
    Tensor *parent; /* NULL: the whole storage */
    Node *view;     /* makes it, as output k, from parent (its operand 0) */
    int k;
    Value *now; /* its value at `version` of the storage */
    int version;
    int64_t stride[MAX_RANK]; /* elements of memory, as archived */
    Tensor **sibling;         /* all outputs of `view`, itself too */
};

typedef struct {
    C *c;
    Graph *g;
    Tensor **tensor; /* by value id: what a name of the archive stands for */
    int tensor_count;
} Functionalize;

/* ---- tensors and memory -----------------------------------------------------------------------
 */

static Tensor *tensor_make(Functionalize *p, Storage *s, Value *v) {
    Tensor *t = NEW(p->c, Tensor);
    t->storage = s;
    t->now = v;
    t->version = s->version;
    memcpy(t->stride, v->stride, sizeof t->stride);
    return t;
}

/* v is new memory of its own. */
static Tensor *storage_make(Functionalize *p, Value *v) {
    Storage *s = NEW(p->c, Storage);
    s->root = s->now = v;
    return s->whole = tensor_make(p, s, v);
}

static Tensor *tensor_of(Functionalize *p, Value *v) {
    if (v->id >= p->tensor_count)
        return storage_make(p, v);
    if (!p->tensor[v->id])
        p->tensor[v->id] = storage_make(p, v);
    return p->tensor[v->id];
}

static Value *tensor_read(Functionalize *p, Tensor *t, Node *before);

/* Applies the view of t once more to what its parent is now; all its outputs become current. */
static void view_again(Functionalize *p, Tensor *t, Node *before) {
    Value *parent = tensor_read(p, t->parent, before);
    const Node *view = t->view;
    Type *type = NEW_ARRAY(p->c, Type, view->out_count);
    Arg *arg = NEW_ARRAY(p->c, Arg, view->arg_count);
    memcpy(arg, view->arg, sizeof *arg * (size_t)view->arg_count);
    arg[0] = arg_value(parent);
    for (int k = 0; k < view->out_count; k++)
        type[k] = view->out[k]->type;
    Node *n = node_insert(p->g, before, view->op, view->name, arg, view->out_count, type);
    n->origins = view->origins;
    n->loc = view->loc;
    for (int k = 0; k < view->out_count; k++) {
        Tensor *s = t->sibling[k];
        s->now = n->out[k];
        s->version = s->storage->version;
    }
}

static Value *tensor_read(Functionalize *p, Tensor *t, Node *before) {
    if (t->version == t->storage->version)
        return t->now;
    if (t->parent) {
        view_again(p, t, before);
    } else {
        t->now = t->storage->now;
        t->version = t->storage->version;
    }
    return t->now;
}

static void arg_read(Functionalize *p, Arg *a, Node *before) {
    if (a->kind == ARG_VALUE)
        a->u.value = tensor_read(p, tensor_of(p, a->u.value), before);
    for (int i = 0; a->kind == ARG_LIST && i < a->u.list.count; i++)
        arg_read(p, &a->u.list.item[i], before);
}

static void args_read(Functionalize *p, Node *n) {
    for (int i = 0; i < n->arg_count; i++)
        arg_read(p, &n->arg[i], n);
}

/* ---- what aliases -----------------------------------------------------------------------------
 */

static bool stride_same(const Type *t, const int64_t *a, const int64_t *b) {
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] > 1 && a[d] != b[d])
            return false;
    return true;
}

/* Whether `from` with its strides can be seen in the shape of `to` without a copy: each run of
 * input dims that lie densely in one another must be a product of output dims. */
static bool shape_fits_stride(const Type *from, const int64_t *stride, const Type *to) {
    int64_t dim[MAX_RANK], step[MAX_RANK];
    int count = 0, out = to->rank - 1;
    if (type_count(from) == 0)
        return true;
    for (int d = 0; d < from->rank; d++)
        if (from->dim[d] > 1) {
            dim[count] = from->dim[d];
            step[count++] = stride[d];
        }
    for (int d = count - 1; d >= 0; d--) {
        int64_t run = dim[d], covered = 1;
        while (d > 0 && step[d - 1] == step[d] * dim[d])
            run *= dim[--d];
        while (out >= 0 && covered < run)
            covered *= to->dim[out--];
        if (covered != run)
            return false;
    }
    return true;
}

static bool asks_for_copy(const Node *n) {
    const Schema *s = op_schema(n->op);
    for (int i = 0; i < s->arg_count; i++)
        if (s->arg[i].type == T_BOOL && text_equal(s->arg[i].name, "copy"))
            return n->arg[i].kind == ARG_BOOL && n->arg[i].u.b;
    return false;
}

/* Rows that return their input when they can, as torch decides: by dtype, shape and strides. */
static bool returns_input(const Node *n, const Tensor *in, const Value *out) {
    const Type *a = &in->now->type, *b = &out->type;
    if (a->dtype != b->dtype || asks_for_copy(n))
        return false;
    if (a->rank == b->rank && memcmp(a->dim, b->dim, sizeof *a->dim * (size_t)a->rank) == 0)
        return stride_same(a, in->stride, out->stride);
    return shape_fits_stride(a, in->stride, b);
}

static bool is_view(const Node *n, const Tensor *in) {
    const Schema *s = op_schema(n->op);
    if (n->copies || n->out_count == 0)
        return false;
    if (n->op->traits & OP_MAY_RETURN_INPUT)
        return returns_input(n, in, n->out[0]);
    return s->arg[0].alias && s->return_count > 0 && s->ret[0].alias;
}

static Tensor *operand_tensor(Functionalize *p, const Node *n) {
    if (n->arg_count == 0 || n->arg[0].kind != ARG_VALUE)
        return NULL;
    return tensor_of(p, n->arg[0].u.value);
}

/* ---- where a view's elements lie --------------------------------------------------------------
 */

/* Output k of n if operand 0 had the elements `numbers`. */
static const int64_t *eval_on_numbers(Functionalize *p, Node *n, int k, Array *numbers) {
    C *c = p->c;
    Value *in = n->arg[0].u.value;
    Value saved = *in;
    Type *type = NEW_ARRAY(c, Type, n->out_count);
    for (int i = 0; i < n->out_count; i++) {
        type[i] = n->out[i]->type;
        n->out[i]->type.dtype = DT_I64;
    }
    in->type.dtype = DT_I64;
    in->constant = NULL;
    Env *outer = c->env;
    c->env = env_new(c, p->g);
    env_set(c->env, in, numbers);
    node_eval(c, n);
    const Array *out = env_get(c->env, n->out[k]);
    size_t bytes = (size_t)array_bytes(out);
    int64_t *kept = c_alloc(c, bytes + 1);
    if (bytes > 0)
        memcpy(kept, out->data, bytes);
    env_free(c->env);
    c->env = outer;
    in->type.dtype = saved.type.dtype;
    in->constant = saved.constant;
    for (int i = 0; i < n->out_count; i++)
        n->out[i]->type = type[i];
    return kept;
}

/* Of each element of t in row-major order: its number among those of the whole, row-major. */
static const int64_t *tensor_numbers(Functionalize *p, Tensor *t) {
    if (!t->parent) {
        int64_t count = type_count(&t->storage->root->type);
        int64_t *number = NEW_ARRAY(p->c, int64_t, count + 1);
        for (int64_t i = 0; i < count; i++)
            number[i] = i;
        return number;
    }
    Array of_parent = {.dtype = DT_I64, .data = (void *)(uintptr_t)tensor_numbers(p, t->parent)};
    const Type *type = &t->parent->now->type;
    of_parent.rank = type->rank;
    memcpy(of_parent.dim, type->dim, sizeof of_parent.dim);
    return eval_on_numbers(p, t->view, t->k, &of_parent);
}

typedef struct {
    int64_t stride[MAX_RANK], offset;
} Affine;

/* number[i] = offset + sum of i[d] * stride[d] over the elements of t? */
static bool affine_find(const Type *t, const int64_t *number, Affine *a) {
    int64_t count = type_count(t), step = 1, index[MAX_RANK] = {0};
    a->offset = number[0];
    for (int d = t->rank - 1; d >= 0; d--) {
        a->stride[d] = t->dim[d] > 1 ? number[step] - number[0] : 0;
        step *= t->dim[d];
    }
    for (int64_t i = 0, want = a->offset; i < count; i++) {
        if (number[i] != want)
            return false;
        for (int d = t->rank - 1; d >= 0; d--) {
            want += a->stride[d];
            if (++index[d] < t->dim[d])
                break;
            want -= a->stride[d] * t->dim[d];
            index[d] = 0;
        }
    }
    return true;
}

/* ---- writing through views --------------------------------------------------------------------
 */

#define MAKE(before, row, ...) node_value(p->g, before, row, ARGS(__VA_ARGS__))

static Value *reshaped(Functionalize *p, Value *v, const Type *t, Node *before) {
    if (v->type.rank == t->rank &&
        memcmp(v->type.dim, t->dim, sizeof *t->dim * (size_t)t->rank) == 0)
        return v;
    return MAKE(before, "aten::view", arg_value(v), arg_ints(p->c, t->rank, t->dim));
}

/* The permutation of v's dims that gives shape t with these strides over v's elements. */
static bool permutation_find(const Value *v, const Type *t, const Affine *a, int64_t *from) {
    bool used[MAX_RANK] = {false};
    if (v->type.rank != t->rank)
        return false;
    for (int d = 0; d < t->rank; d++) {
        int64_t stride = 1;
        from[d] = -1;
        for (int k = t->rank - 1; k >= 0 && from[d] < 0; k--) {
            bool same = v->type.dim[k] == t->dim[d] && (t->dim[d] == 1 || stride == a->stride[d]);
            if (same && !used[k]) {
                from[d] = k;
                used[k] = true;
            }
            stride *= v->type.dim[k];
        }
        if (from[d] < 0)
            return false;
    }
    return true;
}

/* The whole, when `value` holds all its elements in another order: inverse[i] is where element i of
 * the whole stands in value. NULL: not affine. */
static Value *whole_from(Functionalize *p, const Type *whole, Value *value, const int64_t *inverse,
                         Node *before) {
    Affine a;
    int64_t from[MAX_RANK];
    if (!affine_find(whole, inverse, &a))
        return NULL;
    if (permutation_find(value, whole, &a, from)) {
        bool moves = false;
        for (int d = 0; d < whole->rank; d++)
            moves |= from[d] != d;
        return moves ? MAKE(before, "aten::permute", arg_value(value),
                            arg_ints(p->c, whole->rank, from))
                     : value;
    }
    Type dense = {.rank = whole->rank};
    int64_t step = 1;
    bool in_order = true;
    memcpy(dense.dim, whole->dim, sizeof dense.dim);
    for (int d = whole->rank - 1; d >= 0; d--) {
        in_order &= whole->dim[d] == 1 || a.stride[d] == step;
        step *= whole->dim[d];
    }
    if (in_order)
        return reshaped(p, value, whole, before);
    return MAKE(before, "aten::as_strided", arg_value(value),
                arg_ints(p->c, whole->rank, whole->dim), arg_ints(p->c, whole->rank, a.stride),
                arg_int(0));
}

/* number[] inverted, if it has each number below count once. */
static const int64_t *numbers_invert(Functionalize *p, const int64_t *number, int64_t count) {
    int64_t *inverse = NEW_ARRAY(p->c, int64_t, count + 1);
    memset(inverse, -1, sizeof *inverse * (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        if (number[i] < 0 || number[i] >= count || inverse[number[i]] >= 0)
            return NULL;
        inverse[number[i]] = i;
    }
    return inverse;
}

/* The dims of t by falling strides: the order in which they lie in memory. */
static void memory_order(const Type *t, const int64_t *stride, int64_t *order) {
    for (int d = 0; d < t->rank; d++)
        order[d] = d;
    for (int i = 1; i < t->rank; i++)
        for (int j = i; j > 0 && stride[order[j - 1]] < stride[order[j]]; j--) {
            int64_t other = order[j];
            order[j] = order[j - 1];
            order[j - 1] = other;
        }
}

/* As scatter, on the whole with its dims in the order of memory: there each view is affine. */
static Value *scatter_in_memory(Functionalize *p, Tensor *t, Value *value, int64_t *number,
                                Node *before) {
    const Value *root = t->storage->root;
    int rank = root->type.rank;
    int64_t order[MAX_RANK], back[MAX_RANK], place[MAX_RANK], step = 1;
    Affine a;
    memory_order(&root->type, t->storage->whole->stride, order);
    for (int k = rank - 1; k >= 0; k--) {
        back[order[k]] = k;
        place[order[k]] = step;
        step *= root->type.dim[order[k]];
    }
    for (int64_t i = 0; i < type_count(&value->type); i++) {
        int64_t rest = number[i], at = 0;
        for (int d = rank - 1; d >= 0; d--) {
            at += rest % root->type.dim[d] * place[d];
            rest /= root->type.dim[d];
        }
        number[i] = at;
    }
    if (!affine_find(&value->type, number, &a))
        return NULL;
    Value *memory =
        MAKE(before, "aten::permute", arg_value(t->storage->now), arg_ints(p->c, rank, order));
    memory = MAKE(before, "corten::strided_scatter", arg_value(memory), arg_value(value),
                  arg_ints(p->c, value->type.rank, value->type.dim),
                  arg_ints(p->c, value->type.rank, a.stride), arg_int(a.offset));
    return MAKE(before, "aten::permute", arg_value(memory), arg_ints(p->c, rank, back));
}

/* The whole with `value` in place of t's elements. */
static Value *scatter(Functionalize *p, Tensor *t, Value *value, Node *before) {
    const Type *whole = &t->storage->root->type;
    const int64_t *number = tensor_numbers(p, t);
    int64_t count = type_count(&value->type);
    Affine a;
    if (count == type_count(whole)) {
        const int64_t *inverse = numbers_invert(p, number, count);
        Value *v = inverse ? whole_from(p, whole, value, inverse, before) : NULL;
        if (v)
            return v;
    }
    if (affine_find(&value->type, number, &a))
        return MAKE(before, "corten::strided_scatter", arg_value(t->storage->now), arg_value(value),
                    arg_ints(p->c, value->type.rank, value->type.dim),
                    arg_ints(p->c, value->type.rank, a.stride), arg_int(a.offset));
    int64_t *copy = c_memdup(p->c, number, sizeof *number * (size_t)count);
    return scatter_in_memory(p, t, value, copy, before);
}

/* t becomes `value`, and with it the memory that it lies in. */
static void tensor_write(Functionalize *p, Tensor *t, Value *value, Node *before) {
    Storage *s = t->storage;
    if (type_count(&value->type) == 0)
        return;
    Value *whole = t->parent ? scatter(p, t, value, before) : value;
    if (!whole) {
        diag_error(p->c, DIAG_MODEL, &p->c->loc,
                   "a write through a view of %s that has no order in its memory",
                   shape_text(p->c, s->root->type.rank, s->root->type.dim));
        return;
    }
    s->now = whole;
    s->version++;
    t->now = value;
    t->version = s->version;
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

/* The names of n's outputs stand for views of `in`. */
static void view_define(Functionalize *p, Node *n, Tensor *in) {
    Tensor **sibling = NEW_ARRAY(p->c, Tensor *, n->out_count);
    for (int k = 0; k < n->out_count; k++) {
        Tensor *t = sibling[k] = tensor_make(p, in->storage, n->out[k]);
        t->parent = in;
        t->view = n;
        t->k = k;
        t->sibling = sibling;
        p->tensor[n->out[k]->id] = t;
    }
}

/* as_strided speaks of memory, whatever view it is applied to: here of the whole, with its dims in
 * the order of memory, so that element numbers are offsets. */
static Tensor *memory_of(Functionalize *p, Node *n, Tensor *in) {
    Tensor *whole = in->storage->whole;
    const Type *type = &in->storage->root->type;
    int64_t order[MAX_RANK], step = 1, offset = tensor_numbers(p, in)[0], at = 0;
    bool moves = false, dense = true;
    memory_order(type, whole->stride, order);
    for (int k = type->rank - 1; k >= 0; k--) {
        dense &= type->dim[order[k]] == 1 || whole->stride[order[k]] == step;
        step *= type->dim[order[k]];
        moves |= order[k] != k && type->dim[k] > 1;
    }
    if (!dense) {
        diag_error(p->c, DIAG_MODEL, &n->loc, "as_strided of memory with gaps");
        return in;
    }
    for (int d = type->rank - 1; d >= 0; d--) {
        at += offset % type->dim[d] * whole->stride[d];
        offset /= type->dim[d];
    }
    int64_t first = in->storage->root->storage_offset;
    if (node_has(n, "storage_offset"))
        at = node_int(n, "storage_offset") - first;
    if (at < 0) {
        diag_error(p->c, DIAG_MODEL, &n->loc,
                   "as_strided from element %lld of a memory of which archives have those from "
                   "%lld on, for %s is a view",
                   (long long)(at + first), (long long)first, in->storage->root->name);
        return in;
    }
    n->arg[node_arg_index(n, "storage_offset")] = arg_int(at);
    if (!moves)
        return whole;
    rewrite_begin(p->c, n);
    Node *permute =
        node_new(p->g, n, "aten::permute",
                 ARGS(arg_value(tensor_read(p, whole, n)), arg_ints(p->c, type->rank, order)));
    rewrite_end(p->c);
    Tensor *t = tensor_make(p, in->storage, permute->out[0]);
    t->parent = whole;
    t->view = permute;
    t->sibling = c_memdup(p->c, &t, sizeof(Tensor *));
    return t;
}

static void visit_view(Functionalize *p, Node *n, Tensor *in) {
    if (node_is(n, "aten::as_strided") && type_count(&in->now->type) > 0) {
        in = memory_of(p, n, in);
        args_read(p, n);
        n->arg[0] = arg_value(tensor_read(p, in, n));
    } else {
        args_read(p, n);
    }
    view_define(p, n, in);
}

/* All names of `old` stand for what `name` stands for. */
static void tensor_rename(Functionalize *p, const Tensor *old, Tensor *now) {
    for (int i = 0; i < p->tensor_count; i++)
        if (p->tensor[i] == old)
            p->tensor[i] = now;
}

/* Output k of n, no longer in place, becomes the value of `target`. */
static void write_result(Functionalize *p, Node *n, int k, Tensor *target, const Type *was,
                         bool out) {
    Node *before = n->next;
    Value *result = n->out[k];
    const Type *t = &result->type;
    bool same =
        t->rank == was->rank && memcmp(t->dim, was->dim, sizeof *t->dim * (size_t)t->rank) == 0;
    if (!same && !(out && !target->parent)) {
        diag_error(p->c, DIAG_MODEL, &n->loc, "%s writes a result of shape %s into one of shape %s",
                   node_operator(n), shape_text(p->c, t->rank, t->dim),
                   shape_text(p->c, was->rank, was->dim));
        return;
    }
    /* the tensor keeps its dtype */
    result = value_converted(p->g, before, result, was->dtype);
    if (!same) { /* out= resizes: new memory */
        *target = *storage_make(p, result);
        target->storage->whole = target;
        return;
    }
    tensor_write(p, target, result, before);
}

/* n becomes its functional row: it writes nothing, and its outputs are values of their own. */
static void make_functional(Functionalize *p, Node *n) {
    args_read(p, n);
    if (n->out_count == 0)
        node_set_out_count(n, n->out_arg ? n->out_arg_count : 1);
    n->writes = false;
    n->out_arg = NULL;
    n->out_arg_count = 0;
    node_infer(p->c, n);
}

/* Each output is written into the argument given for it, whose name the archive gives it too. */
static void visit_out(Functionalize *p, Node *n) {
    int count = n->out_arg_count, named = n->out_count;
    Tensor **target = NEW_ARRAY(p->c, Tensor *, count);
    Type *was = NEW_ARRAY(p->c, Type, count);
    for (int k = 0; k < count; k++) {
        target[k] = tensor_of(p, n->out_arg[k]);
        was[k] = tensor_read(p, target[k], n)->type;
    }
    make_functional(p, n);
    if (n->out_count != count) {
        diag_error(p->c, DIAG_MODEL, &n->loc, "%s has %d results, but %d tensors to write to",
                   node_operator(n), n->out_count, count);
        return;
    }
    rewrite_begin(p->c, n);
    for (int k = 0; k < count; k++) {
        write_result(p, n, k, target[k], &was[k], true);
        if (k < named)
            p->tensor[n->out[k]->id] = target[k];
    }
    rewrite_end(p->c);
}

static void visit_inplace(Functionalize *p, Node *n) {
    Tensor *target = tensor_of(p, n->arg[n->written_arg].u.value);
    Value *name = n->out_count > 0 ? n->out[0] : NULL;
    if (n->op->traits & OP_VIEW_INPLACE) {
        n->writes = false;
        visit_view(p, n, target);
        tensor_rename(p, target, p->tensor[name->id]);
        return;
    }
    Type was = tensor_read(p, target, n)->type;
    make_functional(p, n);
    rewrite_begin(p->c, n);
    if (n->op->traits & OP_EFFECT_FREE_IDENTITY)
        node_remove(p->g, n, FATE_REMOVED, "changes nothing", NULL);
    else
        write_result(p, n, 0, target, &was, false);
    if (name)
        p->tensor[name->id] = target;
    rewrite_end(p->c);
}

static void visit(Functionalize *p, Node *n) {
    if (n->out_arg || n->writes) {
        n->out_arg ? visit_out(p, n) : visit_inplace(p, n);
        return;
    }
    Tensor *in = operand_tensor(p, n);
    if (in && is_view(n, in))
        visit_view(p, n, in);
    else
        args_read(p, n);
    n->copies = false;
}

/* ---- state ------------------------------------------------------------------------------------
 */

static bool outlives_the_run(const Value *v) {
    return v->role == ROLE_BUFFER || v->role == ROLE_PARAMETER || v->role == ROLE_CONSTANT;
}

static void states_add(Functionalize *p) {
    Graph *g = p->g;
    int capacity = g->state_count;
    for (int i = 0; i < p->tensor_count; i++) {
        Value *v = g->value[i];
        if (!outlives_the_run(v) || !p->tensor[i])
            continue;
        Storage *s = p->tensor[i]->storage;
        if (s->root != v || s->now == v)
            continue;
        g->state =
            c_grow(p->c, g->state, g->state_count, &capacity, g->state_count + 1, sizeof *g->state);
        g->state[g->state_count++] = (State){v, s->now, v->fqn, -1};
    }
    for (int i = 0; i < g->state_count; i++) {
        Value *before = g->state[i].before;
        before->role = ROLE_BUFFER;
        if (before->constant)
            before->initial = before->constant;
        before->constant = NULL;
    }
}

void pass_functionalize(C *c, Graph *g, const Options *o) {
    (void)o;
    Functionalize p = {.c = c, .g = g, .tensor_count = g->value_count};
    p.tensor = NEW_ARRAY(c, Tensor *, p.tensor_count);
    for (Node *n = g->first, *next; n; n = next) {
        next = n->next;
        visit(&p, n);
    }
    for (int i = 0; i < g->output_count; i++)
        arg_read(&p, &g->output[i], NULL);
    for (int i = 0; i < g->state_count; i++) { /* of archives that list them */
        Arg after = arg_value(g->state[i].after);
        arg_read(&p, &after, NULL);
        g->state[i].after = after.u.value;
    }
    states_add(&p);
    graph_index(g);
    graph_sweep(g);
}
