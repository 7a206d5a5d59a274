/* The inner loop of MVE convolutions and matrix products: pairs of pixels times groups of four
 * output channels. An operand is `segments` runs of 16 * chunks bytes; what lies behind a shorter
 * run meets zero weights. */
#ifndef CTN_PAIR_S8_MVE_H
#define CTN_PAIR_S8_MVE_H

#include <stdint.h>

enum {
    CTN_PAIR_CHUNK = 56,      /* bytes of code for one chunk */
    CTN_PAIR_PASS = 6,        /* chunks of one pass of the loop */
    CTN_PAIR_PARAMETERS = 36, /* bytes behind the weights of a group */
};

/* Weights of a group: per segment and chunk 16 bytes of each of its four channels; then int32 [4]
 * each of bias and multiplier, and int8 [4] shift. Bias has -zero_point * (sum of weights) in it;
 * all shifts are -1 or less. out1 - out0 is below 2^16. The order of the fields is that of the
 * assembly. */
typedef struct {
    const int8_t *in0, *in1;
    int8_t *out0, *out1;
    const int8_t *weights, *weights_end;
    int32_t segments, skip; /* skip: from the end of a run to the start of the next */
    int32_t first_passes, first_code, next_passes, next_code;
    int32_t zero_point;
    int32_t in_step; /* from one pair to the next */
    int32_t out_step;
    int32_t pairs;
    int32_t clamp_min, clamp_max;
    const int8_t *table;
    int32_t reserved;
} CtnPair;

/* The channels beyond fours of a layer may be stored without the padding of a group: int32 bias of
 * each, int32 multiplier, int8 shift, then each one's runs. Bytes of `channels` such channels. */
static inline int32_t ctn_pair_folded(int32_t channels, int32_t window) {
    return channels * (9 + window);
}

/* Sets the four fields that say how often the loop over chunks runs and where it is entered: the
 * first chunk of a group stands before the loop. */
static inline void ctn_pair_chunks(CtnPair *p, int32_t chunks) {
    int32_t rest = chunks - 1;
    p->first_passes = rest > 0 ? (rest - 1) / CTN_PAIR_PASS + 1 : 1;
    p->first_code = rest > 0 ? ((rest - 1) % CTN_PAIR_PASS + 1) * CTN_PAIR_CHUNK : 0;
    p->next_passes = (chunks - 1) / CTN_PAIR_PASS + 1;
    p->next_code = ((chunks - 1) % CTN_PAIR_PASS + 1) * CTN_PAIR_CHUNK;
}

static inline int32_t ctn_pair_chunk_count(const CtnPair *p) {
    return (p->next_passes - 1) * CTN_PAIR_PASS + p->next_code / CTN_PAIR_CHUNK;
}

typedef void CtnPairBlock(const CtnPair *p);

/* The blocks for one kind of weights. Those named "one" want windows of one run. */
typedef struct {
    int32_t per_byte; /* bytes of a group's weights for each byte of a window */
    /* Any clamp within int8. */
    CtnPairBlock *exact, *exact_one;
    /* zero_point and clamp_min are -128, clamp_max is 127. */
    CtnPairBlock *relu, *relu_one;
    /* The table is indexed by sum + zero_point in 0..clamp_max: clamp_min is taken off all three.
     */
    CtnPairBlock *table, *table_one;
} CtnPairKind;

extern const CtnPairKind ctn_pair_s8_mve;

#endif
