/* Every fixture compiled to integers (run by the simulator) against the float model on the same,
 * rounded inputs, six times: with its own numbers, with unit-normal ones, and with unit-normal ones
 * that calibration has not seen; in int8 and, where all of it has that form, in int16. What is
 * asked goes by the row that the fixture is for: pointwise operators, movement, pools, sums and
 * extrema must be within one step of the correctly rounded result; others, whose inner values and
 * weights are rounded too, reach at least 30 dB on unit-normal numbers, and either bound on their
 * own. An operator without an integer form must be refused with a message that says so. */
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

/* Unit-normal samples for calibration, where others are compared, and how many those are. */
enum { CALIBRATED = 128, UNSEEN = 32 };

/* Folders of single operators over many shapes: only steps count, or only decibels. */
#define STEP_FOLDER "accuracy_step"
#define SQNR_FOLDER "accuracy_sqnr"

/* Rows beside those with a map and those that move data that must be within a step. */
static const char *const step_rows[] = {"*_pool1d",
                                        "*_pool2d",
                                        "*_pool3d",
                                        "max_pool*_with_indices",
                                        "amax",
                                        "amin",
                                        "aminmax",
                                        "max",
                                        "max.*",
                                        "min",
                                        "min.*",
                                        "mean",
                                        "mean.*",
                                        "sum",
                                        "sum.*",
                                        "add.*",
                                        "addcmul",
                                        "addcdiv",
                                        "sub.*",
                                        "subtract.*",
                                        "rsub.*",
                                        "mul.*",
                                        "multiply.*",
                                        "div.*",
                                        "divide.*",
                                        "true_divide.*",
                                        "clamp*",
                                        "clip*",
                                        "lerp.*",
                                        "prelu",
                                        "cat",
                                        "concat*",
                                        "stack",
                                        "hstack",
                                        "vstack",
                                        "dstack",
                                        "pad",
                                        "constant_pad_nd",
                                        "cumsum",
                                        "upsample_*",
                                        "_upsample_nearest*",
                                        "glu",
                                        "sort*",
                                        "topk",
                                        "kthvalue",
                                        "median*",
                                        "where.*"};

/* Fixtures that fall short, not of int8 on their own numbers, and why. */
static const struct {
    const char *fixture;
    bool wide; /* only in 16 bits */
    const char *why;
} excused[] = {
    {"prod/all", false, "a product of 60 normal numbers: what is multiplied first is all but zero"},
    {"adaptive_max_pool3d/of_1x1x1", false, "places of maxima are those of int8"},
    {"count_nonzero*", false, "functions of int16 that give int64 read 8 bits of it"},
    {"avg_pool3d/whole_plane", false, "int16 twice: over the plane, then over the depth"},
    {"upsample_*linear*", true, "75 dB and more: places between two numbers have 12 bits"},
};

/* Judged on numbers that calibration has not seen: norms, attention, softmax, recurrent layers. */
static const char *const unseen_rows[] = {
    SQNR_FOLDER, "*layer_norm*",         "*batch_norm*", "*group_norm*", "instance_norm*",
    "rms_norm*", "*scaled_dot_product*", "*softmax*",    "lstm*",        "gru*",
    "rnn*"};

/* Of those: what falls short there, by up to 6 dB (a softmax of a step function by all), and why.
 */
static const struct {
    const char *fixture, *why;
} short_unseen[] = {
    {"*softmax*/long",
     "shares of a long row as the model's output: most are far below the largest"},
    {"accuracy_sqnr/softmax_*00*", "the same, on rows of 200 to 2000"},
    {"softmax.int/mask_of_batches", "a mask of m > 0: rounding moves numbers over that edge"},
    {"accuracy_sqnr/attention_32", "shares of 1/32 are 8 steps of the softmax's fixed grid"},
    {"accuracy_sqnr/attention_causal_128", "28.8 dB: outliers beyond what 128 samples show"},
    {"accuracy_sqnr/multi_head_16", "29.5 dB: the same"},
    {"lstm.input/computed_weights_no_state", "28.8 dB: the same, of 16 numbers a sample"},
    {"lstm.input/projected_state_in", "29.5 dB: the same"},
    {"lstm_cell/state_in", "29.8 dB: the same"},
    {"rnn_relu.input/one_step", "28.9 dB: the same"},
    {"rnn_tanh.input/computed_weights*", "29.2 dB: the same"},
    {"accuracy_sqnr/*_softmax_by_hand",
     "25.7 dB: a difference, exponentials, sums and quotients, each rounded to 8 bits"},
};

typedef struct {
    bool normal, wide; /* unit-normal numbers; int16 */
    bool unseen;       /* compared on other samples than those of calibration */
} Mode;

