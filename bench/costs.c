/* corten_costs [CPU] [GLOB...] > src/lower/measured_instructions.c: what each kernel costs on each
 * CPU, or on one. With GLOBs only those of one of these names are counted, but no sums in stores,
 * whose rows say what they take more than another; the other rows stay. The bench's layers, whole
 * and as strips of a few rows, and the cases of the kernels' tests run on QEMU in every variant
 * that the CPU could choose; factors of the terms in call_terms, none below zero, are fitted to the
 * counts so that the sum of squared relative errors is least. */
#include "bench.h"
#include "chip_run.h"
#include "kernel/cases.h"
#include "lower/measured.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYER_WEIGHT = 20, FEWEST = 4, LARGE_CASES = 40 };

typedef struct {
    const Variant *variant;
    double term[COST_TERMS], count, weight;
    bool is_layer;
} Sample;

typedef struct {
    C *c;
    const Cpu *cpu;
    int name_count; /* of kernels that are counted; 0: all are */
    char **name;
    int call_count, call_capacity, layers; /* the first `layers` calls are of the bench */
    BoardCall *call;
    Sample *sample;
} Costs;

/* ---- calls --------------------------------------------------------------------------------- */

static bool is_counted(const Costs *k, const Variant *v) {
    bool named = k->name_count == 0;
    for (int i = 0; i < k->name_count; i++)
        named |= residual_producer(v->kernel) < 0 && fnmatch(k->name[i], v->symbol, 0) == 0;
    return named;
}

static void add_call(Costs *k, BoardCall call) {
    if (!is_counted(k, call.call->variant))
        return;
    k->call =
        c_grow(k->c, k->call, k->call_count, &k->call_capacity, k->call_count + 1, sizeof *k->call);
    k->call[k->call_count++] = call;
}

static void add_placed(Costs *k, const Placed *p) {
    add_call(k, (BoardCall){p->call, p->arena, p->weights, p->arena_bytes, p->weights_bytes});
}

/* Once with the level's best variant, of int16 with functions in its store, behind a convolution
 * the same with a sum in its store, and with its small ones. */
static void add_layer(Costs *k, const Layer *layer, const char *isa) {
    add_placed(k, layer_place(k->c, layer, isa));
    bool maps = layer->kernel == CTN_KERNEL_conv2d_s16 || layer->kernel == CTN_KERNEL_linear_s16;
    for (int pieces = 0; maps && pieces < 20; pieces += 12)
        add_placed(k, layer_place_mapped(k->c, layer, isa, pieces));
    bool sums = layer->kernel == CTN_KERNEL_conv2d_s8 || layer->kernel == CTN_KERNEL_conv2d_s8w4;
    if (sums && layer->n > 0) {
        Layer sum = *layer;
        sum.kernel = layer->kernel == CTN_KERNEL_conv2d_s8 ? CTN_KERNEL_conv2d_add_s8
                                                           : CTN_KERNEL_conv2d_add_s8w4;
        const Placed *p = layer_place(k->c, &sum, isa);
        if (p->call->kernel == sum.kernel) /* not that of 8 bits, for want of one of 4 */
            add_placed(k, p);
    }
    for (int v = 0; v < variant_table_count; v++) {
        const Variant *small = &variant_table[v];
        if (!small->small || isa_rank(small->isa) != isa_rank(isa))
            continue;
        const Placed *p = layer_place_as(k->c, layer, small);
        if (p)
            add_placed(k, p);
    }
}

