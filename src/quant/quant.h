/* From observed values to grids. */
#ifndef CORTEN_QUANT_H
#define CORTEN_QUANT_H

#include "graph/graph.h"
#include "passes/passes.h"

void observe(C *c, Observed *o, const Array *a);
void observed_merge(C *c, Observed *into, const Observed *from);
/* Of the numbers in the histogram, each taken for the middle of its bin: the mean of f, 0 if there
 * are none; the least and the largest, +-HUGE_VAL if there are none. */
double observed_mean(const Observed *o, double (*f)(double));
void observed_ends(const Observed *o, double *low, double *high);
/* The range that the observer kind chooses; contains 0. */
void observed_range(C *c, const Observed *o, ObserverKind kind, int bits, double *low,
                    double *high);
/* The range, cut into `levels` steps, on which map(x) errs least in square (rounding and clipping
 * weighed by the histogram); map NULL: x itself. Beyond it lies no more than the observer kind
 * leaves out, but for numbers of which map's result does not tell. */
void observed_range_through(C *c, const Observed *o, ObserverKind kind,
                            double (*map)(void *, double), void *user, double levels, double *low,
                            double *high);

/* What the weights of n see while calibration runs, or the rows of a softmax (patches.c): room for
 * so many floats of all samples, kept for those `here`; NULL if n's weights are pinned, or of
 * another kind than those of conv2d and linear. */
Patches *patches_new(C *c, const Node *n, int64_t floats, int samples, int here);
/* Takes its share of the input x of n, which is that of the given sample. */
void patches_take(C *c, Patches *p, const Node *n, const Array *x, int sample);
void patches_append(Patches *into, const Patches *from);
/* Gives the memory back before the arena does. */
void patches_release(Patches *p);
int64_t patches_rows(const Patches *p);
int64_t patches_groups(const Patches *p);
int64_t patches_depth(const Patches *p);     /* weights of one output channel */
const float *patches_data(const Patches *p); /* [rows][groups][depth] */
/* The range on which the operand of a softmax errs least in what the softmax makes of it. */
void range_through_softmax(C *c, const Patches *p, double beta, const Observed *o, double *low,
                           double *high);
/* The mean of a group's inputs [depth], and all of them less it [rows][depth]. */
void patches_moments(const Patches *p, int64_t group, double *mean, float *centred);
/* The range of an input on which its reader's results err least; false: not to be told. */
bool range_through_weights(C *c, const Node *reader, const Observed *o, double *low, double *high);
/* Weights [channels][depth] as integers on the grid, errors compensated; shift[channel] gets what
 * the result's mean has lost. Scales of 4-bit grids are first chosen anew, none below least[].
 * False if there are no patches, or the matrices would be too large. */
bool round_weights(C *c, const Patches *p, const Array *w, Grid *grid, const double *least,
                   int8_t *q, double *shift);
/* Scales of a symmetric grid per channel of axis 0, made smaller where clipping a few large weights
 * errs less than rounding all the others more coarsely. */
void shrink_scales(const Array *w, Grid *grid, const double *least);

/* Affine int8 grid for [low, high] as torch's and TFLM's: scale = (high - low) / 255, zero point
 * rounded, both clamped so that 0 is exact. int16: symmetric. A range of zero gets scale 1/255. */
Grid *grid_affine(C *c, double low, double high, int bits);
/* An int8 grid's numbers, exactly, with 7 more bits: 255 steps from the zero point at most. */
Grid *grid_widened(C *c, const Grid *grid);
Grid *grid_fixed(C *c, double scale, int32_t zero_point); /* int8 */
/* int16 whose step is the smallest power of two that holds `largest`, from `finest` to 1. */
Grid *grid_state(C *c, double largest, double finest);
/* The same numbers on the same parts; pinned or not does not matter. */
bool grid_equal(const Grid *a, const Grid *b);
/* Of symmetric weights whose largest magnitude is given: 127 steps, or 7 with 4 bits. */
double weight_scale(double largest, int bits);
/* For all of a's numbers and 0: exact if they are small multiples of a power of two, else affine.
 */
Grid *grid_of_range(C *c, const Array *a, int bits);
Grid *grid_symmetric_per_channel(C *c, const Array *weights, int axis, int bits);

