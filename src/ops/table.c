/* corten::table: a region of pointwise operators with one varying input, as one function of one
 * number. The body graph is the function; what the chip gets of it is a table over the input's
 * grid: every value of an int8 (or bool), every 128th of an int16 with interpolation between. */
#include "ops/ops.h"

static void shape_table(C *c, Node *n) {
    (void)c;
    if (!n->body) {
        shape_same(c, n); /* until the pass that builds the node gives it its body */
        return;
    }
    n->out[0]->type = node_operand(n, 0)->type;
    n->out[0]->type.dtype = n->body->output[0].u.value->type.dtype;
}

static void eval_table(C *c, Node *n) {
    const Array *in = eval_in(c, n, "input");
    Array *out = eval_out(c, n, 0);
    for (int64_t k = 0, count = array_count(in); k < count; k++)
        array_set(out, k, table_body_eval(n, array_get(in, k)));
}

/* ---- lowering ------------------------------------------------------------------------------ */

/* The grid of an int8 input; bools and bytes without one are the numbers they hold. */
static Grid byte_grid(const Value *v, Part *unit) {
    *unit = (Part){.axis = -1, .scale = 1};
    if (v->grid)
        return *v->grid;
    return (Grid){.dtype = DT_I8, .bits = 8, .part_count = 1, .part = unit};
}

/* Entries of another type than int8: int16 grids and plain numbers. NaN is 0. */
static double wide_entry(const Node *n, const Grid *in, int q) {
    const Value *out = node_result(n);
    double y = table_body_eval(n, in->part[0].scale * (q - in->part[0].zero_point));
    if (isnan(y))
        return 0;
    if (!out->grid)
        return y;
    double high = out->grid->dtype == DT_I16 ? 32767 : 127;
    double entry = round(y / value_scale(out)) + value_zero_point(out);
    return fmin(fmax(entry, -high - (high < 128)), high);
}

static void lower_from_bytes(C *c, Graph *g, Node *n, Value *in, Value *out) {
    Part unit;
    Grid grid = byte_grid(in, &unit);
    DType t = value_storage(out);
    Call *call = call_new(c, g, n, CTN_KERNEL_table_s8);
    CtnTableS8Args *a = call->args;
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    a->count = (int32_t)type_count(&out->type);
    a->entry_size = dtype_size(t);
    if (out->grid && t == DT_I8) {
        int8_t entry[TABLE_ENTRIES];
        int count = table_fill(c, n, &grid, out->grid, entry);
        call_const(call, &a->table, "table", t, entry, count, 1);
        return;
    }
    int64_t size = 256;
    Array *entries = array_new(c, t, 1, &size);
    for (int q = -128; q < 128; q++)
        array_set(entries, q + 128, wide_entry(n, &grid, q));
    call_const(call, &a->table, "table", t, entries->data, array_bytes(entries), a->entry_size);
}

static void lower_from_s16(C *c, Graph *g, Node *n, Value *in, Value *out) {
    Call *call = call_new(c, g, n, CTN_KERNEL_table_s16);
    CtnTableS16Args *a = call->args;
    int16_t entry[513];
    for (int k = 0; k <= 512; k++)
        entry[k] = (int16_t)wide_entry(n, in->grid, k * 128 - 32768);
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    a->count = (int32_t)type_count(&out->type);
    call_const(call, &a->table, "table", DT_I16, entry, sizeof entry, 2);
}

static void lower_table(C *c, Graph *g, Node *n) {
    Value *in = node_in(n, "input"), *out = node_result(n);
    DType from = value_storage(in), to = value_storage(out);
    if ((from == DT_I8 || from == DT_BOOL) && !dtype_is_float(to))
        lower_from_bytes(c, g, n, in, out);
    else if (from == DT_I16 && in->grid && to == DT_I16 && out->grid)
        lower_from_s16(c, g, n, in, out);
    else
        diag_error(c, DIAG_MODEL, &n->loc, "a function of %s giving %s has no integer form",
                   dtype_name(from), dtype_name(to));
}

static const Op rows[] = {
    {.schema = "corten::table(Tensor input) -> Tensor",
     .shape = shape_table,
     .eval = eval_table,
     .lower = lower_table},
};

OPS_FAMILY(table, rows);
