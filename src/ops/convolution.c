/* Convolutions of one, two and three spatial dims. Every ATen row reads its arguments into one
 * `Conv`, so shape, float reference and lowering are written once; `decompose` turns them all into
 * three internal rows with explicit padding on each side, the only ones that are quantized, fused
 * and lowered. One spatial dim is two with a height of one, without a reshape: a rank-3 value
 * ordered N, L, C is the same memory as N, 1, L, C. */
#include "ops/convolution.h"
#include "lower/float.h"

#include <cblas.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading arguments ---------------------------------------------------------------------- */

static bool is_internal(const Node *n) {
    return strncmp(op_schema(n->op)->name, "corten::", 8) == 0;
}

static bool conv_is_transposed(const Node *n) {
    return strstr(op_schema(n->op)->name, "conv_transpose") ||
           (node_takes(n, "transposed") && node_bool(n, "transposed"));
}

/* A list of `lists` ints (or one for all) at the last axes of `out`, each in low..LIST_LIMIT. */
static bool conv_list(C *c, const Node *n, const char *name, int lists, int64_t low, int64_t *out) {
    int64_t item[AXES];
    node_ints_spread(n, name, item, lists);
    for (int i = 0; i < lists; i++) {
        if (item[i] < low || item[i] > LIST_LIMIT) {
            diag_error(c, DIAG_MODEL, &n->loc, "convolution %s %lld is out of range", name,
                       (long long)item[i]);
            return false;
        }
        out[AXES - lists + i] = item[i];
    }
    return true;
}

/* "same" pads so that the output is as large as the input; the odd tap goes to the end. */
static bool conv_padding_string(C *c, const Node *n, Conv *v) {
    const char *mode = node_string(n, "padding");
    bool same = strcmp(mode, "same") == 0;
    if (!same && strcmp(mode, "valid") != 0) {
        diag_error(c, DIAG_MODEL, &n->loc, "convolution padding '%s' is not 'same' or 'valid'",
                   mode);
        return false;
    }
    for (int a = 0; same && a < AXES; a++) {
        int64_t total = v->dilation[a] * (v->kernel[a] - 1);
        v->before[a] = total / 2;
        v->after[a] = total - total / 2;
        if (v->stride[a] != 1) {
            diag_error(c, DIAG_MODEL, &n->loc,
                       "convolution padding 'same' needs stride 1, not %lld",
                       (long long)v->stride[a]);
            return false;
        }
    }
    return true;
}

static bool conv_padding(C *c, const Node *n, int lists, Conv *v) {
    if (node_arg(n, "padding")->kind == ARG_STRING)
        return conv_padding_string(c, n, v);
    if (!is_internal(n)) {
        if (!conv_list(c, n, "padding", lists, 0, v->before))
            return false;
        memcpy(v->after, v->before, sizeof v->after);
        return true;
    }
    int64_t side[2 * AXES] = {0};
    int count = node_ints(n, "padding", side, 2 * AXES) / 2;
    for (int i = 0; i < count; i++) {
        v->before[AXES - count + i] = side[2 * i];
        v->after[AXES - count + i] = side[2 * i + 1];
    }
    return true;
}

static bool conv_output_padding(C *c, const Node *n, int lists, Conv *v) {
    int64_t more[AXES] = {0};
    if (!v->transposed || !node_takes(n, "output_padding"))
        return true;
    if (!conv_list(c, n, "output_padding", lists, 0, more))
        return false;
    for (int a = 0; a < AXES; a++) {
        if (more[a] > 0 && more[a] >= v->stride[a] && more[a] >= v->dilation[a]) {
            diag_error(c, DIAG_MODEL, &n->loc,
                       "output_padding %lld must be smaller than stride or dilation",
                       (long long)more[a]);
            return false;
        }
        v->after[a] -= more[a];
    }
    return true;
}

static bool conv_channels(C *c, const Node *n, const Type *x, const Type *w, Conv *v) {
    const Value *bias = node_in(n, "bias");
    v->groups = node_int(n, "groups");
    v->in_c = x->dim[v->batched];
    v->weight_by_input = v->transposed && !is_internal(n);
    bool groups_ok = v->groups >= 1 && v->in_c >= 1 && w->dim[0] >= 1 && v->in_c % v->groups == 0 &&
                     w->dim[0] % v->groups == 0;
    int64_t other = groups_ok ? v->in_c / v->groups : 0;
    v->out_c = v->weight_by_input && groups_ok ? w->dim[1] * v->groups : w->dim[0];
    bool fits = v->weight_by_input ? w->dim[0] == v->in_c && w->dim[1] >= 1 : w->dim[1] == other;
    if (!groups_ok || !fits || v->out_c > INT32_MAX) {
        diag_error(c, DIAG_MODEL, &n->loc,
                   "weight %s does not fit %lld input channels in %lld groups",
                   shape_text(c, w->rank, w->dim), (long long)v->in_c, (long long)v->groups);
        return false;
    }
    if (bias && (bias->type.rank != 1 || bias->type.dim[0] != v->out_c)) {
        diag_error(c, DIAG_MODEL, &n->loc, "bias %s does not fit %lld output channels",
                   shape_text(c, bias->type.rank, bias->type.dim), (long long)v->out_c);
        return false;
    }
    return true;
}

