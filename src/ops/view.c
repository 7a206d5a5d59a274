/* Views: operators whose output is a strided picture of their operand. Each has one function that
 * fills in the picture of output k (a Strided); shape and eval follow from it, and lowering, which
 * runs eval on element numbers. The picture is of the operand's elements in row-major order,
 * whatever memory they lie in: strides of the archive matter to functionalize only. */
#include "ops/ops.h"

#include <stdarg.h>
#include <string.h>

/* ---- pictures ------------------------------------------------------------------------------ */

Strided strided_dense(int rank, const int64_t *dim) {
    Strided s = {.rank = rank};
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        s.dim[d] = dim[d];
        s.stride[d] = stride;
        stride *= dim[d] > 0 ? dim[d] : 1;
    }
    return s;
}

bool strided_is_dense(const Strided *s) {
    int64_t stride = 1;
    for (int d = s->rank - 1; d >= 0; d--) {
        if (s->dim[d] != 1 && s->stride[d] != stride)
            return false;
        stride *= s->dim[d];
    }
    return s->offset == 0;
}

Value *movement_input(const Node *n) {
    return node_operand(n, 0);
}

const Array *eval_movement_input(C *c, Node *n) {
    return eval_value(c, movement_input(n));
}

void elements_copy(Array *out, int64_t to, const Array *in, int64_t from, int64_t count) {
    size_t size = (size_t)dtype_size(in->dtype);
    memcpy((char *)out->data + (size_t)to * size, (const char *)in->data + (size_t)from * size,
           (size_t)count * size);
}

void eval_strided(Array *out, const Array *in, const Strided *s) {
    int64_t count = array_count(out), index[MAX_RANK] = {0}, from = s->offset;
    if (strided_is_dense(s)) {
        elements_copy(out, 0, in, 0, count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        elements_copy(out, i, in, from, 1);
        for (int d = s->rank - 1; d >= 0; d--) {
            from += s->stride[d];
            if (++index[d] < s->dim[d])
                break;
            from -= s->stride[d] * s->dim[d];
            index[d] = 0;
        }
    }
}

void picture_shape(C *c, Node *n, Picture *picture) {
    const Type *t = &movement_input(n)->type;
    for (int k = 0; k < n->out_count; k++) {
        Strided s = strided_dense(t->rank, t->dim);
        if (!picture(c, n, k, &s))
            s = strided_dense(t->rank, t->dim);
        node_set_type(n, k, t->dtype, s.rank, s.dim);
    }
}

void picture_eval(C *c, Node *n, Picture *picture) {
    const Array *in = eval_movement_input(c, n);
    for (int k = 0; k < n->out_count; k++) {
        Strided s = strided_dense(in->rank, in->dim);
        if (picture(c, n, k, &s))
            eval_strided(eval_out(c, n, k), in, &s);
    }
}

bool movement_refuse(C *c, const Node *n, const char *format, ...) {
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    diag_error(c, DIAG_MODEL, &n->loc, "%s: %s", node_operator(n), text);
    return false;
}

/* ---- the same elements in another shape ------------------------------------------------------ */

/* Becomes dense over `dim`, where one -1 stands for what is left. */
static bool reshape_to(C *c, const Node *n, Strided *s, int rank, const int64_t *dim) {
    int64_t count = dims_count(s->rank, s->dim), known = 1, shape[MAX_RANK];
    int open = -1;
    if (rank > MAX_RANK)
        return movement_refuse(c, n, "rank %d, at most %d", rank, MAX_RANK);
    for (int d = 0; d < rank; d++) {
        shape[d] = dim[d];
        if (dim[d] == -1 && open < 0)
            open = d;
        else if (dim[d] < 0 || __builtin_mul_overflow(known, dim[d], &known))
            return movement_refuse(c, n, "size %lld in the shape", (long long)dim[d]);
    }
    if (open >= 0 && known > 0)
        shape[open] = count / known;
    if (open >= 0 ? known == 0 || count % known != 0 : known != count)
        return movement_refuse(c, n, "%s does not fit into %s", shape_text(c, s->rank, s->dim),
                               shape_text(c, rank, dim));
    *s = strided_dense(rank, shape);
    return true;
}

static bool sizes_picture(C *c, const Node *n, const char *arg, Strided *s) {
    int64_t size[MAX_RANK];
    int rank = node_ints(n, arg, size, MAX_RANK);
    return reshape_to(c, n, s, rank, size);
}

static bool view_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return sizes_picture(c, n, "size", s);
}
PICTURE_FUNCTIONS(view)

