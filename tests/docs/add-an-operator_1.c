/* A formula and its row, among those of a family. */
#include "ops/ops.h"

#include "block.c"

const Op bump[] = {
#include "rest.c"
};
