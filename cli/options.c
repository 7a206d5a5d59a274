/* The tables of commands and options, the parser (getopt_long underneath) and the help. */
#include "options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    INSPECT = 1,
    COMPILE = 2,
    RUN = 4,
    VERIFY = 8,
    REPORT = 16,
    OPS = 32,
    TARGETS = 64,
    SENSITIVITY = 128
};
enum { ALL = 255, MAX_REPEATED = 256 };

const Command command_table[] = {
    {"inspect", "MODEL.pt2", "what is in an archive and what each node will become",
     corten_inspect},
    {"compile", "MODEL.pt2", "an archive to integer C for a CPU", corten_compile},
    {"run", "DIR|MODEL.pt2", "outputs for data: in float, on the host, or on a simulated chip",
     corten_run},
    {"verify", "DIR", "float against integer, host against chip", corten_verify},
    {"report", "DIR", "the report of a compile again", corten_report},
    {"ops", NULL, "the operator table", corten_ops},
    {"targets", NULL, "the CPUs", corten_targets},
    {"sensitivity", "MODEL|DIR", "what each node's rounding costs, in dB", corten_sensitivity},
};
const int command_count = sizeof command_table / sizeof *command_table;

typedef enum { FLAG, TEXT, NUMBER, BYTES, INTEGER, REPEATED } Kind;

typedef struct {
    const char *name;
    char letter; /* 0: none */
    int commands;
    Kind kind;
    size_t offset, count_offset; /* of the field, and of a repeated one's count */
    const char *argument, *purpose;
} Option;

#define AT(member) offsetof(CortenOptions, member), 0
#define LIST_AT(member) offsetof(CortenOptions, member), offsetof(CortenOptions, member##_count)

static const Option option_table[] = {
    {"target", 't', COMPILE, TEXT, AT(target), "CPU", "the CPU: corten targets lists them"},
    {"output", 'o', COMPILE | RUN, TEXT, AT(out), "PATH",
     "compile: the folder to write; run: a .npy or .npz"},
    {"calibrate", 'c', COMPILE | SENSITIVITY, REPEATED, LIST_AT(calibrate), "PATH",
     ".npy, .npz, or a folder of those or of images; repeatable"},
    {"observer", 0, COMPILE | SENSITIVITY, TEXT, AT(observer), "NAME", "minmax, percentile or mse"},
    {"precision", 0, COMPILE | SENSITIVITY, TEXT, AT(precision_file), "FILE",
     "lines \"GLOB = int8|int16|w4|float\" by node or module"},
    {"accuracy-budget", 0, COMPILE, NUMBER, AT(accuracy_budget_db), "DB",
     "raise nodes to int16 until the output SQNR is reached"},
    {"allow-float", 0, COMPILE | SENSITIVITY, FLAG, AT(allow_float), NULL,
     "leave nodes without integer form in float instead of stopping"},
    {"io", 0, COMPILE, TEXT, AT(io), "TYPE", "inputs and outputs as int8, int16 or float"},
    {"io-layout", 0, COMPILE, TEXT, AT(io_layout), "ORDER", "nchw or nhwc"},
    {"input-scale", 0, COMPILE | SENSITIVITY, REPEATED, LIST_AT(input_scale), "NAME=SCALE,ZP",
     "fixed quantization of an input"},
    {"emit", 0, COMPILE, TEXT, AT(emit), "KIND", "c"},
    {"export", 0, COMPILE, REPEATED, LIST_AT(exports), "KIND",
     "also a folder for cmake, make, arduino, zephyr or cmsis-pack; repeatable"},
    {"isa", 0, COMPILE, TEXT, AT(isa), "LEVEL", "v6m, v7m, dsp or mve instead of the CPU's"},
    {"ram", 0, COMPILE, BYTES, AT(ram), "BYTES", "refuse to need more (K and M are understood)"},
    {"flash", 0, COMPILE, BYTES, AT(flash), "BYTES", "refuse to need more"},
    {"optimize", 0, COMPILE, TEXT, AT(optimize), "FOR", "speed or size"},
    {"keep-inputs", 0, COMPILE, FLAG, AT(keep_inputs), NULL,
     "do not reuse the memory of inputs during a run"},
    {"bind-inputs", 0, COMPILE, FLAG, AT(bind_inputs), NULL,
     "inputs lie in buffers of yours, bound before each run (double buffering)"},
    {"threads", 0, COMPILE | SENSITIVITY, INTEGER, AT(threads), "N", "for calibration"},
    {"dump", 0, COMPILE, TEXT, AT(dump), "PASS", "print the graph after a pass"},
    {"stop-after", 0, COMPILE, TEXT, AT(stop_after), "PASS", "stop there, write nothing"},
    {"from", 0, COMPILE, TEXT, AT(from), "PASS", "start there, from a dumped graph"},
    {"input", 'i', RUN | VERIFY, TEXT, AT(input), "PATH", ".npy, .npz, an image, or a folder"},
    {"labels", 0, VERIFY, TEXT, AT(labels), "NAME", "a .npy, or an array's name in the input"},
    {"limit", 0, RUN | VERIFY, INTEGER, AT(limit), "N", "only the first N samples"},
    {"on", 0, RUN | VERIFY, TEXT, AT(on), "WHERE", "float, host or qemu"},
    {"model", 0, RUN | VERIFY | SENSITIVITY, TEXT, AT(archive), "PATH", "where the archive is now"},
    {"raw", 0, RUN, FLAG, AT(raw), NULL, "write integers as they are"},
    {"mean", 0, COMPILE | RUN | VERIFY | SENSITIVITY, TEXT, AT(mean), "NUMBERS", "of images, 0..1"},
    {"std", 0, COMPILE | RUN | VERIFY | SENSITIVITY, TEXT, AT(std), "NUMBERS", "of images"},
    {"json", 0, INSPECT | VERIFY | SENSITIVITY | REPORT | OPS | TARGETS, FLAG, AT(json), NULL,
     "print JSON"},
    {"quiet", 'q', ALL, FLAG, AT(quiet), NULL, "errors only"},
    {"verbose", 'v', ALL, FLAG, AT(verbose), NULL, "say more"},
};
enum { OPTIONS = sizeof option_table / sizeof *option_table };

