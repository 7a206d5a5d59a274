/* Resampling between elements: linear and bilinear upsampling, grid sampling; and the sizes that
 * all upsampling operators share. Weights are computed in float32 as torch does. A result lies
 * between its neighbours, so it keeps their grid. */
#include "lower/float.h"
#include "ops/ops.h"

/* ---- sizes ---------------------------------------------------------------------------------- */

/* scales, scales_h/scales_w, scales_d/...: the factor of the i-th of `dims` dims, 0: not given. */
static double scale_argument(const Node *n, int dims, int i) {
    static const char *const name[] = {"scales_d", "scales_h", "scales_w"};
    const char *s = dims == 1 ? "scales" : name[3 - dims + i];
    return node_has(n, s) ? node_double(n, s) : 0;
}

bool upsample_sizes(C *c, const Node *n, int dims, int64_t *size, double *scale) {
    const Type *t = &movement_input(n)->type;
    bool vec = text_equal(op_schema(n->op)->overload, "vec");
    if (t->rank != dims + 2)
        return movement_refuse(c, n, "a tensor of rank %d, %d needed", t->rank, dims + 2);
    for (int i = 0; i < dims; i++)
        scale[i] = vec ? 0 : scale_argument(n, dims, i);
    if (vec && node_has(n, "scale_factors")) {
        const Arg *a = node_arg(n, "scale_factors");
        if (a->u.list.count != dims)
            return movement_refuse(c, n, "%d scale factors, %d needed", a->u.list.count, dims);
        for (int i = 0; i < dims; i++) {
            const Arg *f = &a->u.list.item[i];
            scale[i] = f->kind == ARG_INT ? (double)f->u.i : f->u.f;
            double out = (double)t->dim[2 + i] * scale[i];
            size[i] = out > 0 && out < INT32_MAX ? (int64_t)out : 0;
        }
    } else if (!node_has(n, "output_size") || node_ints(n, "output_size", size, dims) != dims) {
        return movement_refuse(c, n, "%d output sizes are needed", dims);
    }
    for (int i = 0; i < dims; i++)
        if (size[i] < 1 || size[i] > INT32_MAX || t->dim[2 + i] < 1)
            return movement_refuse(c, n, "size %lld to %lld", (long long)t->dim[2 + i],
                                   (long long)size[i]);
    return true;
}

/* ---- linear --------------------------------------------------------------------------------- */

/* Output k lies `weight` of the way from input `low` to input `high`. */
typedef struct {
    int64_t low, high;
    float weight;
} Tap;

static Tap linear_tap(int64_t k, int64_t size, int64_t out, bool align_corners, double scale) {
    float step, place;
    if (align_corners) {
        step = out > 1 ? (float)(size - 1) / (float)(out - 1) : 0;
        place = step * (float)k;
    } else {
        step = scale > 0 ? (float)(1.0 / scale) : (float)size / (float)out;
        place = step * ((float)k + 0.5f) - 0.5f;
        place = place < 0 ? 0 : place;
    }
    int64_t low = (int64_t)place < size - 1 ? (int64_t)place : size - 1;
    float weight = place - (float)low;
    return (Tap){low, low < size - 1 ? low + 1 : low, weight > 1 ? 1 : weight};
}

static Tap *linear_taps(C *c, const Node *n, int64_t size, int64_t out, double scale) {
    Tap *tap = NEW_ARRAY(c, Tap, out);
    for (int64_t k = 0; k < out; k++)
        tap[k] = linear_tap(k, size, out, node_bool(n, "align_corners"), scale);
    return tap;
}

static void linear_shape_dims(C *c, Node *n, int dims) {
    const Type *t = &movement_input(n)->type;
    int64_t size[2], dim[MAX_RANK];
    double scale[2];
    for (int d = 0; d < t->rank; d++)
        dim[d] = t->dim[d];
    if (upsample_sizes(c, n, dims, size, scale))
        for (int i = 0; i < dims; i++)
            dim[2 + i] = size[i];
    node_set_type(n, 0, t->dtype, t->rank, dim);
}

