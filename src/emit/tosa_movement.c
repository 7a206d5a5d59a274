/* Data movement as TOSA, written by what it does instead of what it is called, as it is lowered: a
 * reshape, a transpose, a pad, a slice, an enlargement or, at worst, a gather by element. */
#include "emit/tosa.h"
#include "lower/movement.h"

#include <math.h>
#include <string.h>

typedef struct { /* a loop over memory: of the input by steps of `in` */
    int64_t count, in;
} Step;

/* The movement as loops over the output's memory, outermost first; -1: not affine. */
static int steps_of(const Movement *m, const Value *out, Step step[MAX_RANK * MAX_PIECES]) {
    int count = 0;
    for (int k = 0; k < out->type.rank; k++) {
        int d = out->order[k];
        if (m->piece_count[d] < 0)
            return -1;
        for (int p = m->piece_count[d] - 1; p >= 0; p--)
            step[count++] = (Step){m->piece[d][p].count, m->piece[d][p].stride};
    }
    return count;
}

/* Every element of the input once, in another order: a reshape, a transpose and a reshape. */
static int permuted(Tosa *t, int tensor, int64_t elements, const Step *step, int count) {
    int32_t place[MAX_RANK], perm[MAX_RANK]; /* of the loops by their step in the input, falling */
    if (count > MAX_RANK)
        return -1;
    for (int i = 0; i < count; i++)
        place[i] = i;
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && step[place[j - 1]].in < step[place[j]].in; j--) {
            int32_t swap = place[j];
            place[j] = place[j - 1];
            place[j - 1] = swap;
        }
    TosaDims dims = {count, {0}};
    int64_t dense = 1;
    for (int i = count - 1; i >= 0; i--) {
        if (step[place[i]].in != dense)
            return -1;
        dense *= step[place[i]].count;
        dims.dim[i] = step[place[i]].count;
        perm[place[i]] = i;
    }
    if (dense != elements)
        return -1;
    return count == 0 ? tensor : tosa_transpose(t, tosa_reshape(t, tensor, &dims), perm);
}

/* ---- boxes of the input --------------------------------------------------------------------- */

typedef struct { /* a dim of the input's memory, or a factor of one; size: 0 where no loop uses it
                  */
    int64_t count, stride, start, size;
} Side;

/* The dims of memory, split where a loop takes every k-th of one. Returns how many; -1: too many.
 */
static int sides_of(const Value *x, const Step *step, int count, Side side[MAX_RANK]) {
    int64_t stride[MAX_RANK];
    int sides = 0;
    value_strides(x, stride);
    for (int p = 0; p < x->type.rank; p++)
        if (x->type.dim[x->order[p]] > 1)
            side[sides++] = (Side){x->type.dim[x->order[p]], stride[x->order[p]], 0, 0};
    for (int i = 0; i < count; i++)
        for (int p = 0; p < sides; p++) {
            int64_t every = step[i].in / side[p].stride;
            if (step[i].in % side[p].stride != 0 || every <= 1 || every >= side[p].count ||
                side[p].count % every != 0)
                continue;
            if (sides == MAX_RANK)
                return -1;
            memmove(&side[p + 1], &side[p], sizeof *side * (size_t)(sides++ - p));
            side[p].count /= every;
            side[p].stride *= every;
            side[p + 1].count = every;
            break;
        }
    return sides;
}

/* The loop in sides, innermost first into `of`; returns how many, -1: it is not such a loop. */
static int sides_used(Side *side, int sides, Step loop, int of[MAX_RANK]) {
    int used = 0;
    while (loop.count > 1) {
        int p = 0;
        while (p < sides && side[p].stride != loop.in)
            p++;
        if (p == sides || side[p].size > 0)
            return -1;
        int64_t left = side[p].count - side[p].start;
        side[p].size = loop.count < left ? loop.count : left;
        if (side[p].size < loop.count && (side[p].start > 0 || loop.count % side[p].size != 0))
            return -1;
        loop.count /= side[p].size;
        loop.in *= side[p].size;
        of[used++] = p;
    }
    return used;
}

static int cut(Tosa *t, int tensor, const Side *side, int sides) {
    TosaDims whole = {sides, {0}}, box = {sides, {0}};
    int64_t start[MAX_RANK];
    bool all = true;
    for (int p = 0; p < sides; p++) {
        whole.dim[p] = side[p].count;
        box.dim[p] = side[p].size;
        start[p] = side[p].start;
        all = all && side[p].size == side[p].count;
    }
    tensor = tosa_reshape(t, tensor, &whole);
    int in[] = {tensor, tosa_shape(t, sides, start), tosa_shape(t, sides, box.dim)};
    return all ? tensor : tosa_add(t, TOSA_SLICE, NULL, 3, in, TOSA_INT8, &box);
}

