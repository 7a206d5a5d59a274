/* Pooling. ATen's rows of one to three spatial dims decompose into internal ones of two, with
 * explicit padding and output sizes: string, ceil_mode and default strides are resolved here. One
 * spatial dim is two with a height of one. A mean over the whole plane becomes `mean`; maxima keep
 * their input's grid. */
#include "ops/ops.h"

#include <string.h>

#define PLANE 2              /* height, width */
#define LIST_LIMIT (1 << 30) /* strides, paddings: sums with sizes fit int64 */

typedef struct {
    int64_t batch, channels; /* all dims before the plane are planes: batch * channels of them */
    int64_t in[PLANE], out[PLANE], kernel[PLANE], stride[PLANE], dilation[PLANE];
    int64_t before[PLANE], after[PLANE];
} Pool;

/* ---- ATen's arguments ----------------------------------------------------------------------- */

/* `spatial` ints within low..LIST_LIMIT; an empty list takes `otherwise`. */
static bool pool_list(C *c, const Node *n, const char *name, int spatial, int64_t low,
                      const int64_t *otherwise, int64_t *out) {
    int64_t any[3];
    if (otherwise && (!node_takes(n, name) || node_ints(n, name, any, 3) == 0))
        memcpy(out, otherwise, (size_t)spatial * sizeof *out);
    else
        node_ints_spread(n, name, out, spatial);
    for (int i = 0; i < spatial; i++)
        if (out[i] < low || out[i] > LIST_LIMIT) {
            diag_error(c, DIAG_MODEL, &n->loc, "pool's %s %lld is out of range", name,
                       (long long)out[i]);
            return false;
        }
    return true;
}

typedef struct { /* of an ATen row, one to three spatial dims */
    int spatial;
    bool batched, ceil;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
} PoolArgs;

static bool pool_input(C *c, const Node *n, int spatial, bool *batched) {
    const Type *x = &node_in(n, "self")->type;
    *batched = x->rank == spatial + 2;
    bool fits = dtype_is_float(x->dtype) && (*batched || x->rank == spatial + 1);
    for (int d = 0; d < x->rank; d++)
        fits = fits && x->dim[d] >= 1 && x->dim[d] <= INT32_MAX;
    if (!fits)
        diag_error(c, DIAG_MODEL, &n->loc, "a %d-d pool of %s%s: needs float of rank %d or %d",
                   spatial, dtype_name(x->dtype), shape_text(c, x->rank, x->dim), spatial + 1,
                   spatial + 2);
    return fits;
}

static bool pool_args(C *c, const Node *n, int spatial, PoolArgs *p) {
    static const int64_t one[3] = {1, 1, 1};
    const Type *x = &node_in(n, "self")->type;
    *p = (PoolArgs){.spatial = spatial, .ceil = node_bool(n, "ceil_mode")};
    if (!pool_input(c, n, spatial, &p->batched) ||
        !pool_list(c, n, "kernel_size", spatial, 1, NULL, p->kernel) ||
        !pool_list(c, n, "stride", spatial, 1, p->kernel, p->stride) ||
        !pool_list(c, n, "padding", spatial, 0, NULL, p->padding) ||
        !pool_list(c, n, "dilation", spatial, 1, one, p->dilation))
        return false;
    for (int i = 0; i < spatial; i++) {
        p->in[i] = x->dim[x->rank - spatial + i];
        int64_t reach = p->dilation[i] * (p->kernel[i] - 1) + 1;
        int64_t room = p->in[i] + 2 * p->padding[i] - reach;
        bool fits = room >= 0 && 2 * p->padding[i] <= p->kernel[i];
        if (!fits) {
            diag_error(c, DIAG_MODEL, &n->loc,
                       "pool of size %lld with padding %lld does not fit %lld inputs",
                       (long long)p->kernel[i], (long long)p->padding[i], (long long)p->in[i]);
            return false;
        }
        p->out[i] = room / p->stride[i] + 1;
        if (p->ceil && room % p->stride[i] && p->out[i] * p->stride[i] < p->in[i] + p->padding[i])
            p->out[i]++; /* the last window starts within the input or its left padding */
    }
    return true;
}

/* ---- decompose ------------------------------------------------------------------------------ */

/* The plane's two entries of a list of one or two spatial dims. */
static void plane_list(int spatial, const int64_t *list, int64_t otherwise, int64_t *out) {
    out[0] = spatial == 1 ? otherwise : list[0];
    out[1] = list[spatial - 1];
}

