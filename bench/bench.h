/* The layers that are measured, and the networks they make up. */
#ifndef CORTEN_BENCH_H
#define CORTEN_BENCH_H

#include "lower/lower.h"

typedef struct {
    const char *name;
    int kernel;
    /* height, width, channels, outputs; kernel height and width, stride, padding */
    int32_t h, w, c, n, kh, kw, stride, pad;
} Layer;

/* A call placed in two images, as plan would place it in the arena and the weights. */
typedef struct {
    Call *call;
    int64_t macs; /* or outputs */
    uint8_t *arena, *weights;
    int64_t arena_bytes, weights_bytes, scratch_bytes;
    int64_t output, output_bytes;
} Placed;

extern const Layer layer_table[];
extern const int layer_count;
int layer_find(const char *name); /* -1 */
/* The layer in the best variant of an ISA level (NULL: plain C), with random numbers. */
Placed *layer_place(C *c, const Layer *layer, const char *isa);
/* A layer of int16 with a function in its store, of so many pieces; 0: by a table. */
Placed *layer_place_mapped(C *c, const Layer *layer, const char *isa, int32_t pieces);
/* In this variant; NULL if it does not accept the layer. */
Placed *layer_place_as(C *c, const Layer *layer, const Variant *v);

typedef struct {
    const char *name;
    struct {
        const char *layer;
        int times;
    } part[24];
} Network;

extern const Network network_table[];
extern const int network_count;

#endif
