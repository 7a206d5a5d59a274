/* What stays float: the functions of runtime/float32.h against libm in double, every fixture wholly
 * in float against torch, and models of which some nodes have no integer form. */
#include "flow/fixture.h"

#include "float32.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <corten/corten.h>

#include "import/import.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include "run/run.h"

/* ---- functions ------------------------------------------------------------------------------- */

static double sigmoid(double x) {
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

#define WRAP(name)                                                                                 \
    static float f_##name(float x) {                                                               \
        return ctn_##name(x);                                                                      \
    }
WRAP(exp)
WRAP(expm1)
WRAP(log)
WRAP(log2)
WRAP(log10)
WRAP(log1p) WRAP(tanh) WRAP(sinh) WRAP(cosh) WRAP(asinh) WRAP(acosh) WRAP(atanh) WRAP(sin) WRAP(cos)
    WRAP(tan) WRAP(atan) WRAP(asin) WRAP(acos) WRAP(erf) WRAP(erfc) WRAP(sqrt) WRAP(sigmoid)
        WRAP(floor) WRAP(ceil) WRAP(trunc) WRAP(round)

    /* The errors that float32.h states, in ulp of the exact result. */
    static const struct {
    const char *name;
    float (*got)(float);
    double (*want)(double);
    double ulp;
} functions[] = {
    {"exp", f_exp, exp, 1},       {"expm1", f_expm1, expm1, 4},
    {"log", f_log, log, 1},       {"log2", f_log2, log2, 2},
    {"log10", f_log10, log10, 2}, {"log1p", f_log1p, log1p, 3},
    {"tanh", f_tanh, tanh, 3},    {"sinh", f_sinh, sinh, 4},
    {"cosh", f_cosh, cosh, 3},    {"asinh", f_asinh, asinh, 4},
    {"acosh", f_acosh, acosh, 4}, {"atanh", f_atanh, atanh, 4},
    {"sin", f_sin, sin, 3},       {"cos", f_cos, cos, 3},
    {"tan", f_tan, tan, 5},       {"atan", f_atan, atan, 3},
    {"asin", f_asin, asin, 3},    {"acos", f_acos, acos, 3},
    {"erf", f_erf, erf, 4},       {"erfc", f_erfc, erfc, 7},
    {"sqrt", f_sqrt, sqrt, 0.5},  {"sigmoid", f_sigmoid, sigmoid, 3},
    {"floor", f_floor, floor, 0}, {"ceil", f_ceil, ceil, 0},
    {"trunc", f_trunc, trunc, 0}, {"round", f_round, rint, 0},
};

/* Results below 2^-126 have steps of 2^-149, of which they may be one off. */
static double error_in_ulp(float got, double want) {
    int exponent;
    float nearest = (float)want;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : HUGE_VAL;
    if (isinf(nearest) || isinf(got))
        return nearest == got || (isinf(got) && fabs(want) > 3.4e38) ? 0 : HUGE_VAL;
    frexp(want, &exponent);
    if (exponent < -125)
        return fabs((double)got - want) <= 1.01 * 0x1p-149 ? 0 : HUGE_VAL;
    return fabs((double)got - want) / ldexp(1, exponent - 24);
}

static uint64_t random_state = 88172645463325252u;

