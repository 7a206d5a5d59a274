/* corten inspect before any compile: what it says of needs is held against what a compile then
 * reports, and archives that cannot be compiled are shown all the same. */
#include "flow/flow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *inspected(const char *archive, const char *target, int code) {
    Said said =
        flow_run(corten_inspect, (CortenOptions){.model = archive, .target = target, .json = true});
    assert_code(said, code);
    json_error_t error;
    json_t *json = json_loads(said.results, 0, &error);
    if (!json)
        fail_msg("%s: line %d: %s", archive, error.line, error.text);
    return json;
}

static long long number(const json_t *o, const char *key) {
    return (long long)json_integer_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static const json_t *node(const json_t *root, const char *name) {
    size_t i;
    json_t *n;
    json_array_foreach(json_object_get(root, "nodes"), i,
                       n) if (strcmp(text(n, "name"), name) == 0) return n;
    fail_msg("no node %s", name);
    return NULL;
}

/* The made-up sample gives other grids than the real ones, and with them other tables; RAM, the
 * kernels and their work stay. */
static void needs_are_what_a_compile_reports(void **state) {
    (void)state;
    static const char *const names[] = {"shared_silu_inplace", "conv_norm_relu_inplace",
                                        "norm_after_cat", "lstm_of_3", "boxes_and_scores"};
    static const char *const targets[] = {"cortex-m0plus", "cortex-m55"};
    for (size_t i = 0; i < 2 * COUNT_OF(names); i++) {
        const char *name = names[i / 2], *target = targets[i % 2];
        const char *archive = flow_text("pains/%s.pt2", name);
        json_t *root = inspected(archive, target, 0), *e = json_object_get(root, "estimate");
        json_t *report = flow_compiled(archive, flow_text("pains/%s.npz", name), target,
                                       flow_path("%s_%s", name, target));
        assert_string_equal(text(e, "why_not"), "");
        assert_string_equal(text(e, "target"), target);
        assert_int_equal(number(e, "arena_bytes"), number(report, "arena_bytes"));
        assert_int_equal(number(e, "state_bytes"), number(report, "state_bytes"));
        assert_int_equal(number(e, "macs"), number(report, "macs"));
        assert_int_equal(number(e, "float_nodes"), 0);
        assert_int_equal(number(e, "calls"), json_array_size(json_object_get(report, "calls")));
        if (json_is_integer(json_object_get(report, "instructions_estimate")))
            assert_int_equal(number(e, "calls_of_unknown_cost"), 0);
        long long flash = number(json_object_get(report, "bytes"), "rodata");
        assert_true(llabs(number(e, "flash_bytes") - flash) <= flash / 10 + 256);
        json_decref(root);
    }
}

/* Counted on the float graph, without a CPU. */
static void macs_are_what_a_compile_reports(void **state) {
    (void)state;
    const char **name;
    int count = folder_list(flow_c(), "pains", &name), seen = 0;
    for (int i = 0; i < count; i++) {
        if (!text_ends_with(name[i], ".pt2") || strncmp(name[i], "dynamic", 7) == 0)
            continue;
        const char *archive = flow_text("pains/%s", name[i]), *stem = path_stem(flow_c(), archive),
                   *out = flow_path("macs_%s", stem);
        const char *data = flow_text("pains/%s.npz", stem);
        if (!file_exists(data) || flow_compile(archive, data, "cortex-m4", out).code != 0)
            continue;
        json_t *root = inspected(archive, NULL, 0);
        if (number(root, "macs") != number(flow_report(out), "macs"))
            fail_msg("%s: %lld MACs, but %lld when compiled", name[i], number(root, "macs"),
                     number(flow_report(out), "macs"));
        json_decref(root);
        seen++;
    }
    assert_true(seen > 20);
}

static void unknown_operators_stand_in_the_table_with_the_reason(void **state) {
    (void)state;
    json_t *root = inspected("bad/operators_unknown.pt2", "cortex-m4", 1);
    assert_int_equal(json_array_size(json_object_get(root, "nodes")), 4);
    assert_string_equal(text(node(root, "relu_"), "becomes"), "none");
    assert_string_equal(text(node(root, "relu_"), "why"),
                        "operator my_ops.frobnicate is not known");
    assert_string_equal(text(node(root, "frobnicate_1"), "why"),
                        "operator my_ops.frobnicate is not known");
    assert_string_equal(text(node(root, "conv2d"), "becomes"), "decomposes");
    assert_int_equal(number(root, "without_integer_form"), 3);
    assert_true(json_is_null(json_object_get(root, "estimate")));
    json_decref(root);
    Said said = flow_run(corten_inspect, (CortenOptions){.model = "bad/operators_unknown.pt2"});
    assert_says(said.messages, "also node frobnicate_1");
    assert_says(said.results, "my_ops.frobnicate                         2  none");
}

static void malformed_archives_show_nothing(void **state) {
    (void)state;
    Said said = flow_run(corten_inspect, (CortenOptions){.model = "bad/json_cut.pt2"});
    assert_code(said, 3);
    assert_string_equal(said.results, "");
}

static void nodes_without_integer_form_are_estimated_in_float(void **state) {
    (void)state;
    json_t *root = inspected("flow/several_faults.pt2", "cortex-m55", 0);
    json_t *e = json_object_get(root, "estimate");
    assert_int_equal(number(root, "without_integer_form"), 2);
    assert_true(number(e, "float_nodes") >= 1 || *text(e, "why_not"));
    json_decref(root);
}

static void wrong_cpu_is_exit_2(void **state) {
    (void)state;
    Said said = flow_run(corten_inspect,
                         (CortenOptions){.model = "pains/lstm_of_3.pt2", .target = "cortex-m5"});
    assert_code(said, 2);
    assert_says(said.messages, "did you mean \"cortex-m");
}

static void operators_are_counted(void **state) {
    (void)state;
    json_t *root = inspected("pains/shared_silu_inplace.pt2", NULL, 0);
    json_t *ops = json_object_get(root, "operators"), *o;
    long long nodes = 0;
    size_t i;
    json_array_foreach(ops, i, o) {
        nodes += number(o, "count");
        if (strcmp(text(o, "op"), "aten.silu_") == 0)
            assert_int_equal(number(json_object_get(o, "becomes"), "table"), 2);
    }
    assert_int_equal(nodes, json_array_size(json_object_get(root, "nodes")));
    assert_string_equal(text(node(root, "silu_"), "numeric"), "int8");
    json_decref(root);
}

/* Batch first: the recurrence's kernel between two transpositions. */
static void a_kernel_between_movements_is_a_kernel(void **state) {
    (void)state;
    json_t *root = inspected("op/gru.input/batch_first.pt2", NULL, 0);
    assert_string_equal(text(node(root, "gru"), "becomes"), "kernel");
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_are_what_a_compile_reports),
        cmocka_unit_test(macs_are_what_a_compile_reports),
        cmocka_unit_test(unknown_operators_stand_in_the_table_with_the_reason),
        cmocka_unit_test(malformed_archives_show_nothing),
        cmocka_unit_test(nodes_without_integer_form_are_estimated_in_float),
        cmocka_unit_test(wrong_cpu_is_exit_2),
        cmocka_unit_test(operators_are_counted),
        cmocka_unit_test(a_kernel_between_movements_is_a_kernel),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
