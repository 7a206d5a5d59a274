/* Completion scripts of shells, from the tables. What a list of the program gives (CPUs, passes) is
 * asked of it when it is needed. */
#include "options.h"

#include <string.h>

#define TARGETS_OF "corten targets 2>/dev/null | cut -d' ' -f1"
#define PASSES_OF "corten compile --help-passes 2>/dev/null | cut -d' ' -f1"

typedef enum { ANY, WORDS, COMMAND_NAMES, SHELL, FILE_NAMES, FOLDER_NAMES } Source;

/* Where a value comes from: WORDS apart by '|', or the output of a SHELL command. */
static Source source_of(const char *values, const char **what) {
    *what = values;
    if (!values)
        return ANY;
    if (strcmp(values, FILES) == 0 || strcmp(values, PATHS) == 0)
        return FILE_NAMES;
    if (strcmp(values, FOLDERS) == 0)
        return FOLDER_NAMES;
    if (strcmp(values, COMMANDS_LISTED) == 0)
        return COMMAND_NAMES;
    if (strcmp(values, TARGETS_LISTED) == 0 || strcmp(values, PASSES_LISTED) == 0) {
        *what = strcmp(values, TARGETS_LISTED) == 0 ? TARGETS_OF : PASSES_OF;
        return SHELL;
    }
    return WORDS;
}

static void put_commands(void) {
    for (int i = 0; i < command_count; i++)
        printf("%s%s", i ? " " : "", command_table[i].name);
}

/* Words apart by blanks. */
static void put_list(const char *values) {
    if (strcmp(values, COMMANDS_LISTED) == 0) {
        put_commands();
        return;
    }
    for (; *values; values++)
        putchar(*values == '|' ? ' ' : *values);
}

/* For a shell's single quotes. */
static void put_quoted(const char *text, const char *quote) {
    for (; *text; text++)
        if (*text == '\'')
            fputs(quote, stdout);
        else
            putchar(*text);
}

/* ---- bash ---------------------------------------------------------------------------------- */

static void bash_values(const char *values) {
    const char *what;
    switch (source_of(values, &what)) {
    case ANY:
        printf("COMPREPLY=()");
        break;
    case FILE_NAMES:
        printf("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$now\"))");
        break;
    case FOLDER_NAMES:
        printf("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$now\"))");
        break;
    case SHELL:
        printf("COMPREPLY=($(compgen -W \"$(%s)\" -- \"$now\"))", what);
        break;
    case WORDS:
    case COMMAND_NAMES:
        printf("COMPREPLY=($(compgen -W '");
        put_list(what);
        printf("' -- \"$now\"))");
        break;
    }
}

static void bash_options(const Command *command) {
    for (int i = 0; i < option_count; i++)
        if (option_is_of(&option_table[i], command))
            printf("--%s ", option_table[i].name);
    printf("--help");
}

static void bash_command(const Command *command) {
    printf("    %s)\n        case $before in\n", command->name);
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        if (!option_is_of(o, command) || o->kind == FLAG || o->kind == LISTING)
            continue;
        printf("        --%s", o->name);
        if (o->letter)
            printf(" | -%c", o->letter);
        printf(") ");
        bash_values(o->values);
        printf("; return ;;\n");
    }
    printf("        esac\n        if [[ $now == -* ]]; then\n"
           "            COMPREPLY=($(compgen -W '");
    bash_options(command);
    printf("' -- \"$now\"))\n        else\n            ");
    bash_values(command->values);
    printf("\n        fi\n        ;;\n");
}

static void bash(void) {
    printf(
        "# bash completion for corten; made by corten completion bash\n"
        "_corten() {\n    local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '");
    put_commands();
    printf(
        " --help --version' -- \"$now\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; i < command_count; i++)
        bash_command(&command_table[i]);
    printf("    esac\n}\ncomplete -F _corten corten\n");
}

/* ---- zsh ----------------------------------------------------------------------------------- */

static void zsh_values(const char *values) {
    const char *what;
    switch (source_of(values, &what)) {
    case ANY:
        printf(" ");
        break;
    case FILE_NAMES:
        printf("_files");
        break;
    case FOLDER_NAMES:
        printf("_files -/");
        break;
    case SHELL:
        printf("($(%s))", what);
        break;
    case WORDS:
    case COMMAND_NAMES:
        printf("(");
        put_list(what);
        printf(")");
        break;
    }
}

/* A purpose within an option's brackets, where ':' and brackets mean something. */
static void zsh_purpose(const char *text) {
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            putchar('\\');
        if (*text == '"' || *text == '$' || *text == '`')
            putchar('\\');
        putchar(*text);
    }
}