/* The bits as another dtype: only where nothing changes. */
static void view_dtype_shape(C *c, Node *n) {
    const Type *t = &movement_input(n)->type;
    const Arg *dtype = node_arg(n, "dtype");
    if (dtype->kind != ARG_DTYPE || dtype->u.dtype != t->dtype)
        movement_refuse(c, n, "no integer form: bits of %s as %s", dtype_name(t->dtype),
                        dtype->kind == ARG_DTYPE ? dtype_name(dtype->u.dtype) : "None");
    n->out[0]->type = *t;
}

static void view_dtype_eval(C *c, Node *n) {
    const Array *in = eval_movement_input(c, n);
    elements_copy(eval_out(c, n, 0), 0, in, 0, array_count(in));
}

static bool reshape_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return sizes_picture(c, n, "shape", s);
}
PICTURE_FUNCTIONS(reshape)

static bool view_as_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    const Type *t = &node_in(n, "other")->type;
    return reshape_to(c, n, s, t->rank, t->dim);
}
PICTURE_FUNCTIONS(view_as)

static bool flatten_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    if (s->rank == 0)
        return reshape_to(c, n, s, 1, (const int64_t[]){1});
    int first = dim_wrap(c, n, node_int(n, "start_dim"), s->rank);
    int last = dim_wrap(c, n, node_int(n, "end_dim"), s->rank), rank = 0;
    int64_t dim[MAX_RANK];
    if (first > last)
        return movement_refuse(c, n, "start_dim %d is behind end_dim %d", first, last);
    for (int d = 0; d < s->rank; d++) {
        if (d > first && d <= last)
            dim[rank - 1] *= s->dim[d];
        else
            dim[rank++] = s->dim[d];
    }
    return reshape_to(c, n, s, rank, dim);
}
PICTURE_FUNCTIONS(flatten)

static bool ravel_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return reshape_to(c, n, s, 1, (const int64_t[]){dims_count(s->rank, s->dim)});
}
PICTURE_FUNCTIONS(ravel)

static bool unflatten_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    int64_t size[MAX_RANK], dim[2 * MAX_RANK];
    int count = node_ints(n, "sizes", size, MAX_RANK);
    int at = dim_wrap(c, n, node_int(n, "dim"), s->rank), rank = 0;
    if (count > MAX_RANK || s->rank == 0)
        return movement_refuse(c, n, "%d sizes for a tensor of rank %d", count, s->rank);
    Strided part = strided_dense(1, &s->dim[at]); /* -1 is of this dimension alone */
    if (!reshape_to(c, n, &part, count, size))
        return false;
    for (int d = 0; d < s->rank; d++) {
        if (d != at)
            dim[rank++] = s->dim[d];
        for (int i = 0; d == at && i < count; i++)
            dim[rank++] = part.dim[i];
    }
    return reshape_to(c, n, s, rank, dim);
}
PICTURE_FUNCTIONS(unflatten)

/* ---- dimensions of size 1 ------------------------------------------------------------------- */

static void squeeze_dims(Strided *s, const bool *wanted) {
    int rank = 0;
    for (int d = 0; d < s->rank; d++) {
        if (wanted[d] && s->dim[d] == 1)
            continue;
        s->dim[rank] = s->dim[d];
        s->stride[rank++] = s->stride[d];
    }
    s->rank = rank;
}

static bool squeeze_picture(C *c, const Node *n, int k, Strided *s) {
    (void)c;
    (void)n;
    (void)k;
    bool all[MAX_RANK];
    memset(all, true, sizeof all);
    squeeze_dims(s, all);
    return true;
}
PICTURE_FUNCTIONS(squeeze)

/* squeeze.dim and squeeze.dims: `dim` is one int or a list. */
static bool squeeze_dim_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    bool wanted[MAX_RANK] = {false};
    int64_t dim[MAX_RANK];
    int count = 1;
    if (node_arg(n, "dim")->kind == ARG_LIST)
        count = node_ints(n, "dim", dim, MAX_RANK);
    else
        dim[0] = node_int(n, "dim");
    if (count > MAX_RANK)
        return movement_refuse(c, n, "%d dims", count);
    for (int i = 0; s->rank > 0 && i < count; i++)
        wanted[dim_wrap(c, n, dim[i], s->rank)] = true;
    squeeze_dims(s, wanted);
    return true;
}
PICTURE_FUNCTIONS(squeeze_dim)

