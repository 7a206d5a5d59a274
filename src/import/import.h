/* A torch.export archive (.pt2) as a graph: the archive's nodes one for one, in-place writes,
 * views and strides as they stand (STAGE_IMPORTED). */
#ifndef CORTEN_IMPORT_H
#define CORTEN_IMPORT_H

#include "graph/graph.h"

/* All problems of the archive are recorded together (unknown operators with a suggestion, dynamic
 * shapes, wrong dtypes, short weights); unwinds if there were any. */
Graph *import_pt2(C *c, const char *path);
/* The same of an archive in memory; `name` stands for its path. */
Graph *import_pt2_bytes(C *c, const char *name, const void *data, size_t bytes);
/* The same for a look at it: where nodes cannot be had, their records in `archive` have the reason,
 * the others stand in the graph, and the errors stay recorded. Unwinds if the file is malformed. */
Graph *import_pt2_partly(C *c, const char *name, const void *data, size_t bytes);

/* Files, functions and the type of a model can have this name in C and C++. */
bool model_name_is_usable(C *c, const char *name);

#endif