/* What calibration saw a table read and make of it: pairs, and how often each came (table_loss.c).
 */
typedef struct {
    int count;
    double *x, *y, *n, variance; /* of all y */
    bool divides;                /* y: one by the table's result, by which something is divided */
} TableSeen;
TableSeen *table_seen(C *c, const Node *table, const Observed *x, const Observed *y, bool divides);
typedef struct { /* to steps within [low, high]; numbers nearer to zero than `least` become zero */
    double step, low, high, least;
} Rounded;
/* The error's share in the variance of y if x is rounded so. */
double table_lost_rounded(const TableSeen *seen, const Node *table, const Rounded *r);
/* Does y jump within a stretch of x, `apart` long, of which something was seen? */
bool table_jumps(const TableSeen *seen, const Node *table, double apart);

/* Pins the grids of the inputs that --input-scale names; wrong names and numbers are fatal. */
void fix_input_grids(C *c, Graph *g, const Options *o);

/* Every node without an integer form stays float; one that may not (no --allow-float) or cannot is
 * noted in the graph's list of refusals, which pass lower reports with what it finds itself.
 * `pointwise_counts`: pointwise nodes are let through, since they may still become part of a table.
 */
void keep_missing_float(C *c, Graph *g, const Options *o, bool pointwise_counts);
void report_refusals(C *c, const Graph *g);
/* Can the layer's store apply a function of int16? (widths.c) */
bool layer_fuses_map(const Options *o, const Node *layer);
/* Puts quantize and dequantize nodes between nodes that stay float and others. */
void islands_bound(C *c, Graph *g, const Options *o);
/* The grid of n's output under Q_STATE, on which operands under it are read; NULL: n has none. */
Grid *state_grid(const Node *n);
/* After that: will v never be integers? */
bool value_stays_float(const Graph *g, const Value *v);
/* Every constant that a kernel reads, as integers; activations have their grids. */
void quantize_constants(C *c, Graph *g, const Options *o);

/* The axis along which the numbers of a's elements change, and only along it; -1: there is none.
 * (parts.c) */
int axis_of_change(const Array *a);
/* Is n a function f of one number, its operand x, with f(a x) = a f(x) for a > 0? (equalize.c) */
bool pointwise_scales(const Graph *g, const Node *n, const Value *x);
/* Runs at most so many samples in float, from a state at rest, and shows inputs and results. */
void samples_show(C *c, Graph *g, const Options *o, int most,
                  void (*seen)(void *user, const Value *v, const Array *a), void *user);

/* The rule names by a pattern: it applies where it can. */
bool rule_is_glob(const PrecisionRule *rule);

/* Nodes at which such a rule does not apply. */
typedef struct {
    int count;
    const char *names; /* the first few */
} PassedOver;

void passed_over_add(C *c, PassedOver *p, const Node *n);
/* A warning, once for all of a rule's nodes. */
void passed_over_tell(C *c, const PrecisionRule *rule, const PassedOver *p);

/* Multiplications of n, or the elements that a node without weights reads. */
double node_work(const Node *n);

/* What one rounding alone costs: that of the values of one grid, or that of one node's constants.
 */
typedef struct {
    const char *name; /* of the node that makes the first value, of the input, or of the node */
    Loc loc;
    const Node *node; /* whose constants; NULL: values. Both are of the calibrated graph. */
    int value_count, value_capacity;
    const Value **value;
    int64_t bytes;  /* more memory with 16 bits */
    double work;    /* of the nodes that would read or write 16 bits */
    bool boundary;  /* an input or output of the model */
    bool widenable; /* 16 bits can be had ... */
    bool wide;      /* ... or are there */
    double *noise;  /* [output]: sum of squares */
} Cost;

typedef struct {
    int count, capacity;
    Cost *item;
    int output_count, samples;
    double *signal; /* [output] */
} CostList;

/* Fills the list. Adds constants to the calibrated graph, which is to be a copy. */
void sensitivity(C *c, CostList *list, Graph *calibrated, const Graph *quantized, const Options *o);

/* Names the first node from which calibration saw numbers that are not finite; its followers only
 * pass them on. Asked when tables have been made: poles inside of a region that ends finite are
 * the table's business. */
void calibration_check_finite(C *c, Graph *g);

#endif
