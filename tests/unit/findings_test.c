/* What a compile refuses, and with which exit code: bad archives, data, options and folders; models
 * without an integer form. All that is found is said at once, with the user's own line. */
#include "flow/example.h"

#include "graph/graph.h"
#include "passes/passes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- bad input ----------------------------------------------------------------------------- */

static void bad_archives_are_refused_and_nothing_is_written(void **state) {
    (void)state;
    const char **name;
    int count = folder_list(flow_c(), "bad", &name), seen = 0;
    for (int i = 0; i < count; i++) {
        if (!text_ends_with(name[i], ".pt2"))
            continue;
        CortenOptions o = example_options(flow_path("bad"));
        o.model = flow_text("bad/%s", name[i]);
        Said said = flow_run(corten_compile, o);
        if ((said.code != 1 && said.code != 3) || file_exists(o.out) || !*said.messages)
            fail_msg("%s: exit code %d: %s", name[i], said.code, said.messages);
        seen++;
    }
    assert_true(seen > 50);
}

static void missing_and_foreign_files_are_exit_3(void **state) {
    (void)state;
    CortenOptions o = example_options(NULL);
    o.model = "nothing.pt2";
    example_refused(o, 3, "nothing.pt2: error: cannot read the file");
    o.model = EXAMPLE_DATA;
    example_refused(o, 3, "no models/model.json");
    o.model = "CMakeLists.txt";
    example_refused(o, 3, "CMakeLists.txt: error: ");
    o = example_options(NULL);
    o.calibrate = (const char *const[]){"nothing.npz"};
    example_refused(o, 3, "nothing.npz: error: cannot read the file");
    o.calibrate = (const char *const[]){EXAMPLE_MODEL};
    example_refused(o, 3, "error: ");
    o.calibrate = (const char *const[]){flow_path("empty_folder")};
    assert_int_equal(mkdir(o.calibrate[0], 0777), 0);
    example_refused(o, 3, "no .npy, .npz or image in this folder");
    o = example_options(NULL);
    o.precision_file = "nothing.txt";
    example_refused(o, 3, "nothing.txt");
}

static void calibration_of_the_wrong_shape_or_not_finite_is_exit_3(void **state) {
    (void)state;
    const char *bad = flow_path("bad.npy");
    CortenOptions o = example_options(NULL);
    o.calibrate = &bad;
    npy_write(flow_c(), bad, array_new(flow_c(), DT_F32, 4, (int64_t[]){2, 4, 16, 16}));
    example_refused(o, 3, "array bad has shape [2, 4, 16, 16]; input 0 needs [1, 3, 16, 16]");
    Array *a = array_new(flow_c(), DT_F32, 4, (int64_t[]){2, 3, 16, 16});
    array_set(a, 7, NAN);
    npy_write(flow_c(), bad, a);
    example_refused(o, 3, "array bad is not finite: element 7 is nan");
    array_set(a, 7, -INFINITY);
    npy_write(flow_c(), bad, a);
    example_refused(o, 3, "element 7 is infinite");
    npy_write(flow_c(), bad, array_new(flow_c(), DT_F32, 4, (int64_t[]){0, 3, 16, 16}));
    example_refused(o, 3, "array bad holds no sample");
}

static void float_archive_without_calibration_is_exit_1(void **state) {
    (void)state;
    CortenOptions o = example_options(NULL);
    o.calibrate_count = 0;
    example_refused(o, 1, "no calibration data: give -c");
}

static void all_findings_of_a_model_are_reported_together(void **state) {
    (void)state;
    const char *samples = "flow/several_faults.npz";
    CortenOptions o = example_options(NULL);
    o.model = "flow/several_faults.pt2";
    o.calibrate = &samples;
    example_refused(o, 1, "sort has no integer form");
    example_refused(o, 1, "upsample_bicubic2d has no integer form");
    example_refused(o, 1, "model.py:");
    example_refused(o, 1, "torch.sort(x, 1)"); /* the user's own line */
}

