/* Names and texts that the files of the C emitter share. */
#ifndef CORTEN_EMIT_NAMES_H
#define CORTEN_EMIT_NAMES_H

#include "emit/emit.h"

const char *upper_name(C *c, const char *s);
const char *c_type_name(DType t);
const char *region_name(C *c, const Graph *g, int region); /* "CTN_ARENA" */
/* The emitted source says something of it. */
bool region_is_used(const Graph *g, int region);
/* Those that <name>_init takes, the state last; returns how many. */
int init_regions(const Graph *g, int region[CTN_REGIONS]);
const char *init_parameters(C *c, const Graph *g); /* "void *arena, void *state" */
/* The array that is one of them: the model's, the program's, or 0. */
const char *region_array(C *c, const Graph *g, int region);
const char *comment_text(C *c, const char *s); /* s, unable to end a comment */
const char *string_text(C *c, const char *s);  /* s, unable to end a string */
/* "item,", on a new line if it would pass the last column. */
void c_add_item(Text *t, int *column, const char *item);
/* Of strips (lower/memory.h): members of the struct of calls, their initializers, functions. */
void c_add_strip_members(Text *t, const Graph *g);
void c_add_strip_tables(Text *t, C *c, const Graph *g);
void c_add_strips(Text *t, C *c, const Graph *g);
const char *c_header(C *c, const Graph *g, const Options *o); /* <name>.h */
const char *c_source(C *c, const Graph *g, const Options *o); /* <name>.c */
void emit_sections(C *c, const Graph *g, FileSet *out);       /* <name>.ld, if there are any */

#endif
