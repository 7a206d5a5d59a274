/* Sums, extrema and their places over dimensions, in float32, in the order of the loops. NaN is
 * above and below all numbers. */
#include "float32.h"

#include "ctn.h"
#include "loop.h"

enum { MODE_SUM, MODE_MAXIMUM, MODE_MINIMUM, MODE_PLACE_OF_MAXIMUM, MODE_PLACE_OF_MINIMUM };

static int better(float x, float than, int minimum) {
    if (ctn_is_nan(x))
        return !ctn_is_nan(than);
    return minimum ? x < than : x > than;
}

static float reduce(const CtnReduceF32Args *a, const float *input, int32_t *place) {
    static const int32_t still[6] = {0};
    int32_t index[6] = {0}, offset = 0, zero = 0, count = 0;
    float result = 0.0f;
    int minimum = a->mode == MODE_MINIMUM || a->mode == MODE_PLACE_OF_MINIMUM;
    if (ctn_is_empty(6, a->reduced))
        return 0.0f;
    do {
        float x = input[offset];
        if (a->mode == MODE_SUM) {
            result += x;
        } else if (count == 0 || better(x, result, minimum)) {
            result = x;
            *place = count;
        }
        count++;
    } while (ctn_step(6, a->reduced, index, a->reduced_stride, &offset, still, &zero));
    return result;
}

void ctn_reduce_f32(const CtnReduceF32Args *a, const CtnFrame *frame) {
    static const int32_t still[6] = {0};
    const float *input = ctn_at(frame, a->input);
    float *output = ctn_at(frame, a->output), factor = ctn_from_bits((uint32_t)a->factor);
    int64_t *places = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        int32_t place = 0;
        float result = reduce(a, input + offset, &place);
        if (a->mode >= MODE_PLACE_OF_MAXIMUM)
            *places++ = place;
        else
            *output++ = ctn_settle(a->mode == MODE_SUM ? result * factor : result);
    } while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}
