/* Patches: samples of what the weights of a convolution or linear are multiplied with, taken while
 * calibration runs, so that rounding can weigh the errors of weights by how the inputs vary
 * together (rounding.c). Each sample of calibration gives the same number of patches at places
 * that depend on nothing else, and slices are appended in the order of samples: the number of
 * threads does not matter. */
#include "quant/quant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of all rows of one softmax: each candidate range costs as many exponentials. */
#define SOFTMAX_FLOATS ((int64_t)1 << 14)

typedef struct { /* a two-dimensional convolution; a linear is one of 1 x 1 taps */
    int64_t batch, in_c, in_h, in_w, out_h, out_w, kernel_h, kernel_w, groups;
    int64_t stride[2], padding[4], dilation[2];
} Window;

/* False if the node's weights see its input otherwise. */
static bool window_read(const Node *n, Window *w) {
    bool linear = node_is(n, "corten::linear");
    if (!linear && !node_is(n, "corten::conv2d"))
        return false;
    const Type *x = &node_in(n, "input")->type, *k = &node_in(n, "weight")->type;
    const Type *y = &n->out[0]->type;
    *w = (Window){.batch = 1,
                  .in_h = 1,
                  .in_w = 1,
                  .out_h = 1,
                  .out_w = 1,
                  .kernel_h = 1,
                  .kernel_w = 1,
                  .groups = 1,
                  .stride = {1, 1},
                  .dilation = {1, 1}};
    if (type_count(x) == 0 || type_count(k) == 0 || type_count(y) == 0)
        return false;
    if (linear) {
        w->in_c = k->dim[1];
        w->batch = type_count(x) / w->in_c;
        return true;
    }
    int last = x->rank - 1;
    w->batch = x->dim[0];
    w->in_c = x->dim[1];
    w->in_w = x->dim[last];
    w->out_w = y->dim[last];
    w->kernel_w = k->dim[last];
    if (last == 3) {
        w->in_h = x->dim[2];
        w->out_h = y->dim[2];
        w->kernel_h = k->dim[2];
    }
    w->groups = node_int(n, "groups");
    node_ints(n, "stride", w->stride, 2);
    node_ints(n, "padding", w->padding, 4);
    node_ints(n, "dilation", w->dilation, 2);
    return true;
}

/* Rows of a softmax are patches too: range_through_softmax weighs clipping by them. */
static bool is_softmax(const Node *n) {
    return node_is(n, "corten::softmax") && !node_has(n, "mask") &&
           node_in(n, "input")->type.rank > 0 && type_count(&node_in(n, "input")->type) > 0;
}

static bool has_plain_weights(const Node *n) {
    const Value *weight = n->op->quant.in[1] == Q_WEIGHT ? node_in(n, "weight") : NULL;
    return weight && !weight->grid && weight->constant;
}

void patches_release(Patches *p) {
    if (p->outside)
        free(p->data);
    *p = (Patches){0};
}

static void release(void *patches) {
    patches_release(patches);
}

Patches *patches_new(C *c, const Node *n, int64_t floats, int samples, int here) {
    Window w;
    Patches *p = NEW(c, Patches);
    if (is_softmax(n)) {
        const Type *t = &node_in(n, "input")->type;
        p->groups = 1;
        p->depth = t->dim[dim_wrap(c, n, node_int(n, "dim"), t->rank)];
        floats = floats < SOFTMAX_FLOATS ? floats : SOFTMAX_FLOATS;
    } else if (has_plain_weights(n) && window_read(n, &w)) {
        p->groups = w.groups;
        p->depth = w.in_c / w.groups * w.kernel_h * w.kernel_w;
    } else {
        return NULL;
    }
    int64_t width = p->groups * p->depth, rows = floats / width;
    if (rows == 0)
        return NULL;
    p->share = rows / samples > 0 ? rows / samples : 1;
    p->capacity = p->share * here < rows ? p->share * here : rows;
    p->data = calloc((size_t)(p->capacity * width), sizeof *p->data);
    p->outside = true;
    if (!p->data)
        fatal(c, DIAG_MODEL, &n->loc, "out of memory while calibrating");
    c_defer(c, release, p);
    return p;
}

