/* corten_costs [CPU] > src/lower/measured_instructions.c: what each kernel costs on each level. The
 * bench's layers, whole and as strips of a few rows, and the cases of the kernels' tests run on
 * QEMU in every variant that the level could choose; factors of the terms in call_terms, none below
 * zero, are fitted to the counts so that the sum of squared relative errors is least. */
#include "bench.h"
#include "chip_run.h"
#include "kernel/cases.h"
#include "lower/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 3000, LAYER_WEIGHT = 8, FEWEST = 4 };

typedef struct {
    const Variant *variant;
    double term[COST_TERMS], count, weight;
    bool is_layer;
} Sample;

typedef struct {
    C *c;
    const Cpu *cpu;
    int call_count, call_capacity, layers; /* the first `layers` calls are of the bench */
    BoardCall *call;
    Sample *sample;
} Costs;

/* ---- calls --------------------------------------------------------------------------------- */

static int level_of(const char *isa) {
    for (int i = 0; isa && i < isa_level_count; i++)
        if (strcmp(isa_levels[i], isa) == 0)
            return i;
    return -1;
}

static void add_call(Costs *k, BoardCall call) {
    k->call =
        c_grow(k->c, k->call, k->call_count, &k->call_capacity, k->call_count + 1, sizeof *k->call);
    k->call[k->call_count++] = call;
}

static void add_layer(Costs *k, const Layer *layer, const char *isa) {
    const Placed *p = layer_place(k->c, layer, isa);
    add_call(k, (BoardCall){p->call, p->arena, p->weights, p->arena_bytes, p->weights_bytes});
}

/* The layer, and a few rows of it: what a strip's step has. */
static void add_layers(Costs *k, const char *isa) {
    for (int i = 0; i < layer_count; i++) {
        Layer part = layer_table[i];
        add_layer(k, &layer_table[i], isa);
        if (part.kh < 1 || part.h <= part.kh + 2 * part.stride)
            continue;
        for (int rows = 1; rows <= 4; rows *= 2) {
            part.h = part.kh + (rows - 1) * part.stride - (part.stride == 1 ? 2 * part.pad : 0);
            if (part.h > 0 && part.h < layer_table[i].h)
                add_layer(k, &part, isa);
        }
    }
}

static void add_cases(Costs *k) {
    for (int v = 0; v < variant_table_count; v++) {
        const Variant *variant = &variant_table[v];
        if (level_of(variant->isa) > level_of(k->cpu->isa))
            continue;
        for (int i = 0; i < case_count(variant->kernel); i++) {
            const KernelCase *p = case_make(k->c, variant, i);
            if (p)
                add_call(k, (BoardCall){p->call, p->arena, p->weights, p->arena_bytes,
                                        p->weights_bytes});
        }
    }
}

static void count_calls(Costs *k) {
    for (int level = level_of(k->cpu->isa); level >= -1; level--)
        add_layers(k, level < 0 ? NULL : isa_levels[level]);
    k->layers = k->call_count;
    add_cases(k);
    BoardResult r = board_run(k->c, k->cpu, k->call_count, k->call);
    k->sample = NEW_ARRAY(k->c, Sample, k->call_count);
    for (int i = 0; i < k->call_count; i++) {
        Sample *s = &k->sample[i];
        s->variant = k->call[i].call->variant;
        s->count = r.instructions[i] > 1 ? r.instructions[i] : 1;
        call_terms(k->call[i].call, s->term);
        s->is_layer = i < k->layers;
        s->weight = (s->is_layer ? LAYER_WEIGHT : 1) / (s->count * s->count);
    }
}

/* ---- the fit ------------------------------------------------------------------------------- */

typedef struct {
    int count;
    Sample *sample;
    double factor[COST_TERMS];
} Fit;

