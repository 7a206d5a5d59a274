/* Planes sampled at places that are data, in float32; torch's order of operations. */
#include "float32.h"

#include "ctn.h"

/* Back and forth between low and low + span. */
static float reflect(float x, float low, float span) {
    if (span == 0.0f)
        return 0.0f;
    x = ctn_abs(x - low);
    float rest = ctn_fmod(x, span), flips = ctn_floor(x / span);
    return ctn_fmod(flips, 2.0f) == 0.0f ? rest + low : span - rest + low;
}

/* -1..1 to a place along an axis of so many elements. */
static float place_of(const CtnGridSample2dF32Args *a, float g, int32_t size) {
    float last = (float)(size - 1);
    float x =
        a->align_corners ? (g + 1.0f) / 2.0f * last : ((g + 1.0f) * (float)size - 1.0f) / 2.0f;
    if (a->reflect)
        x = a->align_corners ? reflect(x, 0.0f, last) : reflect(x, -0.5f, (float)size);
    if (a->reflect || a->border)
        x = x > 0.0f ? x < last ? x : last : 0.0f;
    return x;
}

static float at(const CtnGridSample2dF32Args *a, const float *plane, float row, float column) {
    if (!(row >= 0.0f && row < (float)a->in_h && column >= 0.0f && column < (float)a->in_w))
        return 0.0f;
    return plane[(int32_t)row * a->in_w + (int32_t)column];
}

static float sample(const CtnGridSample2dF32Args *a, const float *plane, float row, float column) {
    if (a->nearest)
        return at(a, plane, ctn_round(row), ctn_round(column));
    float top = ctn_floor(row), left = ctn_floor(column), down = row - top, right = column - left;
    float sum = at(a, plane, top, left) * (1.0f - down) * (1.0f - right);
    sum += at(a, plane, top, left + 1.0f) * (1.0f - down) * right;
    sum += at(a, plane, top + 1.0f, left) * down * (1.0f - right);
    return sum + at(a, plane, top + 1.0f, left + 1.0f) * down * right;
}

void ctn_grid_sample2d_f32(const CtnGridSample2dF32Args *a, const CtnFrame *frame) {
    const float *plane = ctn_at(frame, a->input), *grid = ctn_at(frame, a->grid);
    float *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++, grid += 2 * a->places)
        for (int32_t c = 0; c < a->channels; c++, plane += a->in_h * a->in_w)
            for (int32_t i = 0; i < a->places; i++) {
                float column = place_of(a, grid[2 * i], a->in_w);
                float row = place_of(a, grid[2 * i + 1], a->in_h);
                *output++ = ctn_settle(sample(a, plane, row, column));
            }
}