static bool conv_output(C *c, const Node *n, Conv *v) {
    int64_t total = v->batch;
    bool fits = !__builtin_mul_overflow(total, v->out_c, &total);
    for (int a = 0; a < AXES; a++) {
        int64_t reach = v->dilation[a] * (v->kernel[a] - 1) + 1;
        if (v->transposed)
            v->out[a] = (v->in[a] - 1) * v->stride[a] - v->before[a] - v->after[a] + reach;
        else {
            int64_t room = v->in[a] + v->before[a] + v->after[a] - reach;
            v->out[a] = room < 0 ? 0 : room / v->stride[a] + 1;
        }
        fits = fits && v->out[a] >= 1 && v->out[a] <= INT32_MAX &&
               !__builtin_mul_overflow(total, v->out[a], &total);
    }
    if (!fits)
        diag_error(c, DIAG_MODEL, &n->loc, "convolution's output size %s is out of range",
                   shape_text(c, v->spatial, v->out + AXES - v->spatial));
    return fits;
}

bool conv_read(C *c, const Node *n, Conv *v) {
    const Type *x = &node_in(n, "input")->type, *w = &node_in(n, "weight")->type;
    *v = (Conv){.spatial = w->rank - 2, .transposed = conv_is_transposed(n)};
    if (w->rank < 3 || w->rank > 5 || (x->rank != w->rank && x->rank != w->rank - 1)) {
        diag_error(c, DIAG_MODEL, &n->loc, "convolution of input %s with weight %s: ranks differ",
                   shape_text(c, x->rank, x->dim), shape_text(c, w->rank, w->dim));
        return false;
    }
    if (!dtype_is_float(x->dtype) || !dtype_is_float(w->dtype)) {
        diag_error(c, DIAG_MODEL, &n->loc, "convolution needs float tensors, not %s and %s",
                   dtype_name(x->dtype), dtype_name(w->dtype));
        return false;
    }
    v->batched = x->rank == w->rank;
    v->batch = v->batched ? x->dim[0] : 1;
    for (int a = 0; a < AXES; a++)
        v->in[a] = v->kernel[a] = v->stride[a] = v->dilation[a] = 1;
    for (int a = 0; a < v->spatial; a++) {
        v->in[AXES - v->spatial + a] = x->dim[x->rank - v->spatial + a];
        v->kernel[AXES - v->spatial + a] = w->dim[2 + a];
        if (w->dim[2 + a] < 1 || w->dim[2 + a] > INT32_MAX) {
            diag_error(c, DIAG_MODEL, &n->loc, "convolution weight %s is empty",
                       shape_text(c, w->rank, w->dim));
            return false;
        }
    }
    int lists = is_internal(n) && v->spatial == 1 ? 2 : v->spatial;
    return conv_channels(c, n, x, w, v) && conv_list(c, n, "stride", lists, 1, v->stride) &&
           conv_list(c, n, "dilation", lists, 1, v->dilation) && conv_padding(c, n, lists, v) &&
           conv_output_padding(c, n, lists, v) && conv_output(c, n, v);
}

static void conv_shape(C *c, Node *n) {
    Conv v;
    if (!conv_read(c, n, &v)) {
        shape_same(c, n);
        return;
    }
    int64_t dim[MAX_RANK];
    int rank = 0;
    if (v.batched)
        dim[rank++] = v.batch;
    dim[rank++] = v.out_c;
    for (int a = AXES - v.spatial; a < AXES; a++)
        dim[rank++] = v.out[a];
    node_set_type(n, 0, node_in(n, "input")->type.dtype, rank, dim);
}

/* ---- float reference ------------------------------------------------------------------------ */

static void blas_one_thread(void) {
    openblas_set_num_threads(1);
}