static Value *batched_input(Graph *g, Node *n, bool batched) {
    Value *x = node_in(n, "self");
    return batched ? x : MAKE("aten::unsqueeze", arg_value(x), arg_int(0));
}

static void give(Graph *g, Node *n, int k, Value *y, bool batched) {
    if (!batched)
        y = MAKE("aten::squeeze.dim", arg_value(y), arg_int(0));
    value_replace(g, n->out[k], y);
}

/* Padding on all four sides; windows of ceil_mode that stick out widen it. */
static void plane_padding(const PoolArgs *p, int64_t side[4]) {
    for (int i = 0; i < PLANE; i++) {
        int a = i - (PLANE - p->spatial);
        side[2 * i] = a < 0 ? 0 : p->padding[a];
        side[2 * i + 1] = side[2 * i];
        if (a < 0)
            continue;
        int64_t reach = p->dilation[a] * (p->kernel[a] - 1) + 1;
        int64_t more = (p->out[a] - 1) * p->stride[a] + reach - p->in[a] - p->padding[a];
        if (more > side[2 * i + 1])
            side[2 * i + 1] = more;
    }
}

static Value *max_node(C *c, Graph *g, Node *n, const char *row, Value *x, const PoolArgs *p) {
    int64_t kernel[PLANE], stride[PLANE], dilation[PLANE], side[4];
    plane_list(p->spatial, p->kernel, 1, kernel);
    plane_list(p->spatial, p->stride, 1, stride);
    plane_list(p->spatial, p->dilation, 1, dilation);
    plane_padding(p, side);
    return MAKE(row, arg_value(x), arg_ints(c, PLANE, kernel), arg_ints(c, PLANE, stride),
                arg_ints(c, 4, side), arg_ints(c, PLANE, dilation));
}

static void max_decompose(C *c, Graph *g, Node *n, int spatial) {
    PoolArgs p;
    if (!pool_args(c, n, spatial, &p))
        return;
    Value *x = batched_input(g, n, p.batched);
    give(g, n, 0, max_node(c, g, n, "corten::max_pool2d", x, &p), p.batched);
    if (n->out_count > 1)
        give(g, n, 1, max_node(c, g, n, "corten::max_pool2d_indices", x, &p), p.batched);
}

static void max1d_decompose(C *c, Graph *g, Node *n) {
    max_decompose(c, g, n, 1);
}

static void max2d_decompose(C *c, Graph *g, Node *n) {
    max_decompose(c, g, n, 2);
}

static Value *mean_of_plane(C *c, Graph *g, Node *n, Value *x, int spatial) {
    int64_t dim[3];
    for (int i = 0; i < spatial; i++)
        dim[i] = x->type.rank - spatial + i;
    return MAKE("aten::mean.dim", arg_value(x), arg_ints(c, spatial, dim), arg_bool(true));
}

static bool covers_plane(const PoolArgs *p) {
    for (int i = 0; i < p->spatial; i++)
        if (p->kernel[i] != p->in[i] || p->padding[i] || p->out[i] != 1)
            return false;
    return true;
}

/* A divisor of its own: the sum, which is the mean over windows that all count kernel_h * kernel_w
 * taps (so padding grows to hold those that stick out), times count / divisor. */
static Value *avg_node(C *c, Graph *g, Node *n, Value *x, const PoolArgs *p, bool include,
                       int64_t divisor) {
    int64_t kernel[PLANE], stride[PLANE], out[PLANE], side[4];
    plane_list(p->spatial, p->kernel, 1, kernel);
    plane_list(p->spatial, p->stride, 1, stride);
    plane_list(p->spatial, p->out, 1, out);
    plane_padding(p, side);
    for (int i = 0; divisor == 0 && i < PLANE; i++)
        side[2 * i + 1] = side[2 * i]; /* what sticks out further counts for nothing */
    if (divisor == 0 && covers_plane(p))
        return mean_of_plane(c, g, n, x, p->spatial);
    Value *y = MAKE("corten::avg_pool2d", arg_value(x), arg_ints(c, PLANE, kernel),
                    arg_ints(c, PLANE, stride), arg_ints(c, 4, side), arg_ints(c, PLANE, out),
                    arg_bool(include || divisor != 0));
    if (divisor != 0)
        y = MAKE("aten::mul.Tensor", arg_value(y),
                 arg_float((double)(kernel[0] * kernel[1]) / (double)divisor));
    return y;
}

