/* A layer by the pair blocks (pair_s8_mve.h): the block is chosen once, channels beyond whole
 * groups are taken care of. */
#ifndef CTN_PAIR_LAYER_MVE_H
#define CTN_PAIR_LAYER_MVE_H

#include "pair_s8_mve.h"

typedef struct {
    const CtnPairKind *kind;
    CtnPair pair; /* as the whole groups need it */
    CtnPairBlock *run;
    const int8_t *rest;      /* the group of the channels beyond whole ones */
    int32_t window, group;   /* bytes of a window with its padding; of a packed group */
    int32_t channels, pitch; /* of the output; from pixel to pixel */
} CtnPairLayer;

/* Windows of `runs` runs of `bytes` bytes; pixels lie in_pitch and out_pitch bytes apart. */
static inline void ctn_pair_windows(CtnPairLayer *l, int32_t runs, int32_t bytes, int32_t in_pitch,
                                    int32_t out_pitch) {
    CtnPair *p = &l->pair;
    int32_t chunks = (bytes + 15) / 16;
    ctn_pair_chunks(p, chunks);
    p->segments = runs;
    l->window = runs * chunks * 16;
    l->group = l->window * l->kind->per_byte + CTN_PAIR_PARAMETERS;
    l->pitch = out_pitch;
    p->in_step = 2 * in_pitch;
    p->out_step = 2 * out_pitch - (l->channels & ~3);
}

/* Weights of all channels; returns what follows them. */
static inline const int8_t *ctn_pair_weights(CtnPairLayer *l, const int8_t *weights) {
    l->pair.weights = weights;
    l->pair.weights_end = l->rest = weights + l->channels / 4 * l->group;
    return weights + (l->channels + 3) / 4 * l->group;
}

static inline void ctn_pair_end(CtnPairLayer *l, int32_t zero_point, int32_t min, int32_t max,
                                const int8_t *table, int one) {
    int32_t first = table ? min : 0; /* what the table's first entry stands for */
    int relu = zero_point == -128 && min == -128 && max == 127;
    l->pair.zero_point = zero_point - first;
    l->pair.clamp_min = min - first;
    l->pair.clamp_max = max - first;
    l->pair.table = table;
    if (one)
        l->run = table ? l->kind->table_one : relu ? l->kind->relu_one : l->kind->exact_one;
    else
        l->run = table ? l->kind->table : relu ? l->kind->relu : l->kind->exact;
}

/* The channels beyond whole groups go through four bytes of their own. */
static inline void ctn_pair_rest(const CtnPairLayer *l, CtnPair p, int8_t *out0, int8_t *out1) {
    int32_t whole = l->channels & ~3;
    p.weights = l->rest;
    p.weights_end = l->rest + l->group;
    for (int32_t left = p.pairs; left > 0; left--) {
        int8_t four[2][4];
        p.pairs = 1;
        p.out0 = four[0];
        p.out1 = four[1];
        l->run(&p);
        for (int32_t c = 0; c < l->channels - whole; c++) {
            out0[whole + c] = four[0][c];
            out1[whole + c] = four[1][c];
        }
        p.in0 += p.in_step;
        p.in1 += p.in_step;
        out0 += 2 * l->pitch;
        out1 += 2 * l->pitch;
    }
}

/* `pairs` pairs from a first one; out1 may be out0. */
static inline void ctn_pair_run(CtnPairLayer *l, const int8_t *in0, const int8_t *in1, int32_t skip,
                                int8_t *out0, int8_t *out1, int32_t pairs) {
    CtnPair *p = &l->pair;
    p->in0 = in0;
    p->in1 = in1;
    p->skip = skip;
    p->out0 = out0;
    p->out1 = out1;
    p->pairs = pairs;
    if (p->weights != p->weights_end)
        l->run(p);
    if (l->channels & 3)
        ctn_pair_rest(l, *p, out0, out1);
}

/* `pixels` pixels at their pitches, the last of an odd number by itself. */
static inline void ctn_pair_row(CtnPairLayer *l, const int8_t *in, int32_t skip, int8_t *out,
                                int32_t pixels) {
    int32_t step = l->pair.in_step / 2;
    if (pixels > 1)
        ctn_pair_run(l, in, in + step, skip, out, out + l->pitch, pixels / 2);
    if (pixels & 1) {
        in += (pixels - 1) * step;
        out += (pixels - 1) * l->pitch;
        ctn_pair_run(l, in, in, skip, out, out, 1);
    }
}

#endif
