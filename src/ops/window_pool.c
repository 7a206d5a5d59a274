/* Pools of two spatial dims with explicit padding and output sizes, which ATen's pools decompose
 * into (pool.c). Maxima keep their input's grid. */
#include "ops/ops.h"

#define PLANE 2 /* height, width */

typedef struct {
    int64_t batch, channels; /* all dims before the plane are planes: batch * channels of them */
    int64_t in[PLANE], out[PLANE], kernel[PLANE], stride[PLANE], dilation[PLANE];
    int64_t before[PLANE], after[PLANE];
} Pool;

/* Planes of N, C, H, W or N, C, L. Arguments were made by decompose and are trusted. */
static Pool pool_read(const Node *n) {
    const Type *x = &node_in(n, "input")->type;
    Pool p = {.batch = x->dim[0], .channels = x->dim[1]};
    p.in[0] = x->rank == 4 ? x->dim[2] : 1;
    p.in[1] = x->dim[x->rank - 1];
    for (int i = 0; i < PLANE; i++)
        p.kernel[i] = p.stride[i] = p.dilation[i] = 1;
    if (node_takes(n, "kernel_size")) {
        int64_t side[4];
        node_ints_spread(n, "kernel_size", p.kernel, PLANE);
        node_ints_spread(n, "stride", p.stride, PLANE);
        node_ints_spread(n, "padding", side, 4);
        for (int i = 0; i < PLANE; i++) {
            p.before[i] = side[2 * i];
            p.after[i] = side[2 * i + 1];
        }
    }
    if (node_takes(n, "dilation"))
        node_ints_spread(n, "dilation", p.dilation, PLANE);
    if (node_takes(n, "output_size"))
        node_ints_spread(n, "output_size", p.out, PLANE);
    for (int i = 0; i < PLANE && !node_takes(n, "output_size"); i++)
        p.out[i] = (p.in[i] + p.before[i] + p.after[i] - p.dilation[i] * (p.kernel[i] - 1) - 1) /
                       p.stride[i] +
                   1;
    return p;
}

static void pool_type(Node *n, DType dtype) {
    const Type *x = &node_in(n, "input")->type;
    Pool p = pool_read(n);
    int64_t dim[4] = {p.batch, p.channels, p.out[0], p.out[1]};
    if (x->rank == 3)
        dim[2] = p.out[1];
    node_set_type(n, 0, dtype, x->rank, dim);
}

static void pool_shape(C *c, Node *n) {
    (void)c;
    pool_type(n, node_in(n, "input")->type.dtype);
}

static void indices_shape(C *c, Node *n) {
    (void)c;
    pool_type(n, DT_I64);
}

/* ---- float reference ------------------------------------------------------------------------ */

typedef struct { /* a window of one output: rows and columns within the input, and its step */
    int64_t lo[PLANE], hi[PLANE], step[PLANE];
    int64_t count; /* taps that an average divides by */
} Window;

static Window window_at(const Pool *p, const int64_t at[PLANE], bool include) {
    Window w = {.count = 1};
    for (int i = 0; i < PLANE; i++) {
        int64_t start = at[i] * p->stride[i] - p->before[i];
        int64_t end = start + p->dilation[i] * (p->kernel[i] - 1) + 1;
        w.step[i] = p->dilation[i];
        w.lo[i] = start < 0 ? start + (-start + w.step[i] - 1) / w.step[i] * w.step[i] : start;
        w.hi[i] = end > p->in[i] ? p->in[i] : end;
        int64_t last = end > p->in[i] + p->after[i] ? p->in[i] + p->after[i] : end;
        w.count *= include ? last - start : w.hi[i] - w.lo[i];
    }
    return w;
}

static Window window_adaptive(const Pool *p, const int64_t at[PLANE]) {
    Window w = {.count = 1};
    for (int i = 0; i < PLANE; i++) {
        w.step[i] = 1;
        w.lo[i] = at[i] * p->in[i] / p->out[i];
        w.hi[i] = ((at[i] + 1) * p->in[i] + p->out[i] - 1) / p->out[i];
        w.count *= w.hi[i] - w.lo[i];
    }
    return w;
}

static float window_mean(const Pool *p, const Window *w, const float *x) {
    double sum = 0;
    for (int64_t h = w->lo[0]; h < w->hi[0]; h += w->step[0])
        for (int64_t v = w->lo[1]; v < w->hi[1]; v += w->step[1])
            sum += x[h * p->in[1] + v];
    return (float)(sum / (double)w->count);
}

