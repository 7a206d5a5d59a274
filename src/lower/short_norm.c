/* The numbers of a norm in a TOSA program, step by step as emit/tosa_norm.c writes them. */
#include "lower/short_norm.h"

#include "layer_norm_s8.h"
#include "lower/packing.h"

#include <math.h>

enum { SUM_MOST = INT32_MAX - 3 }; /* of a sum of squares with epsilon: either may round up */
enum { CENTERED_MOST = 1 << 16 };  /* elements: what is left of their sum has a square below 2^30 */

/* ---- whether and how ------------------------------------------------------------------------- */

/* In squares of a step. */
static double epsilon_of(const Node *n, const Norm *v) {
    double step = value_scale(node_in(n, "input"));
    return v->eps / (step * step);
}

/* Squares of distances to the mean's nearest integer are 127.5^2 + 1/4 at most on average, those to
 * zero 255^2: their sum with epsilon stays within 31 bits. */
static int spare_bits(const Node *n, const Norm *v) {
    double most = v->centered ? 16257 : 255 * 255;
    return ilogb(SUM_MOST / ((double)v->count * (most + epsilon_of(n, v))));
}

void short_norm_make(Node *n) {
    n->arg[n->arg_count - 1] = arg_bool(true);
}

const char *short_norm_refusal(C *c, const Node *n) {
    Norm v = norm_read(n);
    if (spare_bits(n, &v) >= 0 && (!v.centered || v.count <= CENTERED_MOST))
        return NULL;
    return c_format(c,
                    "the squares of %lld elements and an epsilon of %.3g squared steps need more "
                    "than 32 bits",
                    (long long)v.count, epsilon_of(n, &v));
}

ShortNorm short_norm_of(const Node *n) {
    Norm v = norm_read(n);
    ShortNorm s = {.spare = spare_bits(n, &v)};
    double unit = ldexp((double)v.count, s.spare); /* a sum of squares in squares of a step */
    s.epsilon = (int32_t)rint(epsilon_of(n, &v) * unit);
    s.scale = sqrt(unit) *
              ldexp(1, SHORT_NORM_PRODUCT + 15 - SHORT_NORM_ROOT - SHORT_NORM_FRACTION) /
              sqrt(ldexp(1, 31));
    return s;
}

void short_norm_roots(int8_t entry[SHORT_NORM_ROOTS]) {
    for (int i = 0; i < SHORT_NORM_ROOTS; i++)
        entry[i] = (int8_t)fmax(-128, fmin(127, round(128 * (sqrt(256.0 / (i + 32)) - 1.5))));
}

/* ---- TOSA's operators ------------------------------------------------------------------------ */

static int32_t rescaled(int32_t v, double factor) {
    int32_t multiplier, shift;
    multiplier_from(factor, &multiplier, &shift);
    return ctn_requantize(v, multiplier, shift);
}

static int32_t product(int32_t a, int32_t b, int shift) {
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << (shift - 1))) >> shift);
}

static int32_t shifted_right(int32_t v, int bits) {
    return bits ? (v >> bits) + ((v >> (bits - 1)) & 1) : v;
}

/* ---- a group --------------------------------------------------------------------------------- */

typedef struct {
    const CtnLayerNormS8Args *a;
    const int8_t *input; /* the group's first element */
    int32_t mean, rest;  /* nearest integer, and what it lacks in fractions */
    int32_t root;
    int right; /* by which a product with the root is shifted */
} Group;

static int32_t distance(const Group *k, int32_t offset) {
    return k->input[offset] - k->a->input_zero_point - k->mean;
}

static void sums(const Group *k, int32_t *sum, int32_t *squares) {
    static const int32_t still[4] = {0};
    int32_t index[4] = {0}, offset = 0, zero = 0;
    *sum = *squares = 0;
    do {
        int32_t x = distance(k, offset);
        *sum += x;
        *squares += x * x;
    } while (ctn_step(4, k->a->reduced, index, k->a->reduced_stride, &offset, still, &zero));
}

/* 1 / sqrt(m / 2^31) for m from 2^29 up. */
static int32_t root_of(int32_t m) {
    int8_t entry[SHORT_NORM_ROOTS];
    short_norm_roots(entry);
    int32_t index = ctn_clamp(rescaled(m - (160 << 23), ldexp(1, -23)), -128, 127);
    int32_t y = entry[index + 128] * (1 << (SHORT_NORM_ROOT - 7)) + (3 << (SHORT_NORM_ROOT - 1));
    for (int step = 0; step < 2; step++)
        y = product(y, (3 << 27) - product(m, product(y, y, 31), 31), 28);
    return y;
}

static void find_statistics(Group *k) {
    const CtnLayerNormS8Args *a = k->a;
    int32_t sum, squares, left, spare = a->epsilon_high;
    double each = 1 / (double)a->count;
    k->mean = k->rest = 0;
    sums(k, &sum, &squares);
    if (a->centered) {
        k->mean = rescaled(sum, each);
        sums(k, &left, &squares);
        k->rest = rescaled(left, ldexp(each, SHORT_NORM_FRACTION));
        squares = squares * (1 << spare) - rescaled(left * left, ldexp(each, spare));
    } else {
        squares *= 1 << spare;
    }
    int32_t v = squares + a->epsilon_low;
    v = v < 1 ? 1 : v;
    int zeros = 0;
    while (!(v & ((int32_t)1 << (30 - zeros))))
        zeros++;
    int half = shifted_right(zeros - 1, 1); /* of the even shift that leaves 29 bits or 30 */
    k->root = root_of(v * (1 << (2 * half)));
    k->right = 15 - half;
}

static void normalize(const CtnLayerNormS8Args *a, const CtnFrame *frame, const int8_t *input,
                      int32_t parameter, int8_t *output) {
    const int16_t *gamma = ctn_at(frame, a->gamma);
    const int32_t *beta = ctn_at(frame, a->beta);
    const int8_t *table = ctn_at(frame, a->table);
    Group k = {.a = a, .input = input};
    int32_t index[4] = {0}, offset = 0;
    find_statistics(&k);
    do {
        int32_t away = distance(&k, offset) * (1 << SHORT_NORM_FRACTION) - k.rest;
        int32_t x = shifted_right(product(away, k.root, SHORT_NORM_PRODUCT), k.right);
        if (gamma)
            x = product(x, gamma[parameter], SHORT_NORM_GAMMA);
        if (beta)
            x += beta[parameter];
        x = ctn_requantize(x, a->multiplier, a->shift) + a->output_zero_point;
        output[offset] = ctn_finish_s8(x, a->clamp_min, a->clamp_max, table);
    } while (ctn_step(4, a->reduced, index, a->reduced_stride, &offset, a->reduced_parameter_stride,
                      &parameter));
}

static void run(const void *args, const CtnFrame *frame) {
    ctn_norm_all(args, frame, normalize);
}

const Variant short_norm_variant = {.kernel = CTN_KERNEL_layer_norm_s8,
                                    .symbol = "ctn_layer_norm_s8",
                                    .source = "layer_norm_s8.c",
                                    .host = run,
                                    .accepts = any_call,
                                    .pack = keep_constants};