/* 1-d is 2-d with one row. */
static void linear_eval_dims(C *c, Node *n, int dims) {
    const Array *in = eval_movement_input(c, n);
    Array *out = eval_out(c, n, 0);
    int64_t size[2] = {1, 1}, *last = &size[2 - dims];
    double scale[2] = {0, 0};
    if (!upsample_sizes(c, n, dims, last, &scale[2 - dims]))
        return;
    int64_t planes = in->dim[0] * in->dim[1], in_h = dims == 2 ? in->dim[2] : 1;
    int64_t in_w = in->dim[in->rank - 1];
    Tap *row = linear_taps(c, n, in_h, size[0], scale[0]);
    Tap *column = linear_taps(c, n, in_w, size[1], scale[1]);
    const float *x = in->data;
    float *y = out->data;
    for (int64_t p = 0; p < planes; p++, x += in_h * in_w)
        for (int64_t i = 0; i < size[0]; i++)
            for (int64_t k = 0; k < size[1]; k++) {
                const float *a = x + row[i].low * in_w, *b = x + row[i].high * in_w;
                Tap t = column[k];
                float top = a[t.low] * (1 - t.weight) + a[t.high] * t.weight;
                float bottom = b[t.low] * (1 - t.weight) + b[t.high] * t.weight;
                *y++ = top * (1 - row[i].weight) + bottom * row[i].weight;
            }
}

static void linear1d_shape(C *c, Node *n) {
    linear_shape_dims(c, n, 1);
}

static void linear1d_eval(C *c, Node *n) {
    linear_eval_dims(c, n, 1);
}

static void bilinear2d_shape(C *c, Node *n) {
    linear_shape_dims(c, n, 2);
}

static void bilinear2d_eval(C *c, Node *n) {
    linear_eval_dims(c, n, 2);
}

/* The tap as the kernel takes it: 12 bits of weight. */
static int32_t tap_packed(const Tap *t) {
    return (int32_t)(t->low << 13) | (int32_t)lroundf(t->weight * 4096);
}

int32_t *upsample_taps(C *c, const Node *n, int axis, int64_t *count) {
    const Type *t = &movement_input(n)->type;
    int dims = t->rank - 2, own = axis - (2 - dims);
    int64_t size[2];
    double scale[2];
    *count = 1;
    if (own < 0 || !upsample_sizes(c, n, dims, size, scale))
        return NEW_ARRAY(c, int32_t, 1); /* the one row */
    *count = size[own];
    int32_t *packed = NEW_ARRAY(c, int32_t, *count);
    const Tap *tap = linear_taps(c, n, t->dim[2 + own], *count, scale[own]);
    for (int64_t i = 0; i < *count; i++)
        packed[i] = tap_packed(&tap[i]);
    return packed;
}

static void taps_constant(C *c, Call *call, uint32_t *field, const Tap *tap, int64_t count) {
    int32_t *packed = NEW_ARRAY(c, int32_t, count);
    for (int64_t i = 0; i < count; i++)
        packed[i] = tap_packed(&tap[i]);
    call_const(call, field, "taps", DT_I32, packed, count * 4, 4);
}

static void linear_lower_dims(C *c, Graph *g, Node *n, int dims) {
    Value *in = movement_input(n), *out = n->out[0];
    const Type *t = &in->type;
    int64_t size[2] = {1, 1};
    double scale[2] = {0, 0};
    DType dtype = value_storage(in);
    if ((dtype != DT_I8 && dtype != DT_I16) || value_storage(out) != dtype) {
        movement_refuse(c, n, "%s has no integer form", dtype_name(value_storage(in)));
        return;
    }
    if (!upsample_sizes(c, n, dims, &size[2 - dims], &scale[2 - dims]))
        return;
    Call *call = call_new(c, g, n,
                          dtype == DT_I16 ? CTN_KERNEL_upsample_bilinear2d_s16
                                          : CTN_KERNEL_upsample_bilinear2d_s8);
    CtnUpsampleBilinear2dS8Args *a = call->args; /* both widths share the argument list */
    a->batches = (int32_t)t->dim[0];
    a->channels = (int32_t)t->dim[1];
    a->in_h = dims == 2 ? (int32_t)t->dim[2] : 1;
    a->in_w = (int32_t)t->dim[t->rank - 1];
    a->out_h = (int32_t)size[0];
    a->out_w = (int32_t)size[1];
    call_in(call, &a->input, in);
    call_out(call, &a->output, out);
    taps_constant(c, call, &a->rows, linear_taps(c, n, a->in_h, size[0], scale[0]), size[0]);
    taps_constant(c, call, &a->columns, linear_taps(c, n, a->in_w, size[1], scale[1]), size[1]);
}

