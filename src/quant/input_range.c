/* The range of a model's input by what its rounding and clipping do to the results of the weights
 * that read it. Errors of neighbours are not independent: a background, a floor of a logarithm or a
 * white frame fills whole windows with one number, whose error adds up over all taps. So candidate
 * ranges are compared on the patches that calibration has kept, after the weights. */
#include "quant/quant.h"

#include <cblas.h>
#include <math.h>

/* Each end of the range is tried at so many places, down to LEAST of what was seen. */
#define ENDS 16
#define LEAST 0.75
/* Multiplications of all candidates together. */
#define WORK 4e8

typedef struct {
    const float *patch, *weight;
    int64_t rows, stride, depth, channels; /* patches a stride apart */
    float *error, *result;
} Reader;

static double cost_of(const Reader *k, const Grid *grid) {
    double scale = grid->part[0].scale, zero = grid->part[0].zero_point, cost = 0;
    for (int64_t r = 0; r < k->rows; r++)
        for (int64_t i = 0; i < k->depth; i++) {
            double x = (double)k->patch[r * k->stride + i];
            double q = fmin(fmax(rint(x / scale) + zero, -128), 127);
            k->error[r * k->depth + i] = (float)(scale * (q - zero) - x);
        }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)k->rows, (blasint)k->channels,
                (blasint)k->depth, 1, k->error, (blasint)k->depth, k->weight, (blasint)k->depth, 0,
                k->result, (blasint)k->channels);
    for (int64_t i = 0; i < k->rows * k->channels; i++)
        cost += (double)k->result[i] * (double)k->result[i];
    return cost;
}

/* False if the reader is none with plain weights, or nothing was kept of what it reads. */
static bool reader_open(C *c, const Node *n, Reader *k) {
    const Patches *p = n->patches;
    const Value *w = p && node_takes(n, "weight") ? node_in(n, "weight") : NULL;
    if (!w || !w->constant || w->constant->dtype != DT_F32 || patches_groups(p) != 1 ||
        patches_rows(p) == 0 || w->type.dim[0] == 0)
        return false;
    *k = (Reader){.patch = patches_data(p),
                  .weight = w->constant->data,
                  .depth = patches_depth(p),
                  .channels = w->type.dim[0]};
    double each = (double)k->depth * (double)k->channels * ENDS * ENDS;
    int64_t most = (int64_t)(WORK / each), rows = patches_rows(p);
    if (most < 64)
        return false;
    int64_t skip = rows > most ? (rows + most - 1) / most : 1;
    k->rows = rows / skip;
    k->stride = skip * k->depth;
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
