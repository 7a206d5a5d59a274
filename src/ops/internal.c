/* Rows that no archive holds: what passes insert at the C boundary, between layouts, and where a
 * value must have memory of its own. */
#include "ops/ops.h"

#include <string.h>

static void eval_identity(C *c, Node *n) {
    const Array *x = eval_in(c, n, "input");
    Array *y = eval_out(c, n, 0);
    if (array_bytes(y) > 0)
        memcpy(y->data, x->data, (size_t)array_bytes(y));
}

static int32_t float_bits(double x) {
    float f = (float)x;
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* float32 to the grid of the output, as torch: the float32 reciprocal of the scale. */
static void lower_quantize(C *c, Graph *g, Node *n) {
    bool wide = n->out[0]->grid->dtype == DT_I16;
    Call *call = call_new(c, g, n, wide ? CTN_KERNEL_quantize_s16 : CTN_KERNEL_quantize_s8);
    CtnQuantizeS8Args *a = call->args; /* both widths share the argument list */
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, n->out[0]);
    a->count = (int32_t)type_count(&n->out[0]->type);
    a->inverse_scale = float_bits(1.0f / (float)value_scale(n->out[0]));
    a->zero_point = value_zero_point(n->out[0]);
}

static void lower_dequantize(C *c, Graph *g, Node *n) {
    Value *in = node_in(n, "input");
    bool wide = in->grid->dtype == DT_I16;
    Call *call = call_new(c, g, n, wide ? CTN_KERNEL_dequantize_s16 : CTN_KERNEL_dequantize_s8);
    CtnDequantizeS8Args *a = call->args;
    call_in(call, &a->input, in);
    call_out(call, &a->output, n->out[0]);
    a->count = (int32_t)type_count(&n->out[0]->type);
    a->scale = float_bits(value_scale(in));
    a->zero_point = value_zero_point(in);
}

/* The same bytes in other memory. */
static void lower_plain_copy(C *c, Graph *g, Node *n) {
    Value *in = node_in(n, "input");
    int64_t one = 1, count = type_count(&in->type);
    if (count > 0)
        lower_copy(c, g, n, in, 0, &one, n->out[0], 0, &one, 1, &count);
}

static const Op rows[] = {
    {.schema = "corten::quantize(Tensor input) -> Tensor",
     .traits = OP_ANY_ORDER,
     .shape = shape_same,
     .eval = eval_identity,
     .lower = lower_quantize},
    {.schema = "corten::dequantize(Tensor input) -> Tensor",
     .traits = OP_ANY_ORDER,
     .shape = shape_same,
     .eval = eval_identity,
     .lower = lower_dequantize},
    {.schema = "corten::relayout(Tensor input) -> Tensor",
     .traits = OP_MOVES_DATA,
     .shape = shape_same,
     .eval = eval_identity,
     .quant = {.out = {Q_SAME}},
     .lower = lower_movement},
    {.schema = "corten::copy(Tensor input) -> Tensor",
     .traits = OP_ANY_ORDER,
     .shape = shape_same,
     .eval = eval_identity,
     .quant = {.out = {Q_SAME}},
     .lower = lower_plain_copy},
};
OPS_FAMILY(internal, rows);
