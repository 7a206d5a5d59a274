/* Truth values in TOSA: bytes of 0 and 1, as in Corten's own memory, so that tables, maxima and all
 * that moves data take them. What compares and chooses is written with sums, products and maxima,
 * which the small Ethos-U have; TOSA's own SELECT and GREATER they lack. */
#include "emit/tosa.h"
#include "lower/pointwise.h"

bool tosa_is_truth(const Value *v) {
    return !v->grid && value_storage(v) == DT_BOOL;
}

bool tosa_is_byte(const Value *v) {
    return layer_int8(v) || tosa_is_truth(v);
}

bool tosa_is_taken(const Value *v) {
    return layer_quantized(v) || tosa_is_truth(v);
}

bool tosa_is_index(const Value *v) {
    return !v->grid && v->def && !v->constant && value_storage(v) == DT_I64;
}

static int byte_of(Tosa *t, int wide) {
    return tosa_rescale_by(t, wide, TOSA_INT8, 0, 0, 1);
}

static int within_0_and_1(Tosa *t, int wide) {
    wide = tosa_pair(t, TOSA_MAXIMUM, wide, tosa_number_like(t, wide, 0));
    return tosa_pair(t, TOSA_MINIMUM, wide, tosa_number_like(t, wide, 1));
}

static int opposite(Tosa *t, int truth) {
    return tosa_pair(t, TOSA_SUB, tosa_number_like(t, truth, 1), truth);
}

static int distance(Tosa *t, int a, int b) {
    return tosa_pair(t, TOSA_SUB, tosa_pair(t, TOSA_MAXIMUM, a, b),
                     tosa_pair(t, TOSA_MINIMUM, a, b));
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Operand k on the common scale. */
static int compared(Tosa *t, const Node *n, int k, int32_t factor) {
    const Value *v = node_operand(n, k);
    int wide = tosa_widened(t, tosa_spread(t, v, n->out[0]), v->grid ? value_zero_point(v) : 0, 0);
    return factor == 1 ? wide : tosa_product(t, wide, tosa_number_like(t, wide, factor), 0);
}

/* Numbers of 16 bits have products of more than 32, unless they have one grid. */
static bool compares(const Node *n) {
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1);
    if (node_operand_count(n) != 2 || !tosa_is_truth(n->out[0]) || n->fused)
        return false;
    return (tosa_is_byte(a) && tosa_is_byte(b)) ||
           (layer_int16(a) && layer_int16(b) && grids_equal(a, b));
}

/* a > b, a >= b and so on of whole numbers whose difference fits 32 bits. */
static int truth_of(Tosa *t, CtnIntegerOp op, int a, int b) {
    switch (op) {
    case CTN_INTEGER_EQ:
        return opposite(t, within_0_and_1(t, distance(t, a, b)));
    case CTN_INTEGER_NE:
        return within_0_and_1(t, distance(t, a, b));
    case CTN_INTEGER_LT:
        return within_0_and_1(t, tosa_pair(t, TOSA_SUB, b, a));
    case CTN_INTEGER_GT:
        return within_0_and_1(t, tosa_pair(t, TOSA_SUB, a, b));
    case CTN_INTEGER_LE:
        return opposite(t, truth_of(t, CTN_INTEGER_GT, a, b));
    case CTN_INTEGER_GE:
        return opposite(t, truth_of(t, CTN_INTEGER_LT, a, b));
    default:
        return -1;
    }
}

bool tosa_compare(Tosa *t, Node *n) {
    int32_t factor[2] = {1, 1};
    CtnIntegerOp op;
    if (!compares(n) || !integer_op_find(n, &op))
        return false;
    if (!grids_equal(node_operand(n, 0), node_operand(n, 1)))
        comparison_factors(n, factor);
    int a = compared(t, n, 0, factor[0]), b = compared(t, n, 1, factor[1]);
    tosa_store(t, n, byte_of(t, truth_of(t, op, a, b)));
    return true;
}

/* ---- logic ----------------------------------------------------------------------------------- */

/* What is not its zero point. */
static int truth_operand(Tosa *t, const Node *n, int k) {
    const Value *v = node_operand(n, k);
    int tensor = tosa_spread(t, v, n->out[0]);
    int8_t entry[256];
    if (!tosa_is_truth(v)) {
        for (int i = 0; i < 256; i++)
            entry[i] = i - 128 != value_zero_point(v);
        tensor = tosa_lookup(t, tensor, entry);
    }
    return tosa_widened(t, tensor, 0, 0);
}

bool tosa_logical(Tosa *t, Node *n) {
    CtnIntegerOp op;
    if (!integer_op_find(n, &op) || node_operand_count(n) != 2 || !tosa_is_truth(n->out[0]) ||
        !tosa_is_byte(node_operand(n, 0)) || !tosa_is_byte(node_operand(n, 1)))
        return false;
    int a = truth_operand(t, n, 0), b = truth_operand(t, n, 1), y;
    if (op == CTN_INTEGER_XOR || op == CTN_INTEGER_LOGICAL_XOR)
        y = distance(t, a, b);
    else if (op == CTN_INTEGER_AND || op == CTN_INTEGER_LOGICAL_AND)
        y = tosa_pair(t, TOSA_MINIMUM, a, b);
    else if (op == CTN_INTEGER_OR || op == CTN_INTEGER_LOGICAL_OR)
        y = tosa_pair(t, TOSA_MAXIMUM, a, b);
    else
        return false;
    tosa_store(t, n, byte_of(t, y));
    return true;
}

/* ---- choices --------------------------------------------------------------------------------- */

/* A branch on the result's grid in 32 bits; -1: it has no form. */
static int branch(Tosa *t, const Node *n, const Arg *arg) {
    const Value *y = node_result(n), *v = arg->kind == ARG_VALUE ? arg->u.value : NULL;
    double x;
    int8_t entry[256];
    if (choice_number(arg, &x)) {
        int number = tosa_number(t, TOSA_INT32, (int32_t)choice_stored(y, x));
        return tosa_ranked(t, number, y->type.rank);
    }
    bool same = layer_int16(v) && layer_int16(y) && grids_equal(v, y);
    if (!same && (!tosa_is_byte(v) || !tosa_is_byte(y)))
        return -1;
    int tensor = tosa_spread(t, v, y);
    if (!same && minmax_entries(v, y, entry))
        tensor = tosa_lookup(t, tensor, entry);
    return tosa_widened(t, tensor, 0, 0);
}

/* other + condition * (chosen - other), whatever of the three is broadcast. */
static bool chosen(Tosa *t, Node *n, const char *condition, const char *yes, const char *no) {
    const Value *c = node_in(n, condition), *y = node_result(n);
    if (!tosa_is_truth(c) || !tosa_is_taken(y) || n->out[0] != y)
        return false;
    int a = branch(t, n, node_arg(n, yes)), b = branch(t, n, node_arg(n, no));
    if (a < 0 || b < 0)
        return false;
    int mask = tosa_widened(t, tosa_spread(t, c, y), 0, 0);
    int away = tosa_product(t, tosa_pair(t, TOSA_SUB, a, b), mask, 0);
    int sum = tosa_pair(t, TOSA_ADD, b, away);
    tosa_store(t, n, tosa_rescale_by(t, sum, tosa_type(y), 0, 0, 1));
    return true;
}

bool tosa_where(Tosa *t, Node *n) {
    return chosen(t, n, "condition", "self", "other");
}

bool tosa_masked_fill(Tosa *t, Node *n) {
    return chosen(t, n, "mask", "value", "self");
}
