/* Targets with an Ethos-U, without Arm's compiler: where nodes go, what is refused, and what
 * happens when that compiler is missing, fails or writes nonsense. What it makes of real models is
 * the matter of tests/tosa. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static CortenOptions options(const char *stem, const char *target, const char *out) {
    const char **data = NEW(flow_c(), const char *);
    *data = flow_text("%s.npz", stem);
    return (CortenOptions){.model = flow_text("%s.pt2", stem),
                           .calibrate = data,
                           .calibrate_count = 1,
                           .target = target,
                           .out = out};
}

/* A program that does what the shell's words say instead of compiling. */
static Said with_vela(const char *words, const char *out) {
    const char *vela = flow_path("vela_%d", (int)strlen(words));
    text_write(vela, flow_text("#!/bin/sh\n%s\n", words));
    assert_code(flow_shell("chmod +x %s", vela), 0);
    CortenOptions o = options("tosa/cases/lstm_between", "ethos-u55-128", out);
    o.vela = vela;
    return flow_run(corten_compile, o);
}

static void vela_that_is_missing_is_named(void **state) {
    (void)state;
    const char *out = flow_path("missing");
    CortenOptions o = options("tosa/cases/lstm_between", "ethos-u55-128", out);
    o.vela = "/nowhere/vela";
    Said said = flow_run(corten_compile, o);
    assert_code(said, 4);
    assert_says(said.messages, "/nowhere/vela was not found");
    assert_says(said.messages, "pip install ethos-u-vela");
    assert_false(file_exists(out));
}

static void what_vela_says_is_shown_when_it_refuses(void **state) {
    (void)state;
    Said said = with_vela("echo no such accelerator; exit 3", flow_path("refusing"));
    assert_code(said, 4);
    assert_says(said.messages, "refused lstm_between_npu0 with code 3");
    assert_says(said.messages, "no such accelerator");
}

static void output_that_is_not_velas_is_refused(void **state) {
    (void)state;
    const char *out = flow_path("nonsense");
    assert_code(with_vela("exit 0", out), 3);
    assert_code(with_vela("echo x > lstm_between_npu0_vela.npz", out), 3);
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    Said said = with_vela(
        flow_text("cp %s/tosa/cases/lstm_between.npz lstm_between_npu0_vela.npz", here), out);
    assert_code(said, 3);
    assert_says(said.messages, "no cmd_data");
    assert_false(file_exists(out));
}

static void nodes_go_where_their_operators_are_taken(void **state) {
    (void)state;
    CortenOptions o = options("tosa/cases/lstm_between", "ethos-u55-128", NULL);
    o.dump = "partition";
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.results, " npu");
    assert_says(
        said.results,
        "stays \"numbers of 16 bits stay in Corten's kernels, and so do recurrent layers\"");
    o.target = "cortex-m55";
    said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_silent_on(said.results, " npu");
}

static void a_limit_is_of_a_family(void **state) {
    (void)state;
    CortenOptions o = options("tosa/cases/conv_of_stride_4", "ethos-u65-256", NULL);
    o.dump = "partition";
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.results, "stride: ethos-u65-256 takes at most 3; CONV2D of TOSA has 4");
    o.target = "ethos-u85-256";
    said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_silent_on(said.results, "stays");
}

static void a_stride_that_is_never_taken_is_no_limit(void **state) {
    (void)state;
    CortenOptions o = options("tosa/cases/average_of_whole_images", "ethos-u55-128", NULL);
    o.dump = "partition";
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.results, "avg_pool2d");
    assert_silent_on(said.results, "stays");
}

static void weights_of_4_bits_are_the_npus(void **state) {
    (void)state;
    CortenOptions o = options("tosa/cases/average_of_whole_images", "ethos-u55-128", NULL);
    o.dump = "partition";
    o.precision_text = "* = w4\n";
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.results, " npu");
    assert_silent_on(said.results, "stays");
}

static void a_tosa_file_is_refused_with_node_and_limit(void **state) {
    (void)state;
    const char *out = flow_path("limited");
    CortenOptions o = options("tosa/cases/conv_of_stride_4", "ethos-u55-128", out);
    o.emit = "tosa";
    Said said = flow_run(corten_compile, o);
    assert_code(said, 1);
    assert_says(said.messages, "stride: ethos-u55-128 takes at most 3; CONV2D of TOSA has 4");
    assert_says(said.messages, "node conv2d");
    assert_false(file_exists(out));
    o.target = "cortex-m55";
    assert_code(flow_run(corten_compile, o), 0);
}

static void a_model_of_which_nothing_runs_there_is_refused(void **state) {
    (void)state;
    Said said =
        flow_run(corten_compile, options("pains/lstm_of_3", "ethos-u55-128", flow_path("nothing")));
    assert_code(said, 1);
    assert_says(said.messages, "lstm: not on ethos-u55-128");
    assert_says(said.messages, "no node of the model runs on ethos-u55-128");
}

static void targets_are_cpus_npus_and_both(void **state) {
    (void)state;
    CortenOptions o = options("tosa/cases/conv_of_stride_4", "cortex-m7+ethos-u55-128", NULL);
    o.dump = "partition";
    assert_code(flow_run(corten_compile, o), 0);
    o.target = "cortex-m7+cortex-m7";
    Said said = flow_run(corten_compile, o);
    assert_code(said, 2);
    assert_says(said.messages, "unknown NPU \"cortex-m7\"");
    o.target = "ethos-u55-129";
    said = flow_run(corten_compile, o);
    assert_code(said, 2);
    assert_says(said.messages, "ethos-u55-128");
    said = flow_run(corten_targets, (CortenOptions){0});
    assert_says(said.results, "ethos-u85-2048");
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vela_that_is_missing_is_named),
        cmocka_unit_test(what_vela_says_is_shown_when_it_refuses),
        cmocka_unit_test(output_that_is_not_velas_is_refused),
        cmocka_unit_test(nodes_go_where_their_operators_are_taken),
        cmocka_unit_test(a_limit_is_of_a_family),
        cmocka_unit_test(a_stride_that_is_never_taken_is_no_limit),
        cmocka_unit_test(weights_of_4_bits_are_the_npus),
        cmocka_unit_test(a_tosa_file_is_refused_with_node_and_limit),
        cmocka_unit_test(a_model_of_which_nothing_runs_there_is_refused),
        cmocka_unit_test(targets_are_cpus_npus_and_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
