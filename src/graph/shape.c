/* Shape functions that operator families share: broadcasting and PyTorch's promotion of dtypes.
 * A dtype is decided in three tiers, as in torch: tensors with dimensions, then tensors of rank
 * zero, then Python numbers; a lower tier counts only if its category (bool, integer, float) is
 * higher than that of the tiers above it. */
#include "ops/ops.h"

typedef enum { TIER_DIMENSIONED, TIER_RANK_ZERO, TIER_NUMBER, TIER_COUNT } Tier;

static int dtype_category(DType t) {
    return dtype_is_float(t) ? 3 : t == DT_BOOL ? 1 : t == DT_NONE ? 0 : 2;
}

static DType promote_integers(DType a, DType b) {
    if (a == DT_U8 || b == DT_U8) {
        DType other = a == DT_U8 ? b : a;
        return other == DT_U8 ? DT_U8 : other == DT_I8 ? DT_I16 : other;
    }
    return a > b ? a : b;
}

static DType promote_floats(DType a, DType b) {
    if (a == b)
        return a;
    if (a == DT_F64 || b == DT_F64)
        return DT_F64;
    return DT_F32; /* float16 with bfloat16 too */
}

DType dtype_promote(DType a, DType b) {
    int category_a = dtype_category(a), category_b = dtype_category(b);
    if (category_a != category_b)
        return category_a > category_b ? a : b;
    if (category_a == 3)
        return promote_floats(a, b);
    return category_a == 2 ? promote_integers(a, b) : a;
}

double number_wrap(DType t, double x) {
    if (dtype_is_float(t) || t == DT_BOOL || !(fabs(x) < 0x1p63))
        return x;
    int64_t i = (int64_t)x;
    switch (t) {
    case DT_U8:
        return (uint8_t)i;
    case DT_I8:
        return (int8_t)i;
    case DT_I16:
        return (int16_t)i;
    case DT_I32:
        return (int32_t)i;
    default:
        return x;
    }
}

static DType number_dtype(const Arg *a) {
    switch (a->kind) {
    case ARG_BOOL:
        return DT_BOOL;
    case ARG_INT:
        return DT_I64;
    case ARG_FLOAT:
        return DT_F32;
    default:
        return DT_NONE;
    }
}

/* Arguments that take part in promotion: tensors but for where's condition; numbers but for alpha,
 * weight, value and the like. */
static bool promotes(const SchemaArg *s) {
    static const char *const names[] = {"self", "other", "exponent", "min", "max"};
    if (s->type == T_TENSOR)
        return !text_equal(s->name, "condition");
    if (s->type != T_SCALAR)
        return false;
    for (size_t k = 0; k < COUNT_OF(names); k++)
        if (text_equal(s->name, names[k]))
            return true;
    return false;
}

DType node_promoted_dtype(const Node *n) {
    const Schema *schema = op_schema(n->op);
    DType tier[TIER_COUNT] = {DT_NONE, DT_NONE, DT_NONE};
    for (int k = 0; k < n->arg_count; k++) {
        const Arg *a = &n->arg[k];
        if (!promotes(&schema->arg[k]))
            continue;
        if (a->kind == ARG_VALUE) {
            Tier t = a->u.value->type.rank > 0 ? TIER_DIMENSIONED : TIER_RANK_ZERO;
            tier[t] = dtype_promote(tier[t], a->u.value->type.dtype);
        } else {
            tier[TIER_NUMBER] = dtype_promote(tier[TIER_NUMBER], number_dtype(a));
        }
    }
    DType result = tier[0];
    for (int t = 1; t < TIER_COUNT; t++)
        if (dtype_category(tier[t]) > dtype_category(result))
            result = tier[t];
    return result;
}

/* Widens `into` by the dimensions of `t`; false if they do not broadcast. */
static bool broadcast_into(Type *into, const Type *t) {
    int rank = into->rank > t->rank ? into->rank : t->rank;
    int64_t dim[MAX_RANK];
    for (int k = 1; k <= rank; k++) {
        int64_t a = k <= into->rank ? into->dim[into->rank - k] : 1;
        int64_t b = k <= t->rank ? t->dim[t->rank - k] : 1;
        if (a != b && a != 1 && b != 1)
            return false;
        dim[rank - k] = a == 1 ? b : a;
    }
    *into = type_make(into->dtype, rank, dim);
    return true;
}

void node_set_type(Node *n, int k, DType dtype, int rank, const int64_t *dim) {
    n->out[k]->type = type_make(dtype, rank, dim);
}

void shape_same(C *c, Node *n) {
    (void)c;
    n->out[0]->type = node_operand(n, 0)->type;
}

static void shape_broadcast_as(C *c, Node *n, DType dtype) {
    Type type = type_make(dtype, 0, NULL);
    int count = node_operand_count(n);
    for (int k = 0; k < count; k++) {
        const Type *t = &node_operand(n, k)->type;
        if (!broadcast_into(&type, t)) {
            diag_error(c, DIAG_MODEL, &n->loc, "operand of shape %s does not broadcast with %s",
                       shape_text(c, t->rank, t->dim), shape_text(c, type.rank, type.dim));
            return;
        }
    }
    n->out[0]->type = type;
}

void shape_broadcast(C *c, Node *n) {
    shape_broadcast_as(c, n, node_promoted_dtype(n));
}

void shape_broadcast_float(C *c, Node *n) {
    DType t = node_promoted_dtype(n);
    shape_broadcast_as(c, n, dtype_is_float(t) ? t : DT_F32);
}

void shape_broadcast_bool(C *c, Node *n) {
    shape_broadcast_as(c, n, DT_BOOL);
}

void shape_broadcast_first(C *c, Node *n) {
    shape_broadcast_as(c, n, node_operand(n, 0)->type.dtype);
}
