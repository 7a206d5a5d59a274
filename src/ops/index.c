/* Reading at places that index tensors name. Each row lists the source of every output element.
 * With constant indices a read becomes data movement (elements); at places that depend on data it
 * becomes `take`. */
#include "ops/index.h"

#include <string.h>

const Array *index_data(C *c, const Value *v, bool running) {
    return running ? eval_value(c, v) : v->constant;
}

int64_t index_wrap(C *c, const Node *n, int64_t index, int64_t size) {
    int64_t i = index < 0 ? index + size : index;
    if (i >= 0 && i < size)
        return i;
    movement_refuse(c, n, "index %lld of a dimension of %lld", (long long)index, (long long)size);
    return -1;
}

/* ---- index lists: x[i, :, j] ------------------------------------------------------------------
 */

static int64_t mask_count(const Array *mask) {
    int64_t count = 0;
    for (int64_t i = 0; i < array_count(mask); i++)
        count += array_get_int(mask, i) != 0;
    return count;
}

static bool spread_over(C *c, const Node *n, Indexing *x, int rank, const int64_t *dim) {
    for (; x->spread_rank < rank; x->spread_rank++) {
        memmove(x->spread + 1, x->spread, sizeof *x->spread * (size_t)x->spread_rank);
        x->spread[0] = 1;
    }
    for (int d = 0; d < rank; d++) {
        int64_t *have = &x->spread[x->spread_rank - rank + d];
        if (*have != 1 && dim[d] != 1 && *have != dim[d])
            return movement_refuse(c, n, "indices that do not broadcast");
        *have = *have == 1 ? dim[d] : *have;
    }
    return true;
}

/* The index `v` for the next dims of self: numbers take one, a mask one for each of its own. */
static bool indexing_add(C *c, const Node *n, Indexing *x, const Value *v, int *dim, bool running) {
    const Type *t = &v->type;
    bool mask = t->dtype == DT_BOOL || t->dtype == DT_U8;
    int taken = mask ? t->rank : 1;
    if (*dim + taken > x->self.rank)
        return movement_refuse(c, n, "more indices than the %d dims of self", x->self.rank);
    const Array *data = mask ? index_data(c, v, running) : NULL;
    if (mask && !data)
        return movement_refuse(c, n, "a mask that is not constant: the size depends on data");
    int64_t count = mask ? mask_count(data) : 0;
    for (int k = 0; k < taken; k++, ++*dim) {
        if (mask && t->dim[k] != x->self.dim[*dim])
            return movement_refuse(c, n, "a mask of another shape");
        x->value[*dim] = v;
        x->mask_dim[*dim] = mask ? k : -1;
    }
    return mask ? spread_over(c, n, x, 1, &count) : spread_over(c, n, x, t->rank, t->dim);
}

static void indexing_out(Indexing *x) {
    int first = -1, last = -1, count = 0, rank = 0;
    for (int d = 0; d < x->self.rank; d++)
        if (x->value[d]) {
            first = first < 0 ? d : first;
            last = d;
            count++;
        }
    x->spread_at = count > 0 && last - first + 1 == count ? first : 0; /* apart: in front */
    x->out = (Type){.dtype = x->self.dtype};
    for (int d = 0; d <= x->self.rank; d++) {
        if (rank == x->spread_at)
            for (int k = 0; k < x->spread_rank && rank < MAX_RANK; k++)
                x->out.dim[rank++] = x->spread[k];
        if (d < x->self.rank && !x->value[d] && rank < MAX_RANK)
            x->out.dim[rank++] = x->self.dim[d];
    }
    x->out.rank = rank;
}

bool indexing_open(C *c, const Node *n, Indexing *x, bool running) {
    const Arg *list = node_arg(n, "indices");
    int dim = 0, kept = 0;
    *x = (Indexing){.self = node_in(n, "self")->type};
    for (int i = 0; i < list->u.list.count; i++) {
        const Arg *a = &list->u.list.item[i];
        if (a->kind != ARG_VALUE)
            dim++;
        else if (!indexing_add(c, n, x, a->u.value, &dim, running))
            return false;
    }
    for (int d = 0; d < x->self.rank; d++)
        kept += !x->value[d];
    if (kept + x->spread_rank > MAX_RANK)
        return movement_refuse(c, n, "rank %d, at most %d", kept + x->spread_rank, MAX_RANK);
    indexing_out(x);
    return true;
}

