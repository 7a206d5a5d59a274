/* PReLU in the operators of ExecuTorch's Cortex-M dialect, with the kernel's numbers: what is above
 * zero by a table, what is below by products with a weight for each channel. */
#include "emit/pte_call.h"
#include "fix.h"
#include "lower/pointwise.h"

#include <math.h>
#include <stdlib.h>

/* What the kernel makes of a distance to the zero point. */
static int32_t scaled(int32_t distance, double factor) {
    int32_t multiplier, shift;
    multiplier_from(fabs(factor), &multiplier, &shift);
    if (factor < 0)
        multiplier = -multiplier;
    return ctn_requantize(distance * (1 << PRELU_BITS), multiplier, shift);
}

typedef struct { /* of a channel: requantize(v * weight + bias, multiplier, shift) */
    int8_t weight;
    int32_t bias, multiplier, shift;
} Slope;

typedef struct { /* what a channel's distances below zero become */
    double factor;
    int32_t furthest, out_zero;
} Below;

static int32_t stored(const Below *b, int32_t result) {
    return ctn_clamp(result + b->out_zero, -128, 127);
}

/* At least `most` of them are enough to know. */
static int32_t wrongs(const Slope *s, const Below *b, int32_t most) {
    int32_t wrong = 0;
    for (int32_t v = -b->furthest; v < 0 && wrong < most; v++) {
        int32_t r = ctn_requantize(v * s->weight + s->bias, s->multiplier, s->shift);
        wrong += stored(b, r) != stored(b, scaled(v, b->factor));
    }
    return wrong;
}

/* The factors that give the kernel's numbers if a product is rounded once. */
static void factors_of(const Below *b, double *low, double *high) {
    *low = 0;
    *high = 2 * ldexp(fabs(b->factor), PRELU_BITS);
    for (int32_t v = 1; v <= b->furthest; v++) {
        int32_t r = scaled(-v, b->factor), out = r + b->out_zero;
        if (out <= -128 || out >= 127)
            continue; /* others give that too */
        *low = fmax(*low, (abs(r) - 0.5) / v);
        *high = fmin(*high, (abs(r) + 0.5) / v);
    }
}

/* A product of 8 bits rounds twice, but some of those factors give all the numbers with some weight
 * and bias all the same. The first that do, or what errs least, unless `best` does already. */
static void search(const Below *b, int trials, int32_t bias_step, Slope *best, int32_t *fewest) {
    enum { WEIGHT_LEAST = 32, BIAS_MOST = 8 };
    double low, high;
    factors_of(b, &low, &high);
    for (int32_t w = 127; w >= WEIGHT_LEAST; w--)
        for (int k = 1; k <= trials; k++)
            for (int32_t bias = -BIAS_MOST; bias <= BIAS_MOST && *fewest > 0; bias += bias_step) {
                Slope s = {.weight = (int8_t)(b->factor < 0 ? -w : w), .bias = bias};
                multiplier_from((low + (high - low) * k / (trials + 1)) / w, &s.multiplier,
                                &s.shift);
                int32_t wrong = wrongs(&s, b, *fewest);
                *best = wrong < *fewest ? s : *best;
                *fewest = wrong < *fewest ? wrong : *fewest;
            }
}

/* In a rare case no weight and bias give all numbers, and the errors are corrected. That takes one
 * more buffer of the activation's size, so a finer search comes first. */
static Slope slope_of(const Below *b) {
    enum { COARSE = 9, COARSE_STEP = 4, FINE = 40 };
    Slope best = {0, 0, 1 << 30, 0};
    int32_t fewest = wrongs(&best, b, INT32_MAX);
    search(b, COARSE, COARSE_STEP, &best, &fewest);
    search(b, FINE, 1, &best, &fewest);
    return best;
}

typedef struct {
    int64_t rows, channels; /* of the tensor */
    int in;
    int32_t zero;
    Below *below; /* of each channel */
    Slope *slope;
    int32_t out_zero;
} Prelu;

/* Entries of the input, each channel's by its slope: [rows][channels]. */
static int sloped(Pte *t, const Prelu *p, const int8_t entry[256], const Slope *slope) {
    int64_t size[] = {1, 1, 1, p->channels};
    int8_t *weights = c_alloc(t->c, (size_t)p->channels);
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, p->channels);
    int32_t *shift = NEW_ARRAY(t->c, int32_t, p->channels);
    int32_t *bias = NEW_ARRAY(t->c, int32_t, p->channels);
    for (int64_t i = 0; i < p->channels; i++) {
        weights[i] = slope[i].weight;
        bias[i] = slope[i].bias;
        multiplier[i] = slope[i].multiplier;
        shift[i] = slope[i].shift;
    }
    PteShape image = pte_image_shape(1, p->channels, p->rows, 1);
    PteConv c = {.k = {.in_c = p->channels,
                       .out_c = p->channels,
                       .groups = p->channels,
                       .depth = 1,
                       .kernel = {1, 1},
                       .stride = {1, 1},
                       .dilation = {1, 1},
                       .in = {p->rows, 1},
                       .out = {p->rows, 1}},
                 .batch = 1};
    PteConvCall a = {.image = pte_view(t, pte_looked_up(t, p->in, entry), &image),
                     .weights = pte_constant(t, PTE_CHAR, 4, size, weights),
                     .out = pte_tensor(t, PTE_CHAR, &image),
                     .bias = bias,
                     .multiplier = multiplier,
                     .shift = shift,
                     .in_zero = p->zero,
                     .out_zero = p->out_zero,
                     .min = -128,
                     .max = 127,
                     .depthwise = p->channels > 1};
    pte_call_conv(t, &c, &a);
    return pte_flat(t, a.out, 2, (int64_t[]){p->rows, p->channels});
}

