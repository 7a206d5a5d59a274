/* --emit tosa without the reference model: what is written, and that every node without a form is
 * named before anything is. That the numbers are right is tests/tosa's matter. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* precision: lines of a file, NULL: none. */
static Said compile_in(const char *stem, const char *out, const char *emit, const char *precision) {
    const char *data = flow_text("%s.npz", stem);
    return flow_run(corten_compile, (CortenOptions){.model = flow_text("%s.pt2", stem),
                                                    .calibrate = &data,
                                                    .calibrate_count = 1,
                                                    .target = "cortex-m55",
                                                    .emit = emit,
                                                    .precision_text = precision,
                                                    .allow_float = precision != NULL,
                                                    .out = out});
}

static Said compile(const char *stem, const char *out, const char *emit) {
    return compile_in(stem, out, emit, NULL);
}

static void a_program_is_written_instead_of_c(void **state) {
    (void)state;
    const char *out = flow_path("tosa");
    assert_code(compile("pains/shared_silu_inplace", out, "tosa"), 0);
    size_t bytes;
    const char *file = file_read(flow_c(), flow_text("%s/shared_silu_inplace.tosa", out), &bytes);
    assert_true(bytes > 1000);
    assert_memory_equal(file + 4, "TOSA", 4);
    assert_false(file_exists(flow_text("%s/shared_silu_inplace.c", out)));
    assert_false(file_exists(flow_text("%s/runtime", out)));
    /* The simulator still runs it: that is what the reference model is compared with. */
    assert_true(flow_outputs(out, "pains/shared_silu_inplace.npz", "host").count > 0);
}

static void the_same_bytes_every_time(void **state) {
    (void)state;
    const char *first = flow_path("first"), *second = flow_path("second");
    assert_code(compile("pains/squeeze_excite", first, "tosa"), 0);
    assert_code(compile("pains/squeeze_excite", second, "tosa"), 0);
    size_t a, b;
    const char *x = file_read(flow_c(), flow_text("%s/squeeze_excite.tosa", first), &a);
    const char *y = file_read(flow_c(), flow_text("%s/squeeze_excite.tosa", second), &b);
    assert_int_equal(a, b);
    assert_memory_equal(x, y, a);
}

static void tables_have_256_entries(void **state) {
    (void)state;
    const char *out = flow_path("short_tables");
    assert_code(compile("pains/conv_hardswish_inplace", out, "tosa"), 0);
    const json_t *bytes = json_object_get(flow_report(out), "bytes");
    assert_int_equal(json_integer_value(json_object_get(bytes, "tables")) % 256, 0);
    assert_int_equal(json_integer_value(json_object_get(bytes, "tables")), 256);
}

static void nodes_without_a_form_are_named(void **state) {
    (void)state;
    const char *out = flow_path("refused");
    Said said = compile("tosa/cases/rounded_quotients", out, "tosa");
    assert_code(said, 1);
    assert_says(said.messages, "div has no form in TOSA's integer profile");
    assert_says(said.messages, "node div");
    assert_false(file_exists(out));
}

/* What no operator takes is named with its numbers' type. */
static void numbers_without_a_form_are_named(void **state) {
    (void)state;
    static const struct {
        const char *stem, *reason;
    } cases[] = {
        {"op/split.sizes/empty", "has no elements, which no tensor of TOSA may lack"},
        {"op/argmax/uint8", "inputs_0 is uint8, which no TOSA program of Corten has"},
        {"flow/embedder", "ids is int64, which no TOSA program of Corten has"},
        {"op/bitwise_or.Tensor/int64",
         "bitwise_or has no form in TOSA's integer profile for inputs_0, which is int64"},
        {"tosa/cases/volumes", "conv3d has no form in TOSA's integer profile"},
        {"tosa/cases/far_dilated_transposed_conv",
         "groups and dilation are written as zeros: 128 bytes of weights make 20484096, and "
         "at most 16777216 are written"},
        {"tosa/cases/rms_norm_of_40000", "the squares of 40000 elements and an epsilon of"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *out = flow_text("%s%zu", flow_path("numbers"), i);
        Said said = compile(cases[i].stem, out, "tosa");
        assert_code(said, 1);
        assert_says(said.messages, cases[i].reason);
        assert_false(file_exists(out));
    }
}

static void state_is_an_input_and_an_output(void **state) {
    (void)state;
    const char *out = flow_path("state");
    assert_code(compile("tosa/cases/gru_cell_that_streams", out, "tosa"), 0);
    const json_t *states = json_object_get(flow_report(out), "states");
    assert_int_equal(json_array_size(states), 2);
    const json_t *hidden = json_array_get(states, 0);
    assert_string_equal(json_string_value(json_object_get(hidden, "name")), "hidden");
    assert_int_equal(json_integer_value(json_object_get(hidden, "initial")),
                     json_integer_value(json_object_get(hidden, "zero_point"))); /* zeros */
}

/* That their numbers are right is tests/tosa's matter. */
static void weights_of_4_bits_are_written(void **state) {
    (void)state;
    const char *out = flow_path("four");
    assert_code(compile_in("pains/wide_conv1d", out, "tosa", "* = w4\n"), 0);
    const json_t *nodes = json_object_get(flow_report(out), "nodes"), *node;
    int layers = 0;
    size_t i;
    json_array_foreach((json_t *)nodes, i, node) {
        const char *weights = json_string_value(json_object_get(node, "weights"));
        layers += weights && strcmp(weights, "int4") == 0;
    }
    assert_int_equal(layers, 3);
}

static void floats_are_refused(void **state) {
    (void)state;
    const char *out = flow_path("floats");
    Said said = compile_in("pains/wide_conv1d", out, "tosa", "* = float\n");
    assert_code(said, 1);
    assert_says(said.messages,
                "conv1d has no form in TOSA's integer profile for input, which is float32");
    assert_says(said.messages, "node conv1d");
    said = compile_in("op/grid_sampler_2d/aligned", out, "tosa", "");
    assert_code(said, 1);
    assert_says(said.messages, "node grid_sampler_2d");
    assert_false(file_exists(out));
}

static void sizes_that_vary_are_refused(void **state) {
    (void)state;
    Said said = compile("bad/size_dynamic", flow_path("varying"), "tosa");
    assert_code(said, 1);
    assert_says(said.messages, "dimension 0 of input 'x' is dynamic");
}

static void exports_are_of_c(void **state) {
    (void)state;
    const char *data = "pains/concat.npz", *kind = "make";
    Said said = flow_run(corten_compile, (CortenOptions){.model = "pains/concat.pt2",
                                                         .calibrate = &data,
                                                         .calibrate_count = 1,
                                                         .target = "cortex-m55",
                                                         .emit = "tosa",
                                                         .exports = &kind,
                                                         .exports_count = 1,
                                                         .out = flow_path("export")});
    assert_code(said, 2);
    assert_says(said.messages, "--emit tosa");
    assert_code(compile("pains/concat", flow_path("other"), "tosca"), 2);
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_written_instead_of_c),
        cmocka_unit_test(the_same_bytes_every_time),
        cmocka_unit_test(tables_have_256_entries),
        cmocka_unit_test(nodes_without_a_form_are_named),
        cmocka_unit_test(numbers_without_a_form_are_named),
        cmocka_unit_test(state_is_an_input_and_an_output),
        cmocka_unit_test(weights_of_4_bits_are_written),
        cmocka_unit_test(floats_are_refused),
        cmocka_unit_test(sizes_that_vary_are_refused),
        cmocka_unit_test(exports_are_of_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
