/* Operators that cut a dimension into pieces, each piece an output that is a view. Each overload
 * has one function that says where piece k lies; decomposed they are slices. */
#include "ops/ops.h"

typedef struct {
    int dim, count; /* count: of pieces */
    int64_t start, length;
} Piece;

/* Piece k of a dimension of `size` elements. False: a diagnostic is recorded. */
typedef bool PieceOf(C *c, const Node *n, int k, int64_t size, Piece *p);

static bool equal_pieces(C *c, const Node *n, int64_t each, int k, int64_t size, Piece *p) {
    if (each < 1 && size > 0)
        return movement_refuse(c, n, "pieces of %lld elements", (long long)each);
    int64_t count = size > 0 ? (size - 1) / each + 1 : 1;
    p->count = count > INT32_MAX ? INT32_MAX : (int)count;
    p->start = size > 0 && k < count ? k * each : 0;
    p->length = size - p->start < each ? size - p->start : each;
    return true;
}

static bool split_piece(C *c, const Node *n, int k, int64_t size, Piece *p) {
    return equal_pieces(c, n, node_int(n, "split_size"), k, size, p);
}

static bool chunk_piece(C *c, const Node *n, int k, int64_t size, Piece *p) {
    int64_t chunks = node_int(n, "chunks");
    if (chunks < 1)
        return movement_refuse(c, n, "%lld chunks", (long long)chunks);
    if (size == 0) { /* torch keeps the number of chunks then, all empty */
        p->count = chunks > INT32_MAX ? INT32_MAX : (int)chunks;
        p->start = p->length = 0;
        return true;
    }
    return equal_pieces(c, n, (size - 1) / chunks + 1, k, size, p);
}

/* A list argument of any length. */
static const Arg *list_item(const Node *n, const char *name, int *count) {
    const Arg *a = node_arg(n, name);
    *count = a->kind == ARG_LIST ? a->u.list.count : 0;
    return *count > 0 ? a->u.list.item : NULL;
}

static bool sized_piece(C *c, const Node *n, const char *name, int k, int64_t size, Piece *p) {
    const Arg *item = list_item(n, name, &p->count);
    int64_t start = 0;
    for (int i = 0; i < p->count; i++) {
        int64_t length = item[i].kind == ARG_INT ? item[i].u.i : -1;
        if (length < 0 || length > size - start)
            return movement_refuse(c, n, "piece %d does not fit into %lld elements", i,
                                   (long long)size);
        if (i == k) {
            p->start = start;
            p->length = length;
        }
        start += length;
    }
    if (start != size)
        return movement_refuse(c, n, "the pieces have %lld of %lld elements", (long long)start,
                               (long long)size);
    return true;
}

static bool split_sizes_piece(C *c, const Node *n, int k, int64_t size, Piece *p) {
    return sized_piece(c, n, "split_sizes", k, size, p);
}

static bool split_size_list_piece(C *c, const Node *n, int k, int64_t size, Piece *p) {
    return sized_piece(c, n, "split_size", k, size, p);
}

/* The first size % sections pieces have one element more. */
static bool sections_piece(C *c, const Node *n, int k, int64_t size, Piece *p) {
    int64_t sections = node_int(n, "sections");
    if (sections < 1)
        return movement_refuse(c, n, "%lld sections", (long long)sections);
    int64_t each = size / sections, longer = size % sections;
    p->count = sections > INT32_MAX ? INT32_MAX : (int)sections;
    if (k >= p->count)
        return true;
    p->start = k * each + (k < longer ? k : longer);
    p->length = each + (k < longer);
    return true;
}

static bool indices_piece(C *c, const Node *n, int k, int64_t size, Piece *p) {
    (void)c;
    int count;
    const Arg *item = list_item(n, "indices", &count);
    p->count = count + 1;
    int64_t start = k > 0 && k <= count ? slice_index(item[k - 1].u.i, size) : 0;
    int64_t stop = k < count ? slice_index(item[k].u.i, size) : size;
    p->start = start;
    p->length = stop > start ? stop - start : 0;
    return true;
}

/* hsplit, vsplit and dsplit have no `dim`: it follows from the name. */
static int piece_dim(C *c, const Node *n, int rank) {
    if (node_is(n, "aten::hsplit"))
        return rank > 1 ? 1 : 0;
    if (node_is(n, "aten::vsplit"))
        return 0;
    if (node_is(n, "aten::dsplit"))
        return 2;
    return dim_wrap(c, n, node_int(n, "dim"), rank);
}

static bool piece_find(C *c, const Node *n, int k, const Strided *s, PieceOf *piece_of, Piece *p) {
    if (s->rank == 0)
        return movement_refuse(c, n, "a tensor of rank 0");
    p->dim = piece_dim(c, n, s->rank);
    if (p->dim >= s->rank)
        return movement_refuse(c, n, "a tensor of rank %d", s->rank);
    if (!piece_of(c, n, k, s->dim[p->dim], p))
        return false;
    if (p->count != n->out_count)
        return movement_refuse(c, n, "%d pieces for %d outputs", p->count, n->out_count);
    return true;
}