static uint32_t next(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

/* Half of them any float at all, NaN and infinities among them, half of moderate size. */
static float any_float(int i) {
    static const float size[] = {1, 2, 20, 100};
    return i % 2 ? ctn_from_bits(next()) : (float)(int32_t)next() * 0x1p-31f * size[i / 2 % 4];
}

static void functions_keep_their_stated_error(void **state) {
    (void)state;
    for (size_t f = 0; f < COUNT_OF(functions); f++)
        for (int i = 0; i < 200000; i++) {
            float x = any_float(i), got = functions[f].got(x);
            double want = functions[f].want((double)x), error = error_in_ulp(got, want);
            if (!(error <= functions[f].ulp))
                fail_msg("%s(%.9g) is %.9g, not %.9g: %.2f ulp", functions[f].name, (double)x,
                         (double)got, want, error);
        }
}

static void check_2(const char *name, float a, float b, float got, double want, double ulp) {
    double error = error_in_ulp(got, want);
    if (!(error <= ulp))
        fail_msg("%s(%.9g, %.9g) is %.9g, not %.9g: %.2f ulp", name, (double)a, (double)b,
                 (double)got, want, error);
}

static void functions_of_two_keep_their_stated_error(void **state) {
    (void)state;
    for (int i = 0; i < 400000; i++) {
        float a = any_float(i), b = any_float(i + (i % 3));
        if (i % 5 == 0)
            a = 1 + (float)(int32_t)next() * 0x1p-42f; /* logarithms near zero */
        if (i % 7 == 0)
            b = rintf(b);
        check_2("pow", a, b, ctn_pow(a, b), pow((double)a, (double)b), 3);
        check_2("atan2", a, b, ctn_atan2(a, b), atan2((double)a, (double)b), 4);
        check_2("fmod", a, b, ctn_fmod(a, b), fmod((double)a, (double)b), 0);
    }
}

static void functions_have_the_special_values_of_c(void **state) {
    (void)state;
    static const float special[] = {0.0f,  -0.0f,     1.0f,       -1.0f,     0.5f,
                                    -0.5f, 2.0f,      -3.0f,      INFINITY,  -INFINITY,
                                    NAN,   0x1p-149f, -0x1p-149f, 0x1p-126f, 0x1.fffffep127f};
    for (size_t i = 0; i < COUNT_OF(special); i++) {
        for (size_t f = 0; f < COUNT_OF(functions); f++) {
            float got = functions[f].got(special[i]);
            double want = functions[f].want((double)special[i]);
            if (!(error_in_ulp(got, want) <= functions[f].ulp) ||
                (got == 0 && signbit(got) != signbit((float)want)))
                fail_msg("%s(%g) is %g, not %g", functions[f].name, (double)special[i], (double)got,
                         want);
        }
        for (size_t k = 0; k < COUNT_OF(special); k++) {
            float a = special[i], b = special[k];
            check_2("pow", a, b, ctn_pow(a, b), pow((double)a, (double)b), 3);
            check_2("atan2", a, b, ctn_atan2(a, b), atan2((double)a, (double)b), 4);
            check_2("fmod", a, b, ctn_fmod(a, b), fmod((double)a, (double)b), 0);
        }
    }
}

/* ---- fixtures in float ------------------------------------------------------------------------
 */

typedef struct {
    const char *archive, *arrays;
    bool refused, skipped; /* some numbers are not finite: calibration refuses them */
    char why[400];
} Fixture;

static void pipeline(C *c, Graph *g, const Options *options, const char *stop_after) {
    PipelineControl control = {.stop_after = stop_after};
    pipeline_run(c, g, options, &control);
    diag_stop_if_errors(c);
}

/* 1e-4 of the largest number, as the interpreter keeps to torch, and where numbers have no bound,
 * nothing: what overflows in float32 or is undefined agrees in kind. */
static void compare(Fixture *f, int k, const Array *want, const Array *got) {
    double largest = 0;
    for (int64_t i = 0; i < array_count(want); i++)
        if (isfinite(array_get(want, i)))
            largest = fmax(largest, fabs(array_get(want, i)));
    double tolerance = dtype_is_float(want->dtype) ? 1e-4 * largest + 1e-5 : 0;
    for (int64_t i = 0; i < array_count(want) && !f->why[0]; i++) {
        double w = array_get(want, i), g = array_get(got, i);
        if (w == g || (isnan(w) && isnan(g)) || fabs(w - g) <= tolerance)
            continue;
        snprintf(f->why, sizeof f->why, "output %d element %lld: want %.9g, got %.9g", k,
                 (long long)i, w, g);
    }
}

static void fixture_run(C *c, void *user) {
    Fixture *f = user;
    ArrayList arrays = npz_read(c, f->arrays);
    Graph *g = import_pt2(c, f->archive), *reference = import_pt2(c, f->archive);
    Array **in = NEW_ARRAY(c, Array *, g->input_count + 1);
    Array **got = NEW_ARRAY(c, Array *, g->output_count + 1);
    Array **want = NEW_ARRAY(c, Array *, g->output_count + 1);
    for (int i = 0; i < g->input_count; i++)
        in[i] = fixture_array(c, &arrays, "in", i);
    for (int i = 0; i < arrays.count; i++)
        f->skipped |= !fixture_is_finite(arrays.item[i].array);
    if (f->skipped)
        return;
    const Cpu *cpu = cpu_find("cortex-m4");
    PrecisionRule all = {.pattern = "*", .precision = "float"};
    Options options = {.cpu = cpu,
                       .isa = cpu->isa,
                       .observer = OBSERVER_MINMAX,
                       .precision_count = 1,
                       .precision = &all,
                       .sample_count = 1,
                       .sample = &in};
    pipeline(c, g, &options, NULL);
    fixture_stop_if_passed_over(c);
    Simulator *s = simulator_new(c, g);
    simulator_run(c, s, in, got);
    simulator_free(s);
    pipeline(c, reference, &(Options){0}, "functionalize");
    run_float(c, reference, in, want);
    for (int k = 0; k < g->output_count; k++)
        if (g->output[k].kind == ARG_VALUE && !g->output[k].u.value->grid)
            compare(f, k, want[k], got[k]);
}

/* Right where a row has neither a kernel in float nor a program, or needs data that it cannot. */
static bool is_refusal(const char *message) {
    return strstr(message, "no float form") || strstr(message, "no integer form") ||
           strstr(message, "'* = float' passes over ");
}

static void fixture_check(const char *op, const char *case_name, int *total, int *refused,
                          int *failed) {
    char archive[600], arrays[600];
    snprintf(archive, sizeof archive, "op/%s/%s.pt2", op, case_name);
    snprintf(arrays, sizeof arrays, "op/%s/%s.npz", op, case_name);
    Fixture f = {.archive = archive, .arrays = arrays};
    C *c = c_new();
    if (c_try(c, fixture_run, &f) != 0 && !f.why[0]) {
        const Diag *d = c->first_diag;
        while (d && d->warning)
            d = d->next;
        snprintf(f.why, sizeof f.why, "%s", d ? d->message : "unwound without a diagnostic");
        f.refused = is_refusal(f.why);
    }
    c_free(c);
    *total += !f.skipped;
    *refused += f.refused;
    *failed += f.why[0] && !f.refused;
    if (f.why[0] && (!f.refused || getenv("CORTEN_REFUSED")))
        print_message("%s/%s: %s\n", op, case_name, f.why);
}

static int visible(const struct dirent *d) {
    return d->d_name[0] != '.';
}

/* CORTEN_FIXTURE=view checks one operator's folder only; CORTEN_REFUSED=1 shows what is refused. */
static void every_fixture_in_float_agrees_with_the_interpreter(void **state) {
    (void)state;
    const char *only = getenv("CORTEN_FIXTURE");
    struct dirent **folder, **file;
    int folders = scandir("op", &folder, visible, alphasort), total = 0, refused = 0, failed = 0;
    assert_true(folders > 0);
    for (int i = 0; i < folders; i++) {
        char path[512];
        snprintf(path, sizeof path, "op/%s", folder[i]->d_name);
        int files =
            only && strcmp(only, folder[i]->d_name) ? 0 : scandir(path, &file, visible, alphasort);
        for (int k = 0; k < files; k++) {
            char *dot = strrchr(file[k]->d_name, '.');
            if (dot && strcmp(dot, ".pt2") == 0) {
                *dot = 0;
                fixture_check(folder[i]->d_name, file[k]->d_name, &total, &refused, &failed);
            }
            free(file[k]);
        }
        if (files > 0)
            free(file);
        free(folder[i]);
    }
    free(folder);
    print_message("%d fixtures, %d refused for want of a float form, %d wrong\n", total, refused,
                  failed);
    assert_true(total > refused);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_keep_their_stated_error),
        cmocka_unit_test(functions_of_two_keep_their_stated_error),
        cmocka_unit_test(functions_have_the_special_values_of_c),
        cmocka_unit_test(every_fixture_in_float_agrees_with_the_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
