/* Layer, RMS, group and instance norm in TOSA: the numbers of lower/short_norm.c. */
#include "emit/tosa.h"
#include "lower/short_norm.h"

#include <math.h>

typedef struct {
    Tosa *t;
    const Node *n;
    Norm v;
    TosaDims dims, single; /* [outer][groups][channels][elements]; the last two as one each */
    ShortNorm s;
} Norming;

static int number(const Norming *k, int32_t value) {
    return tosa_ranked(k->t, tosa_number(k->t, TOSA_INT32, value), k->dims.rank);
}

static int sum(const Norming *k, int tensor) {
    TosaDims dims = k->dims;
    for (int axis = 3; axis >= 2; axis--) {
        if (dims.dim[axis] == 1)
            continue;
        dims.dim[axis] = 1;
        tensor = tosa_add(k->t, TOSA_REDUCE_SUM, &(TosaAttributes){.axis = axis}, 1, &tensor,
                          TOSA_INT32, &dims);
    }
    return tensor;
}

typedef struct {
    int away;    /* 2^SHORT_NORM_FRACTION times the distance to the group's mean */
    int squares; /* 2^spare times the sum of the distances' squares */
} Statistics;

static int shifted_left(const Norming *k, int tensor, int bits) {
    return bits ? tosa_pair(k->t, TOSA_LOGICAL_LEFT_SHIFT, tensor, number(k, bits)) : tensor;
}

/* The mean's nearest integer is off by less than one half: what is left of the sum is at most half
 * the count, and its square below 2^30. */
static Statistics statistics(const Norming *k, int tensor) {
    Tosa *t = k->t;
    int x = tosa_widened(t, tensor, value_zero_point(node_in(k->n, "input")), 0), left = -1;
    if (k->v.centered) {
        int mean = tosa_rescale_by(t, sum(k, x), TOSA_INT32, 0, 0, 1 / (double)k->v.count);
        x = tosa_pair(t, TOSA_SUB, x, mean);
        left = sum(k, x);
    }
    Statistics s = {shifted_left(k, x, SHORT_NORM_FRACTION),
                    shifted_left(k, sum(k, tosa_product(t, x, x, 0)), k->s.spare)};
    if (left >= 0) {
        double each = 1 / (double)k->v.count;
        int rest = tosa_rescale_by(t, left, TOSA_INT32, 0, 0, ldexp(each, SHORT_NORM_FRACTION));
        int square = tosa_rescale_by(t, tosa_product(t, left, left, 0), TOSA_INT32, 0, 0,
                                     ldexp(each, k->s.spare));
        s.away = tosa_pair(t, TOSA_SUB, s.away, rest);
        s.squares = tosa_pair(t, TOSA_SUB, s.squares, square);
    }
    return s;
}

/* 1 / sqrt(u) in SHORT_NORM_ROOT for u = m / 2^31 from a quarter up: eight bits by table, then 16
 * and 27.
 */
static int roots(const Norming *k, int m) {
    int8_t entry[SHORT_NORM_ROOTS]; /* entry i is of m = (i - 128 + 160) * 2^23 */
    int centred = tosa_pair(k->t, TOSA_SUB, m, number(k, 160 << 23));
    int index = tosa_rescale_by(k->t, centred, TOSA_INT8, 0, 0, ldexp(1, -23));
    short_norm_roots(entry);
    int y = tosa_widened(k->t, tosa_lookup(k->t, index, entry), 0, SHORT_NORM_ROOT - 7);
    y = tosa_pair(k->t, TOSA_ADD, y, number(k, 3 << (SHORT_NORM_ROOT - 1)));
    for (int step = 0; step < 2; step++) { /* y * (3 - u * y^2) / 2 */
        int squared = tosa_product(k->t, m, tosa_product(k->t, y, y, 31), 31);
        y = tosa_product(k->t, y, tosa_pair(k->t, TOSA_SUB, number(k, 3 << 27), squared), 28);
    }
    return y;
}

