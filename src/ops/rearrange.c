/* Blocks of space moved into channels and back: pixel and channel shuffles, and the windows of
 * im2col and col2im. Each is a strided picture of the operand over more dimensions than the output
 * has; both are row-major, so the picture's elements in order are the output's. */
#include "ops/ops.h"

/* Appends a dimension to the picture. */
static void picture_add(Strided *s, int64_t dim, int64_t stride) {
    s->dim[s->rank] = dim;
    s->stride[s->rank++] = stride;
}

/* Batch dims in front of the last three, as one. */
static int64_t batch_of(const Type *t) {
    return dims_count(t->rank - 3, t->dim);
}

typedef bool Rearrangement(C *c, const Node *n, Strided *s, Type *out);

static void rearrangement_shape(C *c, Node *n, Rearrangement *of) {
    Strided s = {0};
    Type out = movement_input(n)->type;
    of(c, n, &s, &out);
    n->out[0]->type = out;
}

static void rearrangement_eval(C *c, Node *n, Rearrangement *of) {
    const Array *in = eval_movement_input(c, n);
    Strided s = {0};
    Type out = movement_input(n)->type;
    if (of(c, n, &s, &out))
        eval_strided(eval_out(c, n, 0), in, &s);
}

#define REARRANGEMENT_FUNCTIONS(op)                                                                \
    static void op##_shape(C *c, Node *n) {                                                        \
        rearrangement_shape(c, n, op##_rearrangement);                                             \
    }                                                                                              \
    static void op##_eval(C *c, Node *n) {                                                         \
        rearrangement_eval(c, n, op##_rearrangement);                                              \
    }

/* [.., C r r, H, W] to [.., C, H r, W r]. */
static bool pixel_shuffle_rearrangement(C *c, const Node *n, Strided *s, Type *out) {
    Type t = *out;
    int64_t r = node_int(n, "upscale_factor");
    int at = t.rank - 3;
    if (at < 0 || r < 1 || r > 4096 || t.dim[at] % (r * r) != 0)
        return movement_refuse(c, n, "factor %lld for %s", (long long)r,
                               shape_text(c, t.rank, t.dim));
    int64_t h = t.dim[at + 1], w = t.dim[at + 2];
    out->dim[at] = t.dim[at] / (r * r);
    out->dim[at + 1] = h * r;
    out->dim[at + 2] = w * r;
    picture_add(s, batch_of(&t) * out->dim[at], r * r * h * w);
    picture_add(s, h, w);
    picture_add(s, r, r * h * w);
    picture_add(s, w, 1);
    picture_add(s, r, h * w);
    return true;
}
REARRANGEMENT_FUNCTIONS(pixel_shuffle)

/* [.., C, H r, W r] to [.., C r r, H, W]. */
static bool pixel_unshuffle_rearrangement(C *c, const Node *n, Strided *s, Type *out) {
    Type t = *out;
    int64_t r = node_int(n, "downscale_factor");
    int at = t.rank - 3;
    if (at < 0 || r < 1 || r > 4096 || t.dim[at + 1] % r != 0 || t.dim[at + 2] % r != 0)
        return movement_refuse(c, n, "factor %lld for %s", (long long)r,
                               shape_text(c, t.rank, t.dim));
    int64_t h = t.dim[at + 1], w = t.dim[at + 2];
    out->dim[at] = t.dim[at] * r * r;
    out->dim[at + 1] = h / r;
    out->dim[at + 2] = w / r;
    picture_add(s, batch_of(&t) * t.dim[at], h * w);
    picture_add(s, r, w);
    picture_add(s, r, 1);
    picture_add(s, h / r, w * r);
    picture_add(s, w / r, r);
    return true;
}
REARRANGEMENT_FUNCTIONS(pixel_unshuffle)

