/* A compiled model on a simulated chip. The emitted files of DIR are built with boards/harness.c
 * for the CPU's board and run twice under QEMU, side by side: once for all samples, once for the
 * first sample with -icount, call by call. Works in a temporary folder that is removed again. */
#include "emit/names.h"
#include "run/process.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPILE_SECONDS = 300, RUN_SECONDS = 1800 };

typedef struct {
    C *c;
    Graph *g;
    const Options *options;
    const char *model_folder, *work; /* DIR; the temporary folder */
    const Samples *samples;
} Chip;

/* ---- the temporary folder ------------------------------------------------------------------ */

static const char *work_file(const Chip *chip, const char *name) {
    return path_join(chip->c, chip->work, name);
}

/* ---- failures ------------------------------------------------------------------------------ */

static const char *package_of(const char *tool) {
    return strcmp(tool, "qemu-system-arm") == 0 ? "qemu-system-arm" : "gcc-arm-none-eabi";
}

/* Ends with the tool's own words. `code` is what process_wait gave. */
static _Noreturn void tool_failed(const Chip *chip, const char *tool, int code, const char *log) {
    C *c = chip->c;
    size_t bytes = 0;
    const char *said = access(log, R_OK) == 0 ? file_read(c, log, &bytes) : "";
    if (code == PROCESS_MISSING)
        fatal(c, DIAG_TOOL, NULL, "%s was not found; on Debian: apt-get install %s", tool,
              package_of(tool));
    if (code == PROCESS_TIMEOUT)
        fatal(c, DIAG_TOOL, NULL, "%s did not end in time", tool);
    diag_error(c, DIAG_TOOL, NULL, "%s failed with code %d", tool, code);
    diag_detail(c, "%.*s", (int)(bytes > 4000 ? 4000 : bytes), said);
    diag_stop_if_errors(c);
    abort();
}

static void run_tool(const Chip *chip, const Words *words) {
    const char *log = work_file(chip, "tool.log");
    Process p = process_start(chip->c, words, chip->work, log, COMPILE_SECONDS);
    int code = process_wait(&p);
    if (code != 0)
        tool_failed(chip, words->item[0], code, log);
}

/* ---- building ------------------------------------------------------------------------------ */

static void add_port(Text *t, const Arg *arg) {
    if (arg->kind != ARG_VALUE || !arg->u.value->buffer)
        return;
    const Value *v = arg->u.value;
    text_add(t, " {%d, %lld, %lld},", v->buffer->region,
             (long long)(v->buffer->offset + v->buffer_offset), (long long)value_bytes(v));
}

/* Arrays for what <name>_init takes, in its order, and how to bind them. */
static void add_memory(Text *t, const Chip *chip) {
    const Graph *g = chip->g;
    int region[CTN_REGIONS], count = init_regions(g, region);
    text_add(t, "#define MODEL_MEMORY");
    for (int i = 0; i < count; i++)
        text_add(t, " MEMORY(%s, %lld)", g->region[region[i]].name,
                 (long long)g->region[region[i]].bytes);
    text_add(t, "\n#define MODEL_INIT(model) %s_init(model", g->name);
    for (int i = 0; i < count; i++)
        text_add(t, ", memory_%s", g->region[region[i]].name);
    text_add(t, ")\n#define MODEL_INPUT_BYTES %lld\n#define MODEL_OUTPUT_BYTES %lld\n",
             (long long)g->input_bytes, (long long)g->output_bytes);
}

static void write_binding(const Chip *chip) {
    Text t = text_new(chip->c);
    const Graph *g = chip->g;
    text_add(&t, "#include \"%s.h\"\n#define MODEL_TYPE %s_t\n", g->name, g->name);
    text_add(&t, "#define MODEL_FRAME(model) (model).frame\n");
    text_add(&t, "#define MODEL_CALL %s_call\n#define MODEL_RUN %s_run\n", g->name, g->name);
    add_memory(&t, chip);
    text_add(&t, "#define MODEL_CALL_COUNT %d\n#define MODEL_SAMPLES %d\n", g->call_count,
             chip->samples->count);
    text_add(&t, "#define MODEL_INPUTS");
    for (int i = 0; i < g->input_count; i++)
        add_port(&t, &g->input[i]);
    text_add(&t, "\n#define MODEL_OUTPUTS");
    for (int i = 0; i < g->output_count; i++)
        add_port(&t, &g->output[i]);
    text_add(&t, "\n");
    file_write(chip->c, work_file(chip, "model_binding.h"), t.data, t.length);
}