/* Distances divided by their root mean square. */
static int normalized(const Norming *k, const Statistics *s) {
    Tosa *t = k->t;
    int v = tosa_pair(t, TOSA_MAXIMUM, tosa_pair(t, TOSA_ADD, s->squares, number(k, k->s.epsilon)),
                      number(k, 1));
    int zeros = tosa_add(t, TOSA_CLZ, NULL, 1, &v, TOSA_INT32, &k->single); /* 1 to 31 */
    /* 0 to 15: half of the even shift that leaves 29 bits */
    int spare = tosa_pair(t, TOSA_SUB, zeros, number(k, 2));
    int half = tosa_shifted_right(t, spare, number(k, 1));
    int even = tosa_pair(t, TOSA_LOGICAL_LEFT_SHIFT, half, number(k, 1));
    int y = roots(k, tosa_pair(t, TOSA_LOGICAL_LEFT_SHIFT, v, even));
    int right = tosa_pair(t, TOSA_SUB, number(k, 15), half);
    return tosa_shifted_right(t, tosa_product(t, s->away, y, SHORT_NORM_PRODUCT), right);
}

/* A parameter in steps of `step`, shaped to meet the elements that it is of. */
static int parameter(const Norming *k, const Value *v, double step, double most) {
    int64_t count = type_count(&v->type);
    int32_t *data = NEW_ARRAY(k->t->c, int32_t, count);
    for (int64_t i = 0; i < count; i++)
        data[i] = (int32_t)fmax(-most, fmin(most, round(array_get(v->constant, i) / step)));
    TosaDims dims = {4, {1, 1, 1, count}};
    if (k->v.channels)
        dims = (TosaDims){4, {1, k->v.groups, k->v.channels, 1}};
    return tosa_const(k->t, TOSA_INT32, &dims, data);
}

/* x * gamma + beta on the grid of the output. */
static int scaled(const Norming *k, int x) {
    const Value *weight = node_in(k->n, "weight"), *bias = node_in(k->n, "bias");
    double top = 0, scale = k->s.scale;
    for (int64_t i = 0; weight && i < type_count(&weight->type); i++)
        top = fmax(top, fabs(array_get(weight->constant, i)));
    double step = top > 0 ? top / 32767 : 1;
    if (weight) {
        x = tosa_product(k->t, x, parameter(k, weight, step, 32767), SHORT_NORM_GAMMA);
        scale *= ldexp(step, SHORT_NORM_GAMMA);
    }
    if (bias)
        x = tosa_pair(k->t, TOSA_ADD, x, parameter(k, bias, scale, 1 << 29));
    return tosa_rescale_by(k->t, x, TOSA_INT8, 0, value_zero_point(k->n->out[0]),
                           scale / value_scale(k->n->out[0]));
}

static bool fits(Tosa *t, const Node *n) {
    const Value *weight = node_in(n, "weight"), *bias = node_in(n, "bias");
    if (!layer_int8(node_in(n, "input")) || !layer_int8(n->out[0]) ||
        (weight && !weight->constant) || (bias && !bias->constant))
        return false;
    t->refusal = short_norm_refusal(t->c, n);
    return !t->refusal;
}

bool tosa_norm(Tosa *t, Node *n) {
    Norming k = {.t = t, .n = n, .v = norm_read(n)};
    if (!fits(t, n))
        return false;
    k.dims = k.v.channels ? (TosaDims){4,
                                       {k.v.outer / k.v.groups, k.v.groups, k.v.channels,
                                        k.v.count / k.v.channels}}
                          : (TosaDims){4, {k.v.outer, 1, 1, k.v.count}};
    k.single = (TosaDims){4, {k.dims.dim[0], k.dims.dim[1], 1, 1}};
    k.s = short_norm_of(n);
    int x = tosa_reshape(t, tosa_in_logical_order(t, node_in(n, "input")), &k.dims);
    Statistics statistic = statistics(&k, x);
    x = normalized(&k, &statistic);
    tosa_store(t, n, tosa_in_own_order(t, n, scaled(&k, x)));
    return true;
}
