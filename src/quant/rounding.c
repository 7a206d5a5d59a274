/* Rounding of weights with compensation: each output's weights are rounded one after another, and
 * what one rounding does to the result, as far as the inputs of calibration tell, is made up for
 * by those still to come. With the covariance C = R' R of the inputs (R upper triangular), the
 * error of an output is |R (w - s q)|^2, and rounding from the last weight to the first, each to
 * the nearest given those before, is Babai's nearest plane. What remains of the error's mean goes
 * into the bias. The scale itself matters with 4 bits, and with 8 where a channel has few weights:
 * it takes the one that errs least when its weights are rounded so. */
#include "quant/quant.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A larger matrix costs more than it gives: depth^2 floats and depth^3 / 3 multiplications. */
#define DEPTH_LIMIT 1600
/* Of the mean variance, added to every variance: rounding must not rely on what few patches say.
 * Of 0.003 to 0.04, this is the best for the large models of the zoo; small ones swing by more. */
#define DAMPING 0.04
/* With 4 bits the errors that are made up for are 16 times as large: 0.01, as published for GPTQ
 * (Frantar et al. 2022), held-out samples of the small models prefer it. */
#define DAMPING_INT4 0.01
/* Scales that are tried: the given one times 1, 1 - 1/20, ... with 4 bits, where clipping the
 * largest weight pays; with 8 times 1, 1 + 1/100, ..., which only falls otherwise on the same
 * weights. */
enum { TRIALS = 12 };
/* More weights than these err on the average, whatever the scale of 8 bits. */
enum { CHOICE_DEPTH = 64 };
enum { INT4_TOP = 7, INT8_TOP = 127 }; /* the largest integers */

typedef struct {
    C *c;
    const Patches *p;
    const Array *w; /* [channels][depth] */
    double top;     /* the largest integer */
    double *scale;  /* by channel */
    int8_t *q;
    double *shift;        /* by channel: what the rounding takes from the mean of the result */
    double *cost;         /* by channel: the mean square of the error that remains */
    int64_t depth, width; /* width: channels of one group */
    double *mean;
    float *r;     /* [depth][depth], upper triangular */
    int *order;   /* weights are taken from order[depth - 1] to order[0] */
    float *error; /* [depth][width]: w - s q in units of reals, in that order */
} Rounding;

/* Weights whose inputs vary most are rounded first, while all others can still make up for them. */
static void order_by_variance(Rounding *k, const float *covariance) {
    for (int64_t i = 0; i < k->depth; i++) {
        int64_t at = i;
        float v = covariance[i * k->depth + i];
        for (; at > 0; at--) {
            int before = k->order[at - 1];
            if (covariance[before * k->depth + before] <= v)
                break;
            k->order[at] = before;
        }
        k->order[at] = (int)i;
    }
}

/* Cholesky of the upper triangle in place, row by row; false if it is not positive definite. */
static bool cholesky(float *a, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        float *row = a + i * n;
        if (!(row[i] > 0))
            return false;
        float pivot = sqrtf(row[i]);
        for (int64_t j = i; j < n; j++)
            row[j] /= pivot;
        for (int64_t k = i + 1; k < n; k++)
            if (row[k] != 0)
                cblas_saxpy((blasint)(n - k), -row[k], row + k, 1, a + k * n + k, 1);
    }
    return true;
}

/* The covariance of a group's inputs, ordered and damped, and its factor; false if there is none.
 */
static bool factor_group(Rounding *k, int64_t group, float *centred, float *covariance) {
    int64_t n = k->depth, rows = patches_rows(k->p);
    patches_moments(k->p, group, k->mean, centred);
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, (blasint)n, (blasint)rows,
                1.0f / (float)rows, centred, (blasint)n, 0.0f, covariance, (blasint)n);
    double trace = 0;
    for (int64_t i = 0; i < n; i++)
        trace += (double)covariance[i * n + i];
    if (!(trace > 0) || !isfinite(trace))
        return false;
    order_by_variance(k, covariance);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            int64_t a = k->order[i], b = k->order[j];
            k->r[i * n + j] = covariance[(a < b ? a : b) * n + (a < b ? b : a)];
        }
    double damping = (k->top == INT4_TOP ? DAMPING_INT4 : DAMPING) * trace / (double)n;
    for (int64_t i = 0; i < n; i++)
        k->r[i * n + i] += (float)damping;
    return cholesky(k->r, n);
}

/* Rounds all weights of one group's channels, weight by weight: row i of R (w - s q) is final when
 * weight i is rounded. `ahead`: room for a float per channel. */
static void round_group(Rounding *k, int64_t group, float *ahead) {
    int64_t n = k->depth, width = k->width, first = group * width;
    for (int64_t o = first; o < first + width; o++)
        k->shift[o] = k->cost[o] = 0;
    for (int64_t i = n - 1; i >= 0; i--) {
        const float *row = k->r + i * n;
        memset(ahead, 0, (size_t)width * sizeof *ahead);
        if (i + 1 < n)
            cblas_sgemv(CblasRowMajor, CblasTrans, (blasint)(n - 1 - i), (blasint)width,
                        1.0f / row[i], k->error + (i + 1) * width, (blasint)width, row + i + 1, 1,
                        0.0f, ahead, 1);
        for (int64_t o = 0; o < width; o++) {
            int64_t at = (first + o) * n + k->order[i];
            double s = k->scale[first + o], w = array_get(k->w, at);
            double q = fmin(fmax(rint((w + (double)ahead[o]) / s), -k->top), k->top);
            double remains = (double)row[i] * (w + (double)ahead[o] - s * q);
            k->q[at] = (int8_t)q;
            k->error[i * width + o] = (float)(w - s * q);
            k->shift[first + o] += k->mean[k->order[i]] * (w - s * q);
            k->cost[first + o] += remains * remains;
        }
    }
}

