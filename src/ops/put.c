/* Writing at places that index tensors name, as values: `self` with elements of a source in some
 * of its places. Places that are constant become a strided write if they are evenly spaced, else a
 * read from self and the source side by side. Places along one dim that depend on data become one
 * choice per index: where(index == 0..size-1, source, self). Adding instead of replacing reads the
 * places first; places named several times are taken in rounds. */
#include "ops/index.h"

#include <string.h>

typedef struct { /* how what is written combines with what stands there */
    const char *name, *row;
    double neutral; /* combines to what stands there; NAN: only that itself does */
} Combine;

static const Combine combines[] = {
    {"sum", "aten::add.Tensor", 0},  {"add", "aten::add.Tensor", 0},
    {"prod", "aten::mul.Tensor", 1}, {"multiply", "aten::mul.Tensor", 1},
    {"amax", "aten::maximum", NAN},  {"amin", "aten::minimum", NAN},
    {"mean", "aten::add.Tensor", 0},
};

typedef struct { /* element to[i] of self becomes element from[i] of the source */
    int64_t count;
    int64_t *to, *from; /* from NULL: the number `value` */
    Value *source;
    double value;
    const Combine *combine; /* ... is combined with it; NULL: replaces it */
    bool fresh;             /* ... what self has in these places does not count */
    bool averages;          /* sums are divided by how many numbers went into them */
    double alpha;           /* times this; 0 for 1 */
} Places;

typedef bool PlacesOf(C *c, const Node *n, bool running, Places *p);

/* ---- in float ---------------------------------------------------------------------------------
 */

/* How many of the places before i are the same as place i. */
static int64_t *occurrences(C *c, const Places *p, int64_t size, int64_t *most) {
    int64_t *seen = NEW_ARRAY(c, int64_t, size + 1), *nth = NEW_ARRAY(c, int64_t, p->count + 1);
    *most = 0;
    for (int64_t i = 0; i < p->count; i++) {
        nth[i] = seen[p->to[i]]++;
        *most = nth[i] > *most ? nth[i] : *most;
    }
    return nth;
}

static double combined(const Combine *by, double old, double x) {
    if (!by)
        return x;
    if (isnan(by->neutral))
        return text_equal(by->name, "amax") ? fmax(old, x) : fmin(old, x);
    return by->neutral == 0 ? old + x : old * x;
}

/* sum / count, towards minus infinity where both are integers, as torch divides here. */
static double average(const Array *out, double sum, double count) {
    return dtype_is_float(out->dtype) ? sum / count : floor(sum / count);
}

static void write_eval(C *c, Node *n, PlacesOf *of) {
    const Array *self = eval_in(c, n, "self");
    Array *out = eval_out(c, n, 0);
    Places p = {0};
    elements_copy(out, 0, self, 0, array_count(self));
    if (!of(c, n, true, &p))
        return;
    const Array *source = p.from ? eval_value(c, p.source) : NULL;
    double alpha = p.alpha != 0 ? p.alpha : 1;
    int64_t most, *nth = occurrences(c, &p, array_count(out), &most);
    int64_t *last = NEW_ARRAY(c, int64_t, array_count(out) + 1); /* numbers that a place took */
    for (int64_t i = 0; i < p.count; i++) {
        double x = alpha * (source ? array_get(source, p.from[i]) : p.value);
        bool first = p.fresh && nth[i] == 0;
        array_set(out, p.to[i], first ? x : combined(p.combine, array_get(out, p.to[i]), x));
        last[p.to[i]] = nth[i] + 1;
    }
    for (int64_t i = 0; p.averages && i < array_count(out); i++)
        if (last[i] > 0)
            array_set(out, i, average(out, array_get(out, i), (double)(last[i] + !p.fresh)));
}

/* ---- places that are constant -----------------------------------------------------------------
 */

/* The written numbers as a vector of self's dtype. */
static Value *places_vector(C *c, Graph *g, Node *n, Places *p) {
    DType dtype = node_in(n, "self")->type.dtype;
    int64_t flat = -1;
    if (!p->from) {
        Array *one = array_new(c, dtype, 1, (const int64_t[]){1});
        array_set(one, 0, p->value);
        p->from = NEW_ARRAY(c, int64_t, p->count + 1);
        return value_constant(g, "value", one);
    }
    Value *v = value_converted(g, n, p->source, dtype);
    if (p->alpha != 0 && p->alpha != 1)
        v = MAKE("aten::mul.Scalar", arg_value(v), arg_float(p->alpha));
    return MAKE("aten::view", arg_value(v), arg_ints(c, 1, &flat));
}

