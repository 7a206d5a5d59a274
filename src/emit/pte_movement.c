/* Data movement in the operators of ExecuTorch's Cortex-M dialect, written by what it does: views,
 * transposes, pads, maxima with the least number, which repeat, and products with rows of one 1,
 * which choose. */
#include "emit/pte.h"

#include <string.h>

/* ---- pieces -------------------------------------------------------------------------------- */

/* Numbers of x's grid on y's, by a table if they do not move as they are. */
static int regridded(Pte *t, int tensor, const Value *x, const Value *y) {
    int8_t entry[256];
    if (movement_keeps_grid(x, y))
        return tensor;
    table_requantize(x->grid, y->grid, entry);
    return pte_looked_up(t, tensor, entry);
}

int pte_repeated(Pte *t, int tensor, int64_t outer, int64_t inner, int64_t times) {
    const int64_t in[] = {outer, 1, 1, inner}, out[] = {outer, 1, times, inner};
    const int64_t least[] = {1, 1, times, 1};
    if (times == 1)
        return tensor;
    int8_t *numbers = c_alloc(t->c, (size_t)times);
    memset(numbers, -128, (size_t)times);
    PteShape shape = pte_plain(4, out);
    int args[] = {pte_flat(t, tensor, 4, in), pte_constant(t, PTE_CHAR, 4, least, numbers),
                  pte_tensor(t, PTE_CHAR, &shape)};
    pte_call(t, "maximum", 3, args);
    return args[2];
}

/* Numbers before and behind each row. The dialect pads four dims in an order that depends on their
 * sizes; of three it does not. */
static int bordered(Pte *t, int tensor, int64_t rows, int64_t row, int64_t before, int64_t behind,
                    int32_t value) {
    const int64_t size[] = {1, rows, row}, whole[] = {1, rows, before + row + behind};
    PteShape shape = pte_plain(3, whole);
    int args[] = {pte_flat(t, tensor, 3, size), pte_ints(t, 4, (int64_t[]){0, 0, 0, before}),
                  pte_ints(t, 4, (int64_t[]){0, 0, 0, behind}), pte_int(t, value),
                  pte_tensor(t, PTE_CHAR, &shape)};
    pte_call(t, "pad", 5, args);
    return args[4];
}

int pte_spread(Pte *t, const Value *v, int rank, const int64_t *dim, const int8_t *order) {
    int8_t own[MAX_RANK] = {0};
    int64_t from[MAX_RANK];
    int count = 0, missing = rank - v->type.rank;
    PteShape shape = {.rank = rank};
    for (int k = 0; k < rank; k++) {
        bool has = order[k] >= missing;
        from[k] = has ? v->type.dim[order[k] - missing] : 1;
        if (has)
            own[count++] = (int8_t)(order[k] - missing);
        shape.size[k] = dim[k];
        shape.order[k] = order[k];
    }
    int tensor = pte_value_in(t, v, own);
    for (int k = 0; k < rank; k++) {
        int64_t times = 1, outer = 1;
        int end = k;
        for (; end < rank && from[end] == 1; end++)
            times *= dim[order[end]];
        for (int j = 0; j < k; j++)
            outer *= dim[order[j]];
        tensor = pte_repeated(t, tensor, outer, dims_count(rank - end, from + end), times);
        k = end;
    }
    return pte_view(t, tensor, &shape);
}

static bool few_weights(Pte *t, int64_t count, int64_t wanted) {
    bool few = count * wanted <= PTE_WEIGHTS_MOST;
    if (!few)
        diag_error(t->c, DIAG_MODEL, &t->node->loc,
                   "%lld of %lld places are chosen by as many rows of weights, of which at most %d "
                   "bytes are written",
                   (long long)wanted, (long long)count, PTE_WEIGHTS_MOST);
    return few;
}

