/* What the rows of convolutions share: their arguments, read once (convolution.c), and the ways to
 * say one convolution as another (computed.c). */
#ifndef CORTEN_CONVOLUTION_H
#define CORTEN_CONVOLUTION_H

#include "ops/ops.h"

#define AXES 3               /* depth, height, width; absent leading ones have size 1 */
#define LIST_LIMIT (1 << 30) /* strides, paddings: products with sizes below 2^32 fit int64 */

typedef struct {
    int spatial; /* spatial dims of the tensors: 1..3 */
    bool transposed, batched;
    bool weight_by_input; /* ATen's transposed rows: weight is [in_c][out_c / groups]... */
    int64_t batch, in_c, out_c, groups;
    int64_t in[AXES], out[AXES], kernel[AXES], stride[AXES], dilation[AXES];
    int64_t before[AXES], after[AXES]; /* a transposed `after` is less its output padding */
} Conv;

/* False, with a diagnostic, if the arguments do not fit together. */
bool conv_read(C *c, const Node *n, Conv *v);
/* The convolution of the stretched input with the reversed filter that a transposed one is: in
 * three dims, and where weights are computed. `lists`: how many dims the arguments of `row` have.
 */
Value *transposed_by_stretching(C *c, Graph *g, Node *n, const Conv *v, const char *row, int lists,
                                Value *x, Value *w, Value *bias);

#endif