typedef struct {
    const char *op, *archive, *arrays;
    Mode mode;
    bool by_steps, by_sqnr; /* what may make up for the other; one of them at least */
    bool skipped;           /* some numbers are not finite, which integers always are */
    double *signal, *noise; /* [output], of unseen samples: sums of squares */
    char why[400];
} Fixture;

typedef struct {
    int total, refused, failed;
    bool *judged; /* by row: some fixture of it was compared or rightly refused */
} Counts;

/* ---- what is asked -------------------------------------------------------------------------- */

static bool is_plumbing(const Node *n) {
    return n->op->traits & (OP_MOVES_DATA | OP_EFFECT_FREE_IDENTITY | OP_CREATES | OP_ASSERTS);
}

/* Does the archive hold anything that computes beside one node, the row that the fixture is for? */
static bool is_combined(const Graph *g) {
    int computing = 0;
    for (const Node *n = g->first; n; n = n->next)
        computing += !is_plumbing(n);
    return computing > 1;
}

static bool is_step_row(const Graph *g, const char *op) {
    for (const Node *n = g->first; n; n = n->next)
        if (!is_plumbing(n) && n->op->map)
            return true;
    for (size_t i = 0; i < COUNT_OF(step_rows); i++)
        if (glob_match(step_rows[i], op))
            return true;
    return false;
}

static bool is_unseen_row(const char *op) {
    for (size_t i = 0; i < COUNT_OF(unseen_rows); i++)
        if (glob_match(unseen_rows[i], op))
            return true;
    return false;
}

static void bounds_choose(Fixture *f, const Graph *g) {
    if (text_equal(f->op, SQNR_FOLDER) || text_equal(f->op, STEP_FOLDER)) {
        f->by_steps = text_equal(f->op, STEP_FOLDER);
    } else if (is_combined(g)) {
        f->by_steps = f->by_sqnr = true;
        return;
    } else {
        f->by_steps = is_step_row(g, f->op) || !f->mode.normal;
        f->by_sqnr = !is_step_row(g, f->op);
        return;
    }
    f->by_sqnr = !f->by_steps;
}

/* ---- unit-normal numbers -------------------------------------------------------------------- */