void float_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float *a,
                int64_t lda, const float *b, int64_t ldb, float beta, float *out, int64_t ldo) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, blas_one_thread);
    if (m == 0 || n == 0)
        return;
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1.0f,
                a, (blasint)(lda > 0 ? lda : 1), b, (blasint)(ldb > 0 ? ldb : 1), beta, out,
                (blasint)(ldo > 0 ? ldo : 1));
}

static float *scratch_floats(C *c, int64_t count) {
    float *p = calloc((size_t)count + 1, sizeof(float));
    if (!p)
        fatal(c, DIAG_MODEL, NULL, "out of memory: a convolution needs %lld floats of scratch",
              (long long)count);
    return p;
}

static int64_t volume(const int64_t size[AXES]) {
    return size[0] * size[1] * size[2];
}

/* The outputs lo..hi-1 whose tap at `offset` lies within 0..in-1. */
static void tap_range(int64_t in, int64_t out, int64_t stride, int64_t offset, int64_t *lo,
                      int64_t *hi) {
    *lo = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    *hi = in - offset <= 0 ? 0 : (in - offset + stride - 1) / stride;
    if (*hi > out)
        *hi = out;
    if (*lo > *hi)
        *lo = *hi;
}

typedef struct { /* one tap: for each axis the range of outputs that it reaches, and its offset */
    int64_t lo[AXES], hi[AXES], offset[AXES];
} Tap;

static Tap tap_at(const Conv *v, int64_t index) {
    Tap t;
    for (int a = AXES - 1; a >= 0; a--) {
        t.offset[a] = index % v->kernel[a] * v->dilation[a] - v->before[a];
        index /= v->kernel[a];
        if (v->transposed) /* inputs that land in the output */
            tap_range(v->out[a], v->in[a], v->stride[a], t.offset[a], &t.lo[a], &t.hi[a]);
        else
            tap_range(v->in[a], v->out[a], v->stride[a], t.offset[a], &t.lo[a], &t.hi[a]);
    }
    return t;
}

/* plane[o] op= x[o * stride + offset] along the last axis, for every row that the tap reaches. */
static void tap_add(const Conv *v, const Tap *t, float weight, const float *x, float *plane) {
    for (int64_t d = t->lo[0]; d < t->hi[0]; d++)
        for (int64_t h = t->lo[1]; h < t->hi[1]; h++) {
            const float *from =
                x +
                ((d * v->stride[0] + t->offset[0]) * v->in[1] + h * v->stride[1] + t->offset[1]) *
                    v->in[2] +
                t->offset[2];
            float *to = plane + (d * v->out[1] + h) * v->out[2];
            int64_t stride = v->stride[2];
            if (stride == 1)
                for (int64_t w = t->lo[2]; w < t->hi[2]; w++)
                    to[w] += weight * from[w];
            else
                for (int64_t w = t->lo[2]; w < t->hi[2]; w++)
                    to[w] += weight * from[w * stride];
        }
}

static void tap_copy(const Conv *v, const Tap *t, const float *x, float *plane) {
    memset(plane, 0, (size_t)volume(v->out) * sizeof(float));
    tap_add(v, t, 1.0f, x, plane);
}

/* The reverse: out[i * stride + offset] += plane[i]. */
static void tap_scatter(const Conv *v, const Tap *t, const float *plane, float *out) {
    for (int64_t d = t->lo[0]; d < t->hi[0]; d++)
        for (int64_t h = t->lo[1]; h < t->hi[1]; h++) {
            const float *from = plane + (d * v->in[1] + h) * v->in[2];
            float *to =
                out +
                ((d * v->stride[0] + t->offset[0]) * v->out[1] + h * v->stride[1] + t->offset[1]) *
                    v->out[2] +
                t->offset[2];
            for (int64_t w = t->lo[2]; w < t->hi[2]; w++)
                to[w * v->stride[2]] += from[w];
        }
}

static bool conv_is_pointwise(const Conv *v) {
    for (int a = 0; a < AXES; a++)
        if (v->kernel[a] != 1 || v->stride[a] != 1 || v->before[a] || v->after[a])
            return false;
    return true;
}

/* One group of one image: y[out_c / groups][out] += w * columns(x[in_c / groups][in]). */
static void conv_group(const Conv *v, const float *x, const float *w, float *columns, float *y) {
    int64_t depth = v->in_c / v->groups, width = v->out_c / v->groups;
    int64_t taps = volume(v->kernel), places = volume(v->out), plane = volume(v->in);
    if (depth == 1) {
        for (int64_t o = 0; o < width; o++)
            for (int64_t k = 0; k < taps; k++) {
                Tap t = tap_at(v, k);
                tap_add(v, &t, w[o * taps + k], x, y + o * places);
            }
        return;
    }
    if (columns) {
        for (int64_t k = 0; k < taps; k++) {
            Tap t = tap_at(v, k);
            for (int64_t i = 0; i < depth; i++)
                tap_copy(v, &t, x + i * plane, columns + (i * taps + k) * places);
        }
        x = columns;
    }
    float_gemm(false, false, width, places, depth * taps, w, depth * taps, x, places, 1.0f, y,
               places);
}

