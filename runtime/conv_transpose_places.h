/* Transposed convolution on the scalar levels. Output places whose row and column leave the same
 * remainders by the strides are reached by the same taps: row by row they are a convolution of
 * their own, whose taps go backwards and whose results lie a stride apart.
 *
 * weights: for each pair of remainders that has places, rows first, those of the convolution; where
 * no tap reaches, those of one tap of zeros, which lies outside of the image. */
#ifndef CTN_CONV_TRANSPOSE_PLACES_H
#define CTN_CONV_TRANSPOSE_PLACES_H

#include "conv_places.h"
#include "reach.h"

typedef const void *CtnConvRun(const CtnConv2dS8Args *a, const CtnConvPlaces *places);

/* All places of one pair of remainders in one image. */
static inline const void *ctn_transposed_places(const CtnConvTranspose2dS8Args *a,
                                                const CtnReach *down, const CtnReach *across,
                                                CtnConvPlaces places, CtnConvRun *run) {
    CtnConv2dS8Args row;
    int32_t row_bytes = a->out_w * a->out_c;
    const void *end = places.weights;
    row = *(const CtnConv2dS8Args *)(const void *)a; /* the fields are the same */
    row.batches = row.out_h = row.stride_h = row.stride_w = 1;
    row.out_w = across->places;
    row.pad_left = -across->input;
    row.kernel_h = down->count;
    row.kernel_w = across->count;
    row.dilation_h = -down->input_step;
    row.dilation_w = -across->input_step;
    if (row.kernel_h * row.kernel_w == 0) {
        row.kernel_h = row.kernel_w = 1;
        row.pad_left = a->in_w + across->places; /* so that all places lie left of the image */
    }
    places.pitch = a->stride_w * a->out_c;
    places.output += down->first * row_bytes + across->first * a->out_c;
    for (int32_t i = 0; i < down->places; i++, places.output += a->stride_h * row_bytes) {
        row.pad_top = -(down->input + i);
        end = run(&row, &places);
    }
    return end;
}

static inline void ctn_conv_transpose(const CtnConvTranspose2dS8Args *a, const CtnFrame *frame,
                                      CtnConvRun *run) {
    CtnConvPlaces places = ctn_conv_places((const CtnConv2dS8Args *)(const void *)a, frame);
    const void *weights = places.weights;
    for (int32_t b = 0; b < a->batches; b++) {
        places.weights = weights;
        for (int32_t row = 0; row < a->stride_h; row++) {
            CtnReach down =
                ctn_reach(row, a->kernel_h, a->stride_h, a->dilation_h, a->pad_top, a->out_h);
            for (int32_t column = 0; column < a->stride_w; column++) {
                CtnReach across = ctn_reach(column, a->kernel_w, a->stride_w, a->dilation_w,
                                            a->pad_left, a->out_w);
                if (down.places > 0 && across.places > 0)
                    places.weights = ctn_transposed_places(a, &down, &across, places, run);
            }
        }
        places.input += a->in_h * a->in_w * a->in_c;
        places.output += a->out_h * a->out_w * a->out_c;
    }
}

#endif