static bool insert_dim(C *c, const Node *n, Strided *s, int at) {
    if (s->rank == MAX_RANK)
        return movement_refuse(c, n, "rank %d, at most %d", s->rank + 1, MAX_RANK);
    for (int d = s->rank; d > at; d--) {
        s->dim[d] = s->dim[d - 1];
        s->stride[d] = s->stride[d - 1];
    }
    s->stride[at] = at < s->rank ? s->stride[at + 1] * s->dim[at + 1] : 1;
    s->dim[at] = 1;
    s->rank++;
    return true;
}

static bool unsqueeze_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return insert_dim(c, n, s, dim_wrap(c, n, node_int(n, "dim"), s->rank + 1));
}
PICTURE_FUNCTIONS(unsqueeze)

/* Where atleast_Nd puts the dimensions it adds: in front, but behind the second for 3-d. */
static bool at_least(C *c, const Node *n, Strided *s, int rank) {
    while (s->rank < rank)
        if (!insert_dim(c, n, s, rank == 3 && s->rank == 2 ? 2 : 0))
            return false;
    return true;
}

static bool atleast_1d_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return at_least(c, n, s, 1);
}
PICTURE_FUNCTIONS(atleast_1d)

static bool atleast_2d_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return at_least(c, n, s, 2);
}
PICTURE_FUNCTIONS(atleast_2d)

static bool atleast_3d_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return at_least(c, n, s, 3);
}
PICTURE_FUNCTIONS(atleast_3d)

/* ---- other orders of dimensions ------------------------------------------------------------- */

/* Output dim d is input dim from[d]. */
static void permute_dims(Strided *s, const int *from) {
    Strided old = *s;
    for (int d = 0; d < s->rank; d++) {
        s->dim[d] = old.dim[from[d]];
        s->stride[d] = old.stride[from[d]];
    }
}

static bool permute_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    int64_t dim[MAX_RANK];
    int from[MAX_RANK], count = node_ints(n, "dims", dim, MAX_RANK);
    bool used[MAX_RANK] = {false};
    if (count != s->rank)
        return movement_refuse(c, n, "%d dims for a tensor of rank %d", count, s->rank);
    for (int d = 0; d < count; d++) {
        from[d] = dim_wrap(c, n, dim[d], s->rank);
        if (used[from[d]])
            return movement_refuse(c, n, "dim %lld twice", (long long)dim[d]);
        used[from[d]] = true;
    }
    permute_dims(s, from);
    return true;
}
PICTURE_FUNCTIONS(permute)

static bool swap_dims(Strided *s, int a, int b) {
    int from[MAX_RANK];
    for (int d = 0; d < s->rank; d++)
        from[d] = d == a ? b : d == b ? a : d;
    permute_dims(s, from);
    return true;
}

static bool swap_named(C *c, const Node *n, Strided *s, const char *a, const char *b) {
    if (s->rank == 0)
        return true;
    return swap_dims(s, dim_wrap(c, n, node_int(n, a), s->rank),
                     dim_wrap(c, n, node_int(n, b), s->rank));
}

static bool transpose_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return swap_named(c, n, s, "dim0", "dim1");
}
PICTURE_FUNCTIONS(transpose)

static bool swapaxes_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    return swap_named(c, n, s, "axis0", "axis1");
}
PICTURE_FUNCTIONS(swapaxes)

static bool t_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    if (s->rank > 2)
        return movement_refuse(c, n, "rank %d, at most 2", s->rank);
    return s->rank < 2 || swap_dims(s, 0, 1);
}
PICTURE_FUNCTIONS(t)

/* mT, mH, adjoint and matrix_H: the last two dims; conjugation does nothing to real numbers. */
static bool matrix_t_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    if (s->rank == 0)
        return true;
    if (s->rank == 1)
        return movement_refuse(c, n, "rank 1, at least 2");
    return swap_dims(s, s->rank - 2, s->rank - 1);
}
PICTURE_FUNCTIONS(matrix_t)