/* The place of the first maximum; NaN wins, as in torch. */
static int64_t window_max(const Pool *p, const Window *w, const float *x) {
    int64_t best = -1;
    for (int64_t h = w->lo[0]; h < w->hi[0]; h += w->step[0])
        for (int64_t v = w->lo[1]; v < w->hi[1]; v += w->step[1]) {
            int64_t at = h * p->in[1] + v;
            if (best < 0 || x[at] > x[best] || isnan(x[at]))
                best = at;
        }
    return best;
}

typedef enum { POOL_MEAN, POOL_MAX, POOL_INDEX } PoolKind;

static void pool_run(C *c, Node *n, PoolKind kind, bool adaptive, bool include) {
    Pool p = pool_read(n);
    const float *x = eval_in(c, n, "input")->data;
    Array *out = eval_out(c, n, 0);
    int64_t plane = p.in[0] * p.in[1], k = 0, at[PLANE];
    for (int64_t b = 0; b < p.batch * p.channels; b++, x += plane)
        for (at[0] = 0; at[0] < p.out[0]; at[0]++)
            for (at[1] = 0; at[1] < p.out[1]; at[1]++, k++) {
                Window w = adaptive ? window_adaptive(&p, at) : window_at(&p, at, include);
                int64_t best = kind == POOL_MEAN ? 0 : window_max(&p, &w, x);
                if (kind == POOL_MEAN)
                    ((float *)out->data)[k] = window_mean(&p, &w, x);
                else if (kind == POOL_MAX)
                    ((float *)out->data)[k] = best < 0 ? -INFINITY : x[best];
                else
                    ((int64_t *)out->data)[k] = best;
            }
}

static void avg_eval(C *c, Node *n) {
    pool_run(c, n, POOL_MEAN, false, node_bool(n, "count_include_pad"));
}

static void max_eval(C *c, Node *n) {
    pool_run(c, n, POOL_MAX, false, false);
}

static void indices_eval(C *c, Node *n) {
    pool_run(c, n, POOL_INDEX, false, false);
}

static void adaptive_eval(C *c, Node *n) {
    pool_run(c, n, node_bool(n, "maximum") ? POOL_MAX : POOL_MEAN, true, false);
}

static void adaptive_indices_eval(C *c, Node *n) {
    pool_run(c, n, POOL_INDEX, true, false);
}

/* ---- lowering ------------------------------------------------------------------------------- */

#define POOL_SIZES(a, p)                                                                           \
    do {                                                                                           \
        (a)->batches = (int32_t)(p)->batch;                                                        \
        (a)->in_h = (int32_t)(p)->in[0];                                                           \
        (a)->in_w = (int32_t)(p)->in[1];                                                           \
        (a)->channels = (int32_t)(p)->channels;                                                    \
        (a)->out_h = (int32_t)(p)->out[0];                                                         \
        (a)->out_w = (int32_t)(p)->out[1];                                                         \
    } while (0)

#define POOL_WINDOW(a, p)                                                                          \
    do {                                                                                           \
        (a)->kernel_h = (int32_t)(p)->kernel[0];                                                   \
        (a)->kernel_w = (int32_t)(p)->kernel[1];                                                   \
        (a)->stride_h = (int32_t)(p)->stride[0];                                                   \
        (a)->stride_w = (int32_t)(p)->stride[1];                                                   \
        (a)->pad_top = (int32_t)(p)->before[0];                                                    \
        (a)->pad_left = (int32_t)(p)->before[1];                                                   \
    } while (0)

static void max_lower_wide(C *c, Graph *g, Node *n, const Pool *p) {
    bool maps = store_maps_s16(n);
    Call *call =
        call_new(c, g, n, maps ? CTN_KERNEL_max_pool2d_map_s16 : CTN_KERNEL_max_pool2d_s16);
    CtnMaxPool2dS16Args *a = call->args; /* with a function the first fields are the same */
    POOL_SIZES(a, p);
    POOL_WINDOW(a, p);
    a->dilation_h = (int32_t)p->dilation[0];
    a->dilation_w = (int32_t)p->dilation[1];
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, node_result(n));
    CtnMaxPool2dMapS16Args *m = call->args;
    if (maps)
        STORE_MAP_S16(c, call, n, m, node_in(n, "input"));
}

