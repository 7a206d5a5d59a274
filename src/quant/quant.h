/* From observed values to grids. */
#ifndef CORTEN_QUANT_H
#define CORTEN_QUANT_H

#include "graph/graph.h"
#include "passes/passes.h"

void observe(C *c, Observed *o, const Array *a);
void observed_merge(C *c, Observed *into, const Observed *from);
/* The range that the observer kind chooses; contains 0. */
void observed_range(C *c, const Observed *o, ObserverKind kind, int bits, double *low,
                    double *high);
/* The range, cut into `levels` steps, on which map(x) errs least in square (rounding and clipping
 * weighed by the histogram); map NULL: x itself. */
void observed_range_through(C *c, const Observed *o, double (*map)(void *, double), void *user,
                            double levels, double *low, double *high);

/* Affine int8 grid for [low, high] as torch's and TFLM's: scale = (high - low) / 255, zero point
 * rounded, both clamped so that 0 is exact. int16: symmetric. A range of zero gets scale 1/255. */
Grid *grid_affine(C *c, double low, double high, int bits);
Grid *grid_fixed(C *c, double scale, int32_t zero_point); /* int8 */
/* Of symmetric weights whose largest magnitude is given: 127 steps, or 7 with 4 bits. */
double weight_scale(double largest, int bits);
Grid *grid_symmetric_per_channel(C *c, const Array *weights, int axis, int bits);

/* Records `<op> has no integer form` for every node without one. `pointwise_counts`: pointwise
 * nodes are let through, since they may still become part of a table. */
void report_missing_forms(C *c, Graph *g, const Options *o, bool pointwise_counts);
/* Every constant that a kernel reads, as integers; activations have their grids. */
void quantize_constants(C *c, Graph *g);

#endif
