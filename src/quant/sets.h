/* The sets of values that share a grid, while pass quantize makes and fills them (quantize.c,
 * parts.c). */
#ifndef CORTEN_SETS_H
#define CORTEN_SETS_H

#include "quant/quant.h"

typedef struct {
    C *c;
    Graph *g;
    const Options *o;
    int count;           /* values known here */
    int *parent;         /* union-find over value ids */
    Grid **grid;         /* by root: given grid, or NULL */
    Observed **seen;     /* by root: all that its values took */
    bool *wide;          /* by root: its values get 16 bits */
    const char **demand; /* by root: why they need them, NULL: they do not */
    bool *parted;        /* by value: joined at an output, each piece on a grid of its own */
    int *followed;       /* by value: how far demands have been followed from it (demands.c) */
} Sets;

int set_root(Sets *s, int id);
/* False if both have grids already, and not the same. */
bool set_unite(Sets *s, const Value *a, const Value *b);
/* The set's range is to hold these numbers too. */
void set_see(Sets *s, int root, const Observed *o);
bool set_varies(const Sets *s, const Value *v);
/* What --precision asks for the values of a set; 16 before 8, 0: nothing. */
int set_asked_bits(Sets *s, int root);
QKind rule_of_output(const Node *n, int k);
QKind rule_of_input(const Node *n, int arg);
/* After values were made: each is a set of its own. */
void sets_grow(Sets *s);
/* n's output k gets a grid of its own; what stood for it is requantized. Gives the former. */
Value *requantize_behind(Sets *s, Node *n, int k);
/* Does n write several values into one, each where it belongs? */
bool joins_values(const Node *n);
/* The only node that reads any of the set's values, but for those that hand them on within the set;
 * NULL if there are others, or none, or if a value is an output of the graph. */
const Node *set_only_reader(Sets *s, int root);
/* ... if that is a table, so that the values need to be exact only where it tells. */
const Node *set_only_table(Sets *s, int root);
/* The bits with which the table (NULL: other readers) sees v. */
int set_table_bits(const Sets *s, const Value *v, const Node *table);
double table_at(void *table, double x);
/* y = a x with a > 0: the table is the identity if y has x's grid, scaled. */
bool is_scaling(const Node *table, double *factor);

/* 16 bits have room for numbers that the samples did not show. */
#define WIDE_ROOM 1.25
/* Could --precision ask for 16 bits for all values of the set? */
bool set_is_widenable(Sets *s, int root);
/* v's set shall have 16 bits, unless something stands against it. */
void width_demand(Sets *s, const Value *v, const char *reason);
void widths_choose(Sets *s);
/* Readers get 16 bits where their kernels take them, else 8; and 16 from 8 likewise. Once all
 * values have their grids. */
void widths_match(Sets *s);

/* Is what n joins a state whose parts have unlike ranges? They keep grids of their own then. */
bool state_joined(Sets *s, const Node *n);
/* Demands 16 bits where 8 would lose what matters (demands.c) ... */
void demands_find(Sets *s);
/* ... and for lanes of unlike ranges, of which 8 would leave some too little (lanes.c). */
void lanes_demand(Sets *s);
/* Demands 16 bits for the states of the model that need them. */
void states_demand(Sets *s);
/* The recurrent layer whose state (Q_STATE) is in the set; NULL: none. */
const Node *state_maker(Sets *s, int root);
/* What a layer's state is read from when the model gets it from outside has the grid on which the
 * layer leaves it. Last of all rules, so that the sets are known that must have 16 bits. */
void layer_states_unite(Sets *s);
/* The grid of such a set; NULL if it holds no layer's state. */
Grid *layer_state_grid(Sets *s, int root);

/* Does the set hold scores of a softmax over long rows, or what they are made of? It lives by the
 * largest: clipping, which makes the mean error smaller, would make their shares wrong. */
bool holds_scores(Sets *s, int root);
/* Their range, with room for rows beyond those seen. */
void range_of_scores(const Value *v, const Observed *seen, double *low, double *high);
/* Scores with a bias, alone: the range is that of both, and both have been rounded before. */
bool holds_biased_scores(Sets *s, int root);
/* What such a softmax gives: no more than 1, and mostly too small for 8 bits of that. */
bool holds_shares(const Sets *s, int root);

/* Lets what n joins at an output keep its pieces' grids; false: one grid would do, or must. */
bool parts_keep(Sets *s, Node *n);
/* The same for what is joined of values that are joined alike: their pieces share grids. */
void parts_share(Sets *s, Node *n);
/* Of a value that keeps parts, once those before it have theirs. */
Grid *parts_grid(Sets *s, const Value *v);

#endif
