/* Softmax in TOSA, in the integers of runtime/softmax_s8.c and masked_softmax_s8.c: MUL with a
 * shift of 31 is their product, and each exponential, a function of one byte, comes from four
 * TABLEs, for an Ethos-U55 looks up bytes only. */
#include "emit/tosa.h"
#include "exp.h"
#include "ops/ops.h"

#include <math.h>

enum { SUM_BITS = 12, PROBABILITY_BITS = 24, PLAIN_ROW = 512, ROW_LIMIT = 4096 };

/* Of distances 1 - count..0 to the row's maximum. */
static void exponentials(const Node *n, int32_t count, int32_t *entry) {
    int32_t multiplier, shift, least;
    softmax_scaling(node_double(n, "beta") * value_scale(node_operand(n, 0)), &multiplier, &shift,
                    &least);
    for (int32_t i = 0, far = 1 - count; i < count; i++, far++)
        entry[i] = far < least ? 0 : ctn_exp_distance(far, multiplier, shift);
}

/* One of the four digits, -128..127, of the exponentials less 2^30: the one worth 256^place, times
 * 2^left. */
static int digit(Tosa *t, int index, const int32_t entry[256], int place, int left) {
    int8_t byte[256];
    for (int i = 0; i < 256; i++) {
        int64_t rest = (int64_t)entry[i] - (1 << 30);
        for (int k = 0; k < place; k++)
            rest = (rest - (int8_t)rest) >> 8;
        byte[i] = (int8_t)rest;
    }
    return tosa_widened(t, tosa_lookup(t, index, byte), 0, left);
}

/* RESCALE multiplies a byte by no more than 2^22: the upper two digits get there by a shift. */
static int looked_up(Tosa *t, int index, const int32_t entry[256]) {
    int low = tosa_pair(t, TOSA_ADD, digit(t, index, entry, 1, 8), digit(t, index, entry, 0, 0));
    int high = tosa_pair(t, TOSA_ADD, digit(t, index, entry, 3, 8), digit(t, index, entry, 2, 0));
    high = tosa_pair(t, TOSA_LOGICAL_LEFT_SHIFT, high, tosa_number_like(t, high, 16));
    int sum = tosa_pair(t, TOSA_ADD, high, low);
    return tosa_pair(t, TOSA_ADD, sum, tosa_number_like(t, sum, 1 << 30));
}

/* For each truth of a mask, what it is where the value counts and where it does not. */
static int masked(Tosa *t, const Node *n, int mask, int8_t counts, int8_t hidden) {
    bool hides = node_bool(n, "mask_hides");
    int8_t entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = (i != 128) != hides ? counts : hidden;
    return tosa_lookup(t, mask, entry);
}

/* The mask of n in bytes, of the rank of its output; -1: none. */
static int mask_of(Tosa *t, const Node *n) {
    const Value *mask = node_in(n, "mask");
    return mask ? tosa_spread(t, mask, n->out[0]) : -1;
}

/* Exponentials of distances in 32 bits: of bytes by TABLEs, of 16 bits each by its own entry. What
 * is hidden may be above the row's maximum. */
static int powers_of(Tosa *t, const Node *n, int below) {
    enum { BYTES = 256, HALVES = 65536 };
    if (layer_int16(node_operand(n, 0))) {
        int32_t *entry = NEW_ARRAY(t->c, int32_t, HALVES);
        exponentials(n, HALVES, entry);
        if (node_in(n, "mask"))
            below = tosa_pair(t, TOSA_MINIMUM, below, tosa_number_like(t, below, 0));
        return tosa_entries(t, below, HALVES - 1, TOSA_INT32, HALVES, entry);
    }
    int32_t entry[BYTES];
    exponentials(n, BYTES, entry);
    return looked_up(t, tosa_rescale_by(t, below, TOSA_INT8, 0, BYTES / 2 - 1, 1), entry);
}

/* ctn_exp_negative of each value's distance to the greatest of the row that counts; 0 where the
 * value does not. */