static bool numpy_t_picture(C *c, const Node *n, int k, Strided *s) {
    (void)c;
    (void)n;
    (void)k;
    int from[MAX_RANK];
    for (int d = 0; d < s->rank; d++)
        from[d] = s->rank - 1 - d;
    permute_dims(s, from);
    return true;
}
PICTURE_FUNCTIONS(numpy_t)

/* `source` and `destination` are one int each or lists of the same length. */
static bool movedim_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    int64_t source[MAX_RANK], destination[MAX_RANK];
    int count = 1, from[MAX_RANK], next = 0;
    bool moved[MAX_RANK] = {false};
    if (s->rank == 0)
        return true;
    if (node_arg(n, "source")->kind == ARG_LIST) {
        count = node_ints(n, "source", source, MAX_RANK);
        if (count > MAX_RANK || node_ints(n, "destination", destination, MAX_RANK) != count)
            return movement_refuse(c, n, "source and destination differ in length");
    } else {
        source[0] = node_int(n, "source");
        destination[0] = node_int(n, "destination");
    }
    for (int d = 0; d < s->rank; d++)
        from[d] = -1;
    for (int i = 0; i < count; i++) {
        int a = dim_wrap(c, n, source[i], s->rank), b = dim_wrap(c, n, destination[i], s->rank);
        if (moved[a] || from[b] >= 0)
            return movement_refuse(c, n, "a dim twice");
        moved[a] = true;
        from[b] = a;
    }
    for (int d = 0; d < s->rank; d++) {
        if (from[d] >= 0)
            continue;
        while (moved[next])
            next++;
        from[d] = next++;
    }
    permute_dims(s, from);
    return true;
}
PICTURE_FUNCTIONS(movedim)

/* ---- repeated without copies ---------------------------------------------------------------- */

static bool expand_to(C *c, const Node *n, Strided *s, int rank, const int64_t *size) {
    Strided old = *s;
    int added = rank - s->rank;
    if (rank > MAX_RANK || added < 0)
        return movement_refuse(c, n, "a tensor of rank %d to rank %d", s->rank, rank);
    for (int d = 0; d < rank; d++) {
        bool is_new = d < added;
        int64_t have = is_new ? 1 : old.dim[d - added];
        int64_t want = size[d] == -1 && !is_new ? have : size[d];
        if (want < 0 || (have != want && have != 1))
            return movement_refuse(c, n, "%s does not expand to %s",
                                   shape_text(c, old.rank, old.dim), shape_text(c, rank, size));
        s->dim[d] = want;
        s->stride[d] = is_new || have != want ? 0 : old.stride[d - added];
    }
    s->rank = rank;
    return true;
}

static bool expand_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    int64_t size[MAX_RANK];
    int rank = node_ints(n, "size", size, MAX_RANK);
    return expand_to(c, n, s, rank, size);
}
PICTURE_FUNCTIONS(expand)

static bool expand_as_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    const Type *t = &node_in(n, "other")->type;
    return expand_to(c, n, s, t->rank, t->dim);
}
PICTURE_FUNCTIONS(expand_as)

/* ---- parts ---------------------------------------------------------------------------------- */

bool select_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    if (s->rank == 0)
        return movement_refuse(c, n, "a tensor of rank 0");
    int at = dim_wrap(c, n, node_int(n, "dim"), s->rank);
    int64_t given = node_int(n, "index"), index = given < 0 ? given + s->dim[at] : given;
    if (index < 0 || index >= s->dim[at])
        return movement_refuse(c, n, "index %lld of a dimension of %lld", (long long)given,
                               (long long)s->dim[at]);
    s->offset += index * s->stride[at];
    for (int d = at; d + 1 < s->rank; d++) {
        s->dim[d] = s->dim[d + 1];
        s->stride[d] = s->stride[d + 1];
    }
    s->rank--;
    return true;
}
PICTURE_FUNCTIONS(select)

int64_t slice_index(int64_t i, int64_t size) {
    if (i < 0)
        i = i < -size ? 0 : i + size;
    return i > size ? size : i;
}

