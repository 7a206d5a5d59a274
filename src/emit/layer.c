#include "emit/layer.h"
#include "quant/quant.h"

#include <math.h>
#include <string.h>

enum { WHOLE_WEIGHTS_MOST = 16 << 20 }; /* bytes, where they are more than the model's */

bool grids_equal(const Value *a, const Value *b) {
    return a->grid && b->grid ? grid_equal(a->grid, b->grid) : a->grid == b->grid;
}

bool layer_int8(const Value *v) {
    return v && v->grid && value_storage(v) == DT_I8 && v->grid->bits == 8;
}

bool layer_int16(const Value *v) {
    return v && v->grid && value_storage(v) == DT_I16;
}

bool layer_quantized(const Value *v) {
    return layer_int8(v) || layer_int16(v);
}

bool layer_constant(const Node *n) {
    const Value *w = node_in(n, "weight"), *bias = node_in(n, "bias");
    return w->grid && w->constant && value_storage(w) == DT_I8 && (!bias || bias->constant);
}

bool layer_fits(const Node *n) {
    return layer_int8(node_operand(n, 0)) && layer_int8(n->out[0]) && layer_constant(n);
}

LayerWindow layer_window(const Node *n) {
    const Value *x = node_operand(n, 0), *w = node_in(n, "weight"), *y = n->out[0];
    LayerWindow k = {.in_c = x->type.dim[1],
                     .out_c = w->type.dim[0],
                     .depth = w->type.dim[1],
                     .groups = node_int(n, "groups")};
    int axes = w->type.rank - 2;
    k.kernel[0] = k.in[0] = k.out[0] = 1;
    for (int a = 0; a < axes; a++) {
        k.kernel[2 - axes + a] = w->type.dim[2 + a];
        k.in[2 - axes + a] = x->type.dim[2 + a];
        k.out[2 - axes + a] = y->type.dim[2 + a];
    }
    node_ints(n, "stride", k.stride, 2);
    node_ints(n, "padding", k.side, 4);
    node_ints(n, "dilation", k.dilation, 2);
    return k;
}

bool layer_is_image(const Value *v) {
    return v->type.rank == 3 || v->type.rank == 4;
}

Sides image_sides(const Value *v) {
    const int64_t *d = v->type.dim;
    return v->type.rank == 4 ? (Sides){{d[2], d[3]}} : (Sides){{1, d[2]}};
}

bool pool_window(const Node *n, LayerWindow *k) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!layer_is_image(x) || !layer_quantized(x) || !layer_quantized(y))
        return false;
    *k = (LayerWindow){.in_c = x->type.dim[1], .out_c = x->type.dim[1], .dilation = {1, 1}};
    node_ints(n, "kernel_size", k->kernel, 2);
    node_ints(n, "stride", k->stride, 2);
    node_ints(n, "padding", k->side, 4);
    if (node_takes(n, "dilation"))
        node_ints(n, "dilation", k->dilation, 2);
    for (int a = 0; a < 2; a++) {
        k->in[a] = image_sides(x).of[a];
        k->out[a] = image_sides(y).of[a];
    }
    return true;
}

