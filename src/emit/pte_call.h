/* Calls of the dialect that several writers make: convolutions, which are layers, sums and other
 * things, and sums of two. */
#ifndef CORTEN_PTE_CALL_H
#define CORTEN_PTE_CALL_H

#include "emit/pte.h"

bool pte_isa_is(const Pte *t, const char *isa);
int pte_int32s(Pte *t, int64_t count, const int32_t *data);
int pte_pair(Pte *t, int64_t a, int64_t b);

typedef struct {
    LayerWindow k;
    int64_t batch, pad[2]; /* at the top and on the left, and as much on the other side */
} PteConv;

typedef struct { /* of a convolution's call, besides its window */
    int image, weights, out;
    const int8_t *data; /* of weights that are no tensor yet */
    const int32_t *bias, *multiplier, *shift;
    int32_t in_zero, out_zero, min, max;
    bool depthwise;
} PteConvCall;

void pte_call_conv(Pte *t, const PteConv *c, const PteConvCall *a);

/* Does a window with as much padding on both sides give this output? */
bool pte_even(const LayerWindow *k);
/* The image with its padding, so that windows end where it does; k then has none. */
int pte_padded(Pte *t, int image, int64_t batch, int32_t value, LayerWindow *k);

typedef struct { /* a sum's operand, and what brings it to the common scale */
    int tensor;
    int32_t zero;
    double factor;
} PteAddend;
/* Both on a common scale in 32 bits, then by `factor` on the output's. */
void pte_call_add(Pte *t, PteAddend a, PteAddend b, double factor, int32_t out_zero,
                  const int32_t clamp[2], int out);

#endif
