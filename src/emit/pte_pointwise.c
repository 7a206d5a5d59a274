/* Pointwise operators, softmax and the boundary in the operators of ExecuTorch's Cortex-M dialect.
 */
#include "emit/pte_call.h"
#include "lower/pointwise.h"

#include <string.h>

/* ---- sums, products and the like ----------------------------------------------------------- */

static int operand(Pte *t, const Node *n, int k) {
    const Value *y = n->out[0];
    return pte_spread(t, node_operand(n, k), y->type.rank, y->type.dim, node_result(n)->order);
}

static bool operands_fit(const Node *n) {
    return node_operand_count(n) == 2 && layer_int8(node_operand(n, 0)) &&
           layer_int8(node_operand(n, 1)) && layer_int8(n->out[0]);
}

int pte_opposite(Pte *t, int tensor) {
    int8_t entry[256];
    for (int32_t q = -128; q < 128; q++)
        entry[q + 128] = (int8_t)(-1 - q);
    return pte_looked_up(t, tensor, entry);
}

/* The opposites' zero point is -1 - z. */
static PteAddend negated(Pte *t, PteAddend a) {
    return (PteAddend){pte_opposite(t, a.tensor), -1 - a.zero, -a.factor};
}

void pte_call_add(Pte *t, PteAddend a, PteAddend b, double factor, int32_t out_zero,
                  const int32_t clamp[2], int out) {
    int32_t multiplier[3], shift[3];
    multiplier_from(a.factor, &multiplier[0], &shift[0]);
    multiplier_from(b.factor, &multiplier[1], &shift[1]);
    multiplier_from(factor, &multiplier[2], &shift[2]);
    shift[2] = shift[2] > SUM_SHIFT_MOST ? SUM_SHIFT_MOST : shift[2];
    int args[] = {a.tensor,
                  pte_int(t, a.zero),
                  pte_int(t, multiplier[0]),
                  pte_int(t, shift[0]),
                  b.tensor,
                  pte_int(t, b.zero),
                  pte_int(t, multiplier[1]),
                  pte_int(t, shift[1]),
                  pte_int(t, out_zero),
                  pte_int(t, multiplier[2]),
                  pte_int(t, shift[2]),
                  pte_int(t, clamp[0]),
                  pte_int(t, clamp[1]),
                  out};
    pte_call_over(t, "quantized_add", 14, args, args[0]);
}

bool pte_sum(Pte *t, Node *n) {
    int left;
    if (!operands_fit(n))
        return false;
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    SumFactors f = sum_of(n, &left);
    PteAddend one = {operand(t, n, 0), value_zero_point(a), f.a};
    PteAddend two = {operand(t, n, 1), value_zero_point(b), f.b};
    int32_t clamp[2];
    store_clamp(n, &clamp[0], &clamp[1]);
    if (one.factor < 0)
        one = negated(t, one);
    if (two.factor < 0)
        two = negated(t, two);
    int out = pte_result(t, n, node_result(n)->order);
    pte_call_add(t, one, two, f.output, value_zero_point(y), clamp, out);
    pte_finish(t, n, node_result(n)->order, out);
    return true;
}

bool pte_mul(Pte *t, Node *n) {
    int32_t multiplier, shift;
    if (!operands_fit(n))
        return false;
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    product_factor(n, &multiplier, &shift);
    int one = operand(t, n, 0), two = operand(t, n, 1);
    int out = pte_result(t, n, node_result(n)->order);
    int args[] = {one,
                  pte_int(t, value_zero_point(a)),
                  two,
                  pte_int(t, value_zero_point(b)),
                  pte_int(t, value_zero_point(y)),
                  pte_int(t, multiplier),
                  pte_int(t, shift),
                  out};
    pte_call_over(t, "quantized_mul", 8, args, one);
    pte_finish(t, n, node_result(n)->order, out);
    return true;
}

/* In float there: the quotient may round to the step beside. */
bool pte_div(Pte *t, Node *n) {
    if (!operands_fit(n))
        return false;
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    int one = operand(t, n, 0), two = operand(t, n, 1);
    int out = pte_result(t, n, node_result(n)->order);
    int args[] = {one,
                  pte_int(t, value_zero_point(a)),
                  two,
                  pte_int(t, value_zero_point(b)),
                  pte_int(t, value_zero_point(y)),
                  pte_double(t, value_scale(a) / value_scale(b) / value_scale(y)),
                  out};
    pte_call_over(t, "quantized_div", 7, args, one);
    pte_finish(t, n, node_result(n)->order, out);
    return true;
}

/* The dialect compares numbers as they are: all on one grid. */
bool pte_extreme(Pte *t, Node *n) {
    int in[2];
    if (!operands_fit(n))
        return false;
    for (int k = 0; k < 2; k++) {
        int8_t entry[256];
        in[k] = operand(t, n, k);
        if (minmax_entries(node_operand(n, k), n->out[0], entry))
            in[k] = pte_looked_up(t, in[k], entry);
    }
    int out = pte_result(t, n, node_result(n)->order), args[] = {in[0], in[1], out};
    pte_call(t, is_minimum(n) ? "minimum" : "maximum", 3, args);
    pte_finish(t, n, node_result(n)->order, out);
    return true;
}

