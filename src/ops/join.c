/* Joining tensors: cat is the core row, each operand copied into its place and requantized on the
 * way if its grid is another; the others are cat of other shapes. */
#include "ops/ops.h"

enum { MAX_JOINED = 1024 };

static Value **joined(C *c, const Node *n, int *count) {
    Value **part = NEW_ARRAY(c, Value *, MAX_JOINED);
    *count = node_values(n, "tensors", part, MAX_JOINED);
    if (*count < 1 || *count > MAX_JOINED) {
        movement_refuse(c, n, "%d tensors, 1 to %d needed", *count, MAX_JOINED);
        *count = 0;
    }
    return part;
}

/* torch lets one-dimensional empty tensors stand among others. */
static bool is_nothing(const Type *t) {
    return t->rank == 1 && t->dim[0] == 0;
}

static const Type *first_real(Value *const *part, int count) {
    for (int i = 0; i < count; i++)
        if (!is_nothing(&part[i]->type))
            return &part[i]->type;
    return &part[0]->type;
}

/* ---- cat ------------------------------------------------------------------------------------ */

static void cat_add(C *c, Node *n, Type *out, const Type *t, int dim) {
    bool fits = t->rank == out->rank;
    for (int d = 0; fits && d < t->rank; d++)
        fits = d == dim || t->dim[d] == out->dim[d];
    if (!fits)
        movement_refuse(c, n, "%s and %s along dim %d", shape_text(c, out->rank, out->dim),
                        shape_text(c, t->rank, t->dim), dim);
    else if (__builtin_add_overflow(out->dim[dim], t->dim[dim], &out->dim[dim]))
        movement_refuse(c, n, "too many elements");
    out->dtype = dtype_promote(out->dtype, t->dtype);
}

static void cat_shape(C *c, Node *n) {
    int count;
    Value **part = joined(c, n, &count);
    if (count == 0)
        return;
    Type out = *first_real(part, count);
    if (out.rank == 0) {
        movement_refuse(c, n, "tensors of rank 0");
        return;
    }
    int dim = dim_wrap(c, n, node_int(n, "dim"), out.rank);
    out.dim[dim] = 0;
    for (int i = 0; i < count; i++)
        if (!is_nothing(&part[i]->type))
            cat_add(c, n, &out, &part[i]->type, dim);
    n->out[0]->type = out;
}

/* Rows of `width` elements: those of part p begin at `start` of each. */
static void cat_copy(Array *out, const Array *in, int64_t rows, int64_t width, int64_t start) {
    int64_t each = rows > 0 ? array_count(in) / rows : 0;
    for (int64_t r = 0; r < rows; r++)
        elements_copy(out, r * width + start, in, r * each, each);
}

static void cat_eval(C *c, Node *n) {
    int count;
    Value **part = joined(c, n, &count);
    Array *out = eval_out(c, n, 0);
    int dim = dim_wrap(c, n, node_int(n, "dim"), out->rank);
    int64_t rows = dims_count(dim, out->dim), start = 0;
    int64_t width = dims_count(out->rank - dim, out->dim + dim);
    for (int i = 0; i < count; i++) {
        const Array *in = eval_value(c, part[i]);
        if (array_count(in) == 0)
            continue;
        if (in->dtype != out->dtype)
            in = array_convert(c, in, out->dtype);
        cat_copy(out, in, rows, width, start);
        start += array_count(in) / rows;
    }
}

static void cat_lower(C *c, Graph *g, Node *n) {
    int count;
    Value **part = joined(c, n, &count), *out = n->out[0];
    int dim = dim_wrap(c, n, node_int(n, "dim"), out->type.rank);
    int64_t out_stride[MAX_RANK], start = 0;
    value_strides(out, out_stride);
    for (int i = 0; i < count; i++) {
        const Type *t = &part[i]->type;
        if (type_count(t) == 0)
            continue;
        if (value_storage(part[i]) != value_storage(out)) {
            movement_refuse(c, n, "%s joined to %s", dtype_name(value_storage(part[i])),
                            dtype_name(value_storage(out)));
            return;
        }
        lower_copy_whole(c, g, n, part[i], out, start * out_stride[dim], out_stride);
        start += t->dim[dim];
    }
}

/* ---- what cat makes of other shapes -----------------------------------------------------------
 */

static Value *cat_of(C *c, Graph *g, Node *n, Value *const *part, int count, int64_t dim) {
    return MAKE("aten::cat", arg_values(c, count, part), arg_int(dim));
}

static void concat_decompose(C *c, Graph *g, Node *n) {
    (void)c;
    value_replace(g, n->out[0], MAKE("aten::cat", *node_arg(n, "tensors"), *node_arg(n, "dim")));
}

