/* Layer, RMS, group and instance norms as TOSA's 32 bits allow them: what the writer of a program
 * and the simulator of its numbers have in common. The kernels' 64-bit statistics have no form
 * there; here distances to the nearest integer of the mean are exact, so are the sum of their
 * squares and that of them, which takes the rest of the mean away; 1 / sqrt comes from a table and
 * two Newton steps. What is lost is below 2^-14 of a normalized element where the elements deviate
 * by half a step or more. */
#ifndef CORTEN_SHORT_NORM_H
#define CORTEN_SHORT_NORM_H

#include "lower/lower.h"
#include "ops/ops.h"

/* A distance is below 255.5, a root at most 2^ROOT * 2: their product is below 2^58 * 255.5 / 256
 * times 2^(FRACTION - 20), and fits 32 bits behind PRODUCT. */
enum {
    SHORT_NORM_FRACTION = 20, /* bits of a distance */
    SHORT_NORM_ROOT = 29,     /* of a root */
    SHORT_NORM_PRODUCT = 27,  /* that a product of both loses */
    SHORT_NORM_GAMMA = 10,    /* that a product with gamma loses */
    SHORT_NORM_ROOTS = 256    /* entries of the table */
};

typedef struct {
    int spare;       /* bits of fraction of a sum of squares */
    int32_t epsilon; /* in that sum */
    double scale;    /* what a normalized number is worth */
} ShortNorm;

/* From now on the core row n computes so where it can. */
void short_norm_make(Node *n);
/* Why n's statistics need more than 32 bits; NULL: they do not. */
const char *short_norm_refusal(C *c, const Node *n);
ShortNorm short_norm_of(const Node *n);
/* 1.5 and entry / 128 are 1 / sqrt(u), u = (i + 32) / 256 for entry i. */
void short_norm_roots(int8_t entry[SHORT_NORM_ROOTS]);

/* In place of a CPU's: of layer_norm_s8's arguments `epsilon_low` is ShortNorm's epsilon and
 * `epsilon_high` its spare bits. */
extern const Variant short_norm_variant;

#endif