static void conv_transpose_group(const Conv *v, const float *x, const float *w, float *columns,
                                 float *y) {
    int64_t depth = v->in_c / v->groups, width = v->out_c / v->groups;
    int64_t taps = volume(v->kernel), places = volume(v->out), plane = volume(v->in);
    for (int64_t o = 0; o < width; o++) {
        const float *own = w + o * (v->weight_by_input ? taps : depth * taps);
        float_gemm(true, false, taps, plane, depth, own, v->weight_by_input ? width * taps : taps,
                   x, plane, 0.0f, columns, plane);
        for (int64_t k = 0; k < taps; k++) {
            Tap t = tap_at(v, k);
            tap_scatter(v, &t, columns + k * plane, y + o * places);
        }
    }
}

static void conv_eval(C *c, Node *n) {
    Conv v;
    if (!conv_read(c, n, &v))
        return;
    const float *x = eval_in(c, n, "input")->data, *w = eval_in(c, n, "weight")->data;
    const Array *bias = eval_in(c, n, "bias");
    float *y = eval_out(c, n, 0)->data;
    int64_t depth = v.in_c / v.groups, width = v.out_c / v.groups, taps = volume(v.kernel);
    int64_t places = volume(v.out), plane = volume(v.in);
    for (int64_t i = 0; i < v.batch * v.out_c; i++)
        for (int64_t p = 0; p < places; p++)
            y[i * places + p] = bias ? ((const float *)bias->data)[i % v.out_c] : 0.0f;
    float *columns = NULL;
    if (v.transposed)
        columns = scratch_floats(c, taps * plane);
    else if (depth > 1 && !conv_is_pointwise(&v))
        columns = scratch_floats(c, depth * taps * places);
    for (int64_t b = 0; b < v.batch; b++)
        for (int64_t g = 0; g < v.groups; g++)
            (v.transposed ? conv_transpose_group : conv_group)(
                &v, x + (b * v.in_c + g * depth) * plane, w + g * depth * width * taps, columns,
                y + (b * v.out_c + g * width) * places);
    free(columns);
}

/* ---- decompose ------------------------------------------------------------------------------ */

/* [in_c][out_c / groups][taps] -> [out_c][in_c / groups][taps] */
static void weight_by_output(const Conv *v, const char *from, char *to, size_t block) {
    int64_t depth = v->in_c / v->groups, width = v->out_c / v->groups;
    for (int64_t g = 0; g < v->groups; g++)
        for (int64_t i = 0; i < depth; i++)
            for (int64_t o = 0; o < width; o++)
                memcpy(to + (size_t)((g * width + o) * depth + i) * block,
                       from + (size_t)((g * depth + i) * width + o) * block, block);
}

/* A pinned grid along the old axis 1 (output channels of one group) goes to the new axis 0. */
static Grid *grid_by_output(C *c, const Conv *v, const Grid *old) {
    if (!old || old->part_count < 2)
        return (Grid *)old;
    Grid *grid = c_memdup(c, old, sizeof *old);
    int64_t width = v->out_c / v->groups;
    grid->part_count = old->part_count * (int)v->groups;
    grid->part = NEW_ARRAY(c, Part, grid->part_count);
    for (int k = 0; k < grid->part_count; k++) {
        Part *p = &grid->part[k];
        *p = old->part[k % old->part_count];
        p->axis = 0;
        p->start += k / old->part_count * width;
        p->stop += k / old->part_count * width;
    }
    return grid;
}

static Value *transposed_weight(C *c, Graph *g, Node *n, const Conv *v) {
    Value *w = node_in(n, "weight");
    int64_t dim[MAX_RANK] = {v->groups, v->in_c / v->groups, v->out_c / v->groups};
    for (int k = 2; k < w->type.rank; k++)
        dim[k + 1] = w->type.dim[k];
    if (!w->constant) {
        Value *split = node_value(g, n, "aten::reshape",
                                  ARGS(arg_value(w), arg_ints(c, w->type.rank + 1, dim)));
        Value *turned =
            node_value(g, n, "aten::transpose.int", ARGS(arg_value(split), arg_int(1), arg_int(2)));
        dim[1] = v->out_c;
        dim[2] = v->in_c / v->groups;
        return node_value(g, n, "aten::reshape",
                          ARGS(arg_value(turned), arg_ints(c, w->type.rank, dim + 1)));
    }
    dim[1] = v->out_c;
    dim[2] = v->in_c / v->groups;
    Array *a = array_new(c, w->constant->dtype, w->type.rank, dim + 1);
    size_t block = (size_t)(volume(v->kernel) * dtype_size(a->dtype));
    weight_by_output(v, w->constant->data, a->data, block);
    Value *made = value_constant(g, w->name, a);
    made->type = type_make(w->type.dtype, w->type.rank, dim + 1);
    made->grid = grid_by_output(c, v, w->grid);
    return made;
}

