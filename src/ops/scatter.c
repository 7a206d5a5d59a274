/* Writes into a part of a tensor, as values: the result is `self` with `src` in place of some of
 * its elements. All come down to strided_scatter, whose part is a strided picture of self's
 * elements in row-major order. A part that is a box with steps (or a diagonal of one) can be
 * written in any order of memory (box_scatter), others need row-major memory (flat_scatter). Where
 * self is not read again the part is written into its memory. */
#include "ops/ops.h"

#include <string.h>

/* ---- the part ------------------------------------------------------------------------------- */

static bool scatter_part(C *c, const Node *n, Strided *s) {
    const Type *self = &node_in(n, "self")->type, *src = &node_in(n, "src")->type;
    int64_t last = node_int(n, "offset"), reach;
    *s = (Strided){.offset = last};
    s->rank = node_ints(n, "size", s->dim, MAX_RANK);
    bool ok = s->rank <= MAX_RANK && node_ints(n, "stride", s->stride, MAX_RANK) == s->rank &&
              s->rank == src->rank && last >= 0;
    for (int d = 0; ok && d < s->rank; d++)
        ok = s->dim[d] == src->dim[d] && s->stride[d] >= 0 &&
             !__builtin_mul_overflow(s->dim[d] > 0 ? s->dim[d] - 1 : 0, s->stride[d], &reach) &&
             !__builtin_add_overflow(last, reach, &last);
    if (!ok || (type_count(src) > 0 && last >= type_count(self)))
        return movement_refuse(c, n, "%s does not fit into %s", shape_text(c, src->rank, src->dim),
                               shape_text(c, self->rank, self->dim));
    return true;
}

static void strided_scatter_shape(C *c, Node *n) {
    Strided s;
    n->out[0]->type = node_in(n, "self")->type;
    scatter_part(c, n, &s);
}