static double uniform(uint64_t *state) { /* in (0, 1), by splitmix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state) {
    double u = uniform(state), v = uniform(state);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

/* Zeros with ones, or with numbers like -inf. */
static bool is_mask(const Array *a) {
    bool mask = true;
    for (int64_t i = 0; i < array_count(a); i++)
        mask &= array_get(a, i) == 0 || array_get(a, i) == 1 || array_get(a, i) < -1000;
    return mask;
}

/* In the place of a fixture's numbers; positive where all of those are, since operators may ask for
 * that. Integers, bools and masks stay. */
static Array *normal_like(C *c, const Array *a, uint64_t *state) {
    Array *r = array_convert(c, a, a->dtype);
    bool positive = true, varies = dtype_is_float(a->dtype) && !is_mask(a);
    for (int64_t i = 0; i < array_count(a); i++)
        positive &= array_get(a, i) >= 0;
    for (int64_t i = 0; varies && i < array_count(a); i++) {
        double x = normal(state);
        array_set(r, i, positive ? fabs(x) : x);
    }
    return r;
}

/* ---- comparing ------------------------------------------------------------------------------ */

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

/* Of all samples together: a few numbers of one may happen to be small. */
static void compare_unseen(Fixture *f, int k, const Array *want, const Array *got) {
    for (int64_t i = 0; i < array_count(want); i++) {
        double w = array_get(want, i), g = array_get(got, i);
        if (!isfinite(w))
            continue;
        f->signal[k] += w * w;
        f->noise[k] += (w - g) * (w - g);
    }
}

static void judge_unseen(Fixture *f, int k) {
    double sqnr = 10 * log10(f->signal[k] / f->noise[k]);
    if (f->noise[k] > 0 && sqnr < LEAST_SQNR)
        snprintf(f->why, sizeof f->why, "output %d: %.1f dB", k, sqnr);
}

static void compare_numbers(C *c, Fixture *f, int k, const Grid *grid, const Array *float_result,
                            const Array *raw) {
    const Array *got = dequantize_array(c, raw, grid);
    if (f->mode.unseen) {
        compare_unseen(f, k, float_result, got);
        return;
    }
    Array *want = within_grid(c, float_result, grid);
    for (int64_t i = 0; f->mode.normal && i < array_count(want); i++)
        if (!isfinite(array_get(float_result, i))) /* rounded divisors may be zero */
            array_set(want, i, array_get(got, i));
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

/* The model in float on what the integer inputs of `compiled` stand for; unseen, on its own. Masks
 * are what they are: rounded, (1 - mask) * -1e38 would be anything. */
static void float_run(C *c, Fixture *f, Graph *compiled, Array **in, Array **out) {
    Options options = {0};
    Graph *g = import_pt2(c, f->archive);
    Array **seen = NEW_ARRAY(c, Array *, g->input_count + 1);
    for (int i = 0; i < g->input_count; i++) {
        const Value *v = compiled->input[i].kind == ARG_VALUE ? compiled->input[i].u.value : NULL;
        bool rounded = v && v->grid && !f->mode.unseen && !is_mask(in[i]);
        seen[i] = rounded ? dequantize_array(c, quantize_array(c, in[i], v->grid), v->grid) : in[i];
    }
    pipeline(c, g, &options, "functionalize");
    run_float(c, g, seen, out);
}

/* The fixture's own inputs, or the next unit-normal ones. */
static Array **inputs_draw(C *c, const Fixture *f, const Graph *g, const ArrayList *arrays,
                           uint64_t *state) {
    Array **in = NEW_ARRAY(c, Array *, g->input_count + 1);
    for (int i = 0; i < g->input_count; i++) {
        in[i] = fixture_array(c, arrays, "in", i);
        if (f->mode.normal && in[i])
            in[i] = normal_like(c, in[i], state);
    }
    return in;
}

static void compile(C *c, const Fixture *f, Graph *g, Array ***sample) {
    const Cpu *cpu = cpu_find("cortex-m55");
    PrecisionRule all = {.pattern = "*", .precision = "int16"};
    bool minmax = !f->mode.unseen && !text_equal(f->op, SQNR_FOLDER); /* none of few is cut off */
    Options options = {.cpu = cpu,
                       .isa = cpu->isa,
                       .observer = minmax ? OBSERVER_MINMAX : OBSERVER_MSE,
                       .precision_count = f->mode.wide,
                       .precision = &all,
                       .sample_count = f->mode.unseen ? CALIBRATED : 1,
                       .sample = sample};
    pipeline(c, g, &options, NULL);
    fixture_stop_if_passed_over(c);
}

static void compare(C *c, Fixture *f, const Graph *g, Array **want, Array **got) {
    for (int k = 0; k < g->output_count && !f->why[0]; k++)
        if (g->output[k].kind == ARG_VALUE && g->output[k].u.value->grid)
            compare_numbers(c, f, k, g->output[k].u.value->grid, want[k], got[k]);
        else if (g->output[k].kind == ARG_VALUE && !f->mode.unseen)
            compare_choices(f, k, want[k], got[k]);
}

static void fixture_run(C *c, void *user) {
    Fixture *f = user;
    ArrayList arrays = npz_read(c, f->arrays);
    Graph *g = import_pt2(c, f->archive);
    bounds_choose(f, g);
    for (int i = 0; i < arrays.count; i++) /* outputs too */
        f->skipped |= !fixture_is_finite(arrays.item[i].array);
    f->skipped |= f->mode.unseen && !(f->by_sqnr && is_unseen_row(f->op));
    if (f->skipped)
        return;
    uint64_t state = 1;
    Array **sample[CALIBRATED];
    for (int i = 0; i < (f->mode.unseen ? CALIBRATED : 1); i++)
        sample[i] = inputs_draw(c, f, g, &arrays, &state);
    compile(c, f, g, sample);
    f->signal = NEW_ARRAY(c, double, g->output_count + 1);
    f->noise = NEW_ARRAY(c, double, g->output_count + 1);
    Array **got = NEW_ARRAY(c, Array *, g->output_count + 1);
    Array **want = NEW_ARRAY(c, Array *, g->output_count + 1);
    Simulator *s = simulator_new(c, g);
    for (int i = 0; i < (f->mode.unseen ? UNSEEN : 1); i++) {
        Array **in = f->mode.unseen ? inputs_draw(c, f, g, &arrays, &state) : sample[0];
        simulator_reset(s);
        simulator_run(c, s, in, got);
        float_run(c, f, g, in, want);
        compare(c, f, g, want, got);
    }
    simulator_free(s);
    for (int k = 0; k < g->output_count && f->mode.unseen && !f->why[0]; k++)
        judge_unseen(f, k);
}

/* Refusing is right only with the reason that the operator's row gives. */
static bool is_refusal(const char *message, const Mode *mode) {
    return strstr(message, "no integer form") ||
           (mode->wide && strstr(message, "'* = int16' passes over "));
}

/* Normal numbers need not lie where the function is defined. */
static bool is_undefined(const char *message, const Mode *mode) {
    return mode->normal && strstr(message, "are infinite or not a number");
}

static const Diag *first_error(const C *c) {
    const Diag *d = c->first_diag;
    while (d && d->warning)
        d = d->next;
    return d;
}

static bool is_excused(const char *op, const char *case_name, const Mode *mode) {
    char name[600];
    snprintf(name, sizeof name, "%s/%s", op, case_name);
    for (size_t i = 0; mode->unseen && i < COUNT_OF(short_unseen); i++)
        if (glob_match(short_unseen[i].fixture, name))
            return true;
    for (size_t i = 0; i < COUNT_OF(excused); i++)
        if ((mode->wide || !excused[i].wide) && glob_match(excused[i].fixture, name))
            return true;
    return false;
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

static void fixture_check(const char *op, const char *case_name, Mode mode, Counts *counts) {
    char archive[600], arrays[600];
    snprintf(archive, sizeof archive, "op/%s/%s.pt2", op, case_name);
    snprintf(arrays, sizeof arrays, "op/%s/%s.npz", op, case_name);
    Fixture f = {.op = op, .archive = archive, .arrays = arrays, .mode = mode};
    C *c = c_new();
    bool refused = false;
    if (c_try(c, fixture_run, &f) != 0 && !f.why[0]) {
        const Diag *d = first_error(c);
        snprintf(f.why, sizeof f.why, "%s", d ? d->message : "unwound without a diagnostic");
        refused = is_refusal(f.why, &mode);
        f.skipped = is_undefined(f.why, &mode);
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
    bool failed = f.why[0] && !refused && !f.skipped &&
                  !((mode.normal || mode.wide) && is_excused(op, case_name, &mode));
    counts->failed += failed;
    if (failed || (refused && getenv("CORTEN_REFUSED")))
        print_message("%s/%s: %s\n", op, case_name, f.why);
}

static int visible(const struct dirent *d) {
    return d->d_name[0] != '.';
}

static void folder_check(const char *op, Mode mode, Counts *counts) {
    char path[512];
    snprintf(path, sizeof path, "op/%s", op);
    struct dirent **entry;
    int count = scandir(path, &entry, visible, alphasort);
    for (int i = 0; i < count; i++) {
        char *dot = strrchr(entry[i]->d_name, '.');
        if (dot && strcmp(dot, ".pt2") == 0) {
            *dot = 0;
            fixture_check(op, entry[i]->d_name, mode, counts);
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
static void fixtures_check(Mode mode) {
    const char *only = getenv("CORTEN_FIXTURE");
    struct dirent **entry;
    Counts counts = {.judged = calloc((size_t)op_count(), sizeof(bool))};
    assert_non_null(counts.judged);
    int folders = scandir("op", &entry, visible, alphasort);
    assert_true(folders > 0);
    for (int i = 0; i < folders; i++) {
        if (!only || strcmp(only, entry[i]->d_name) == 0)
            folder_check(entry[i]->d_name, mode, &counts);
        free(entry[i]);
    }
    free(entry);
    print_message("%d fixtures, %d refused for want of such a form, %d wrong\n", counts.total,
                  counts.refused, counts.failed);
    bool all = !only && !mode.normal && !mode.wide; /* the others lack what is not defined there */
    int never = all ? rows_never_judged(counts.judged) : 0;
    free(counts.judged);
    assert_true(counts.total > counts.refused);
    assert_int_equal(counts.failed, 0);
    assert_int_equal(never, 0);
}

static void integers_stand_for_what_float_computes(void **state) {
    (void)state;
    fixtures_check((Mode){0});
}

static void integers_stand_for_float_on_normal_numbers(void **state) {
    (void)state;
    fixtures_check((Mode){.normal = true});
}

static void integers_stand_for_float_on_unseen_numbers(void **state) {
    (void)state;
    fixtures_check((Mode){.normal = true, .unseen = true});
}

static void int16_stands_for_what_float_computes(void **state) {
    (void)state;
    fixtures_check((Mode){.wide = true});
}

static void int16_stands_for_float_on_normal_numbers(void **state) {
    (void)state;
    fixtures_check((Mode){.normal = true, .wide = true});
}

static void int16_stands_for_float_on_unseen_numbers(void **state) {
    (void)state;
    fixtures_check((Mode){.normal = true, .wide = true, .unseen = true});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_stand_for_what_float_computes),
        cmocka_unit_test(integers_stand_for_float_on_normal_numbers),
        cmocka_unit_test(integers_stand_for_float_on_unseen_numbers),
        cmocka_unit_test(int16_stands_for_what_float_computes),
        cmocka_unit_test(int16_stands_for_float_on_normal_numbers),
        cmocka_unit_test(int16_stands_for_float_on_unseen_numbers),
    };
    cmocka_set_test_filter(getenv("CORTEN_TEST"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