/* Coordinate `dim` of each true place of a mask. */
static int64_t *mask_numbers(C *c, const Array *mask, int dim) {
    int64_t found = 0, behind = 1, count = array_count(mask);
    int64_t *number = NEW_ARRAY(c, int64_t, count + 1);
    for (int k = dim + 1; k < mask->rank; k++)
        behind *= mask->dim[k];
    for (int64_t i = 0; i < count; i++)
        if (array_get_int(mask, i) != 0)
            number[found++] = i / behind % mask->dim[dim];
    return number;
}

/* The numbers of `a`, broadcast to the spread, each wrapped to 0..size-1. NULL: one is outside. */
static int64_t *spread_numbers(C *c, const Node *n, const Indexing *x, const Array *a,
                               int64_t size) {
    int64_t total = dims_count(x->spread_rank, x->spread);
    int64_t *number = NEW_ARRAY(c, int64_t, total + 1);
    for (int64_t i = 0; i < total; i++) {
        int64_t at = 0, rest = i, step = 1;
        for (int k = x->spread_rank - 1, s = a->rank - 1; k >= 0; k--, s--) {
            if (s >= 0 && a->dim[s] > 1)
                at += rest % x->spread[k] * step;
            step *= s >= 0 ? a->dim[s] : 1;
            rest /= x->spread[k];
        }
        number[i] = index_wrap(c, n, array_get_int(a, at), size);
        if (number[i] < 0)
            return NULL;
    }
    return number;
}

/* Per dim of self, the index of each element of the spread, wrapped. False: not constant. */
static bool indexing_numbers(C *c, const Node *n, const Indexing *x, bool running,
                             int64_t *number[MAX_RANK]) {
    for (int d = 0; d < x->self.rank; d++) {
        const Array *a = x->value[d] ? index_data(c, x->value[d], running) : NULL;
        number[d] = NULL;
        if (!x->value[d])
            continue;
        if (!a)
            return false;
        number[d] = x->mask_dim[d] >= 0 ? mask_numbers(c, a, x->mask_dim[d])
                                        : spread_numbers(c, n, x, a, x->self.dim[d]);
        if (!number[d])
            return false;
    }
    return true;
}

int64_t *indexing_sources(C *c, const Node *n, const Indexing *x, bool running) {
    int64_t *number[MAX_RANK], count = type_count(&x->out);
    if (!indexing_numbers(c, n, x, running, number))
        return NULL;
    int64_t *source = NEW_ARRAY(c, int64_t, count + 1), index[MAX_RANK] = {0};
    for (int64_t i = 0; i < count; i++) {
        int64_t spread = 0, from = 0;
        for (int k = 0; k < x->spread_rank; k++)
            spread = spread * x->spread[k] + index[x->spread_at + k];
        int kept = 0;
        for (int d = 0; d < x->self.rank; d++) {
            if (!x->value[d] && kept == x->spread_at)
                kept += x->spread_rank;
            from = from * x->self.dim[d] + (x->value[d] ? number[d][spread] : index[kept++]);
        }
        source[i] = from;
        for (int d = x->out.rank - 1; d >= 0 && ++index[d] == x->out.dim[d]; d--)
            index[d] = 0;
    }
    return source;
}

/* ---- several indices that depend on data --------------------------------------------------------
 */

