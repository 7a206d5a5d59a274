/* From ranges to grids. Every range contains zero and every grid represents zero exactly, since
 * padding and empty sums are zeros. */
#include "quant/quant.h"

#include <math.h>

/* The smallest scale given to anything: float32 can still hold its inverse. */
#define SMALLEST_SCALE 0x1p-120

static Grid *grid_one(C *c, DType dtype, int bits, double scale, int32_t zero_point) {
    Grid *grid = NEW(c, Grid);
    grid->dtype = dtype;
    grid->bits = bits;
    grid->part_count = 1;
    grid->part = NEW(c, Part);
    grid->part[0] = (Part){.axis = -1, .scale = scale, .zero_point = zero_point};
    return grid;
}

Grid *grid_affine(C *c, double low, double high, int bits) {
    low = fmin(low, 0);
    high = fmax(high, 0);
    if (bits == 16) {
        double largest = fmax(-low, high);
        double scale = largest > 0 ? (double)(float)(largest / 32767) : 1.0 / 32767;
        return grid_one(c, DT_I16, 16, fmax(scale, SMALLEST_SCALE), 0);
    }
    /* scales are what float32 can hold, as in PyTorch and in the emitted header */
    double levels = ldexp(1, bits) - 1, first = -ldexp(1, bits - 1);
    double scale = high > low ? (double)(float)((high - low) / levels) : 1 / levels;
    scale = fmax(scale, SMALLEST_SCALE);
    double zero_point = fmin(fmax(first - rint(low / scale), first), first + levels);
    return grid_one(c, DT_I8, bits, scale, (int32_t)zero_point);
}

Grid *grid_widened(C *c, const Grid *grid) {
    return grid_one(c, DT_I16, 16, fmax(grid->part[0].scale / 128, SMALLEST_SCALE), 0);
}

Grid *grid_fixed(C *c, double scale, int32_t zero_point) {
    return grid_one(c, DT_I8, 8, scale, zero_point);
}

Grid *grid_state(C *c, double largest, double finest) {
    double scale = finest;
    while (scale < 1 && 32768 * scale < largest)
        scale *= 2;
    return grid_one(c, DT_I16, 16, scale, 0);
}

bool grid_equal(const Grid *a, const Grid *b) {
    if (a->dtype != b->dtype || a->bits != b->bits || a->part_count != b->part_count)
        return false;
    for (int k = 0; k < a->part_count; k++) {
        const Part *p = &a->part[k], *q = &b->part[k];
        if (p->axis != q->axis || p->start != q->start || p->stop != q->stop ||
            p->scale != q->scale || p->zero_point != q->zero_point)
            return false;
    }
    return true;
}

double weight_scale(double largest, int bits) {
    double top = bits == 4 ? 7 : 127;
    return fmax((double)(float)(largest / top), SMALLEST_SCALE);
}

Grid *grid_symmetric_per_channel(C *c, const Array *weights, int axis, int bits) {
    int64_t channels = weights->dim[axis];
    int64_t inner = 1;
    for (int d = axis + 1; d < weights->rank; d++)
        inner *= weights->dim[d];
    double *largest = NEW_ARRAY(c, double, channels);
    int64_t count = array_count(weights);
    for (int64_t i = 0; i < count; i++) {
        int64_t channel = i / inner % channels;
        largest[channel] = fmax(largest[channel], fabs(array_get(weights, i)));
    }
    Grid *grid = NEW(c, Grid);
    grid->dtype = DT_I8;
    grid->bits = bits;
    grid->part_count = (int)channels;
    grid->part = NEW_ARRAY(c, Part, channels);
    for (int64_t k = 0; k < channels; k++)
        grid->part[k] = (Part){
            .axis = axis, .start = k, .stop = k + 1, .scale = weight_scale(largest[k], bits)};
    return grid;
}

/* ---- ranges from histograms -------------------------------------------------------------- */

/* What observer `percentile` leaves outside at each end. */
#define PERCENTILE_TAIL 1e-5

/* Sums over the bins before a bin, so that the cost of any range is a few additions. */
typedef struct {
    int bins;
    double *x, *f;        /* each bin's middle, and f there */
    double *slope;        /* sum of n f'^2: what a rounding costs within the range */
    double *n, *nf, *nff; /* sums of n, n f, n f^2: what clipping costs beyond it */
    double (*map)(void *, double);
    void *user;
} Costs;

static double apply(const Costs *k, double x) {
    return k->map ? k->map(k->user, x) : x;
}

static void costs_fill(Costs *k, const Observed *o) {
    double w = o->bin_width;
    int zero = o->bin_count / 2;
    for (int i = 0; i < k->bins; i++) {
        double x = o->bin_low + (i + 0.5) * w, n = (double)o->bin[i];
        double f = 0, df = 0;
        if (n > 0) {
            f = apply(k, x);
            df = k->map ? (apply(k, x + w / 2) - apply(k, x - w / 2)) / w : 1;
            if (!isfinite(f) || !isfinite(df))
                f = df = n = 0;
        }
        /* what lies within half a step of zero rounds to zero on any grid */
        double rounded = i == zero || i == zero - 1 ? 0 : n;
        k->x[i] = x;
        k->f[i] = f;
        k->slope[i + 1] = k->slope[i] + rounded * df * df;
        k->n[i + 1] = k->n[i] + n;
        k->nf[i + 1] = k->nf[i] + n * f;
        k->nff[i + 1] = k->nff[i] + n * f * f;
    }
}

/* Sum of n (f - at)^2 over bins first <= i < last. Nothing is clipped to where f is undefined. */
static double clip_cost(const Costs *k, int first, int last, double at) {
    double n = k->n[last] - k->n[first], nf = k->nf[last] - k->nf[first];
    if (n == 0)
        return 0;
    if (!isfinite(at))
        return INFINITY;
    return fmax(0, k->nff[last] - k->nff[first] - 2 * at * nf + at * at * n);
}

