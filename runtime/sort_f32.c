/* The first of a line by rank, and their places. Each value is put among the best so far, so a line
 * costs count * keep steps at most and needs no memory but for the places. */
#include "float32.h"

#include "ctn.h"

/* Does x stand before y? Values are met in the order of place: ties do not overtake. */
static int before(float x, float y, int descending) {
    if (ctn_is_nan(x) || ctn_is_nan(y))
        return ctn_is_nan(x) != ctn_is_nan(y) && ctn_is_nan(x) == (descending != 0);
    return descending ? x > y : x < y;
}

static int32_t rank_line(const CtnSortF32Args *a, const float *line, int32_t *best) {
    int32_t held = 0;
    for (int32_t i = 0; i < a->count; i++) {
        float x = line[i * a->inner];
        int32_t at = held;
        while (at > 0 && before(x, line[best[at - 1] * a->inner], a->descending)) {
            if (at < a->keep)
                best[at] = best[at - 1];
            at--;
        }
        if (at < a->keep)
            best[at] = i;
        held += held < a->keep;
    }
    return held;
}

void ctn_sort_f32(const CtnSortF32Args *a, const CtnFrame *frame) {
    const float *input = ctn_at(frame, a->input);
    float *values = ctn_at(frame, a->values);
    int64_t *indices = ctn_at(frame, a->output);
    int32_t *best = ctn_at(frame, a->scratch);
    for (int32_t o = 0; o < a->outer; o++)
        for (int32_t i = 0; i < a->inner; i++) {
            const float *line = input + o * a->count * a->inner + i;
            int32_t end = rank_line(a, line, best), first = 0, kept = a->keep;
            if (a->pick >= 0) {
                first = ctn_is_nan(line[best[end - 1] * a->inner]) ? end - 1 : a->pick;
                end = first + 1;
                kept = 1;
            }
            for (int32_t k = first; k < end; k++) {
                int32_t to = (o * kept + k - first) * a->inner + i;
                if (values)
                    values[to] = line[best[k] * a->inner];
                if (indices)
                    indices[to] = best[k];
            }
        }
}