/* Products with rows of one 1 and the rest 0. */
int pte_chosen(Pte *t, int tensor, int64_t outer, int64_t count, int64_t inner,
               const int64_t *place, int64_t wanted) {
    static const int32_t swap[] = {0, 2, 1};
    if (!few_weights(t, count, wanted)) {
        PteShape none = pte_plain(3, (int64_t[]){outer, wanted, inner});
        return pte_tensor(t, PTE_CHAR, &none);
    }
    int8_t *weights = c_alloc(t->c, (size_t)(wanted * count));
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, wanted),
            *shift = NEW_ARRAY(t->c, int32_t, wanted);
    for (int64_t i = 0; i < wanted; i++) {
        weights[i * count + place[i]] = 1;
        multiplier[i] = 1 << 30; /* with a shift of 1: the number itself */
        shift[i] = 1;
    }
    if (inner > 1)
        tensor = pte_permute(t, tensor, 3, (int64_t[]){outer, count, inner}, swap);
    PteRows rows = {.rows = outer * inner,
                    .depth = count,
                    .columns = wanted,
                    .weights = weights,
                    .bias = NEW_ARRAY(t->c, int32_t, wanted),
                    .multiplier = multiplier,
                    .shift = shift,
                    .min = -128,
                    .max = 127};
    PteShape shape = pte_plain(2, (int64_t[]){outer * inner, wanted});
    int out = pte_tensor(t, PTE_CHAR, &shape);
    pte_rows(t, &rows, tensor, out);
    if (inner > 1)
        out = pte_permute(t, out, 3, (int64_t[]){outer, inner, wanted}, swap);
    return out;
}

/* By transposes, for which what is cut is one piece. */
static int cut_by_turning(Pte *t, int tensor, int64_t outer, int64_t inner, const Side *side) {
    static const int32_t swap[] = {1, 0, 2};
    const int64_t part[] = {side->size, outer, inner};
    tensor = pte_permute(t, tensor, 3, (int64_t[]){outer, side->count, inner}, swap);
    PteShape shape = pte_plain(3, part);
    tensor = pte_view_from(t, tensor, side->start * outer * inner, &shape);
    return pte_permute(t, tensor, 3, part, swap);
}

int pte_cut(Pte *t, int tensor, int64_t outer, int64_t inner, const Side *side) {
    if (side->size == side->count)
        return tensor;
    if (outer == 1 && t->storage_of[tensor] >= 0) {
        PteShape shape = pte_plain(1, (int64_t[]){side->size * inner});
        return pte_view_from(t, tensor, side->start * inner, &shape);
    }
    if (side->size * side->count > PTE_WEIGHTS_MOST)
        return cut_by_turning(t, tensor, outer, inner, side);
    int64_t *place = NEW_ARRAY(t->c, int64_t, side->size);
    for (int64_t i = 0; i < side->size; i++)
        place[i] = side->start + i;
    return pte_chosen(t, tensor, outer, side->count, inner, place, side->size);
}

/* ---- movements ----------------------------------------------------------------------------- */

static int permuted(Pte *t, int tensor, int64_t elements, const Loop *loop, int count) {
    int64_t size[MAX_RANK];
    int32_t perm[MAX_RANK];
    if (!loops_permute(loop, count, elements, size, perm))
        return -1;
    return count <= 1 ? tensor : pte_permute(t, tensor, count, size, perm);
}

/* Loops over a box of the input's memory, each element once. */
static int boxed(Pte *t, int tensor, const Value *x, int64_t base, const Loop *loop, int count) {
    Box box;
    int64_t outer = 1, inner = type_count(&x->type);
    if (!loops_box(x, base, loop, count, &box))
        return -1;
    for (int k = 0; k < box.side_count; k++) {
        const Side *side = &box.side[k];
        inner /= side->count;
        tensor = pte_cut(t, tensor, outer, inner, side);
        outer *= side->size;
    }
    return permuted(t, tensor, outer, box.loop, box.loop_count);
}

/* One dim after the other. */
static int padded(Pte *t, const Movement *m, const Value *x, const Value *y) {
    int64_t side[2 * MAX_RANK], outer = 1, inner = type_count(&x->type);
    if (!movement_pads(m, x, y, side))
        return -1;
    int tensor = pte_value(t, x);
    for (int k = 0; k < x->type.rank; k++) {
        int64_t dim = x->type.dim[x->order[k]], before = side[2 * k], behind = side[2 * k + 1];
        inner /= dim;
        if (before + behind > 0)
            tensor = bordered(t, tensor, outer, dim * inner, before * inner, behind * inner,
                              movement_fill(m, y));
        outer *= before + dim + behind;
    }
    return tensor;
}