/* Elements of a vector, or of any tensor in row-major order. */
static Value *elements_at(C *c, Graph *g, Node *n, Value *v, int64_t count, const int64_t *at) {
    Array *places = array_new(c, DT_I32, 1, &count);
    for (int64_t i = 0; i < count; i++)
        array_set_int(places, i, at[i]);
    return MAKE("corten::elements", arg_value(v), arg_value(value_constant(g, "places", places)));
}

/* Places at even distances, filled with the vector's elements in order: a strided write. */
static Value *places_strided(C *c, Graph *g, Node *n, const Places *p, Value *self, Value *vector) {
    int64_t step = p->count > 1 ? p->to[1] - p->to[0] : 1;
    if (step < 1 || type_count(&vector->type) != p->count)
        return NULL;
    for (int64_t i = 0; i < p->count; i++)
        if (p->to[i] != p->to[0] + i * step || p->from[i] != i)
            return NULL;
    return MAKE("corten::strided_scatter", arg_value(self), arg_value(vector),
                arg_ints(c, 1, &p->count), arg_ints(c, 1, &step), arg_int(p->to[0]));
}

/* Out of self and the vector side by side, each element from where it comes. Of places written
 * twice the last write stays. */
static Value *places_read(C *c, Graph *g, Node *n, const Places *p, Value *self, Value *vector) {
    const Type *t = &self->type;
    int64_t flat = -1, count = type_count(t);
    Array *from = array_new(c, DT_I32, t->rank, t->dim);
    for (int64_t i = 0; i < count; i++)
        array_set_int(from, i, i);
    for (int64_t i = 0; i < p->count; i++)
        array_set_int(from, p->to[i], count + p->from[i]);
    Value *part[2] = {MAKE("aten::view", arg_value(self), arg_ints(c, 1, &flat)), vector};
    Value *both = MAKE("aten::cat", arg_values(c, 2, part), arg_int(0));
    return MAKE("corten::elements", arg_value(both), arg_value(value_constant(g, "from", from)));
}

static Value *places_write(C *c, Graph *g, Node *n, const Places *p, Value *self, Value *vector) {
    Value *out = places_strided(c, g, n, p, self, vector);
    return out ? out : places_read(c, g, n, p, self, vector);
}

enum { MOST_ROUNDS = 64 };

/* Sums of places divided by how many numbers went into each. */
static Value *places_average(C *c, Graph *g, Node *n, const Places *p, Value *self) {
    const Type *t = &self->type;
    if (!dtype_is_float(t->dtype)) {
        movement_refuse(c, n, "reduce=mean of %s", dtype_name(t->dtype));
        return self;
    }
    Array *factor = array_new(c, DT_F32, t->rank, t->dim);
    for (int64_t i = 0; i < p->count; i++)
        array_set(factor, p->to[i], array_get(factor, p->to[i]) + 1);
    for (int64_t i = 0; i < array_count(factor); i++) {
        double taken = array_get(factor, i);
        array_set(factor, i, taken > 0 ? 1 / (taken + !p->fresh) : 1);
    }
    return MAKE("aten::mul.Tensor", arg_value(self), arg_value(value_constant(g, "share", factor)));
}

/* Round r takes what names a place for the r-th time. */
static Value *places_combine(C *c, Graph *g, Node *n, const Places *p, Value *self, Value *vector) {
    int64_t most, *nth = occurrences(c, p, type_count(&self->type), &most);
    if (most >= MOST_ROUNDS) {
        movement_refuse(c, n, "a place that is written to %lld times, at most %d",
                        (long long)most + 1, MOST_ROUNDS);
        return self;
    }
    for (int64_t r = 0; r <= most; r++) {
        Places now = {.to = NEW_ARRAY(c, int64_t, p->count + 1),
                      .from = NEW_ARRAY(c, int64_t, p->count + 1)};
        int64_t *from = NEW_ARRAY(c, int64_t, p->count + 1);
        for (int64_t i = 0; i < p->count; i++)
            if (nth[i] == r) {
                now.to[now.count] = p->to[i];
                from[now.count] = p->from[i];
                now.from[now.count] = now.count;
                now.count++;
            }
        Value *taken = elements_at(c, g, n, vector, now.count, from);
        if (r > 0 || !p->fresh)
            taken = MAKE(p->combine->row, arg_value(elements_at(c, g, n, self, now.count, now.to)),
                         arg_value(taken));
        self = places_write(c, g, n, &now, self, taken);
    }
    return p->averages ? places_average(c, g, n, p, self) : self;
}

