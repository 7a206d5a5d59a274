/* --emit pte without the wheel: what is written, and that every node without a form is named before
 * anything is. That the numbers are right is tests/pte's matter. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* precision: lines of a file, NULL: none. */
static Said compile_in(const char *stem, const char *out, const char *precision) {
    const char *data = flow_text("%s.npz", stem);
    return flow_run(corten_compile, (CortenOptions){.model = flow_text("%s.pt2", stem),
                                                    .calibrate = &data,
                                                    .calibrate_count = 1,
                                                    .target = "cortex-m55",
                                                    .emit = "pte",
                                                    .precision_text = precision,
                                                    .allow_float = precision != NULL,
                                                    .out = out});
}

static Said compile(const char *stem, const char *out) {
    return compile_in(stem, out, NULL);
}

static const char *program(const char *stem, const char *out, size_t *bytes) {
    assert_code(compile(stem, out), 0);
    return file_read(flow_c(), flow_text("%s/%s.pte", out, strrchr(stem, '/') + 1), bytes);
}

static uint64_t number_at(const char *file, int at, int bytes) {
    uint64_t n = 0;
    for (int i = bytes; i-- > 0;)
        n = n << 8 | (uint8_t)file[at + i];
    return n;
}

static void a_program_is_written_instead_of_c(void **state) {
    (void)state;
    const char *out = flow_path("pte");
    size_t bytes;
    const char *file = program("pains/shared_silu_inplace", out, &bytes);
    assert_memory_equal(file + 4, "ET12eh00", 8);
    assert_int_equal(number_at(file, 12, 4), 32);
    assert_true(number_at(file, 16, 8) <=
                number_at(file, 24, 8)); /* constants behind the program */
    assert_int_equal(number_at(file, 24, 8) % 128, 0);
    assert_int_equal(number_at(file, 24, 8) + number_at(file, 32, 8), bytes);
    assert_false(file_exists(flow_text("%s/shared_silu_inplace.c", out)));
    assert_true(flow_outputs(out, "pains/shared_silu_inplace.npz", "host").count > 0);
}

static void the_same_bytes_every_time(void **state) {
    (void)state;
    size_t a, b;
    const char *x = program("pains/residual_relu_inplace", flow_path("first"), &a);
    const char *y = program("pains/residual_relu_inplace", flow_path("second"), &b);
    assert_int_equal(a, b);
    assert_memory_equal(x, y, a);
}

static void inputs_and_outputs_are_floats_unless_asked_for(void **state) {
    (void)state;
    const char *out = flow_path("floats");
    assert_code(compile("pains/wide_conv1d", out), 0);
    const json_t *input = json_array_get(json_object_get(flow_report(out), "inputs"), 0);
    assert_string_equal(json_string_value(json_object_get(input, "dtype")), "float32");
}

static void nodes_without_a_form_are_named(void **state) {
    (void)state;
    const char *out = flow_path("refused");
    Said said = compile("pains/lstm_of_3", out);
    assert_code(said, 1);
    assert_says(said.messages, "lstm has no form in ExecuTorch's Cortex-M dialect");
    assert_says(said.messages, "node lstm");
    assert_false(file_exists(out));
}

/* CMSIS-NN counts them in 16 bits. */
static void sides_beyond_the_kernels_are_refused(void **state) {
    (void)state;
    const char *out = flow_path("wide");
    Said said = compile("tosa/cases/wide_signal", out);
    assert_code(said, 1);
    assert_says(said.messages, "quantized_conv2d takes at most 65535 pixels a side");
    assert_says(said.messages, "node conv1d");
    assert_false(file_exists(out));
}

/* What is cut of a long signal was chosen by products with as many numbers as places squared. */
static void long_upsampled_signals_need_no_large_weights(void **state) {
    (void)state;
    size_t bytes;
    program("tosa/cases/long_upsampled_signals", flow_path("upsampled"), &bytes);
    assert_true(bytes < 100000);
}

static void choices_of_many_places_are_refused(void **state) {
    (void)state;
    Said said = compile("tosa/cases/long_adaptive_max_pool", flow_path("chosen"));
    assert_code(said, 1);
    assert_says(said.messages, "900 of 1300 places are chosen by as many rows of weights, of which "
                               "at most 1048576 bytes are written");
    assert_says(said.messages, "node adaptive_max_pool1d");
}

