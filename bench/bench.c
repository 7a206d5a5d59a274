/* corten_bench CPU...: instructions of every layer on QEMU, in the variants that a model for the
 * CPU gets, beside CMSIS-NN's (cmsis_nn.tsv). A layer whose bytes differ from plain C's on the host
 * counts as failed. */
#include "bench.h"
#include "run/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPILE_AND_RUN_SECONDS = 900 };

typedef struct {
    const Cpu *cpu;
    char work[64];
    Placed **placed;
    uint32_t *instructions;
    int wrong;
} Bench;

/* ---- CMSIS-NN's numbers -------------------------------------------------------------------- */

static const char *peer_text;

/* The number in a row and a column that the head line names; 0 if there is none. */
static double peer_instructions(C *c, const char *name, const char *column) {
    char *text = c_strdup(c, peer_text), *rest = NULL;
    int wanted = -1;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *cells = NULL, *first = strtok_r(line, "\t", &cells), *cell;
        if (*line == '#' || !first)
            continue;
        bool head = strcmp(first, "case") == 0;
        if (!head && strcmp(first, name) != 0)
            continue;
        for (int k = 0; (cell = strtok_r(NULL, "\t", &cells)) != NULL; k++) {
            if (head && strcmp(cell, column) == 0)
                wanted = k;
            if (!head && k == wanted)
                return strtod(cell, NULL);
        }
    }
    return 0;
}

/* ---- the board ----------------------------------------------------------------------------- */

static const char *file(C *c, const Bench *b, const char *name) {
    return path_join(c, b->work, name);
}

static void write_cases(C *c, const Bench *b) {
    Text out = text_new(c);
    uint32_t count = (uint32_t)layer_count;
    text_add_bytes(&out, &count, 4);
    for (int i = 0; i < layer_count; i++) {
        const Placed *p = b->placed[i];
        uint32_t head[4] = {(uint32_t)(p->call->variant - variant_table),
                            (uint32_t)p->call->args_bytes, (uint32_t)p->arena_bytes,
                            (uint32_t)p->weights_bytes};
        text_add_bytes(&out, head, sizeof head);
        text_add_bytes(&out, p->call->args, (size_t)p->call->args_bytes);
        text_add_bytes(&out, p->arena, (size_t)p->arena_bytes);
        text_add_bytes(&out, p->weights, (size_t)p->weights_bytes);
    }
    file_write(c, file(c, b, "cases.bin"), out.data, out.length);
}

static void add_sources(C *c, Words *w, const char *folder, const char *except) {
    const char **name;
    int count = folder_list(c, folder, &name);
    for (int i = 0; i < count; i++)
        if ((text_ends_with(name[i], ".c") || text_ends_with(name[i], ".S")) &&
            strcmp(name[i], except) != 0)
            words_add(w, path_join(c, folder, name[i]));
}

static void run(C *c, const Bench *b, const Words *w) {
    const char *log = file(c, b, "log");
    Process p = process_start(c, w, b->work, log, COMPILE_AND_RUN_SECONDS);
    int code = process_wait(&p);
    if (code == PROCESS_MISSING)
        fatal(c, DIAG_TOOL, NULL, "%s was not found", w->item[0]);
    if (code != 0)
        fatal(c, DIAG_TOOL, NULL, "%s failed with code %d\n%s", w->item[0], code,
              file_read(c, log, &(size_t){0}));
}

static void build_and_run(C *c, const Bench *b) {
    const char *source = CORTEN_SOURCE;
    int level = 0;
    while (strcmp(isa_levels[level], b->cpu->isa) != 0)
        level++;
    Words w = words_new(c);
    words_add(&w, "arm-none-eabi-gcc");
    words_split(&w, b->cpu->gcc_flags);
    words_split(&w, "-std=gnu11 -O2 -ffreestanding -ffp-contract=off -ffunction-sections "
                    "-fdata-sections -nostdlib -Wl,--gc-sections");
    words_add(&w, c_format(c, "-DCHIP_LEVEL=%d", level));
    words_add(&w, c_format(c, "-I%s/runtime", source));
    words_add(&w, c_format(c, "-I%s/boards", source));
    words_add(&w, c_format(c, "-I%s/boards/%s", source, b->cpu->board));
    words_add(&w, c_format(c, "-L%s/boards", source));
    words_add(&w, c_format(c, "-T%s/boards/%s/link.ld", source, b->cpu->board));
    add_sources(c, &w, path_join(c, source, "runtime"), "");
    add_sources(c, &w, path_join(c, source, "boards"), "harness.c");
    words_add(&w, c_format(c, "%s/bench/chip.c", source));
    words_split(&w, "-lgcc -o bench.elf");
    run(c, b, &w);
    w = words_new(c);
    words_split(&w, "qemu-system-arm -display none -monitor none -serial none -kernel bench.elf");
    words_split(&w, "-semihosting-config enable=on,target=native -icount shift=5");
    words_split(&w, c_format(c, "-M %s", b->cpu->machine));
    run(c, b, &w);
}