/* The layer, and a few rows of it: what a strip's step has. */
static void add_layers(Costs *k, const char *isa) {
    for (int i = 0; i < layer_count; i++) {
        Layer part = layer_table[i];
        if (residual_producer(part.kernel) >= 0)
            continue; /* stands behind its producer */
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

static int pick(uint32_t *state, int low, int high) {
    *state = *state * 1664525u + 1013904223u;
    return low + (int)((*state >> 8) % (uint32_t)(high - low + 1));
}

/* Shapes as networks have them, beside those of the bench: sequences, few pixels, many rows. */
static void add_shapes(Costs *k, const char *isa) {
    enum { SHAPES = 80, MOST_MACS = 1500000 };
    static const int windows[][2] = {{1, 1}, {1, 1}, {3, 3}, {1, 3}, {5, 5}, {2, 2}};
    static const int kernels[] = {CTN_KERNEL_conv2d_s8, CTN_KERNEL_conv2d_s8,
                                  CTN_KERNEL_depthwise_conv2d_s8, CTN_KERNEL_linear_s8};
    uint32_t state = 1;
    for (int i = 0; i < SHAPES * (int)COUNT_OF(kernels); i++) {
        const int *window = windows[pick(&state, 0, COUNT_OF(windows) - 1)];
        Layer l = {.name = "shape", .kernel = kernels[i % (int)COUNT_OF(kernels)]};
        bool linear = l.kernel == CTN_KERNEL_linear_s8;
        l.kh = linear ? 1 : window[0];
        l.kw = linear ? 1 : window[1];
        int side = pick(&state, 3, 14);
        bool sequence = l.kh == 1 && !linear && i % 3 == 2;
        l.h = linear ? pick(&state, 1, 20) : sequence ? 1 : side + pick(&state, 0, 2);
        l.w = linear ? 1 : sequence ? l.kw + pick(&state, 0, 8) : side;
        l.c = 4 * pick(&state, 1, 36);
        l.n = l.kernel == CTN_KERNEL_depthwise_conv2d_s8 ? l.c : 4 * pick(&state, 1, 40);
        l.stride = l.kh == 3 ? pick(&state, 1, 2) : 1;
        l.pad = l.kh == 3 ? pick(&state, 0, 1) : 0;
        double macs = (double)l.h * l.w * l.n * l.kh * l.kw *
                      (l.kernel == CTN_KERNEL_depthwise_conv2d_s8 ? 1 : l.c);
        if (macs < MOST_MACS)
            add_layer(k, &l, isa);
    }
}

static void add_cases(Costs *k) {
    for (int v = 0; v < variant_table_count; v++) {
        const Variant *variant = &variant_table[v];
        if (!variant_runs_on(variant, k->cpu->isa) || residual_producer(variant->kernel) >= 0)
            continue;
        int count = case_count(variant->kernel);
        for (int i = 0; i < count + (count > 0 ? LARGE_CASES : 0); i++) {
            const KernelCase *p = case_make(k->c, variant, i);
            if (p)
                add_call(k, (BoardCall){p->call, p->arena, p->weights, p->arena_bytes,
                                        p->weights_bytes});
        }
    }
}

static void count_calls(Costs *k) {
    for (int level = isa_rank(k->cpu->isa); level >= -1; level--) {
        add_layers(k, level < 0 ? NULL : isa_levels[level]);
        add_shapes(k, level < 0 ? NULL : isa_levels[level]);
    }
    k->layers = k->call_count;
    add_cases(k);
    BoardResult r = board_run(k->c, k->cpu, k->call_count, k->call, NULL);
    k->sample = NEW_ARRAY(k->c, Sample, k->call_count);
    for (int i = 0; i < k->call_count; i++) {
        Sample *s = &k->sample[i];
        s->variant = k->call[i].call->variant;
        s->count = r.instructions[i] > 1 ? r.instructions[i] : 1;
        bool sums = residual_producer(s->variant->kernel) >= 0;
        if (sums) /* what it takes more than the call before */
            s->count = fmax(1, s->count - r.instructions[i - 1]);
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

typedef struct { /* normal equations, each term scaled to a diagonal of one */
    double cross[COST_TERMS][COST_TERMS], target[COST_TERMS], scale[COST_TERMS];
    bool used[COST_TERMS];
} Normal;

static void normal_fill(Normal *n, const Fit *f) {
    memset(n, 0, sizeof *n);
    for (int i = 0; i < f->count; i++) {
        const Sample *s = &f->sample[i];
        for (int k = 0; k < COST_TERMS; k++) {
            n->target[k] += s->weight * s->term[k] * s->count;
            for (int j = 0; j < COST_TERMS; j++)
                n->cross[k][j] += s->weight * s->term[k] * s->term[j];
        }
    }
    for (int k = 0; k < COST_TERMS; k++)
        n->scale[k] = n->cross[k][k] > 0 ? 1 / sqrt(n->cross[k][k]) : 0;
    for (int k = 0; k < COST_TERMS; k++) {
        n->target[k] *= n->scale[k];
        for (int j = 0; j < COST_TERMS; j++)
            n->cross[k][j] *= n->scale[k] * n->scale[j];
    }
}

/* The best factors when only the used terms count; a little is added to the diagonal, for terms
 * may depend on each other. */
static void normal_solve(const Normal *n, double x[COST_TERMS]) {
    double m[COST_TERMS][COST_TERMS + 1];
    int term[COST_TERMS], count = 0;
    for (int k = 0; k < COST_TERMS; k++)
        if (n->used[k])
            term[count++] = k;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++)
            m[i][j] = n->cross[term[i]][term[j]] + (i == j ? 1e-9 : 0);
        m[i][count] = n->target[term[i]];
    }
    for (int i = 0; i < count; i++) /* positive definite: no pivot is needed */
        for (int r = i + 1; r < count; r++)
            for (int j = count; j >= i; j--)
                m[r][j] -= m[r][i] / m[i][i] * m[i][j];
    memset(x, 0, sizeof(double) * COST_TERMS);
    for (int i = count - 1; i >= 0; i--) {
        double rest = m[i][count];
        for (int j = i + 1; j < count; j++)
            rest -= m[i][j] * x[term[j]];
        x[term[i]] = rest / m[i][i];
    }
}

/* The unused term whose factor would lower the error fastest; -1: none would. */
static int steepest(const Normal *n, const double x[COST_TERMS]) {
    int best = -1;
    double most = 1e-9;
    for (int k = 0; k < COST_TERMS; k++) {
        double slope = n->target[k];
        for (int j = 0; j < COST_TERMS; j++)
            slope -= n->cross[k][j] * x[j];
        if (!n->used[k] && n->scale[k] > 0 && slope > most) {
            most = slope;
            best = k;
        }
    }
    return best;
}

/* Goes from x towards the solution of the used terms until the first factor reaches zero, which is
 * dropped; true when none does. */
static bool go_towards(Normal *n, double x[COST_TERMS], const double aim[COST_TERMS]) {
    double step = 1;
    int first = -1;
    for (int k = 0; k < COST_TERMS; k++)
        if (n->used[k] && aim[k] <= 0 && x[k] / (x[k] - aim[k]) <= step) {
            step = x[k] / (x[k] - aim[k]);
            first = k;
        }
    for (int k = 0; k < COST_TERMS; k++)
        x[k] += step * (aim[k] - x[k]);
    if (first < 0)
        return true;
    n->used[first] = false;
    x[first] = 0;
    return false;
}

/* Least squares without negative factors, by Lawson and Hanson's active set. */
static void fit(Fit *f) {
    Normal n;
    double x[COST_TERMS] = {0}, aim[COST_TERMS];
    normal_fill(&n, f);
    for (int round = 0; round < 10 * COST_TERMS; round++) {
        int next = steepest(&n, x);
        if (next < 0)
            break;
        n.used[next] = true;
        do
            normal_solve(&n, aim);
        while (!go_towards(&n, x, aim));
    }
    for (int k = 0; k < COST_TERMS; k++)
        f->factor[k] = x[k] * n.scale[k];
}

static double estimate(const Fit *f, const Sample *s) {
    double sum = 0;
    for (int k = 0; k < COST_TERMS; k++)
        sum += f->factor[k] * s->term[k];
    return sum;
}

/* Of the bench's layers, then of the tests' cases. */
static void print_errors(const Fit *f, const char *cpu, const char *symbol) {
    fprintf(stderr, "%-13s %-30s", cpu, symbol);
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

/* Lines are broken here: formatted they would be a line for each number. */
static void print_row(const double factor[COST_TERMS], const char *cpu, const char *symbol) {
    int column = printf("    {\"%s\", \"%s\", {", cpu, symbol);
    const char *comma = "";
    for (int k = 0; k < COST_TERMS; k++)
        if (factor[k] > 0) {
            bool breaks = column > 80;
            column = breaks ? 0 : column;
            column += printf("%s%s[%d] = %.5g", comma,
                             breaks   ? "\n     "
                             : *comma ? " "
                                      : "",
                             k, factor[k]);
            comma = ",";
        }
    printf("}},\n");
}

static void print_old_row(const char *cpu, const char *symbol) {
    for (int i = 0; i < cost_table_count; i++) {
        const CostRow *row = &cost_table[i];
        double factor[COST_TERMS];
        for (int k = 0; k < COST_TERMS; k++)
            factor[k] = row->factor[k];
        if (strcmp(row->cpu, cpu) == 0 && strcmp(row->symbol, symbol) == 0)
            print_row(factor, cpu, symbol);
    }
}

static void print_cpu(C *c, void *user) {
    Costs *k = user;
    k->c = c;
    count_calls(k);
    Fit f = {.sample = NEW_ARRAY(c, Sample, k->call_count)};
    for (int v = 0; v < variant_table_count; v++) {
        const Variant *variant = &variant_table[v];
        f.count = 0;
        if (!is_counted(k, variant)) {
            print_old_row(k->cpu->name, variant->symbol);
            continue;
        }
        for (int i = 0; i < k->call_count; i++)
            if (k->sample[i].variant == variant)
                f.sample[f.count++] = k->sample[i];
        if (f.count < FEWEST)
            continue;
        fit(&f);
        print_errors(&f, k->cpu->name, variant->symbol);
        print_row(f.factor, k->cpu->name, variant->symbol);
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

/* The CPUs that are counted, in the table's order; `only` NULL: all. */
static bool next_counted(const char *only, int *i) {
    for (++*i; *i < cpu_table_count; ++*i)
        if (strcmp(cpu_table[*i].name, cpu_table[*i].counted) == 0 &&
            (!only || strcmp(cpu_table[*i].name, only) == 0))
            return true;
    return false;
}

int main(int argc, char **argv) {
    const char *only = argc > 1 && cpu_find(argv[1]) ? argv[1] : NULL;
    int failed = 0, first = only ? 2 : 1;
    printf("/* Instructions of each kernel on each CPU: factors of the terms in terms.c.\n"
           " * Written by bench/costs.c; do not edit. */\n#include \"lower/measured.h\"\n\n"
           "const char cost_origin[] = \"counted under QEMU on");
    for (int i = -1; next_counted(only, &i);)
        printf(" %s", cpu_table[i].name);
    printf("; %s -O2\";\n\n/* clang-format off */\nconst CostRow cost_table[] = {\n",
           compiler_name());
    for (int i = -1; next_counted(only, &i);) {
        Costs k = {.cpu = &cpu_table[i], .name_count = argc - first, .name = argv + first};
        C *c = c_new();
        if (c_try(c, print_cpu, &k) != 0) {
            diag_print(c, stderr, false, false);
            failed = 1;
        }
        c_free(c);
    }
    printf("};\n/* clang-format on */\nconst int cost_table_count = COUNT_OF(cost_table);\n");
    return failed;
}