static double trial(const Rounding *k, double given, int t) {
    return (double)(float)(given * (k->top == INT4_TOP ? 1 - t / 20.0 : 1 + t / 100.0));
}

/* A second result of the same weights, to compare with the first: once for all groups, which can be
 * as many as channels. */
static Rounding result_beside(const Rounding *first) {
    Rounding k = *first;
    int64_t channels = k.w->dim[0];
    k.q = NEW_ARRAY(k.c, int8_t, channels * k.depth);
    k.scale = NEW_ARRAY(k.c, double, channels);
    k.shift = NEW_ARRAY(k.c, double, channels);
    k.cost = NEW_ARRAY(k.c, double, channels);
    return k;
}

/* The same on the best of several scales for each channel; they are `given` at first. */
static void round_group_best(Rounding *best, Rounding *k, int64_t group, const double *given,
                             const double *least, float *ahead) {
    int64_t n = best->depth;
    for (int t = 0; t < TRIALS; t++) {
        int64_t first = group * k->width;
        for (int64_t o = first; o < first + k->width; o++)
            k->scale[o] = fmax(trial(k, given[o], t), least[o]);
        round_group(k, group, ahead);
        for (int64_t o = first; o < first + k->width; o++) {
            if (t > 0 && !(k->cost[o] < best->cost[o]))
                continue;
            best->scale[o] = k->scale[o];
            best->shift[o] = k->shift[o];
            best->cost[o] = k->cost[o];
            memcpy(best->q + o * n, k->q + o * n, (size_t)n);
        }
    }
}

/* To the nearest, where the covariance says nothing. */
static void round_nearest(Rounding *k, int64_t group) {
    for (int64_t o = group * k->width; o < (group + 1) * k->width; o++)
        for (int64_t i = 0; i < k->depth; i++) {
            double s = k->scale[o], w = array_get(k->w, o * k->depth + i);
            double q = fmin(fmax(rint(w / s), -k->top), k->top);
            k->q[o * k->depth + i] = (int8_t)q;
            k->shift[o] += k->mean[i] * (w - s * q);
        }
}

static double part_scale(const Grid *grid, int64_t channel) {
    return grid->part[grid->part_count == 1 ? 0 : channel].scale;
}

static void round_groups(Rounding *k, const Grid *grid, const double *least, float *scratch) {
    int64_t n = k->depth, channels = k->w->dim[0];
    float *ahead = NEW_ARRAY(k->c, float, k->width);
    bool choose = grid->part_count == channels && (grid->bits == 4 || n <= CHOICE_DEPTH);
    k->r = scratch;
    Rounding trials = choose ? result_beside(k) : (Rounding){0};
    const double *given = c_memdup(k->c, k->scale, (size_t)channels * sizeof *given);
    for (int64_t g = 0; g < channels / k->width; g++)
        if (!factor_group(k, g, scratch + 2 * n * n, scratch + n * n))
            round_nearest(k, g);
        else if (choose)
            round_group_best(k, &trials, g, given, least, ahead);
        else
            round_group(k, g, ahead);
}

bool round_weights(C *c, const Patches *p, const Array *w, Grid *grid, const double *least,
                   int8_t *q, double *shift) {
    int64_t n = patches_depth(p), rows = patches_rows(p), channels = w->dim[0];
    int64_t groups = patches_groups(p);
    if (n > DEPTH_LIMIT || rows < 1 || array_count(w) != channels * n || channels % groups != 0)
        return false;
    Rounding k = {.c = c, .p = p, .w = w, .q = q, .depth = n, .width = channels / groups};
    k.top = grid->bits == 4 ? INT4_TOP : INT8_TOP;
    k.mean = NEW_ARRAY(c, double, n);
    k.order = NEW_ARRAY(c, int, n);
    k.error = NEW_ARRAY(c, float, n *k.width);
    k.scale = NEW_ARRAY(c, double, channels);
    k.shift = NEW_ARRAY(c, double, channels);
    k.cost = NEW_ARRAY(c, double, channels);
    for (int64_t o = 0; o < channels; o++)
        k.scale[o] = part_scale(grid, o);
    float *scratch = malloc((size_t)(2 * n * n + rows * n) * sizeof *scratch);
    if (!scratch)
        fatal(c, DIAG_MODEL, NULL, "out of memory");
    round_groups(&k, grid, least, scratch);
    free(scratch);
    for (int64_t o = 0; o < channels; o++) {
        if (grid->part_count == channels)
            grid->part[o].scale = k.scale[o];
        /* the mean of few rows is itself uncertain: one row is believed half */
        shift[o] += k.shift[o] * (double)rows / (double)(rows + 1);
    }
    return true;
}

void shrink_scales(const Array *w, Grid *grid, const double *least) {
    int64_t depth = grid->part_count > 0 ? array_count(w) / grid->part_count : 0;
    double top = grid->bits == 4 ? INT4_TOP : INT8_TOP;
    for (int64_t o = 0; o < grid->part_count; o++) {
        double given = grid->part[o].scale, smallest = INFINITY;
        for (int t = 0; t < TRIALS; t++) {
            double s = fmax((double)(float)(given * (1 - t / 20.0)), least[o]), cost = 0;
            for (int64_t i = 0; i < depth; i++) {
                double x = array_get(w, o * depth + i);
                double e = x - s * fmin(fmax(rint(x / s), -top), top);
                cost += e * e;
            }
            if (cost < smallest) {
                smallest = cost;
                grid->part[o].scale = s;
            }
        }
    }
}