static bool avg_divisor(C *c, const Node *n, int64_t *divisor) {
    *divisor = node_takes(n, "divisor_override") && node_has(n, "divisor_override")
                   ? node_int(n, "divisor_override")
                   : 0;
    if (*divisor == 0 && node_takes(n, "divisor_override") && node_has(n, "divisor_override")) {
        diag_error(c, DIAG_MODEL, &n->loc, "divisor_override must not be 0");
        return false;
    }
    return true;
}

static void avg_decompose(C *c, Graph *g, Node *n, int spatial) {
    PoolArgs p;
    int64_t divisor;
    if (!pool_args(c, n, spatial, &p) || !avg_divisor(c, n, &divisor))
        return;
    Value *x = batched_input(g, n, p.batched);
    give(g, n, 0, avg_node(c, g, n, x, &p, node_bool(n, "count_include_pad"), divisor), p.batched);
}

static void avg1d_decompose(C *c, Graph *g, Node *n) {
    avg_decompose(c, g, n, 1);
}

static void avg2d_decompose(C *c, Graph *g, Node *n) {
    avg_decompose(c, g, n, 2);
}

/* ---- three spatial dims: the plane, then the depth ------------------------------------------- */

/* x seen as [N, C * D, H, W] and as [N, C, D, H * W] */
static Value *fold_depth(C *c, Graph *g, Node *n, Value *x, bool into_channels) {
    const int64_t *d = x->type.dim;
    int64_t dim[4] = {d[0], d[1] * d[2], d[3], d[4]};
    if (!into_channels) {
        dim[1] = d[1];
        dim[2] = d[2];
        dim[3] = d[3] * d[4];
    }
    return MAKE("aten::reshape", arg_value(x), arg_ints(c, 4, dim));
}

static Value *unfold_depth(C *c, Graph *g, Node *n, Value *x, int64_t channels, int64_t depth,
                           int64_t height, int64_t width) {
    int64_t dim[5] = {x->type.dim[0], channels, depth, height, width};
    return MAKE("aten::reshape", arg_value(x), arg_ints(c, 5, dim));
}

/* The arguments of the plane (axes 1, 2) or of the depth (axis 0, beside a width of one). */
static PoolArgs pool_part(const PoolArgs *p, bool plane) {
    PoolArgs part = {.spatial = 2, .batched = true, .ceil = p->ceil};
    for (int i = 0; i < PLANE; i++) {
        int a = plane ? i + 1 : 0;
        bool idle = !plane && i == 1;
        part.in[i] = idle ? p->out[1] * p->out[2] : p->in[a];
        part.out[i] = idle ? p->out[1] * p->out[2] : p->out[a];
        part.kernel[i] = idle ? 1 : p->kernel[a];
        part.stride[i] = idle ? 1 : p->stride[a];
        part.padding[i] = idle ? 0 : p->padding[a];
        part.dilation[i] = idle ? 1 : p->dilation[a];
    }
    return part;
}

/* The places of a solid's maxima, by those of its planes and of the depth: of equal maxima the
 * first plane counts, and in it the first place, which is the first of the solid. planes: [N, C *
 * D, h, w], places in planes of `plane` elements; deep: [N, C, d, h * w], places in [D, h * w]. The
 * result is shaped as deep. */
static Value *places_of_solid(C *c, Graph *g, Node *n, Value *planes, Value *deep, int64_t plane) {
    int64_t batch = deep->type.dim[0], channels = deep->type.dim[1], columns = deep->type.dim[3];
    int64_t flat[3] = {batch, channels, -1};
    Value *depth =
        MAKE("aten::div.Tensor_mode", arg_value(deep), arg_int(columns), arg_string("floor"));
    Value *within = MAKE(
        "aten::gather", arg_value(MAKE("aten::reshape", arg_value(planes), arg_ints(c, 3, flat))),
        arg_int(2), arg_value(MAKE("aten::reshape", arg_value(deep), arg_ints(c, 3, flat))));
    within = MAKE("aten::reshape", arg_value(within), arg_ints(c, 4, deep->type.dim));
    return MAKE("aten::add.Tensor",
                arg_value(MAKE("aten::mul.Tensor", arg_value(depth), arg_int(plane))),
                arg_value(within));
}

