/* corten::table: a region of pointwise operators with one varying input, as one function of one
 * number. The body graph is the function; what the chip gets of it is a table over the input's
 * grid: every value of an int8 (or bool), every 128th of an int16 with interpolation between, or,
 * where that is not within a step, pieces of the function. */
#include "ops/ops.h"

#include "fix.h"

enum { POSITIONS = 65536 }; /* of an int16 */

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

/* What the byte q of the input means. */
static double byte_meaning(const Value *in, int q) {
    if (in->grid)
        return value_scale(in) * (q - value_zero_point(in));
    return in->type.dtype == DT_U8 ? (uint8_t)q : q;
}

/* The function at x in steps of the result. NaN is 0. */
static double steps_at(const Node *n, double x) {
    const Value *out = node_result(n);
    double y = table_body_eval(n, x);
    if (isnan(y))
        return 0;
    return out->grid ? y / value_scale(out) : y;
}

/* What the result can store. */
static void result_limits(const Value *out, double *low, double *high) {
    *low = !out->grid ? 0 : out->grid->dtype == DT_I16 ? -32767 : -128;
    *high = !out->grid ? 1 : out->grid->dtype == DT_I16 ? 32767 : 127;
}

/* The function at x as the result would store it if it stored fractions. */
static double stored_at(const Node *n, double x) {
    const Value *out = node_result(n);
    double low, high;
    result_limits(out, &low, &high);
    return fmin(fmax(steps_at(n, x) + (out->grid ? value_zero_point(out) : 0), low), high);
}

/* The same as the result stores it: rounded half away from zero before the zero point is added. */
static double entry_at(const Node *n, double x) {
    const Value *out = node_result(n);
    double y = steps_at(n, x), low, high;
    if (!out->grid)
        return y;
    result_limits(out, &low, &high);
    return fmin(fmax(round(y) + value_zero_point(out), low), high);
}

void table_numbers(const Node *n, int32_t entry[256]) {
    for (int q = -128; q < 128; q++)
        entry[q + 128] = (int32_t)entry_at(n, byte_meaning(node_in(n, "input"), q));
}

static void lower_from_bytes(C *c, Graph *g, Node *n, Value *in, Value *out) {
    DType t = value_storage(out);
    Call *call = call_new(c, g, n, CTN_KERNEL_table_s8);
    CtnTableS8Args *a = call->args;
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    a->count = (int32_t)type_count(&out->type);
    a->entry_size = dtype_size(t);
    if (in->grid && out->grid && t == DT_I8) {
        int8_t entry[TABLE_ENTRIES];
        int count = table_fill(c, n, in->grid, out->grid, entry);
        call_const(call, &a->table, "table", t, entry, count, 1);
        return;
    }
    int64_t size = 256;
    int32_t number[256];
    Array *entries = array_new(c, t, 1, &size);
    table_numbers(n, number);
    for (int i = 0; i < size; i++)
        array_set(entries, i, number[i]);
    call_const(call, &a->table, "table", t, entries->data, array_bytes(entries), a->entry_size);
}

/* Seen at the quarters between entries, where a bend or a jump cannot hide. */
bool table_interpolates(const Node *n, int16_t entry[WIDE_ENTRIES]) {
    enum { APART = 128, QUARTER = APART / 4 };
    double scale = value_scale(node_in(n, "input"));
    for (int k = 0; k < WIDE_ENTRIES; k++)
        entry[k] = (int16_t)entry_at(n, scale * (k * APART - 32768));
    for (int q = -32768 + QUARTER; q < 32768; q += QUARTER)
        if (fabs(ctn_interpolate_s16(entry, q) - stored_at(n, scale * q)) > 1)
            return false;
    return true;
}

/* Half a step is the rounding; of truth values nothing may be wrong. */
static double tolerance_of(const Value *out) {
    return !out->grid ? 0.25 : out->grid->dtype == DT_I16 ? 1 : 0.75;
}

static Pieces pieces_of(C *c, const Node *n) {
    const Value *in = node_in(n, "input"), *out = node_result(n);
    double *want = NEW_ARRAY(c, double, POSITIONS);
    for (int i = 0; i < POSITIONS; i++)
        want[i] = stored_at(n, value_scale(in) * (i - POSITIONS / 2));
    PiecesWanted w = {.want = want, .tolerance = tolerance_of(out)};
    result_limits(out, &w.low, &w.high);
    return pieces_fit(c, &w);
}