static void copy_patch(const Window *w, const float *x, int64_t y0, int64_t x0, float *to) {
    for (int64_t i = 0; i < w->in_c; i++)
        for (int64_t ky = 0; ky < w->kernel_h; ky++)
            for (int64_t kx = 0; kx < w->kernel_w; kx++) {
                int64_t iy = y0 + ky * w->dilation[0], ix = x0 + kx * w->dilation[1];
                bool inside = iy >= 0 && iy < w->in_h && ix >= 0 && ix < w->in_w;
                *to++ = inside ? x[(i * w->in_h + iy) * w->in_w + ix] : 0;
            }
}

static void copy_row(const Type *t, int dim, const float *x, int64_t place, float *to) {
    int64_t inner = 1;
    for (int d = dim + 1; d < t->rank; d++)
        inner *= t->dim[d];
    x += place / inner * inner * t->dim[dim] + place % inner;
    for (int64_t i = 0; i < t->dim[dim]; i++)
        to[i] = x[i * inner];
}

static void copy_window(const Window *w, const float *x, int64_t place, float *to) {
    int64_t plane = w->out_h * w->out_w, at = place % plane;
    copy_patch(w, x + place / plane * w->in_c * w->in_h * w->in_w,
               at / w->out_w * w->stride[0] - w->padding[0],
               at % w->out_w * w->stride[1] - w->padding[2], to);
}

void patches_take(C *c, Patches *p, const Node *n, const Array *a, int sample) {
    Window w;
    bool rows = is_softmax(n);
    if (a->dtype != DT_F32 || (!rows && !window_read(n, &w)))
        return;
    const Type *t = &node_in(n, "input")->type;
    int dim = rows ? dim_wrap(c, n, node_int(n, "dim"), t->rank) : 0;
    int64_t places = rows ? array_count(a) / p->depth : w.batch * w.out_h * w.out_w;
    int64_t want = p->share < places ? p->share : places;
    for (int64_t r = 0; r < want && p->rows < p->capacity; r++) {
        /* all places, or multiples of the golden ratio: even, and on no lattice of the image */
        double turn = fmod((double)(sample * want + r) * 0.6180339887498949, 1.0);
        int64_t place = want == places ? r : (int64_t)(turn * (double)places);
        float *to = p->data + p->rows++ * p->groups * p->depth;
        if (rows)
            copy_row(t, dim, a->data, place, to);
        else
            copy_window(&w, a->data, place, to);
    }
}

void patches_append(Patches *into, const Patches *from) {
    int64_t width = into->groups * into->depth;
    int64_t room = into->capacity - into->rows;
    int64_t rows = from->rows < room ? from->rows : room;
    if (rows > 0)
        memcpy(into->data + into->rows * width, from->data, (size_t)(rows * width) * sizeof(float));
    into->rows += rows;
}

int64_t patches_rows(const Patches *p) {
    return p->rows;
}

int64_t patches_depth(const Patches *p) {
    return p->depth;
}

int64_t patches_groups(const Patches *p) {
    return p->groups;
}

const float *patches_data(const Patches *p) {
    return p->data;
}

void patches_moments(const Patches *p, int64_t group, double *mean, float *centred) {
    int64_t width = p->groups * p->depth;
    for (int64_t k = 0; k < p->depth; k++)
        mean[k] = 0;
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t k = 0; k < p->depth; k++)
            mean[k] += (double)p->data[r * width + group * p->depth + k];
    for (int64_t k = 0; k < p->depth; k++)
        mean[k] /= (double)p->rows;
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t k = 0; k < p->depth; k++)
            centred[r * p->depth + k] = p->data[r * width + group * p->depth + k] - (float)mean[k];
}
