/* The table of commands and the table of options. Whoever adds a row has added it to the parser,
 * the help, the manual pages and the completions. */
#include "options.h"

#include "base/base.h"

#include <stddef.h>
#include <string.h>

enum {
    INSPECT = 1,
    COMPILE = 2,
    RUN = 4,
    VERIFY = 8,
    REPORT = 16,
    OPS = 32,
    TARGETS = 64,
    SENSITIVITY = 128,
    DOCTOR = 256,
    COMPLETION = 512,
    MANUAL = 1024
};
enum { ALL = 2047, SHELL_ONLY = COMPLETION | MANUAL };

const Command command_table[] = {
    {"inspect", "MODEL.pt2", "what is in an archive and what each node will become", corten_inspect,
     FILES,
     "Needs no data and writes nothing. Shows inputs, outputs, parameters, in-place writes and "
     "MACs, "
     "and for each node whether it will be a kernel, a table, a movement or vanish, or why it has "
     "no "
     "integer form. With -t it also estimates RAM, flash and instructions on that CPU.",
     "model.pt2  what would become of it\n"
     "model.pt2 -t cortex-m55  and what it would need there\n"
     "model.pt2 -t cortex-m4 --ram 64K  does it fit, by strips if need be?\n"
     "model.pt2 --json  the same for a script"},
    {"compile", "MODEL.pt2", "an archive to integer C for a CPU", corten_compile, FILES,
     "Quantizes the model on the calibration data and writes readable C, the kernels it calls, "
     "report.json, report.html and the quantized graph into a folder. The archive is what "
     "torch.export.save has written. Nothing is written unless everything succeeded, and files "
     "that "
     "an earlier compile has not written are never overwritten.",
     "model.pt2 -c data.npz -t cortex-m55 -o out/  the usual case\n"
     "model.pt2 -c images/ --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 -t cortex-m7 -o out/  "
     "calibrated on a folder of images\n"
     "model.pt2 -c images/ --mean 0.5 --std 0.5 --io uint8 --input-scale x=pixels -t cortex-m7 "
     "-o out/  takes a camera's bytes\n"
     "model.pt2 -c data.npz -t cortex-m4 --ram 256K --flash 1M -o out/  refused if it needs more\n"
     "model.pt2 -c data.npz -t cortex-m4 --precision precise.txt -o out/  single nodes as int16, "
     "w4 "
     "or float\n"
     "model.pt2 -c data.npz -t cortex-m4 --dump fuse  the graph behind a pass, as text"},
    {"run", "DIR|MODEL.pt2", "outputs for data: in float, on the host, or on a simulated chip",
     corten_run, PATHS,
     "A compiled folder runs in the bit-exact simulator, or with --on qemu on a simulated chip; an "
     "archive, or --on float, runs in float. Inputs are given in float and quantized on the way "
     "(integer arrays are taken as they are); outputs come back as float32 unless --raw.",
     "out/ -i test.npz -o result.npz  bit for bit what the chip computes\n"
     "out/ -i test.npz -o chip.npz --on qemu  computed on a simulated chip\n"
     "model.pt2 -i test.npz -o float.npz  the float model"},
    {"verify", "DIR", "float against integer, host against chip", corten_verify, FOLDERS,
     "Runs the data through the float model and the integer one and compares them, call by call "
     "and "
     "at the outputs (SQNR in dB: 20 is a tenth of error, 40 a hundredth). With labels: top-1. "
     "With "
     "--on qemu the emitted C also runs on a simulated chip: equal bit for bit or an error, "
     "instructions counted per call. What was found goes into the folder's report.html too.",
     "out/ -i test.npz  SQNR of each call and output\n"
     "out/ -i test.npz --labels label --on qemu  accuracy, and the chip against the host\n"
     "out/ -i images/ --labels labels.npy --limit 100  a folder of images"},
    {"report", "DIR", "the report of a compile again", corten_report, FOLDERS,
     "Shows report.json as text. For people there is report.html beside it: the network, memory "
     "over "
     "time, precision and tables on one page.",
     "out/  as text\nout/ --json  report.json itself"},
    {"ops", "[NAME]", "the operator table", corten_ops, NULL,
     "Every operator that is understood: how it becomes integer C, how it runs in float with "
     "--allow-float, and its schema. In-place, out= and copy twins follow from these rows. With a "
     "name only the rows that hold it.",
     "  all of them\nsilu  what becomes of silu\n--json  the same for a script"},
    {"targets", NULL, "the CPUs", corten_targets, NULL,
     "Name, ISA level, QEMU machine and compiler flags of each CPU that -t takes.",
     "  a line each\n--json  the same for a script"},
    {"sensitivity", "MODEL|DIR", "what each node's rounding costs, in dB", corten_sensitivity,
     PATHS,
     "Measures what the rounding of each node costs the outputs by itself, the costliest first: "
     "what to "
     "give "
     "int16 with --precision, or what --accuracy-budget would raise. Of a compiled folder it goes "
     "into report.html too.",
     "model.pt2 -c data.npz  for an archive and its calibration data\n"
     "out/ -c data.npz --json  for a compiled folder, for a script"},
    {"doctor", NULL, "what is installed, what is missing and how to get it", corten_doctor, NULL,
     "Looks for the runtime's sources, the simulator, the cross compiler and what else commands "
     "and "
     "tests use. Ends with exit code 4 if something is missing that a command needs.",
     "  a line each\n--json  the same for a script"},
    {"completion", "SHELL", "a shell's completion script", completion_run, "bash|zsh|fish",
     "The installed packages have these scripts in place already.",
     "bash > ~/.local/share/bash-completion/completions/corten  for bash\n"
     "zsh > ~/.zfunc/_corten  for zsh, with ~/.zfunc in fpath\n"
     "fish > ~/.config/fish/completions/corten.fish  for fish"},
    {"manual", "[COMMAND]", "a manual page, as roff", manual_run, COMMANDS_LISTED,
     "The installed packages have these pages in place already: man corten, man corten-compile.",
     "compile | man -l -  a page without installing it"},
};
const int command_count = COUNT_OF(command_table);

