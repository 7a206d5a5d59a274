/* Rounding of weights with compensation: each output's weights are rounded one after another, and
 * what one rounding does to the result, as far as the inputs of calibration tell, is made up for
 * by those still to come. With the covariance C = R' R of the inputs (R upper triangular), the
 * error of an output is |R (w - s q)|^2, and rounding from the last weight to the first, each to
 * the nearest given those before, is Babai's nearest plane. What remains of the error's mean goes
 * into the bias. */
#include "quant/quant.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A larger matrix costs more than it gives: depth^2 floats and depth^3 / 3 multiplications. */
#define DEPTH_LIMIT 1600
/* Of the mean variance, added to every variance: rounding must not rely on what few patches say. */
#define DAMPING 0.01

typedef struct {
    C *c;
    const Patches *p;
    const Array *w; /* [channels][depth] */
    const Grid *grid;
    int8_t *q;
    double *shift;        /* by channel: what the rounding takes from the mean of the result */
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
    for (int64_t i = 0; i < n; i++)
        k->r[i * n + i] += (float)(DAMPING * trace / (double)n);
    return cholesky(k->r, n);
}

static double channel_scale(const Rounding *k, int64_t channel) {
    return k->grid->part[k->grid->part_count == 1 ? 0 : channel].scale;
}

/* Rounds all weights of one group's channels, weight by weight. */
static void round_group(Rounding *k, int64_t group) {
    int64_t n = k->depth, width = k->width, first = group * width;
    float *ahead = NEW_ARRAY(k->c, float, width);
    for (int64_t i = n - 1; i >= 0; i--) {
        const float *row = k->r + i * n;
        memset(ahead, 0, (size_t)width * sizeof *ahead);
        if (i + 1 < n)
            cblas_sgemv(CblasRowMajor, CblasTrans, (blasint)(n - 1 - i), (blasint)width,
                        1.0f / row[i], k->error + (i + 1) * width, (blasint)width, row + i + 1, 1,
                        0.0f, ahead, 1);
        for (int64_t o = 0; o < width; o++) {
            int64_t at = (first + o) * n + k->order[i];
            double s = channel_scale(k, first + o), w = array_get(k->w, at);
            double q = fmin(fmax(rint((w + (double)ahead[o]) / s), -127), 127);
            k->q[at] = (int8_t)q;
            k->error[i * width + o] = (float)(w - s * q);
            k->shift[first + o] += k->mean[k->order[i]] * (w - s * q);
        }
    }
}

/* To the nearest, where the covariance says nothing. */
static void round_nearest(Rounding *k, int64_t group) {
    for (int64_t o = group * k->width; o < (group + 1) * k->width; o++)
        for (int64_t i = 0; i < k->depth; i++) {
            double s = channel_scale(k, o), w = array_get(k->w, o * k->depth + i);
            double q = fmin(fmax(rint(w / s), -127), 127);
            k->q[o * k->depth + i] = (int8_t)q;
            k->shift[o] += k->mean[i] * (w - s * q);
        }
}

bool round_weights(C *c, const Patches *p, const Array *w, const Grid *grid, int8_t *q,
                   double *shift) {
    int64_t n = patches_depth(p), rows = patches_rows(p), channels = w->dim[0];
    int64_t groups = patches_groups(p);
    if (n > DEPTH_LIMIT || rows < 1 || array_count(w) != channels * n || channels % groups != 0)
        return false;
    Rounding k = {.c = c, .p = p, .w = w, .grid = grid, .q = q, .shift = shift, .depth = n};
    k.width = channels / groups;
    k.mean = NEW_ARRAY(c, double, n);
    k.order = NEW_ARRAY(c, int, n);
    k.error = NEW_ARRAY(c, float, n *k.width);
    float *scratch = malloc((size_t)(2 * n * n + rows * n) * sizeof *scratch);
    if (!scratch)
        fatal(c, DIAG_MODEL, NULL, "out of memory");
    k.r = scratch;
    for (int64_t g = 0; g < groups; g++)
        if (factor_group(&k, g, scratch + 2 * n * n, scratch + n * n))
            round_group(&k, g);
        else
            round_nearest(&k, g);
    free(scratch);
    /* the mean of few rows is itself uncertain: one row is believed half */
    for (int64_t o = 0; o < channels; o++)
        shift[o] *= (double)rows / (double)(rows + 1);
    return true;
}
