/* Antialiased resizing of planes: a product with a constant matrix along each axis, whose rows are
 * the filter at the places that an output's element covers. Weights follow torch's
 * aten/src/ATen/native/cpu/UpSampleKernel.cpp, which follows Pillow. */
#include "ops/ops.h"

#include <string.h>

typedef struct {
    const char *name; /* part of the operator's */
    double reach;     /* the filter is 0 from here on */
    double (*filter)(double x);
} Filter;

static double triangle(double x) {
    return fmax(0, 1 - fabs(x));
}

/* Keys' cubic with a = -1/2. */
static double cubic(double x) {
    x = fabs(x);
    return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

static double sinc(double x) {
    return x == 0 ? 1 : sin(M_PI * x) / (M_PI * x);
}

static double lanczos(double x) {
    return fabs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static const Filter filters[] = {
    {"bilinear", 1, triangle}, {"bicubic", 2, cubic}, {"lanczos", 3, lanczos}};

enum { MOST_WEIGHTS = 1 << 24 }; /* of an axis */

static const Filter *filter_of(const Node *n) {
    for (size_t i = 0; i < COUNT_OF(filters); i++)
        if (strstr(op_schema(n->op)->name, filters[i].name))
            return &filters[i];
    return NULL;
}

/* How many inputs lie between the centers of two outputs. */
static double step_of(const Node *n, int64_t size, int64_t out, double scale) {
    if (node_bool(n, "align_corners"))
        return out > 1 ? (double)(size - 1) / (double)(out - 1) : 0;
    return scale > 0 ? 1 / scale : (double)size / (double)out;
}

/* [out][size]: what each input contributes to each output; rows sum to one. */
static Array *resize_matrix(C *c, const Node *n, int64_t size, int64_t out, double scale) {
    const Filter *f = filter_of(n);
    double step = step_of(n, size, out, scale), stretch = fmax(step, 1);
    int64_t dim[2] = {out, size};
    Array *matrix = array_new(c, DT_F32, 2, dim);
    for (int64_t i = 0; i < out; i++) {
        double center = step * ((double)i + 0.5), reach = f->reach * stretch, total = 0;
        int64_t first = (int64_t)fmax(center - reach + 0.5, 0);
        int64_t last = (int64_t)fmin(center + reach + 0.5, (double)size);
        for (int64_t k = first; k < last; k++)
            total += f->filter(((double)k - center + 0.5) / stretch);
        for (int64_t k = first; k < last && total != 0; k++)
            array_set(matrix, i * size + k,
                      f->filter(((double)k - center + 0.5) / stretch) / total);
    }
    return matrix;
}

static void antialias_decompose(C *c, Graph *g, Node *n) {
    Value *x = movement_input(n), *y = x;
    int64_t size[2];
    double scale[2];
    if (!upsample_sizes(c, n, 2, size, scale))
        return;
    for (int axis = 0; axis < 2; axis++)
        if (x->type.dim[2 + axis] > MOST_WEIGHTS / size[axis]) {
            movement_refuse(c, n, "%lld elements to %lld: more than %d weights",
                            (long long)x->type.dim[2 + axis], (long long)size[axis], MOST_WEIGHTS);
            return;
        }
    for (int axis = 1; axis >= 0; axis--) {
        Array *matrix = resize_matrix(c, n, x->type.dim[2 + axis], size[axis], scale[axis]);
        if (axis == 0)
            y = MAKE("aten::transpose.int", arg_value(y), arg_int(2), arg_int(3));
        y = MAKE("corten::linear", arg_value(y), arg_value(value_constant(g, "resize", matrix)),
                 arg_none());
        if (axis == 0)
            y = MAKE("aten::transpose.int", arg_value(y), arg_int(2), arg_int(3));
    }
    value_replace(g, n->out[0], y);
}

#define ANTIALIASED(name)                                                                          \
    {.schema = "aten::" name "(Tensor self, SymInt[2] output_size, bool align_corners, float? "    \
               "scales_h=None, float? scales_w=None) -> Tensor",                                   \
     COMPOSITE(antialias_decompose)},                                                              \
    {                                                                                              \
        .schema = "aten::" name ".vec(Tensor input, SymInt[]? output_size, bool align_corners, "   \
                  "float[]? scale_factors) -> Tensor",                                             \
        COMPOSITE(antialias_decompose)                                                             \
    }

static const Op rows[] = {
    ANTIALIASED("_upsample_bilinear2d_aa"),
    ANTIALIASED("_upsample_bicubic2d_aa"),
    ANTIALIASED("_upsample_lanczos2d_aa"),
};

OPS_FAMILY(antialias, rows);
