/* What a convolution of the scalar levels works on, apart from its shape: the kernels of
 * convolutions and of transposed ones share their loops. */
#ifndef CTN_CONV_PLACES_H
#define CTN_CONV_PLACES_H

#include "residual_s8.h"

typedef struct {
    const int8_t *input;
    int8_t *output;
    int32_t pitch; /* from one output position to the next */
    const void *weights;
    const int8_t *table;
    void *scratch;
    CtnResidual *residual; /* a sum in the store, or NULL; of one group */
} CtnConvPlaces;

static inline CtnConvPlaces ctn_conv_places(const CtnConv2dS8Args *a, const CtnFrame *frame) {
    CtnConvPlaces p = {.input = ctn_at(frame, a->input),
                       .output = ctn_at(frame, a->output),
                       .pitch = a->out_c,
                       .weights = ctn_at(frame, a->weights),
                       .table = ctn_at(frame, a->table),
                       .scratch = ctn_at(frame, a->scratch)};
    return p;
}

#endif
