/* Operators that give back their input, or its numbers in another dtype: conversions, copies,
 * dropout at inference, assertions. Conversions come down to one row, _to_copy: floats are cut
 * towards zero, integers wrap, whatever is not zero is true. */
#include <string.h>

#include "lower/pointwise.h"
#include "ops/ops.h"

/* ---- identities --------------------------------------------------------------------------- */

static void eval_identity(C *c, Node *n) {
    const Array *in = eval_value(c, node_operand(n, 0));
    memcpy(eval_out(c, n, 0)->data, in->data, (size_t)array_bytes(in));
}

static void shape_dropout(C *c, Node *n) {
    shape_same(c, n);
    if (node_bool(n, "train") && node_double(n, "p") > 0)
        diag_error(c, DIAG_MODEL, &n->loc,
                   "dropout with train=True is random: export the model in eval mode");
}

/* At inference: the input, and a mask that keeps everything. */
static void shape_native_dropout(C *c, Node *n) {
    shape_same(c, n);
    n->out[1]->type = n->out[0]->type;
    n->out[1]->type.dtype = DT_BOOL;
    if ((!node_has(n, "train") || node_bool(n, "train")) && node_double(n, "p") > 0)
        diag_error(c, DIAG_MODEL, &n->loc,
                   "native_dropout in training is random: export the model in eval mode");
}

static void eval_native_dropout(C *c, Node *n) {
    eval_identity(c, n);
    Array *mask = eval_out(c, n, 1);
    memset(mask->data, 1, (size_t)array_bytes(mask));
}

static void decompose_native_dropout(C *c, Graph *g, Node *n) {
    Array *mask = array_new(c, DT_BOOL, n->out[1]->type.rank, n->out[1]->type.dim);
    memset(mask->data, 1, (size_t)array_bytes(mask));
    value_replace(g, n->out[0], node_in(n, "input"));
    value_replace(g, n->out[1], value_constant(g, n->out[1]->name, mask));
}

/* ---- conversions -------------------------------------------------------------------------- */

static double map_to_copy(const Node *n, const double *in) {
    DType t = n->out[0]->type.dtype;
    if (dtype_is_float(t))
        return in[0];
    return t == DT_BOOL ? in[0] != 0 : number_wrap(t, trunc(in[0]));
}

/* Of to.other and type_as too, whose second operand gives no numbers: they have no map. */
static void eval_to(C *c, Node *n) {
    const Array *in = eval_value(c, node_operand(n, 0));
    Array *out = eval_out(c, n, 0);
    for (int64_t k = 0, count = array_count(in); k < count; k++) {
        double x = array_get(in, k);
        array_set(out, k, map_to_copy(n, &x));
    }
}

static void set_dtype(Node *n, DType dtype) {
    n->out[0]->type = node_operand(n, 0)->type;
    n->out[0]->type.dtype = dtype;
}

static DType dtype_argument(const Node *n) {
    const Arg *a = node_arg(n, "dtype");
    return a->kind == ARG_DTYPE ? a->u.dtype
           : a->kind == ARG_INT ? (DType)a->u.i
                                : node_operand(n, 0)->type.dtype;
}

static void shape_to(C *c, Node *n) {
    (void)c;
    set_dtype(n, dtype_argument(n));
}

static void shape_to_other(C *c, Node *n) {
    (void)c;
    set_dtype(n, node_in(n, "other")->type.dtype);
}

static void decompose_to(C *c, Graph *g, Node *n) {
    (void)c;
    value_replace(g, n->out[0], value_converted(g, n, node_operand(n, 0), n->out[0]->type.dtype));
}

/* ---- writes as values --------------------------------------------------------------------- */

static double map_copy(const Node *n, const double *in) {
    return map_to_copy(n, &in[1]);
}

static double map_fill(const Node *n, const double *in) {
    (void)in;
    double value = node_double(n, "value");
    return map_to_copy(n, &value);
}

static double map_zero(const Node *n, const double *in) {
    (void)n;
    (void)in;
    return 0;
}

/* Source v, spread over the shape and in the dtype of the output. */
static void replace_by_spread(C *c, Graph *g, Node *n, Value *v) {
    const Type *t = &n->out[0]->type;
    v = value_converted(g, n, v, t->dtype);
    if (!type_equal(&v->type, t))
        v = node_value(g, n, "aten::expand", ARGS(arg_value(v), arg_ints(c, t->rank, t->dim)));
    value_replace(g, n->out[0], v);
}

static void decompose_copy(C *c, Graph *g, Node *n) {
    replace_by_spread(c, g, n, node_in(n, "src"));
}

static void decompose_fill_tensor(C *c, Graph *g, Node *n) {
    replace_by_spread(c, g, n, node_in(n, "value"));
}