/* Loops over a box of the input's memory, each element once: a slice, then permuted. */
static int sliced_loops(Tosa *t, int tensor, const Value *x, int64_t base, const Step *step,
                        int count) {
    Side side[MAX_RANK + 1];
    int of[MAX_RANK], loops = 0, place[MAX_RANK * MAX_PIECES];
    int sides = sides_of(x, step, count, side);
    for (int p = 0; p < sides; p++) {
        side[p].start = base / side[p].stride;
        base %= side[p].stride;
    }
    if (sides < 1 || base != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        int used = sides_used(side, sides, step[i], of);
        if (used < 0 || loops + used > MAX_RANK)
            return -1;
        while (used > 0)
            place[loops++] = of[--used];
    }
    int64_t dense = 1, stride[MAX_RANK];
    for (int p = sides - 1; p >= 0; p--) {
        side[p].size = side[p].size ? side[p].size : 1;
        stride[p] = dense;
        dense *= side[p].size;
    }
    Step own[MAX_RANK];
    for (int i = 0; i < loops; i++)
        own[i] = (Step){side[place[i]].size, stride[place[i]]};
    return permuted(t, cut(t, tensor, side, sides), dense, own, loops);
}

/* Zeros, or another number, around the whole input, if that is what the movement is. */
static int padded(Tosa *t, const Node *n, const Movement *m, int tensor, const TosaDims *to) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int64_t side[2 * MAX_RANK];
    if (x->type.rank != y->type.rank)
        return -1;
    for (int k = 0; k < y->type.rank; k++) {
        int d = y->order[k];
        side[2 * k] = m->start[d];
        side[2 * k + 1] = y->type.dim[d] - m->stop[d];
        bool whole = m->stop[d] - m->start[d] == x->type.dim[d] && x->order[k] == d;
        if (!whole || m->piece_count[d] < 0)
            return -1;
    }
    Step step[MAX_RANK * MAX_PIECES];
    int64_t dense = 1;
    for (int i = steps_of(m, y, step) - 1; i >= 0; i--) {
        if (step[i].in != dense)
            return -1;
        dense *= step[i].count;
    }
    double q = m->fill_value / value_scale(y) + value_zero_point(y);
    int32_t fill = (int32_t)nearbyint(fmax(-128, fmin(127, q)));
    int in[] = {tensor, tosa_shape(t, 2 * y->type.rank, side), tosa_number(t, TOSA_INT8, fill)};
    return tosa_add(t, TOSA_PAD, NULL, 3, in, TOSA_INT8, to);
}

/* Along each dim the elements i / repeat[d] + start[d]: a slice, or an image enlarged by whole
 * factors. */
static bool boxes(const Value *x, const Value *y, const Movement *m, int64_t *start,
                  int64_t *repeat) {
    int64_t stride[MAX_RANK], base = m->base;
    if (!m->separable || m->has_fill || x->type.rank != y->type.rank)
        return false;
    value_strides(x, stride);
    for (int p = 0; p < x->type.rank; p++) {
        int d = x->order[p];
        start[d] = base / stride[d];
        base %= stride[d];
        repeat[d] = 1;
        while (repeat[d] < y->type.dim[d] && m->offset[d][repeat[d]] == 0 && y->type.dim[d] > 1)
            repeat[d]++;
        if (y->type.dim[d] % repeat[d] != 0 ||
            start[d] + y->type.dim[d] / repeat[d] > x->type.dim[d])
            return false;
        for (int64_t i = 0; i < y->type.dim[d]; i++)
            if (m->offset[d][i] != i / repeat[d] * stride[d])
                return false;
    }
    return true;
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
    return tosa_transpose(t, tosa_add(t, TOSA_SLICE, NULL, 3, in, TOSA_INT8, &dims), perm);
}

/* Of output place i, input place (2 * i - (k - 1)) / 2k to the nearest: i / k. */
static int enlarged(Tosa *t, const Node *n, const Value *x, const Value *y, const int64_t *repeat) {
    if (x->type.rank != 4 || repeat[0] != 1 || repeat[1] != 1)
        return -1;
    int64_t scale[] = {2 * repeat[2], 2, 2 * repeat[3], 2};
    int64_t offset[] = {1 - repeat[2], 1 - repeat[3]}, border[] = {repeat[2] - 1, repeat[3] - 1};
    int in[] = {tosa_image(t, x), tosa_shape(t, 4, scale), tosa_shape(t, 2, offset),
                tosa_shape(t, 2, border)};
    TosaDims dims = {4, {y->type.dim[0], y->type.dim[2], y->type.dim[3], y->type.dim[1]}};
    return tosa_image_back(t, n, tosa_add(t, TOSA_RESIZE, NULL, 4, in, TOSA_INT8, &dims));
}