static void stack_decompose(C *c, Graph *g, Node *n) {
    int count;
    Value **part = joined(c, n, &count);
    if (count == 0)
        return;
    int dim = dim_wrap(c, n, node_int(n, "dim"), part[0]->type.rank + 1);
    for (int i = 0; i < count; i++)
        part[i] = MAKE("aten::unsqueeze", arg_value(part[i]), arg_int(dim));
    value_replace(g, n->out[0], cat_of(c, g, n, part, count, dim));
}

/* Each tensor is given at least some rank, then joined. */
static void stack_at_least(C *c, Graph *g, Node *n, const char *row, int dim_1d, int dim) {
    int count;
    Value **part = joined(c, n, &count);
    if (count == 0)
        return;
    for (int i = 0; i < count; i++)
        part[i] = MAKE(row, arg_value(part[i]));
    value_replace(g, n->out[0],
                  cat_of(c, g, n, part, count, part[0]->type.rank == 1 ? dim_1d : dim));
}

static void hstack_decompose(C *c, Graph *g, Node *n) {
    stack_at_least(c, g, n, "aten::atleast_1d", 0, 1);
}

static void vstack_decompose(C *c, Graph *g, Node *n) {
    stack_at_least(c, g, n, "aten::atleast_2d", 0, 0);
}

static void dstack_decompose(C *c, Graph *g, Node *n) {
    stack_at_least(c, g, n, "aten::atleast_3d", 2, 2);
}

/* Tensors of rank 0 and 1 become columns. */
static void column_stack_decompose(C *c, Graph *g, Node *n) {
    int count;
    Value **part = joined(c, n, &count);
    int64_t column[2] = {-1, 1};
    for (int i = 0; i < count; i++)
        if (part[i]->type.rank < 2)
            part[i] = MAKE("aten::view", arg_value(part[i]), arg_ints(c, 2, column));
    if (count > 0)
        value_replace(g, n->out[0], cat_of(c, g, n, part, count, 1));
}

/* ---- several tensors to one shape -------------------------------------------------------------
 */

/* The outputs of a row that returns a list, replaced one by one. */
static void outputs_replace(Graph *g, Node *n, int k, Value *v) {
    if (k < n->out_count)
        value_replace(g, n->out[k], v);
}

static bool broadcast_dims(const Type *t, int64_t *dim, int *rank) {
    for (; *rank < t->rank; ++*rank) {
        for (int d = *rank; d > 0; d--)
            dim[d] = dim[d - 1];
        dim[0] = 1;
    }
    for (int d = 0; d < t->rank; d++) {
        int64_t *have = &dim[*rank - t->rank + d];
        if (*have != t->dim[d] && *have != 1 && t->dim[d] != 1)
            return false;
        *have = *have == 1 ? t->dim[d] : *have;
    }
    return true;
}

static bool broadcast_target(C *c, Node *n, Value **part, int count, int64_t *dim, int *rank) {
    *rank = 0;
    for (int i = 0; i < count; i++)
        if (!broadcast_dims(&part[i]->type, dim, rank))
            return movement_refuse(c, n, "%s does not broadcast with the others",
                                   shape_text(c, part[i]->type.rank, part[i]->type.dim));
    return count > 0;
}

static void broadcast_tensors_shape(C *c, Node *n) {
    int count, rank;
    int64_t dim[MAX_RANK];
    Value **part = joined(c, n, &count);
    node_set_out_count(n, count);
    if (broadcast_target(c, n, part, count, dim, &rank))
        for (int i = 0; i < count && i < n->out_count; i++)
            node_set_type(n, i, part[i]->type.dtype, rank, dim);
}

static void broadcast_tensors_decompose(C *c, Graph *g, Node *n) {
    int count, rank;
    int64_t dim[MAX_RANK];
    Value **part = joined(c, n, &count);
    if (broadcast_target(c, n, part, count, dim, &rank))
        for (int i = 0; i < count; i++)
            outputs_replace(g, n, i,
                            MAKE("aten::expand", arg_value(part[i]), arg_ints(c, rank, dim)));
}

/* Each of several tensors through the row of the same name for one. */
static void atleast_decompose(C *c, Graph *g, Node *n) {
    int count;
    Value **part = joined(c, n, &count);
    for (int i = 0; i < count; i++)
        outputs_replace(g, n, i, MAKE(op_schema(n->op)->name, arg_value(part[i])));
}

/* Ones in front, but of a matrix that becomes a solid behind. */
static void atleast_shape(C *c, Node *n, int rank) {
    int count;
    Value **part = joined(c, n, &count);
    node_set_out_count(n, count);
    for (int i = 0; i < count && i < n->out_count; i++) {
        Type t = part[i]->type;
        for (int at; t.rank < rank; t.dim[at] = 1, t.rank++) {
            at = rank == 3 && t.rank == 2 ? 2 : 0;
            for (int d = t.rank; d > at; d--)
                t.dim[d] = t.dim[d - 1];
        }
        n->out[i]->type = t;
    }
}

