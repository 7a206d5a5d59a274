/* corten_bench CPU...: instructions of every layer on QEMU, in the variants that a model for the
 * CPU gets, beside CMSIS-NN's (cmsis_nn.tsv); on MVE also cycles in two models (cycles.c). A layer
 * whose bytes differ from plain C's on the host counts as failed. */
#include "bench.h"
#include "chip_run.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const Cpu *cpu;
    Placed **placed;
    uint32_t *instructions;
    const Cycles *cycles; /* on MVE, else NULL */
    int wrong;
} Bench;

/* ---- CMSIS-NN's numbers -------------------------------------------------------------------- */

static const char *peer_instructions, *peer_cycles; /* texts of the tables */

/* The number in a table's row and a column that the head line names; 0 if there is none. */
static double peer_number(C *c, const char *table, const char *name, const char *column) {
    char *text = c_strdup(c, table), *rest = NULL;
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

static void run_layers(C *c, Bench *b) {
    BoardCall *calls = NEW_ARRAY(c, BoardCall, layer_count);
    for (int i = 0; i < layer_count; i++) {
        const Placed *p = b->placed[i];
        calls[i] = (BoardCall){p->call, p->arena, p->weights, p->arena_bytes, p->weights_bytes};
    }
    BoardResult r = board_run(c, b->cpu, layer_count, calls,
                              strcmp(b->cpu->isa, "mve") == 0 ? CORTEN_CYCLES : NULL);
    b->instructions = r.instructions;
    b->cycles = r.cycles;
    size_t at = 0;
    for (int i = 0; i < layer_count; i++) {
        const Placed *p = b->placed[i], *plain = layer_place(c, &layer_table[i], NULL);
        CtnFrame frame = {{plain->arena, NULL, plain->weights}};
        plain->call->variant->host(plain->call->args, &frame);
        at += (size_t)p->arena_bytes;
        if (at > r.arena_bytes)
            fatal(c, DIAG_BUG, NULL, "the board wrote only %zu bytes", r.arena_bytes);
        const uint8_t *after = r.arenas + at - p->arena_bytes;
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
    return own >= 0 ? b->instructions[own] : peer_number(c, peer_instructions, name, b->cpu->isa);
}

/* On MVE compilers make much of the difference: columns of CMSIS-NN built by others. */
static const char *const other_builds[] = {"mve_gcc13", "mve_clang19"};

static void print_other_ratios(C *c, const Bench *b, const char *name, double instructions) {
    if (!b->cycles)
        return;
    for (size_t k = 0; k < COUNT_OF(other_builds); k++) {
        double peer = peer_number(c, peer_instructions, name, other_builds[k]);
        if (peer > 0)
            printf(" %7.3f", instructions / peer);
        else
            printf(" %7s", "-");
    }
}

static void print_ratio(C *c, const Bench *b, const char *name, double instructions) {
    double peer = beside(c, b, name);
    if (peer > 0)
        printf(" %12.0f %6.3f", peer, instructions / peer);
    else
        printf(" %12s %6s", "-", "-");
    print_other_ratios(c, b, name, instructions);
}

static void print_layers(C *c, const Bench *b) {
    printf("%-30s %12s %8s %12s %6s%s  %-28s %7s\n", b->cpu->name, "instructions", "per MAC",
           "CMSIS-NN", "ratio", b->cycles ? "  GCC 13   clang" : "", "kernel", "scratch");
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

static void print_cycle_ratios(C *c, const char *name, double macs, double a, double b) {
    double peer_a = peer_number(c, peer_cycles, name, "a");
    double peer_b = peer_number(c, peer_cycles, name, "b");
    if (peer_a > 0)
        printf("%-30s %8.3f %8.3f %6.3f  %8.3f %8.3f %6.3f\n", name, a / macs, peer_a,
               a / macs / peer_a, b / macs, peer_b, b / macs / peer_b);
}

/* Cycles of all that has a peer's, in both models. */
static void print_cycles(C *c, const Bench *b) {
    printf("%-30s %8s %8s %6s  %8s %8s %6s\n", "cycles per MAC", "A", "CMSIS-NN", "ratio", "B",
           "CMSIS-NN", "ratio");
    for (int i = 0; i < layer_count; i++)
        print_cycle_ratios(c, layer_table[i].name, (double)b->placed[i]->macs,
                           (double)b->cycles[i].a, (double)b->cycles[i].b);
    for (int k = 0; k < network_count; k++) {
        const Network *n = &network_table[k];
        double macs = 0, sum_a = 0, sum_b = 0;
        for (size_t i = 0; i < COUNT_OF(n->part) && n->part[i].layer; i++) {
            int layer = layer_find(n->part[i].layer);
            macs += (double)n->part[i].times * (double)b->placed[layer]->macs;
            sum_a += (double)n->part[i].times * (double)b->cycles[layer].a;
            sum_b += (double)n->part[i].times * (double)b->cycles[layer].b;
        }
        print_cycle_ratios(c, n->name, macs, sum_a, sum_b);
    }
}

static void body(C *c, void *user) {
    Bench *b = user;
    b->placed = NEW_ARRAY(c, Placed *, layer_count);
    for (int i = 0; i < layer_count; i++)
        b->placed[i] = layer_place(c, &layer_table[i], b->cpu->isa);
    run_layers(c, b);
    print_layers(c, b);
    print_networks(c, b);
    if (b->cycles)
        print_cycles(c, b);
}

static int measure(const Cpu *cpu) {
    Bench b = {.cpu = cpu};
    C *c = c_new();
    size_t bytes;
    peer_instructions = file_read(c, CORTEN_SOURCE "/bench/cmsis_nn.tsv", &bytes);
    peer_cycles = file_read(c, CORTEN_SOURCE "/bench/cmsis_nn_cycles.tsv", &bytes);
    int failed = c_try(c, body, &b);
    if (failed)
        diag_print(c, stderr, false, false);
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