static int command_bit(const Command *command) {
    return 1 << (command - command_table);
}

void help_print(FILE *f) {
    fprintf(f, "usage: corten COMMAND ...\n\n"
               "PyTorch models (torch.export archives) to int8 C for Cortex-M.\n\n");
    for (int i = 0; i < command_count; i++)
        fprintf(f, "  %-11s %-14s %s\n", command_table[i].name,
                command_table[i].operand ? command_table[i].operand : "", command_table[i].purpose);
    fprintf(f, "\n  corten COMMAND --help    the options of a command\n"
               "  corten --version\n\n"
               "example:\n  corten compile model.pt2 -c data.npz -t cortex-m55 -o out/\n"
               "  corten verify out/ -i test.npz --labels label --on qemu\n");
}

void command_help_print(const Command *command, FILE *f) {
    fprintf(f, "usage: corten %s%s%s [options]\n\n%s\n\n", command->name,
            command->operand ? " " : "", command->operand ? command->operand : "",
            command->purpose);
    for (int i = 0; i < OPTIONS; i++) {
        const Option *o = &option_table[i];
        if (!(o->commands & command_bit(command)))
            continue;
        char left[64];
        snprintf(left, sizeof left, "%s%c%s--%s%s%s", o->letter ? "-" : " ",
                 o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
                 o->argument ? " " : "", o->argument ? o->argument : "");
        fprintf(f, "  %-30s %s\n", left, o->purpose);
    }
}

/* "320K" -> 327680; -1 if it is none. */
static long long parse_bytes(const char *text) {
    char *end;
    long long n = strtoll(text, &end, 10);
    if (end == text || n < 0 || n > (1LL << 40))
        return -1;
    int shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : 0;
    end += shift != 0;
    return *end ? -1 : n << shift;
}

static int bad_number(const Option *option, const char *text) {
    fprintf(stderr, "corten: error: --%s \"%s\": a number is needed\n", option->name, text);
    return 2;
}

static int add_repeated(const Option *option, const char *text, CortenOptions *out) {
    const char **list;
    memcpy(&list, (char *)out + option->offset, sizeof list);
    int *count = (int *)((char *)out + option->count_offset);
    if (*count >= MAX_REPEATED) {
        fprintf(stderr, "corten: error: --%s: at most %d are taken\n", option->name, MAX_REPEATED);
        return 2;
    }
    list[(*count)++] = text;
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
        *(long long *)field = parse_bytes(text);
        return *(long long *)field < 0 ? bad_number(option, text) : 0;
    case REPEATED:
        return add_repeated(option, text, out);
    }
    return 0;
}

/* getopt's view of the options that this command takes; val is the index + 256. */
static void getopt_tables(const Command *command, struct option *longs, char *shorts) {
    int n = 0;
    *shorts++ = ':';
    *shorts++ = 'h';
    for (int i = 0; i < OPTIONS; i++) {
        const Option *o = &option_table[i];
        if (!(o->commands & command_bit(command)))
            continue;
        longs[n++] = (struct option){o->name, o->kind == FLAG ? no_argument : required_argument,
                                     NULL, 256 + i};
        if (o->letter) {
            *shorts++ = o->letter;
            if (o->kind != FLAG)
                *shorts++ = ':';
        }
    }
    longs[n++] = (struct option){"help", no_argument, NULL, 'h'};
    longs[n] = (struct option){NULL, 0, NULL, 0};
    *shorts = 0;
}

static const Option *option_of(int value) {
    for (int i = 0; i < OPTIONS; i++)
        if (value == 256 + i || (option_table[i].letter && value == option_table[i].letter))
            return &option_table[i];
    return NULL;
}

static int usage_error(const Command *command, const char *what, const char *which) {
    fprintf(stderr, "corten: error: %s %s; corten %s --help lists the options\n", what, which,
            command->name);
    return 2;
}

static int take_operand(const Command *command, int argc, char **argv, CortenOptions *out) {
    if (!command->operand)
        return optind < argc ? usage_error(command, "unexpected", argv[optind]) : 0;
    if (optind >= argc)
        return usage_error(command, "missing", command->operand);
    if (optind + 1 < argc)
        return usage_error(command, "unexpected", argv[optind + 1]);
    out->model = argv[optind];
    return 0;
}

int options_parse(const Command *command, int argc, char **argv, CortenOptions *out) {
    static const char *calibrate[MAX_REPEATED], *input_scale[MAX_REPEATED];
    static const char *exports[MAX_REPEATED];
    struct option longs[OPTIONS + 2];
    char shorts[2 * OPTIONS + 4];
    getopt_tables(command, longs, shorts);
    out->calibrate = calibrate;
    out->input_scale = input_scale;
    out->exports = exports;
    opterr = 0;
    for (int value; (value = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (value == 'h') {
            command_help_print(command, stdout);
            return -1;
        }
        if (value == ':')
            return usage_error(command, "a value is needed for", argv[optind - 1]);
        const Option *option = value == '?' ? NULL : option_of(value);
        if (!option)
            return usage_error(command, "unknown option", argv[optind - 1]);
        int code = set_option(option, optarg, out);
        if (code)
            return code;
    }
    return take_operand(command, argc, argv, out);
}
