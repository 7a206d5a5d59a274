/* What the writers of an ExecuTorch program's instructions share. */
#ifndef CORTEN_PTE_H
#define CORTEN_PTE_H

#include "emit/emit.h"
#include "emit/layer.h"
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
/* Tensors: in memory of their own, or in that of another. */
int pte_tensor(Pte *t, PteScalar scalar, const PteShape *shape);
int pte_view(Pte *t, int tensor, const PteShape *shape);
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
/* The value with its dims in another order of memory, by a transpose if it does not lie so already;
 * -1: the dialect has none. */
int pte_value_in(Pte *t, const Value *v, const int8_t *order);
/* A value of rank 3 or 4 as an image, channels last; -1: it does not lie so. */
int pte_image(Pte *t, const Value *v);
/* Looks every number up. */
void pte_lookup(Pte *t, int from, const int8_t entry[256], int to);
/* What n's own call writes, as n's first output or as an image; pte_finish adds what is fused
 * into its store. */
int pte_result(Pte *t, const Node *n);
int pte_result_image(Pte *t, const Node *n);
void pte_finish(Pte *t, const Node *n, int tensor);

/* Writes n, whose operands are written; false: the dialect has no form of it. */
bool pte_node(Pte *t, Node *n);

#endif