static const char *absolute(C *c, const char *path) {
    char *real = realpath(path, NULL);
    if (!real)
        fatal(c, DIAG_INPUT, &(Loc){.file = path}, "no such folder");
    const char *copy = c_strdup(c, real);
    free(real);
    return copy;
}

/* What several compilers at once make of the sources: 0.o, 1.o, ... */
typedef struct {
    const Chip *chip;
    int count, most;  /* objects so far; compilers at once */
    Process *process; /* of the last `most` objects, by number modulo `most` */
} Objects;

static Words compiler_words(const Chip *chip) {
    Words w = words_new(chip->c);
    words_add(&w, "arm-none-eabi-gcc");
    words_split(&w, chip->options->cpu->gcc_flags);
    return w;
}

static void await_object(Objects *o, int number) {
    Process *p = &o->process[number % o->most];
    int code = process_wait(p);
    if (code != 0)
        tool_failed(o->chip, "arm-none-eabi-gcc", code, p->log);
}

/* Compiles a file, named as seen from `folder`. Kernels are named by no path of this machine: what
 * their objects depend on is then the same in every folder, and a compiler cache in front of the
 * compiler finds them again. */
static void compile(Objects *o, const char *folder, const char *file, const Words *flags) {
    C *c = o->chip->c;
    if (o->count >= o->most)
        await_object(o, o->count - o->most);
    Words w = compiler_words(o->chip);
    words_split(
        &w, "-std=gnu11 -O2 -ffp-contract=off -ffunction-sections -fdata-sections -ffreestanding");
    for (int i = 0; i < flags->count; i++)
        words_add(&w, flags->item[i]);
    words_add(&w, "-c");
    words_add(&w, file);
    words_add(&w, "-o");
    words_add(&w, work_file(o->chip, c_format(c, "%d.o", o->count)));
    const char *log = work_file(o->chip, c_format(c, "%d.log", o->count));
    o->process[o->count++ % o->most] = process_start(c, &w, folder, log, COMPILE_SECONDS);
}

static void compile_folder(Objects *o, const char *folder, const Words *flags) {
    C *c = o->chip->c;
    const char **name;
    int count = folder_list(c, folder, &name);
    for (int i = 0; i < count; i++)
        if (text_ends_with(name[i], ".c") || text_ends_with(name[i], ".S"))
            compile(o, folder, name[i], flags);
}

static Words model_flags(const Chip *chip, const char *boards, const char *board) {
    C *c = chip->c;
    Words w = words_new(c);
    words_add(&w, c_format(c, "-D%s_OWN_MEMORY", upper_name(c, chip->g->name)));
    for (int r = 0; r < CTN_REGIONS; r++) /* the board has no such sections */
        if (region_is_used(chip->g, r) && chip->g->region[r].section)
            words_add(&w, c_format(c, "-D%s_%s_SECTION=", upper_name(c, chip->g->name),
                                   upper_name(c, chip->g->region[r].name)));
    const char *folders[] = {chip->work, chip->model_folder,
                             path_join(c, chip->model_folder, "runtime"), boards, board};
    for (int i = 0; i < (int)COUNT_OF(folders); i++)
        words_add(&w, c_format(c, "-I%s", folders[i]));
    return w;
}

static void link_objects(const Chip *chip, int count, const char *boards, const char *board) {
    C *c = chip->c;
    Words w = compiler_words(chip);
    words_split(&w, "-nostdlib -Wl,--gc-sections");
    words_add(&w, c_format(c, "-L%s", boards));
    words_add(&w, c_format(c, "-T%s/link.ld", board));
    for (int i = 0; i < count; i++)
        words_add(&w, c_format(c, "%d.o", i));
    words_split(&w, "-lgcc -o model.elf");
    run_tool(chip, &w);
}

static void build(const Chip *chip) {
    C *c = chip->c;
    const char *boards = absolute(c, path_join(c, share_folder(c), "boards"));
    const char *board = path_join(c, boards, chip->options->cpu->board);
    Words kernel_flags = words_new(c), flags = model_flags(chip, boards, board);
    words_add(&kernel_flags, "-I.");
    Objects o = {chip, .most = chip->options->threads > 0 ? chip->options->threads : 1};
    o.process = NEW_ARRAY(c, Process, o.most);
    compile(&o, chip->model_folder, c_format(c, "%s.c", chip->g->name),
            &flags); /* the longest first */
    compile_folder(&o, path_join(c, chip->model_folder, "runtime"), &kernel_flags);
    compile_folder(&o, boards, &flags);
    for (int i = o.count > o.most ? o.count - o.most : 0; i < o.count; i++)
        await_object(&o, i);
    link_objects(chip, o.count, boards, board);
}