#define NOWHERE 0, 0
#define AT(member) offsetof(CortenOptions, member), 0
#define LIST_AT(member) offsetof(CortenOptions, member), offsetof(CortenOptions, member##_count)
#define HEAD(text, commands)                                                                       \
    { text, 0, commands, HEADING, NOWHERE, NULL, NULL, NULL, NULL }

const Option option_table[] = {
    {"target", 't', INSPECT | COMPILE, TEXT, AT(target), "CPU",
     "the CPU, or the Ethos-U beside one: corten targets lists them", TARGETS_LISTED, NULL},
    {"output", 'o', COMPILE, TEXT, AT(out), "DIR", "the folder to write", FOLDERS, NULL},
    {"output", 'o', RUN, TEXT, AT(out), "FILE", "the .npy or .npz to write", FILES, NULL},
    HEAD("Calibration and precision", INSPECT | COMPILE | SENSITIVITY),
    {"calibrate", 'c', COMPILE | SENSITIVITY, REPEATED, LIST_AT(calibrate), "PATH",
     ".npy, .npz, or a folder of those or of images; repeatable", PATHS, NULL},
    {"observer", 0, COMPILE | SENSITIVITY, TEXT, AT(observer), NULL,
     "how ranges are chosen from what calibration saw (default: mse)", "minmax|percentile|mse",
     NULL},
    {"precision", 0, INSPECT | COMPILE | SENSITIVITY, TEXT, AT(precision_file), "FILE",
     "lines \"GLOB = int8|int16|w4|float\", by node or module", FILES, NULL},
    {"accuracy-budget", 0, COMPILE, NUMBER, AT(accuracy_budget_db), "DB",
     "raise nodes to int16 until the output SQNR is reached", NULL, NULL},
    {"allow-float", 0, COMPILE | SENSITIVITY, FLAG, AT(allow_float), NULL,
     "leave nodes without integer form in float instead of stopping", NULL, NULL},
    HEAD("The C boundary and what is written", INSPECT | COMPILE),
    {"name", 0, COMPILE, TEXT, AT(name), "NAME",
     "what the C calls the model (default: after the archive's file)", NULL, NULL},
    {"io", 0, INSPECT | COMPILE, TEXT, AT(io), NULL,
     "inputs and outputs at the C boundary (default: as quantized)", "int8|int16|float|uint8",
     NULL},
    {"io-layout", 0, COMPILE, TEXT, AT(io_layout), NULL,
     "order of their dimensions (default: as exported)", "nchw|nhwc", NULL},
    {"state", 0, COMPILE | RUN | SENSITIVITY, REPEATED, LIST_AT(state), "INPUT=OUTPUT",
     "an output that is the input of the next run, kept by the model; repeatable", NULL, NULL},
    {"input-scale", 0, COMPILE | SENSITIVITY, REPEATED, LIST_AT(input_scale), "NAME=SCALE,ZP",
     "fixed quantization of an input; NAME=pixels: the bytes of images, with --mean and --std in "
     "the first layer",
     NULL, NULL},
    {"emit", 0, COMPILE, TEXT, AT(emit), NULL, "what to write (default: c)", "c|tosa|pte", NULL},
    {"bundle", 0, COMPILE, FLAG, AT(bundle), NULL,
     "with --emit pte: also a .bpte, with inputs and expected outputs", NULL, NULL},
    {"export", 0, COMPILE, REPEATED, LIST_AT(exports), NULL,
     "also a folder ready for this; repeatable", "cmake|make|arduino|zephyr|cmsis-pack", NULL},
    HEAD("The chip", INSPECT | COMPILE),
    {"isa", 0, INSPECT | COMPILE, TEXT, AT(isa), NULL,
     "another level than the CPU's own, of those that it includes; c: plain C alone",
     "v6m|v7m|dsp|mve|c", NULL},
    {"memory", 0, INSPECT | COMPILE, TEXT, AT(memory_file), "FILE",
     "the chip's memories, as JSON: the hottest buffers go to the fastest", FILES, NULL},
    {"ram", 0, INSPECT | COMPILE, BYTES, AT(ram), "BYTES",
     "refuse to need more; K and M are understood; of one memory: NAME=BYTES", NULL, NULL},
    {"flash", 0, INSPECT | COMPILE, BYTES, AT(flash), "BYTES",
     "refuse to need more; of one memory: NAME=BYTES", NULL, NULL},
    {"arena", 0, COMPILE, TEXT, AT(arena), "SYMBOL",
     "the arena is your array of this name, which several models may share", NULL, NULL},
    {"optimize", 0, INSPECT | COMPILE, TEXT, AT(optimize), NULL, "what to prefer (default: speed)",
     "speed|size", NULL},
    {"keep-inputs", 0, INSPECT | COMPILE, FLAG, AT(keep_inputs), NULL,
     "do not reuse the memory of inputs during a run", NULL, NULL},
    {"bind-inputs", 0, INSPECT | COMPILE, FLAG, AT(bind_inputs), NULL,
     "inputs lie in buffers of yours, bound before each run (double buffering)", NULL, NULL},
    {"bind-outputs", 0, INSPECT | COMPILE, FLAG, AT(bind_outputs), NULL,
     "likewise for outputs: nothing else is kept in their memory", NULL, NULL},
    {"vela", 0, COMPILE, TEXT, AT(vela), "PATH",
     "Arm's compiler for an Ethos-U, unless it is in PATH", FILES, NULL},
    {"vela-argument", 0, COMPILE, REPEATED, LIST_AT(vela_arguments), "WORD",
     "goes to it as it is: --vela-argument=--optimise=Size; repeatable", NULL, NULL},
    {"threads", 0, COMPILE | SENSITIVITY, INTEGER, AT(threads), "N", "for calibration", NULL, NULL},
    HEAD("Looking inside", COMPILE),
    {"dump", 0, COMPILE, TEXT, AT(dump), "PASS", "print the graph behind this pass", PASSES_LISTED,
     NULL},
    {"stop-after", 0, COMPILE, TEXT, AT(stop_after), "PASS", "stop behind this pass, write nothing",
     PASSES_LISTED, NULL},
    {"from", 0, COMPILE, TEXT, AT(from), "PASS", "start with this pass, from a dumped graph",
     PASSES_LISTED, NULL},
    {"help-passes", 0, COMPILE, LISTING, NOWHERE, NULL, "list the passes", NULL, corten_passes},
    {"input", 'i', RUN | VERIFY, TEXT, AT(input), "PATH", ".npy, .npz, an image, or a folder",
     PATHS, NULL},
    {"labels", 0, VERIFY, TEXT, AT(labels), "NAME", "a .npy, or an array's name in the input",
     PATHS, NULL},
    {"limit", 0, RUN | VERIFY, INTEGER, AT(limit), "N", "only the first N samples", NULL, NULL},
    {"on", 0, RUN, TEXT, AT(on), NULL, "where to run (default: host; an archive: float)",
     "float|host|qemu", NULL},
    {"on", 0, VERIFY, TEXT, AT(on), NULL, "what to hold against float (default: host)",
     "host|qemu|board", NULL},
    {"port", 0, VERIFY, TEXT, AT(port), "DEV", "the board's serial line: /dev/ttyACM0", FILES,
     NULL},
    {"baud", 0, VERIFY, INTEGER, AT(baud), "N", "its speed (default: 115200)", NULL, NULL},
    {"model", 0, RUN | VERIFY | SENSITIVITY, TEXT, AT(archive), "PATH", "where the archive is now",
     FILES, NULL},
    {"stream", 0, RUN, FLAG, AT(stream), NULL,
     "the samples are one sequence: an error for a model that keeps no state", NULL, NULL},
    {"raw", 0, RUN, FLAG, AT(raw), NULL, "write integers as they are", NULL, NULL},
    HEAD("Images", COMPILE | RUN | VERIFY | SENSITIVITY),
    {"mean", 0, COMPILE | RUN | VERIFY | SENSITIVITY, TEXT, AT(mean), "NUMBERS", "of images, 0..1",
     NULL, NULL},
    {"std", 0, COMPILE | RUN | VERIFY | SENSITIVITY, TEXT, AT(std), "NUMBERS", "of images", NULL,
     NULL},
    HEAD("Output", ALL),
    {"json", 0, ALL & ~SHELL_ONLY, FLAG, AT(json), NULL, "print JSON", NULL, NULL},
    {"quiet", 'q', ALL & ~SHELL_ONLY, FLAG, AT(quiet), NULL,
     "errors only; the report keeps compile's warnings", NULL, NULL},
    {"verbose", 'v', ALL & ~SHELL_ONLY, FLAG, AT(verbose), NULL, "say more", NULL, NULL},
};
const int option_count = COUNT_OF(option_table);

bool option_is_of(const Option *option, const Command *command) {
    return option->kind != HEADING && option->commands & 1u << (command - command_table);
}

const char *option_argument(const Option *option) {
    bool words = option->values && option->values[0] != '@';
    return option->argument ? option->argument : words ? option->values : NULL;
}

const Command *command_find(const char *name) {
    for (int i = 0; i < command_count; i++)
        if (strcmp(command_table[i].name, name) == 0)
            return &command_table[i];
    return NULL;
}
