/* Data movement as TOSA, written by what it does instead of what it is called, as it is lowered: a
 * reshape, a transpose, a pad, a slice, an enlargement or, at worst, a gather by element. */
#include "emit/loops.h"
#include "emit/tosa.h"

/* Every element of the input once, in another order: a reshape, a transpose and a reshape. */
static int permuted(Tosa *t, int tensor, int64_t elements, const Loop *loop, int count) {
    int32_t perm[MAX_RANK];
    TosaDims dims = {count, {0}};
    if (!loops_permute(loop, count, elements, dims.dim, perm))
        return -1;
    return count == 0 ? tensor : tosa_transpose(t, tosa_reshape(t, tensor, &dims), perm);
}

static int regridded(Tosa *t, int tensor, const Value *x, const Value *y) {
    return movement_keeps_grid(x, y) ? tensor : tosa_regridded(t, tensor, x, y);
}

static int cut(Tosa *t, int tensor, const Box *b) {
    TosaDims whole = {b->side_count, {0}}, box = {b->side_count, {0}};
    int64_t start[MAX_RANK];
    bool all = true;
    for (int p = 0; p < b->side_count; p++) {
        const Side *side = &b->side[p];
        whole.dim[p] = side->count;
        box.dim[p] = side->size;
        start[p] = side->start;
        all = all && side->size == side->count;
    }
    tensor = tosa_reshape(t, tensor, &whole);
    int in[] = {tensor, tosa_shape(t, b->side_count, start), tosa_shape(t, b->side_count, box.dim)};
    return all ? tensor : tosa_add(t, TOSA_SLICE, NULL, 3, in, t->p.tensor[tensor].type, &box);
}

/* Loops over a box of the input's memory, each element once: a slice, then permuted. */
static int sliced_loops(Tosa *t, int tensor, const Value *x, int64_t base, const Loop *loop,
                        int count) {
    Box box;
    if (!loops_box(x, base, loop, count, &box))
        return -1;
    int piece = cut(t, tensor, &box);
    TosaDims dims = tosa_dims(t, piece);
    return permuted(t, piece, dims_count(dims.rank, dims.dim), box.loop, box.loop_count);
}

/* Zeros, or another number, around the whole input, if that is what the movement is. */
static int padded(Tosa *t, const Movement *m, const Value *x, const Value *y) {
    int64_t side[2 * MAX_RANK];
    if (!movement_pads(m, x, y, side))
        return -1;
    int in[] = {tosa_value(t, x), tosa_shape(t, 2 * y->type.rank, side),
                tosa_number(t, tosa_type(x), movement_fill(m, y))};
    TosaDims dims = tosa_dims_of(y);
    return tosa_add(t, TOSA_PAD, NULL, 3, in, tosa_type(x), &dims);
}

static int sliced(Tosa *t, const Value *x, const Value *y, const int64_t *start) {
    int64_t from[MAX_RANK];
    TosaDims dims = {x->type.rank, {0}};
    int32_t perm[MAX_RANK];
    for (int p = 0; p < x->type.rank; p++) {
        from[p] = start[x->order[p]];
        dims.dim[p] = y->type.dim[x->order[p]];
        perm[p] = order_place(x->order, y->order[p]);
    }
    int in[] = {tosa_value(t, x), tosa_shape(t, dims.rank, from),
                tosa_shape(t, dims.rank, dims.dim)};
    return tosa_transpose(t, tosa_add(t, TOSA_SLICE, NULL, 3, in, tosa_type(x), &dims), perm);
}

/* A box of the input or the whole of it enlarged, if the movement is that; else -1. */
static int boxed(Tosa *t, const Node *n, const Value *y, const Movement *m) {
    const Value *x = node_operand(n, 0);
    int64_t *place[MAX_RANK], start[MAX_RANK], repeat[MAX_RANK];
    if (!movement_places(t->c, m, x, y, place))
        return -1;
    bool whole = true, once = true;
    for (int d = 0; d < x->type.rank; d++) {
        start[d] = place[d][0];
        repeat[d] = places_repeat(place[d], y->type.dim[d]);
        if (repeat[d] == 0)
            return -1;
        whole = whole && y->type.dim[d] == repeat[d] * x->type.dim[d];
        once = once && repeat[d] == 1;
    }
    if (once)
        return sliced(t, x, y, start);
    if (!whole || x->type.rank != 4 || repeat[0] != 1 || repeat[1] != 1)
        return -1;
    return tosa_image_back(t, n, tosa_resized(t, tosa_image(t, x), repeat + 2, false));
}

