/* Pools in TOSA. Its own average rounds otherwise: here a depthwise convolution sums and a product
 * divides, half away from zero as the kernels do, by each window's own divisor. */
#include "emit/tosa.h"

#include <math.h>
#include <string.h>

bool tosa_max_pool(Tosa *t, Node *n) {
    LayerWindow k;
    if (!pool_window(n, &k) || k.dilation[0] > 1 || k.dilation[1] > 1 ||
        !grids_equal(node_operand(n, 0), n->out[0]))
        return false;
    TosaAttributes a = tosa_window(&k);
    int image = tosa_end_exactly(t, tosa_image(t, node_operand(n, 0)), &k, a.pad);
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k.out[0], k.out[1], k.out_c}};
    int out = tosa_add(t, TOSA_MAX_POOL2D, &a, 1, &image, tosa_type(n->out[0]), &dims);
    tosa_store(t, n, tosa_image_back(t, n, out));
    return true;
}

/* ---- division ------------------------------------------------------------------------------- */

/* Sums by divisors, half away from zero: s * ceil(2^k / d), rounded half up at k bits, is that of
 * any s >= 0 below 2^k / 2d, for the ceiling carries halves over and no other quotient; what is
 * below zero is divided apart. -1: sums, which are at most `most` times their divisor, are too
 * large. */
static int divided(Tosa *t, int sums, const TosaDims *grid, const int32_t *divisor, double most) {
    int64_t count = dims_count(grid->rank, grid->dim);
    int32_t least = INT32_MAX, *inverse = NEW_ARRAY(t->c, int32_t, count);
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        least = divisor[i] < least ? divisor[i] : least;
        largest = fmax(largest, divisor[i]);
    }
    int bits = 30 + (int)floor(log2(least));
    if (2 * most * largest * largest >= ldexp(1, bits))
        return -1;
    for (int64_t i = 0; i < count; i++)
        inverse[i] = (int32_t)ceil(ldexp(1, bits) / divisor[i]);
    int factor = tosa_const(t, TOSA_INT32, grid, inverse), zero = tosa_number_like(t, sums, 0);
    int above = tosa_pair(t, TOSA_MAXIMUM, sums, zero);
    int below = tosa_pair(t, TOSA_SUB, zero, tosa_pair(t, TOSA_MINIMUM, sums, zero));
    return tosa_pair(t, TOSA_SUB, tosa_product(t, above, factor, bits),
                     tosa_product(t, below, factor, bits));
}

/* ---- averages ------------------------------------------------------------------------------- */

enum { MEAN_STEPS = 256 }; /* of a mean that changes its scale */

/* Sums of windows of (q - zero_point) in 32 bits; taps in the padding add nothing. */
static int window_sums(Tosa *t, const Node *n, const LayerWindow *k, int32_t zero_point) {
    const Value *x = node_operand(n, 0);
    TosaType type = layer_int16(x) ? TOSA_INT48 : TOSA_INT32;
    int64_t taps = k->kernel[0] * k->kernel[1];
    int8_t *ones = c_alloc(t->c, (size_t)(taps * k->in_c));
    memset(ones, 1, (size_t)(taps * k->in_c));
    TosaAttributes a = tosa_window(k);
    int image = tosa_end_exactly(t, tosa_image(t, x), k, a.pad);
    int in[] = {
        image,
        tosa_const(t, TOSA_INT8, &(TosaDims){4, {k->kernel[0], k->kernel[1], k->in_c, 1}}, ones),
        tosa_const(t, type, &(TosaDims){1, {k->in_c}}, NEW_ARRAY(t->c, int64_t, k->in_c)),
        tosa_number(t, tosa_type(x), zero_point), tosa_number(t, TOSA_INT8, 0)};
    TosaDims dims = {4, {tosa_dims(t, image).dim[0], k->out[0], k->out[1], k->out_c}};
    int sums = tosa_add(t, TOSA_DEPTHWISE_CONV2D, &a, 5, in, type, &dims);
    return type == TOSA_INT48 ? tosa_narrowed(t, sums, 0) : sums;
}

/* Means with FINE bits behind the point: numbers and sums of less than 2^15 of them leave so many.
 * The kernel takes 16 and rounds twice: a number of 16 bits may be the step beside. */