/* ---- functions of one byte ----------------------------------------------------------------- */

static void write_entries(Pte *t, const Node *n, const int8_t entry[256]) {
    const Value *y = n->out[0];
    pte_lookup(t, pte_value_in(t, node_operand(n, 0), y->order), entry, pte_value(t, y));
}

bool pte_table(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int8_t entry[TABLE_ENTRIES];
    if (!layer_int8(x) || !layer_int8(y) || node_result(n) != y ||
        table_fill(t->c, n, x->grid, y->grid, entry) != 256)
        return false;
    write_entries(t, n, entry);
    return true;
}

bool pte_requantize(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int8_t entry[256];
    if (!layer_int8(x) || !layer_int8(y))
        return false;
    table_requantize(x->grid, y->grid, entry);
    write_entries(t, n, entry);
    return true;
}

/* ---- the boundary -------------------------------------------------------------------------- */

static void call_boundary(Pte *t, const char *name, int from, const Part *part, int to) {
    int args[] = {from,
                  pte_double(t, part->scale),
                  pte_int(t, part->zero_point),
                  pte_int(t, -128),
                  pte_int(t, 127),
                  pte_int(t, PTE_CHAR),
                  to};
    pte_call(t, name, 7, args);
}

bool pte_quantize(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!layer_int8(y) || y->grid->part_count != 1)
        return false;
    int out = pte_result(t, n, x->order);
    call_boundary(t, "quantize_per_tensor", pte_value(t, x), &y->grid->part[0], out);
    pte_finish(t, n, x->order, out);
    return true;
}

/* Where a part begins, if its memory is one piece. */
static bool piece_of(const Value *x, const Part *p, int64_t *start, PteShape *shape) {
    int64_t outer = 1, inner = 1;
    *shape = pte_shape(x);
    if (p->axis < 0)
        return *start = 0, true;
    int at = order_place(x->order, p->axis);
    for (int k = 0; k < x->type.rank; k++)
        *(k < at ? &outer : &inner) *= k == at ? 1 : x->type.dim[x->order[k]];
    shape->size[p->axis] = p->stop - p->start;
    *start = p->start * inner;
    return outer == 1;
}

/* Can each part be brought into its place among the floats? */
static bool parts_lie_apart(const Value *x, const Value *y) {
    int64_t start;
    PteShape shape;
    for (int k = 0; k < x->grid->part_count; k++)
        if (!piece_of(x, &x->grid->part[k], &start, &shape) ||
            (x->grid->part_count > 1 && !order_same(&x->type, x->order, y->order)))
            return false;
    return true;
}

bool pte_dequantize(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int64_t start;
    PteShape shape;
    if (!layer_int8(x))
        return false;
    if (!parts_lie_apart(x, y)) {
        diag_error(t->c, DIAG_MODEL, &n->loc,
                   "%s has parts of unlike scales, whose floats no operator of the dialect joins; "
                   "with --io int8 it needs none",
                   x->name);
        return true;
    }
    int from = pte_value_in(t, x, y->order), to = pte_value(t, y);
    for (int k = 0; k < x->grid->part_count; k++) {
        piece_of(x, &x->grid->part[k], &start, &shape);
        memcpy(shape.order, y->order, (size_t)y->type.rank * sizeof *y->order);
        call_boundary(t, "dequantize_per_tensor", pte_view_from(t, from, start, &shape),
                      &x->grid->part[k],
                      pte_view_from(t, to, start * (int64_t)sizeof(float), &shape));
    }
    return true;
}

/* ---- softmax ------------------------------------------------------------------------------- */

static const CtnSoftmaxS8Args *softmax_args(const Pte *t, const Node *n) {
    for (const Call *call = t->g->first_call; call; call = call->next)
        if (call->node == n && call->kernel == CTN_KERNEL_softmax_s8)
            return call->args;
    return NULL;
}

/* The numbers that Corten's kernel was given, which has the same arithmetic on the chip. */
bool pte_softmax(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    const CtnSoftmaxS8Args *a = softmax_args(t, n);
    int rank = x->type.rank, dim = dim_wrap(t->c, n, node_int(n, "dim"), rank), count = 0;
    if (!a || !layer_int8(x) || !layer_int8(y))
        return false;
    int8_t order[MAX_RANK]; /* rows innermost */
    for (int k = 0; k < rank; k++)
        if (y->order[k] != dim)
            order[count++] = y->order[k];
    order[count] = (int8_t)dim;
    int64_t size[] = {type_count(&y->type) / y->type.dim[dim], y->type.dim[dim]};
    int from = pte_value_in(t, x, order), out = pte_result(t, n, order);
    int args[] = {pte_flat(t, from, 2, size),      pte_int(t, 1),
                  pte_int(t, value_zero_point(x)), pte_int(t, value_zero_point(y)),
                  pte_int(t, a->multiplier),       pte_int(t, a->shift),
                  pte_int(t, a->diff_min),         pte_flat(t, out, 2, size)};
    pte_call(t, "softmax", 8, args);
    pte_finish(t, n, order, out);
    return true;
}