static void linear1d_lower(C *c, Graph *g, Node *n) {
    linear_lower_dims(c, g, n, 1);
}

static void bilinear2d_lower(C *c, Graph *g, Node *n) {
    linear_lower_dims(c, g, n, 2);
}

/* ---- trilinear ------------------------------------------------------------------------------ */

/* Bilinear over the last two dims, then along the first of the three with the plane as columns. */
static void trilinear_decompose(C *c, Graph *g, Node *n) {
    Value *x = movement_input(n);
    Type t = x->type;
    int64_t size[3];
    double scale[3];
    if (!upsample_sizes(c, n, 3, size, scale))
        return;
    int64_t planes[4] = {t.dim[0], t.dim[1] * t.dim[2], t.dim[3], t.dim[4]};
    int64_t deep[4] = {t.dim[0], t.dim[1], t.dim[2], size[1] * size[2]};
    int64_t depth[2] = {size[0], size[1] * size[2]};
    int64_t out[5] = {t.dim[0], t.dim[1], size[0], size[1], size[2]};
    Arg align = *node_arg(n, "align_corners"), none = arg_none();
    x = MAKE("aten::view", arg_value(x), arg_ints(c, 4, planes));
    x = MAKE("aten::upsample_bilinear2d", arg_value(x), arg_ints(c, 2, size + 1), align,
             scale[1] > 0 ? arg_float(scale[1]) : none, scale[2] > 0 ? arg_float(scale[2]) : none);
    x = MAKE("aten::view", arg_value(x), arg_ints(c, 4, deep));
    x = MAKE("aten::upsample_bilinear2d", arg_value(x), arg_ints(c, 2, depth), align,
             scale[0] > 0 ? arg_float(scale[0]) : none, none);
    value_replace(g, n->out[0], MAKE("aten::view", arg_value(x), arg_ints(c, 5, out)));
}

/* ---- bicubic -------------------------------------------------------------------------------- */

typedef struct {
    int64_t at[4];
    float weight[4];
} CubicTap;