/* The numbers of dim d of self, 0..size-1, times step. */
static Value *stepped_numbers(C *c, Graph *g, Node *n, const Indexing *x, int d, int64_t step) {
    Value *v = (Value *)(uintptr_t)x->value[d];
    if (x->mask_dim[d] >= 0) {
        int64_t count = mask_count(v->constant);
        const int64_t *number = mask_numbers(c, v->constant, x->mask_dim[d]);
        Array *places = array_new(c, DT_I64, 1, &count);
        for (int64_t i = 0; i < count; i++)
            array_set_int(places, i, number[i]);
        v = value_constant(g, "places", places);
    }
    v = MAKE("aten::remainder.Scalar", arg_value(v), arg_int(x->self.dim[d]));
    return step == 1 ? v : MAKE("aten::mul.Scalar", arg_value(v), arg_int(step));
}

bool indexing_merge(C *c, Graph *g, Node *n, Merged *m) {
    Indexing x;
    int taken = 0, rank = 1;
    int64_t dim[MAX_RANK + 1] = {1};
    if (!indexing_open(c, n, &x, false))
        return false;
    *m = (Merged){.spread_rank = x.spread_rank, .spread_at = x.spread_at, .out = x.out};
    for (int d = 0; d < x.self.rank; d++)
        taken += x.value[d] != NULL;
    for (int d = x.self.rank - 1, front = taken, back = x.self.rank; d >= 0; d--)
        m->order[x.value[d] ? --front : --back] = d;
    for (int i = 0; i < x.self.rank; i++) {
        m->dim[i] = x.self.dim[m->order[i]];
        if (i >= taken)
            dim[rank++] = m->dim[i];
    }
    for (int i = taken - 1; i >= 0; i--) {
        Value *v = stepped_numbers(c, g, n, &x, (int)m->order[i], dim[0]);
        m->index = m->index ? MAKE("aten::add.Tensor", arg_value(m->index), arg_value(v)) : v;
        dim[0] *= m->dim[i];
    }
    m->self =
        MAKE("aten::permute", arg_value(node_in(n, "self")), arg_ints(c, x.self.rank, m->order));
    m->self = MAKE("aten::reshape", arg_value(m->self), arg_ints(c, rank, dim));
    return true;
}

void merged_order(const Merged *m, bool back, int64_t order[MAX_RANK]) {
    for (int d = 0; d < m->out.rank; d++) {
        int at = d < m->spread_at                    ? m->spread_rank + d
                 : d < m->spread_at + m->spread_rank ? d - m->spread_at
                                                     : d;
        order[back ? at : d] = back ? d : at;
    }
}

/* ---- one index along one dim ------------------------------------------------------------------
 */

int indexed_dim(C *c, const Node *n) {
    const Type *t = &node_in(n, "self")->type;
    return t->rank > 0 ? dim_wrap(c, n, node_int(n, "dim"), t->rank) : 0;
}

int64_t *numbers_along(C *c, const Node *n, const Type *type, int dim, const Array *at,
                       const Type *over, bool vector) {
    int64_t count = type_count(over), index[MAX_RANK] = {0};
    int64_t *number = NEW_ARRAY(c, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t from = 0;
        for (int d = 0; d < type->rank; d++) {
            int64_t k = index[d];
            if (d == dim) {
                k = index_wrap(c, n, array_get_int(at, vector ? index[d] : i), type->dim[d]);
                if (k < 0)
                    return NULL;
            }
            from = from * type->dim[d] + k;
        }
        number[i] = from;
        for (int d = over->rank - 1; d >= 0 && ++index[d] == over->dim[d]; d--)
            index[d] = 0;
    }
    if (type->rank == 0 && count > 0)
        number[0] = 0;
    return number;
}

/* ---- reads ------------------------------------------------------------------------------------
 */

/* The source in self of each output element; NULL: not constant, or a diagnostic is recorded. */
typedef int64_t *SourcesOf(C *c, const Node *n, bool running);

static void read_eval(C *c, Node *n, SourcesOf *of) {
    const Array *in = eval_movement_input(c, n);
    Array *out = eval_out(c, n, 0);
    const int64_t *source = of(c, n, true);
    for (int64_t i = 0; source && i < array_count(out); i++)
        elements_copy(out, i, in, source[i], 1);
}

