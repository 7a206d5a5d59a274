/* Names and texts that the files of the C emitter share. */
#ifndef CORTEN_EMIT_NAMES_H
#define CORTEN_EMIT_NAMES_H

#include "emit/emit.h"

const char *upper_name(C *c, const char *s);
const char *c_type_name(DType t);
const char *region_name(int region);                          /* "CTN_ARENA" */
const char *comment_text(C *c, const char *s);                /* s, unable to end a comment */
const char *string_text(C *c, const char *s);                 /* s, unable to end a string */
/* "item,", on a new line if it would pass the last column. */
void c_add_item(Text *t, int *column, const char *item);
/* Of strips (lower/memory.h): members of the struct of calls, their initializers, functions. */
void c_add_strip_members(Text *t, const Graph *g);
void c_add_strip_tables(Text *t, C *c, const Graph *g);
void c_add_strips(Text *t, C *c, const Graph *g);
const char *c_header(C *c, const Graph *g, const Options *o); /* <name>.h */
const char *c_source(C *c, const Graph *g, const Options *o); /* <name>.c */

#endif
