/* One small archive with data, its options, and what tests of commands do with them. */
#ifndef CORTEN_TESTS_EXAMPLE_H
#define CORTEN_TESTS_EXAMPLE_H

#include "flow/flow.h"

#define EXAMPLE_MODEL "pains/shared_silu_inplace.pt2"
#define EXAMPLE_DATA "pains/shared_silu_inplace.npz"

CortenOptions example_options(const char *out);
/* The folder of the compiled example, made once. */
const char *example_compiled(void);
/* A compile that must end with this code, say this, and write nothing. */
void example_refused(CortenOptions o, int code, const char *says);

#endif