bool slice_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    if (s->rank == 0)
        return movement_refuse(c, n, "a tensor of rank 0");
    int d = dim_wrap(c, n, node_int(n, "dim"), s->rank);
    int64_t step = node_int(n, "step"), size = s->dim[d];
    int64_t start = slice_index(node_has(n, "start") ? node_int(n, "start") : 0, size);
    int64_t stop = slice_index(node_has(n, "end") ? node_int(n, "end") : size, size);
    if (step < 1)
        return movement_refuse(c, n, "step %lld, at least 1", (long long)step);
    s->dim[d] = stop > start ? (stop - start - 1) / step + 1 : 0;
    s->offset += s->dim[d] > 0 ? start * s->stride[d] : 0;
    s->stride[d] *= s->dim[d] > 1 ? step : 1;
    return true;
}
PICTURE_FUNCTIONS(slice)

/* start .. start + length of dim d. */
bool picture_narrow(C *c, const Node *n, Strided *s, int d, int64_t start, int64_t length) {
    if (start < 0 || length < 0 || start > s->dim[d] || length > s->dim[d] - start)
        return movement_refuse(c, n, "%lld elements from %lld of a dimension of %lld",
                               (long long)length, (long long)start, (long long)s->dim[d]);
    s->dim[d] = length;
    s->offset += length > 0 ? start * s->stride[d] : 0;
    return true;
}

static bool narrow_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    if (s->rank == 0)
        return movement_refuse(c, n, "a tensor of rank 0");
    int d = dim_wrap(c, n, node_int(n, "dim"), s->rank);
    int64_t start = node_int(n, "start");
    return picture_narrow(c, n, s, d, start < 0 ? start + s->dim[d] : start, node_int(n, "length"));
}
PICTURE_FUNCTIONS(narrow)

bool diagonal_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    if (s->rank < 2)
        return movement_refuse(c, n, "rank %d, at least 2", s->rank);
    int64_t offset = node_int(n, "offset");
    offset = offset < -INT32_MAX ? -INT32_MAX : offset > INT32_MAX ? INT32_MAX : offset;
    int a = dim_wrap(c, n, node_int(n, "dim1"), s->rank);
    int b = dim_wrap(c, n, node_int(n, "dim2"), s->rank), rank = 0;
    if (a == b)
        return movement_refuse(c, n, "dim1 and dim2 are the same");
    Strided old = *s;
    int64_t skip_a = offset < 0 ? -offset : 0, skip_b = offset > 0 ? offset : 0;
    int64_t rows = old.dim[a] > skip_a ? old.dim[a] - skip_a : 0;
    int64_t columns = old.dim[b] > skip_b ? old.dim[b] - skip_b : 0;
    int64_t length = rows < columns ? rows : columns;
    for (int d = 0; d < old.rank; d++) {
        if (d == a || d == b)
            continue;
        s->dim[rank] = old.dim[d];
        s->stride[rank++] = old.stride[d];
    }
    s->dim[rank] = length;
    s->stride[rank++] = old.stride[a] + old.stride[b];
    s->rank = rank;
    s->offset += length > 0 ? skip_a * old.stride[a] + skip_b * old.stride[b] : 0;
    return true;
}
PICTURE_FUNCTIONS(diagonal)

static bool unfold_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    int64_t size = node_int(n, "size"), step = node_int(n, "step");
    if (s->rank == 0 || s->rank == MAX_RANK)
        return movement_refuse(c, n, "a tensor of rank %d", s->rank);
    int d = dim_wrap(c, n, node_int(n, "dimension"), s->rank);
    if (size < 0 || size > s->dim[d] || step < 1)
        return movement_refuse(c, n, "size %lld, step %lld of a dimension of %lld", (long long)size,
                               (long long)step, (long long)s->dim[d]);
    s->dim[s->rank] = size;
    s->stride[s->rank++] = s->stride[d];
    s->dim[d] = (s->dim[d] - size) / step + 1;
    s->stride[d] *= s->dim[d] > 1 ? step : 1;
    return true;
}
PICTURE_FUNCTIONS(unfold)

