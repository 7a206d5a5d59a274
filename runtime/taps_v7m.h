/* The taps of a depthwise convolution on ARMv7-M without DSP: words are a0 + a1 * 2^23, and SMLAL
 * adds to the sums of two positions at once as in dot_v7m.h; at most CTN_TAPS_MAX taps keep the
 * lower sum within 23 bits. The store is that of dot_v7m.h as well.
 *
 * The stream of a channel: a byte for each tap; int32 twice the bias, the input's zero point folded
 * in; int32 multiplier; a byte n - 1. */
#ifndef CTN_TAPS_V7M_H
#define CTN_TAPS_V7M_H

#include "taps.h"

enum {
    CTN_TAPS_MAX = 255,
    CTN_TAPS_UNROLL = 16,
    CTN_TAPS_CHANNEL = 9 /* bytes of a channel besides its taps */
};

/* All words, in the order of the loop's stack. */
typedef struct {
    uint32_t entry, passes; /* of the unrolled loop, behind the first tap */
    uint32_t tail;          /* CtnTail of short_store.h */
    int32_t zero;           /* 2 * output zero point + 1 */
    const int8_t *table;    /* at the entry of result 0 */
    const int8_t *weights;
    CtnTapsBlock block;
} CtnTapsV7m;

/* The outputs of a block; there is at least one line. */
void ctn_taps_4_v7m(const CtnTapsV7m *taps);
void ctn_taps_expand_v7m(const int8_t *from, const int32_t *offset, uint32_t *to,
                         const CtnTapsRows *rows);

#endif