/* Channel g * (C / groups) + k moves to k * groups + g. */
static bool channel_shuffle_rearrangement(C *c, const Node *n, Strided *s, Type *out) {
    int64_t groups = node_int(n, "groups");
    if (out->rank < 3 || groups < 1 || out->dim[1] % groups != 0)
        return movement_refuse(c, n, "%lld groups for %s", (long long)groups,
                               shape_text(c, out->rank, out->dim));
    int64_t each = out->dim[1] / groups, plane = dims_count(out->rank - 2, out->dim + 2);
    picture_add(s, out->dim[0], out->dim[1] * plane);
    picture_add(s, each, plane);
    picture_add(s, groups, each * plane);
    picture_add(s, plane, 1);
    return true;
}
REARRANGEMENT_FUNCTIONS(channel_shuffle)

/* ---- windows --------------------------------------------------------------------------------- */

typedef struct { /* [0]: rows, [1]: columns */
    int64_t kernel[2], dilation[2], padding[2], stride[2], out[2];
} Windows;

/* For `size` rows and columns before padding. */
static bool windows_of(C *c, const Node *n, const int64_t size[2], Windows *w) {
    node_ints_spread(n, "kernel_size", w->kernel, 2);
    node_ints_spread(n, "dilation", w->dilation, 2);
    node_ints_spread(n, "padding", w->padding, 2);
    node_ints_spread(n, "stride", w->stride, 2);
    for (int i = 0; i < 2; i++) {
        int64_t most = INT32_MAX;
        if (w->kernel[i] < 1 || w->dilation[i] < 1 || w->padding[i] < 0 || w->stride[i] < 1 ||
            w->kernel[i] > most || w->dilation[i] > most || w->padding[i] > most ||
            w->stride[i] > most || size[i] < 0 || size[i] > most)
            return movement_refuse(c, n, "kernel_size, dilation, padding or stride out of range");
        int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
        int64_t room = size[i] + 2 * w->padding[i] - reach;
        if (room < 0)
            return movement_refuse(c, n, "a window of %lld in %lld elements", (long long)reach,
                                   (long long)(size[i] + 2 * w->padding[i]));
        w->out[i] = room / w->stride[i] + 1;
    }
    return true;
}

/* corten::windows, im2col without padding: [N, C, H, W] to [N, C kh kw, oh ow]. */
static bool windows_rearrangement(C *c, const Node *n, Strided *s, Type *out) {
    Type t = *out;
    Windows w;
    int at = t.rank - 3;
    if (t.rank != 3 && t.rank != 4)
        return movement_refuse(c, n, "rank %d, 3 or 4 needed", t.rank);
    if (!windows_of(c, n, t.dim + at + 1, &w))
        return false;
    int64_t width = t.dim[at + 2], plane = t.dim[at + 1] * width;
    out->rank = t.rank - 1;
    out->dim[at] = t.dim[at] * w.kernel[0] * w.kernel[1];
    out->dim[at + 1] = w.out[0] * w.out[1];
    picture_add(s, batch_of(&t) * t.dim[at], plane);
    picture_add(s, w.kernel[0], w.dilation[0] * width);
    picture_add(s, w.kernel[1], w.dilation[1]);
    picture_add(s, w.out[0], w.stride[0] * width);
    picture_add(s, w.out[1], w.stride[1]);
    return true;
}
REARRANGEMENT_FUNCTIONS(windows)

static void im2col_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int64_t padding[2], none[2] = {0, 0};
    node_ints_spread(n, "padding", padding, 2);
    if (padding[0] != 0 || padding[1] != 0) {
        int64_t pad[4] = {padding[1], padding[1], padding[0], padding[0]};
        x = MAKE("aten::constant_pad_nd", arg_value(x), arg_ints(c, 4, pad), arg_int(0));
    }
    value_replace(g, n->out[0],
                  MAKE("corten::windows", arg_value(x), *node_arg(n, "kernel_size"),
                       *node_arg(n, "dilation"), arg_ints(c, 2, none), *node_arg(n, "stride")));
}

/* The place of tap (y, x) of all windows on the padded canvas [N C, H, W]. */
static Value *tap_place(C *c, Graph *g, Node *n, const Windows *w, Value *canvas, int64_t y,
                        int64_t x) {
    int64_t tap[2] = {y, x};
    for (int i = 0; i < 2; i++) {
        int64_t start = tap[i] * w->dilation[i];
        canvas = MAKE("aten::slice.Tensor", arg_value(canvas), arg_int(i + 1), arg_int(start),
                      arg_int(start + (w->out[i] - 1) * w->stride[i] + 1), arg_int(w->stride[i]));
    }
    (void)c;
    return canvas;
}

