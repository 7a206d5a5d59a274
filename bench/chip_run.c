/* Builds bench/chip.c with the whole runtime for a CPU and runs it under QEMU in a folder of its
 * own. */
#include "chip_run.h"

#include <string.h>

enum { COMPILE_AND_RUN_SECONDS = 3600 };

void board_write_calls(C *c, const char *work, int count, const BoardCall *calls) {
    Text out = text_new(c);
    uint32_t number = (uint32_t)count;
    text_add_bytes(&out, &number, 4);
    for (int i = 0; i < count; i++) {
        const BoardCall *k = &calls[i];
        uint32_t head[4] = {(uint32_t)(k->call->variant - variant_table),
                            (uint32_t)k->call->args_bytes, (uint32_t)k->arena_bytes,
                            (uint32_t)k->weights_bytes};
        text_add_bytes(&out, head, sizeof head);
        text_add_bytes(&out, k->call->args, (size_t)k->call->args_bytes);
        text_add_bytes(&out, k->arena, (size_t)k->arena_bytes);
        text_add_bytes(&out, k->weights, (size_t)k->weights_bytes);
    }
    file_write(c, path_join(c, work, "cases.bin"), out.data, out.length);
}

static void add_sources(C *c, Words *w, const char *folder, const char *except) {
    const char **name;
    int count = folder_list(c, folder, &name);
    for (int i = 0; i < count; i++)
        if ((text_ends_with(name[i], ".c") || text_ends_with(name[i], ".S")) &&
            strcmp(name[i], except) != 0)
            words_add(w, path_join(c, folder, name[i]));
}

Words board_compiler(C *c, const Cpu *cpu, const char *elf) {
    const char *source = CORTEN_SOURCE;
    Words w = words_new(c);
    words_add(&w, "arm-none-eabi-gcc");
    words_split(&w, cpu->gcc_flags);
    words_split(&w, "-std=gnu11 -O2 -ffreestanding -ffp-contract=off -ffunction-sections "
                    "-fdata-sections -nostdlib -Wl,--gc-sections");
    words_add(&w, c_format(c, "-DCHIP_LEVEL=%d", isa_rank(cpu->isa)));
    words_add(&w, c_format(c, "-I%s/runtime", source));
    words_add(&w, c_format(c, "-I%s/boards", source));
    words_add(&w, c_format(c, "-I%s/boards/%s", source, cpu->board));
    words_add(&w, c_format(c, "-L%s/boards", source));
    words_add(&w, c_format(c, "-T%s/boards/%s/link.ld", source, cpu->board));
    add_sources(c, &w, path_join(c, source, "runtime"), "");
    add_sources(c, &w, path_join(c, source, "boards"), "harness.c");
    words_add(&w, path_join(c, source, "bench/chip.c"));
    words_split(&w, "-lgcc -o");
    words_add(&w, elf);
    return w;
}

/* What it prints goes to a file in the folder. */
static void run(C *c, const char *work, const Words *w, const char *file) {
    const char *log = path_join(c, work, file);
    Process p = process_start(c, w, work, log, COMPILE_AND_RUN_SECONDS);
    int code = process_wait(&p);
    if (code == PROCESS_MISSING)
        fatal(c, DIAG_TOOL, NULL, "%s was not found", w->item[0]);
    if (code != 0)
        fatal(c, DIAG_TOOL, NULL, "%s failed with code %d\n%s", w->item[0], code,
              file_read(c, log, &(size_t){0}));
}

static void simulate(C *c, const Cpu *cpu, const char *work, const char *plugin) {
    Words w = words_new(c);
    if (plugin) {
        words_split(&w, "arm-none-eabi-objdump -m armv8.1-m.main -d --no-show-raw-insn bench.elf");
        run(c, work, &w, "listing");
        w = words_new(c);
    }
    words_split(&w, "qemu-system-arm -display none -monitor none -serial none -kernel bench.elf");
    words_split(&w, "-semihosting-config enable=on,target=native -icount shift=5");
    words_split(&w, c_format(c, "-M %s", cpu->machine));
    if (plugin) {
        words_add(&w, "-plugin");
        words_add(&w, c_format(c, "%s,listing=listing,out=cycles.bin", plugin));
    }
    run(c, work, &w, "log");
}

BoardResult board_run(C *c, const Cpu *cpu, int count, const BoardCall *calls, const char *plugin) {
    const char *work = folder_temporary(c);
    board_write_calls(c, work, count, calls);
    Words compiler = board_compiler(c, cpu, "bench.elf");
    run(c, work, &compiler, "log");
    simulate(c, cpu, work, plugin);
    BoardResult r = {0};
    size_t bytes;
    r.instructions = (uint32_t *)(void *)file_read(c, path_join(c, work, "counts.bin"), &bytes);
    if (bytes != 4 * (size_t)count)
        fatal(c, DIAG_BUG, NULL, "the board counted %zu calls of %d", bytes / 4, count);
    if (plugin)
        r.cycles = (const Cycles *)(void *)file_read(c, path_join(c, work, "cycles.bin"), &bytes);
    if (plugin && bytes != sizeof *r.cycles * (size_t)count)
        fatal(c, DIAG_BUG, NULL, "cycles of %zu calls of %d", bytes / sizeof *r.cycles, count);
    r.arenas = (const uint8_t *)file_read(c, path_join(c, work, "arenas.bin"), &r.arena_bytes);
    return r;
}