static void max_lower(C *c, Graph *g, Node *n) {
    Pool p = pool_read(n);
    if (node_is_wide(n)) {
        max_lower_wide(c, g, n, &p);
        return;
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_max_pool2d_s8);
    CtnMaxPool2dS8Args *a = call->args;
    POOL_SIZES(a, &p);
    POOL_WINDOW(a, &p);
    a->dilation_h = (int32_t)p.dilation[0];
    a->dilation_w = (int32_t)p.dilation[1];
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, node_result(n));
    store_table(c, call, &a->table, n);
    call_absent(call, &a->scratch);
}

static void avg_lower_wide(C *c, Graph *g, Node *n, const Pool *p) {
    Value *x = node_in(n, "input");
    bool maps = store_maps_s16(n);
    Call *call =
        call_new(c, g, n, maps ? CTN_KERNEL_avg_pool2d_map_s16 : CTN_KERNEL_avg_pool2d_s16);
    CtnAvgPool2dS16Args *a = call->args; /* with a function the first fields are the same */
    POOL_SIZES(a, p);
    POOL_WINDOW(a, p);
    a->pad_bottom = (int32_t)p->after[0];
    a->pad_right = (int32_t)p->after[1];
    a->include_padding = node_bool(n, "count_include_pad");
    a->input_bytes = dtype_size(value_storage(x));
    a->output_bytes = dtype_size(value_storage(node_result(n)));
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(n->out[0]);
    multiplier_from(value_scale(x) / value_scale(n->out[0]) / 65536, &a->multiplier, &a->shift);
    if (a->shift > 14)
        diag_error(c, DIAG_MODEL, &n->loc, "a mean's scale is too fine for its operand's");
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, x);
    call_out(call, &a->output, node_result(n));
    CtnAvgPool2dMapS16Args *m = call->args;
    if (maps)
        STORE_MAP_S16(c, call, n, m, x);
}

static void avg_lower(C *c, Graph *g, Node *n) {
    Pool p = pool_read(n);
    const Value *x = node_in(n, "input");
    if (node_is_wide(n)) {
        avg_lower_wide(c, g, n, &p);
        return;
    }
    Call *call = call_new(c, g, n, CTN_KERNEL_avg_pool2d_s8);
    CtnAvgPool2dS8Args *a = call->args;
    POOL_SIZES(a, &p);
    POOL_WINDOW(a, &p);
    a->pad_bottom = (int32_t)p.after[0];
    a->pad_right = (int32_t)p.after[1];
    a->include_padding = node_bool(n, "count_include_pad");
    a->divisor = 0;
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(n->out[0]);
    if (value_scale(x) != value_scale(n->out[0]) || a->input_zero_point != a->output_zero_point)
        multiplier_from(value_scale(x) / value_scale(n->out[0]) / 256, &a->multiplier, &a->shift);
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, node_result(n));
    store_table(c, call, &a->table, n);
    call_absent(call, &a->scratch);
}

static void adaptive_lower(C *c, Graph *g, Node *n) {
    Pool p = pool_read(n);
    const Value *x = node_in(n, "input");
    Call *call = call_new(c, g, n, CTN_KERNEL_adaptive_pool2d_s8);
    CtnAdaptivePool2dS8Args *a = call->args;
    POOL_SIZES(a, &p);
    a->mode = node_bool(n, "maximum");
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(n->out[0]);
    if (value_scale(x) != value_scale(n->out[0]) || a->input_zero_point != a->output_zero_point)
        multiplier_from(value_scale(x) / value_scale(n->out[0]) / (a->mode ? 1 : 256),
                        &a->multiplier, &a->shift);
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, node_result(n));
    store_table(c, call, &a->table, n);
}

static void indices_lower(C *c, Graph *g, Node *n) {
    Pool p = pool_read(n);
    Call *call = call_new(c, g, n, CTN_KERNEL_max_pool2d_indices_s8);
    CtnMaxPool2dIndicesS8Args *a = call->args;
    POOL_SIZES(a, &p);
    POOL_WINDOW(a, &p);
    a->dilation_h = (int32_t)p.dilation[0];
    a->dilation_w = (int32_t)p.dilation[1];
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, n->out[0]);
}

static void adaptive_indices_lower(C *c, Graph *g, Node *n) {
    Pool p = pool_read(n);
    Call *call = call_new(c, g, n, CTN_KERNEL_adaptive_max_indices_s8);
    CtnAdaptiveMaxIndicesS8Args *a = call->args;
    POOL_SIZES(a, &p);
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, n->out[0]);
}

/* ---- in float ---------------------------------------------------------------------------------
 */