/* A read as rows x inner elements of `outer` parts, at indices along the rows: what take does. */
typedef struct {
    int64_t outer, rows, inner;
    bool each; /* an index for each element instead of each row */
    const Value *index;
} Along;

typedef bool AlongOf(C *c, const Node *n, Along *a);

static bool along_dim(const Node *n, int dim, const Value *index, Along *a) {
    const Type *t = &movement_input(n)->type;
    *a = (Along){.outer = dims_count(dim, t->dim), .rows = 1, .inner = 1, .index = index};
    if (t->rank > 0) {
        a->rows = t->dim[dim];
        a->inner = dims_count(t->rank - dim - 1, t->dim + dim + 1);
    }
    return true;
}

static bool reads_constants(const Node *n) {
    for (int k = 1; k < node_operand_count(n); k++)
        if (!node_operand(n, k)->constant)
            return false;
    return true;
}

static void read_decompose(C *c, Graph *g, Node *n, SourcesOf *of, AlongOf *along_of) {
    Value *self = movement_input(n), *out = n->out[0];
    Arg dims = arg_ints(c, out->type.rank, out->type.dim);
    Along a = {0};
    if (reads_constants(n)) {
        const int64_t *source = of(c, n, false);
        Array *number = array_new(c, DT_I32, out->type.rank, out->type.dim);
        for (int64_t i = 0; source && i < array_count(number); i++)
            array_set_int(number, i, source[i]);
        if (source)
            value_replace(g, out,
                          MAKE("corten::elements", arg_value(self),
                               arg_value(value_constant(g, "places", number))));
        return;
    }
    if (!along_of(c, n, &a))
        return;
    Value *v = MAKE("corten::take", arg_value(self), arg_value((Value *)(uintptr_t)a.index),
                    arg_int(a.outer), arg_int(a.rows), arg_int(a.inner), arg_bool(a.each));
    value_replace(g, out, MAKE("aten::view", arg_value(v), dims));
}

#define READ_FUNCTIONS(op)                                                                         \
    static void op##_eval(C *c, Node *n) {                                                         \
        read_eval(c, n, op##_sources);                                                             \
    }                                                                                              \
    static void op##_decompose(C *c, Graph *g, Node *n) {                                          \
        read_decompose(c, g, n, op##_sources, op##_along);                                         \
    }

static void index_shape(C *c, Node *n) {
    Indexing x;
    n->out[0]->type = node_in(n, "self")->type;
    if (indexing_open(c, n, &x, false))
        n->out[0]->type = x.out;
}

static int64_t *index_sources(C *c, const Node *n, bool running) {
    Indexing x;
    return indexing_open(c, n, &x, running) ? indexing_sources(c, n, &x, running) : NULL;
}

Value *only_index(const Node *n, int *before) {
    const Arg *list = node_arg(n, "indices");
    Value *index = NULL;
    for (int i = 0; i < list->u.list.count; i++) {
        if (list->u.list.item[i].kind != ARG_VALUE)
            continue;
        if (index)
            return NULL;
        index = list->u.list.item[i].u.value;
        *before = i;
    }
    return index;
}

static bool index_along(C *c, const Node *n, Along *a) {
    (void)c;
    int dim = 0;
    const Value *index = only_index(n, &dim);
    return index && along_dim(n, dim, index, a);
}

static void index_eval(C *c, Node *n) {
    read_eval(c, n, index_sources);
}

/* Indices of several dims that depend on data become one, of these dims as one. */
static void index_decompose(C *c, Graph *g, Node *n) {
    int before;
    Merged m;
    int64_t order[MAX_RANK];
    if (reads_constants(n) || only_index(n, &before)) {
        read_decompose(c, g, n, index_sources, index_along);
        return;
    }
    if (!indexing_merge(c, g, n, &m))
        return;
    Value *y = MAKE("aten::index.Tensor", arg_value(m.self), arg_values(c, 1, &m.index));
    merged_order(&m, false, order);
    value_replace(g, n->out[0],
                  MAKE("aten::permute", arg_value(y), arg_ints(c, m.out.rank, order)));
}

