/* What the variants of kernels ask of a call before it may run: the `accepts` and `pack` functions
 * that runtime/ctn.h names in CTN_VARIANTS. */
#ifndef CORTEN_PACKING_H
#define CORTEN_PACKING_H

#include "lower/lower.h"

bool any_call(const Call *call);
void keep_constants(C *c, Graph *g, Call *call);

bool table_of_bytes(const Call *call);

#endif
