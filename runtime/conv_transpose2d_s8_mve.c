/* Transposed convolution by MVE. Output places whose row and column leave the same remainders by
 * the strides are reached by the same taps (reach.h): they are a convolution of their own, by pairs
 * of pixels (pair_s8_mve.h), whose results lie a stride apart. A place that one tap reaches is read
 * where it is, if the channels fill whole vectors; else the taps are copied together, those outside
 * of the image as zero points, which the packed bias cancels.
 *
 * Weights follow each other by remainders, rows first. Scratch holds two windows. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "pair_layer_mve.h"
#include "reach.h"
#include "vector_mve.h"

typedef struct {
    const CtnConvTranspose2dS8Args *a;
    const int8_t *image;
    CtnPairLayer pairs;
    int8_t *scratch;
    CtnReach down, across;
} Layer;

/* The taps that reach a place; (y, x) is what the first of them reads. */
static void gather(const Layer *l, int32_t y, int32_t x, int8_t *to) {
    const CtnConvTranspose2dS8Args *a = l->a;
    for (int32_t i = 0; i < l->down.count; i++, y -= l->down.input_step) {
        int32_t at = x;
        for (int32_t k = 0; k < l->across.count; k++, at -= l->across.input_step, to += a->in_c)
            if (y >= 0 && y < a->in_h && at >= 0 && at < a->in_w)
                ctn_vector_copy(to, l->image + (y * a->in_w + at) * a->in_c, a->in_c);
            else
                ctn_vector_fill(to, a->input_zero_point, a->in_c);
    }
}

/* The places of one output row, `out` being the first of them. */
static void row_of_places(Layer *l, int32_t y, int8_t *out) {
    const CtnConvTranspose2dS8Args *a = l->a;
    int32_t x = l->across.input, places = l->across.places;
    int32_t one = l->down.count == 1 && l->across.count == 1 && a->in_c % 16 == 0;
    if (one && y >= 0 && y < a->in_h && x >= 0 && x + places <= a->in_w) {
        ctn_pair_row(&l->pairs, l->image + (y * a->in_w + x) * a->in_c, 0, out, places);
        return;
    }
    int8_t *second = l->scratch + l->pairs.window + 16;
    for (int32_t i = 0; i < places; i += 2, out += 2 * l->pairs.pitch) {
        int32_t two = i + 1 < places;
        gather(l, y, x + i, l->scratch);
        if (two)
            gather(l, y, x + i + 1, second);
        ctn_pair_run(&l->pairs, l->scratch, two ? second : l->scratch, 0, out,
                     out + (two ? l->pairs.pitch : 0), 1);
    }
}

static void image_of_places(Layer *l, const int8_t *weights, int8_t *output) {
    const CtnConvTranspose2dS8Args *a = l->a;
    for (int32_t row = 0; row < a->stride_h; row++) {
        l->down = ctn_reach(row, a->kernel_h, a->stride_h, a->dilation_h, a->pad_top, a->out_h);
        for (int32_t column = 0; column < a->stride_w; column++) {
            l->across =
                ctn_reach(column, a->kernel_w, a->stride_w, a->dilation_w, a->pad_left, a->out_w);
            int32_t bytes = l->down.count * l->across.count * a->in_c;
            ctn_pair_windows(&l->pairs, 1, bytes > 0 ? bytes : 1, a->in_c, a->stride_w * a->out_c);
            weights = ctn_pair_weights(&l->pairs, weights);
            int8_t *out = output + (row * a->out_w + column) * a->out_c;
            for (int32_t i = 0; i < l->down.places; i++)
                row_of_places(l, l->down.input + i, out + i * a->stride_h * a->out_w * a->out_c);
        }
    }
}

void ctn_conv_transpose2d_s8_mve(const CtnConvTranspose2dS8Args *a, const CtnFrame *frame) {
    Layer l = {.a = a,
               .image = ctn_at(frame, a->input),
               .scratch = ctn_at(frame, a->scratch),
               .pairs = {.kind = &ctn_pair_s8_mve, .channels = a->out_c}};
    int8_t *output = ctn_at(frame, a->output);
    ctn_pair_end(&l.pairs, a->output_zero_point, a->clamp_min, a->clamp_max,
                 ctn_at(frame, a->table), 1);
    for (int32_t b = 0; b < a->batches; b++, l.image += a->in_h * a->in_w * a->in_c)
        image_of_places(&l, ctn_at(frame, a->weights), output + b * a->out_h * a->out_w * a->out_c);
}
#endif
