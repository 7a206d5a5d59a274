/* Rows that no archive holds: what passes insert at the C boundary, between layouts, and where a
 * value must have memory of its own. */
#include "lower/float.h"
#include "ops/ops.h"

#include <string.h>

static void eval_identity(C *c, Node *n) {
    const Array *x = eval_in(c, n, "input");
    Array *y = eval_out(c, n, 0);
    if (array_bytes(y) > 0)
        memcpy(y->data, x->data, (size_t)array_bytes(y));
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

static void dequantize_run(C *c, Graph *g, Node *n, Value *in, Value *out, int64_t at,
                           int64_t count, int part) {
    const Part *p = &in->grid->part[part];
    bool wide = value_storage(in) == DT_I16;
    Call *call = call_new(c, g, n, wide ? CTN_KERNEL_dequantize_s16 : CTN_KERNEL_dequantize_s8);
    CtnDequantizeS8Args *a = call->args;
    call_in_at(call, &a->input, in, at * (wide ? 2 : 1));
    call_out_at(call, &a->output, out, at * (int64_t)sizeof(float));
    a->count = (int32_t)count;
    a->scale = float_bits(p->scale);
    a->zero_point = p->zero_point;
}

/* One part of a value whose parts are no runs of memory: copied out, converted, copied back. */
static void convert_part(C *c, Graph *g, Node *n, Value *in, int part, PartRun *run) {
    const Part *p = &in->grid->part[part];
    Type t = in->type;
    t.dim[p->axis] = p->stop - p->start;
    Value *q = value_new(g, c_format(c, "%s_part", in->name), t);
    Value *other = value_new(g, c_format(c, "%s_other", in->name), t);
    q->grid = in->grid;
    other->grid = n->out[0]->grid;
    memcpy(q->order, in->order, sizeof q->order);
    memcpy(other->order, in->order, sizeof other->order);
    int64_t stride[MAX_RANK], part_stride[MAX_RANK];
    value_strides(in, stride);
    value_strides(q, part_stride);
    int64_t start = p->start * stride[p->axis];
    lower_copy(c, g, n, in, start, stride, q, 0, part_stride, t.rank, t.dim);
    run(c, g, n, q, other, 0, type_count(&t), part);
    lower_copy(c, g, n, other, 0, part_stride, n->out[0], start, stride, t.rank, t.dim);
}

void lower_by_parts(C *c, Graph *g, Node *n, Value *in, PartRun *run) {
    const Grid *grid = in->grid;
    int64_t count = type_count(&in->type), stride[MAX_RANK];
    if (grid->part_count == 1) {
        run(c, g, n, in, n->out[0], 0, count, 0);
        return;
    }
    value_strides(in, stride);
    for (int k = 0; k < grid->part_count; k++) {
        const Part *p = &grid->part[k];
        int64_t step = stride[p->axis];
        if (step * in->type.dim[p->axis] == count) /* the axis is outermost */
            run(c, g, n, in, n->out[0], p->start * step, (p->stop - p->start) * step, k);
        else
            convert_part(c, g, n, in, k, run);
    }
}

static void lower_dequantize(C *c, Graph *g, Node *n) {
    lower_by_parts(c, g, n, node_in(n, "input"), dequantize_run);
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