static void wrong_options_are_exit_2_with_a_suggestion(void **state) {
    (void)state;
    CortenOptions o = example_options(NULL);
    o.target = "cortex-m5";
    example_refused(o, 2, "unknown CPU \"cortex-m5\"; did you mean \"cortex-m");
    o.target = NULL;
    example_refused(o, 2, "no CPU: give -t");
    o = example_options(NULL);
    o.isa = "mve";
    example_refused(o, 2, "--isa mve: cortex-m0plus has v6m only");
    o = example_options(NULL);
    o.observer = "max";
    o.io = "int4";
    o.io_layout = "hwc";
    o.emit = "onnx";
    o.optimize = "all";
    example_refused(o, 2, "one of: minmax, percentile, mse");
    example_refused(o, 2, "one of: int8, int16, float"); /* all of them at once */
    example_refused(o, 2, "one of: nchw, nhwc");
    example_refused(o, 2, "unknown --emit \"onnx\"");
    example_refused(o, 2, "one of: speed, size");
    o = example_options(NULL);
    o.mean = "0.5,x";
    example_refused(o, 2, "--mean \"0.5,x\": numbers");
    o = example_options(NULL);
    o.stop_after = "fus";
    example_refused(o, 2, "there is no pass 'fus'; did you mean 'fuse'?");
}

static void what_cannot_be_given_is_refused_not_ignored(void **state) {
    (void)state;
    CortenOptions o = example_options(NULL);
    o.emit = "elf";
    example_refused(o, 2, "unknown --emit \"elf\"");
}

static void unwritable_folders_are_exit_3(void **state) {
    (void)state;
    const char *file = flow_path("a_file");
    text_write(file, "mine\n");
    Said said = flow_run(corten_compile, example_options(file));
    assert_code(said, 3);
    assert_says(said.messages, "a file stands where the output folder should be");
    assert_string_equal(file_text(file), "mine\n");
    assert_code(flow_run(corten_compile, example_options(flow_text("%s/below", file))), 3);
    assert_code(flow_run(corten_compile, example_options("/proc/corten")), 3);
    said = flow_run(corten_compile, example_options(NULL));
    assert_code(said, 2);
    assert_says(said.messages, "no output folder: give -o DIR");
}

static long long bytes_of(const json_t *report, const char *what) {
    return json_integer_value(json_object_get(json_object_get(report, "bytes"), what));
}

static void memory_limits_refuse_with_numbers_and_names(void **state) {
    (void)state;
    json_t *report = flow_report(example_compiled());
    long long arena = json_integer_value(json_object_get(report, "arena_bytes"));
    CortenOptions o = example_options(NULL);
    o.ram = 100;
    example_refused(o, 1, "bytes, 100 were allowed");
    example_refused(o, 1, "ram (arena and state) needs ");
    example_refused(o, 1, "largest there, in bytes: ");
    o = example_options(flow_path("fits"));
    o.ram = arena;
    assert_code(flow_run(corten_compile, o), 0);
    report = flow_report(o.out); /* the cheapest plan in that much memory may need other strips */
    long long flash = bytes_of(report, "rodata") + bytes_of(report, "kernel_code") +
                      bytes_of(report, "model_code");
    o.flash = flash;
    assert_code(flow_run(corten_compile, o), 0);
    o.flash = flash - 1;
    example_refused(o, 1,
                    flow_text("flash (constants and code) needs %lld bytes, %lld were allowed",
                              flash, flash - 1));
    example_refused(o, 1, "largest constants, in bytes: ");
}

/* ---- what a model must not have -------------------------------------------------------------- */

/* Without data: what is wrong with the archive and that data is missing are said together. */
static void refused_without_data(const char *name, const char *says) {
    CortenOptions o = example_options(NULL);
    o.model = flow_text("flow/findings/%s.pt2", name);
    o.calibrate_count = 0;
    example_refused(o, 1, says);
    example_refused(o, 1, "no calibration data: give -c");
}

static void loop_has_the_users_line(void **state) {
    (void)state;
    refused_without_data("loop", "model.py:");
    refused_without_data("loop", "return torch.while_loop(");
}

