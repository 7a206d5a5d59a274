/* What printing, parsing and saving a graph's text share. */
#ifndef CORTEN_GRAPH_TEXT_H
#define CORTEN_GRAPH_TEXT_H

#include "graph/graph.h"

#define TEXT_VERSION 1

extern const char *const role_words[];  /* by Role */
extern const char *const fate_words[];  /* by Fate */
extern const char *const stage_words[]; /* by Stage, up to quantized */

/* Small constants of exactly the value's shape and stored dtype stand in the text itself. */
Array *value_data(const Value *v);       /* its constant, or what its state holds at first */
bool constant_is_inline(const Value *v); /* of its data */
/* By id: VALUE_READ by something but defined by no node, VALUE_DEFINED by a node, 0: left over. */
enum { VALUE_READ = 1, VALUE_DEFINED = 2 };
char *values_marked(C *c, const Graph *g);
/* Where a node comes from if its line does not say: the place of its first origin. */
Loc implied_loc(const Graph *g, const Node *n);
bool loc_equal(const Loc *a, const Loc *b);
/* Patches that the text of n says it has. */
bool has_patches(const Node *n);
/* Names of arrays beside the text. `prefix` is "" or "node/" for each enclosing body. */
const char *constant_member(C *c, const char *prefix, const Value *v);
const char *histogram_member(C *c, const char *prefix, const Value *v);
const char *patches_member(C *c, const char *prefix, const Node *n);

void text_add_quoted(Text *t, const char *s); /* as scan_string reads it */

/* ---- reading words ------------------------------------------------------------------------ */

typedef struct {
    C *c;
    const char *file, *text, *p;
} Scanner;

bool text_is_word(char ch); /* may stand in an unquoted name */
_Noreturn void scan_fail(const Scanner *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void scan_expected(Scanner *s, const char *needed); /* "found ..., needed ..." */
void scan_space(Scanner *s);                                  /* blanks, line ends, ; comments */
bool scan_end(Scanner *s);
bool scan_char(Scanner *s, char ch);
void scan_need(Scanner *s, char ch);
bool scan_word(Scanner *s, const char *word);
/* As scan_word, but the word must stand on the same line: attributes end with their line. */
bool scan_attribute(Scanner *s, const char *word);
int scan_attribute_of(Scanner *s, const char *const *words, int count); /* -1: none */
bool scan_attribute_string(Scanner *s, const char **out); /* if a string follows on this line */
const char *scan_string(Scanner *s);
const char *scan_name(Scanner *s); /* a word or a string */
const char *scan_operator(Scanner *s);
int64_t scan_int(Scanner *s, int64_t low, int64_t high);
double scan_float(Scanner *s);
bool scan_is_number(Scanner *s);
/* An int or a float, as it is written. */
Arg scan_number(Scanner *s);

#endif