/* Places along each dim, in slices. */
static int placed(Tosa *t, const Value *x, const Value *y, const Movement *m) {
    enum { SLICES_MOST = 64 };
    int64_t *place[MAX_RANK], slices = 0;
    if (!movement_places(t->c, m, x, y, place))
        return -1;
    for (int d = 0; d < x->type.rank; d++)
        for (int64_t i = 1; i < y->type.dim[d]; i++)
            slices += place[d][i] != place[d][i - 1] + 1;
    if (slices > SLICES_MOST)
        return -1;
    int tensor = tosa_value_in(t, x, y->order);
    for (int k = 0; k < x->type.rank; k++)
        tensor = tosa_chosen(t, tensor, k, place[y->order[k]], y->type.dim[y->order[k]]);
    return tensor;
}

/* At worst each element by its number. */
static int gathered(Tosa *t, const Movement *m, const Value *y, int tensor, int64_t elements) {
    int64_t count = type_count(&y->type);
    int32_t *number = NEW_ARRAY(t->c, int32_t, count);
    Elements w = elements_in_order(&y->type, y->order);
    for (int64_t i = 0; i < count; i++, elements_next(&w))
        number[w.at] = m->number[i];
    int in[] = {tosa_reshape(t, tensor, &(TosaDims){3, {1, elements, 1}}),
                tosa_const(t, TOSA_INT32, &(TosaDims){2, {1, count}}, number)};
    return tosa_add(t, TOSA_GATHER, NULL, 2, in, t->p.tensor[tensor].type,
                    &(TosaDims){3, {1, count, 1}});
}

static int moved(Tosa *t, Node *n, int k) {
    Value *x = node_operand(n, 0), *y = n->out[k];
    TosaDims to = tosa_dims_of(y);
    Movement m = movement_find(t->c, t->g, n, k);
    int tensor = tosa_value(t, x);
    int64_t elements = type_count(&x->type);
    if (m.has_fill)
        return padded(t, &m, x, y);
    Loop loop[MAX_LOOPS];
    int count = loops_of(&m, y, loop);
    int out = count >= 0 && m.base == 0 ? permuted(t, tensor, elements, loop, count) : -1;
    if (out < 0 && count >= 0)
        out = sliced_loops(t, tensor, x, m.base, loop, count);
    if (out < 0)
        out = boxed(t, n, y, &m);
    if (out < 0)
        out = placed(t, x, y, &m);
    return tosa_reshape(t, out >= 0 ? out : gathered(t, &m, y, tensor, elements), &to);
}

bool tosa_movement(Tosa *t, Node *n) {
    for (int k = 0; k < n->out_count; k++) {
        const Value *x = node_operand(n, 0), *y = n->out[k];
        if (y->user_count + y->output_count == 0)
            continue;
        bool places = tosa_is_index(x) && tosa_is_index(y);
        if (!places && (!tosa_is_taken(x) || !tosa_is_taken(y)))
            return false;
        int tensor = moved(t, n, k);
        if (tensor < 0)
            return false;
        t->of_value[y->id] = regridded(t, tensor, x, y);
    }
    return true;
}

/* Pieces on other grids go through the table that the kernel's copy has. */
bool tosa_cat(Tosa *t, Node *n) {
    const Value *y = n->out[0];
    int count = node_operand_count(n), used = 0;
    int *in = NEW_ARRAY(t->c, int, count + 1);
    int dim = dim_wrap(t->c, n, node_int(n, "dim"), y->type.rank);
    if (!tosa_is_taken(y))
        return false;
    for (int k = 0; k < count; k++) {
        const Value *x = node_operand(n, k);
        if (type_count(&x->type) == 0)
            continue;
        if (!tosa_is_taken(x))
            return false;
        in[used++] = regridded(t, tosa_value_in(t, x, y->order), x, y);
    }
    t->of_value[y->id] = tosa_joined(t, order_place(y->order, dim), used, in);
    return true;
}
