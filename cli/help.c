/* The help, from the tables. Lines are at most 100 columns wide. */
#include "options.h"

#include <string.h>

enum { WIDTH = 96, LEFT = 30 };

/* A paragraph, broken at blanks; the first line starts at column `at`, the others at `indent`. */
static void print_wrapped(FILE *f, const char *text, int at, int indent) {
    int column = at;
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column > indent && column + 1 + word > WIDTH) {
            fprintf(f, "\n%*s", indent, "");
            column = indent;
        } else if (column > at || column > indent) {
            fputc(' ', f);
            column++;
        }
        fprintf(f, "%.*s", word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', f);
}

/* "ARGUMENTS  what it does" a line. */
static void print_examples(const Command *command, FILE *f) {
    const char *line = command->example;
    if (!line)
        return;
    fprintf(f, "\n%s:\n", strchr(line, '\n') ? "Examples" : "Example");
    while (*line) {
        int length = (int)strcspn(line, "\n");
        const char *what = strstr(line, "  ");
        fprintf(f, "  corten %s%s%.*s\n      %.*s\n", command->name, what > line ? " " : "",
                (int)(what - line), line, (int)(line + length - what - 2), what + 2);
        line += length + (line[length] == '\n');
    }
}

void help_print(FILE *f) {
    fprintf(f, "usage: corten COMMAND ...\n\n"
               "PyTorch models (torch.export archives) to int8 C for Cortex-M.\n\nCommands:\n");
    for (int i = 0; i < command_count; i++)
        fprintf(f, "  %-11s %-14s %s\n", command_table[i].name,
                command_table[i].operand ? command_table[i].operand : "", command_table[i].purpose);
    fprintf(f,
            "\n  corten COMMAND --help    a command's options, with examples\n"
            "  corten --version\n\n"
            "The usual way:\n"
            "  corten inspect model.pt2                                  can it be compiled?\n"
            "  corten compile model.pt2 -c data.npz -t cortex-m55 -o out/\n"
            "  corten verify out/ -i test.npz --labels label --on qemu   is it right?\n"
            "  out/report.html                                           what became of it\n\n"
            "Exit codes: 0 done, 1 the model cannot be compiled as asked (a float model without\n"
            "-c cannot), 2 usage, 3 a file is missing, malformed or not writable, 4 a tool is\n"
            "missing, 70 a bug in Corten.\n");
}

static void print_option(const Option *o, FILE *f) {
    const char *argument = option_argument(o);
    char left[96];
    int length = snprintf(left, sizeof left, "%s%c%s--%s%s%s", o->letter ? "-" : " ",
                          o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
                          argument ? " " : "", argument ? argument : "");
    if (length > LEFT)
        fprintf(f, "  %s\n%*s", left, LEFT + 3, "");
    else
        fprintf(f, "  %-*s ", LEFT, left);
    print_wrapped(f, o->purpose, LEFT + 3, LEFT + 3);
}

void command_help_print(const Command *command, FILE *f) {
    fprintf(f, "usage: corten %s%s%s [options]\n\n%s\n\n", command->name,
            command->operand ? " " : "", command->operand ? command->operand : "",
            command->purpose);
    print_wrapped(f, command->text, 0, 0);
    const Option *heading = NULL;
    bool any = false;
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        heading = o->kind == HEADING ? o : heading;
        if (!option_is_of(o, command))
            continue;
        if (heading || !any)
            fprintf(f, "\n%s:\n", heading ? heading->name : "Options");
        heading = NULL;
        any = true;
        print_option(o, f);
    }
    print_examples(command, f);
}