static bool write_fine_averages(Tosa *t, Node *n, const LayerWindow *k) {
    enum { FINE = 15, TAPS_MOST = 1 << 15 };
    const Value *x = node_operand(n, 0), *y = n->out[0];
    const TosaDims grid = {4, {1, k->out[0], k->out[1], 1}};
    const int32_t *divisor = window_divisors(t->c, k, node_bool(n, "count_include_pad"));
    int32_t multiplier, shift, *inverse = NEW_ARRAY(t->c, int32_t, k->out[0] * k->out[1]);
    if (k->kernel[0] * k->kernel[1] >= TAPS_MOST)
        return false;
    for (int64_t i = 0; i < k->out[0] * k->out[1]; i++)
        inverse[i] = (int32_t)lround(ldexp(1, 30) / divisor[i]);
    int sums = window_sums(t, n, k, value_zero_point(x));
    int mean = tosa_product(t, sums, tosa_const(t, TOSA_INT32, &grid, inverse), 30 - FINE);
    multiplier_from(ldexp(value_scale(x) / value_scale(y), -FINE), &multiplier, &shift);
    mean = tosa_rescale_once(t, mean, tosa_type(y), value_zero_point(y), 1, &multiplier, &shift);
    tosa_store(t, n, tosa_image_back(t, n, mean));
    return true;
}

/* Taps in the padding that count are worth the zero point each. */
bool tosa_avg_pool(Tosa *t, Node *n) {
    LayerWindow k;
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!pool_window(n, &k))
        return false;
    if (node_is_wide(n))
        return write_fine_averages(t, n, &k);
    bool same = grids_equal(x, y);
    const TosaDims grid = {4, {1, k.out[0], k.out[1], 1}};
    int32_t *divisor = window_divisors(t->c, &k, node_bool(n, "count_include_pad"));
    int32_t *taps = window_divisors(t->c, &k, false);
    int sums = window_sums(t, n, &k, same ? 0 : value_zero_point(x));
    if (same) {
        for (int64_t i = 0; i < k.out[0] * k.out[1]; i++)
            taps[i] = (divisor[i] - taps[i]) * value_zero_point(x);
        sums = tosa_pair(t, TOSA_ADD, sums, tosa_const(t, TOSA_INT32, &grid, taps));
    } else {
        sums = tosa_rescale_by(t, sums, TOSA_INT32, 0, 0, MEAN_STEPS);
    }
    int mean = divided(t, sums, &grid, divisor, same ? 128 : 255.0 * MEAN_STEPS);
    if (mean < 0)
        return false;
    double factor = same ? 1 : value_scale(x) / value_scale(y) / MEAN_STEPS;
    mean = tosa_rescale_by(t, mean, TOSA_INT8, 0, same ? 0 : value_zero_point(y), factor);
    tosa_store(t, n, tosa_image_back(t, n, mean));
    return true;
}

/* ---- pools of a given output size ----------------------------------------------------------- */

/* Along one dim of the image, windows i * in / out up to where the next one's would have started,
 * each reduced to one. */
static int reduced_windows(Tosa *t, int image, int axis, int64_t out, TosaKind kind) {
    TosaType type = t->p.tensor[image].type;
    TosaDims dims = tosa_dims(t, image), one = dims;
    int64_t in = dims.dim[axis], start[4] = {0};
    int *piece = NEW_ARRAY(t->c, int, out);
    one.dim[axis] = 1;
    for (int64_t i = 0; i < out; i++) {
        start[axis] = i * in / out;
        TosaDims part = dims;
        part.dim[axis] = ((i + 1) * in + out - 1) / out - start[axis];
        int slice[] = {image, tosa_shape(t, 4, start), tosa_shape(t, 4, part.dim)};
        piece[i] = tosa_add(t, TOSA_SLICE, NULL, 3, slice, type, &part);
        piece[i] = tosa_add(t, kind, &(TosaAttributes){.axis = axis}, 1, &piece[i], type, &one);
    }
    return tosa_joined(t, axis, (int)out, piece);
}

bool tosa_adaptive_pool(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!layer_int8(x) || !layer_int8(y) || !layer_is_image(x))
        return false;
    const Sides to = image_sides(y);
    bool most = node_bool(n, "maximum");
    TosaKind kind = most ? TOSA_REDUCE_MAX : TOSA_REDUCE_SUM;
    int q = tosa_image(t, x);
    q = most ? q : tosa_widened(t, q, 0, 0);
    for (int a = 0; a < 2; a++)
        q = reduced_windows(t, q, 1 + a, to.of[a], kind);
    const TosaDims grid = {4, {1, to.of[0], to.of[1], 1}};
    q = most ? tosa_widened(t, q, 0, 0) : divided(t, q, &grid, adaptive_divisors(t->c, x, y), 128);
    if (q < 0)
        return false;
    if (grids_equal(x, y)) {
        q = tosa_rescale_by(t, q, TOSA_INT8, 0, 0, 1);
    } else {
        q = tosa_pair(t, TOSA_SUB, q, tosa_number_like(t, q, value_zero_point(x)));
        q = tosa_rescale_by(t, q, TOSA_INT8, 0, value_zero_point(y),
                            value_scale(x) / value_scale(y));
    }
    tosa_store(t, n, tosa_image_back(t, n, q));
    return true;
}