static float cubic_weight(float x) {
    const float a = -0.75f;
    x = fabsf(x);
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

static CubicTap *cubic_taps(C *c, const Node *n, int64_t size, int64_t out, double scale) {
    CubicTap *tap = NEW_ARRAY(c, CubicTap, out);
    bool align = node_bool(n, "align_corners");
    float step = align       ? out > 1 ? (float)(size - 1) / (float)(out - 1) : 0
                 : scale > 0 ? (float)(1.0 / scale)
                             : (float)size / (float)out;
    for (int64_t k = 0; k < out; k++) {
        float place = align ? step * (float)k : step * ((float)k + 0.5f) - 0.5f;
        float first = floorf(place), t = place - first;
        for (int i = 0; i < 4; i++) {
            int64_t at = (int64_t)first - 1 + i;
            tap[k].at[i] = at < 0 ? 0 : at >= size ? size - 1 : at;
            tap[k].weight[i] = cubic_weight(t + 1 - (float)i);
        }
    }
    return tap;
}

static void bicubic2d_eval(C *c, Node *n) {
    const Array *in = eval_movement_input(c, n);
    Array *out = eval_out(c, n, 0);
    int64_t size[2], in_h = in->dim[2], in_w = in->dim[3];
    double scale[2];
    if (!upsample_sizes(c, n, 2, size, scale))
        return;
    CubicTap *row = cubic_taps(c, n, in_h, size[0], scale[0]);
    CubicTap *column = cubic_taps(c, n, in_w, size[1], scale[1]);
    float *y = out->data;
    for (int64_t i = 0; i < array_count(out); i++) {
        const CubicTap *r = &row[i / size[1] % size[0]], *k = &column[i % size[1]];
        const float *x = (const float *)in->data + i / (size[0] * size[1]) * in_h * in_w;
        float sum = 0;
        for (int a = 0; a < 16; a++)
            sum += r->weight[a / 4] * k->weight[a % 4] * x[r->at[a / 4] * in_w + k->at[a % 4]];
        y[i] = sum;
    }
}

/* ---- grid sampling -------------------------------------------------------------------------- */

enum { SAMPLE_BILINEAR, SAMPLE_NEAREST };
enum { OUTSIDE_ZEROS, OUTSIDE_BORDER, OUTSIDE_REFLECT };

static void grid_sampler_shape(C *c, Node *n) {
    const Type *x = &node_in(n, "input")->type, *grid = &node_in(n, "grid")->type;
    node_set_type(n, 0, x->dtype, x->rank, x->dim);
    if (x->rank != 4 || grid->rank != 4 || grid->dim[3] != 2 || grid->dim[0] != x->dim[0]) {
        movement_refuse(c, n, "input %s with grid %s", shape_text(c, x->rank, x->dim),
                        shape_text(c, grid->rank, grid->dim));
        return;
    }
    if (node_int(n, "interpolation_mode") > SAMPLE_NEAREST)
        movement_refuse(c, n, "interpolation_mode=%lld (bicubic)",
                        (long long)node_int(n, "interpolation_mode"));
    int64_t dim[] = {x->dim[0], x->dim[1], grid->dim[1], grid->dim[2]};
    node_set_type(n, 0, x->dtype, 4, dim);
}

/* Back and forth between low and low + span. */
static float grid_reflect(float x, float low, float span) {
    if (span == 0)
        return 0;
    x = fabsf(x - low);
    float rest = fmodf(x, span);
    return fmodf(floorf(x / span), 2) == 0 ? rest + low : span - rest + low;
}

/* -1..1 to 0..size-1; what lies outside is moved to the border or reflected if asked for. */
static float grid_place(float g, int64_t size, bool align_corners, int64_t outside) {
    float last = (float)(size - 1);
    float place = align_corners ? (g + 1) / 2 * last : ((g + 1) * (float)size - 1) / 2;
    if (outside == OUTSIDE_REFLECT)
        place =
            align_corners ? grid_reflect(place, 0, last) : grid_reflect(place, -0.5f, (float)size);
    return outside == OUTSIDE_ZEROS ? place : fminf(fmaxf(place, 0), last);
}

static float plane_at(const float *plane, int64_t h, int64_t w, float row, float column) {
    if (!(row >= 0 && row < (float)h && column >= 0 && column < (float)w))
        return 0;
    return plane[(int64_t)row * w + (int64_t)column];
}

static float plane_sample(const float *plane, int64_t h, int64_t w, float row, float column,
                          bool nearest) {
    if (nearest)
        return plane_at(plane, h, w, rintf(row), rintf(column));
    float top = floorf(row), left = floorf(column), down = row - top, right = column - left;
    return plane_at(plane, h, w, top, left) * (1 - down) * (1 - right) +
           plane_at(plane, h, w, top, left + 1) * (1 - down) * right +
           plane_at(plane, h, w, top + 1, left) * down * (1 - right) +
           plane_at(plane, h, w, top + 1, left + 1) * down * right;
}

static void grid_sampler_eval(C *c, Node *n) {
    const Array *in = eval_in(c, n, "input"), *grid = eval_in(c, n, "grid");
    Array *out = eval_out(c, n, 0);
    bool nearest = node_int(n, "interpolation_mode") == SAMPLE_NEAREST;
    int64_t outside = node_int(n, "padding_mode");
    bool align = node_bool(n, "align_corners");
    int64_t h = in->dim[2], w = in->dim[3], points = out->dim[2] * out->dim[3];
    for (int64_t i = 0; i < out->dim[0] * out->dim[1]; i++) {
        const float *plane = (const float *)in->data + i * h * w;
        const float *g = (const float *)grid->data + i / out->dim[1] * points * 2;
        for (int64_t k = 0; k < points; k++) {
            float column = grid_place(g[2 * k], w, align, outside);
            float row = grid_place(g[2 * k + 1], h, align, outside);
            ((float *)out->data)[i * points + k] = plane_sample(plane, h, w, row, column, nearest);
        }
    }
}

enum { MOST_PLACES = 1 << 28 };

/* theta times the places of the output's elements: [N, H * W, 3] x [N, 3, 2], or of solids [N, D *
 * H * W, 4] x [N, 4, 3]. A place is x, y, perhaps z, and 1. */
static void affine_grid_decompose(C *c, Graph *g, Node *n) {
    Value *theta = node_in(n, "theta");
    int64_t size[5], out[5], dim[2] = {1, 0};
    bool align = node_bool(n, "align_corners");
    int rank = node_ints(n, "size", size, 5), spatial = rank - 2;
    const int64_t *t = theta->type.dim;
    if (spatial < 2 || theta->type.rank != 3 || t[0] != size[0] || t[1] != spatial ||
        t[2] != spatial + 1) {
        movement_refuse(c, n, "theta %s for size %s", shape_text(c, theta->type.rank, t),
                        shape_text(c, rank, size));
        return;
    }
    for (int d = 0; d < spatial; d++) {
        if (size[2 + d] < 1 || size[2 + d] > MOST_PLACES / dim[0]) {
            movement_refuse(c, n, "size %s", shape_text(c, rank, size));
            return;
        }
        dim[0] *= out[1 + d] = size[2 + d];
    }
    out[0] = size[0];
    out[1 + spatial] = spatial;
    dim[1] = spatial + 1;
    Array *place = array_new(c, DT_F32, 2, dim);
    for (int64_t i = 0; i < dim[0]; i++) {
        int64_t rest = i;
        for (int k = 0; k < spatial; rest /= size[rank - 1 - k], k++) {
            int64_t extent = size[rank - 1 - k];
            double steps = (double)(align ? extent - 1 : extent);
            double first = align ? -1 : -1 + 1 / steps;
            double at = steps > 0 ? first + 2 / steps * (double)(rest % extent) : 0;
            array_set(place, i * dim[1] + k, at);
        }
        array_set(place, i * dim[1] + spatial, 1);
    }
    Value *turned = MAKE("aten::transpose.int", arg_value(theta), arg_int(1), arg_int(2));
    Value *y =
        MAKE("aten::matmul", arg_value(value_constant(g, "places", place)), arg_value(turned));
    value_replace(g, n->out[0], MAKE("aten::view", arg_value(y), arg_ints(c, rank, out)));
}

/* ---- in float -------------------------------------------------------------------------------- */

enum { LINEAR_TAPS = 2, CUBIC_TAPS = 4 };

/* The taps of one axis as the kernel's two tables. */
static void taps_float(C *c, Call *call, const Node *n, int taps, int64_t size, int64_t out,
                       double scale, uint32_t *index_field, uint32_t *weight_field) {
    int32_t *index = NEW_ARRAY(c, int32_t, out * taps);
    float *weight = NEW_ARRAY(c, float, out *taps);
    const Tap *linear = taps == LINEAR_TAPS ? linear_taps(c, n, size, out, scale) : NULL;
    const CubicTap *cubic = linear ? NULL : cubic_taps(c, n, size, out, scale);
    for (int64_t k = 0; k < out; k++)
        for (int i = 0; i < taps; i++) {
            index[k * taps + i] = (int32_t)(cubic ? cubic[k].at[i]
                                            : i   ? linear[k].high
                                                  : linear[k].low);
            weight[k * taps + i] = cubic ? cubic[k].weight[i]
                                   : i   ? linear[k].weight
                                         : 1 - linear[k].weight;
        }
    call_const(call, index_field, "places", DT_I32, index, out * taps * 4, 4);
    call_const(call, weight_field, "weights", DT_F32, weight, out * taps * 4, 4);
}

static void resample_float(C *c, Graph *g, Node *n, int dims, int taps) {
    Value *in = movement_input(n);
    const Type *t = &in->type;
    int64_t size[2] = {1, 1};
    double scale[2] = {0, 0};
    if (!upsample_sizes(c, n, dims, &size[2 - dims], &scale[2 - dims]))
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_resample2d_f32);
    CtnResample2dF32Args *a = call->args;
    a->taps = taps;
    a->batches = (int32_t)t->dim[0];
    a->channels = (int32_t)t->dim[1];
    a->in_h = dims == 2 ? (int32_t)t->dim[2] : 1;
    a->in_w = (int32_t)t->dim[t->rank - 1];
    a->out_h = (int32_t)size[0];
    a->out_w = (int32_t)size[1];
    call_in(call, &a->input, in);
    call_out(call, &a->output, n->out[0]);
    taps_float(c, call, n, taps, a->in_h, size[0], scale[0], &a->row_index, &a->row_weight);
    taps_float(c, call, n, taps, a->in_w, size[1], scale[1], &a->column_index, &a->column_weight);
}