/* Coordinate descent: each factor in turn takes the value that is best beside the others. */
static void fit(Fit *f) {
    double cross[COST_TERMS][COST_TERMS] = {{0}}, target[COST_TERMS] = {0};
    for (int i = 0; i < f->count; i++) {
        const Sample *s = &f->sample[i];
        for (int k = 0; k < COST_TERMS; k++) {
            target[k] += s->weight * s->term[k] * s->count;
            for (int j = 0; j < COST_TERMS; j++)
                cross[k][j] += s->weight * s->term[k] * s->term[j];
        }
    }
    memset(f->factor, 0, sizeof f->factor);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int k = 0; k < COST_TERMS; k++) {
            double rest = target[k];
            for (int j = 0; j < COST_TERMS; j++)
                rest -= j == k ? 0 : cross[k][j] * f->factor[j];
            f->factor[k] = cross[k][k] > 0 && rest > 0 ? rest / cross[k][k] : 0;
        }
}

static double estimate(const Fit *f, const Sample *s) {
    double sum = 0;
    for (int k = 0; k < COST_TERMS; k++)
        sum += f->factor[k] * s->term[k];
    return sum;
}

/* Of the bench's layers, then of the tests' cases. */
static void print_errors(const Fit *f, const char *isa, const char *symbol) {
    fprintf(stderr, "%-4s %-30s", isa, symbol);
    for (int cases = 0; cases < 2; cases++) {
        double square = 0, worst = 0;
        int count = 0;
        for (int i = 0; i < f->count; i++) {
            double error = estimate(f, &f->sample[i]) / f->sample[i].count - 1;
            if (f->sample[i].is_layer == (cases == 1))
                continue;
            count++;
            square += error * error;
            worst = fabs(error) > fabs(worst) ? error : worst;
        }
        fprintf(stderr, " | %3d %s %5.1f %%, worst %6.1f %%", count, cases ? "cases" : "layers",
                count ? 100 * sqrt(square / count) : 0, 100 * worst);
    }
    fprintf(stderr, "\n");
}

static void print_row(const Fit *f, const char *isa, const char *symbol) {
    int last = COST_TERMS - 1;
    while (last > 0 && f->factor[last] == 0)
        last--;
    printf("    {\"%s\", \"%s\", {", isa, symbol);
    for (int k = 0; k <= last; k++)
        printf("%s%.5g", k ? ", " : "", f->factor[k]);
    printf("}},\n");
}

static void print_level(C *c, void *user) {
    Costs *k = user;
    k->c = c;
    count_calls(k);
    Fit f = {.sample = NEW_ARRAY(c, Sample, k->call_count)};
    for (int v = 0; v < variant_table_count; v++) {
        const Variant *variant = &variant_table[v];
        f.count = 0;
        for (int i = 0; i < k->call_count; i++)
            if (k->sample[i].variant == variant)
                f.sample[f.count++] = k->sample[i];
        if (f.count < FEWEST)
            continue;
        fit(&f);
        print_errors(&f, k->cpu->isa, variant->symbol);
        print_row(&f, k->cpu->isa, variant->symbol);
    }
}

/* ---- the file ------------------------------------------------------------------------------ */

static const char *compiler_name(void) {
    static char line[256] = "unknown";
    FILE *p = popen("arm-none-eabi-gcc --version", "r");
    if (p && fgets(line, sizeof line, p))
        line[strcspn(line, "\n")] = 0;
    if (p)
        pclose(p);
    return line;
}

int main(int argc, char **argv) {
    static const char *const cpus[] = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"};
    int failed = 0;
    printf("/* Instructions of each kernel on each level: factors of the terms in estimate.c.\n"
           " * Written by bench/costs.c; do not edit. */\n#include \"lower/measured.h\"\n\n"
           "const char cost_origin[] = \"counted under QEMU on cortex-m0plus, -m3, -m4, -m55; "
           "%s -O2\";\n\nconst CostRow cost_table[] = {\n",
           compiler_name());
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        Costs k = {.cpu = cpu_find(cpus[i])};
        if (argc > 1 && strcmp(argv[1], cpus[i]) != 0)
            continue;
        C *c = c_new();
        if (c_try(c, print_level, &k) != 0) {
            diag_print(c, stderr, false, false);
            failed = 1;
        }
        c_free(c);
    }
    printf("};\nconst int cost_table_count = COUNT_OF(cost_table);\n");
    return failed;
}
