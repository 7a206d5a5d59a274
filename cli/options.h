/* The command line as two tables: commands and options (options.c). Parsing and help follow. */
#ifndef CORTEN_CLI_OPTIONS_H
#define CORTEN_CLI_OPTIONS_H

#include "corten/corten.h"

typedef struct {
    const char *name;
    const char *operand; /* "MODEL.pt2"; NULL: takes none */
    const char *purpose;
    int (*run)(const CortenOptions *o);
} Command;

extern const Command command_table[];
extern const int command_count;

/* Fills `out` from argv behind the command's name. Returns 0, or 2 after a message. Asked for help,
 * prints it and returns -1. */
int options_parse(const Command *command, int argc, char **argv, CortenOptions *out);
void help_print(FILE *f);
void command_help_print(const Command *command, FILE *f);

#endif
