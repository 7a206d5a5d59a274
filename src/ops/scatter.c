/* Writes into a part of a tensor, as values: the result is `self` with `src` in place of some of
 * its elements. The core row is strided_scatter, whose part is a strided picture of self's elements
 * in row-major order; the scatters along a slice, a diagonal or an index come down to it. */
#include "ops/ops.h"

/* ---- strided_scatter ------------------------------------------------------------------------ */

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

/* Operands and output stand in logical order: a picture's strides are those of memory. */
static void strided_scatter_lower(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *src = node_in(n, "src"), *out = n->out[0];
    int64_t one = 1, count = type_count(&self->type), stride[MAX_RANK];
    Strided s;
    if (!scatter_part(c, n, &s) || count == 0)
        return;
    if (value_storage(self) != value_storage(out) || value_storage(src) != value_storage(out)) {
        movement_refuse(c, n, "%s written into %s", dtype_name(value_storage(src)),
                        dtype_name(value_storage(out)));
        return;
    }
    lower_copy(c, g, n, self, 0, &one, out, 0, &one, 1, &count);
    value_strides(src, stride);
    if (type_count(&src->type) > 0)
        lower_copy(c, g, n, src, 0, stride, out, s.offset, s.stride, s.rank, s.dim);
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

static const Op rows[] = {
    {.schema = "corten::strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int "
               "offset) -> Tensor",
     .shape = strided_scatter_shape,
     .eval = strided_scatter_eval,
     .lower = strided_scatter_lower},
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
