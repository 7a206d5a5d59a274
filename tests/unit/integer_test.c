/* Every fixture compiled to integers (calibrated with its own inputs, run by the simulator) against
 * the float model on the same, rounded inputs: within one step of the correctly rounded result, or,
 * where inner values and weights are rounded too, at least 30 dB. An operator without an integer
 * form must be refused with a message that says so. */
#include "flow/fixture.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "import/import.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include "run/run.h"

#define MOST_STEPS 1.5 /* half a step is the rounding itself */
#define LEAST_SQNR 30.0
#define MOST_CHOICES 10 /* one in so many */

/* Single operators of which more is asked: only steps count, or only decibels. */
#define STEP_FOLDER "accuracy_step"
#define SQNR_FOLDER "accuracy_sqnr"

typedef struct {
    const char *archive, *arrays;
    bool by_steps, by_sqnr; /* what may make up for the other; one of them at least */
    bool skipped;           /* some numbers are not finite, which integers always are */
    char why[400];
} Fixture;

typedef struct {
    int total, refused, failed;
    bool *judged; /* by row: some fixture of it was compared or rightly refused */
} Counts;

static const Array *all_real(C *c, const Array *like, const Grid *grid, int32_t q) {
    Array *a = array_new(c, grid->dtype, like->rank, like->dim);
    for (int64_t i = 0; i < array_count(a); i++)
        array_set_int(a, i, q);
    return dequantize_array(c, a, grid);
}

/* Rounded inputs may lead out of the range that was calibrated: integers saturate there. */
static Array *within_grid(C *c, const Array *a, const Grid *grid) {
    Array *kept = array_convert(c, a, DT_F32);
    int32_t most = grid->dtype == DT_I16 ? 32767 : 127;
    const Array *low = all_real(c, a, grid, -most - 1), *high = all_real(c, a, grid, most);
    for (int64_t i = 0; i < array_count(a); i++)
        array_set(kept, i, fmin(fmax(array_get(a, i), array_get(low, i)), array_get(high, i)));
    return kept;
}

static void compare_numbers(C *c, Fixture *f, int k, const Grid *grid, const Array *float_result,
                            const Array *raw) {
    const Array *want = within_grid(c, float_result, grid), *got = dequantize_array(c, raw, grid);
    double worst = 0, step = grid->part[0].scale, sqnr = sqnr_db(want, got);
    for (int64_t i = 0; i < array_count(want); i++)
        worst = fmax(worst, fabs(array_get(want, i) - array_get(got, i)));
    bool near = f->by_steps && worst <= MOST_STEPS * step * (1 + 1e-6);
    bool clear = f->by_sqnr && sqnr >= LEAST_SQNR;
    if (!near && !clear)
        snprintf(f->why, sizeof f->why, "output %d: %.2f steps off, %.1f dB", k, worst / step,
                 sqnr);
}

/* Integers and bools are equal, but that a choice between values which inner rounding made alike
 * (argmax behind a convolution) may fall otherwise once in a while. */
static void compare_choices(Fixture *f, int k, const Array *want, const Array *got) {
    int64_t differ = 0, count = array_count(want);
    for (int64_t i = 0; i < count; i++)
        differ += array_get(want, i) != array_get(got, i);
    if (differ * MOST_CHOICES > count)
        snprintf(f->why, sizeof f->why, "output %d: %lld of %lld integers differ", k,
                 (long long)differ, (long long)count);
}

static void pipeline(C *c, Graph *g, const Options *options, const char *stop_after) {
    PipelineControl control = {.stop_after = stop_after};
    pipeline_run(c, g, options, &control);
    diag_stop_if_errors(c);
}

/* The model in float on what the integer inputs of `compiled` stand for. */
static void float_run(C *c, Fixture *f, Graph *compiled, Array **in, Array **out) {
    Options options = {0};
    Graph *g = import_pt2(c, f->archive);
    Array **seen = NEW_ARRAY(c, Array *, g->input_count + 1);
    for (int i = 0; i < g->input_count; i++) {
        const Value *v = compiled->input[i].kind == ARG_VALUE ? compiled->input[i].u.value : NULL;
        bool grid = v && v->grid;
        seen[i] = grid ? dequantize_array(c, quantize_array(c, in[i], v->grid), v->grid) : in[i];
    }
    pipeline(c, g, &options, "functionalize");
    run_float(c, g, seen, out);
}

