/* The parser: getopt_long on the options that the command takes. */
#include "options.h"

#include "base/base.h"

#include <assert.h>
#include <getopt.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPEATED = 256, MAX_LISTS = 16, OPTIONS = 128 };

bool usage_json;

int usage_wrong(const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fprintf(stderr, "corten: error: %s\n", message);
    json_t *text =
        usage_json ? json_pack("{s:i, s:[{s:s?}]}", "exit_code", 2, "errors", "message", message)
                   : NULL;
    if (text) {
        json_dumpf(text, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(text);
    return 2;
}

int command_unknown(const char *name) {
    const char *names[OPTIONS];
    for (int i = 0; i < command_count; i++)
        names[i] = command_table[i].name;
    const char *near = text_nearest(name, names, command_count);
    return near ? usage_wrong("unknown command %s; did you mean %s?", name, near)
                : usage_wrong("unknown command %s; corten --help lists them", name);
}

static int bad_number(const Option *option, const char *text) {
    return usage_wrong("--%s \"%s\": a number is needed", option->name, text);
}

/* The list of a field: the first text for it takes one of a few. */
static const char **list_of(void *list_field) {
    static const char *lists[MAX_LISTS][MAX_REPEATED];
    static int taken;
    const char **list;
    memcpy(&list, list_field, sizeof list);
    if (!list) {
        assert(taken < MAX_LISTS);
        list = lists[taken++];
        memcpy(list_field, &list, sizeof list);
    }
    return list;
}

static int add_text(const Option *option, const char *text, void *list_field, int *count) {
    if (*count >= MAX_REPEATED)
        return usage_wrong("--%s: at most %d are taken", option->name, MAX_REPEATED);
    list_of(list_field)[(*count)++] = text;
    return 0;
}

static int set_option(const Option *option, const char *text, CortenOptions *out) {
    char *field = (char *)out + option->offset, *end = NULL;
    switch (option->kind) {
    case FLAG:
        *(bool *)field = true;
        return 0;
    case TEXT:
        *(const char **)field = text;
        return 0;
    case NUMBER:
        *(double *)field = strtod(text, &end);
        return end == text || *end ? bad_number(option, text) : 0;
    case INTEGER:
        *(int *)field = (int)strtol(text, &end, 10);
        return end == text || *end ? bad_number(option, text) : 0;
    case BYTES:
        if (strchr(text, '=')) /* of one memory */
            return add_text(option, text, (void *)&out->limits, &out->limits_count);
        *(long long *)field = text_bytes(text);
        return *(long long *)field < 0 ? bad_number(option, text) : 0;
    case HEADING:
    case LISTING:
        return 0;
    case REPEATED:
        return add_text(option, text, field, (int *)((char *)out + option->count_offset));
    }
    return 0;
}

static bool takes_value(const Option *option) {
    return option->kind != FLAG && option->kind != LISTING;
}

/* getopt's view of the options that this command takes; val is the index + 256. */
static void getopt_tables(const Command *command, struct option *longs, char *shorts) {
    int n = 0;
    *shorts++ = ':';
    *shorts++ = 'h';
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        if (!option_is_of(o, command))
            continue;
        longs[n++] = (struct option){o->name, takes_value(o) ? required_argument : no_argument,
                                     NULL, 256 + i};
        if (o->letter) {
            *shorts++ = o->letter;
            if (takes_value(o))
                *shorts++ = ':';
        }
    }
    longs[n++] = (struct option){"help", no_argument, NULL, 'h'};
    longs[n] = (struct option){NULL, 0, NULL, 0};
    *shorts = 0;
}

static const Option *option_of(const Command *command, int value) {
    for (int i = 0; i < option_count; i++)
        if (option_is_of(&option_table[i], command) &&
            (value == 256 + i || (option_table[i].letter && value == option_table[i].letter)))
            return &option_table[i];
    return NULL;
}

static int usage_error(const Command *command, const char *what, const char *which) {
    return usage_wrong("%s %s; corten %s --help lists the options", what, which, command->name);
}

/* "--calibrat": the option that was meant, or the commands that take it. */
static int unknown_option(const Command *command, const char *given) {
    const char *names[OPTIONS];
    int count = 0;
    size_t length = strcspn(given, "=");
    for (int i = 0; i < option_count; i++)
        if (option_is_of(&option_table[i], command))
            names[count++] = option_table[i].name;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, given);
    const char *near = strncmp(word, "--", 2) == 0 ? text_nearest(word + 2, names, count) : NULL;
    if (near)
        return usage_wrong("unknown option %s; did you mean --%s?", word, near);
    for (int i = 0; i < option_count; i++)
        for (int k = 0; k < command_count; k++)
            if (option_is_of(&option_table[i], &command_table[k]) && strncmp(word, "--", 2) == 0 &&
                strcmp(word + 2, option_table[i].name) == 0)
                return usage_wrong("%s is an option of corten %s, not of corten %s", word,
                                   command_table[k].name, command->name);
    return usage_error(command, "unknown option", word);
}

static int take_operand(const Command *command, int argc, char **argv, CortenOptions *out) {
    if (!command->operand)
        return optind < argc ? usage_error(command, "unexpected", argv[optind]) : 0;
    if (optind >= argc && command->operand[0] == '[')
        return 0;
    if (optind >= argc)
        return usage_error(command, "missing", command->operand);
    if (optind + 1 < argc)
        return usage_error(command, "unexpected", argv[optind + 1]);
    out->model = argv[optind];
    return 0;
}

int options_parse(const Command *command, int argc, char **argv, CortenOptions *out) {
    struct option longs[OPTIONS + 2];
    char shorts[2 * OPTIONS + 4];
    getopt_tables(command, longs, shorts);
    int (*listing)(const CortenOptions *o) = NULL;
    opterr = 0;
    for (int value; (value = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (value == 'h') {
            command_help_print(command, stdout);
            return -1;
        }
        if (value == ':')
            return usage_error(command, "a value is needed for", argv[optind - 1]);
        const Option *option = value == '?' ? NULL : option_of(command, value);
        if (!option)
            return unknown_option(command, argv[optind - 1]);
        listing = option->list ? option->list : listing;
        int code = set_option(option, optarg, out);
        if (code)
            return code;
    }
    if (listing) {
        int code = listing(out);
        return code ? code : -1;
    }
    return take_operand(command, argc, argv, out);
}