static void conv_decompose(C *c, Graph *g, Node *n) {
    Conv v;
    if (!conv_read(c, n, &v))
        return;
    Value *x = node_in(n, "input"), *bias = node_in(n, "bias");
    Value *w = v.weight_by_input ? transposed_weight(c, g, n, &v) : node_in(n, "weight");
    if (!v.batched)
        x = node_value(g, n, "aten::unsqueeze", ARGS(arg_value(x), arg_int(0)));
    int lists = v.spatial == 1 ? 2 : v.spatial, first = AXES - lists;
    int64_t side[2 * AXES];
    for (int i = 0; i < lists; i++) {
        side[2 * i] = v.before[first + i];
        side[2 * i + 1] = v.after[first + i];
    }
    bool computed = !w->constant;
    Value *added = bias && !bias->constant ? bias : NULL; /* kernels have constant ones */
    if (added)
        bias = NULL;
    const char *row = v.spatial == 3 ? computed ? "corten::computed_conv3d" : "corten::conv3d"
                      : computed     ? "corten::computed_conv2d"
                      : v.transposed ? "corten::conv_transpose2d"
                                     : "corten::conv2d";
    Value *y =
        v.transposed && (v.spatial == 3 || computed)
            ? transposed_by_stretching(c, g, n, &v, row, lists, x, w, bias)
            : node_value(g, n, row,
                         ARGS(arg_value(x), arg_value(w), arg_value(bias),
                              arg_ints(c, lists, v.stride + first), arg_ints(c, 2 * lists, side),
                              arg_ints(c, lists, v.dilation + first), arg_int(v.groups)));
    if (added) {
        int64_t channels[MAX_RANK] = {1, v.out_c, 1, 1, 1};
        added = MAKE("aten::reshape", arg_value(added), arg_ints(c, v.spatial + 2, channels));
        y = MAKE("aten::add.Tensor", arg_value(y), arg_value(added));
    }
    if (!v.batched)
        y = node_value(g, n, "aten::squeeze.dim", ARGS(arg_value(y), arg_int(0)));
    value_replace(g, n->out[0], y);
}

/* ---- lowering ------------------------------------------------------------------------------- */

/* Weights [out_c][in_c / groups][taps] as the kernels want them: [out_c][taps][in_c / groups], or
 * [taps][out_c] for the depthwise kernel. */
static void *weights_pack(C *c, const Conv *v, const void *from, size_t size, bool depthwise) {
    int64_t depth = v->in_c / v->groups, taps = volume(v->kernel);
    char *to = c_calloc(c, (size_t)(v->out_c * depth * taps), size);
    for (int64_t o = 0; o < v->out_c; o++)
        for (int64_t i = 0; i < depth; i++)
            for (int64_t k = 0; k < taps; k++) {
                int64_t at = depthwise ? k * v->out_c + o : (o * taps + k) * depth + i;
                memcpy(to + (size_t)at * size,
                       (const char *)from + (size_t)((o * depth + i) * taps + k) * size, size);
            }
    return to;
}

bool weights_are_int4(const Value *w) {
    return w->grid && w->grid->bits == 4;
}

bool weights_are_int8(C *c, const Node *n, const Value *w) {
    if (weights_are_int4(w) && (!(n->op->traits & OP_INT4_WEIGHTS) || node_is_wide(n))) {
        diag_error(c, DIAG_MODEL, &n->loc, "weight %s is int4, which has no kernel %s", w->name,
                   node_is_wide(n) ? "beside int16 activations" : "here");
        return false;
    }
    if (!w->constant || !w->grid || w->constant->dtype != DT_I8) {
        diag_error(c, DIAG_MODEL, &n->loc,
                   "a weight that is computed at run time has no integer form here");
        return false;
    }
    const int8_t *q = w->constant->data;
    for (int64_t i = 0; weights_are_int4(w) && i < array_count(w->constant); i++)
        if (q[i] < -7 || q[i] > 7) {
            diag_error(c, DIAG_MODEL, &n->loc, "int4 weight %s holds %d, needs -7..7", w->name,
                       q[i]);
            return false;
        }
    for (int k = 0; k < w->grid->part_count; k++)
        if (w->grid->part[k].zero_point != 0) {
            diag_error(c, DIAG_MODEL, &n->loc, "weight has zero point %d, needs 0",
                       w->grid->part[k].zero_point);
            return false;
        }
    return true;
}

