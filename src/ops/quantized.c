/* The quantize and dequantize operators of PT2E archives, and corten::requantize. Pass absorb turns
 * most of them into grids; what is left stands where an archive's integers meet its reals, and
 * costs nothing: the integers are the same bytes, seen with a grid or without. */
#include "ops/ops.h"

#include <string.h>

/* Scale and zero point for the channel of each element. */
typedef struct {
    const Array *scales, *zero_points; /* of channels, or NULL: the numbers below */
    double scale, zero_point;
    int64_t inner, channels; /* element i belongs to channel i / inner % channels */
} Affine;

/* A number that some overloads give as a tensor of one element. */
static double number(C *c, const Node *n, const char *name) {
    return node_arg(n, name)->kind == ARG_VALUE ? array_get(eval_in(c, n, name), 0)
                                                : node_double(n, name);
}

static Affine affine_read(C *c, const Node *n, const Array *x) {
    Affine a = {.inner = 1, .channels = 1};
    if (!node_takes(n, "axis")) {
        a.scale = number(c, n, "scale");
        a.zero_point = number(c, n, "zero_point");
        return a;
    }
    int axis = dim_wrap(c, n, node_int(n, "axis"), x->rank);
    for (int d = axis + 1; d < x->rank; d++)
        a.inner *= x->dim[d];
    a.channels = x->rank > 0 ? x->dim[axis] : 1;
    a.scales = eval_in(c, n, "scales");
    a.zero_points = eval_in(c, n, "zero_points");
    return a;
}

static void affine_at(const Affine *a, int64_t i, double *scale, double *zero_point) {
    int64_t channel = i / a->inner % a->channels;
    *scale = a->scales ? array_get(a->scales, channel) : a->scale;
    *zero_point = a->zero_points ? array_get(a->zero_points, channel) : a->zero_point;
}

static void shape_quantize(C *c, Node *n) {
    (void)c;
    const Type *x = &node_in(n, "input")->type;
    node_set_type(n, 0, node_arg(n, "dtype")->u.dtype, x->rank, x->dim);
}

static void shape_dequantize(C *c, Node *n) {
    (void)c;
    const Type *x = &node_in(n, "input")->type;
    DType dtype = node_has(n, "out_dtype") ? node_arg(n, "out_dtype")->u.dtype : DT_F32;
    node_set_type(n, 0, dtype, x->rank, x->dim);
}

/* clamp(rint(x * (1 / scale)) + zero_point) in float32, ties to even, as torch. */
static void eval_quantize(C *c, Node *n) {
    const Array *x = eval_in(c, n, "input");
    Array *y = eval_out(c, n, 0);
    Affine a = affine_read(c, n, x);
    double low = number(c, n, "quant_min"), high = number(c, n, "quant_max");
    for (int64_t i = 0, count = array_count(x); i < count; i++) {
        double scale, zero_point;
        affine_at(&a, i, &scale, &zero_point);
        float scaled = (float)array_get(x, i) * (1.0f / (float)scale);
        double q = (double)rintf(scaled) + zero_point;
        array_set(y, i, q < low ? low : q > high ? high : q);
    }
}

static void eval_dequantize(C *c, Node *n) {
    const Array *x = eval_in(c, n, "input");
    Array *y = eval_out(c, n, 0);
    Affine a = affine_read(c, n, x);
    for (int64_t i = 0, count = array_count(x); i < count; i++) {
        double scale, zero_point;
        affine_at(&a, i, &scale, &zero_point);
        array_set(y, i, (array_get(x, i) - zero_point) * scale);
    }
}

/* The same bytes under another name. */
static void lower_reinterpret(C *c, Graph *g, Node *n) {
    Value *in = node_in(n, "input"), *out = n->out[0];
    DType from = value_storage(in), to = value_storage(out);
    if (from != to || node_takes(n, "axis"))
        diag_error(c, DIAG_MODEL, &n->loc, "integers of type %s cannot be read as %s here",
                   dtype_name(from), dtype_name(to));
    else
        value_alias(g, out, in, 0);
}

static double map_identity(const Node *n, const double *in) {
    (void)n;
    return in[0];
}

