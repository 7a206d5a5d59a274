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

enum { AXES = 3 };

typedef struct { /* a convolution over three axes; those that it lacks, and a linear's, have size 1
                  */
    int64_t batch, in_c, groups;
    int64_t in[AXES], out[AXES], kernel[AXES];
    int64_t stride[AXES], padding[2 * AXES], dilation[AXES];
} Window;

static int64_t product(const int64_t *size) {
    return size[0] * size[1] * size[2];
}

static bool is_convolution(const Node *n) {
    return node_is(n, "corten::conv2d") || node_is(n, "corten::conv3d");
}

/* The sizes and attributes of the last axes. */
static void read_axes(const Node *n, Window *w) {
    const Type *x = &node_in(n, "input")->type, *k = &node_in(n, "weight")->type;
    int given = node_is(n, "corten::conv3d") ? 3 : 2, axes = x->rank - 2;
    for (int a = 0; a < axes; a++) {
        int to = AXES - axes + a;
        w->in[to] = x->dim[2 + a];
        w->out[to] = n->out[0]->type.dim[2 + a];
        w->kernel[to] = k->dim[2 + a];
    }
    w->groups = node_int(n, "groups");
    node_ints(n, "stride", w->stride + AXES - given, given);
    node_ints(n, "padding", w->padding + 2 * (AXES - given), 2 * given);
    node_ints(n, "dilation", w->dilation + AXES - given, given);
}

/* False if the node's weights see its input otherwise. */
static bool window_read(const Node *n, Window *w) {
    bool linear = node_is(n, "corten::linear");
    if (!linear && !is_convolution(n))
        return false;
    const Type *x = &node_in(n, "input")->type, *k = &node_in(n, "weight")->type;
    *w = (Window){.batch = x->dim[0],
                  .in_c = x->rank > 1 ? x->dim[1] : 1,
                  .groups = 1,
                  .in = {1, 1, 1},
                  .out = {1, 1, 1},
                  .kernel = {1, 1, 1},
                  .stride = {1, 1, 1},
                  .dilation = {1, 1, 1}};
    if (type_count(x) == 0 || type_count(k) == 0 || type_count(&n->out[0]->type) == 0)
        return false;
    if (linear) {
        w->in_c = k->dim[1];
        w->batch = type_count(x) / w->in_c;
    } else {
        read_axes(n, w);
    }
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
        p->depth = w.in_c / w.groups * product(w.kernel);
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

static int64_t under(const Window *w, const int64_t *corner, int axis, int64_t tap) {
    int64_t at = corner[axis] + tap * w->dilation[axis];
    return at >= 0 && at < w->in[axis] ? at : -1;
}

/* What the taps of one channel's window meet: 0 in the padding. Returns the place after them. */
static float *copy_channel(const Window *w, const float *x, const int64_t *corner, float *to) {
    for (int64_t kz = 0; kz < w->kernel[0]; kz++)
        for (int64_t ky = 0; ky < w->kernel[1]; ky++) {
            int64_t z = under(w, corner, 0, kz), y = under(w, corner, 1, ky);
            const float *row = z < 0 || y < 0 ? NULL : x + (z * w->in[1] + y) * w->in[2];
            for (int64_t kx = 0; kx < w->kernel[2]; kx++) {
                int64_t at = under(w, corner, 2, kx);
                *to++ = row && at >= 0 ? row[at] : 0;
            }
        }
    return to;
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
    int64_t at = place % product(w->out), corner[AXES];
    for (int a = AXES - 1; a >= 0; a--) {
        corner[a] = at % w->out[a] * w->stride[a] - w->padding[2 * a];
        at /= w->out[a];
    }
    const float *sample = x + place / product(w->out) * w->in_c * product(w->in);
    for (int64_t i = 0; i < w->in_c; i++)
        to = copy_channel(w, sample + i * product(w->in), corner, to);
}

void patches_take(C *c, Patches *p, const Node *n, const Array *a, int sample) {
    Window w;
    bool rows = is_softmax(n);
    if (a->dtype != DT_F32 || (!rows && !window_read(n, &w)))
        return;
    const Type *t = &node_in(n, "input")->type;
    int dim = rows ? dim_wrap(c, n, node_int(n, "dim"), t->rank) : 0;
    int64_t places = rows ? array_count(a) / p->depth : w.batch * product(w.out);
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