static void pool_float(C *c, Graph *g, Node *n, PoolKind kind, bool adaptive, bool include) {
    Pool p = pool_read(n);
    Call *call = call_new(c, g, n, CTN_KERNEL_pool_f32);
    CtnPoolF32Args *a = call->args;
    a->mode = kind;
    a->adaptive = adaptive;
    a->include_padding = include;
    a->batches = (int32_t)p.batch;
    a->channels = (int32_t)p.channels;
    for (int d = 0; d < PLANE; d++) {
        a->in[d] = (int32_t)p.in[d];
        a->out[d] = (int32_t)p.out[d];
        a->kernel[d] = (int32_t)p.kernel[d];
        a->stride[d] = (int32_t)p.stride[d];
        a->pad_before[d] = (int32_t)p.before[d];
        a->pad_after[d] = (int32_t)p.after[d];
        a->dilation[d] = (int32_t)p.dilation[d];
    }
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, n->out[0]);
}

static void avg_lower_float(C *c, Graph *g, Node *n) {
    pool_float(c, g, n, POOL_MEAN, false, node_bool(n, "count_include_pad"));
}

static void max_lower_float(C *c, Graph *g, Node *n) {
    pool_float(c, g, n, POOL_MAX, false, false);
}

static void indices_lower_float(C *c, Graph *g, Node *n) {
    pool_float(c, g, n, POOL_INDEX, false, false);
}

static void adaptive_lower_float(C *c, Graph *g, Node *n) {
    pool_float(c, g, n, node_bool(n, "maximum") ? POOL_MAX : POOL_MEAN, true, false);
}

static void adaptive_indices_lower_float(C *c, Graph *g, Node *n) {
    pool_float(c, g, n, POOL_INDEX, true, false);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define POOL_CORE .quant = {.in = {Q_ACT}, .out = {Q_SAME}}
#define POOL_TRAITS (OP_FUSES_CLAMP | OP_FUSES_TABLE | OP_CHANNELS_LAST)

static const Op rows[] = {
    /* Padding is top, bottom, left, right; one spatial dim has a height of one. */
    {.schema = "corten::max_pool2d(Tensor input, int[2] kernel_size, int[2] stride, int[4] "
               "padding, int[2] dilation) -> Tensor",
     POOL_CORE,
     .traits = POOL_TRAITS | OP_FUSES_MAP | OP_WIDE_ALIKE | OP_PICKS,
     .shape = pool_shape,
     .eval = max_eval,
     .lower = max_lower,
     .lower_float = max_lower_float},
    {.schema = "corten::max_pool2d_indices(Tensor input, int[2] kernel_size, int[2] stride, int[4] "
               "padding, int[2] dilation) -> Tensor",
     .traits = OP_CHANNELS_LAST,
     .shape = indices_shape,
     .eval = indices_eval,
     .quant = {.in = {Q_ACT}, .out = {Q_RAW}},
     .lower = indices_lower,
     .lower_float = indices_lower_float},
    /* Windows may stick out beyond the padding; what does is not counted. */
    {.schema = "corten::avg_pool2d(Tensor input, int[2] kernel_size, int[2] stride, int[4] "
               "padding, int[2] output_size, bool count_include_pad) -> Tensor",
     .traits = POOL_TRAITS | OP_FUSES_MAP | OP_WIDE_IN | OP_WIDE_OUT,
     .quant = {.in = {Q_ACT}, .out = {Q_ACT}},
     .shape = pool_shape,
     .eval = avg_eval,
     .lower = avg_lower,
     .lower_float = avg_lower_float},
    /* Window i of n covers floor(i * in / n) .. ceil((i + 1) * in / n) - 1. */
    {.schema = "corten::adaptive_pool2d(Tensor input, int[2] output_size, bool maximum) -> Tensor",
     POOL_CORE,
     .traits = POOL_TRAITS,
     .shape = pool_shape,
     .eval = adaptive_eval,
     .lower = adaptive_lower,
     .lower_float = adaptive_lower_float},
    {.schema = "corten::adaptive_max_indices(Tensor input, int[2] output_size) -> Tensor",
     .traits = OP_CHANNELS_LAST,
     .shape = indices_shape,
     .eval = adaptive_indices_eval,
     .quant = {.in = {Q_ACT}, .out = {Q_RAW}},
     .lower = adaptive_indices_lower,
     .lower_float = adaptive_indices_lower_float},
};

OPS_FAMILY(window_pool, rows);
