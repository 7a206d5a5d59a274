/* What the writers of an ExecuTorch program's instructions share. */
#ifndef CORTEN_PTE_H
#define CORTEN_PTE_H

#include "emit/emit.h"
#include "emit/layer.h"
#include "emit/loops.h"
#include "emit/pte_file.h"

typedef struct { /* a piece of the planned memory; several tensors can lie in it */
    int64_t bytes, offset;
    int first, last; /* moments: inputs come at 0, call k happens at k + 1 */
    int over;        /* the storage whose place it may take, for it dies there; -1: none */
} PteStorage;

typedef struct {
    C *c;
    Graph *g;
    const char *isa;
    const Node *node; /* the one that is being written */
    bool clamps;      /* does its operator of the dialect clamp what it stores? */
    PteProgram p;
    PteStorage *storage;
    int storage_count, storage_capacity;
    int *storage_of;   /* by program value: -1: none */
    int *value_of;     /* by graph value: its tensor; -1: none yet */
    int storage_slots; /* room in storage_of */
} Pte;

typedef struct { /* logical sizes, and the dims in the order of memory */
    int rank;
    int64_t size[MAX_RANK];
    int8_t order[MAX_RANK];
} PteShape;

/* Arguments of calls; each returns the program's value. */
int pte_none(Pte *t);
int pte_int(Pte *t, int64_t number);
int pte_bool(Pte *t, bool truth);
int pte_double(Pte *t, double real);
int pte_ints(Pte *t, int count, const int64_t *number);
int pte_constant(Pte *t, PteScalar scalar, int rank, const int64_t *size, const void *data);
/* Tensors: in memory of their own, or in that of another from a byte on. */
int pte_tensor(Pte *t, PteScalar scalar, const PteShape *shape);
int pte_view(Pte *t, int tensor, const PteShape *shape);
int pte_view_from(Pte *t, int tensor, int64_t start, const PteShape *shape);
int pte_flat(Pte *t, int tensor, int rank, const int64_t *size); /* its memory, as other dims */
int pte_scratch(Pte *t, int64_t bytes);

PteShape pte_plain(int rank, const int64_t *size);                    /* in the order of its dims */
PteShape pte_image_shape(int64_t n, int64_t c, int64_t h, int64_t w); /* channels last */
PteShape pte_shape(const Value *v);                                   /* as it lies */

/* Appends a call of cortex_m::<name>.out; the last argument is what it writes. */
void pte_call(Pte *t, const char *name, int count, const int *arg);
/* The same, whose output may take the place of `input` if that dies here. */
void pte_call_over(Pte *t, const char *name, int count, const int *arg, int input);

int pte_value(Pte *t, const Value *v); /* made on first use */
void pte_set(Pte *t, const Value *v, int tensor);
/* The value with its dims in another order of memory, by transposes if it does not lie so already;
 * -1: the dialect moves no floats. */
int pte_value_in(Pte *t, const Value *v, const int8_t *order);
/* A value of rank 3 or 4 as an image, channels last; -1: it is none. */
int pte_image(Pte *t, const Value *v);
/* Looks every number up. */
void pte_lookup(Pte *t, int from, const int8_t entry[256], int to);
int pte_looked_up(Pte *t, int from, const int8_t entry[256]);
/* int8 memory of dims `size`, permuted: of dims size[perm[0]], size[perm[1]] ... */
int pte_permute(Pte *t, int tensor, int rank, const int64_t *size, const int32_t *perm);

/* int8 of a type whose dims lie in an order, in another one. */
int pte_turned(Pte *t, int tensor, const Type *type, const int8_t *from, const int8_t *to);

/* What n's own call writes: its first output, whose dims lie in `order`, or an image. */
int pte_result(Pte *t, const Node *n, const int8_t *order);
int pte_result_image(Pte *t, const Node *n);
/* Brings that to n's result: in its order, with the clamp that the call has not and the table that
 * are fused into its store. */
void pte_finish(Pte *t, const Node *n, const int8_t *order, int tensor);
void pte_finish_image(Pte *t, const Node *n, int image);

/* ---- pieces of what the dialect has no operator for ---------------------------------------- */

/* Rows of `depth` numbers times constant weights [columns][depth], each column requantized. */
typedef struct {
    int64_t rows, depth, columns;
    const int8_t *weights;
    const int32_t *bias, *multiplier, *shift; /* a number for each column */
    int32_t in_zero, out_zero, min, max;
} PteRows;
void pte_rows(Pte *t, const PteRows *r, int input, int output);
/* Does the store of n clamp? */
bool pte_store_clamps(const Node *n);
enum { PTE_WEIGHTS_MOST = 1 << 20 }; /* bytes of weights that only choose or add */

/* Places of the middle of [outer][count][inner]; an error where that takes more weights. */
int pte_chosen(Pte *t, int tensor, int64_t outer, int64_t count, int64_t inner,
               const int64_t *place, int64_t wanted);
/* A side's places of the middle of [outer][count][inner]; a view where they are one piece. */
int pte_cut(Pte *t, int tensor, int64_t outer, int64_t inner, const Side *side);
/* [outer][1][inner] `times` times: [outer][times][inner]. */
int pte_repeated(Pte *t, int tensor, int64_t outer, int64_t inner, int64_t times);
/* v, broadcast to dims, in an order of theirs. */
int pte_spread(Pte *t, const Value *v, int rank, const int64_t *dim, const int8_t *order);
/* -1 - q for each q. */
int pte_opposite(Pte *t, int tensor);

/* ---- writers: false: the dialect has no form of the node ----------------------------------- */

bool pte_conv(Pte *t, Node *n);
bool pte_conv_transpose(Pte *t, Node *n);
bool pte_linear(Pte *t, Node *n);
bool pte_matmul(Pte *t, Node *n);
bool pte_adaptive_pool(Pte *t, Node *n);
bool pte_avg_pool(Pte *t, Node *n);
bool pte_max_pool(Pte *t, Node *n);
bool pte_reduce_sum(Pte *t, Node *n);
bool pte_reduce_max(Pte *t, Node *n);
bool pte_sum(Pte *t, Node *n);
bool pte_mul(Pte *t, Node *n);
bool pte_div(Pte *t, Node *n);
bool pte_extreme(Pte *t, Node *n);
bool pte_table(Pte *t, Node *n);
bool pte_prelu(Pte *t, Node *n);
bool pte_softmax(Pte *t, Node *n);
bool pte_quantize(Pte *t, Node *n);
bool pte_dequantize(Pte *t, Node *n);
bool pte_requantize(Pte *t, Node *n);
bool pte_relayout(Pte *t, Node *n);
bool pte_cat(Pte *t, Node *n);
bool pte_movement(Pte *t, Node *n);

/* Writes n, whose operands are written; false: the dialect has no form of it. */
bool pte_node(Pte *t, Node *n);

#endif
