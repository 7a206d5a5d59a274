/* For the files of this folder: each defines `const Op ops_<family>[]` and its count through
 * OPS_FAMILY at its end. The build makes the list of families from the file names. */
#ifndef CORTEN_OPS_H
#define CORTEN_OPS_H

#include <math.h>

#include "graph/graph.h"
#include "lower/lower.h"

#define OPS_FAMILY(family, rows)                                                                   \
    const Op *const ops_##family##_rows = (rows);                                                  \
    const int ops_##family##_count = (int)COUNT_OF(rows)

/* Shape functions that several families share. */
void shape_same(C *c, Node *n);      /* output 0 = operand 0 */
void shape_broadcast(C *c, Node *n); /* over all tensor operands, dtypes promoted as torch does */
void node_set_type(Node *n, int k, DType dtype, int rank, const int64_t *dim);

#endif