int64_t window_overhang(const LayerWindow *k, int a) {
    int64_t reach = (k->out[a] - 1) * k->stride[a] + (k->kernel[a] - 1) * k->dilation[a] + 1;
    return reach - k->side[2 * a] - k->in[a];
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Elements of a window along a dim: of the image, or with its padding. */
static int64_t extent(const LayerWindow *k, int a, int64_t i, bool padding) {
    int64_t start = i * k->stride[a] - k->side[2 * a], end = start + k->kernel[a];
    int64_t low = padding ? start : start < 0 ? 0 : start;
    return least(end, k->in[a] + (padding ? k->side[2 * a + 1] : 0)) - low;
}

int32_t *window_divisors(C *c, const LayerWindow *k, bool padding) {
    int32_t *size = NEW_ARRAY(c, int32_t, k->out[0] * k->out[1]);
    for (int64_t y = 0; y < k->out[0]; y++)
        for (int64_t x = 0; x < k->out[1]; x++)
            size[y * k->out[1] + x] =
                (int32_t)(extent(k, 0, y, padding) * extent(k, 1, x, padding));
    return size;
}

int32_t *adaptive_divisors(C *c, const Value *x, const Value *y) {
    const Sides from = image_sides(x), to = image_sides(y);
    const int64_t *in = from.of, *out = to.of;
    int32_t *size = NEW_ARRAY(c, int32_t, out[0] * out[1]);
    for (int64_t i = 0; i < out[0]; i++)
        for (int64_t j = 0; j < out[1]; j++)
            size[i * out[1] + j] =
                (int32_t)((((i + 1) * in[0] + out[0] - 1) / out[0] - i * in[0] / out[0]) *
                          (((j + 1) * in[1] + out[1] - 1) / out[1] - j * in[1] / out[1]));
    return size;
}

/* Kernels have 16 times what has 4 bits (grid_unit). */
const int8_t *layer_bytes(C *c, const Node *n) {
    const Value *w = node_in(n, "weight");
    const int8_t *data = w->constant->data;
    if (w->grid->bits == 8)
        return data;
    int64_t count = array_count(w->constant);
    int8_t *bytes = c_alloc(c, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        bytes[i] = (int8_t)(data[i] * 16);
    return bytes;
}

const int8_t *layer_weights(C *c, const Node *n, const LayerWindow *k, bool depthwise) {
    const int8_t *from = layer_bytes(c, n);
    int64_t taps = k->kernel[0] * k->kernel[1];
    int8_t *to = c_alloc(c, (size_t)(k->out_c * k->depth * taps));
    for (int64_t o = 0; o < k->out_c; o++)
        for (int64_t i = 0; i < k->depth; i++)
            for (int64_t p = 0; p < taps; p++)
                to[depthwise ? p * k->out_c + o : (o * taps + p) * k->depth + i] =
                    from[(o * k->depth + i) * taps + p];
    return to;
}

static LayerWindow whole_window(const LayerWindow *k) {
    LayerWindow whole = *k;
    whole.groups = whole.dilation[0] = whole.dilation[1] = 1;
    whole.depth = k->in_c;
    for (int a = 0; a < 2; a++)
        whole.kernel[a] = (k->kernel[a] - 1) * k->dilation[a] + 1;
    return whole;
}

static double weight_bytes(const LayerWindow *k) {
    return (double)k->out_c * (double)k->depth * (double)k->kernel[0] * (double)k->kernel[1];
}

const char *layer_whole_refusal(C *c, const LayerWindow *k) {
    const LayerWindow whole = whole_window(k);
    double own = weight_bytes(k), bytes = weight_bytes(&whole);
    if (bytes <= fmax(own, WHOLE_WEIGHTS_MOST))
        return NULL;
    return c_format(c,
                    "groups and dilation are written as zeros: %.0f bytes of weights make %.0f, "
                    "and at most %d are written",
                    own, bytes, WHOLE_WEIGHTS_MOST);
}

const int8_t *layer_whole_weights(C *c, const Node *n, LayerWindow *k) {
    const int8_t *from = layer_weights(c, n, k, false);
    int64_t taps = k->kernel[0] * k->kernel[1];
    const LayerWindow whole = whole_window(k);
    int8_t *to = c_alloc(c, (size_t)(k->out_c * whole.kernel[0] * whole.kernel[1] * k->in_c));
    for (int64_t o = 0; o < k->out_c; o++)
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t row = tap / k->kernel[1] * k->dilation[0];
            int64_t column = tap % k->kernel[1] * k->dilation[1];
            int64_t place = (o * whole.kernel[0] + row) * whole.kernel[1] + column;
            int64_t group = o / (k->out_c / k->groups);
            memcpy(to + place * k->in_c + group * k->depth, from + (o * taps + tap) * k->depth,
                   (size_t)k->depth);
        }
    *k = whole;
    return to;
}

const int32_t *layer_bias(C *c, const Node *n, int64_t channels) {
    const Value *bias = node_in(n, "bias");
    return bias ? bias->constant->data : NEW_ARRAY(c, int32_t, channels);
}

int layer_slopes_last(const Value *x, const Value *weight, int8_t *order) {
    int rank = x->type.rank, missing = rank - weight->type.rank, first = rank, last = -1, outer = 0;
    for (int d = missing; d >= 0 && d < rank; d++)
        if (weight->type.dim[d - missing] > 1) {
            first = d < first ? d : first;
            last = d;
        }
    if (last < 0) /* one slope */
        first = last = rank - 1;
    for (int d = 0; d < rank; d++)
        if (d < first || d > last)
            order[outer++] = (int8_t)d;
    for (int d = first; d <= last; d++)
        order[outer + d - first] = (int8_t)d;
    int64_t slopes = type_count(&weight->type);
    bool alike = slopes == 1 || slopes == dims_count(last - first + 1, x->type.dim + first);
    return missing >= 0 && rank > 0 && alike ? outer : -1;
}

double layer_real(const Value *weight, int64_t i) {
    const Grid *grid = weight->grid;
    const Part *part = &grid->part[0];
    if (grid->part_count > 1) { /* the index along the axis, behind which are `inner` each */
        int64_t inner = 1;
        for (int d = part->axis + 1; d < weight->type.rank; d++)
            inner *= weight->type.dim[d];
        for (int64_t at = i / inner % weight->type.dim[part->axis]; at >= part->stop;)
            part++;
    }
    return part->scale * (((const int8_t *)weight->constant->data)[i] - part->zero_point);
}

void layer_factors(const Node *n, int64_t channels, int32_t *multiplier, int32_t *shift) {
    const Value *w = node_in(n, "weight"), *x = node_operand(n, 0);
    double factor = value_scale(x) / value_scale(n->out[0]);
    for (int k = 0; k < w->grid->part_count; k++) {
        const Part *p = &w->grid->part[k];
        int64_t start = p->axis < 0 ? 0 : p->start, stop = p->axis < 0 ? channels : p->stop;
        for (int64_t i = start; i < stop && i < channels; i++)
            multiplier_from(factor * grid_unit(w->grid, k), &multiplier[i], &shift[i]);
    }
}