/* ---- places that depend on data ---------------------------------------------------------------
 */

enum { MOST_CHOICES = 32 };

typedef struct {
    int dim;
    int64_t count; /* indices along dim */
    Value *index;  /* self's dims, but `count` along dim; or a vector of count numbers */
    Value *source; /* likewise, or one element everywhere; of self's dtype */
    bool wraps;    /* negative indices count from the end */
    const Combine *combine;
} Choices;

typedef bool ChoicesOf(C *c, Graph *g, Node *n, Choices *x);

/* first, first + 1 ... along dim of a tensor of self's rank. */
static Value *numbers_of_dim(C *c, Graph *g, const Type *self, int dim, DType dtype,
                             int64_t first) {
    int64_t dims[MAX_RANK];
    for (int d = 0; d < self->rank; d++)
        dims[d] = d == dim ? self->dim[d] : 1;
    Array *a = array_new(c, dtype, self->rank, dims);
    for (int64_t i = 0; i < array_count(a); i++)
        array_set_int(a, i, first + i);
    return value_constant(g, "numbers", a);
}

/* The j-th index or source along dim, of size 1 there; a vector's lies along no other dim. */
static Value *nth_along(C *c, Graph *g, Node *n, Value *v, int dim, int rank, int64_t j) {
    int64_t ones[MAX_RANK];
    if (v->type.rank == rank && rank > 1)
        return MAKE("aten::narrow", arg_value(v), arg_int(dim), arg_int(j), arg_int(1));
    for (int d = 0; d < rank; d++)
        ones[d] = 1;
    v = MAKE("aten::narrow", arg_value(v), arg_int(0), arg_int(j), arg_int(1));
    return MAKE("aten::view", arg_value(v), arg_ints(c, rank, ones));
}

static Value *choice_mask(C *c, Graph *g, Node *n, const Choices *x, const Type *self, int64_t j) {
    DType dtype = x->index->type.dtype;
    Value *index = nth_along(c, g, n, x->index, x->dim, self->rank, j);
    Value *mask = MAKE("aten::eq.Tensor", arg_value(index),
                       arg_value(numbers_of_dim(c, g, self, x->dim, dtype, 0)));
    if (!x->wraps)
        return mask;
    Value *back = numbers_of_dim(c, g, self, x->dim, dtype, -self->dim[x->dim]);
    Value *other = MAKE("aten::eq.Tensor", arg_value(index), arg_value(back));
    return MAKE("aten::logical_or", arg_value(mask), arg_value(other));
}

static void choices_write(C *c, Graph *g, Node *n, const Choices *x) {
    Value *out = node_in(n, "self");
    const Type self = out->type;
    if (x->count > MOST_CHOICES) {
        movement_refuse(c, n, "no integer form: %lld indices that depend on data, at most %d",
                        (long long)x->count, MOST_CHOICES);
        return;
    }
    Array *number = array_new(c, self.dtype, 0, NULL);
    array_set(number, 0, x->combine && !isnan(x->combine->neutral) ? x->combine->neutral : 0);
    bool by_number = x->combine && !isnan(x->combine->neutral);
    Value *neutral = by_number ? value_constant(g, "neutral", number) : NULL;
    for (int64_t j = 0; j < x->count; j++) {
        Value *mask = choice_mask(c, g, n, x, &self, j), *source = x->source;
        if (type_count(&source->type) > 1)
            source = nth_along(c, g, n, source, x->dim, self.rank, j);
        Value *v = MAKE("aten::where.self", arg_value(mask), arg_value(source),
                        arg_value(neutral ? neutral : out));
        out = x->combine ? MAKE(x->combine->row, arg_value(out), arg_value(v)) : v;
    }
    value_replace(g, n->out[0], out);
}

static Value *in_dtype_of_self(Graph *g, Node *n, Value *v) {
    return value_converted(g, n, v, node_in(n, "self")->type.dtype);
}

