/* report.json, its text form and report.html. */
#ifndef CORTEN_REPORT_H
#define CORTEN_REPORT_H

#include "emit/emit.h"
#include "graph/graph.h"
#include "lower/memory.h"

/* Decides each archive node's fate, numeric and calls from the planned graph and what passes
 * recorded; every node exactly once. */
void report_settle(C *c, Graph *g);
/* Whether the call computes (a part of) what archive node `archive_id` stands for. */
bool call_serves(const Call *call, int archive_id);
/* Nodes that passes put at the boundary or between layouts: they stand for no work of the user's.
 */
bool report_is_plumbing(const Node *n);
/* report.json (contract: design section 9) into the file set; returns its text. `files` in it lists
 * DIR's files, those of the report included. */
const char *report_json(C *c, Graph *g, const Options *o, const double seconds[TIMERS],
                        FileSet *out);
/* What report.html shows beyond report.json (details.c), as JSON. */
const char *report_details(C *c, const Graph *g);
/* report.html into the file set, around report.json's text. */
void report_page(C *c, const Graph *g, const char *report, FileSet *out);
/* The page with what a command found (its JSON): "verify" or "sensitivity"; NULL: this is no page
 * of report_page. */
const char *report_page_with(C *c, const char *page, const char *part, const char *found);
void report_text(C *c, const char *json, bool warnings, FILE *f);

/* Parts of it (memory.c). */
struct json_t;
struct json_t *report_totals(C *c, const Graph *g, const Options *o); /* "bytes" */
struct json_t *report_timeline(const Graph *g);                       /* "memory" */
struct json_t *report_memories(const Graph *g);                       /* "memories" */
/* Decibels. JSON has no infinity: DB_EXACT for equal numbers, its negative where float is all 0,
 * and null for NAN. */
#define DB_EXACT 999.0
struct json_t *report_db(double db);
void report_print_memories(const struct json_t *root, FILE *f);
struct json_t *report_npu(C *c, const Graph *g, const Options *o); /* "npu" (npu.c) */
void report_print_npu(const struct json_t *root, FILE *f);
struct json_t *report_strips(const Graph *g, const Options *o); /* "strips" (strips.c) */
void report_print_strips(const struct json_t *root, FILE *f);
void report_print_totals(const struct json_t *root, FILE *f);
void report_print_timeline(const struct json_t *root, FILE *f);

#endif
