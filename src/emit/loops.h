/* A data movement (lower/movement.h) as loops over the input's memory, for the writers of other
 * programs than C: what is a permutation, a box, a border or a choice of places in each dim. */
#ifndef CORTEN_LOOPS_H
#define CORTEN_LOOPS_H

#include "lower/movement.h"

enum { MAX_LOOPS = MAX_RANK * MAX_PIECES };

typedef struct { /* steps of `in` elements of the input */
    int64_t count, in;
} Loop;

/* The movement as loops over the output's memory, outermost first; -1: it is not affine. */
int loops_of(const Movement *m, const Value *out, Loop loop[MAX_LOOPS]);
/* From an order of memory to another one. */
int loops_between_orders(const Type *type, const int8_t *from, const int8_t *to,
                         Loop loop[MAX_RANK]);
/* Neighbours that run on as one. NPUs want dims to be small, so TOSA programs leave them as they
 * are.
 */
int loops_merged(Loop *loop, int count);
/* Do they take each of the input's elements once? Then its memory is `size`, of which loop k runs
 * along dim perm[k]. */
bool loops_permute(const Loop *loop, int count, int64_t elements, int64_t size[MAX_RANK],
                   int32_t perm[MAX_RANK]);

typedef struct { /* a dim of the input's memory, or a factor of one: `size` of its `count` places */
    int64_t count, stride, start, size;
} Side;

typedef struct { /* what loops take: a box of the sides, then `loop` over that */
    int side_count, loop_count;
    Side side[MAX_RANK + 1];
    Loop loop[MAX_RANK];
} Box;

/* Loops from element `base` on over a box of x's memory, each element once. */
bool loops_box(const Value *x, int64_t base, const Loop *loop, int count, Box *box);

/* Is all that the movement does a border around x? Then how wide it is before and behind each of
 * y's dims, in the order of memory. */
bool movement_pads(const Movement *m, const Value *x, const Value *y, int64_t side[2 * MAX_RANK]);
int32_t movement_fill(const Movement *m, const Value *y); /* the border's number */

/* For x and y of equal ranks: of each place along a dim of y, the place along x's, if dims do not
 * depend on one another. */
bool movement_places(C *c, const Movement *m, const Value *x, const Value *y,
                     int64_t *place[MAX_RANK]);
/* The k of places start + i / k, or 0. */
int64_t places_repeat(const int64_t *place, int64_t count);

#endif
