/* Names and texts that the files of the C emitter share. */
#ifndef CORTEN_EMIT_NAMES_H
#define CORTEN_EMIT_NAMES_H

#include "emit/emit.h"

const char *upper_name(C *c, const char *s);
const char *c_type_name(DType t);
const char *region_name(int region);                          /* "CTN_ARENA" */
const char *comment_text(C *c, const char *s);                /* s, unable to end a comment */
const char *string_text(C *c, const char *s);                 /* s, unable to end a string */
const char *c_header(C *c, const Graph *g, const Options *o); /* <name>.h */
const char *c_source(C *c, const Graph *g, const Options *o); /* <name>.c */

#endif
