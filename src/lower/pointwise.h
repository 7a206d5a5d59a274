/* Kernel calls of pointwise operators with two varying operands, or one varying operand and a
 * constant that differs from element to element. Shared by the operator families. */
#ifndef CORTEN_POINTWISE_H
#define CORTEN_POINTWISE_H

#include "lower/lower.h"

/* ---- the kernels' arithmetic, for writers of other programs too ----------------------------- */

enum { SUM_S8_LEFT = 20, SUM_S16_LEFT = 15 }; /* bits that operands of a sum are shifted left by */
enum { SUM_SHIFT_MOST = 1 };                  /* a sum's shift to the left is held at this */
enum { PRELU_BITS = 16 }; /* fraction bits that the kernel gives its input: it rounds once */

typedef struct {
    double a, b;   /* of the operands shifted left, to a common scale; signed */
    double output; /* of their sum, to the result's scale */
} SumFactors;
/* Scales of the operands, negative where one is subtracted, and of the result. */
SumFactors sum_factors(double scale_a, double scale_b, double scale_out, int left_shift);
/* Those of n, which add, sub, rsub or lerp by a number lowers, and its shift. */
SumFactors sum_of(const Node *n, int *left_shift);
/* From n's product to the result's scale. */
void product_factor(const Node *n, int32_t *multiplier, int32_t *shift);

bool is_minimum(const Node *n); /* of a row that minimum or maximum lowers */
/* What minimum and maximum compare: operand v on the grid of the result, each entry rounded once;
 * false: it is there already. */
bool minmax_entries(const Value *v, const Value *out, int8_t entry[256]);

/* What a comparison, a logical or a bitwise row does; false: n is none. */
bool integer_op_find(const Node *n, CtnIntegerOp *op);
/* Scales of a comparison's operands relative to the larger one, as integers: equal grids compare
 * exactly, others to 22 bits of a step (30 for int16). 510 * 2^22 fits int32. */
void comparison_factors(const Node *n, int32_t factor[2]);
/* A branch of a choice is a number, x, and no value. */
bool choice_number(const Arg *branch, double *x);
int64_t choice_stored(const Value *out, double x); /* x as the result stores it */

/* ---- lowering ------------------------------------------------------------------------------ */

void lower_add(C *c, Graph *g, Node *n); /* add, sub, rsub with alpha; lerp with a number */
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