/* A new node has as many outputs as there are pieces; one of an archive must agree. */
static void pieces_count(C *c, Node *n, PieceOf *piece_of) {
    const Type *t = &movement_input(n)->type;
    Strided s = strided_dense(t->rank, t->dim);
    Piece p = {0};
    if (n->out_count == 0 && s.rank > 0) {
        int d = piece_dim(c, n, s.rank);
        if (d < s.rank && piece_of(c, n, 0, s.dim[d], &p))
            node_set_out_count(n, p.count);
    }
}

static void pieces_decompose(C *c, Graph *g, Node *n, PieceOf *piece_of) {
    Value *in = movement_input(n);
    Strided s = strided_dense(in->type.rank, in->type.dim);
    for (int k = 0; k < n->out_count; k++) {
        Piece p = {0};
        if (!piece_find(c, n, k, &s, piece_of, &p))
            return;
        Value *part = node_value(
            g, n, "aten::slice.Tensor",
            ARGS(arg_value(in), arg_int(p.dim), arg_int(p.start), arg_int(p.start + p.length)));
        value_replace(g, n->out[k], part);
    }
}

#define PIECES_FUNCTIONS(op)                                                                       \
    static bool op##_picture(C *c, const Node *n, int k, Strided *s) {                             \
        Piece p = {0};                                                                             \
        return piece_find(c, n, k, s, op##_piece, &p) &&                                           \
               picture_narrow(c, n, s, p.dim, p.start, p.length);                                  \
    }                                                                                              \
    static void op##_eval(C *c, Node *n) {                                                         \
        picture_eval(c, n, op##_picture);                                                          \
    }                                                                                              \
    static void op##_shape(C *c, Node *n) {                                                        \
        pieces_count(c, n, op##_piece);                                                            \
        picture_shape(c, n, op##_picture);                                                         \
    }                                                                                              \
    static void op##_decompose(C *c, Graph *g, Node *n) {                                          \
        pieces_decompose(c, g, n, op##_piece);                                                     \
    }

PIECES_FUNCTIONS(split)
PIECES_FUNCTIONS(chunk)
PIECES_FUNCTIONS(split_sizes)
PIECES_FUNCTIONS(split_size_list)
PIECES_FUNCTIONS(sections)
PIECES_FUNCTIONS(indices)

static bool unbind_picture(C *c, const Node *n, int k, Strided *s) {
    if (s->rank == 0)
        return movement_refuse(c, n, "a tensor of rank 0");
    int at = dim_wrap(c, n, node_int(n, "dim"), s->rank);
    if (s->dim[at] != n->out_count)
        return movement_refuse(c, n, "%lld slices for %d outputs", (long long)s->dim[at],
                               n->out_count);
    s->offset += k * s->stride[at];
    for (int d = at; d + 1 < s->rank; d++) {
        s->dim[d] = s->dim[d + 1];
        s->stride[d] = s->stride[d + 1];
    }
    s->rank--;
    return true;
}

static void unbind_shape(C *c, Node *n) {
    const Type *t = &movement_input(n)->type;
    int64_t count = t->rank > 0 ? t->dim[dim_wrap(c, n, node_int(n, "dim"), t->rank)] : 0;
    if (n->out_count == 0 && count < INT32_MAX)
        node_set_out_count(n, (int)count);
    picture_shape(c, n, unbind_picture);
}

static void unbind_eval(C *c, Node *n) {
    picture_eval(c, n, unbind_picture);
}

static void unbind_decompose(C *c, Graph *g, Node *n) {
    (void)c;
    for (int k = 0; k < n->out_count; k++) {
        Value *part =
            node_value(g, n, "aten::select.int",
                       ARGS(arg_value(movement_input(n)), arg_int(node_int(n, "dim")), arg_int(k)));
        value_replace(g, n->out[k], part);
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define PIECES(text, op)                                                                           \
    {                                                                                              \
        .schema = text, .traits = OP_MOVES_DATA, .shape = op##_shape, .eval = op##_eval,           \
        .decompose = op##_decompose, .quant = {                                                    \
            .out = {Q_SAME, Q_SAME, Q_SAME, Q_SAME}                                                \
        }                                                                                          \
    }

static const Op rows[] = {
    PIECES("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
           split),
    PIECES("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
           split),
    PIECES("aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
           split_size_list),
    PIECES("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> "
           "Tensor(a)[]",
           split_sizes),
    PIECES("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> "
           "Tensor[]",
           split_sizes),
    PIECES("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", chunk),
    PIECES("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", chunk),
    PIECES("aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> "
           "Tensor(a)[]",
           sections),
    PIECES("aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> "
           "Tensor(a)[]",
           indices),
    PIECES("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", sections),
    PIECES("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", indices),
    PIECES("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", sections),
    PIECES("aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", indices),
    PIECES("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", sections),
    PIECES("aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", indices),
    PIECES("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbind),
};

OPS_FAMILY(split, rows);
