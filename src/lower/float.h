/* Nodes that stay in float32 on the chip. */
#ifndef CORTEN_FLOAT_FORM_H
#define CORTEN_FLOAT_FORM_H

#include "lower/lower.h"

/* Can n be computed in float32? */
bool node_has_float_form(const Node *n);
/* How a row's operator runs in float32: "kernel", "program", "movement"; NULL: it does not. */
const char *op_float_form(const Op *op);
/* The calls of a node that stays float. */
void lower_float(C *c, Graph *g, Node *n);
int32_t float_bits(double x); /* of the nearest float32, as kernels' arguments carry it */
/* An operand of float32 numbers in logical order, such as a bias: constant, computed or absent. */
void call_floats(C *c, Call *call, uint32_t *field, const char *what, Value *v);

/* The row's pointwise function as a program (CtnFloatOp). False: the row has none. */
bool program_exists(const Op *op);
void lower_program(C *c, Graph *g, Node *n);

/* Notes that n must be float, because of what was recorded since `mark`, which is withdrawn; false
 * if that is not allowed, would not help, or has been tried: the errors then stay. */
bool float_wanted(C *c, Graph *g, const Options *o, const Node *n, Diag *mark);

#endif