/* Places along each dim: repeated where each comes as often, else chosen. */
static int placed(Pte *t, const Movement *m, const Value *x, const Value *y) {
    int64_t *place[MAX_RANK], outer = 1, inner = type_count(&x->type);
    if (!movement_places(t->c, m, x, y, place))
        return -1;
    int tensor = pte_value(t, x);
    for (int k = 0; k < x->type.rank; k++) {
        int d = x->order[k];
        int64_t from = x->type.dim[d], to = y->type.dim[d], repeat = places_repeat(place[d], to);
        inner /= from;
        if (repeat > 0 && repeat * from == to)
            tensor = pte_repeated(t, tensor, outer * from, inner, repeat);
        else
            tensor = pte_chosen(t, tensor, outer, from, inner, place[d], to);
        outer *= to;
    }
    return pte_turned(t, tensor, &y->type, x->order, y->order);
}

static int moved(Pte *t, Node *n, int k) {
    Value *x = node_operand(n, 0), *y = n->out[k];
    Movement m = movement_find(t->c, t->g, n, k);
    Loop loop[MAX_LOOPS];
    if (m.has_fill)
        return padded(t, &m, x, y);
    int count = loops_of(&m, y, loop), tensor = pte_value(t, x), out = -1;
    count = count < 0 ? count : loops_merged(loop, count);
    if (count >= 0 && m.base == 0)
        out = permuted(t, tensor, type_count(&x->type), loop, count);
    if (out < 0 && count >= 0)
        out = boxed(t, tensor, x, m.base, loop, count);
    return out >= 0 ? out : placed(t, &m, x, y);
}

/* A view: the operand's memory under another shape. */
static bool alias(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (n->out_count != 1 || !x->buffer || x->buffer != y->buffer || x->constant ||
        x->buffer_offset != y->buffer_offset || value_bytes(x) != value_bytes(y) ||
        value_storage(x) != value_storage(y))
        return false;
    PteShape shape = pte_shape(y);
    pte_set(t, y, pte_view(t, pte_value(t, x), &shape));
    return true;
}

bool pte_movement(Pte *t, Node *n) {
    if (alias(t, n))
        return true;
    for (int k = 0; k < n->out_count; k++) {
        const Value *x = node_operand(n, 0), *y = n->out[k];
        if (y->user_count + y->output_count == 0)
            continue;
        if (!layer_int8(x) || !layer_int8(y))
            return false;
        PteShape shape = pte_shape(y);
        int tensor = moved(t, n, k);
        if (tensor < 0)
            return false;
        pte_set(t, y, regridded(t, pte_view(t, tensor, &shape), x, y));
    }
    return true;
}

/* The same numbers in another order of memory. */
bool pte_relayout(Pte *t, Node *n) {
    int out = pte_value_in(t, node_operand(n, 0), n->out[0]->order);
    if (out >= 0)
        pte_set(t, n->out[0], out);
    return out >= 0;
}

/* ---- cat ----------------------------------------------------------------------------------- */

/* Each piece with the least number around it, then the greatest of all. */
bool pte_cat(Pte *t, Node *n) {
    const Value *y = n->out[0];
    int count = node_operand_count(n), all = -1;
    int dim = dim_wrap(t->c, n, node_int(n, "dim"), y->type.rank), at = order_place(y->order, dim);
    int64_t outer = 1, inner = 1, start = 0;
    if (!layer_int8(y))
        return false;
    for (int k = 0; k < y->type.rank; k++)
        *(k < at ? &outer : &inner) *= k == at ? 1 : y->type.dim[y->order[k]];
    for (int k = 0; k < count; k++) {
        const Value *x = node_operand(n, k);
        if (type_count(&x->type) == 0)
            continue;
        if (!layer_int8(x))
            return false;
        int64_t own = x->type.dim[dim], left = y->type.dim[dim] - start - own;
        int piece = regridded(t, pte_value_in(t, x, y->order), x, y);
        if (own < y->type.dim[dim])
            piece = bordered(t, piece, outer, own * inner, start * inner, left * inner, -128);
        start += own;
        if (all >= 0) {
            int args[] = {all, piece, piece};
            pte_call(t, "maximum", 3, args);
        }
        all = piece;
    }
    PteShape shape = pte_shape(y);
    pte_set(t, y, pte_view(t, all, &shape));
    return true;
}
