/* report.json and its text form. */
#ifndef CORTEN_REPORT_H
#define CORTEN_REPORT_H

#include "emit/emit.h"
#include "graph/graph.h"
#include "lower/lower.h"

/* Decides each archive node's fate, numeric and calls from the planned graph and what passes
 * recorded; every node exactly once. */
void report_settle(C *c, Graph *g);
/* Whether the call computes (a part of) what archive node `archive_id` stands for. */
bool call_serves(const Call *call, int archive_id);
/* report.json (contract: design section 9) into the file set. `files` lists DIR's files. */
void report_json(C *c, Graph *g, const Options *o, const double seconds[8], FileSet *out);
void report_text(C *c, const char *json, FILE *f);

#endif