/* `index` has self's dims except along dim: what scatter's choices need. */
static bool index_covers(C *c, Node *n, const Choices *x, const Type *index) {
    const Type *self = &node_in(n, "self")->type;
    for (int d = 0; d < self->rank; d++)
        if (d != x->dim && index->dim[d] != self->dim[d])
            return movement_refuse(c, n, "no integer form: an index of %s for %s",
                                   shape_text(c, index->rank, index->dim),
                                   shape_text(c, self->rank, self->dim));
    return self->rank > 0;
}

/* ---- both -------------------------------------------------------------------------------------
 */

static bool is_varying(const Node *n, const char *name) {
    const Arg *a = node_arg(n, name);
    for (int i = 0; a->kind == ARG_LIST && i < a->u.list.count; i++)
        if (a->u.list.item[i].kind == ARG_VALUE && !a->u.list.item[i].u.value->constant)
            return true;
    return a->kind == ARG_VALUE && !a->u.value->constant;
}

typedef struct { /* what an operand is to be instead */
    const char *name;
    Value *value;
} Other;

/* The same row with other operands. */
static Value *row_of_others(C *c, Graph *g, Node *n, const Other *other, int count) {
    Arg *arg = c_memdup(c, n->arg, (size_t)n->arg_count * sizeof *arg);
    for (int i = 0; i < count; i++)
        arg[node_arg_index(n, other[i].name)] = arg_value(other[i].value);
    return node_value(g, n, op_key(n->op), n->arg_count, arg);
}

static const char *source_name(const Node *n) {
    return node_takes(n, "src") ? "src" : node_takes(n, "source") ? "source" : NULL;
}

/* A number along dim 0 is a vector of one. */
static bool number_decompose(C *c, Graph *g, Node *n) {
    int64_t one = 1;
    const char *from = source_name(n);
    if (node_in(n, "self")->type.rank != 0 || !node_takes(n, "dim") ||
        type_count(&node_in(n, "index")->type) != 1 ||
        (from && type_count(&node_in(n, from)->type) != 1))
        return false;
    Other other[3] = {{"self", NULL}, {"index", NULL}, {from, NULL}};
    int count = from ? 3 : 2;
    for (int i = 0; i < count; i++)
        other[i].value =
            MAKE("aten::reshape", arg_value(node_in(n, other[i].name)), arg_ints(c, 1, &one));
    Value *y = row_of_others(c, g, n, other, count);
    value_replace(g, n->out[0], MAKE("aten::reshape", arg_value(y), arg_ints(c, 0, NULL)));
    return true;
}

static Value *first_of(Graph *g, Node *n, Value *v, int dim, int64_t count) {
    return v->type.dim[dim] <= count
               ? v
               : MAKE("aten::slice.Tensor", arg_value(v), arg_int(dim), arg_int(0), arg_int(count));
}

/* Where the index is smaller than self beside its dim, or than src, only so much takes part. */
static bool part_decompose(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *index = node_in(n, "index"), *whole[MAX_RANK + 1];
    Value *src = node_takes(n, "src") ? node_in(n, "src") : NULL;
    int rank = index->type.rank, along = rank > 0 ? indexed_dim(c, n) : 0;
    bool fits = rank > 0 && rank == self->type.rank && (!src || src->type.rank == rank);
    bool smaller = false;
    for (int d = 0; fits && d < rank; d++) {
        int64_t size = index->type.dim[d];
        fits = (d == along || size <= self->type.dim[d]) && (!src || size <= src->type.dim[d]);
        smaller |= (d != along && size < self->type.dim[d]) || (src && size < src->type.dim[d]);
    }
    if (!fits || !smaller)
        return false;
    whole[0] = self;
    for (int d = 0; d < rank; d++) {
        whole[d + 1] = d == along ? whole[d] : first_of(g, n, whole[d], d, index->type.dim[d]);
        src = src ? first_of(g, n, src, d, index->type.dim[d]) : NULL;
    }
    Other other[2] = {{"self", whole[rank]}, {"src", src}};
    Value *y = row_of_others(c, g, n, other, src ? 2 : 1);
    for (int d = rank - 1; d >= 0; d--)
        if (whole[d] != whole[d + 1])
            y = MAKE("aten::slice_scatter", arg_value(whole[d]), arg_value(y), arg_int(d),
                     arg_int(0), arg_int(index->type.dim[d]));
    value_replace(g, n->out[0], y);
    return true;
}