/* a + b of the output's grid, of which nothing is rounded. */
static void call_exact_add(Pte *t, int a, int b, int32_t zero, int out) {
    const int32_t clamp[] = {-128, 127};
    SumFactors f = sum_factors(1, 1, 1, SUM_S8_LEFT);
    pte_call_add(t, (PteAddend){a, zero, f.a}, (PteAddend){b, zero, f.b}, f.output, zero, clamp,
                 out);
}

/* What `distance` lacks, in the channels that err there: one step, by products with one number. */
static int corrected(Pte *t, const Prelu *p, int32_t distance, int sum) {
    Slope *step = NEW_ARRAY(t->c, Slope, p->channels);
    bool any = false;
    for (int64_t i = 0; i < p->channels; i++) {
        const Slope *s = &p->slope[i];
        int32_t r = ctn_requantize(distance * s->weight + s->bias, s->multiplier, s->shift);
        int32_t lack =
            stored(&p->below[i], scaled(distance, p->below[i].factor)) - stored(&p->below[i], r);
        step[i] = (Slope){(int8_t)lack, 0, 1 << 30, 1};
        any |= lack != 0 && -distance <= p->below[i].furthest;
    }
    if (!any)
        return sum;
    int8_t entry[256];
    for (int32_t q = -128; q < 128; q++) /* 1 there, 0 elsewhere */
        entry[q + 128] =
            (int8_t)(p->zero + (q - p->zero == distance ? (p->zero < 127 ? 1 : -1) : 0));
    if (p->zero == 127)
        for (int64_t i = 0; i < p->channels; i++)
            step[i].weight = (int8_t)-step[i].weight;
    PteShape shape = pte_plain(2, (int64_t[]){p->rows, p->channels});
    int all = pte_tensor(t, PTE_CHAR, &shape);
    call_exact_add(t, sum, sloped(t, p, entry, step), p->out_zero, all);
    return all;
}

static int below_zero(Pte *t, const Prelu *p) {
    int8_t entry[256];
    for (int32_t q = -128; q < 128; q++)
        entry[q + 128] = (int8_t)(q < p->zero ? q : p->zero);
    int sum = sloped(t, p, entry, p->slope);
    for (int32_t v = -128 - p->zero; v < 0; v++)
        sum = corrected(t, p, v, sum);
    return sum;
}

/* What is above zero and what is below, of which one is zero: their sum is exact. */
bool pte_prelu(Pte *t, Node *n) {
    const Value *x = node_in(n, "self"), *weight = node_in(n, "weight"), *y = n->out[0];
    int8_t order[MAX_RANK], entry[256];
    if (!layer_int8(x) || !layer_int8(y) || !weight->constant || !weight->grid ||
        layer_slopes_last(x, weight, order) < 0)
        return false;
    Prelu p = {.channels = type_count(&weight->type),
               .zero = value_zero_point(x),
               .out_zero = value_zero_point(y)};
    p.rows = type_count(&x->type) / p.channels;
    p.below = NEW_ARRAY(t->c, Below, p.channels);
    p.slope = NEW_ARRAY(t->c, Slope, p.channels);
    double ratio = ldexp(value_scale(x) / value_scale(y), -PRELU_BITS);
    for (int64_t i = 0; i < p.channels; i++) {
        p.below[i] = (Below){ratio * layer_real(weight, i), p.zero + 128, p.out_zero};
        p.slope[i] = slope_of(&p.below[i]);
    }
    for (int32_t q = -128; q < 128; q++)
        entry[q + 128] =
            (int8_t)ctn_clamp(p.out_zero + (q > p.zero ? scaled(q - p.zero, ratio) : 0), -128, 127);
    int64_t size[] = {p.rows, p.channels};
    p.in = pte_flat(t, pte_value_in(t, x, order), 2, size);
    int below = below_zero(t, &p), out = pte_result(t, n, order);
    call_exact_add(t, pte_looked_up(t, p.in, entry), below, p.out_zero, pte_flat(t, out, 2, size));
    pte_finish(t, n, order, out);
    return true;
}