/* Two a byte, the first in the low bits. */
static uint8_t *nibbles_pack(C *c, const int8_t *weights, int64_t count) {
    uint8_t *packed = c_calloc(c, (size_t)(count + 1) / 2, 1);
    for (int64_t i = 0; i < count; i++)
        packed[i / 2] |= (uint8_t)((weights[i] & 15) << (i % 2 ? 4 : 0));
    return packed;
}

void call_weights(C *c, Call *call, const Node *n, int64_t channels, const int8_t *packed,
                  int64_t weight_bytes, WeightFields field) {
    const Value *x = node_operand(n, 0), *w = node_in(n, "weight"), *bias = node_in(n, "bias");
    int32_t *multiplier = NEW_ARRAY(c, int32_t, channels);
    int8_t *shift = NEW_ARRAY(c, int8_t, channels);
    double factor = value_scale(x) / value_scale(n->out[0]);
    for (int k = 0; k < w->grid->part_count; k++) {
        const Part *p = &w->grid->part[k];
        int64_t start = p->axis < 0 ? 0 : p->start, stop = p->axis < 0 ? channels : p->stop;
        for (int64_t i = start; i < stop && i < channels; i++) {
            int32_t s;
            multiplier_from(factor * grid_unit(w->grid, k), &multiplier[i], &s);
            shift[i] = (int8_t)s;
        }
    }
    if (weights_are_int4(w))
        call_const(call, field.weights, "weight", DT_U8, nibbles_pack(c, packed, weight_bytes),
                   (weight_bytes + 1) / 2, 4);
    else
        call_const(call, field.weights, "weight", DT_I8, packed, weight_bytes, 4);
    if (bias)
        call_const(call, field.bias, "bias", DT_I32, bias->constant->data, channels * 4, 4);
    else
        call_absent(call, field.bias);
    call_const(call, field.multiplier, "multiplier", DT_I32, multiplier, channels * 4, 4);
    call_const(call, field.shift, "shift", DT_I8, shift, channels, 1);
}

/* Rows are what lies behind one another: a convolution of one tap may stand in columns. */
static void rows_as_they_lie(const Node *n, Conv *v) {
    const Value *x = node_in(n, "input");
    if (x->type.rank == 4 && order_place(x->order, 3) < order_place(x->order, 2)) {
        int64_t in = v->in[1], out = v->out[1];
        v->in[1] = v->in[2];
        v->in[2] = in;
        v->out[1] = v->out[2];
        v->out[2] = out;
    }
}

static int32_t narrow(int64_t x) {
    return (int32_t)x; /* sizes and paddings were checked by conv_read */
}

/* The fields of the two-dimensional kernels, which have the same names. */
#define CONV_FIELDS(a, v, n)                                                                       \
    do {                                                                                           \
        (a)->batches = narrow((v)->batch);                                                         \
        (a)->in_h = narrow((v)->in[1]);                                                            \
        (a)->in_w = narrow((v)->in[2]);                                                            \
        (a)->in_c = narrow((v)->in_c);                                                             \
        (a)->out_h = narrow((v)->out[1]);                                                          \
        (a)->out_w = narrow((v)->out[2]);                                                          \
        (a)->out_c = narrow((v)->out_c);                                                           \
        (a)->kernel_h = narrow((v)->kernel[1]);                                                    \
        (a)->kernel_w = narrow((v)->kernel[2]);                                                    \
        (a)->stride_h = narrow((v)->stride[1]);                                                    \
        (a)->stride_w = narrow((v)->stride[2]);                                                    \
        (a)->pad_top = narrow((v)->before[1]);                                                     \
        (a)->pad_left = narrow((v)->before[2]);                                                    \
        (a)->dilation_h = narrow((v)->dilation[1]);                                                \
        (a)->dilation_w = narrow((v)->dilation[2]);                                                \
        (a)->input_zero_point = value_zero_point(node_in(n, "input"));                             \
        (a)->output_zero_point = value_zero_point((n)->out[0]);                                    \
        store_clamp(n, &(a)->clamp_min, &(a)->clamp_max);                                          \
    } while (0)

