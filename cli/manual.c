/* Manual pages, as roff, from the tables: corten(1), and a page per command. */
#include "options.h"

#include <string.h>

/* Text in which nothing is a macro or an escape. */
static void put(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else if (i == 0 && (text[i] == '.' || text[i] == '\''))
            printf("\\&%c", text[i]);
        else
            putchar(text[i]);
    }
}

static void put_text(const char *text) {
    put(text, strlen(text));
}

static void title(const char *name, const char *purpose) {
    printf(".TH \"");
    put_text(name);
    printf("\" 1 \"\" \"Corten %s\" \"Corten\"\n.SH NAME\n", corten_version());
    put_text(name);
    printf(" \\- ");
    put_text(purpose);
    printf("\n.SH SYNOPSIS\n");
}

static void print_examples(const char *name, const char *line) {
    printf(".SH EXAMPLES\n");
    while (line && *line) {
        size_t length = strcspn(line, "\n");
        const char *what = strstr(line, "  ");
        printf(".TP\n.B corten %s ", name);
        put(line, (size_t)(what - line));
        printf("\n");
        put(what + 2, (size_t)(line + length - what - 2));
        printf("\n");
        line += length + (line[length] == '\n');
    }
}

static void print_exits(void) {
    printf(".SH EXIT STATUS\n"
           "0 done; 1 the model cannot be compiled as asked (a float model without \\-c cannot); 2 "
           "usage; "
           "3 a file is missing, "
           "malformed or not writable; 4 a tool is missing; 70 a bug in Corten.\n"
           ".SH FILES\nResults go to standard output, diagnostics and progress to standard error. "
           "What \\-\\-json prints, and the texts of lists, keep their form.\n");
}

static void print_option(const Option *o) {
    const char *argument = option_argument(o);
    printf(".TP\n\\fB");
    if (o->letter)
        printf("\\-%c\\fR, \\fB", o->letter);
    printf("\\-\\-");
    put_text(o->name);
    printf("\\fR");
    if (argument) {
        printf(" \\fI");
        put_text(argument);
        printf("\\fR");
    }
    printf("\n");
    put_text(o->purpose);
    printf("\n");
}

static void command_page(const Command *command) {
    char name[64];
    snprintf(name, sizeof name, "corten-%s", command->name);
    title(name, command->purpose);
    printf(".B corten %s\n", command->name);
    if (command->operand) {
        printf("\\fI");
        put_text(command->operand);
        printf("\\fR ");
    }
    printf("[options]\n.SH DESCRIPTION\n");
    put_text(command->text);
    printf("\n.SH OPTIONS\n");
    const Option *heading = NULL;
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        heading = o->kind == HEADING ? o : heading;
        if (!option_is_of(o, command))
            continue;
        if (heading) {
            printf(".SS ");
            put_text(heading->name);
            printf("\n");
        }
        heading = NULL;
        print_option(o);
    }
    print_examples(command->name, command->example);
    print_exits();
    printf(".SH SEE ALSO\n.BR corten (1)\n");
}

static void main_page(void) {
    title("corten", "PyTorch models to int8 C for Cortex-M");
    printf(".B corten\n\\fICOMMAND\\fR ...\n.SH COMMANDS\n");
    for (int i = 0; i < command_count; i++) {
        printf(".TP\n.BR corten\\-%s (1)\n", command_table[i].name);
        put_text(command_table[i].purpose);
        printf("\n");
    }
    print_exits();
}

int manual_run(const CortenOptions *o) {
    const Command *command = o->model ? command_find(o->model) : NULL;
    if (o->model && !command)
        return command_unknown(o->model);
    if (command)
        command_page(command);
    else
        main_page();
    return 0;
}
