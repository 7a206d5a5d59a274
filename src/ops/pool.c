/* Pooling. ATen's rows of one to three spatial dims decompose into internal ones of two, with
 * explicit padding and output sizes (window_pool.c): string, ceil_mode and default strides are
 * resolved here. One spatial dim is two with a height of one. A mean over the whole plane becomes
 * `mean`. */
#include "ops/ops.h"

#include <string.h>

#define PLANE 2              /* height, width */
#define LIST_LIMIT (1 << 30) /* strides, paddings: sums with sizes fit int64 */

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

/* Windows of one size, as far apart as one another: those of a plain pool. */
static bool windows_alike(int64_t in, int64_t out, int64_t *kernel, int64_t *stride) {
    *kernel = (in + out - 1) / out;
    *stride = in / out;
    for (int64_t i = 0; i < out; i++) {
        int64_t first = i * in / out, end = ((i + 1) * in + out - 1) / out;
        if (*stride == 0 || first != i * *stride || end - first != *kernel)
            return false;
    }
    return true;
}

static Value *adaptive_node(C *c, Graph *g, Node *n, Value *x, int spatial, const int64_t *size,
                            bool maximum) {
    PoolArgs p = {.spatial = spatial, .batched = true};
    bool alike = true;
    for (int i = 0; i < spatial; i++) {
        p.in[i] = x->type.dim[x->type.rank - spatial + i];
        p.out[i] = size[i];
        p.dilation[i] = 1;
        alike = windows_alike(p.in[i], size[i], &p.kernel[i], &p.stride[i]) && alike;
    }
    if (alike)
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

/* ---- rows ----------------------------------------------------------------------------------- */

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
};

OPS_FAMILY(pool, rows);
