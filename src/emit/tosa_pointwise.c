/* Pointwise operators in TOSA, in the arithmetic of the kernels (docs/numerics.md). */
#include "emit/tosa.h"
#include "lower/pointwise.h"

#include <math.h>

int tosa_spread(Tosa *t, const Value *v, const Value *y) {
    int8_t order[MAX_RANK];
    int count = 0, missing = y->type.rank - v->type.rank;
    for (int i = 0; i < y->type.rank; i++)
        if (y->order[i] >= missing)
            order[count++] = (int8_t)(y->order[i] - missing);
    int tensor = tosa_value_in(t, v, order);
    TosaDims own = tosa_dims(t, tensor), dims = {y->type.rank, {0}};
    for (int i = 0, j = 0; i < y->type.rank; i++)
        dims.dim[i] = y->order[i] >= missing ? own.dim[j++] : 1;
    return tosa_reshape(t, tensor, &dims);
}

static int operand(Tosa *t, const Node *n, int k) {
    return tosa_spread(t, node_operand(n, k), n->out[0]);
}

static bool operands_fit(const Node *n) {
    return node_operand_count(n) == 2 && layer_int8(node_operand(n, 0)) &&
           layer_int8(node_operand(n, 1)) && layer_int8(n->out[0]);
}

/* On the grid of n's output; a factor that is too large for TOSA or the kernel is held as the
 * kernel holds it. */
static int stored(Tosa *t, const Node *n, int tensor, double factor, int32_t most) {
    int32_t multiplier, shift;
    multiplier_from(factor, &multiplier, &shift);
    shift = shift > most ? most : shift;
    return tosa_rescale(t, tensor, TOSA_INT8, 0, value_zero_point(n->out[0]), 1, &multiplier,
                        &shift);
}

/* (q - zero_point) * 2^SUM_S8_LEFT, negated if the factor is, then on the common scale. */
static int addend(Tosa *t, const Node *n, int k, double factor) {
    int wide = tosa_widened(t, operand(t, n, k), value_zero_point(node_operand(n, k)), SUM_S8_LEFT);
    if (factor < 0)
        wide = tosa_pair(t, TOSA_SUB, tosa_number_like(t, wide, 0), wide);
    return tosa_rescale_by(t, wide, TOSA_INT32, 0, 0, fabs(factor));
}

/* factor_a * a + factor_b * b */
static bool write_sum(Tosa *t, Node *n, double factor_a, double factor_b) {
    if (!operands_fit(n))
        return false;
    SumFactors f = sum_factors(factor_a * value_scale(node_operand(n, 0)),
                               factor_b * value_scale(node_operand(n, 1)), value_scale(n->out[0]),
                               SUM_S8_LEFT);
    int sum = tosa_pair(t, TOSA_ADD, addend(t, n, 0, f.a), addend(t, n, 1, f.b));
    tosa_store(t, n, stored(t, n, sum, f.output, SUM_SHIFT_MOST));
    return true;
}

bool tosa_write_add(Tosa *t, Node *n) {
    return write_sum(t, n, 1, node_double(n, "alpha"));
}

bool tosa_write_sub(Tosa *t, Node *n) {
    return write_sum(t, n, 1, -node_double(n, "alpha"));
}

bool tosa_write_mul(Tosa *t, Node *n) {
    if (!operands_fit(n))
        return false;
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    int product = tosa_product(t, tosa_widened(t, operand(t, n, 0), value_zero_point(a), 0),
                               tosa_widened(t, operand(t, n, 1), value_zero_point(b), 0), 0);
    double factor = value_scale(a) * value_scale(b) / value_scale(y);
    tosa_store(t, n, stored(t, n, product, factor, PRODUCT_SHIFT_MOST));
    return true;
}

/* Numbers are compared on the output's grid. */
bool tosa_write_extreme(Tosa *t, Node *n) {
    int in[2];
    if (!operands_fit(n))
        return false;
    for (int k = 0; k < 2; k++) {
        int8_t entry[256];
        in[k] = operand(t, n, k);
        if (minmax_entries(node_operand(n, k), n->out[0], entry))
            in[k] = tosa_lookup(t, in[k], entry);
        in[k] = tosa_widened(t, in[k], 0, 0);
    }
    TosaKind kind = node_is(n, "aten::maximum") ? TOSA_MAXIMUM : TOSA_MINIMUM;
    int most = tosa_pair(t, kind, in[0], in[1]);
    tosa_store(t, n, tosa_rescale_by(t, most, TOSA_INT8, 0, 0, 1));
    return true;
}

bool tosa_write_table(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int8_t entry[TABLE_ENTRIES];
    if (!layer_int8(x) || !layer_int8(y) || table_fill(t->c, n, x->grid, y->grid, entry) != 256)
        return false;
    tosa_store(t, n, tosa_lookup(t, operand(t, n, 0), entry));
    return true;
}

/* The slopes' signs, or -1 if all are positive. */
static int signs(Tosa *t, const Value *weight) {
    int64_t count = type_count(&weight->type);
    int32_t *sign = NEW_ARRAY(t->c, int32_t, count);
    bool negative = false;
    for (int64_t i = 0; i < count; i++) {
        sign[i] = ((const int8_t *)weight->constant->data)[i] < 0 ? -1 : 1;
        negative |= sign[i] < 0;
    }
    return negative ? tosa_const(t, TOSA_INT32, &(TosaDims){1, {count}}, sign) : -1;
}

/* What is below zero, each channel by its slope; channels lie innermost. */
static int below_zero(Tosa *t, const Node *n, int wide, double ratio) {
    const Value *weight = node_in(n, "weight");
    int64_t count = type_count(&weight->type);
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, count), *shift = NEW_ARRAY(t->c, int32_t, count);
    for (int64_t i = 0; i < count; i++)
        multiplier_from(ratio * fabs(layer_real(weight, i)), &multiplier[i], &shift[i]);
    int below = tosa_pair(t, TOSA_MINIMUM, wide, tosa_number_like(t, wide, 0));
    int sign = signs(t, weight);
    if (sign >= 0)
        below = tosa_product(t, below, tosa_ranked(t, sign, tosa_dims(t, wide).rank), 0);
    return tosa_rescale(t, below, TOSA_INT32, 0, 0, (int)count, multiplier, shift);
}

bool tosa_write_prelu(Tosa *t, Node *n) {
    const Value *x = node_in(n, "self"), *weight = node_in(n, "weight"), *y = node_result(n);
    int rank = x->type.rank;
    if (!layer_int8(x) || !layer_int8(y) || !weight->constant || !weight->grid || rank < 2)
        return false;
    int8_t order[MAX_RANK]; /* channels innermost */
    for (int k = 0, d = 0; d < rank; d++)
        if (d != 1)
            order[k++] = (int8_t)d;
    order[rank - 1] = 1;
    double ratio = ldexp(value_scale(x) / value_scale(y), -PRELU_BITS);
    int wide = tosa_widened(t, tosa_value_in(t, x, order), value_zero_point(x), PRELU_BITS);
    int above = tosa_pair(t, TOSA_MAXIMUM, wide, tosa_number_like(t, wide, 0));
    above = tosa_rescale_by(t, above, TOSA_INT32, 0, 0, ratio);
    int sum = tosa_pair(t, TOSA_ADD, above, below_zero(t, n, wide, ratio));
    tosa_store(t, n,
               tosa_from_order(t, n, order,
                               tosa_rescale_by(t, sum, TOSA_INT8, 0, value_zero_point(y), 1)));
    return true;
}