static bool is_scatter(const Node *n) {
    return strncmp(op_schema(n->op)->name, "aten::scatter", strlen("aten::scatter")) == 0;
}

static void write_decompose(C *c, Graph *g, Node *n, const char *index, PlacesOf *of,
                            ChoicesOf *choices_of) {
    Value *self = node_in(n, "self");
    Choices x = {0};
    Places p = {0};
    if (is_varying(n, index)) {
        if (number_decompose(c, g, n) || (is_scatter(n) && part_decompose(c, g, n)))
            return;
        if (choices_of(c, g, n, &x))
            choices_write(c, g, n, &x);
        return;
    }
    if (!of(c, n, false, &p))
        return;
    if (p.count > 0) {
        Value *v = places_vector(c, g, n, &p);
        self =
            p.combine ? places_combine(c, g, n, &p, self, v) : places_write(c, g, n, &p, self, v);
    }
    value_replace(g, n->out[0], self);
}

#define WRITE_FUNCTIONS(op, index)                                                                 \
    static void op##_eval(C *c, Node *n) {                                                         \
        write_eval(c, n, op##_places);                                                             \
    }                                                                                              \
    static void op##_decompose(C *c, Graph *g, Node *n) {                                          \
        write_decompose(c, g, n, index, op##_places, op##_choices);                                \
    }

/* ---- index_put ----------------------------------------------------------------------------------
 */