static void index_select_shape(C *c, Node *n) {
    const Type *index = &node_in(n, "index")->type;
    Type t = node_in(n, "self")->type;
    if (index->rank > 1)
        movement_refuse(c, n, "an index of rank %d, at most 1", index->rank);
    if (t.rank > 0)
        t.dim[indexed_dim(c, n)] = type_count(index);
    n->out[0]->type = t;
}

static int64_t *index_select_sources(C *c, const Node *n, bool running) {
    const Array *at = index_data(c, node_in(n, "index"), running);
    return at ? numbers_along(c, n, &node_in(n, "self")->type, indexed_dim(c, n), at,
                              &n->out[0]->type, true)
              : NULL;
}

static bool index_select_along(C *c, const Node *n, Along *a) {
    return along_dim(n, indexed_dim(c, n), node_in(n, "index"), a);
}
READ_FUNCTIONS(index_select)

static void gather_shape(C *c, Node *n) {
    const Type *self = &node_in(n, "self")->type, *index = &node_in(n, "index")->type;
    if (self->rank != index->rank)
        movement_refuse(c, n, "an index of rank %d for rank %d", index->rank, self->rank);
    for (int d = 0; d < self->rank && self->rank == index->rank; d++)
        if (d != indexed_dim(c, n) && index->dim[d] > self->dim[d])
            movement_refuse(c, n, "an index larger than self along dim %d", d);
    node_set_type(n, 0, self->dtype, index->rank, index->dim);
}

static int64_t *gather_sources(C *c, const Node *n, bool running) {
    const Value *index = node_in(n, "index");
    const Array *at = index_data(c, index, running);
    return at ? numbers_along(c, n, &node_in(n, "self")->type, indexed_dim(c, n), at, &index->type,
                              false)
              : NULL;
}

static bool gather_along(C *c, const Node *n, Along *a) {
    const Type *self = &node_in(n, "self")->type, *index = &node_in(n, "index")->type;
    int dim = indexed_dim(c, n);
    for (int d = 0; d < self->rank; d++)
        if (d != dim && self->dim[d] != index->dim[d])
            return movement_refuse(c, n, "no integer form: an index of %s for %s",
                                   shape_text(c, index->rank, index->dim),
                                   shape_text(c, self->rank, self->dim));
    along_dim(n, dim, node_in(n, "index"), a);
    a->each = true;
    return true;
}
READ_FUNCTIONS(gather)

/* Where the index is smaller than self beside its dim, only so much of self takes part. */
static void gather_part_decompose(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *index = node_in(n, "index"), *part = self;
    for (int d = 0; d < self->type.rank; d++)
        if (d != indexed_dim(c, n) && index->type.dim[d] < self->type.dim[d])
            part = MAKE("aten::slice.Tensor", arg_value(part), arg_int(d), arg_int(0),
                        arg_int(index->type.dim[d]));
    if (part == self)
        gather_decompose(c, g, n);
    else
        value_replace(g, n->out[0],
                      MAKE("aten::gather", arg_value(part), *node_arg(n, "dim"), arg_value(index)));
}

static void take_shape(C *c, Node *n) {
    (void)c;
    const Type *index = &node_in(n, "index")->type;
    node_set_type(n, 0, node_in(n, "self")->type.dtype, index->rank, index->dim);
}

static int64_t *take_sources(C *c, const Node *n, bool running) {
    const Array *at = index_data(c, node_in(n, "index"), running);
    int64_t count = at ? array_count(at) : 0, size = type_count(&node_in(n, "self")->type);
    int64_t *source = at ? NEW_ARRAY(c, int64_t, count + 1) : NULL;
    for (int64_t i = 0; i < count; i++)
        if ((source[i] = index_wrap(c, n, array_get_int(at, i), size)) < 0)
            return NULL;
    return source;
}

static bool take_along(C *c, const Node *n, Along *a) {
    (void)c;
    *a = (Along){.outer = 1,
                 .rows = type_count(&node_in(n, "self")->type),
                 .inner = 1,
                 .index = node_in(n, "index")};
    return true;
}
READ_FUNCTIONS(take)