/* A box of the input, if the movement is that; else -1. */
static int boxed(Tosa *t, const Node *n, const Value *y, const Movement *m) {
    const Value *x = node_operand(n, 0);
    int64_t start[MAX_RANK], repeat[MAX_RANK];
    if (!boxes(x, y, m, start, repeat))
        return -1;
    bool whole = true, once = true;
    for (int d = 0; d < x->type.rank; d++) {
        whole = whole && y->type.dim[d] == repeat[d] * x->type.dim[d];
        once = once && repeat[d] == 1;
    }
    return once ? sliced(t, x, y, start) : whole ? enlarged(t, n, x, y, repeat) : -1;
}

/* At worst each element by its number. */
static int gathered(Tosa *t, const Movement *m, const Value *y, int tensor, int64_t elements) {
    int64_t count = type_count(&y->type), stride[MAX_RANK], index[MAX_RANK] = {0}, at = 0;
    int32_t *number = NEW_ARRAY(t->c, int32_t, count);
    value_strides(y, stride);
    for (int64_t i = 0; i < count; i++) { /* from logical order to that of memory */
        number[at] = m->number[i];
        for (int d = y->type.rank - 1; d >= 0; d--) {
            at += stride[d];
            if (++index[d] < y->type.dim[d])
                break;
            at -= stride[d] * y->type.dim[d];
            index[d] = 0;
        }
    }
    int in[] = {tosa_reshape(t, tensor, &(TosaDims){3, {1, elements, 1}}),
                tosa_const(t, TOSA_INT32, &(TosaDims){2, {1, count}}, number)};
    return tosa_add(t, TOSA_GATHER, NULL, 2, in, TOSA_INT8, &(TosaDims){3, {1, count, 1}});
}

static int moved(Tosa *t, Node *n, int k) {
    Value *x = node_operand(n, 0), *y = n->out[k];
    TosaDims to = tosa_dims_of(y);
    Movement m = movement_find(t->c, t->g, n, k);
    int tensor = tosa_value(t, x);
    int64_t elements = type_count(&x->type);
    if (m.has_fill)
        return m.boxed && m.separable ? padded(t, n, &m, tensor, &to) : -1;
    Step step[MAX_RANK * MAX_PIECES];
    int count = m.separable ? steps_of(&m, y, step) : -1;
    int out = count >= 0 && m.base == 0 ? permuted(t, tensor, elements, step, count) : -1;
    if (out < 0 && count >= 0)
        out = sliced_loops(t, tensor, x, m.base, step, count);
    if (out < 0)
        out = boxed(t, n, y, &m);
    return tosa_reshape(t, out >= 0 ? out : gathered(t, &m, y, tensor, elements), &to);
}

bool tosa_movement(Tosa *t, Node *n) {
    for (int k = 0; k < n->out_count; k++) {
        const Value *x = node_operand(n, 0), *y = n->out[k];
        if (y->user_count + y->output_count == 0)
            continue;
        if (!layer_int8(x) || !layer_int8(y))
            return false;
        int tensor = moved(t, n, k);
        if (tensor < 0)
            return false;
        if (!grids_equal(x, y)) {
            int8_t entry[256];
            table_requantize(x->grid, y->grid, entry);
            tensor = tosa_lookup(t, tensor, entry);
        }
        t->of_value[y->id] = tensor;
    }
    return true;
}

/* Is x, which begins at `start` of y's dim, on the grid that y has there? */
static bool on_part(const Value *x, const Value *y, int64_t start) {
    for (int k = 0; k < y->grid->part_count; k++) {
        const Part *p = &y->grid->part[k], *own = &x->grid->part[0];
        if (p->axis < 0 || (p->start <= start && start < p->stop))
            return x->grid->part_count == 1 && own->scale == p->scale &&
                   own->zero_point == p->zero_point;
    }
    return false;
}

/* Pieces on other grids go through the table that the kernel's copy has. */
bool tosa_cat(Tosa *t, Node *n) {
    const Value *y = n->out[0];
    int count = node_operand_count(n), used = 0;
    int *in = NEW_ARRAY(t->c, int, count + 1);
    int dim = dim_wrap(t->c, n, node_int(n, "dim"), y->type.rank);
    if (!layer_int8(y))
        return false;
    for (int64_t k = 0, start = 0; k < count; k++) {
        const Value *x = node_operand(n, (int)k);
        if (type_count(&x->type) == 0)
            continue;
        bool there = layer_int8(x) && on_part(x, y, start);
        if (!layer_int8(x) || (!there && y->grid->part_count > 1))
            return false;
        start += x->type.dim[dim];
        in[used] = tosa_value_in(t, x, y->order);
        if (!there) {
            int8_t entry[256];
            table_requantize(x->grid, y->grid, entry);
            in[used] = tosa_lookup(t, in[used], entry);
        }
        used++;
    }
    TosaAttributes a = {.axis = order_place(y->order, dim)};
    TosaDims dims = tosa_dims_of(y);
    t->of_value[y->id] = tosa_add(t, TOSA_CONCAT, &a, used, in, TOSA_INT8, &dims);
    return true;
}