void rescale_factor(const Part *from, const Part *to, int32_t *multiplier, int32_t *shift) {
    multiplier_from(from->scale / to->scale, multiplier, shift);
    if (*shift > 14) /* 2^16 << 14 still fits; any step but 0 is then beyond the output's range */
        *shift = 14;
}

/* Between int8 and int16, or int16 of two scales. */
static void rescale_run(C *c, Graph *g, Node *n, Value *in, Value *out, int64_t at, int64_t count,
                        int part) {
    const Part *from = &in->grid->part[part], *to = &out->grid->part[part];
    Call *call = call_new(c, g, n, CTN_KERNEL_rescale);
    CtnRescaleArgs *a = call->args;
    a->input_bytes = dtype_size(value_storage(in));
    a->output_bytes = dtype_size(value_storage(out));
    call_in_at(call, &a->input, in, at * a->input_bytes);
    call_out_at(call, &a->output, out, at * a->output_bytes);
    a->count = (int32_t)count;
    a->input_zero_point = from->zero_point;
    a->output_zero_point = to->zero_point;
    rescale_factor(from, to, &a->multiplier, &a->shift);
}

static void lower_requantize_s8(C *c, Graph *g, Node *n, Value *in, Value *out) {
    int8_t entry[256];
    if (value_storage(in) == value_storage(out))
        table_requantize(in->grid, out->grid, entry);
    else /* between int8 and uint8: the highest bit turns */
        for (int i = 0; i < 256; i++)
            entry[i] = (int8_t)i;
    Call *call = call_new(c, g, n, CTN_KERNEL_table_s8);
    CtnTableS8Args *a = call->args;
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    call_const(call, &a->table, "table", DT_I8, entry, sizeof entry, 1);
    a->count = (int32_t)type_count(&out->type);
    a->entry_size = 1;
}

static void lower_requantize(C *c, Graph *g, Node *n) {
    Value *in = node_in(n, "input"), *out = n->out[0];
    if (!in->grid || !out->grid) {
        diag_error(c, DIAG_MODEL, &n->loc, "there is no requantization from %s to %s",
                   dtype_name(value_storage(in)), dtype_name(value_storage(out)));
        return;
    }
    bool is_unsigned = value_storage(in) == DT_U8 || value_storage(out) == DT_U8;
    bool same_type = value_storage(in) == value_storage(out), one = in->grid->part_count == 1;
    if (one && same_type && value_scale(in) == value_scale(out) &&
        value_zero_point(in) == value_zero_point(out))
        value_alias(g, out, in, 0);
    else if (is_unsigned || (one && same_type && value_storage(in) == DT_I8))
        lower_requantize_s8(c, g, n, in, out);
    else
        lower_by_parts(c, g, n, in, rescale_run);
}

#define QUANTIZE .shape = shape_quantize, .eval = eval_quantize, .lower = lower_reinterpret
#define DEQUANTIZE .shape = shape_dequantize, .eval = eval_dequantize, .lower = lower_reinterpret
#define Q "quantized_decomposed::"

static const Op rows[] = {
    {.schema = Q "quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
                 "int quant_max, ScalarType dtype) -> Tensor",
     QUANTIZE},
    {.schema = Q "quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int "
                 "quant_min, int quant_max, ScalarType dtype) -> Tensor",
     QUANTIZE},
    {.schema = Q "quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, "
                 "Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor",
     QUANTIZE},
    {.schema = Q "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
                 "int quant_min, int quant_max, ScalarType dtype) -> Tensor",
     QUANTIZE},
    {.schema = Q "dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
                 "int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
     DEQUANTIZE},
    {.schema = Q "dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int "
                 "quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> "
                 "Tensor",
     DEQUANTIZE},
    {.schema = Q "dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, "
                 "Tensor quant_min, Tensor quant_max, ScalarType dtype, *, ScalarType? "
                 "out_dtype=None) -> Tensor",
     DEQUANTIZE},
    {.schema = Q "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int "
                 "axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? "
                 "out_dtype=None) -> Tensor",
     DEQUANTIZE},
    /* The same real numbers on the output's own grid. */
    {.schema = "corten::requantize(Tensor input) -> Tensor",
     .traits = OP_WIDE_IN | OP_WIDE_OUT,
     .map = map_identity,
     .lower = lower_requantize},
};

OPS_FAMILY(quantized, rows);