/* from[i] over `over`: the element of a tensor of type `t` that broadcasts there. */
static int64_t *broadcast_numbers(C *c, const Node *n, const Type *t, const Type *over) {
    int64_t count = type_count(over);
    int64_t *from = NEW_ARRAY(c, int64_t, count + 1);
    for (int d = 0; d < t->rank; d++) {
        int k = d + over->rank - t->rank;
        if (t->dim[d] != 1 && (k < 0 || t->dim[d] != over->dim[k])) {
            movement_refuse(c, n, "values %s for places %s", shape_text(c, t->rank, t->dim),
                            shape_text(c, over->rank, over->dim));
            return NULL;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, step = 1;
        for (int k = over->rank - 1, d = t->rank - 1; k >= 0 && d >= 0; k--, d--) {
            from[i] += t->dim[d] > 1 ? rest % over->dim[k] * step : 0;
            step *= t->dim[d];
            rest /= over->dim[k];
        }
    }
    return from;
}

static bool index_put_places(C *c, const Node *n, bool running, Places *p) {
    Indexing x;
    if (!indexing_open(c, n, &x, running))
        return false;
    p->combine = node_bool(n, "accumulate") ? &combines[0] : NULL;
    p->source = node_in(n, "values");
    p->count = type_count(&x.out);
    p->to = indexing_sources(c, n, &x, running);
    p->from = p->to ? broadcast_numbers(c, n, &p->source->type, &x.out) : NULL;
    return p->to && p->from;
}

static bool index_put_choices(C *c, Graph *g, Node *n, Choices *x) {
    Value *self = node_in(n, "self"), *values = in_dtype_of_self(g, n, node_in(n, "values"));
    const Type *t = &self->type;
    int64_t flat = -1, spread[MAX_RANK], dims[MAX_RANK];
    Value *index = only_index(n, &x->dim);
    if (!index || index->type.dtype == DT_BOOL || x->dim >= t->rank)
        return movement_refuse(c, n, "no integer form: places that depend on data in two ways");
    Indexing form;
    if (!indexing_open(c, n, &form, false))
        return false;
    memcpy(spread, form.out.dim, sizeof spread);
    memcpy(dims, t->dim, sizeof dims);
    x->count = dims[x->dim] = type_count(&index->type);
    x->index = MAKE("aten::view", arg_value(index), arg_ints(c, 1, &flat));
    x->source = values;
    if (type_count(&values->type) > 1) {
        values = MAKE("aten::expand", arg_value(values), arg_ints(c, form.out.rank, spread));
        x->source = MAKE("aten::reshape", arg_value(values), arg_ints(c, t->rank, dims));
    }
    x->wraps = true;
    x->combine = node_bool(n, "accumulate") ? &combines[0] : NULL;
    return true;
}

/* x[mask] = one number needs no places: it is a choice. */
static bool mask_decompose(C *c, Graph *g, Node *n) {
    Value *self = node_in(n, "self"), *value = node_in(n, "values");
    int before = 0;
    Value *mask = only_index(n, &before);
    if (!mask || mask->constant || mask->type.dtype != DT_BOOL || type_count(&value->type) != 1 ||
        node_bool(n, "accumulate") || before + mask->type.rank > self->type.rank)
        return false;
    int64_t dim[MAX_RANK];
    int rank = self->type.rank - before;
    for (int d = 0; d < rank; d++)
        dim[d] = d < mask->type.rank ? mask->type.dim[d] : 1;
    mask = MAKE("aten::view", arg_value(mask), arg_ints(c, rank, dim));
    value = MAKE("aten::view", arg_value(value), arg_ints(c, 0, dim));
    value_replace(
        g, n->out[0],
        MAKE("aten::masked_fill.Tensor", arg_value(self), arg_value(mask), arg_value(value)));
    return true;
}

static void index_put_eval(C *c, Node *n) {
    write_eval(c, n, index_put_places);
}

/* Indices of several dims that depend on data become one, of these dims as one. */
static void merged_put_decompose(C *c, Graph *g, Node *n) {
    Merged m;
    int64_t order[MAX_RANK], back[MAX_RANK];
    if (!indexing_merge(c, g, n, &m))
        return;
    Value *values = node_in(n, "values"), *y;
    int rank = node_in(n, "self")->type.rank;
    if (type_count(&values->type) > 1) {
        merged_order(&m, true, order);
        values = MAKE("aten::expand", arg_value(values), arg_ints(c, m.out.rank, m.out.dim));
        values = MAKE("aten::permute", arg_value(values), arg_ints(c, m.out.rank, order));
    }
    y = MAKE("aten::index_put", arg_value(m.self), arg_values(c, 1, &m.index), arg_value(values),
             *node_arg(n, "accumulate"));
    for (int d = 0; d < rank; d++)
        back[m.order[d]] = d;
    y = MAKE("aten::view", arg_value(y), arg_ints(c, rank, m.dim));
    value_replace(g, n->out[0], MAKE("aten::permute", arg_value(y), arg_ints(c, rank, back)));
}

static void index_put_decompose(C *c, Graph *g, Node *n) {
    int before;
    if (is_varying(n, "indices") && !only_index(n, &before))
        merged_put_decompose(c, g, n);
    else if (!mask_decompose(c, g, n))
        write_decompose(c, g, n, "indices", index_put_places, index_put_choices);
}

/* ---- along one dim ----------------------------------------------------------------------------
 */

/* The places that `index` names along dim in self, over all of `over`. */
static bool places_along(C *c, const Node *n, bool running, const Type *over, bool vector,
                         Places *p) {
    const Array *at = index_data(c, node_in(n, "index"), running);
    const Type *self = &node_in(n, "self")->type;
    if (over->rank != self->rank)
        return movement_refuse(c, n, "rank %d for rank %d", over->rank, self->rank);
    p->count = type_count(over);
    p->to = at ? numbers_along(c, n, self, indexed_dim(c, n), at, over, vector) : NULL;
    return p->to != NULL;
}

/* Element i of `over` stands in a tensor of type t at the same index. */
static int64_t *numbers_within(C *c, const Node *n, const Type *t, const Type *over) {
    int64_t count = type_count(over), index[MAX_RANK] = {0};
    int64_t *number = NEW_ARRAY(c, int64_t, count + 1);
    for (int d = 0; d < over->rank; d++)
        if (t->rank != over->rank || t->dim[d] < over->dim[d]) {
            movement_refuse(c, n, "an index larger than src");
            return NULL;
        }
    for (int64_t i = 0; i < count; i++) {
        for (int d = 0; d < t->rank; d++)
            number[i] = number[i] * t->dim[d] + index[d];
        for (int d = over->rank - 1; d >= 0 && ++index[d] == over->dim[d]; d--)
            index[d] = 0;
    }
    return number;
}

/* An index for each element of src. */
static bool scatter_places(C *c, const Node *n, bool running, Places *p) {
    const Type *over = &node_in(n, "index")->type;
    if (!places_along(c, n, running, over, false, p))
        return false;
    p->source = node_in(n, "src");
    p->from = numbers_within(c, n, &p->source->type, over);
    return p->from != NULL;
}

static bool scatter_choices(C *c, Graph *g, Node *n, Choices *x) {
    const Type *src = &node_in(n, "src")->type;
    x->dim = indexed_dim(c, n);
    x->index = node_in(n, "index");
    x->count = x->index->type.rank > 0 ? x->index->type.dim[x->dim] : 1;
    if (!index_covers(c, n, x, &x->index->type) || !index_covers(c, n, x, src))
        return false;
    x->source = in_dtype_of_self(g, n, node_in(n, "src"));
    return true;
}
WRITE_FUNCTIONS(scatter, "index")

static bool scatter_add_places(C *c, const Node *n, bool running, Places *p) {
    p->combine = &combines[0];
    return scatter_places(c, n, running, p);
}

static bool scatter_add_choices(C *c, Graph *g, Node *n, Choices *x) {
    x->combine = &combines[0];
    return scatter_choices(c, g, n, x);
}
WRITE_FUNCTIONS(scatter_add, "index")

/* The row's `reduce`, and whether what self has counts. */
static const Combine *combine_asked(C *c, const Node *n) {
    const char *reduce = node_string(n, "reduce");
    for (size_t i = 0; i < COUNT_OF(combines); i++)
        if (text_equal(combines[i].name, reduce))
            return &combines[i];
    movement_refuse(c, n, "reduce=\"%s\"", reduce);
    return NULL;
}

static bool reduce_places(C *c, const Node *n, Places *p) {
    p->combine = combine_asked(c, n);
    p->fresh = node_takes(n, "include_self") && !node_bool(n, "include_self");
    p->averages = p->combine && text_equal(p->combine->name, "mean");
    return p->combine != NULL;
}

static bool reduce_choices(C *c, const Node *n, Choices *x) {
    x->combine = combine_asked(c, n);
    if (x->combine && text_equal(x->combine->name, "mean"))
        return movement_refuse(c, n,
                               "no integer form: reduce=\"mean\" at places that depend on data");
    if (node_takes(n, "include_self") && !node_bool(n, "include_self"))
        return movement_refuse(c, n,
                               "no integer form: include_self=False at places that depend on data");
    return x->combine != NULL;
}

static bool scatter_reduce_places(C *c, const Node *n, bool running, Places *p) {
    return reduce_places(c, n, p) && scatter_places(c, n, running, p);
}

static bool scatter_reduce_choices(C *c, Graph *g, Node *n, Choices *x) {
    return reduce_choices(c, n, x) && scatter_choices(c, g, n, x);
}
WRITE_FUNCTIONS(scatter_reduce, "index")

static Value *value_argument(C *c, Graph *g, Node *n) {
    Array *a = array_new(c, node_in(n, "self")->type.dtype, 0, NULL);
    array_set(a, 0, node_double(n, "value"));
    return value_constant(g, "value", a);
}

static bool scatter_value_places(C *c, const Node *n, bool running, Places *p) {
    p->value = node_double(n, "value");
    return places_along(c, n, running, &node_in(n, "index")->type, false, p);
}

static bool scatter_value_choices(C *c, Graph *g, Node *n, Choices *x) {
    x->dim = indexed_dim(c, n);
    x->index = node_in(n, "index");
    x->count = x->index->type.rank > 0 ? x->index->type.dim[x->dim] : 1;
    x->source = value_argument(c, g, n);
    return index_covers(c, n, x, &x->index->type);
}
WRITE_FUNCTIONS(scatter_value, "index")

static bool scatter_value_reduce_places(C *c, const Node *n, bool running, Places *p) {
    return reduce_places(c, n, p) && scatter_value_places(c, n, running, p);
}

static bool scatter_value_reduce_choices(C *c, Graph *g, Node *n, Choices *x) {
    return reduce_choices(c, n, x) && scatter_value_choices(c, g, n, x);
}
WRITE_FUNCTIONS(scatter_value_reduce, "index")

/* An index for each slice of source. */
static bool index_copy_places(C *c, const Node *n, bool running, Places *p) {
    p->source = node_in(n, "source");
    if (!places_along(c, n, running, &p->source->type, true, p))
        return false;
    p->from = numbers_within(c, n, &p->source->type, &p->source->type);
    return p->from != NULL;
}

static bool vector_choices(C *c, Graph *g, Node *n, Choices *x) {
    int64_t flat = -1;
    x->dim = indexed_dim(c, n);
    x->count = type_count(&node_in(n, "index")->type);
    x->index = MAKE("aten::view", arg_value(node_in(n, "index")), arg_ints(c, 1, &flat));
    return node_in(n, "self")->type.rank > 0 ||
           movement_refuse(c, n, "no integer form: a tensor of rank 0");
}

static bool index_copy_choices(C *c, Graph *g, Node *n, Choices *x) {
    x->source = in_dtype_of_self(g, n, node_in(n, "source"));
    return vector_choices(c, g, n, x);
}
WRITE_FUNCTIONS(index_copy, "index")

static bool index_add_places(C *c, const Node *n, bool running, Places *p) {
    p->combine = &combines[0];
    p->alpha = node_double(n, "alpha");
    return index_copy_places(c, n, running, p);
}

static bool index_add_choices(C *c, Graph *g, Node *n, Choices *x) {
    x->combine = &combines[0];
    if (!index_copy_choices(c, g, n, x))
        return false;
    if (node_double(n, "alpha") != 1)
        x->source = MAKE("aten::mul.Scalar", arg_value(x->source), *node_arg(n, "alpha"));
    return true;
}
WRITE_FUNCTIONS(index_add, "index")

static bool index_reduce_places(C *c, const Node *n, bool running, Places *p) {
    return reduce_places(c, n, p) && index_copy_places(c, n, running, p);
}

static bool index_reduce_choices(C *c, Graph *g, Node *n, Choices *x) {
    return reduce_choices(c, n, x) && index_copy_choices(c, g, n, x);
}
WRITE_FUNCTIONS(index_reduce, "index")

static bool index_fill_places(C *c, const Node *n, bool running, Places *p) {
    Type over = node_in(n, "self")->type;
    if (over.rank > 0)
        over.dim[indexed_dim(c, n)] = type_count(&node_in(n, "index")->type);
    p->value = node_double(n, "value");
    return places_along(c, n, running, &over, true, p);
}

static bool index_fill_choices(C *c, Graph *g, Node *n, Choices *x) {
    x->source = value_argument(c, g, n);
    return vector_choices(c, g, n, x);
}
WRITE_FUNCTIONS(index_fill, "index")

/* One number everywhere, that may vary itself. */
static bool index_fill_value_places(C *c, const Node *n, bool running, Places *p) {
    Type over = node_in(n, "self")->type;
    if (over.rank > 0)
        over.dim[indexed_dim(c, n)] = type_count(&node_in(n, "index")->type);
    p->source = node_in(n, "value");
    if (type_count(&p->source->type) != 1)
        return movement_refuse(c, n, "a value of %s",
                               shape_text(c, p->source->type.rank, p->source->type.dim));
    if (!places_along(c, n, running, &over, true, p))
        return false;
    p->from = NEW_ARRAY(c, int64_t, p->count + 1);
    return true;
}

static bool index_fill_value_choices(C *c, Graph *g, Node *n, Choices *x) {
    x->source = in_dtype_of_self(g, n, node_in(n, "value"));
    return vector_choices(c, g, n, x);
}
WRITE_FUNCTIONS(index_fill_value, "index")

/* ---- rows -------------------------------------------------------------------------------------
 */

#define WRITES(text, op)                                                                           \
    { .schema = text, .shape = shape_same, .eval = op##_eval, .decompose = op##_decompose }

static const Op rows[] = {
    WRITES("aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) "
           "-> Tensor",
           index_put),
    WRITES("aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
           "accumulate=False) -> Tensor",
           index_put),
    WRITES("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatter),
    WRITES("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
           scatter_value),
    WRITES("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
           scatter_add),
    WRITES("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> "
           "Tensor",
           scatter_reduce),
    WRITES("aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str "
           "reduce) -> Tensor",
           scatter_value_reduce),
    WRITES("aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, "
           "*, bool include_self=True) -> Tensor",
           scatter_reduce),
    WRITES("aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
           "bool include_self=True) -> Tensor",
           index_reduce),
    WRITES("aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
           index_copy),
    WRITES("aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) "
           "-> Tensor",
           index_add),
    WRITES("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> "
           "Tensor",
           index_fill),
    WRITES("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> "
           "Tensor",
           index_fill_value),
};

OPS_FAMILY(put, rows);