/* The dims of index, then the rest of weight's. */
static void embedding_shape(C *c, Node *n) {
    const Type *weight = &node_in(n, "weight")->type, *index = &node_in(n, "indices")->type;
    int64_t dim[MAX_RANK];
    if (weight->rank != 2 || index->rank + 1 > MAX_RANK)
        movement_refuse(c, n, "a weight of rank %d, 2 needed", weight->rank);
    memcpy(dim, index->dim, sizeof dim);
    dim[index->rank < MAX_RANK ? index->rank : 0] = weight->dim[1];
    node_set_type(n, 0, weight->dtype, index->rank + 1, dim);
}

static int64_t *embedding_sources(C *c, const Node *n, bool running) {
    const Array *at = index_data(c, node_in(n, "indices"), running);
    const Type *weight = &node_in(n, "weight")->type;
    int64_t count = at ? array_count(at) : 0, width = weight->dim[1];
    int64_t *source = at ? NEW_ARRAY(c, int64_t, count * width + 1) : NULL;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = index_wrap(c, n, array_get_int(at, i), weight->dim[0]);
        if (row < 0)
            return NULL;
        for (int64_t k = 0; k < width; k++)
            source[i * width + k] = row * width + k;
    }
    return source;
}

static bool embedding_along(C *c, const Node *n, Along *a) {
    (void)c;
    return along_dim(n, 0, node_in(n, "indices"), a);
}
READ_FUNCTIONS(embedding)

/* ---- what reads come down to --------------------------------------------------------------------
 */

/* corten::elements: out[i] = element places[i] of self, in places' shape. */
static void elements_shape(C *c, Node *n) {
    (void)c;
    const Type *places = &node_in(n, "places")->type;
    node_set_type(n, 0, node_in(n, "self")->type.dtype, places->rank, places->dim);
}

static void elements_eval(C *c, Node *n) {
    const Array *in = eval_movement_input(c, n), *places = eval_in(c, n, "places");
    Array *out = eval_out(c, n, 0);
    for (int64_t i = 0; i < array_count(out); i++)
        elements_copy(out, i, in, array_get_int(places, i), 1);
}

/* corten::take: a flat vector of what kernel `take` gives. */
static void core_take_shape(C *c, Node *n) {
    (void)c;
    int64_t count = type_count(&node_in(n, "index")->type);
    if (!node_bool(n, "each"))
        count *= node_int(n, "outer") * node_int(n, "inner");
    node_set_type(n, 0, node_in(n, "self")->type.dtype, 1, &count);
}

static void core_take_eval(C *c, Node *n) {
    const Array *in = eval_in(c, n, "self"), *index = eval_in(c, n, "index");
    Array *out = eval_out(c, n, 0);
    int64_t outer = node_int(n, "outer"), rows = node_int(n, "rows"), inner = node_int(n, "inner");
    bool each = node_bool(n, "each");
    int64_t count = outer * inner > 0 ? array_count(out) / (outer * inner) : 0;
    for (int64_t i = 0; i < array_count(out); i++) {
        int64_t o = i / inner / count, k = i / inner % count;
        int64_t at = index_wrap(c, n, array_get_int(index, each ? i : k), rows);
        if (at < 0)
            return;
        elements_copy(out, i, in, (o * rows + at) * inner + i % inner, 1);
    }
}

static void core_take_lower(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *index = node_in(n, "index");
    DType dtype = value_storage(index);
    if ((dtype != DT_I64 && dtype != DT_I32) || value_storage(self) != value_storage(n->out[0])) {
        movement_refuse(c, n, "indices of %s have no integer form", dtype_name(dtype));
        return;
    }
    if (self->grid && (value_scale(self) != value_scale(n->out[0]) ||
                       value_zero_point(self) != value_zero_point(n->out[0]))) {
        movement_refuse(c, n, "its operand and its output have different scales");
        return;
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_take);
    CtnTakeArgs *a = call->args;
    int64_t outer = node_int(n, "outer"), inner = node_int(n, "inner");
    a->element_size = dtype_size(value_storage(self));
    a->index_size = dtype_size(dtype);
    a->outer = (int32_t)outer;
    a->rows = (int32_t)node_int(n, "rows");
    a->inner = (int32_t)inner;
    a->each = node_bool(n, "each");
    int64_t parts = outer * inner;
    a->count = parts > 0 ? (int32_t)(type_count(&n->out[0]->type) / parts) : 0;
    call_in(call, &a->input, self);
    call_in(call, &a->indices, index);
    call_out(call, &a->output, n->out[0]);
}