static void zsh_option(const Option *o, const char *name, char letter) {
    printf("            \"%s", o->kind == REPEATED ? "*" : "");
    if (letter)
        printf("-%c", letter);
    else
        printf("--%s", name);
    printf("[");
    zsh_purpose(o->purpose);
    printf("]");
    if (o->kind != FLAG && o->kind != LISTING) {
        printf(":value:");
        zsh_values(o->values);
    }
    printf("\" \\\n");
}

static void zsh_command(const Command *command) {
    printf("    %s)\n        _arguments \\\n", command->name);
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        if (!option_is_of(o, command))
            continue;
        zsh_option(o, o->name, 0);
        if (o->letter)
            zsh_option(o, NULL, o->letter);
    }
    printf("            \"--help[its options, with examples]\"");
    if (command->operand) {
        printf(" \\\n            \"1:operand:");
        zsh_values(command->values);
        printf("\"");
    }
    printf("\n        ;;\n");
}

static void zsh(void) {
    printf("#compdef corten\n# zsh completion for corten; made by corten completion zsh\n"
           "if (( CURRENT == 2 )); then\n    local -a commands=(\n");
    for (int i = 0; i < command_count; i++) {
        printf("        '%s:", command_table[i].name);
        put_quoted(command_table[i].purpose, "'\\''");
        printf("'\n");
    }
    printf("    )\n    _describe command commands\n    return\nfi\nlocal command=$words[2]\nshift "
           "words\n"
           "(( CURRENT-- ))\ncase $command in\n");
    for (int i = 0; i < command_count; i++)
        zsh_command(&command_table[i]);
    printf("esac\n");
}

/* ---- fish ---------------------------------------------------------------------------------- */

static void fish_values(const char *values) {
    const char *what;
    switch (source_of(values, &what)) {
    case ANY:
        printf(" -x");
        break;
    case FILE_NAMES:
        printf(" -r -F");
        break;
    case FOLDER_NAMES:
        printf(" -x -a '(__fish_complete_directories)'");
        break;
    case SHELL:
        printf(" -x -a \"(%s)\"", what);
        break;
    case WORDS:
    case COMMAND_NAMES:
        printf(" -x -a '");
        put_list(what);
        printf("'");
        break;
    }
}

static void fish_command(const Command *command) {
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        if (!option_is_of(o, command))
            continue;
        printf("complete -c corten -n '__fish_seen_subcommand_from %s' -l %s", command->name,
               o->name);
        if (o->letter)
            printf(" -s %c", o->letter);
        if (o->kind != FLAG && o->kind != LISTING)
            fish_values(o->values);
        printf(" -d '");
        put_quoted(o->purpose, "\\'");
        printf("'\n");
    }
    if (!command->operand)
        return;
    printf("complete -c corten -n '__fish_seen_subcommand_from %s'", command->name);
    fish_values(command->values);
    printf("\n");
}

static void fish(void) {
    printf("# fish completion for corten; made by corten completion fish\n"
           "complete -c corten -f\n");
    for (int i = 0; i < command_count; i++) {
        printf("complete -c corten -n __fish_use_subcommand -a %s -d '", command_table[i].name);
        put_quoted(command_table[i].purpose, "\\'");
        printf("'\n");
    }
    for (int i = 0; i < command_count; i++)
        fish_command(&command_table[i]);
}

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

int completion_run(const CortenOptions *o) {
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(o->model, shells[i].name) == 0) {
            shells[i].print();
            return 0;
        }
    fprintf(stderr, "corten: error: unknown shell %s; one of: bash, zsh, fish\n", o->model);
    return 2;
}