static void linear1d_lower_float(C *c, Graph *g, Node *n) {
    resample_float(c, g, n, 1, LINEAR_TAPS);
}

static void bilinear2d_lower_float(C *c, Graph *g, Node *n) {
    resample_float(c, g, n, 2, LINEAR_TAPS);
}

static void bicubic2d_lower_float(C *c, Graph *g, Node *n) {
    resample_float(c, g, n, 2, CUBIC_TAPS);
}

static void grid_sampler_lower_float(C *c, Graph *g, Node *n) {
    Value *in = node_in(n, "input"), *out = n->out[0];
    Call *call = call_new(c, g, n, CTN_KERNEL_grid_sample2d_f32);
    CtnGridSample2dF32Args *a = call->args;
    a->batches = (int32_t)in->type.dim[0];
    a->channels = (int32_t)in->type.dim[1];
    a->in_h = (int32_t)in->type.dim[2];
    a->in_w = (int32_t)in->type.dim[3];
    a->places = (int32_t)(out->type.dim[2] * out->type.dim[3]);
    a->nearest = node_int(n, "interpolation_mode") == SAMPLE_NEAREST;
    a->border = node_int(n, "padding_mode") == OUTSIDE_BORDER;
    a->reflect = node_int(n, "padding_mode") == OUTSIDE_REFLECT;
    a->align_corners = node_bool(n, "align_corners");
    call_in(call, &a->input, in);
    call_in(call, &a->grid, node_in(n, "grid"));
    call_out(call, &a->output, out);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define RESAMPLES(text, op)                                                                        \
    {                                                                                              \
        .schema = text, .traits = OP_CHANNELS_LAST | OP_WIDE_ALIKE, .shape = op##_shape,           \
        .eval = op##_eval, .quant = {.out = {Q_SAME}}, .lower = op##_lower,                        \
        .lower_float = op##_lower_float                                                            \
    }
#define SAMPLES_GRID(text)                                                                         \
    {                                                                                              \
        .schema = text, .shape = grid_sampler_shape, .eval = grid_sampler_eval,                    \
        .lower_float = grid_sampler_lower_float,                                                   \
        .no_integer_form = "each place it reads depends on data"                                   \
    }

static const Op rows[] = {
    RESAMPLES("aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, "
              "float? scales=None) -> Tensor",
              linear1d),
    RESAMPLES("aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool "
              "align_corners, float[]? scale_factors) -> Tensor",
              linear1d),
    RESAMPLES("aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, "
              "float? scales_h=None, float? scales_w=None) -> Tensor",
              bilinear2d),
    RESAMPLES("aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool "
              "align_corners, float[]? scale_factors) -> Tensor",
              bilinear2d),
    {.schema = "aten::upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool "
               "align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) "
               "-> Tensor",
     COMPOSITE(trilinear_decompose)},
    {.schema = "aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool "
               "align_corners, float[]? scale_factors) -> Tensor",
     COMPOSITE(trilinear_decompose)},
    {.schema = "aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, "
               "float? scales_h=None, float? scales_w=None) -> Tensor",
     .traits = OP_CHANNELS_LAST,
     .shape = bilinear2d_shape,
     .eval = bicubic2d_eval,
     .lower_float = bicubic2d_lower_float,
     .no_integer_form = "use bilinear or nearest"},
    {.schema = "aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool "
               "align_corners, float[]? scale_factors) -> Tensor",
     .traits = OP_CHANNELS_LAST,
     .shape = bilinear2d_shape,
     .eval = bicubic2d_eval,
     .lower_float = bicubic2d_lower_float,
     .no_integer_form = "use bilinear or nearest"},
    {.schema = "aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> "
               "Tensor",
     COMPOSITE(affine_grid_decompose)},
    SAMPLES_GRID("aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int "
                 "padding_mode, bool align_corners) -> Tensor"),
    SAMPLES_GRID("aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int "
                 "padding_mode, bool align_corners) -> Tensor"),
};

OPS_FAMILY(resample, rows);
