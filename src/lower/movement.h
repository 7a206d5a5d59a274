/* The picture that a data movement row paints of its input (movement.c), shared with the choice of
 * layouts. */
#ifndef CORTEN_MOVEMENT_H
#define CORTEN_MOVEMENT_H

#include "lower/lower.h"

enum { MAX_PIECES = 4 };

typedef struct {           /* one affine loop inside a logical dim */
    int64_t count, stride; /* stride: input elements in memory */
    int64_t step;          /* logical indices of the output dim per iteration */
} Piece;

typedef struct {
    const int32_t *number; /* per output element in logical order: its input element in memory */
    bool has_fill, boxed;  /* some elements are constants; the others form the box start..stop */
    double fill_value;
    int64_t start[MAX_RANK], stop[MAX_RANK];
    bool separable; /* number = base + sum over dims of offset[d][index - start] */
    int64_t base;
    int32_t *offset[MAX_RANK];
    int piece_count[MAX_RANK]; /* -1: not affine at any nesting; 0: one element */
    Piece piece[MAX_RANK][MAX_PIECES];
} Movement;

/* Do numbers move from one to the other as they are? Else a table brings them to the other grid. */
bool movement_keeps_grid(const Value *from, const Value *to);
Movement movement_find(C *c, Graph *g, Node *n, int k);
/* The physical order of output k in which the movement is cheapest: an alias if there is one. */
void movement_order(C *c, Graph *g, Node *n, int k, int8_t order[MAX_RANK]);

/* Can the cat that alone reads n's output move n's operand itself, by one affine copy? */
bool movement_joins(C *c, Graph *g, Node *n);

#endif
