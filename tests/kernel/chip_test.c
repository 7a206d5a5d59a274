/* kernels_chip CPU: every case of every kernel and variant that the CPU's level has, on QEMU,
 * against plain C on the host, byte for byte over the whole arena. Exit code 77 skips: no compiler
 * or no QEMU. */
#include "bench/chip_run.h"
#include "kernel/cases.h"

#include <string.h>

enum { SKIPPED = 77, SECONDS = 600 };

typedef struct {
    const KernelCase *item, *plain;
    int index;
} Sent;

typedef struct {
    const Cpu *cpu;
    const char *work; /* a folder */
    int count, capacity;
    Sent *sent;
} Test;

static const char *file(C *c, const Test *t, const char *name) {
    return path_join(c, t->work, name);
}

static void collect(C *c, Test *t) {
    for (int v = 0; v < variant_table_count; v++) {
        const Variant *variant = &variant_table[v], *plain = variant;
        if (!variant_runs_on(variant, t->cpu->isa))
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
    BoardCall *calls = NEW_ARRAY(c, BoardCall, t->count);
    for (int i = 0; i < t->count; i++) {
        const KernelCase *k = t->sent[i].item;
        calls[i] = (BoardCall){k->call, k->arena, k->weights, k->arena_bytes, k->weights_bytes};
    }
    board_write_calls(c, t->work, t->count, calls);
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
    Words w = board_compiler(c, t->cpu, "test.elf");
    words_split(&w, "-Wall -Wextra -Wconversion -Werror");
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
    t->work = folder_temporary(c);
    collect(c, t);
    write_cases(c, t);
    outcome = build_and_run(c, t);
    if (outcome == 0)
        outcome = compare(c, t);
}

int main(int argc, char **argv) {
    Test t = {.cpu = argc == 2 ? cpu_find(argv[1]) : NULL};
    if (!t.cpu) {
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
