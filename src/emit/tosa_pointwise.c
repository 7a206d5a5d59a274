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

/* Two, alike in width as the result is. */
static bool operands_fit(const Node *n) {
    const Value *y = n->out[0];
    return node_operand_count(n) == 2 && layer_quantized(y) &&
           value_storage(node_operand(n, 0)) == value_storage(y) &&
           value_storage(node_operand(n, 1)) == value_storage(y) &&
           layer_quantized(node_operand(n, 0)) && layer_quantized(node_operand(n, 1));
}

/* (q - zero_point) * 2^left, negated if the factor is, then on the common scale. */
static int addend(Tosa *t, const Node *n, int k, double factor, int left) {
    int wide = tosa_widened(t, operand(t, n, k), value_zero_point(node_operand(n, k)), left);
    if (factor < 0)
        wide = tosa_pair(t, TOSA_SUB, tosa_number_like(t, wide, 0), wide);
    return tosa_rescale_by(t, wide, TOSA_INT32, 0, 0, fabs(factor));
}

bool tosa_write_sum(Tosa *t, Node *n) {
    const Value *y = n->out[0];
    int32_t multiplier, shift;
    int left;
    if (!operands_fit(n))
        return false;
    SumFactors f = sum_of(n, &left);
    int sum = tosa_pair(t, TOSA_ADD, addend(t, n, 0, f.a, left), addend(t, n, 1, f.b, left));
    multiplier_from(f.output, &multiplier, &shift);
    shift = shift > SUM_SHIFT_MOST ? SUM_SHIFT_MOST : shift;
    tosa_store(t, n,
               tosa_rescale(t, sum, tosa_type(y), 0, value_zero_point(y), 1, &multiplier, &shift));
    return true;
}

bool tosa_write_mul(Tosa *t, Node *n) {
    int32_t multiplier, shift;
    if (!operands_fit(n))
        return false;
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    int product = tosa_product(t, tosa_widened(t, operand(t, n, 0), value_zero_point(a), 0),
                               tosa_widened(t, operand(t, n, 1), value_zero_point(b), 0), 0);
    product_factor(n, &multiplier, &shift);
    tosa_store(
        t, n,
        tosa_rescale(t, product, tosa_type(y), 0, value_zero_point(y), 1, &multiplier, &shift));
    return true;
}

/* Operand k on the grid of the result, in 32 bits. */
static int compared(Tosa *t, const Node *n, int k) {
    const Value *v = node_operand(n, k), *y = n->out[0];
    int8_t entry[256];
    int x = operand(t, n, k);
    if (layer_int16(y))
        return tosa_rescale_by(t, x, TOSA_INT32, 0, 0, value_scale(v) / value_scale(y));
    return tosa_widened(t, minmax_entries(v, y, entry) ? tosa_lookup(t, x, entry) : x, 0, 0);
}

bool tosa_write_extreme(Tosa *t, Node *n) {
    if (!operands_fit(n))
        return false;
    TosaKind kind = is_minimum(n) ? TOSA_MINIMUM : TOSA_MAXIMUM;
    int most = tosa_pair(t, kind, compared(t, n, 0), compared(t, n, 1));
    most = tosa_rescale_by(t, most, tosa_type(n->out[0]), 0, 0, 1);
    tosa_store(t, n, layer_int16(n->out[0]) ? tosa_clamp(t, most, -INT16_MAX, INT16_MAX) : most);
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

/* What is below zero, by its slope; what has slopes lies innermost. */
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
    int8_t order[MAX_RANK];
    if (!layer_int8(x) || !layer_int8(y) || !weight->constant || !weight->grid)
        return false;
    int outer = layer_slopes_last(x, weight, order);
    if (outer < 0)
        return false;
    int q = tosa_value_in(t, x, order);
    TosaDims dims = tosa_dims(t, q);
    dims.dim[outer] = dims_count(x->type.rank - outer, dims.dim + outer);
    dims.rank = outer + 1;
    double ratio = ldexp(value_scale(x) / value_scale(y), -PRELU_BITS);
    int wide = tosa_widened(t, tosa_reshape(t, q, &dims), value_zero_point(x), PRELU_BITS);
    int above = tosa_pair(t, TOSA_MAXIMUM, wide, tosa_number_like(t, wide, 0));
    above = tosa_rescale_by(t, above, TOSA_INT32, 0, 0, ratio);
    int sum = tosa_pair(t, TOSA_ADD, above, below_zero(t, n, wide, ratio));
    tosa_store(t, n,
               tosa_from_order(t, n, order,
                               tosa_rescale_by(t, sum, TOSA_INT8, 0, value_zero_point(y), 1)));
    return true;
}