static void atleast_1d_shape(C *c, Node *n) {
    atleast_shape(c, n, 1);
}

static void atleast_2d_shape(C *c, Node *n) {
    atleast_shape(c, n, 2);
}

static void atleast_3d_shape(C *c, Node *n) {
    atleast_shape(c, n, 3);
}

/* Sizes of a mesh of vectors or scalars; "xy" swaps the first two. */
static bool mesh_dims(C *c, const Node *n, Value *const *part, int count, bool swap, int64_t *dim) {
    if (count > MAX_RANK)
        return movement_refuse(c, n, "%d tensors, at most %d", count, MAX_RANK);
    for (int i = 0; i < count; i++) {
        if (part[i]->type.rank > 1)
            return movement_refuse(c, n, "a tensor of rank %d", part[i]->type.rank);
        int at = swap && i < 2 && count > 1 ? 1 - i : i;
        dim[at] = type_count(&part[i]->type);
    }
    return count > 0;
}

static bool mesh_swaps(const Node *n) {
    return text_equal(op_schema(n->op)->overload, "indexing") &&
           text_equal(node_string(n, "indexing"), "xy");
}

static void meshgrid_shape(C *c, Node *n) {
    int count;
    int64_t dim[MAX_RANK];
    Value **part = joined(c, n, &count);
    node_set_out_count(n, count);
    if (mesh_dims(c, n, part, count, mesh_swaps(n), dim))
        for (int i = 0; i < count && i < n->out_count; i++)
            node_set_type(n, i, part[i]->type.dtype, count, dim);
}

static void meshgrid_decompose(C *c, Graph *g, Node *n) {
    int count;
    int64_t dim[MAX_RANK], thin[MAX_RANK];
    Value **part = joined(c, n, &count);
    bool swap = mesh_swaps(n);
    if (!mesh_dims(c, n, part, count, swap, dim))
        return;
    for (int i = 0; i < count; i++) {
        int at = swap && i < 2 && count > 1 ? 1 - i : i;
        for (int d = 0; d < count; d++)
            thin[d] = d == at ? dim[d] : 1;
        Value *v = MAKE("aten::view", arg_value(part[i]), arg_ints(c, count, thin));
        outputs_replace(g, n, i, MAKE("aten::expand", arg_value(v), arg_ints(c, count, dim)));
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define ATLEAST(name)                                                                              \
    {                                                                                              \
        .schema = "aten::" #name ".Sequence(Tensor[] tensors) -> Tensor[]", .shape = name##_shape, \
        .eval = composite_eval, .decompose = atleast_decompose                                     \
    }

static const Op rows[] = {
    {.schema = "aten::cat(Tensor[] tensors, int dim=0) -> Tensor",
     .traits = OP_ANY_ORDER,
     .shape = cat_shape,
     .eval = cat_eval,
     .lower = cat_lower,
     .lower_float = cat_lower},
    {.schema = "aten::concat(Tensor[] tensors, int dim=0) -> Tensor", COMPOSITE(concat_decompose)},
    {.schema = "aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor",
     COMPOSITE(concat_decompose)},
    {.schema = "aten::stack(Tensor[] tensors, int dim=0) -> Tensor", COMPOSITE(stack_decompose)},
    {.schema = "aten::hstack(Tensor[] tensors) -> Tensor", COMPOSITE(hstack_decompose)},
    {.schema = "aten::vstack(Tensor[] tensors) -> Tensor", COMPOSITE(vstack_decompose)},
    {.schema = "aten::row_stack(Tensor[] tensors) -> Tensor", COMPOSITE(vstack_decompose)},
    {.schema = "aten::dstack(Tensor[] tensors) -> Tensor", COMPOSITE(dstack_decompose)},
    {.schema = "aten::column_stack(Tensor[] tensors) -> Tensor", COMPOSITE(column_stack_decompose)},
    {.schema = "aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]",
     .shape = broadcast_tensors_shape,
     .eval = composite_eval,
     .decompose = broadcast_tensors_decompose},
    {.schema = "aten::meshgrid(Tensor[] tensors) -> Tensor[]",
     .shape = meshgrid_shape,
     .eval = composite_eval,
     .decompose = meshgrid_decompose},
    {.schema = "aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
     .shape = meshgrid_shape,
     .eval = composite_eval,
     .decompose = meshgrid_decompose},
    ATLEAST(atleast_1d),
    ATLEAST(atleast_2d),
    ATLEAST(atleast_3d),
};

OPS_FAMILY(join, rows);
