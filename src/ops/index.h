/* Places that index tensors name, for reads (index.c) and writes (put.c). `running`: an index is
 * read from the values of this run; else, when decomposing, it has to be a constant. */
#ifndef CORTEN_INDEX_H
#define CORTEN_INDEX_H

#include "ops/ops.h"

/* An index tensor's numbers. NULL: not constant. */
const Array *index_data(C *c, const Value *v, bool running);
/* `index` wrapped to 0..size-1; -1 and a diagnostic if it is outside. */
int64_t index_wrap(C *c, const Node *n, int64_t index, int64_t size);

/* x[i, :, j] of a node with `self` and `indices`. */
typedef struct {
    Type self, out;
    const Value *value[MAX_RANK]; /* of each dim of self; NULL: a full slice */
    int mask_dim[MAX_RANK];       /* >= 0: that dim of a mask's true places; -1: plain numbers */
    int spread_rank;              /* the indices, broadcast together */
    int64_t spread[MAX_RANK];
    int spread_at; /* the output dim where they begin */
} Indexing;

bool indexing_open(C *c, const Node *n, Indexing *x, bool running);
/* For each element of x->out, its element of self. NULL: not constant, or a diagnostic. */
int64_t *indexing_sources(C *c, const Node *n, const Indexing *x, bool running);

/* The only index among full slices; *before: how many of them stand in front of it. NULL: several.
 */
Value *only_index(const Node *n, int *before);

typedef struct {  /* x[i, :, j] as a read or write with one index, of the indexed dims as one */
    Value *self;  /* the indexed dims, as one, then the others */
    Value *index; /* of the spread */
    int64_t order[MAX_RANK]; /* self's dims, the indexed ones in front */
    int64_t dim[MAX_RANK];   /* their sizes in that order */
    int spread_rank, spread_at;
    Type out;
} Merged;

/* Several indices of which some depend on data. False: a diagnostic is recorded. */
bool indexing_merge(C *c, Graph *g, Node *n, Merged *m);
/* Permutes what m->self read at m->index has (the spread, then the rest) to m->out; back: from
 * m->out to that. */
void merged_order(const Merged *m, bool back, int64_t order[MAX_RANK]);

int indexed_dim(C *c, const Node *n); /* argument `dim` of a node with `self` */
/* Element numbers of a tensor of `type` for each element of `at`, dim `dim` replaced by the number
 * at[i] itself (whole rows: at is a vector) or by the one at the same place (at has all dims). */
int64_t *numbers_along(C *c, const Node *n, const Type *type, int dim, const Array *at,
                       const Type *over, bool vector);

#endif