/* counts.bin: the instructions of each layer; outputs.bin: the arenas after them. */
static void read_results(C *c, Bench *b) {
    size_t bytes, at = 0;
    b->instructions = (uint32_t *)(void *)file_read(c, file(c, b, "counts.bin"), &bytes);
    const uint8_t *arena = (const uint8_t *)file_read(c, file(c, b, "arenas.bin"), &bytes);
    for (int i = 0; i < layer_count; i++) {
        const Placed *p = b->placed[i], *plain = layer_place(c, &layer_table[i], NULL);
        CtnFrame frame = {{plain->arena, NULL, plain->weights}};
        plain->call->variant->host(plain->call->args, &frame);
        at += (size_t)p->arena_bytes;
        if (at > bytes)
            fatal(c, DIAG_BUG, NULL, "the board wrote only %zu bytes", bytes);
        const uint8_t *after = arena + at - p->arena_bytes;
        if (memcmp(after + p->output, plain->arena + plain->output, (size_t)p->output_bytes) != 0) {
            fprintf(stderr, "%s: %s differs from plain C\n", layer_table[i].name,
                    p->call->variant->symbol);
            b->wrong++;
        }
    }
}

/* ---- the table ----------------------------------------------------------------------------- */

/* A layer of other widths stands beside its own in int8, which is named up to the slash. */
static double beside(C *c, const Bench *b, const char *name) {
    const char *slash = strchr(name, '/');
    int own = slash ? layer_find(c_strndup(c, name, (size_t)(slash - name))) : -1;
    return own >= 0 ? b->instructions[own] : peer_instructions(c, name, b->cpu->isa);
}

static void print_ratio(C *c, const Bench *b, const char *name, double instructions) {
    double peer = beside(c, b, name);
    if (peer > 0)
        printf(" %12.0f %6.3f", peer, instructions / peer);
    else
        printf(" %12s %6s", "-", "-");
}

static void print_layers(C *c, const Bench *b) {
    printf("%-30s %12s %8s %12s %6s  %-28s %7s\n", b->cpu->name, "instructions", "per MAC",
           "CMSIS-NN", "ratio", "kernel", "scratch");
    for (int i = 0; i < layer_count; i++) {
        const Placed *p = b->placed[i];
        if (strchr(layer_table[i].name, '/') && !strchr(layer_table[i - 1].name, '/'))
            printf("%-30s %12s %8s %12s %6s\n", "other widths", "", "", "in int8", "ratio");
        printf("%-30s %12u %8.3f", layer_table[i].name, b->instructions[i],
               (double)b->instructions[i] / (double)p->macs);
        print_ratio(c, b, layer_table[i].name, b->instructions[i]);
        printf("  %-28s %7lld\n", p->call->variant->symbol, (long long)p->scratch_bytes);
    }
}

static void print_networks(C *c, const Bench *b) {
    for (int k = 0; k < network_count; k++) {
        const Network *n = &network_table[k];
        double sum = 0, macs = 0;
        for (size_t i = 0; i < COUNT_OF(n->part) && n->part[i].layer; i++) {
            int layer = layer_find(n->part[i].layer);
            if (layer < 0)
                fatal(c, DIAG_BUG, NULL, "%s: no layer %s", n->name, n->part[i].layer);
            sum += (double)n->part[i].times * b->instructions[layer];
            macs += (double)n->part[i].times * (double)b->placed[layer]->macs;
        }
        printf("%-30s %12.0f %8.3f", n->name, sum, sum / macs);
        print_ratio(c, b, n->name, sum);
        printf("\n");
    }
}

static void body(C *c, void *user) {
    Bench *b = user;
    b->placed = NEW_ARRAY(c, Placed *, layer_count);
    for (int i = 0; i < layer_count; i++)
        b->placed[i] = layer_place(c, &layer_table[i], b->cpu->isa);
    write_cases(c, b);
    build_and_run(c, b);
    read_results(c, b);
    print_layers(c, b);
    print_networks(c, b);
}

static int measure(const Cpu *cpu) {
    Bench b = {.cpu = cpu, .work = "/tmp/corten-bench-XXXXXX"};
    C *c = c_new();
    size_t bytes;
    if (!mkdtemp(b.work)) {
        fprintf(stderr, "cannot make a folder in /tmp\n");
        return 1;
    }
    peer_text = file_read(c, CORTEN_SOURCE "/bench/cmsis_nn.tsv", &bytes);
    int failed = c_try(c, body, &b);
    if (failed)
        diag_print(c, stderr, false, false);
    static const char *const left[] = {"cases.bin", "counts.bin", "arenas.bin", "bench.elf", "log"};
    for (size_t i = 0; i < COUNT_OF(left); i++)
        unlink(file(c, &b, left[i]));
    rmdir(b.work);
    c_free(c);
    return failed || b.wrong;
}

int main(int argc, char **argv) {
    int failed = argc < 2;
    for (int i = 1; i < argc; i++) {
        const Cpu *cpu = cpu_find(argv[i]);
        if (!cpu) {
            fprintf(stderr, "usage: corten_bench CPU...\n");
            return 2;
        }
        failed |= measure(cpu);
    }
    return failed;
}