static void avg3d_decompose(C *c, Graph *g, Node *n) {
    PoolArgs p;
    int64_t divisor = 0;
    if (!pool_args(c, n, 3, &p) || !avg_divisor(c, n, &divisor))
        return;
    bool include = node_bool(n, "count_include_pad") || divisor;
    Value *x = batched_input(g, n, p.batched);
    int64_t channels = x->type.dim[1];
    PoolArgs plane = pool_part(&p, true), deep = pool_part(&p, false);
    int64_t taps[PLANE] = {plane.kernel[0] * plane.kernel[1], deep.kernel[0]};
    Value *y = fold_depth(c, g, n, x, true);
    y = avg_node(c, g, n, y, &plane, include, divisor ? taps[0] : 0);
    y = unfold_depth(c, g, n, y, channels, p.in[0], p.out[1], p.out[2]);
    y = fold_depth(c, g, n, y, false);
    y = avg_node(c, g, n, y, &deep, include, divisor ? taps[1] : 0);
    y = unfold_depth(c, g, n, y, channels, p.out[0], p.out[1], p.out[2]);
    if (divisor)
        y = MAKE("aten::mul.Tensor", arg_value(y),
                 arg_float((double)(taps[0] * taps[1]) / (double)divisor));
    give(g, n, 0, y, p.batched);
}

static void max3d_decompose(C *c, Graph *g, Node *n) {
    PoolArgs p;
    if (!pool_args(c, n, 3, &p))
        return;
    Value *x = batched_input(g, n, p.batched);
    int64_t channels = x->type.dim[1];
    PoolArgs plane = pool_part(&p, true), deep = pool_part(&p, false);
    Value *planes = fold_depth(c, g, n, x, true);
    Value *y = max_node(c, g, n, "corten::max_pool2d", planes, &plane);
    y = unfold_depth(c, g, n, y, channels, p.in[0], p.out[1], p.out[2]);
    Value *columns = fold_depth(c, g, n, y, false);
    y = max_node(c, g, n, "corten::max_pool2d", columns, &deep);
    y = unfold_depth(c, g, n, y, channels, p.out[0], p.out[1], p.out[2]);
    give(g, n, 0, y, p.batched);
    if (n->out_count < 2)
        return;
    y = places_of_solid(c, g, n, max_node(c, g, n, "corten::max_pool2d_indices", planes, &plane),
                        max_node(c, g, n, "corten::max_pool2d_indices", columns, &deep),
                        p.in[1] * p.in[2]);
    y = unfold_depth(c, g, n, y, channels, p.out[0], p.out[1], p.out[2]);
    give(g, n, 1, y, p.batched);
}

/* ---- adaptive ------------------------------------------------------------------------------- */

static Value *adaptive_node(C *c, Graph *g, Node *n, Value *x, int spatial, const int64_t *size,
                            bool maximum) {
    PoolArgs p = {.spatial = spatial, .batched = true};
    bool even = true;
    for (int i = 0; i < spatial; i++) {
        p.in[i] = x->type.dim[x->type.rank - spatial + i];
        p.out[i] = size[i];
        p.dilation[i] = 1;
        p.kernel[i] = p.stride[i] = p.in[i] / size[i];
        even = even && p.in[i] % size[i] == 0;
    }
    if (even)
        return maximum ? max_node(c, g, n, "corten::max_pool2d", x, &p)
                       : avg_node(c, g, n, x, &p, false, 0);
    int64_t plane[PLANE];
    plane_list(spatial, size, 1, plane);
    return MAKE("corten::adaptive_pool2d", arg_value(x), arg_ints(c, PLANE, plane),
                arg_bool(maximum));
}

static bool adaptive_size(C *c, const Node *n, int spatial, int64_t *size, bool *batched) {
    return pool_input(c, n, spatial, batched) &&
           pool_list(c, n, "output_size", spatial, 1, NULL, size);
}

static Value *adaptive_places(C *c, Graph *g, Node *n, Value *x, const int64_t *size) {
    return MAKE("corten::adaptive_max_indices", arg_value(x), arg_ints(c, PLANE, size));
}

static void adaptive_decompose(C *c, Graph *g, Node *n, int spatial) {
    int64_t size[3], plane[PLANE];
    bool batched, maximum = n->out_count > 1;
    if (!adaptive_size(c, n, spatial, size, &batched))
        return;
    Value *x = batched_input(g, n, batched);
    give(g, n, 0, adaptive_node(c, g, n, x, spatial, size, maximum), batched);
    plane_list(spatial, size, 1, plane);
    if (maximum)
        give(g, n, 1, adaptive_places(c, g, n, x, plane), batched);
}