static void decompose_fill(C *c, Graph *g, Node *n) {
    const Type *t = &n->out[0]->type;
    Array *a = array_new(c, t->dtype, t->rank, t->dim);
    double value = n->op->map(n, NULL);
    for (int64_t k = 0, count = type_count(t); k < count; k++)
        array_set(a, k, value);
    value_replace(g, n->out[0], value_constant(g, n->out[0]->name, a));
}

/* ---- rows --------------------------------------------------------------------------------- */

#define IDENTITY                                                                                   \
    .shape = shape_same, .eval = eval_identity, .quant = {.out = {Q_SAME}}, .lower = lower_movement

#define COPY .traits = OP_EFFECT_FREE_IDENTITY | OP_MOVES_DATA, IDENTITY

#define DROPOUT                                                                                    \
    .traits = OP_EFFECT_FREE_IDENTITY | OP_MOVES_DATA | OP_MAY_RETURN_INPUT,                       \
    .shape = shape_dropout, .eval = eval_identity, .quant = {.out = {Q_SAME}},                     \
    .lower = lower_movement

#define CONVERSION .traits = OP_MAY_RETURN_INPUT, .eval = eval_to, .decompose = decompose_to

static const Op rows[] = {
    {.schema = "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", COPY},
    {.schema = "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
     .traits = OP_EFFECT_FREE_IDENTITY | OP_MOVES_DATA | OP_MAY_RETURN_INPUT,
     IDENTITY},
    {.schema = "aten::detach(Tensor(a) self) -> Tensor(a)", COPY},
    {.schema = "aten::alias(Tensor(a) self) -> Tensor(a)", COPY},
    {.schema = "aten::positive(Tensor(a) self) -> Tensor(a)", COPY},
    {.schema = "aten::lift_fresh_copy(Tensor self) -> Tensor", COPY},
    {.schema = "aten::real(Tensor(a) self) -> Tensor(a)", COPY},
    {.schema = "aten::conj(Tensor(a) self) -> Tensor(a)", COPY},
    {.schema = "aten::conj_physical(Tensor self) -> Tensor", COPY},
    {.schema = "aten::resolve_conj(Tensor(a) self) -> Tensor(a)", COPY},
    {.schema = "aten::resolve_neg(Tensor(a) self) -> Tensor(a)", COPY},
    {.schema = "aten::lift(Tensor self) -> Tensor", COPY},
    {.schema = "aten::dropout(Tensor input, float p, bool train) -> Tensor", DROPOUT},
    {.schema = "aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", DROPOUT},
    {.schema = "aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", DROPOUT},
    {.schema = "aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", DROPOUT},
    {.schema = "aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
     .shape = shape_native_dropout,
     .eval = eval_native_dropout,
     .decompose = decompose_native_dropout},
    {.schema = "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
               "MemoryFormat? memory_format=None) -> Tensor",
     .map = map_to_copy,
     .shape = shape_to,
     .lower = lower_integer_unary},
    {.schema = "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool "
               "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     .shape = shape_to,
     CONVERSION},
    {.schema = "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool "
               "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> "
               "Tensor(a)",
     .shape = shape_to,
     CONVERSION},
    {.schema = "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? "
               "layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
               "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     .shape = shape_to,
     CONVERSION},
    {.schema = "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool "
               "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     .shape = shape_to_other,
     CONVERSION},
    {.schema = "aten::type_as(Tensor self, Tensor other) -> Tensor",
     .shape = shape_to_other,
     CONVERSION},
    {.schema = "aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
     .map = map_copy,
     .shape = shape_same,
     .decompose = decompose_copy},
    {.schema = "aten::fill.Scalar(Tensor self, Scalar value) -> Tensor",
     .map = map_fill,
     .shape = shape_same,
     .decompose = decompose_fill},
    {.schema = "aten::fill.Tensor(Tensor self, Tensor value) -> Tensor",
     .map = map_copy,
     .shape = shape_same,
     .decompose = decompose_fill_tensor},
    {.schema = "aten::zero(Tensor self) -> Tensor",
     .map = map_zero,
     .shape = shape_same,
     .decompose = decompose_fill},
    {.schema = "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? "
               "stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) "
               "-> ()",
     .traits = OP_ASSERTS},
    {.schema = "aten::_assert_scalar(Scalar self, str assert_msg) -> ()", .traits = OP_ASSERTS},
    {.schema = "aten::_assert_async(Tensor self) -> ()", .traits = OP_ASSERTS},
    {.schema = "aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", .traits = OP_ASSERTS},
    {.schema = "aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()",
     .traits = OP_ASSERTS},
    {.schema = "aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) "
               "-> ()",
     .traits = OP_ASSERTS},
};

OPS_FAMILY(cast, rows);
