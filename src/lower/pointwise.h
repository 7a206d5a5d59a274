/* Kernel calls of pointwise operators with two varying operands, or one varying operand and a
 * constant that differs from element to element. Shared by the operator families. */
#ifndef CORTEN_POINTWISE_H
#define CORTEN_POINTWISE_H

#include "lower/lower.h"

void lower_add(C *c, Graph *g, Node *n);  /* add, sub, rsub, with alpha */
void lower_lerp(C *c, Graph *g, Node *n); /* with a weight that is a number: a sum too */
void lower_mul(C *c, Graph *g, Node *n);
void lower_div(C *c, Graph *g, Node *n);
void lower_maximum(C *c, Graph *g, Node *n);
void lower_minimum(C *c, Graph *g, Node *n);
void lower_compare(C *c, Graph *g, Node *n);
void lower_logical(C *c, Graph *g, Node *n);
void lower_bitwise(C *c, Graph *g, Node *n);
void lower_where(C *c, Graph *g, Node *n);
void lower_masked_fill(C *c, Graph *g, Node *n);
void lower_prelu(C *c, Graph *g, Node *n);
/* neg, abs, clamp, conversions and the like of integers too wide for a table. */
void lower_integer_unary(C *c, Graph *g, Node *n);
/* Any two-operand function by a table of 256 bytes for every value that the second operand can
 * have: exact, but 64 KB of flash when both operands vary. */
void lower_pointwise2(C *c, Graph *g, Node *n);

#endif
