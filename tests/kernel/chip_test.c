/* kernels_chip CPU: every case of every kernel and variant that the CPU's level has, on QEMU,
 * against plain C on the host, byte for byte over the whole arena. Exit code 77 skips: no compiler
 * or no QEMU. */
#include "kernel/cases.h"
#include "run/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, SECONDS = 600 };

typedef struct {
    const KernelCase *item, *plain;
    int index;
} Sent;

typedef struct {
    const Cpu *cpu;
    char work[64];
    int count, capacity;
    Sent *sent;
} Test;

static int level_of(const char *isa) {
    for (int i = 0; isa && i < isa_level_count; i++)
        if (strcmp(isa_levels[i], isa) == 0)
            return i;
    return -1;
}

static const char *file(C *c, const Test *t, const char *name) {
    return path_join(c, t->work, name);
}

static void collect(C *c, Test *t) {
    for (int v = 0; v < variant_table_count; v++) {
        const Variant *variant = &variant_table[v], *plain = variant;
        if (level_of(variant->isa) > level_of(t->cpu->isa))
            continue;
        while (plain->isa || plain->kernel != variant->kernel)
            plain = plain == variant_table + variant_table_count - 1 ? variant_table : plain + 1;
        for (int i = 0; i < case_count(variant->kernel); i++) {
            const KernelCase *k = case_make(c, variant, i);
            if (!k)
                continue;
            t->sent = c_grow(c, t->sent, t->count, &t->capacity, t->count + 1, sizeof *t->sent);
            t->sent[t->count++] = (Sent){k, case_make(c, plain, i), i};
        }
    }
}

static void write_cases(C *c, const Test *t) {
    Text out = text_new(c);
    uint32_t count = (uint32_t)t->count;
    text_add_bytes(&out, &count, 4);
    for (int i = 0; i < t->count; i++) {
        const KernelCase *k = t->sent[i].item;
        uint32_t head[4] = {(uint32_t)(k->variant - variant_table), (uint32_t)k->call->args_bytes,
                            (uint32_t)k->arena_bytes, (uint32_t)k->weights_bytes};
        text_add_bytes(&out, head, sizeof head);
        text_add_bytes(&out, k->call->args, (size_t)k->call->args_bytes);
        text_add_bytes(&out, k->arena, (size_t)k->arena_bytes);
        text_add_bytes(&out, k->weights, (size_t)k->weights_bytes);
    }
    file_write(c, file(c, t, "cases.bin"), out.data, out.length);
}

static void add_sources(C *c, Words *w, const char *folder, const char *except) {
    const char **name;
    int count = folder_list(c, folder, &name);
    for (int i = 0; i < count; i++)
        if ((text_ends_with(name[i], ".c") || text_ends_with(name[i], ".S")) &&
            strcmp(name[i], except) != 0)
            words_add(w, path_join(c, folder, name[i]));
}

/* The exit code of a tool; its words go to stderr when it fails. */
static int run(C *c, const Test *t, const Words *w) {
    const char *log = file(c, t, "log");
    Process p = process_start(c, w, t->work, log, SECONDS);
    int code = process_wait(&p);
    if (code == PROCESS_MISSING)
        fprintf(stderr, "%s is not installed: skipped\n", w->item[0]);
    else if (code != 0)
        fprintf(stderr, "%s gave %d\n%s\n", w->item[0], code, file_read(c, log, &(size_t){0}));
    return code == PROCESS_MISSING ? SKIPPED : code == 0 ? 0 : 1;
}

static int build_and_run(C *c, const Test *t) {
    const char *source = CORTEN_SOURCE;
    Words w = words_new(c);
    words_add(&w, "arm-none-eabi-gcc");
    words_split(&w, t->cpu->gcc_flags);
    words_split(&w, "-std=gnu11 -O2 -ffreestanding -ffp-contract=off -ffunction-sections "
                    "-fdata-sections -nostdlib -Wl,--gc-sections -Wall -Wextra -Wconversion "
                    "-Werror");
    words_add(&w, c_format(c, "-DCHIP_LEVEL=%d", level_of(t->cpu->isa)));
    words_add(&w, c_format(c, "-I%s/runtime", source));
    words_add(&w, c_format(c, "-I%s/boards", source));
    words_add(&w, c_format(c, "-I%s/boards/%s", source, t->cpu->board));
    words_add(&w, c_format(c, "-L%s/boards", source));
    words_add(&w, c_format(c, "-T%s/boards/%s/link.ld", source, t->cpu->board));
    add_sources(c, &w, path_join(c, source, "runtime"), "");
    add_sources(c, &w, path_join(c, source, "boards"), "harness.c");
    words_add(&w, c_format(c, "%s/tests/kernel/chip_main.c", source));
    words_split(&w, "-lgcc -o test.elf");
    int code = run(c, t, &w);
    if (code != 0)
        return code;
    w = words_new(c);
    words_split(&w, "qemu-system-arm -display none -monitor none -serial none -kernel test.elf");
    words_split(&w, "-semihosting-config enable=on,target=native");
    words_split(&w, c_format(c, "-M %s", t->cpu->machine));
    return run(c, t, &w);
}

static int compare(C *c, const Test *t) {
    size_t bytes, at = 0;
    const uint8_t *data = (const uint8_t *)file_read(c, file(c, t, "arenas.bin"), &bytes);
    int wrong = 0;
    for (int i = 0; i < t->count; i++) {
        const KernelCase *k = t->sent[i].item, *plain = t->sent[i].plain;
        const uint8_t *after = data + at;
        at += (size_t)k->arena_bytes;
        if (at > bytes) {
            fprintf(stderr, "the board wrote only %zu bytes\n", bytes);
            return 1;
        }
        int64_t stray = case_stray_write(k, after);
        const uint8_t *want = case_run(c, plain) + plain->output;
        if (stray < 0 && memcmp(after + k->output, want, (size_t)k->output_bytes) == 0)
            continue;
        fprintf(stderr, "%s, case %d: %s\n", k->variant->symbol, t->sent[i].index,
                stray >= 0 ? "writes outside of its output" : "differs from plain C on the host");
        wrong++;
    }
    printf("%s: %d cases, %d wrong\n", t->cpu->name, t->count, wrong);
    return wrong > 0;
}

static int outcome;

static void body(C *c, void *user) {
    Test *t = user;
    collect(c, t);
    write_cases(c, t);
    outcome = build_and_run(c, t);
    if (outcome == 0)
        outcome = compare(c, t);
    static const char *const left[] = {"cases.bin", "arenas.bin", "test.elf", "log"};
    for (size_t i = 0; i < COUNT_OF(left); i++)
        unlink(file(c, t, left[i]));
    rmdir(t->work);
}

int main(int argc, char **argv) {
    Test t = {.cpu = argc == 2 ? cpu_find(argv[1]) : NULL, .work = "/tmp/corten-kernels-XXXXXX"};
    if (!t.cpu || !mkdtemp(t.work)) {
        fprintf(stderr, "usage: kernels_chip CPU\n");
        return 2;
    }
    C *c = c_new();
    if (c_try(c, body, &t) != 0) {
        diag_print(c, stderr, false, false);
        outcome = 1;
    }
    c_free(c);
    return outcome;
}
