/* Pointwise regions as real torch exports them become one table each, whose entries are the
 * function itself, computed here in another way, rounded to the output's grid. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/import.h"
#include "lower/lower.h"
#include "run/run.h"

static double silu(double x) {
    return x / (1 + exp(-x));
}

static double hardswish(double x) {
    return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
}

static double mish(double x) {
    double e = exp(x); /* tanh(log(1 + e^x)) = ((1 + e^x)^2 - 1) / ((1 + e^x)^2 + 1) */
    return x * (e * e + 2 * e) / (e * e + 2 * e + 2);
}

static double gelu_tanh(double x) {
    double u = sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return x - x / (exp(2 * u) + 1); /* x / 2 (1 + tanh u) = x (1 - 1 / (e^2u + 1)) */
}

static double clamp_chain(double x) {
    return x < 0 ? 0 : x > 4 ? 4 : x;
}

static double sqrt_relu(double x) {
    return x > 0 ? sqrt(x + 1) : 1;
}

static double exp_negative(double x) {
    return 1 / exp(x);
}

static double poles_inside(double x) { /* log(0) is clamped */
    return x > exp(-3) ? log(x) : -3;
}

static double scaled(double x) {
    return x * 5 / 2;
}

static const struct {
    const char *name;
    double (*f)(double);
} cases[] = {
    {"silu_apart", silu},
    {"silu_inplace", silu},
    {"hardswish_apart", hardswish},
    {"mish", mish},
    {"mish_apart", mish},
    {"gelu_tanh", gelu_tanh},
    {"gelu_tanh_apart", gelu_tanh},
    {"clamp_chain", clamp_chain},
    {"sqrt_relu", sqrt_relu},
    {"exp_negative", exp_negative},
    {"scaled", scaled},
    {"poles_inside", poles_inside},
};

typedef struct {
    const char *name;
    double (*f)(double);
} Case;

static void check_entries(C *c, const Node *table, double (*f)(double)) {
    const Grid *in = node_operand(table, 0)->grid, *out = table->out[0]->grid;
    int8_t entry[TABLE_ENTRIES];
    assert_non_null(in);
    assert_non_null(out);
    table_fill(c, table, in, out, entry);
    for (int q = -128; q < 128; q++) {
        double x = in->part[0].scale * (q - in->part[0].zero_point);
        double y = f(x) / out->part[0].scale;
        if (fabs(fabs(y - trunc(y)) - 0.5) < 1e-9)
            continue; /* a tie but for the error of double arithmetic: either neighbour is right */
        double want = fmin(fmax(round(y) + out->part[0].zero_point, -128), 127);
        assert_int_equal(entry[q + 128], (int)want);
    }
}

static void compile_and_check(C *c, void *user) {
    const Case *k = user;
    Graph *g = import_pt2(c, c_format(c, "op/table/%s.pt2", k->name));
    Samples samples = samples_read(c, g, c_format(c, "op/table/%s.npz", k->name), NULL);
    Options o = {.sample_count = samples.count, .sample = samples.sample, .threads = 1};
    PipelineControl control = {.stop_after = "quantize"};
    pipeline_run(c, g, &o, &control);
    assert_int_equal(g->node_count, 1);
    assert_true(node_is(g->first, "corten::table"));
    check_entries(c, g->first, k->f);
}

static void a_region_of_one_variable_is_one_table_of_its_function(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        C *c = c_new();
        Case k = {cases[i].name, cases[i].f};
        int code = c_try(c, compile_and_check, &k);
        diag_print(c, stderr, false, false);
        assert_int_equal(code, 0);
        c_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_of_one_variable_is_one_table_of_its_function),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
