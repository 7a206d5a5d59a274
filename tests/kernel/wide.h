/* Kernels once more, in 128-bit or double arithmetic and with the plainest loops, written from
 * the descriptions in ctn.h and not from the kernels. */
#ifndef CORTEN_KERNEL_WIDE_H
#define CORTEN_KERNEL_WIDE_H

#include "ctn.h"

#include <stdbool.h>

/* Layer norms and kernels on float32 have none: fixtures hold those to PyTorch's numbers. */
bool wide_knows(int id);
/* Writes the output that kernel `id` must give. */
void wide_run(int id, const void *args, const CtnFrame *frame);

#endif