/* References and constants, likewise. */
#define CONV_REFS(c, call, a, v, n, packed)                                                        \
    do {                                                                                           \
        call_in(call, &(a)->input, node_in(n, "input"));                                           \
        call_out(call, &(a)->output, node_result(n));                                              \
        call_weights(c, call, n, (v)->out_c, packed, type_count(&node_in(n, "weight")->type),      \
                     (WeightFields){&(a)->weights, &(a)->bias, &(a)->multiplier, &(a)->shift});    \
        store_table(c, call, &(a)->table, n);                                                      \
    } while (0)

static int64_t conv_macs(const Conv *v) {
    int64_t places = v->transposed ? volume(v->in) : volume(v->out);
    return v->batch * places * v->out_c * (v->in_c / v->groups) * volume(v->kernel);
}

/* Between widths, and int16: one kernel for any groups. */
static void conv2d_lower_wide(C *c, Graph *g, Node *n, const Conv *v) {
    Value *x = node_in(n, "input");
    if (v->transposed) {
        diag_error(c, DIAG_MODEL, &n->loc, "a transposed convolution has no int16 form");
        return;
    }
    const int8_t *packed = weights_pack(c, v, node_in(n, "weight")->constant->data, 1, false);
    Call *call = call_new(c, g, n, CTN_KERNEL_conv2d_s16);
    CtnConv2dS16Args *a = call->args;
    CONV_FIELDS(a, v, n);
    a->groups = narrow(v->groups);
    a->input_bytes = dtype_size(value_storage(x));
    a->output_bytes = dtype_size(value_storage(node_result(n)));
    call_in(call, &a->input, x);
    call_out(call, &a->output, node_result(n));
    call_weights(c, call, n, v->out_c, packed, type_count(&node_in(n, "weight")->type),
                 (WeightFields){&a->weights, &a->bias, &a->multiplier, &a->shift});
    store_map_s16(c, call, n, &(MapFields){&a->table, &a->start, &a->piece, &a->pieces});
    call->macs = conv_macs(v);
}

static void conv2d_lower(C *c, Graph *g, Node *n) {
    Conv v;
    Value *w = node_in(n, "weight");
    if (!conv_read(c, n, &v) || !weights_are_int8(c, n, w))
        return;
    rows_as_they_lie(n, &v);
    bool depthwise = !v.transposed && v.groups == v.in_c && v.groups > 1;
    int8_t *packed = weights_pack(c, &v, w->constant->data, 1, depthwise);
    Call *call;
    if (node_is_wide(n)) {
        conv2d_lower_wide(c, g, n, &v);
        return;
    }
    if (depthwise) {
        call = call_new(c, g, n,
                        weights_are_int4(w) ? CTN_KERNEL_depthwise_conv2d_s8w4
                                            : CTN_KERNEL_depthwise_conv2d_s8);
        CtnDepthwiseConv2dS8Args *a = call->args; /* both have the same fields */
        CONV_FIELDS(a, &v, n);
        CONV_REFS(c, call, a, &v, n, packed);
        call_absent(call, &a->scratch);
    } else {
        call = call_new(c, g, n,
                        v.transposed          ? CTN_KERNEL_conv_transpose2d_s8
                        : weights_are_int4(w) ? CTN_KERNEL_conv2d_s8w4
                                              : CTN_KERNEL_conv2d_s8);
        CtnConv2dS8Args *a = call->args; /* all three have the same fields */
        CONV_FIELDS(a, &v, n);
        a->groups = narrow(v.groups);
        CONV_REFS(c, call, a, &v, n, packed);
        call_absent(call, &a->scratch);
    }
    call->macs = conv_macs(&v);
}

static void conv3d_lower(C *c, Graph *g, Node *n) {
    Conv v;
    Value *w = node_in(n, "weight");
    if (!conv_read(c, n, &v) || !weights_are_int8(c, n, w))
        return;
    int8_t *packed = weights_pack(c, &v, w->constant->data, 1, false);
    Call *call = call_new(c, g, n, CTN_KERNEL_conv3d_s8);
    CtnConv3dS8Args *a = call->args;
    CONV_FIELDS(a, &v, n);
    a->in_d = narrow(v.in[0]);
    a->out_d = narrow(v.out[0]);
    a->kernel_d = narrow(v.kernel[0]);
    a->stride_d = narrow(v.stride[0]);
    a->pad_front = narrow(v.before[0]);
    a->dilation_d = narrow(v.dilation[0]);
    a->groups = narrow(v.groups);
    CONV_REFS(c, call, a, &v, n, packed);
    call->macs = conv_macs(&v);
}

