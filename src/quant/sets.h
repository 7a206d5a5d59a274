/* The sets of values that share a grid, while pass quantize makes and fills them (quantize.c,
 * parts.c). */
#ifndef CORTEN_SETS_H
#define CORTEN_SETS_H

#include "quant/quant.h"

typedef struct {
    C *c;
    Graph *g;
    const Options *o;
    int count;       /* values known here */
    int *parent;     /* union-find over value ids */
    Grid **grid;     /* by root: given grid, or NULL */
    Observed **seen; /* by root: all that its values took */
    bool *wide;      /* by root: its values get 16 bits */
    bool *parted;    /* by value: joined at an output, each piece on a grid of its own */
} Sets;

int set_root(Sets *s, int id);
/* False if both have grids already, and not the same. */
bool set_unite(Sets *s, const Value *a, const Value *b);
bool set_varies(const Sets *s, const Value *v);
/* What --precision asks for the values of a set; 16 before 8, 0: nothing. */
int set_asked_bits(Sets *s, int root);
QKind rule_of_output(const Node *n, int k);

/* Lets what n joins at an output keep its pieces' grids; false: one grid would do, or must. */
bool parts_keep(Sets *s, Node *n);
/* The same for what is joined of values that are joined alike: their pieces share grids. */
void parts_share(Sets *s, Node *n);
/* Of a value that keeps parts, once those before it have theirs. */
Grid *parts_grid(Sets *s, const Value *v);

#endif