static int powers(Tosa *t, const Node *n, int tensor, const TosaAttributes *along) {
    TosaDims single = tosa_dims(t, tensor);
    TosaType type = t->p.tensor[tensor].type;
    int mask = mask_of(t, n), counted = tensor;
    if (mask >= 0) {
        /* of 16 bits beyond what these hold: the RESCALE saturates */
        int bound = tosa_widened(t, masked(t, n, mask, 127, -128), 0, type == TOSA_INT8 ? 0 : 9);
        counted = tosa_pair(t, TOSA_MINIMUM, tosa_widened(t, tensor, 0, 0), bound);
        counted = tosa_rescale_by(t, counted, type, 0, 0, 1);
    }
    single.dim[along->axis] = 1;
    int most = tosa_add(t, TOSA_REDUCE_MAX, along, 1, &counted, type, &single);
    int below = tosa_pair(t, TOSA_SUB, tosa_widened(t, tensor, 0, 0), tosa_widened(t, most, 0, 0));
    int power = powers_of(t, n, below);
    return mask < 0 ? power
                    : tosa_product(t, power, tosa_widened(t, masked(t, n, mask, 1, 0), 0, 0), 0);
}

/* ctn_reciprocal_one_plus: `half`, 2^30 .. 2^31 - 1, is half of its denominator. Its last shift
 * saturates one number alone, 2^30. */
static int reciprocal(Tosa *t, int half) {
    int slope = tosa_product(t, half, tosa_number_like(t, half, -1010580540), 31);
    int r = tosa_pair(t, TOSA_ADD, slope, tosa_number_like(t, half, 1515870810));
    for (int step = 0; step < 3; step++) {
        int error = tosa_pair(t, TOSA_SUB, tosa_number_like(t, half, 1 << 29),
                              tosa_product(t, half, r, 31));
        int more = tosa_pair(t, TOSA_LOGICAL_LEFT_SHIFT, tosa_product(t, r, error, 31),
                             tosa_number_like(t, half, 2));
        r = tosa_pair(t, TOSA_ADD, r, more);
    }
    int most = tosa_number_like(t, half, (1 << 30) - 1);
    return tosa_pair(t, TOSA_ADD, r, tosa_pair(t, TOSA_MINIMUM, r, most));
}

/* Probabilities in 8 bits, or 24 where the output has a grid of its own. The greatest value adds
 * one to the sum, of which rows without any fall short: theirs are zeros. */
static int probabilities(Tosa *t, int power, const TosaAttributes *along, int bits) {
    TosaDims single = tosa_dims(t, power);
    single.dim[along->axis] = 1;
    int addend = tosa_shifted_right(t, power, tosa_number_like(t, power, SUM_BITS));
    int sum = tosa_add(t, TOSA_REDUCE_SUM, along, 1, &addend, TOSA_INT32, &single);
    sum = tosa_pair(t, TOSA_MAXIMUM, sum, tosa_number_like(t, sum, 1 << (31 - SUM_BITS)));
    int zeros = tosa_add(t, TOSA_CLZ, NULL, 1, &sum, TOSA_INT32, &single); /* 1 to 12 */
    int left = tosa_pair(t, TOSA_SUB, zeros, tosa_number_like(t, sum, 1));
    int scale = reciprocal(t, tosa_pair(t, TOSA_LOGICAL_LEFT_SHIFT, sum, left));
    int right = tosa_pair(t, TOSA_SUB, tosa_number_like(t, sum, SUM_BITS + 31 - bits), zeros);
    return tosa_shifted_right(t, tosa_product(t, scale, power, 31), right);
}

/* Shifts to the right are below 32: of sums below 2^28 with a result of 8 bits. */
bool tosa_softmax(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int dim = dim_wrap(t->c, n, node_int(n, "dim"), x->type.rank);
    if (!layer_quantized(x) || !layer_quantized(y))
        return false;
    bool plain = !node_is_wide(n) && !node_in(n, "mask") && value_scale(y) == 1.0 / 256 &&
                 value_zero_point(y) == -128;
    if (x->type.dim[dim] >= (plain ? PLAIN_ROW : ROW_LIMIT))
        return false;
    TosaAttributes along = {.axis = order_place(y->order, dim)};
    int power = powers(t, n, tosa_value_in(t, x, y->order), &along);
    int p = probabilities(t, power, &along, plain ? 8 : PROBABILITY_BITS);
    double factor = plain ? 1 : ldexp(1, -PROBABILITY_BITS) / value_scale(y);
    tosa_store(t, n, tosa_rescale_by(t, p, tosa_type(y), 0, value_zero_point(y), factor));
    return true;
}
