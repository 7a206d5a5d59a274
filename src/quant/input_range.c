/* The range of a model's input by what its rounding and clipping do to the results of the weights
 * that read it. Errors of neighbours are not independent: a background, a floor of a logarithm or a
 * white frame fills whole windows with one number, whose error adds up over all taps. So candidate
 * ranges are compared on the patches that calibration has kept, after the weights. */
#include "quant/quant.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Each end of the range is tried at so many places, down to LEAST of what was seen. */
#define ENDS 16
#define LEAST 0.75
/* Multiplications of all candidates together. */
#define WORK 4e8

typedef struct {
    const float *weight;
    int64_t rows, depth, channels;
    float *patch, *error, *result; /* of patch and error: [rows][depth] */
} Reader;

/* What the grid makes of each number, less the number. Written for the compiler's vectors, which
 * have no rint: a sum with 1.5 2^52 has no bits behind the point, and what is too large for that
 * trick is clipped. */
static void errors_of(const float *x, int64_t count, const Part *grid, float *error) {
    const double whole = 0x1.8p52, scale = grid->scale, zero = grid->zero_point;
    for (int64_t i = 0; i < count; i++) {
        double q = x[i] / scale + whole - whole + zero;
        q = q > -128 ? q : -128;
        q = q < 127 ? q : 127;
        error[i] = (float)(scale * (q - zero) - (double)x[i]);
    }
}

/* In four sums, which do not wait for each other. */
static double sum_of_squares(const float *x, int64_t count) {
    double sum[4] = {0}, rest = 0;
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += (double)x[i + k] * (double)x[i + k];
    for (; i < count; i++)
        rest += (double)x[i] * (double)x[i];
    return sum[0] + sum[1] + sum[2] + sum[3] + rest;
}

static double cost_of(const Reader *k, const Grid *grid) {
    errors_of(k->patch, k->rows * k->depth, grid->part, k->error);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)k->rows, (blasint)k->channels,
                (blasint)k->depth, 1, k->error, (blasint)k->depth, k->weight, (blasint)k->depth, 0,
                k->result, (blasint)k->channels);
    return sum_of_squares(k->result, k->rows * k->channels);
}

/* False if the reader is none with plain weights, or nothing was kept of what it reads. */
static bool reader_open(C *c, const Node *n, Reader *k) {
    const Patches *p = n->patches;
    const Value *w = p && node_takes(n, "weight") ? node_in(n, "weight") : NULL;
    if (!w || !w->constant || w->constant->dtype != DT_F32 || patches_groups(p) != 1 ||
        patches_rows(p) == 0 || w->type.dim[0] == 0)
        return false;
    *k = (Reader){
        .weight = w->constant->data, .depth = patches_depth(p), .channels = w->type.dim[0]};
    double each = (double)k->depth * (double)k->channels * ENDS * ENDS;
    int64_t most = (int64_t)(WORK / each), rows = patches_rows(p);
    if (most < 64)
        return false;
    int64_t skip = rows > most ? (rows + most - 1) / most : 1;
    k->rows = rows / skip;
    k->patch = NEW_ARRAY(c, float, k->rows * k->depth);
    for (int64_t r = 0; r < k->rows; r++)
        memcpy(k->patch + r * k->depth, patches_data(p) + r * skip * k->depth,
               sizeof *k->patch * (size_t)k->depth);
    k->error = NEW_ARRAY(c, float, k->rows * k->depth);
    k->result = NEW_ARRAY(c, float, k->rows * k->channels);
    return k->rows > 0;
}

bool range_through_weights(C *c, const Node *reader, const Observed *o, double *low, double *high) {
    Reader k;
    if (!reader_open(c, reader, &k))
        return false;
    double best = HUGE_VAL, step = (1 - LEAST) / (ENDS - 1);
    for (int i = 0; i < ENDS; i++)
        for (int j = 0; j < ENDS; j++) {
            double a = fmin(o->min, 0) * (1 - i * step), b = fmax(o->max, 0) * (1 - j * step);
            double cost = cost_of(&k, grid_affine(c, a, b, 8));
            if (cost >= best)
                continue;
            best = cost;
            *low = a;
            *high = b;
        }
    return true;
}
