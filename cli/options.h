/* The command line as two tables: commands and options (options.c). The parser, the help, the
 * manual pages and the shells' completions all follow from them. */
#ifndef CORTEN_CLI_OPTIONS_H
#define CORTEN_CLI_OPTIONS_H

#include "corten/corten.h"

typedef struct {
    const char *name;
    const char *operand; /* "MODEL.pt2"; "[NAME]": may be left out; NULL: takes none */
    const char *purpose; /* a line */
    int (*run)(const CortenOptions *o);
    const char *values;  /* of the operand, as of an option's argument */
    const char *text;    /* paragraphs of the help, broken at blanks */
    const char *example; /* lines: the arguments, two blanks or more, what they do */
} Command;

extern const Command command_table[];
extern const int command_count;
const Command *command_find(const char *name); /* NULL */
/* Tells of a command that is unknown, with the nearest; returns 2. */
int command_unknown(const char *name);

typedef enum { HEADING, FLAG, LISTING, TEXT, NUMBER, BYTES, INTEGER, REPEATED } Kind;

typedef struct {
    const char *name; /* of a HEADING: the line above the options that follow */
    char letter;      /* 0: none */
    unsigned commands;
    Kind kind;
    size_t offset, count_offset; /* of the field, and of a repeated one's count */
    const char *argument;        /* as the help shows it; NULL: none, or its values */
    const char *purpose;
    const char *values; /* "a|b": one of these; FILES, FOLDERS, PATHS, TARGETS, PASSES; NULL: any */
    int (*list)(const CortenOptions *o); /* LISTING: prints this and ends */
} Option;

#define FILES "@files"
#define FOLDERS "@folders"
#define PATHS "@paths"
#define TARGETS_LISTED "@targets"
#define PASSES_LISTED "@passes"
#define COMMANDS_LISTED "@commands"

extern const Option option_table[];
extern const int option_count;
/* An option (no heading) that the command takes. */
bool option_is_of(const Option *option, const Command *command);
/* What stands behind the option in the help: "CPU", "minmax|mse"; NULL: nothing. */
const char *option_argument(const Option *option);

/* Says what is wrong with the command line, with --json as JSON too; returns 2. */
int usage_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern bool usage_json;

/* Fills `out` from argv behind the command's name. Returns 0, or 2 after a message. Where that is
 * already all that was asked for (help, a listing), does it and returns -1. */
int options_parse(const Command *command, int argc, char **argv, CortenOptions *out);
void help_print(FILE *f);
void command_help_print(const Command *command, FILE *f);

/* Commands that are the command line's own. */
int completion_run(const CortenOptions *o); /* completion.c */
int manual_run(const CortenOptions *o);     /* manual.c */

#endif