static void strided_scatter_eval(C *c, Node *n) {
    const Array *self = eval_in(c, n, "self"), *src = eval_in(c, n, "src");
    Array *out = eval_out(c, n, 0);
    Strided s;
    elements_copy(out, 0, self, 0, array_count(self));
    if (!scatter_part(c, n, &s))
        return;
    int64_t index[MAX_RANK] = {0}, to = s.offset, count = array_count(src);
    for (int64_t i = 0; i < count; i++) {
        elements_copy(out, to, src, i, 1);
        for (int d = s.rank - 1; d >= 0; d--) {
            to += s.stride[d];
            if (++index[d] < s.dim[d])
                break;
            to -= s.stride[d] * s.dim[d];
            index[d] = 0;
        }
    }
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* The part in coordinates of self: it begins at start[], and along its dim d it moves by step[d][].
 */
typedef struct {
    int64_t start[MAX_RANK], step[MAX_RANK][MAX_RANK];
} Box;

/* The digits of an element number. */
static void coordinates(const Type *t, int64_t number, int64_t *digit) {
    for (int d = t->rank - 1; d >= 0; d--) {
        digit[d] = t->dim[d] > 0 ? number % t->dim[d] : 0;
        number = t->dim[d] > 0 ? number / t->dim[d] : 0;
    }
}

/* False if a step runs over the end of a dim into the next row. */
static bool box_find(const Type *self, const Strided *s, Box *box) {
    int64_t last[MAX_RANK];
    coordinates(self, s->offset, box->start);
    coordinates(self, s->offset, last);
    for (int d = 0; d < s->rank; d++) {
        coordinates(self, s->dim[d] > 1 ? s->stride[d] : 0, box->step[d]);
        for (int k = 0; k < self->rank; k++)
            last[k] += (s->dim[d] > 0 ? s->dim[d] - 1 : 0) * box->step[d][k];
    }
    for (int k = 0; k < self->rank; k++)
        if (last[k] >= self->dim[k])
            return false;
    return true;
}

static void strided_scatter_decompose(C *c, Graph *g, Node *n) {
    Strided s;
    Box box;
    if (!scatter_part(c, n, &s))
        return;
    const char *row = box_find(&node_in(n, "self")->type, &s, &box) ? "corten::box_scatter"
                                                                    : "corten::flat_scatter";
    value_replace(g, n->out[0], node_value(g, n, row, n->arg_count, n->arg));
}

/* ---- lowering ------------------------------------------------------------------------------- */

/* All elements of a constant are the same number. */
static bool is_uniform(const Value *v) {
    const Array *a = v->constant;
    size_t size = a ? (size_t)dtype_size(a->dtype) : 0;
    for (int64_t i = 1; a && i < array_count(a); i++)
        if (memcmp((const char *)a->data + (size_t)i * size, a->data, size) != 0)
            return false;
    return a && array_count(a) > 0;
}

static Value *first_element(C *c, Graph *g, const Value *v) {
    Array *one = array_new(c, v->constant->dtype, 0, NULL);
    elements_copy(one, 0, v->constant, 0, 1);
    Value *first = value_constant(g, v->name, one);
    first->type = type_make(v->type.dtype, 0, NULL);
    first->grid = v->grid;
    return first;
}

/* Copies v, or one element of it if they are all the same. */
static void copy_into(C *c, Graph *g, Node *n, Value *v, int64_t out_offset,
                      const int64_t *out_stride) {
    int64_t stride[MAX_RANK] = {0};
    const Type *t = &v->type;
    if (type_count(t) == 0)
        return;
    if (is_uniform(v))
        v = first_element(c, g, v);
    else
        value_strides(v, stride);
    lower_copy(c, g, n, v, 0, stride, n->out[0], out_offset, out_stride, t->rank, t->dim);
}

static bool same_memory(const Value *a, const Value *b) {
    const Part *p = a->grid ? a->grid->part : NULL, *q = b->grid ? b->grid->part : NULL;
    if ((p != NULL) != (q != NULL) ||
        (p && (p->scale != q->scale || p->zero_point != q->zero_point)))
        return false;
    int64_t x[MAX_RANK], y[MAX_RANK];
    value_strides(a, x);
    value_strides(b, y);
    for (int d = 0; d < a->type.rank; d++)
        if (a->type.dim[d] > 1 && x[d] != y[d])
            return false;
    return true;
}

/* Nobody needs the memory of self once n has read src: whatever else lies in it was computed by a
 * node and is read before n. */
static bool dies_here(const Graph *g, const Node *n, const Value *self, const Value *src) {
    if (!self->buffer || self->buffer->kind != BUFFER_VALUE || src->buffer == self->buffer)
        return false;
    for (int i = 0; i < g->value_count; i++) {
        const Value *v = g->value[i];
        if (v->buffer != self->buffer)
            continue;
        if (!v->def || v->output_count > 0)
            return false;
        for (int u = 0; u < v->user_count; u++)
            if (v->user[u]->index > n->index)
                return false;
    }
    return true;
}

static bool storage_fits(C *c, const Node *n) {
    const Value *self = node_in(n, "self"), *src = node_in(n, "src"), *out = n->out[0];
    if (value_storage(self) == value_storage(out) && value_storage(src) == value_storage(out))
        return true;
    return movement_refuse(c, n, "%s written into %s", dtype_name(value_storage(src)),
                           dtype_name(value_storage(self)));
}

/* src goes to offset, by stride[] of the output's memory along each of its dims. */
static void scatter_lower(C *c, Graph *g, Node *n, int64_t offset, const int64_t *stride) {
    Value *self = node_in(n, "self"), *out = n->out[0];
    int64_t whole[MAX_RANK];
    value_strides(out, whole);
    if (same_memory(self, out) && dies_here(g, n, self, node_in(n, "src")))
        value_alias(g, out, self, 0);
    else
        copy_into(c, g, n, self, 0, whole);
    copy_into(c, g, n, node_in(n, "src"), offset, stride);
}

static void flat_scatter_lower(C *c, Graph *g, Node *n) {
    Strided s;
    if (storage_fits(c, n) && scatter_part(c, n, &s) && type_count(&n->out[0]->type) > 0)
        scatter_lower(c, g, n, s.offset, s.stride);
}

static void box_scatter_lower(C *c, Graph *g, Node *n) {
    const Type *self = &node_in(n, "self")->type;
    int64_t memory[MAX_RANK], stride[MAX_RANK] = {0}, offset = 0;
    Strided s;
    Box box;
    if (!storage_fits(c, n) || !scatter_part(c, n, &s) || type_count(self) == 0)
        return;
    if (!box_find(self, &s, &box)) {
        movement_refuse(c, n, "a part that is no box");
        return;
    }
    value_strides(n->out[0], memory);
    for (int k = 0; k < self->rank; k++) {
        offset += box.start[k] * memory[k];
        for (int d = 0; d < s.rank; d++)
            stride[d] += box.step[d][k] * memory[k];
    }
    scatter_lower(c, g, n, offset, stride);
}

/* ---- the same, said otherwise ---------------------------------------------------------------- */

/* src in the places of self that the picture shows. */
static void scatter_at(C *c, Graph *g, Node *n, Value *src, const Strided *s) {
    value_replace(g, n->out[0],
                  MAKE("corten::strided_scatter", arg_value(node_in(n, "self")), arg_value(src),
                       arg_ints(c, s->rank, s->dim), arg_ints(c, s->rank, s->stride),
                       arg_int(s->offset)));
}

static Strided self_picture(const Node *n) {
    const Type *t = &node_in(n, "self")->type;
    return strided_dense(t->rank, t->dim);
}

static void slice_scatter_decompose(C *c, Graph *g, Node *n) {
    Strided s = self_picture(n);
    if (slice_picture(c, n, 0, &s))
        scatter_at(c, g, n, node_in(n, "src"), &s);
}

static void select_scatter_decompose(C *c, Graph *g, Node *n) {
    Strided s = self_picture(n);
    if (select_picture(c, n, 0, &s))
        scatter_at(c, g, n, node_in(n, "src"), &s);
}

static void diagonal_scatter_decompose(C *c, Graph *g, Node *n) {
    Strided s = self_picture(n);
    if (diagonal_picture(c, n, 0, &s))
        scatter_at(c, g, n, node_in(n, "src"), &s);
}

static void as_strided_scatter_decompose(C *c, Graph *g, Node *n) {
    Strided s = self_picture(n);
    if (as_strided_picture(c, n, 0, &s))
        scatter_at(c, g, n, node_in(n, "src"), &s);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* ---- in row-major order ---------------------------------------------------------------------- */

static Value *flat(C *c, Graph *g, Node *n, Value *v) {
    int64_t all = -1;
    return MAKE("aten::reshape", arg_value(v), arg_ints(c, 1, &all));
}

/* A scatter along all elements in a row, whose indices do not count from the end. */
static void put_decompose(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *index = node_in(n, "index"), *source = node_in(n, "source");
    if (type_count(&index->type) != type_count(&source->type)) {
        movement_refuse(c, n, "as many indices as elements are needed");
        return;
    }
    Value *at = flat(c, g, n, index);
    Value *wrapped = MAKE("aten::add.Tensor", arg_value(at), arg_int(type_count(&self->type)));
    Value *below = MAKE("aten::lt.Scalar", arg_value(at), arg_int(0));
    at = MAKE("aten::where.self", arg_value(below), arg_value(wrapped), arg_value(at));
    Value *y = MAKE(node_bool(n, "accumulate") ? "aten::scatter_add" : "aten::scatter.src",
                    arg_value(flat(c, g, n, self)), arg_int(0), arg_value(at),
                    arg_value(flat(c, g, n, source)));
    value_replace(
        g, n->out[0],
        MAKE("aten::reshape", arg_value(y), arg_ints(c, self->type.rank, self->type.dim)));
}

/* Where the mask is set, the elements of source in their order: its running count says which. */
static void masked_scatter_decompose(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *mask = node_in(n, "mask"), *source = node_in(n, "source");
    int64_t size = type_count(&source->type);
    Value *both[2] = {self, mask};
    if (size == 0) {
        value_replace(g, n->out[0], self);
        return;
    }
    Node *spread = node_new(g, n, "aten::broadcast_tensors", ARGS(arg_values(c, 2, both)));
    self = spread->out[0];
    mask = spread->out[1];
    Value *ones = MAKE("aten::to.dtype", arg_value(flat(c, g, n, mask)), arg_dtype(DT_I64));
    Value *count = MAKE("aten::cumsum", arg_value(ones), arg_int(0));
    Value *at = MAKE("aten::sub.Tensor", arg_value(count), arg_int(1));
    at = MAKE("aten::clamp", arg_value(at), arg_int(0), arg_int(size - 1));
    Value *taken =
        MAKE("aten::index_select", arg_value(flat(c, g, n, source)), arg_int(0), arg_value(at));
    taken = MAKE("aten::reshape", arg_value(taken), arg_ints(c, self->type.rank, self->type.dim));
    value_replace(g, n->out[0],
                  MAKE("aten::where.self", arg_value(mask), arg_value(taken), arg_value(self)));
}

static const Op rows[] = {
    {.schema = "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> "
               "Tensor",
     COMPOSITE(put_decompose)},
    {.schema = "aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
     COMPOSITE(masked_scatter_decompose)},
    {.schema = "corten::strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int "
               "offset) -> Tensor",
     .shape = strided_scatter_shape,
     .eval = strided_scatter_eval,
     .decompose = strided_scatter_decompose},
    {.schema = "corten::box_scatter(Tensor self, Tensor src, int[] size, int[] stride, int offset) "
               "-> Tensor",
     .traits = OP_ANY_ORDER,
     .shape = strided_scatter_shape,
     .eval = strided_scatter_eval,
     .quant = {.out = {Q_ACT}},
     .lower = box_scatter_lower,
     .lower_float = box_scatter_lower},
    {.schema = "corten::flat_scatter(Tensor self, Tensor src, int[] size, int[] stride, int "
               "offset) -> Tensor",
     .shape = strided_scatter_shape,
     .eval = strided_scatter_eval,
     .quant = {.out = {Q_ACT}},
     .lower = flat_scatter_lower,
     .lower_float = flat_scatter_lower},
    {.schema = "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
               "SymInt? end=None, SymInt step=1) -> Tensor",
     COMPOSITE(slice_scatter_decompose)},
    {.schema = "aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
     COMPOSITE(select_scatter_decompose)},
    {.schema = "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int "
               "dim2=1) -> Tensor",
     COMPOSITE(diagonal_scatter_decompose)},
    {.schema = "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
               "SymInt? storage_offset=None) -> Tensor",
     COMPOSITE(as_strided_scatter_decompose)},
};

OPS_FAMILY(scatter, rows);