static void zeros_of_far_dilations_are_refused(void **state) {
    (void)state;
    Said said = compile("tosa/cases/far_dilated_transposed_conv", flow_path("dilated"));
    assert_code(said, 1);
    assert_says(said.messages,
                "groups and dilation are written as zeros: 128 bytes of weights make 20484096, and "
                "at most 16777216 are written");
    assert_says(said.messages, "node conv_transpose1d");
}

static void quotients_that_are_rounded_are_refused(void **state) {
    (void)state;
    Said said = compile("tosa/cases/rounded_quotients", flow_path("rounded"));
    assert_code(said, 1);
    assert_says(said.messages, "has no form in ExecuTorch's Cortex-M dialect");
    assert_says(said.messages, "node div");
}

static void bytes_without_sign_are_refused(void **state) {
    (void)state;
    const char *data = "pains/wide_conv1d.npz";
    CortenOptions o = {.model = "pains/wide_conv1d.pt2",
                       .calibrate = &data,
                       .calibrate_count = 1,
                       .target = "cortex-m55",
                       .emit = "pte",
                       .io = "uint8",
                       .out = flow_path("bytes")};
    Said said = flow_run(corten_compile, o);
    assert_code(said, 2);
    assert_says(said.messages, "--io uint8: ExecuTorch's Cortex-M dialect has float and int8");
}

static void bundles_are_of_programs_and_need_samples(void **state) {
    (void)state;
    CortenOptions o = {.model = "pains/wide_conv1d.pt2",
                       .target = "cortex-m55",
                       .bundle = true,
                       .out = flow_path("bundled")};
    Said said = flow_run(corten_compile, o);
    assert_code(said, 2);
    assert_says(said.messages, "--bundle is of ExecuTorch programs: it needs --emit pte");
    const char *data = "pains/wide_conv1d.npz";
    o.emit = "pte";
    o.calibrate = &data;
    o.calibrate_count = 1;
    assert_code(flow_run(corten_compile, o), 0);
    size_t bytes;
    const char *file = file_read(flow_c(), flow_path("bundled/wide_conv1d.bpte"), &bytes);
    assert_memory_equal(file + 4, "BP08", 4);
}

/* Neither has a form in the dialect; weights of 4 bits are written as bytes. */
static void floats_and_16_bits_are_refused(void **state) {
    (void)state;
    static const char *const precision[] = {"* = float\n", "* = int16\n"};
    for (size_t i = 0; i < COUNT_OF(precision); i++) {
        const char *out = flow_text("%s%zu", flow_path("widths"), i);
        Said said = compile_in("pains/wide_conv1d", out, precision[i]);
        assert_code(said, 1);
        assert_says(said.messages, "conv1d has no form in ExecuTorch's Cortex-M dialect");
        assert_says(said.messages, "node conv1d");
        assert_false(file_exists(out));
    }
    assert_code(compile_in("pains/wide_conv1d", flow_path("four"), "* = w4\n"), 0);
}

static void sizes_that_vary_are_refused(void **state) {
    (void)state;
    Said said = compile("bad/size_dynamic", flow_path("varying"));
    assert_code(said, 1);
    assert_says(said.messages, "dimension 0 of input 'x' is dynamic");
}

static void state_is_refused(void **state) {
    (void)state;
    Said said = compile("flow/counter", flow_path("state"));
    assert_code(said, 1);
    assert_says(said.messages, "ExecuTorch programs of Corten have none");
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_written_instead_of_c),
        cmocka_unit_test(the_same_bytes_every_time),
        cmocka_unit_test(inputs_and_outputs_are_floats_unless_asked_for),
        cmocka_unit_test(nodes_without_a_form_are_named),
        cmocka_unit_test(sides_beyond_the_kernels_are_refused),
        cmocka_unit_test(long_upsampled_signals_need_no_large_weights),
        cmocka_unit_test(choices_of_many_places_are_refused),
        cmocka_unit_test(zeros_of_far_dilations_are_refused),
        cmocka_unit_test(quotients_that_are_rounded_are_refused),
        cmocka_unit_test(bytes_without_sign_are_refused),
        cmocka_unit_test(bundles_are_of_programs_and_need_samples),
        cmocka_unit_test(floats_and_16_bits_are_refused),
        cmocka_unit_test(sizes_that_vary_are_refused),
        cmocka_unit_test(state_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