/* Flash is what the image holds, RAM its variables and the arena, without the stack. */
static void read_sizes(const Chip *chip, ChipRun *run) {
    Words w = words_new(chip->c);
    words_split(&w, "arm-none-eabi-size -A model.elf");
    run_tool(chip, &w);
    size_t bytes;
    char *text = file_read(chip->c, work_file(chip, "tool.log"), &bytes);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char section[64];
        long long size;
        if (sscanf(line, "%63s %lld", section, &size) != 2)
            continue;
        if (!strcmp(section, ".text") || !strcmp(section, ".rodata") || !strcmp(section, ".data"))
            run->image_flash_bytes += size;
        if (!strcmp(section, ".data") || !strcmp(section, ".bss") || !strcmp(section, ".big"))
            run->image_ram_bytes += size;
    }
}

/* ---- running ------------------------------------------------------------------------------- */

static void write_inputs(const Chip *chip) {
    Text t = text_new(chip->c);
    const Graph *g = chip->g;
    for (int s = 0; s < chip->samples->count; s++)
        for (int i = 0; i < g->input_count; i++) {
            if (g->input[i].kind != ARG_VALUE || !g->input[i].u.value->buffer)
                continue;
            const Value *v = g->input[i].u.value;
            char *memory = c_alloc(chip->c, (size_t)value_bytes(v));
            value_save(chip->c, v, chip->samples->sample[s][i], memory);
            text_add_bytes(&t, memory, (size_t)value_bytes(v));
        }
    file_write(chip->c, work_file(chip, "input.bin"), t.data, t.length);
}

static Process start(const Chip *chip, const char *mode, const char *log) {
    C *c = chip->c;
    Words w = words_new(c);
    words_split(&w, "qemu-system-arm -display none -monitor none -serial none -kernel model.elf");
    words_split(&w, c_format(c, "-M %s", chip->options->cpu->machine));
    words_split(&w, c_format(c, "-semihosting-config enable=on,target=native,arg=%s", mode));
    if (strcmp(mode, "count") == 0)
        words_split(&w, "-icount shift=5");
    return process_start(c, &w, chip->work, work_file(chip, log), RUN_SECONDS);
}

static void read_results(const Chip *chip, const char *name, ChipRun *run) {
    size_t bytes;
    char *text = file_read(chip->c, work_file(chip, name), &bytes), *rest = NULL;
    int call = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        unsigned long long n;
        if (sscanf(line, "stack %llu", &n) == 1)
            run->stack_bytes = (uint32_t)n;
        else if (sscanf(line, "total %llu", &n) == 1)
            run->total_instructions = n;
        else if (sscanf(line, "call %llu", &n) == 1 && call < chip->g->call_count)
            run->call_instructions[call++] = n;
    }
}

static void read_outputs(const Chip *chip, ChipRun *run) {
    C *c = chip->c;
    const Graph *g = chip->g;
    size_t bytes, at = 0;
    const char *data = file_read(c, work_file(chip, "output.bin"), &bytes);
    run->outputs = NEW_ARRAY(c, Array **, chip->samples->count + 1);
    for (int s = 0; s < chip->samples->count; s++) {
        run->outputs[s] = NEW_ARRAY(c, Array *, g->output_count + 1);
        for (int k = 0; k < g->output_count; k++) {
            if (g->output[k].kind != ARG_VALUE || !g->output[k].u.value->buffer)
                continue;
            const Value *v = g->output[k].u.value;
            if (at + (size_t)value_bytes(v) > bytes)
                fatal(c, DIAG_BUG, NULL, "the board wrote %zu bytes of outputs, too few", bytes);
            run->outputs[s][k] = value_load(c, v, data + at);
            at += (size_t)value_bytes(v);
        }
    }
}

ChipRun qemu_run(C *c, Graph *g, const Options *o, const char *folder, const Samples *samples) {
    ChipRun run = {.call_instructions = NEW_ARRAY(c, uint64_t, g->call_count + 1)};
    const char *from = absolute(c, folder);
    Chip chip = {c, g, o, from, folder_temporary(c), samples};
    write_binding(&chip);
    write_inputs(&chip);
    build(&chip);
    read_sizes(&chip, &run);
    Process all = start(&chip, "run", "run.log"), first = start(&chip, "count", "count.log");
    int all_code = process_wait(&all), first_code = process_wait(&first);
    if (all_code != 0)
        tool_failed(&chip, "qemu-system-arm", all_code, all.log);
    if (first_code != 0)
        tool_failed(&chip, "qemu-system-arm", first_code, first.log);
    read_results(&chip, "run.txt", &run);
    read_results(&chip, "count.txt", &run);
    read_outputs(&chip, &run);
    return run;
}