static Costs *costs_new(C *c, const Observed *o, double (*map)(void *, double), void *user) {
    Costs *k = NEW(c, Costs);
    int n = o->bin_count;
    *k = (Costs){.bins = n,
                 .x = NEW_ARRAY(c, double, n),
                 .f = NEW_ARRAY(c, double, n),
                 .slope = NEW_ARRAY(c, double, n + 1),
                 .n = NEW_ARRAY(c, double, n + 1),
                 .nf = NEW_ARRAY(c, double, n + 1),
                 .nff = NEW_ARRAY(c, double, n + 1),
                 .map = map,
                 .user = user};
    costs_fill(k, o);
    return k;
}

/* Numbers among bins first <= i < last that clipping to `at` changes by more than `told`. */
static double clip_count(const Costs *k, int first, int last, double at, double told) {
    double count = 0;
    for (int i = first; i < last; i++)
        if (k->n[i + 1] > k->n[i] && !(fabs(k->f[i] - at) <= told))
            count += k->n[i + 1] - k->n[i];
    return count;
}

/* Half a step of what map gives, were it cut into `levels`. */
static double told_apart(const Costs *k, double levels) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < k->bins; i++)
        if (k->n[i + 1] > k->n[i]) {
            low = fmin(low, k->f[i]);
            high = fmax(high, k->f[i]);
        }
    return high > low ? 0.5 * (high - low) / levels : 0;
}

/* Rounding errs either way and averages out behind it; clipping does not. So squares decide only
 * about few numbers: this share of them may be changed by more than a step tells. */
static double clipped_most(ObserverKind kind) {
    return kind == OBSERVER_MSE ? 0.01 : kind == OBSERVER_PERCENTILE ? 2 * PERCENTILE_TAIL : 0;
}

/* Ends of candidate ranges: what was seen, and edges of bins so many apart, up to zero. */
enum { EDGE_STEP = HISTOGRAM_BINS / 256, ENDS = HISTOGRAM_BINS / 2 / EDGE_STEP + 1 };

/* All beyond an end is clipped to it. */
typedef struct {
    double at, cost, count; /* count: numbers that it changes */
    int bin;
} End;

static int low_ends(const Costs *k, const Observed *o, double told, End *end) {
    int count = 0, first = (int)floor((o->min - o->bin_low) / o->bin_width);
    for (int i = first; i <= o->bin_count / 2; i += EDGE_STEP) {
        double at = i == first ? o->min : o->bin_low + i * o->bin_width, f = apply(k, at);
        end[count++] = (End){at, clip_cost(k, 0, i, f), clip_count(k, 0, i, f, told), i};
    }
    return count;
}

static int high_ends(const Costs *k, const Observed *o, double told, End *end) {
    int count = 0, first = (int)ceil((o->max - o->bin_low) / o->bin_width);
    first = first > o->bin_count ? o->bin_count : first;
    for (int i = first; i >= o->bin_count / 2; i -= EDGE_STEP) {
        double at = i == first ? o->max : o->bin_low + i * o->bin_width, f = apply(k, at);
        end[count++] =
            (End){at, clip_cost(k, i, k->bins, f), clip_count(k, i, k->bins, f, told), i};
    }
    return count;
}

void observed_range_through(C *c, const Observed *o, ObserverKind kind,
                            double (*map)(void *, double), void *user, double levels, double *low,
                            double *high) {
    *low = o->min;
    *high = o->max;
    if (o->bin_count == 0)
        return;
    const Costs *k = costs_new(c, o, map, user);
    double told = told_apart(k, levels), most = clipped_most(kind) * k->n[k->bins];
    double best = INFINITY;
    End a[ENDS], b[ENDS];
    int lows = low_ends(k, o, told, a), highs = high_ends(k, o, told, b);
    for (int i = 0; i < lows; i++)
        for (int j = 0; j < highs; j++) {
            double s = (b[j].at - a[i].at) / levels;
            double cost =
                a[i].cost + b[j].cost + s * s / 12 * (k->slope[b[j].bin] - k->slope[a[i].bin]);
            if (s <= 0 || a[i].count + b[j].count > most || cost >= best)
                continue;
            best = cost;
            *low = a[i].at;
            *high = b[j].at;
        }
}

/* Leaves `tail` of the numbers outside, at each end by its share. */
static void range_percentile(const Observed *o, double tail, double *low, double *high) {
    double allowed = tail * (double)(o->count - o->not_finite);
    double seen = 0;
    for (int i = o->bin_count - 1; i >= o->bin_count / 2; i--) {
        seen += (double)o->bin[i];
        if (seen > allowed) {
            *high = fmin(o->max, o->bin_low + (i + 1) * o->bin_width);
            break;
        }
    }
    seen = 0;
    for (int i = 0; i < o->bin_count / 2; i++) {
        seen += (double)o->bin[i];
        if (seen > allowed) {
            *low = fmax(o->min, o->bin_low + i * o->bin_width);
            break;
        }
    }
}

void observed_range(C *c, const Observed *o, ObserverKind kind, int bits, double *low,
                    double *high) {
    *low = o->min;
    *high = o->max;
    if (kind == OBSERVER_MSE)
        observed_range_through(c, o, kind, NULL, NULL, bits == 16 ? 65534 : 255, low, high);
    else if (kind == OBSERVER_PERCENTILE)
        range_percentile(o, PERCENTILE_TAIL, low, high);
    *low = fmin(*low, 0);
    *high = fmax(*high, 0);
}