/* gather over self and indices broadcast together except along dim; without dim, flat. */
static void take_along_dim_decompose(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *index = node_in(n, "indices");
    int64_t flat = -1;
    if (!node_has(n, "dim")) {
        self = MAKE("aten::view", arg_value(self), arg_ints(c, 1, &flat));
        index = MAKE("aten::view", arg_value(index), arg_ints(c, 1, &flat));
        value_replace(g, n->out[0],
                      MAKE("aten::gather", arg_value(self), arg_int(0), arg_value(index)));
        return;
    }
    Type a = self->type, b = index->type;
    if (a.rank != b.rank || a.rank == 0) {
        movement_refuse(c, n, "indices of rank %d for rank %d", b.rank, a.rank);
        return;
    }
    int dim = dim_wrap(c, n, node_int(n, "dim"), a.rank);
    for (int d = 0; d < a.rank; d++)
        if (d != dim)
            a.dim[d] = b.dim[d] = a.dim[d] == 1 ? b.dim[d] : a.dim[d];
    self = MAKE("aten::expand", arg_value(self), arg_ints(c, a.rank, a.dim));
    index = MAKE("aten::expand", arg_value(index), arg_ints(c, b.rank, b.dim));
    value_replace(g, n->out[0],
                  MAKE("aten::gather", arg_value(self), arg_int(dim), arg_value(index)));
}

/* ---- sizes that depend on data ------------------------------------------------------------------
 */

static void unknown_size_shape(C *c, Node *n) {
    movement_refuse(c, n, "the size of its output depends on data");
    n->out[0]->type = node_operand(n, 0)->type;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

#define READS(text, op)                                                                            \
    { .schema = text, .shape = op##_shape, .eval = op##_eval, .decompose = op##_decompose }

#define UNKNOWN_SIZE(text)                                                                         \
    {                                                                                              \
        .schema = text, .shape = unknown_size_shape,                                               \
        .no_integer_form = "the size of its output depends on data"                                \
    }

static const Op rows[] = {
    {.schema = "corten::elements(Tensor self, Tensor places) -> Tensor",
     .traits = OP_MOVES_DATA,
     .shape = elements_shape,
     .eval = elements_eval,
     .quant = {.in = {Q_ACT, Q_RAW}, .out = {Q_SAME}},
     .lower = lower_movement},
    {.schema = "corten::take(Tensor self, Tensor index, int outer, int rows, int inner, bool each) "
               "-> Tensor",
     .shape = core_take_shape,
     .eval = core_take_eval,
     .quant = {.in = {Q_ACT, Q_RAW}, .out = {Q_SAME}},
     .lower = core_take_lower,
     .lower_float = core_take_lower},
    READS("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index),
    READS("aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index),
    READS("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", index_select),
    {.schema = "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> "
               "Tensor",
     .shape = gather_shape,
     .eval = gather_eval,
     .decompose = gather_part_decompose},
    READS("aten::take(Tensor self, Tensor index) -> Tensor", take),
    READS("aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
          "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
          embedding),
    {.schema = "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
     COMPOSITE(take_along_dim_decompose)},
    UNKNOWN_SIZE("aten::masked_select(Tensor self, Tensor mask) -> Tensor"),
    UNKNOWN_SIZE("aten::nonzero(Tensor self) -> Tensor"),
    UNKNOWN_SIZE("aten::argwhere(Tensor self) -> Tensor"),
};

OPS_FAMILY(index, rows);