/* Weights that are computed, in the kernel's order. */
static Value *weights_copy(C *c, Graph *g, Node *n, const Conv *v) {
    Value *w = node_in(n, "weight"), *to = value_new(g, w->name, w->type);
    int64_t from[MAX_RANK], stride[MAX_RANK], step = v->in_c / v->groups;
    value_strides(w, from);
    for (int d = w->type.rank - 1; d >= 2; d--) {
        stride[d] = step;
        step *= w->type.dim[d];
    }
    stride[1] = 1;
    stride[0] = step;
    lower_copy(c, g, n, w, 0, from, to, 0, stride, w->type.rank, w->type.dim);
    return to;
}

static void conv_lower_float(C *c, Graph *g, Node *n) {
    Conv v;
    Value *w = node_in(n, "weight");
    if (!conv_read(c, n, &v))
        return;
    rows_as_they_lie(n, &v);
    Value *packed = w->constant ? NULL : weights_copy(c, g, n, &v);
    Call *call = call_new(c, g, n, CTN_KERNEL_conv_f32);
    CtnConvF32Args *a = call->args;
    a->batches = narrow(v.batch);
    a->in_c = narrow(v.in_c);
    a->out_c = narrow(v.out_c);
    a->groups = narrow(v.groups);
    a->transposed = v.transposed;
    for (int d = 0; d < AXES; d++) {
        a->in[d] = narrow(v.in[d]);
        a->out[d] = narrow(v.out[d]);
        a->kernel[d] = narrow(v.kernel[d]);
        a->stride[d] = narrow(v.stride[d]);
        a->pad[d] = narrow(v.before[d]);
        a->dilation[d] = narrow(v.dilation[d]);
    }
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, n->out[0]);
    if (packed) {
        call_in(call, &a->weights, packed);
    } else {
        const Array *real = array_convert(c, w->constant, DT_F32);
        call_const(call, &a->weights, "weight", DT_F32, weights_pack(c, &v, real->data, 4, false),
                   array_bytes(real), 4);
    }
    call_floats(c, call, &a->bias, "bias", node_in(n, "bias"));
    call->macs = conv_macs(&v);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define CONV_COMPOSITE .shape = conv_shape, .eval = conv_eval, .decompose = conv_decompose
#define CONV_TRAITS (OP_FUSES_CLAMP | OP_FUSES_TABLE | OP_CHANNELS_LAST)
#define CONV_CORE                                                                                  \
    .shape = conv_shape, .eval = conv_eval,                                                        \
    .quant = {.in = {Q_ACT, Q_WEIGHT, Q_BIAS}, .out = {Q_ACT}, .weight_axis = 0},                  \
    .lower_float = conv_lower_float

static const Op rows[] = {
    {.schema = "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
               "SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] "
               "stride=[1], str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> "
               "Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, "
               "1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> "
               "Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] "
               "stride=[1, 1], str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) "
               "-> Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, "
               "1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) "
               "-> Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
               "stride=[1, 1, 1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt "
               "groups=1) -> Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
               "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
               "SymInt groups) -> Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
               "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
               "SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool "
               "allow_tf32) -> Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] "
               "stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, "
               "SymInt[1] dilation=[1]) -> Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, "
               "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, "
               "0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor",
     CONV_COMPOSITE},
    {.schema = "aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, "
               "SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] "
               "output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor",
     CONV_COMPOSITE},
    /* Padding is begin, end of each spatial dim; one spatial dim has stride {1, s} and padding
     * {0, 0, begin, end}. */
    {.schema = "corten::conv2d(Tensor input, Tensor weight, Tensor? bias, int[2] stride, int[4] "
               "padding, int[2] dilation, int groups) -> Tensor",
     CONV_CORE,
     .traits = CONV_TRAITS | OP_FUSES_MAP | OP_WIDE_IN | OP_WIDE_OUT | OP_INT4_WEIGHTS,
     .lower = conv2d_lower},
    {.schema = "corten::conv3d(Tensor input, Tensor weight, Tensor? bias, int[3] stride, int[6] "
               "padding, int[3] dilation, int groups) -> Tensor",
     CONV_CORE,
     .traits = CONV_TRAITS,
     .lower = conv3d_lower},
    /* Weight [out_c][in_c / groups][kernel]; the end of the padding is less the output padding. */
    {.schema = "corten::conv_transpose2d(Tensor input, Tensor weight, Tensor? bias, int[2] stride, "
               "int[4] padding, int[2] dilation, int groups) -> Tensor",
     CONV_CORE,
     .traits = CONV_TRAITS,
     .lower = conv2d_lower},
};

OPS_FAMILY(convolution, rows);
