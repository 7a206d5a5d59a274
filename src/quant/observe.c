/* Observers: what calibration remembers of a value. The histogram's bins lie on the fixed lattice
 * of width 2^k around zero and cover [-2^e, 2^e) for the smallest e that holds every number seen,
 * so that it does not depend on the order in which arrays are seen or parts are merged. */
#include "quant/quant.h"

#include <math.h>
#include <string.h>

enum { BINS = HISTOGRAM_BINS, HALF = BINS / 2 };

static int exponent_of(const Observed *o) {
    return ilogb(o->bin_width) + 10; /* BINS / 2 = 2^10 bins on either side of zero */
}

static void set_exponent(Observed *o, int e) {
    o->bin_width = ldexp(1.0, e - 10);
    o->bin_low = -ldexp(1.0, e);
}

/* Doubles the bins' width until they cover [-2^e, 2^e): bin k becomes floor(k / 2), seen from
 * zero. */
static void grow(Observed *o, int e) {
    for (int now = exponent_of(o); now < e; now++) {
        if (e - now > 11) { /* all lies in the two bins around zero */
            int64_t below = 0, above = 0;
            for (int i = 0; i < HALF; i++) {
                below += o->bin[i];
                above += o->bin[HALF + i];
            }
            memset(o->bin, 0, BINS * sizeof *o->bin);
            o->bin[HALF - 1] = below;
            o->bin[HALF] = above;
            break;
        }
        for (int i = 0; i < HALF / 2; i++) {
            o->bin[HALF + i] = o->bin[HALF + 2 * i] + o->bin[HALF + 2 * i + 1];
            o->bin[HALF - 1 - i] = o->bin[HALF - 1 - 2 * i] + o->bin[HALF - 2 - 2 * i];
        }
        memset(o->bin, 0, HALF / 2 * sizeof *o->bin);
        memset(o->bin + HALF + HALF / 2, 0, HALF / 2 * sizeof *o->bin);
    }
    set_exponent(o, e);
}

/* Makes room for numbers of magnitude `largest` (not 0). */
static void cover(C *c, Observed *o, double largest) {
    int e = ilogb(largest) + 1;
    if (!o->bin) {
        o->bin = NEW_ARRAY(c, int64_t, BINS);
        o->bin_count = BINS;
        set_exponent(o, e);
        o->bin[HALF] = o->count - o->not_finite; /* so far only zeros */
    } else if (e > exponent_of(o)) {
        grow(o, e);
    }
}

static void count_floats(Observed *o, const float *x, int64_t count) {
    const float inverse = (float)(1.0 / o->bin_width); /* a power of two: the product is exact */
    int64_t *bin = o->bin + HALF;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i]))
            continue;
        float position = x[i] * inverse;
        int k = (int)position;
        bin[k - (position < (float)k)]++;
    }
}

void observe(C *c, Observed *o, const Array *a) {
    if (a->dtype != DT_F32)
        a = array_convert(c, a, DT_F32);
    const float *x = a->data;
    int64_t count = array_count(a), bad = 0;
    float low = 0, high = 0; /* ranges contain zero: a grid must represent it exactly */
    for (int64_t i = 0; i < count; i++) {
        bad += !isfinite(x[i]);
        if (isfinite(x[i])) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
    }
    o->min = fmin(o->min, low);
    o->max = fmax(o->max, high);
    /* 1 / bin_width must stay finite in float: numbers below 2^-110 are zeros here */
    double largest = fmax(-o->min, o->max);
    if (largest >= 0x1p-110)
        cover(c, o, largest);
    o->count += count;
    o->not_finite += bad;
    if (o->bin)
        count_floats(o, x, count);
}

void observed_merge(C *c, Observed *into, const Observed *from) {
    into->min = fmin(into->min, from->min);
    into->max = fmax(into->max, from->max);
    if (from->bin) {
        cover(c, into, ldexp(1.0, exponent_of(from) - 1));
        Observed copy = *from;
        copy.bin = c_memdup(c, from->bin, BINS * sizeof *from->bin);
        if (exponent_of(from) < exponent_of(into))
            grow(&copy, exponent_of(into));
        for (int i = 0; i < BINS; i++)
            into->bin[i] += copy.bin[i];
    } else if (into->bin) {
        into->bin[HALF] += from->count - from->not_finite;
    }
    into->count += from->count;
    into->not_finite += from->not_finite;
}

static double middle(const Observed *o, int bin) {
    return o->bin_low + (bin + 0.5) * o->bin_width;
}

double observed_mean(const Observed *o, double (*f)(double)) {
    double n = 0, sum = 0;
    for (int i = 0; i < o->bin_count; i++)
        if (o->bin[i] > 0) {
            n += (double)o->bin[i];
            sum += (double)o->bin[i] * f(middle(o, i));
        }
    return n > 0 ? sum / n : 0;
}

void observed_ends(const Observed *o, double *low, double *high) {
    *low = HUGE_VAL;
    *high = -HUGE_VAL;
    for (int i = 0; i < o->bin_count; i++)
        if (o->bin[i] > 0) {
            *low = fmin(*low, middle(o, i));
            *high = fmax(*high, middle(o, i));
        }
}