static void fixture_run(C *c, void *user) {
    Fixture *f = user;
    ArrayList arrays = npz_read(c, f->arrays);
    Graph *g = import_pt2(c, f->archive);
    Array **in = NEW_ARRAY(c, Array *, g->input_count + 1);
    Array **got = NEW_ARRAY(c, Array *, g->output_count + 1);
    Array **want = NEW_ARRAY(c, Array *, g->output_count + 1);
    for (int i = 0; i < g->input_count; i++)
        in[i] = fixture_array(c, &arrays, "in", i);
    for (int i = 0; i < arrays.count; i++) /* outputs too */
        f->skipped |= !fixture_is_finite(arrays.item[i].array);
    if (f->skipped)
        return;
    const Cpu *cpu = cpu_find("cortex-m55");
    Options options = {.cpu = cpu,
                       .isa = cpu->isa,
                       .observer = OBSERVER_MINMAX, /* none of few numbers is cut off */
                       .sample_count = 1,
                       .sample = &in};
    pipeline(c, g, &options, NULL);
    Simulator *s = simulator_new(c, g);
    simulator_run(c, s, in, got);
    simulator_free(s);
    float_run(c, f, g, in, want);
    for (int k = 0; k < g->output_count && !f->why[0]; k++)
        if (g->output[k].kind == ARG_VALUE && g->output[k].u.value->grid)
            compare_numbers(c, f, k, g->output[k].u.value->grid, want[k], got[k]);
        else if (g->output[k].kind == ARG_VALUE)
            compare_choices(f, k, want[k], got[k]);
}

/* Refusing is right only with the reason that the operator's row gives. */
static bool is_refusal(const char *message) {
    return strstr(message, "no integer form") != NULL;
}

static const Diag *first_error(const C *c) {
    const Diag *d = c->first_diag;
    while (d && d->warning)
        d = d->next;
    return d;
}

typedef struct {
    const char *archive;
    bool *judged;
} Walk;

static void rows_judge(C *c, void *user) {
    const Walk *w = user;
    const Graph *g = import_pt2(c, w->archive);
    for (const Node *n = g->first; n; n = n->next)
        for (int i = 0; i < op_count(); i++)
            w->judged[i] |= op_at(i) == n->op;
}

static void fixture_check(const char *op, const char *case_name, Counts *counts) {
    char archive[600], arrays[600];
    snprintf(archive, sizeof archive, "op/%s/%s.pt2", op, case_name);
    snprintf(arrays, sizeof arrays, "op/%s/%s.npz", op, case_name);
    Fixture f = {.archive = archive,
                 .arrays = arrays,
                 .by_steps = !text_equal(op, SQNR_FOLDER),
                 .by_sqnr = !text_equal(op, STEP_FOLDER)};
    C *c = c_new();
    bool refused = false;
    if (c_try(c, fixture_run, &f) != 0 && !f.why[0]) {
        const Diag *d = first_error(c);
        snprintf(f.why, sizeof f.why, "%s", d ? d->message : "unwound without a diagnostic");
        refused = is_refusal(f.why);
    }
    c_free(c);
    if (!f.skipped && (refused || !f.why[0])) {
        Walk w = {archive, counts->judged};
        C *again = c_new();
        c_try(again, rows_judge, &w);
        c_free(again);
    }
    counts->total += !f.skipped;
    counts->refused += refused;
    counts->failed += f.why[0] && !refused;
    if (f.why[0] && (!refused || getenv("CORTEN_REFUSED")))
        print_message("%s/%s: %s\n", op, case_name, f.why);
}

static int visible(const struct dirent *d) {
    return d->d_name[0] != '.';
}

static void folder_check(const char *op, Counts *counts) {
    char path[512];
    snprintf(path, sizeof path, "op/%s", op);
    struct dirent **entry;
    int count = scandir(path, &entry, visible, alphasort);
    for (int i = 0; i < count; i++) {
        char *dot = strrchr(entry[i]->d_name, '.');
        if (dot && strcmp(dot, ".pt2") == 0) {
            *dot = 0;
            fixture_check(op, entry[i]->d_name, counts);
        }
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
}

/* Fixtures that are skipped, whose numbers no integers can hold, do not make up a row's. */
static int rows_never_judged(const bool *judged) {
    int count = 0;
    for (int i = 0; i < op_count(); i++) {
        const Op *op = op_at(i);
        if (judged[i] || strncmp(op->schema, "corten::", 8) == 0 ||
            (!op->eval && !op->map && !op->decompose))
            continue;
        print_message("never in integers: %.*s\n", (int)strcspn(op->schema, "("), op->schema);
        count++;
    }
    return count;
}

/* CORTEN_FIXTURE=view checks one operator's folder only; CORTEN_REFUSED=1 shows what is refused. */
static void integers_stand_for_what_float_computes(void **state) {
    (void)state;
    const char *only = getenv("CORTEN_FIXTURE");
    struct dirent **entry;
    Counts counts = {.judged = calloc((size_t)op_count(), sizeof(bool))};
    assert_non_null(counts.judged);
    int folders = scandir("op", &entry, visible, alphasort);
    assert_true(folders > 0);
    for (int i = 0; i < folders; i++) {
        if (!only || strcmp(only, entry[i]->d_name) == 0)
            folder_check(entry[i]->d_name, &counts);
        free(entry[i]);
    }
    free(entry);
    print_message("%d fixtures, %d refused for want of an integer form, %d wrong\n", counts.total,
                  counts.refused, counts.failed);
    int never = only ? 0 : rows_never_judged(counts.judged);
    free(counts.judged);
    assert_true(counts.total > counts.refused);
    assert_int_equal(counts.failed, 0);
    assert_int_equal(never, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers_stand_for_what_float_computes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