/* Adds tap (y, x) of all windows into the canvas of [N C, height, width] elements. */
static Value *tap_add(C *c, Graph *g, Node *n, const Windows *w, Value *canvas, Value *tap,
                      int64_t y, int64_t x) {
    int64_t width = canvas->type.dim[2], plane = canvas->type.dim[1] * width;
    Value *sum =
        MAKE("aten::add.Tensor", arg_value(tap_place(c, g, n, w, canvas, y, x)), arg_value(tap));
    int64_t stride[3] = {plane, w->stride[0] * width, w->stride[1]};
    return MAKE("corten::strided_scatter", arg_value(canvas), arg_value(sum),
                arg_ints(c, 3, sum->type.dim), arg_ints(c, 3, stride),
                arg_int(y * w->dilation[0] * width + x * w->dilation[1]));
}

/* [N, C kh kw, oh ow] to [N, C, H, W]: sums what overlaps, tap by tap. */
static void col2im_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    Type t = x->type;
    Windows w;
    int64_t size[2];
    node_ints_spread(n, "output_size", size, 2);
    int at = t.rank - 2;
    if ((t.rank != 2 && t.rank != 3) || !windows_of(c, n, size, &w) ||
        t.dim[at + 1] != w.out[0] * w.out[1] || t.dim[at] % (w.kernel[0] * w.kernel[1]) != 0) {
        movement_refuse(c, n, "%s is not the columns of %lld x %lld", shape_text(c, t.rank, t.dim),
                        (long long)size[0], (long long)size[1]);
        return;
    }
    int64_t batch = at > 0 ? t.dim[0] : 1, channels = t.dim[at] / (w.kernel[0] * w.kernel[1]);
    int64_t columns[5] = {batch * channels, w.kernel[0], w.kernel[1], w.out[0], w.out[1]};
    int64_t padded[3] = {batch * channels, size[0] + 2 * w.padding[0], size[1] + 2 * w.padding[1]};
    x = MAKE("aten::view", arg_value(x), arg_ints(c, 5, columns));
    Value *canvas = MAKE("aten::full", arg_ints(c, 3, padded), arg_float(0), arg_dtype(t.dtype));
    for (int64_t i = 0; i < w.kernel[0]; i++)
        for (int64_t k = 0; k < w.kernel[1]; k++) {
            Value *tap = MAKE("aten::select.int", arg_value(x), arg_int(1), arg_int(i));
            tap = MAKE("aten::select.int", arg_value(tap), arg_int(1), arg_int(k));
            canvas = tap_add(c, g, n, &w, canvas, tap, i, k);
        }
    for (int i = 0; i < 2; i++)
        canvas = MAKE("aten::slice.Tensor", arg_value(canvas), arg_int(i + 1),
                      arg_int(w.padding[i]), arg_int(w.padding[i] + size[i]));
    int64_t out[4] = {batch, channels, size[0], size[1]};
    value_replace(
        g, n->out[0],
        MAKE("aten::view", arg_value(canvas), arg_ints(c, at > 0 ? 4 : 3, out + (at == 0))));
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define MOVES(text, op)                                                                            \
    {                                                                                              \
        .schema = text, .traits = OP_MOVES_DATA, .shape = op##_shape, .eval = op##_eval,           \
        .quant = {.out = {Q_SAME}}, .lower = lower_movement                                        \
    }

static const Op rows[] = {
    MOVES("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", pixel_shuffle),
    MOVES("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", pixel_unshuffle),
    MOVES("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor", channel_shuffle),
    MOVES("aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", channel_shuffle),
    MOVES("corten::windows(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, "
          "int[2] stride) -> Tensor",
          windows),
    {.schema = "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, "
               "int[2] stride) -> Tensor",
     COMPOSITE(im2col_decompose)},
    {.schema = "aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] "
               "dilation, int[2] padding, int[2] stride) -> Tensor",
     COMPOSITE(col2im_decompose)},
};

OPS_FAMILY(rearrange, rows);
