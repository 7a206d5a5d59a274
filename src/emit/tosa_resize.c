/* Enlarging images in TOSA: RESIZE, whose weights are those of the kernel where an image grows by
 * powers of two; else the kernel's own arithmetic, with weights of 12 bits. */
#include "emit/tosa.h"
#include "ops/ops.h"

enum { WEIGHT_BITS = 12, ONE = 1 << WEIGHT_BITS };

/* Of output place i, input place (2 * i - (k - 1)) / 2k. */
int tosa_resized(Tosa *t, int image, const int64_t times[2], bool bilinear) {
    int64_t scale[] = {2 * times[0], 2, 2 * times[1], 2};
    int64_t offset[] = {1 - times[0], 1 - times[1]}, border[] = {times[0] - 1, times[1] - 1};
    int in[] = {image, tosa_shape(t, 4, scale), tosa_shape(t, 2, offset), tosa_shape(t, 2, border)};
    TosaDims dims = tosa_dims(t, image);
    for (int a = 0; a < 2; a++)
        dims.dim[1 + a] *= times[a];
    return tosa_add(t, TOSA_RESIZE, &(TosaAttributes){.bilinear = bilinear}, 4, in,
                    bilinear ? TOSA_INT32 : t->p.tensor[image].type, &dims);
}

int tosa_chosen(Tosa *t, int tensor, int axis, const int64_t *place, int64_t count) {
    TosaDims dims = tosa_dims(t, tensor);
    TosaType type = t->p.tensor[tensor].type;
    int *piece = NEW_ARRAY(t->c, int, count), pieces = 0;
    for (int64_t i = 0, end; i < count; i = end) {
        int64_t start[MAX_RANK] = {0};
        for (end = i + 1; end < count && place[end] == place[end - 1] + 1;)
            end++;
        if (end - i == dims.dim[axis] && count == end - i)
            return tensor;
        TosaDims part = dims;
        part.dim[axis] = end - i;
        start[axis] = place[i];
        int in[] = {tensor, tosa_shape(t, dims.rank, start), tosa_shape(t, dims.rank, part.dim)};
        piece[pieces++] = tosa_add(t, TOSA_SLICE, NULL, 3, in, type, &part);
    }
    return tosa_joined(t, axis, pieces, piece);
}

/* By which power of two the taps enlarge a dim of `size` places, 0 if they do not. */
static int64_t enlargement(const int32_t *tap, int64_t size, int64_t count) {
    int64_t k = count / size;
    if (count % size != 0 || (k & (k - 1)) != 0 || k > ONE / 2)
        return 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t place = (2 * i + 1 - k) * (ONE / (2 * k)); /* in steps of a weight */
        place = place < 0 ? 0 : place;
        bool end = place / ONE >= size - 1; /* the last place is its own neighbour */
        if (tap[i] >> (WEIGHT_BITS + 1) != place / ONE ||
            (!end && (tap[i] & (2 * ONE - 1)) != place % ONE))
            return 0;
    }
    return k;
}

/* Between the two neighbours of each tap along an axis, times 2^WEIGHT_BITS. */
static int between(Tosa *t, int q, int axis, const int32_t *tap, int64_t count) {
    int64_t size = tosa_dims(t, q).dim[axis];
    int64_t *low = NEW_ARRAY(t->c, int64_t, count), *high = NEW_ARRAY(t->c, int64_t, count);
    int32_t *weight = NEW_ARRAY(t->c, int32_t, count), *rest = NEW_ARRAY(t->c, int32_t, count);
    TosaDims line = {4, {1, 1, 1, 1}};
    line.dim[axis] = count;
    for (int64_t i = 0; i < count; i++) {
        low[i] = tap[i] >> (WEIGHT_BITS + 1);
        high[i] = low[i] < size - 1 ? low[i] + 1 : low[i];
        weight[i] = tap[i] & (2 * ONE - 1);
        rest[i] = ONE - weight[i];
    }
    int below = tosa_product(t, tosa_chosen(t, q, axis, low, count),
                             tosa_const(t, TOSA_INT32, &line, rest), 0);
    int above = tosa_product(t, tosa_chosen(t, q, axis, high, count),
                             tosa_const(t, TOSA_INT32, &line, weight), 0);
    return tosa_pair(t, TOSA_ADD, below, above);
}

/* Of sums that need 40 bits, high * 2^WEIGHT_BITS + low, twice what is above the lowest
 * WEIGHT_BITS, and one if these are not all zero: all that rounding asks for. */
static int sums_without_tail(Tosa *t, int high, int low) {
    int carry =
        tosa_pair(t, TOSA_ARITHMETIC_RIGHT_SHIFT, low, tosa_number_like(t, low, WEIGHT_BITS));
    int whole = tosa_product(t, carry, tosa_number_like(t, low, ONE), 0);
    int tail =
        tosa_pair(t, TOSA_MINIMUM, tosa_pair(t, TOSA_SUB, low, whole), tosa_number_like(t, low, 1));
    int sum = tosa_pair(t, TOSA_ADD, high, carry);
    return tosa_pair(t, TOSA_ADD, tosa_pair(t, TOSA_ADD, sum, sum), tail);
}

/* Numbers of 16 bits: along rows they take 28; between rows the upper and the lower half of these
 * bits are weighed apart. */
static int between_wide(Tosa *t, int q, const int32_t *const tap[2], const int64_t count[2]) {
    q = between(t, q, 2, tap[1], count[1]);
    int high = tosa_pair(t, TOSA_ARITHMETIC_RIGHT_SHIFT, q, tosa_number_like(t, q, WEIGHT_BITS));
    int whole = tosa_product(t, high, tosa_number_like(t, q, ONE), 0);
    int low = tosa_pair(t, TOSA_SUB, q, whole);
    int sums = sums_without_tail(t, between(t, high, 1, tap[0], count[0]),
                                 between(t, low, 1, tap[0], count[0]));
    return tosa_rounded(t, sums, WEIGHT_BITS + 1);
}

bool tosa_bilinear(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int64_t size[2], count[2], times[2];
    const int32_t *tap[2];
    if (!layer_quantized(x) || !grids_equal(x, y) || x->type.rank > 4)
        return false;
    int q = tosa_image(t, x), bits = 0;
    for (int a = 0; a < 2; a++) {
        size[a] = tosa_dims(t, q).dim[1 + a];
        tap[a] = upsample_taps(t->c, n, a, &count[a]);
        times[a] = enlargement(tap[a], size[a], count[a]);
        for (int64_t k = times[a]; k >= 1; k /= 2) /* twice the factor, of both */
            bits++;
    }
    bool sums = t->npu && t->npu->family != NPU_U85; /* whose RESIZE has no sums of 32 bits */
    if (layer_int16(x)) {
        q = between_wide(t, tosa_widened(t, q, 0, 0), tap, count);
    } else if (times[0] && times[1] && !sums) {
        q = tosa_rounded(t, tosa_resized(t, q, times, true), bits);
    } else {
        q = tosa_widened(t, q, 0, 0);
        for (int a = 1; a >= 0; a--)
            q = between(t, q, 1 + a, tap[a], count[a]);
        q = tosa_rounded(t, q, 2 * WEIGHT_BITS);
    }
    q = tosa_rescale_by(t, q, tosa_type(y), 0, 0, 1);
    t->of_value[y->id] = tosa_image_back(t, n, q);
    return true;
}
