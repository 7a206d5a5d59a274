/* Models of tests/float (tools/make_float_fixtures.py), some nodes of which have no integer form:
 * refused with all such nodes named, or allowed to run in float between integers; and models that
 * are asked to be wholly in float. On chips as on the host: run with a CPU's name as argument, all
 * are compared on QEMU instead (exit code 77 without it). */
#include "flow/flow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    const char *refused[3]; /* nodes without integer form, in the model's order */
} models[] = {
    {"bicubic", {"upsample_bicubic2d"}},
    {"spatial_transformer", {"grid_sampler"}},
    {"best_scores", {"topk", "argsort"}},
    {"two_kinds", {"sort", "softmax"}},
    {"stream", {"sort", "sort_1"}},
    {"computed_weight", {NULL}}, /* these have integer forms: for runs wholly in float */
    {"functions", {NULL}},
};
enum { FLOAT_MODELS = sizeof models / sizeof *models, MODELS = FLOAT_MODELS - 2 };

static CortenOptions options_for(const char *name, const char *cpu, const char *suffix) {
    const char **data = c_alloc(flow_c(), sizeof *data);
    data[0] = flow_text("float/%s.npz", name);
    return (CortenOptions){.model = flow_text("float/%s.pt2", name),
                           .target = cpu,
                           .calibrate = data,
                           .calibrate_count = 1,
                           .out = flow_path("%s_%s", name, suffix)};
}

static const json_t *node_named(const json_t *report, const char *name) {
    size_t i;
    json_t *node;
    json_array_foreach(json_object_get(report, "nodes"), i, node) {
        if (strcmp(json_string_value(json_object_get(node, "name")), name) == 0)
            return node;
    }
    fail_msg("no node %s in the report", name);
    return NULL;
}

static void without_the_option_every_node_is_named_and_nothing_written(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        CortenOptions o = options_for(models[m].name, "cortex-m4", "refused");
        Said said = flow_run(corten_compile, o);
        assert_code(said, 1);
        for (int k = 0; models[m].refused[k]; k++)
            assert_says(said.messages, flow_text("node %s, output", models[m].refused[k]));
        assert_says(said.messages, "no integer form");
        assert_says(said.messages, "model.py:");
        assert_false(file_exists(o.out));
    }
}

static void with_the_option_the_report_lists_them_with_their_reasons(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        CortenOptions o = options_for(models[m].name, "cortex-m4", "allowed");
        o.allow_float = true;
        Said said = flow_run(corten_compile, o);
        assert_code(said, 0);
        json_t *report = flow_report(o.out);
        int listed = 0;
        for (; models[m].refused[listed]; listed++) {
            const json_t *node = node_named(report, models[m].refused[listed]);
            assert_string_equal(json_string_value(json_object_get(node, "numeric")), "float");
            assert_non_null(json_string_value(json_object_get(node, "reason")));
        }
        assert_int_equal(json_integer_value(json_object_get(report, "float_nodes")), listed);
    }
}

static void what_runs_in_float_between_integers_keeps_to_torch(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        CortenOptions o = options_for(models[m].name, "cortex-m4", "compared");
        o.allow_float = true;
        assert_code(flow_run(corten_compile, o), 0);
        const char *data = flow_text("float/%s.npz", models[m].name);
        ArrayList want = flow_arrays(data), got = flow_outputs(o.out, data, "host");
        const Array *first = flow_array(&want, "out0");
        double db = flow_sqnr(first, got.item[0].array);
        if (!(db >= 30))
            fail_msg("%s: %.1f dB", models[m].name, db);
    }
}

static const char *all_float_file(void) {
    const char *path = flow_path("all_float.txt");
    text_write(path, "* = float\n");
    return path;
}

static void a_model_asked_to_be_float_equals_torch(void **state) {
    (void)state;
    for (int m = 0; m < FLOAT_MODELS; m++) {
        CortenOptions o = options_for(models[m].name, "cortex-m4", "float");
        o.precision_file = all_float_file();
        assert_code(flow_run(corten_compile, o), 0);
        const char *data = flow_text("float/%s.npz", models[m].name);
        ArrayList want = flow_arrays(data), got = flow_outputs(o.out, data, "host");
        const Array *a = flow_array(&want, "out0"), *b = got.item[0].array;
        for (int64_t i = 0; i < array_count(a); i++)
            if (!(fabs(array_get(a, i) - array_get(b, i)) <= 1e-4))
                fail_msg("%s: element %lld is %g, not %g", models[m].name, (long long)i,
                         array_get(b, i), array_get(a, i));
    }
}

static void what_has_no_float_form_is_refused_when_asked_for(void **state) {
    (void)state;
    const char **data = c_alloc(flow_c(), sizeof *data);
    data[0] = "op/lgamma/float.npz";
    CortenOptions o = {.model = "op/lgamma/float.pt2",
                       .target = "cortex-m4",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .precision_file = all_float_file(),
                       .out = flow_path("lgamma")};
    Said said = flow_run(corten_compile, o);
    assert_code(said, 1);
    assert_says(said.messages, "lgamma has no float form");
}

/* ---- on the chip ------------------------------------------------------------------------------
 */

static int compare_on(const char *cpu, const char *name, bool wholly) {
    CortenOptions o = options_for(name, cpu, wholly ? "chip_float" : "chip");
    o.allow_float = !wholly;
    o.precision_file = wholly ? all_float_file() : NULL;
    Said said = flow_run(corten_compile, o);
    CortenOptions v = {.model = o.out, .input = flow_text("float/%s.npz", name), .on = "qemu"};
    if (said.code == 0)
        said = flow_run(corten_verify, v);
    bool agree =
        said.code == 0 && strstr(said.results, "host and chip agree bit for bit: yes") != NULL;
    printf("%s%s on %s: %s\n", name, wholly ? ", all float" : "", cpu,
           agree ? "equal" : said.messages);
    return !agree;
}

static int run_on_chip(const char *cpu) {
    if (!flow_has("qemu-system-arm") || !flow_has("arm-none-eabi-gcc"))
        return 77;
    int wrong = 0;
    for (int m = 0; m < MODELS; m++)
        wrong += compare_on(cpu, models[m].name, false);
    for (int m = 0; m < FLOAT_MODELS; m++)
        wrong += compare_on(cpu, models[m].name, true);
    return wrong > 0;
}

int main(int argc, char **argv) {
    flow_begin();
    if (argc > 1)
        return run_on_chip(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_option_every_node_is_named_and_nothing_written),
        cmocka_unit_test(with_the_option_the_report_lists_them_with_their_reasons),
        cmocka_unit_test(what_runs_in_float_between_integers_keeps_to_torch),
        cmocka_unit_test(a_model_asked_to_be_float_equals_torch),
        cmocka_unit_test(what_has_no_float_form_is_refused_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