/* Functionalize has turned storage offsets and strides into those of row-major elements. */
bool as_strided_picture(C *c, const Node *n, int k, Strided *s) {
    (void)k;
    int64_t count = dims_count(s->rank, s->dim), most;
    Strided out = {0};
    out.rank = node_ints(n, "size", out.dim, MAX_RANK);
    int strides = node_ints(n, "stride", out.stride, MAX_RANK);
    out.offset = most = node_has(n, "storage_offset") ? node_int(n, "storage_offset") : 0;
    bool empty = false, wrong = out.rank > MAX_RANK || strides != out.rank || out.offset < 0;
    for (int d = 0; !wrong && d < out.rank; d++) {
        int64_t reach = 0;
        empty |= out.dim[d] == 0;
        wrong = out.dim[d] < 0 || out.stride[d] < 0 ||
                (out.dim[d] > 0 && (__builtin_mul_overflow(out.dim[d] - 1, out.stride[d], &reach) ||
                                    __builtin_add_overflow(most, reach, &most)));
    }
    if (wrong || (!empty && most >= count))
        return movement_refuse(c, n, "sizes and strides reach outside of %lld elements",
                               (long long)count);
    *s = out;
    return true;
}
PICTURE_FUNCTIONS(as_strided)

/* ---- rows ----------------------------------------------------------------------------------- */

#define VIEW(text, op, more)                                                                       \
    {                                                                                              \
        .schema = text, .traits = OP_MOVES_DATA | (more), .shape = op##_shape, .eval = op##_eval,  \
        .quant = {.out = {Q_SAME}}, .lower = lower_movement                                        \
    }

static const Op rows[] = {
    VIEW("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", view, 0),
    VIEW("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", view_dtype, 0),
    VIEW("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", view, 0),
    VIEW("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", view,
         0),
    VIEW("aten::_reshape_copy(Tensor self, SymInt[] size) -> Tensor", view, 0),
    VIEW("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", reshape,
         OP_MAY_RETURN_INPUT),
    VIEW("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", view_as, 0),
    VIEW("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", view_as,
         OP_MAY_RETURN_INPUT),
    VIEW("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
         flatten, OP_MAY_RETURN_INPUT),
    VIEW("aten::ravel(Tensor(a) self) -> Tensor(a)", ravel, OP_MAY_RETURN_INPUT),
    VIEW("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", unflatten, 0),
    VIEW("aten::squeeze(Tensor(a) self) -> Tensor(a)", squeeze, OP_VIEW_INPLACE),
    VIEW("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", squeeze_dim, OP_VIEW_INPLACE),
    VIEW("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeeze_dim,
         OP_VIEW_INPLACE),
    VIEW("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", unsqueeze, OP_VIEW_INPLACE),
    VIEW("aten::atleast_1d(Tensor self) -> Tensor", atleast_1d, OP_MAY_RETURN_INPUT),
    VIEW("aten::atleast_2d(Tensor self) -> Tensor", atleast_2d, OP_MAY_RETURN_INPUT),
    VIEW("aten::atleast_3d(Tensor self) -> Tensor", atleast_3d, OP_MAY_RETURN_INPUT),
    VIEW("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", permute, 0),
    VIEW("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose,
         OP_VIEW_INPLACE),
    VIEW("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose,
         OP_VIEW_INPLACE),
    VIEW("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", swapaxes,
         OP_VIEW_INPLACE),
    VIEW("aten::t(Tensor(a) self) -> Tensor(a)", t, OP_VIEW_INPLACE),
    VIEW("aten::numpy_T(Tensor(a) self) -> Tensor(a)", numpy_t, 0),
    VIEW("aten::mT(Tensor(a) self) -> Tensor(a)", matrix_t, 0),
    VIEW("aten::mH(Tensor(a) self) -> Tensor(a)", matrix_t, 0),
    VIEW("aten::adjoint(Tensor(a) self) -> Tensor(a)", matrix_t, 0),
    VIEW("aten::matrix_H(Tensor(a) self) -> Tensor(a)", matrix_t, 0),
    VIEW("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", movedim, 0),
    VIEW("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
         movedim, 0),
    VIEW("aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", movedim,
         0),
    VIEW("aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
         movedim, 0),
    VIEW("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", expand,
         0),
    VIEW("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", expand, 0),
    VIEW("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", expand_as, 0),
    VIEW("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", select, 0),
    VIEW("aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
         "SymInt step=1) -> Tensor(a)",
         slice, 0),
    VIEW("aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", narrow,
         0),
    VIEW("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
         diagonal, 0),
    VIEW("aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> "
         "Tensor(a)",
         diagonal, 0),
    VIEW("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", unfold, 0),
    VIEW("aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? "
         "storage_offset=None) -> Tensor(a)",
         as_strided, OP_VIEW_INPLACE),
};

OPS_FAMILY(view, rows);