static void operator_without_row_has_its_reason(void **state) {
    (void)state;
    refused_without_data("decomposition_of_a_matrix",
                         "aten.linalg_svd has no integer form: matrix factorizations");
    refused_without_data("decomposition_of_a_matrix", "error: median has no integer form");
}

/* In training mode everything is at fault, and all of it is named. */
static void every_node_in_training_mode_is_named(void **state) {
    (void)state;
    refused_without_data("training", "node batch_norm,");
    refused_without_data("training", "node batch_norm_1,");
    refused_without_data("training", "node dropout,");
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *p = text; (p = strstr(p, part)) != NULL; p++)
        count++;
    return count;
}

static void complex_result_of_a_refused_operator_is_no_second_fault(void **state) {
    (void)state;
    CortenOptions o = example_options(flow_path("spectrum"));
    o.model = "flow/findings/spectrum.pt2";
    o.calibrate_count = 0;
    Said said = flow_run(corten_compile, o);
    assert_code(said, 1);
    assert_says(said.messages, "aten.fft_rfft has no integer form: complex numbers");
    assert_int_equal(count_of(said.messages, "error:"), 2); /* no data either */
}

static void attribute_without_integer_form_is_named_with_its_value(void **state) {
    (void)state;
    refused_without_data("bicubic_grid_sample", "grid_sampler: interpolation_mode=2 (bicubic)");
}

static void wrong_data_is_said_beside_faults_of_the_archive(void **state) {
    (void)state;
    CortenOptions o = example_options(NULL);
    o.model = "flow/findings/decomposition_of_a_matrix.pt2";
    example_refused(o, 1, "aten.linalg_svd has no integer form");
    example_refused(o, 1, "input 0 needs [3, 3]");
}

static void complex_numbers_are_named(void **state) {
    (void)state;
    CortenOptions o = example_options(NULL);
    o.model = "flow/findings/complex_input.pt2";
    example_refused(o, 1, "dtype complex64 is not supported");
}

static void model_without_inputs_needs_no_data(void **state) {
    (void)state;
    CortenOptions o = example_options(flow_path("no_inputs"));
    o.model = "flow/findings/no_inputs.pt2";
    o.calibrate_count = 0;
    assert_code(flow_run(corten_compile, o), 0);
}

static void other_floats_than_float32_are_said_to_become_it(void **state) {
    (void)state;
    static const char *const names[] = {"float64", "float16", "bfloat16"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *samples = flow_text("flow/findings/%s.npz", names[i]);
        CortenOptions o = example_options(flow_path("as_%s", names[i]));
        o.model = flow_text("flow/findings/%s.pt2", names[i]);
        o.calibrate = &samples;
        Said said = flow_run(corten_compile, o);
        assert_code(said, 0);
        assert_says(said.messages, flow_text("warning: %s numbers", names[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_archives_are_refused_and_nothing_is_written),
        cmocka_unit_test(missing_and_foreign_files_are_exit_3),
        cmocka_unit_test(calibration_of_the_wrong_shape_or_not_finite_is_exit_3),
        cmocka_unit_test(float_archive_without_calibration_is_exit_1),
        cmocka_unit_test(all_findings_of_a_model_are_reported_together),
        cmocka_unit_test(wrong_options_are_exit_2_with_a_suggestion),
        cmocka_unit_test(what_cannot_be_given_is_refused_not_ignored),
        cmocka_unit_test(unwritable_folders_are_exit_3),
        cmocka_unit_test(memory_limits_refuse_with_numbers_and_names),
        cmocka_unit_test(loop_has_the_users_line),
        cmocka_unit_test(operator_without_row_has_its_reason),
        cmocka_unit_test(every_node_in_training_mode_is_named),
        cmocka_unit_test(complex_result_of_a_refused_operator_is_no_second_fault),
        cmocka_unit_test(attribute_without_integer_form_is_named_with_its_value),
        cmocka_unit_test(wrong_data_is_said_beside_faults_of_the_archive),
        cmocka_unit_test(complex_numbers_are_named),
        cmocka_unit_test(model_without_inputs_needs_no_data),
        cmocka_unit_test(other_floats_than_float32_are_said_to_become_it),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
