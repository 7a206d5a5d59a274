/* Conversions at the boundary and the measure of a result. */
#include "run/run.h"

#include <math.h>

static const Part *part_of(const Grid *grid, const Array *a, int64_t index) {
    if (grid->part_count == 1)
        return &grid->part[0];
    int axis = grid->part[0].axis;
    int64_t inner = 1;
    for (int d = axis + 1; d < a->rank; d++)
        inner *= a->dim[d];
    int64_t at = index / inner % a->dim[axis];
    for (int k = 0; k < grid->part_count; k++)
        if (at >= grid->part[k].start && at < grid->part[k].stop)
            return &grid->part[k];
    return &grid->part[0];
}

void grid_ends(const Grid *grid, double *first, double *last) {
    *first = grid->dtype == DT_I16 ? -32768 : grid->dtype == DT_U8 ? 0 : -128;
    *last = grid->dtype == DT_I16 ? 32767 : grid->dtype == DT_U8 ? 255 : 127;
}

/* clamp(rint(x * (1 / s)) + zp) in float32, ties to even, as torch. */
Array *quantize_array(C *c, const Array *a, const Grid *grid) {
    Array *q = array_new(c, grid->dtype, a->rank, a->dim);
    double low, high;
    grid_ends(grid, &low, &high);
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        const Part *p = part_of(grid, a, i);
        float scaled = (float)array_get(a, i) * (1.0f / (float)p->scale);
        double y = (double)rintf(scaled) + p->zero_point;
        array_set(q, i, y < low ? low : y > high ? high : y);
    }
    return q;
}

Array *dequantize_array(C *c, const Array *a, const Grid *grid) {
    Array *x = array_new(c, DT_F32, a->rank, a->dim);
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        const Part *p = part_of(grid, a, i);
        array_set(x, i, (double)((float)p->scale * (float)(array_get(a, i) - p->zero_point)));
    }
    return x;
}

double sqnr_db(const Array *reference, const Array *got) {
    double signal = 0, noise = 0;
    for (int64_t i = 0, n = array_count(reference); i < n; i++) {
        double r = array_get(reference, i), d = r - array_get(got, i);
        signal += r * r;
        noise += d * d;
    }
    return noise == 0 ? HUGE_VAL : 10 * log10(signal / noise);
}

const char *db_figure(C *c, double db) {
    return isinf(db) ? db > 0 ? "exact" : "none" : c_format(c, "%.1f", db);
}

const char *db_text(C *c, double db) {
    return isinf(db) ? db_figure(c, db) : c_format(c, "%s dB", db_figure(c, db));
}