const int32_t *table_wide_numbers(C *c, const Node *n) {
    int32_t *entry = NEW_ARRAY(c, int32_t, POSITIONS);
    Pieces p = pieces_of(c, n);
    for (int i = 0, k = 0; i < POSITIONS; i++) {
        int32_t q = i - POSITIONS / 2;
        k += k + 1 < p.count && p.start[k + 1] <= q;
        entry[i] = ctn_piece_s16(p.piece + (ptrdiff_t)4 * k, q - p.start[k]);
    }
    return entry;
}

static int32_t pieces_constants(C *c, Call *call, const Node *n, uint32_t *start, uint32_t *piece) {
    Pieces p = pieces_of(c, n);
    call_const(call, start, "starts", DT_I16, p.start, p.count * (int64_t)sizeof *p.start, 2);
    call_const(call, piece, "pieces", DT_I32, p.piece, p.count * (int64_t)sizeof *p.piece * 4, 4);
    return p.count;
}

static void lower_to_pieces(C *c, Graph *g, Node *n, Value *in, Value *out) {
    Call *call = call_new(c, g, n, CTN_KERNEL_pieces_s16);
    CtnPiecesS16Args *a = call->args;
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    a->count = (int32_t)type_count(&out->type);
    a->output_bytes = dtype_size(value_storage(out));
    a->pieces = pieces_constants(c, call, n, &a->start, &a->piece);
}

static bool interpolates(const Node *n, int16_t entry[WIDE_ENTRIES]) {
    return value_storage(n->out[0]) == DT_I16 && table_interpolates(n, entry);
}

static void lower_from_s16(C *c, Graph *g, Node *n, Value *in, Value *out) {
    int16_t entry[WIDE_ENTRIES];
    if (!interpolates(n, entry)) {
        lower_to_pieces(c, g, n, in, out);
        return;
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_table_s16);
    CtnTableS16Args *a = call->args;
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    a->count = (int32_t)type_count(&out->type);
    call_const(call, &a->table, "table", DT_I16, entry, sizeof entry, 2);
}

bool store_maps_s16(const Node *n) {
    const Node *epilogue = node_epilogue(n);
    return epilogue && node_is(epilogue, "corten::table") &&
           (value_storage(n->out[0]) == DT_I16 || value_storage(node_result(n)) == DT_I16);
}

/* Of bytes an entry for each; the last again for the interpolation, which ends on it. */
static void bytes_constant(Call *call, const Node *table, uint32_t *field) {
    enum { BYTES = 256 };
    int32_t number[BYTES];
    int16_t entry[BYTES + 1];
    table_numbers(table, number);
    for (int i = 0; i <= BYTES; i++)
        entry[i] = (int16_t)number[i < BYTES ? i : BYTES - 1];
    call_const(call, field, "table", DT_I16, entry, sizeof entry, 2);
}

void store_map_s16(C *c, Call *call, const Node *n, const MapFields *f) {
    const Node *epilogue = node_epilogue(n);
    int16_t entry[WIDE_ENTRIES];
    call_absent(call, f->table);
    call_absent(call, f->start);
    call_absent(call, f->piece);
    if (!epilogue || !node_is(epilogue, "corten::table"))
        return;
    if (dtype_size(value_storage(n->out[0])) == 1)
        bytes_constant(call, epilogue, f->table);
    else if (interpolates(epilogue, entry))
        call_const(call, f->table, "table", DT_I16, entry, sizeof entry, 2);
    else
        *f->pieces = pieces_constants(c, call, epilogue, f->start, f->piece);
}

static void lower_table(C *c, Graph *g, Node *n) {
    Value *in = node_in(n, "input"), *out = node_result(n);
    DType from = value_storage(in), to = value_storage(out);
    if (dtype_size(from) == 1 && !dtype_is_float(to))
        lower_from_bytes(c, g, n, in, out);
    else if (from == DT_I16 && in->grid && (out->grid || to == DT_BOOL))
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