static void adaptive1d_decompose(C *c, Graph *g, Node *n) {
    adaptive_decompose(c, g, n, 1);
}

static void adaptive2d_decompose(C *c, Graph *g, Node *n) {
    adaptive_decompose(c, g, n, 2);
}

static void adaptive3d_decompose(C *c, Graph *g, Node *n) {
    int64_t size[3];
    bool batched, maximum = n->out_count > 1;
    if (!adaptive_size(c, n, 3, size, &batched))
        return;
    Value *x = batched_input(g, n, batched);
    int64_t channels = x->type.dim[1], depth = x->type.dim[2];
    int64_t plane = x->type.dim[3] * x->type.dim[4];
    Value *planes = fold_depth(c, g, n, x, true);
    Value *y = adaptive_node(c, g, n, planes, 2, size + 1, maximum);
    y = unfold_depth(c, g, n, y, channels, depth, size[1], size[2]);
    int64_t deep[PLANE] = {size[0], size[1] * size[2]};
    Value *columns = fold_depth(c, g, n, y, false);
    y = adaptive_node(c, g, n, columns, 2, deep, maximum);
    give(g, n, 0, unfold_depth(c, g, n, y, channels, size[0], size[1], size[2]), batched);
    if (!maximum)
        return;
    y = places_of_solid(c, g, n, adaptive_places(c, g, n, planes, size + 1),
                        adaptive_places(c, g, n, columns, deep), plane);
    give(g, n, 1, unfold_depth(c, g, n, y, channels, size[0], size[1], size[2]), batched);
}

/* ---- the internal rows ----------------------------------------------------------------------- */

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
    Call *call = call_new(c, g, n, CTN_KERNEL_max_pool2d_s16);
    CtnMaxPool2dS16Args *a = call->args;
    POOL_SIZES(a, p);
    POOL_WINDOW(a, p);
    a->dilation_h = (int32_t)p->dilation[0];
    a->dilation_w = (int32_t)p->dilation[1];
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, node_result(n));
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
    Call *call = call_new(c, g, n, CTN_KERNEL_avg_pool2d_s16);
    CtnAvgPool2dS16Args *a = call->args;
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
        multiplier_from(value_scale(x) / value_scale(n->out[0]), &a->multiplier, &a->shift);
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
    {.schema = "aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
               "padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor",
     COMPOSITE(max1d_decompose)},
    {.schema = "aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], "
               "int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
     COMPOSITE(max1d_decompose)},
    {.schema = "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
               "padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
     COMPOSITE(max2d_decompose)},
    {.schema = "aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], "
               "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
     COMPOSITE(max2d_decompose)},
    {.schema = "aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
               "padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
     COMPOSITE(max3d_decompose)},
    {.schema = "aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], "
               "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
     COMPOSITE(max3d_decompose)},
    {.schema = "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
               "padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
     COMPOSITE(avg1d_decompose)},
    {.schema = "aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
               "padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
               "divisor_override=None) -> Tensor",
     COMPOSITE(avg2d_decompose)},
    {.schema = "aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
               "padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
               "divisor_override=None) -> Tensor",
     COMPOSITE(avg3d_decompose)},
    {.schema = "aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
     COMPOSITE(adaptive1d_decompose)},
    {.schema = "aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
     COMPOSITE(adaptive2d_decompose)},
    {.schema = "aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
     COMPOSITE(adaptive2d_decompose)},
    {.schema = "aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
     COMPOSITE(adaptive3d_decompose)},
    {.schema = "aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
     COMPOSITE(adaptive3d_decompose)},
    {.schema = "aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
     COMPOSITE(adaptive1d_decompose)},
    {.schema = "aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
     COMPOSITE(adaptive2d_decompose)},
    {.schema = "aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
     COMPOSITE(adaptive3d_decompose)},
    /* Padding is top, bottom, left, right; one spatial dim has a height of one. */
    {.schema = "corten::max_pool2d(Tensor input, int[2] kernel_size, int[2] stride, int[4] "
               "padding, int[2] dilation) -> Tensor",
     POOL_CORE,
     .traits = POOL_TRAITS | OP_WIDE_ALIKE | OP_PICKS,
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
     .traits = OP_FUSES_CLAMP | OP_FUSES_TABLE | OP_CHANNELS_LAST | OP_WIDE_IN | OP_WIDE_OUT,
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

OPS_FAMILY(pool, rows);
