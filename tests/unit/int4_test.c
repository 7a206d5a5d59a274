/* Weights of 4 bits through the whole flow: what --precision w4 packs, what it refuses and how the
 * report says it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow/flow.h"

/* A compile of a fixture under these rules. */
static Said compiled(const char *fixture, const char *rules, const char *target, const char *out) {
    const char *file = flow_path("rules.txt"), **data = c_alloc(flow_c(), sizeof *data);
    text_write(file, rules);
    data[0] = flow_text("%s.npz", fixture);
    return flow_run(corten_compile, (CortenOptions){.model = flow_text("%s.pt2", fixture),
                                                    .calibrate = data,
                                                    .calibrate_count = 1,
                                                    .target = target,
                                                    .precision_file = file,
                                                    .out = out});
}

static double output_db(const char *fixture, const char *out) {
    const char *data = flow_text("%s.npz", fixture);
    ArrayList want = flow_arrays(data), got = flow_outputs(out, data, "host");
    return flow_sqnr(flow_array(&want, "out0"), got.item[0].array);
}

static void every_fixture_with_int4_weights_comes_near_torch(void **state) {
    (void)state;
    static const char *const fixtures[] = {
        "op/conv1d/plain",      "op/conv1d/depthwise", "op/conv1d/dilation",
        "op/conv1d/groups",     "op/conv1d/no_bias",   "op/conv2d/batches",
        "op/conv2d/depthwise",  "op/conv2d/groups",    "op/conv2d/depth_multiplier",
        "op/conv2d/dilation",   "op/conv2d/pointwise", "op/conv2d/relu_between",
        "op/conv2d/one_number", "op/linear/rank1",     "op/linear/rank2",
        "op/linear/rank4",      "op/linear/wide",      "op/addmm/a_linear_layer",
    };
    static const char *const targets[] = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"};
    for (size_t i = 0; i < COUNT_OF(fixtures); i++) {
        double first = 0;
        for (size_t t = 0; t < COUNT_OF(targets); t++) {
            const char *out = flow_path("fixture");
            assert_code(compiled(fixtures[i], "* = w4\n", targets[t], out), 0);
            double db = output_db(fixtures[i], out);
            if (t == 0)
                first = db;
            if (!(db > 8) || db != first)
                fail_msg("%s on %s: %.1f dB, on %s %.1f", fixtures[i], targets[t], db, targets[0],
                         first);
        }
    }
}

static long long weights_bytes(const char *out) {
    return json_integer_value(json_object_get(flow_report(out), "weights_bytes"));
}

#define MODEL "pains/shared_silu_inplace"

static void int4_weights_are_packed_and_named(void **state) {
    (void)state;
    const char *wide = flow_path("int8"), *packed = flow_path("int4");
    assert_code(compiled(MODEL, "* = int8\n", "cortex-m0plus", wide), 0);
    assert_code(compiled(MODEL, "* = w4\n", "cortex-m0plus", packed), 0);
    assert_true(weights_bytes(packed) < weights_bytes(wide));
    const json_t *nodes = json_object_get(flow_report(packed), "nodes"), *node;
    size_t i;
    int convolutions = 0;
    json_array_foreach(nodes, i, node) {
        const char *op = json_string_value(json_object_get(node, "op"));
        const char *weights = json_string_value(json_object_get(node, "weights"));
        if (strstr(op, "conv2d")) {
            convolutions++;
            assert_string_equal(weights, "int4");
        } else {
            assert_null(weights);
        }
    }
    assert_true(convolutions >= 2);
    const char *header = flow_text("%s/shared_silu_inplace.h", packed);
    assert_says(file_text(header), "Weights are int4 in 2 of 2 layers");
    Said said = flow_run(corten_report, (CortenOptions){.model = packed});
    assert_says(said.results, "int4");
}

static void the_last_rule_for_a_node_wins(void **state) {
    (void)state;
    const char *out = flow_path("mixed");
    assert_code(compiled(MODEL, "* = w4\nconv2d_1 = int8\n", "cortex-m4", out), 0);
    assert_says(file_text(flow_text("%s/shared_silu_inplace.h", out)),
                "Weights are int4 in 1 of 2 layers");
}

static void refused(const char *fixture, const char *rules, const char *says) {
    const char *out = flow_path("refused");
    Said said = compiled(fixture, rules, "cortex-m4", out);
    assert_code(said, 1);
    assert_says(said.messages, says);
    assert_false(file_exists(out));
}

static void a_name_whose_node_cannot_have_int4_weights_is_refused(void **state) {
    (void)state;
    refused("op/lstm.input/plain", "lstm = w4\n", "lstm has no int4 weights");
    refused("op/conv3d/plain", "conv3d = w4\n", "conv3d has no int4 weights");
    refused("op/conv_transpose2d.input/plain", "conv_transpose2d = w4\n",
            "conv_transpose2d has no int4 weights");
    refused("op/linear/weight_of_rank1", "linear = w4\n", "linear has no int4 weights");
    refused("op/linear/weight_is_an_input", "linear = w4\n",
            "nothing that 'linear = w4' names has constant weights");
}

static int times(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* "* = w4" means: wherever it can be had. */
static void a_pattern_applies_where_it_can_and_says_once_what_it_passes_over(void **state) {
    (void)state;
    const char *out = flow_path("passed_over");
    Said said = compiled("op/lstm.input/plain", "* = w4\n", "cortex-m4", out);
    assert_code(said, 0);
    assert_says(said.messages,
                ":1: warning: '* = w4' passes over 1 node without such a form: lstm");
    assert_int_equal(times(said.messages, "passes over"), 1);
    said = compiled("op/linear/weight_is_an_input", "lin* = w4\n", "cortex-m4", flow_path("none"));
    assert_code(said, 0);
    assert_says(said.messages, "nothing that 'lin* = w4' names has constant weights");
}

/* Convolutions with int4 weights give int8; names are refused what a pattern passes over. */
static void patterns_for_int16_pass_over_what_has_int4_weights(void **state) {
    (void)state;
    const char *out = flow_path("both");
    Said said = compiled(MODEL, "conv2d_1 = w4\nsilu* = int16\n", "cortex-m4", out);
    assert_code(said, 0);
    assert_says(file_text(flow_text("%s/shared_silu_inplace.h", out)), "int4 in 1 of 2 layers");
    refused("op/argmax/last", "argmax = int16\n", "argmax has no float results");
}

/* A node without weights under the glob is no mistake, an int16 input comes as int8. */
static void other_precisions_stand_beside_int4(void **state) {
    (void)state;
    const char *out = flow_path("beside");
    assert_code(compiled("op/linear/rank2", "* = w4\nx = int16\n", "cortex-m4", out), 0);
    assert_true(output_db("op/linear/rank2", out) > 8);
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture_with_int4_weights_comes_near_torch),
        cmocka_unit_test(int4_weights_are_packed_and_named),
        cmocka_unit_test(the_last_rule_for_a_node_wins),
        cmocka_unit_test(a_name_whose_node_cannot_have_int4_weights_is_refused),
        cmocka_unit_test(a_pattern_applies_where_it_can_and_says_once_what_it_passes_over),
        cmocka_unit_test(patterns_for_int16_pass_over_what_has_int4_weights),
        cmocka_unit_test(other_precisions_stand_beside_int4),
    };
    return cmocka_run_group_tests_name("int4", tests, NULL, NULL);
}
