/* What is said of accuracy: each node's and output's SQNR in the report, what verify finds beyond
 * the ranges that calibration has seen, and the accuracy budget. */
#include "flow/flow.h"

#include "graph/graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MODEL "pains/residual_relu_inplace.pt2"
#define DATA "pains/residual_relu_inplace.npz"

static double db_of(const json_t *object) {
    const json_t *db = json_object_get(object, "sqnr_db");
    return json_is_real(db) ? json_real_value(db) : NAN;
}

static void the_report_has_the_sqnr_of_nodes_and_outputs(void **state) {
    (void)state;
    json_t *report = flow_compiled(MODEL, DATA, "cortex-m4", flow_path("reported"));
    size_t i, measured = 0;
    json_t *node;
    json_array_foreach(json_object_get(report, "nodes"), i, node) {
        measured += !isnan(db_of(node));
        if (!isnan(db_of(node)))
            assert_true(db_of(node) > 20);
    }
    assert_true(measured > 0);
    CortenOptions o = {.model = flow_path("reported"), .input = DATA, .json = true};
    Said said = flow_run(corten_verify, o);
    assert_code(said, 0);
    json_t *verified = flow_json(said);
    double want = json_real_value(json_array_get(json_object_get(verified, "output_sqnr_db"), 0));
    double got = db_of(json_array_get(json_object_get(report, "outputs"), 0));
    assert_true(fabs(want - got) < 1e-6);
}

/* What is added and taken away again takes all of the sum's steps. */
static void an_output_that_keeps_little_is_told_of_where_that_begins(void **state) {
    (void)state;
    const char *data[] = {"flow/drowned.npz"};
    CortenOptions o = {.model = "flow/drowned.pt2",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .out = flow_path("drowned")};
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.messages, "warning: output 0 keeps ");
    assert_says(said.messages, "less than 10 dB from here on: sub");
}

/* Two outputs are poor, each by a node of its own, one of them computed before the other. */
static void each_poor_output_is_told_of_where_its_own_loss_begins(void **state) {
    (void)state;
    Said said = flow_compile("flow/apart.pt2", "flow/apart.npz", "cortex-m4", flow_path("apart"));
    assert_code(said, 0);
    assert_says(said.messages, "from here on: sub; ");
    assert_says(said.messages, "from here on: sub_1; ");
    assert_silent_on(said.messages, "output 1 keeps");
}

/* JSON has no infinity and holds 999 there; nobody is told of so many dB. */
static void equal_outputs_are_exact_in_words(void **state) {
    (void)state;
    const char *out = flow_path("exact");
    json_t *report = flow_compiled("flow/boundary.pt2", "flow/boundary.npz", "cortex-m4", out);
    json_t *is_positive = json_array_get(json_object_get(report, "outputs"), 6);
    assert_true(db_of(is_positive) == 999);
    Said said = flow_run(corten_report, (CortenOptions){.model = out});
    assert_says(said.results, "output 6  SQNR exact over the calibration samples");
    assert_silent_on(said.results, "999");
    said = flow_run(corten_verify, (CortenOptions){.model = out, .input = "flow/boundary.npz"});
    assert_says(said.results, "output 6: SQNR exact\n");
    assert_silent_on(said.results, "inf");
}

static double verified_output_db(const char *name) {
    const char *data = flow_text("flow/%s.npz", name), *out = flow_path("%s", name);
    assert_non_null(
        flow_compiled(flow_text("flow/%s.pt2", name), data, "cortex-m4", flow_path("%s", name)));
    CortenOptions o = {.model = out, .input = data, .json = true};
    const json_t *found = flow_json(flow_run(corten_verify, o));
    return json_real_value(json_array_get(json_object_get(found, "output_sqnr_db"), 0));
}

static void a_mask_is_turned_as_its_scores_are(void **state) {
    (void)state;
    assert_true(verified_output_db("mask_turned") > 35);
}

/* torch's softmax of nothing but -inf is NaN; here such a row is zero. Nine rows of six are hidden.
 */
static void numbers_that_are_not_finite_in_float_are_left_out_and_told(void **state) {
    (void)state;
    assert_true(verified_output_db("hidden_rows") > 35);
    CortenOptions o = {.model = flow_path("hidden_rows"), .input = "flow/hidden_rows.npz"};
    Said said = flow_run(corten_verify, o);
    assert_says(said.results, "dB without 54 numbers that are not finite in float");
    assert_silent_on(said.results, "nan");
    assert_silent_on(said.results, "clipped");
}

/* One number in 1,728 is far beyond the range, and nearly all of the error. */
static void verify_names_few_clipped_numbers_that_cost_much(void **state) {
    (void)state;
    const char *out = flow_path("few");
    assert_non_null(flow_compiled(MODEL, DATA, "cortex-m4", out));
    ArrayList list = flow_arrays(DATA);
    Array *x = list.item[0].array;
    array_set(x, 7, 40);
    CortenOptions o = {.model = out, .input = flow_path("few.npy")};
    npy_write(flow_c(), o.input, x);
    Said said = flow_run(corten_verify, o);
    assert_code(said, 0);
    assert_says(said.results,
                "% of inputs_0 is beyond what calibration has seen: 100 % of its error");
    assert_silent_on(said.results, "clipped: 1");
}

static void verify_names_what_lies_beyond_the_calibrated_ranges(void **state) {
    (void)state;
    json_t *report = flow_compiled(MODEL, DATA, "cortex-m4", flow_path("clipped"));
    assert_non_null(report);
    ArrayList list = flow_arrays(DATA);
    Array *x = list.item[0].array;
    CortenOptions o = {.model = flow_path("clipped"), .input = DATA};
    assert_silent_on(flow_run(corten_verify, o).results, "clipped:");
    for (int64_t i = 0; i < array_count(x); i++)
        array_set(x, i, 10 * array_get(x, i));
    o.input = flow_path("far.npy");
    npy_write(flow_c(), o.input, x);
    Said said = flow_run(corten_verify, o);
    assert_code(said, 0);
    assert_says(said.results, "% of inputs_0 is beyond what calibration has seen");
    assert_says(said.results, "worst calls: ");
}

/* Samples of which every so many numbers are far larger. */
static const char *samples_with_outliers(const char *name, int samples, int64_t every, double far) {
    ArrayList list = flow_arrays(DATA);
    const Array *like = list.item[0].array;
    int64_t dim[MAX_RANK];
    memcpy(dim, like->dim, sizeof dim);
    dim[0] = samples;
    Array *x = array_new(flow_c(), DT_F32, like->rank, dim);
    for (int64_t i = 0; i < array_count(x); i++)
        array_set(x, i, i % every == 0 ? far : sin((double)i));
    const char *path = flow_path("%s", name);
    npy_write(flow_c(), path, x);
    return path;
}

/* Of numbers that calibration saw the percentile observer gives up the outermost: no fault of the
 * data. */
static void verify_tells_what_the_observer_gave_up_from_what_calibration_missed(void **state) {
    (void)state;
    const char *out = flow_path("percentile");
    const char *data = samples_with_outliers("rare.npy", 400, 200003, 100);
    CortenOptions o = {.model = MODEL,
                       .calibrate = &data,
                       .calibrate_count = 1,
                       .observer = "percentile",
                       .target = "cortex-m4",
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    const char *chosen = "% of inputs_0 is beyond the range that the observer chose";
    const char *missed = "% of inputs_0 is beyond what calibration has seen";
    CortenOptions v = {.model = out, .input = samples_with_outliers("seen.npy", 4, 7, 90)};
    Said said = flow_run(corten_verify, v);
    assert_says(said.results, chosen);
    assert_silent_on(said.results, missed);
    v.input = samples_with_outliers("unseen.npy", 4, 7, 110);
    said = flow_run(corten_verify, v);
    assert_says(said.results, missed);
    assert_silent_on(said.results, chosen);
}

static CortenOptions budget_options(double db, const char *out) {
    static const char *const data[] = {DATA};
    return (CortenOptions){.model = MODEL,
                           .calibrate = data,
                           .calibrate_count = 1,
                           .target = "cortex-m4",
                           .accuracy_budget_db = db,
                           .out = out};
}

static double verified_db(const char *out) {
    CortenOptions o = {.model = out, .input = DATA, .json = true};
    Said said = flow_run(corten_verify, o);
    assert_code(said, 0);
    json_t *root = flow_json(said);
    return json_real_value(json_array_get(json_object_get(root, "output_sqnr_db"), 0));
}

static void a_budget_raises_values_until_it_is_met(void **state) {
    (void)state;
    const char *plain = flow_path("plain"), *raised = flow_path("raised");
    assert_code(flow_run(corten_compile, budget_options(0, plain)), 0);
    double before = verified_db(plain);
    assert_code(flow_run(corten_compile, budget_options(before + 3, raised)), 0);
    assert_true(verified_db(raised) >= before + 3);
    const json_t *budget = json_object_get(flow_report(raised), "accuracy_budget");
    assert_true(json_array_size(json_object_get(budget, "raised")) > 0);
    assert_true(json_real_value(json_array_get(json_object_get(budget, "reached_db"), 0)) >=
                before + 3);
    bool told = false;
    size_t i;
    json_t *node;
    json_array_foreach(json_object_get(flow_report(raised), "nodes"), i, node) {
        const char *why = json_string_value(json_object_get(node, "numeric_reason"));
        told |= why && strcmp(why, "raised for --accuracy-budget") == 0;
    }
    assert_true(told);
}

static void a_budget_that_is_met_raises_nothing(void **state) {
    (void)state;
    const char *out = flow_path("met");
    assert_code(flow_run(corten_compile, budget_options(10, out)), 0);
    const json_t *budget = json_object_get(flow_report(out), "accuracy_budget");
    assert_int_equal(json_array_size(json_object_get(budget, "raised")), 0);
    assert_true(fabs(verified_db(out) - verified_db(flow_path("plain"))) < 1e-9);
}

static void a_budget_out_of_reach_is_refused_with_what_limits(void **state) {
    (void)state;
    const char *out = flow_path("unreachable");
    Said said = flow_run(corten_compile, budget_options(150, out));
    assert_code(said, 1);
    assert_says(said.messages, "the accuracy budget of 150.0 dB cannot be met: ");
    assert_says(said.messages, "limited by the weights of conv2d: ");
    assert_false(file_exists(out));
}

static void a_budget_needs_calibration_data(void **state) {
    (void)state;
    CortenOptions o = budget_options(30, flow_path("no_data"));
    o.calibrate_count = 0;
    assert_code(flow_run(corten_compile, o), 1);
}

static void sensitivity_lists_nodes_by_what_they_cost(void **state) {
    (void)state;
    CortenOptions o = budget_options(0, NULL);
    o.json = true;
    Said model = flow_run(corten_sensitivity, o);
    assert_code(model, 0);
    json_t *root = flow_json(model);
    double last = HUGE_VAL;
    size_t i;
    json_t *node;
    json_array_foreach(json_object_get(root, "nodes"), i, node) {
        double db = json_real_value(json_object_get(node, "cost_db"));
        assert_true(db <= last && db >= 0);
        last = db;
    }
    assert_true(i >= 3);
    o.model = flow_path("plain");
    assert_string_equal(flow_run(corten_sensitivity, o).results, model.results);
    o.calibrate_count = 0;
    assert_code(flow_run(corten_sensitivity, o), 1);
}

/* The sixth of a hardsigmoid is folded into the weights before it, which then stand for something
 * else than the archive's: what that does is no cost of rounding. */
static void sensitivity_takes_no_folding_for_rounding(void **state) {
    (void)state;
    static const char *const data[] = {"networks/calibration.npz"};
    CortenOptions o = {.model = "networks/mobilenet_v3.pt2",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .json = true};
    Said said = flow_run(corten_sensitivity, o);
    assert_code(said, 0);
    size_t i;
    json_t *node;
    json_array_foreach(json_object_get(flow_json(said), "nodes"), i, node) {
        double weights = json_real_value(json_object_get(node, "weights_alone_db"));
        double values = json_real_value(json_object_get(node, "values_alone_db"));
        assert_true(weights == 0 || weights > 30); /* 0: null */
        assert_true(values == 0 || values > 30);
    }
    assert_true(i > 10);
}

/* An LSTM whose two states the user would carry: sample by sample the integer model, which carries
 * them itself, keeps to float, and its first sample starts from zeros. */
static void paired_states_go_on_from_run_to_run(void **state) {
    (void)state;
    static const char *const data[] = {"pains/lstm_of_3.npz"}, *const pair[] = {"1=1", "2=2"};
    const char *out = flow_path("stream");
    CortenOptions o = {.model = "pains/lstm_of_3.pt2",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .state = pair,
                       .state_count = 2,
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    assert_true(json_integer_value(json_object_get(flow_report(out), "state_bytes")) > 0);
    ArrayList real = flow_outputs(out, data[0], "float"), got = flow_outputs(out, data[0], "host");
    assert_int_equal(real.count, 1);
    assert_true(flow_sqnr(real.item[0].array, got.item[0].array) > 25);
    CortenOptions run = {.model = out, .input = data[0], .out = flow_path("s.npy"), .stream = true};
    assert_code(flow_run(corten_run, run), 0);
    run.model = flow_path("plain");
    run.input = DATA;
    assert_code(flow_run(corten_run, run), 2);
    static const char *const wrong[] = {"0=1"};
    o.state = wrong;
    o.state_count = 1;
    o.out = flow_path("wrong_pair");
    assert_code(flow_run(corten_compile, o), 2);
    static const char *const unknown[] = {"foo=1"};
    o.state = unknown;
    Said said = flow_run(corten_compile, o);
    assert_code(said, 2);
    assert_says(said.messages, "--state: no input \"foo\"");
}

/* ---- numbers that are hard to quantize ------------------------------------------------------ */

static void keep_to_torch(const char *const *name, int count, const char *cpu, double least) {
    for (int i = 0; i < count; i++) {
        const char *data = flow_text("flow/hard/%s.npz", name[i]), *out = flow_path("hard");
        flow_compiled(flow_text("flow/hard/%s.pt2", name[i]), data, cpu, out);
        ArrayList torch = flow_arrays(data), got = flow_outputs(out, data, NULL);
        double db = flow_sqnr(flow_array(&torch, "out0"), got.item[0].array);
        if (!(db > least))
            fail_msg("%s: %.1f dB", name[i], db);
    }
}

static void constant_values_and_vanishing_weights_keep_to_torch(void **state) {
    (void)state;
    static const char *const name[] = {"zero_weights", "zero_channel",   "denormal_weights",
                                       "tiny_channel", "constant_input", "never_active"};
    keep_to_torch(name, (int)COUNT_OF(name), "cortex-m0plus", 30);
}

/* The operand of a join, of a resize and the hidden state are read below zero too. */
static void what_is_clamped_later_is_kept_for_its_other_readers(void **state) {
    (void)state;
    static const char *const name[] = {"clamped_join", "clamped_resize", "clamped_gru"};
    keep_to_torch(name, (int)COUNT_OF(name), "cortex-m4", 30);
}

/* Beside a reciprocal, a root or a logarithm of a mean of powers. */
static void small_powers_in_means_are_not_rounded_away(void **state) {
    (void)state;
    static const char *const name[] = {"divided_by_deviation", "root_mean_square",
                                       "logarithm_of_power", "generalized_mean"};
    keep_to_torch(name, (int)COUNT_OF(name), "cortex-m4", 26); /* their input has 8 bits */
}

/* 17 to 29 dB where the numerator, the divisor or the result has 8 bits inside. */
static void quotients_by_small_numbers_and_long_products_keep_to_torch(void **state) {
    (void)state;
    static const char *const name[] = {"cosine", "causal_linear_attention", "smoothed_energy",
                                       "product_of_five"};
    keep_to_torch(name, (int)COUNT_OF(name), "cortex-m4", 30);
}

/* Of its input a fifth may be clipped if squares of reciprocals alone decide: then 11 dB are left.
 */
static void what_a_table_tells_little_of_is_not_cut_off(void **state) {
    (void)state;
    static const char *const name[] = {"harmonic_mean"};
    keep_to_torch(name, (int)COUNT_OF(name), "cortex-m4", 32);
}

/* Beside lanes of a hundred times their range 8 bits would leave small ones 2 to 12 dB. */
static void lanes_of_unlike_ranges_keep_to_torch(void **state) {
    (void)state;
    static const char *const name[] = {"gates",           "normalized_input", "normalized_by_hand",
                                       "normalized_last", "far_from_zero",    "branches",
                                       "boxes_in_place",  "transposed_apart", "group_norm_apart"};
    for (int i = 0; i < (int)COUNT_OF(name); i++) {
        const char *data = flow_text("flow/lanes/%s.npz", name[i]), *out = flow_path("lanes");
        flow_compiled(flow_text("flow/lanes/%s.pt2", name[i]), data, "cortex-m4", out);
        ArrayList torch = flow_arrays(data), got = flow_outputs(out, data, NULL);
        for (int k = 0; k < got.count; k++) {
            double db = flow_sqnr(flow_array(&torch, flow_text("out%d", k)), got.item[k].array);
            if (!(db > 32))
                fail_msg("%s: output %d: %.1f dB", name[i], k, db);
        }
    }
}

static void an_int8_input_of_unlike_lanes_is_named(void **state) {
    (void)state;
    static const char *const data[] = {"flow/lanes/gates.npz"}, *const fixed[] = {"inputs_0=2.3,0"};
    CortenOptions o = {.model = "flow/lanes/gates.pt2",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .io = "int8",
                       .out = flow_path("unlike")};
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.messages,
                "warning: input inputs_0 has lanes of unlike ranges, of which int8 leaves");
    assert_says(said.messages, "take --io int16 or float, or give it as several inputs");
    o.io = NULL;
    o.input_scale = fixed;
    o.input_scale_count = 1;
    said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.messages, "of which its int8 grid leaves the smallest too few steps: give it");
    static const char *const far[] = {"flow/lanes/far_from_zero.npz"};
    said = flow_run(corten_compile, (CortenOptions){.model = "flow/lanes/far_from_zero.pt2",
                                                    .calibrate = far,
                                                    .calibrate_count = 1,
                                                    .target = "cortex-m4",
                                                    .io = "int8",
                                                    .out = flow_path("far_input")});
    assert_code(said, 0);
    assert_says(said.messages, "is far from zero, of which int8 leaves what varies too few steps");
    assert_says(said.messages, "take --io int16 or float, or give it without its mean");
}

/* 230 and half of a tanh: a step of 8 bits is 0.9 where all that varies is 1 wide. */
static void a_result_far_from_zero_keeps_what_varies(void **state) {
    (void)state;
    const char *data = "flow/lanes/far_output.npz", *out = flow_path("far");
    flow_compiled("flow/lanes/far_output.pt2", data, "cortex-m4", out);
    ArrayList torch = flow_arrays(data), got = flow_outputs(out, data, NULL);
    Array *want = array_convert(flow_c(), flow_array(&torch, "out0"), DT_F64),
          *shown = array_convert(flow_c(), got.item[0].array, DT_F64);
    for (int64_t i = 0, count = array_count(want); i < count; i++) {
        array_set(want, i, array_get(want, i) - 230);
        array_set(shown, i, array_get(shown, i) - 230);
    }
    assert_true(flow_sqnr(want, shown) > 26);
}

static void what_an_int8_result_far_from_zero_keeps_is_told(void **state) {
    (void)state;
    static const char *const data[] = {"flow/lanes/far_output.npz"};
    CortenOptions o = {.model = "flow/lanes/far_output.pt2",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .io = "int8",
                       .out = flow_path("far_bytes")};
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.messages, "dB, about its mean, of the float model");
    assert_says(said.messages, "and less than 10 dB from here on: linear");
    said = flow_run(corten_verify, (CortenOptions){.model = o.out, .input = data[0]});
    assert_says(said.results, "dB about its mean");
}

static void numbers_without_end_are_refused_by_their_node(void **state) {
    (void)state;
    static const char *const name[] = {"infinite_weight", "zero_variance"};
    static const char *const node[] = {"node linear", "node batch_norm"};
    for (int i = 0; i < 2; i++) {
        const char *out = flow_path("endless");
        Said said = flow_compile(flow_text("flow/hard/%s.pt2", name[i]),
                                 flow_text("flow/hard/%s.npz", name[i]), "cortex-m4", out);
        assert_code(said, 1);
        assert_says(said.messages, node[i]);
        assert_says(said.messages, "infinite or not a number");
        assert_false(file_exists(out));
    }
}

/* Calibration has seen only outputs of 1e-4, whose grid the sums of 1000 x - 1000 could not be
 * brought to in 32 bits. Numbers far away saturate on their side. */
static void an_output_too_fine_for_its_sums_gets_a_coarser_grid(void **state) {
    (void)state;
    const char *out = flow_path("fine"), *data = flow_path("fine.npy");
    flow_compiled("flow/hard/fine_output.pt2", "flow/hard/fine_output.npz", "cortex-m4", out);
    static const float x[] = {1, 0.5F, 0};
    Array *a = array_new(flow_c(), DT_F32, 2, (int64_t[]){3, 1});
    memcpy(a->data, x, sizeof x);
    npy_write(flow_c(), data, a);
    ArrayList got = flow_outputs(out, data, NULL);
    const json_t *output = json_array_get(json_object_get(flow_report(out), "outputs"), 0);
    double scale = json_real_value(json_object_get(output, "scale"));
    assert_true(scale > 1e-6);
    assert_true(fabs(array_get(got.item[0].array, 0)) <= 1000 / 255.0 / 2 + scale);
    assert_true(array_get(got.item[0].array, 1) < 0);
    assert_true(array_get(got.item[0].array, 2) <= array_get(got.item[0].array, 1));
}

static void calibration_data_of_zeros_is_told(void **state) {
    (void)state;
    const char *data = flow_path("zeros.npz"), *out = flow_path("of_zeros");
    ArrayList list = flow_arrays("flow/hard/zero_channel.npz");
    Array *x = list.item[0].array;
    memset(x->data, 0, (size_t)array_bytes(x));
    npz_write(flow_c(), data, &(ArrayList){1, &(NamedArray){"in0", x}});
    Said said = flow_compile("flow/hard/zero_channel.pt2", data, "cortex-m4", out);
    assert_code(said, 0);
    assert_says(said.messages, "is zero in all calibration samples");
    ArrayList real = flow_outputs(out, data, "float"), got = flow_outputs(out, data, NULL);
    assert_true(flow_sqnr(real.item[0].array, got.item[0].array) > 30);
}

static void bytes_for_a_float_input_are_told(void **state) {
    (void)state;
    const char *data = flow_path("bytes.npz");
    Array *x = array_new(flow_c(), DT_U8, 4, (int64_t[]){4, 3, 6, 6});
    for (int64_t i = 0; i < array_count(x); i++)
        array_set(x, i, (double)(i * 37 % 256));
    npz_write(flow_c(), data, &(ArrayList){1, &(NamedArray){"in0", x}});
    Said said =
        flow_compile("flow/hard/zero_channel.pt2", data, "cortex-m4", flow_path("of_bytes"));
    assert_code(said, 0);
    assert_says(said.messages, "is float and gets bytes");
    said = flow_compile("flow/hard/zero_channel.pt2", "flow/hard/zero_channel.npz", "cortex-m4",
                        flow_path("of_floats"));
    assert_silent_on(said.messages, "gets bytes");
}

static void arrays_of_foreign_names_are_told(void **state) {
    (void)state;
    const char *data = flow_path("foreign.npz");
    ArrayList list = flow_arrays("flow/hard/zero_channel.npz");
    NamedArray both[] = {{"pictures", list.item[0].array}, {"masks", list.item[0].array}};
    npz_write(flow_c(), data, &(ArrayList){2, both});
    Said said = flow_compile("flow/hard/zero_channel.pt2", data, "cortex-m4", flow_path("foreign"));
    assert_code(said, 0);
    assert_says(said.messages, "no input has the name of these arrays");
    assert_says(said.messages, "pictures, masks");
    npz_write(flow_c(), data, &(ArrayList){1, both}); /* one for one leaves no doubt */
    said = flow_compile("flow/hard/zero_channel.pt2", data, "cortex-m4", flow_path("foreign"));
    assert_silent_on(said.messages, "no input has the name");
}

static void calibration_data_without_end_are_refused(void **state) {
    (void)state;
    const char *data = flow_path("endless.npz");
    ArrayList list = flow_arrays("flow/hard/zero_channel.npz");
    array_set(list.item[0].array, 5, HUGE_VAL);
    npz_write(flow_c(), data, &(ArrayList){1, list.item});
    Said said = flow_compile("flow/hard/zero_channel.pt2", data, "cortex-m4", flow_path("no_end"));
    assert_code(said, 3);
    assert_says(said.messages, "in0 is not finite: element 5 is infinite");
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_has_the_sqnr_of_nodes_and_outputs),
        cmocka_unit_test(an_output_that_keeps_little_is_told_of_where_that_begins),
        cmocka_unit_test(each_poor_output_is_told_of_where_its_own_loss_begins),
        cmocka_unit_test(equal_outputs_are_exact_in_words),
        cmocka_unit_test(a_mask_is_turned_as_its_scores_are),
        cmocka_unit_test(numbers_that_are_not_finite_in_float_are_left_out_and_told),
        cmocka_unit_test(verify_names_few_clipped_numbers_that_cost_much),
        cmocka_unit_test(verify_names_what_lies_beyond_the_calibrated_ranges),
        cmocka_unit_test(verify_tells_what_the_observer_gave_up_from_what_calibration_missed),
        cmocka_unit_test(a_budget_raises_values_until_it_is_met),
        cmocka_unit_test(a_budget_that_is_met_raises_nothing),
        cmocka_unit_test(a_budget_out_of_reach_is_refused_with_what_limits),
        cmocka_unit_test(a_budget_needs_calibration_data),
        cmocka_unit_test(sensitivity_lists_nodes_by_what_they_cost),
        cmocka_unit_test(sensitivity_takes_no_folding_for_rounding),
        cmocka_unit_test(paired_states_go_on_from_run_to_run),
        cmocka_unit_test(constant_values_and_vanishing_weights_keep_to_torch),
        cmocka_unit_test(what_is_clamped_later_is_kept_for_its_other_readers),
        cmocka_unit_test(small_powers_in_means_are_not_rounded_away),
        cmocka_unit_test(quotients_by_small_numbers_and_long_products_keep_to_torch),
        cmocka_unit_test(what_a_table_tells_little_of_is_not_cut_off),
        cmocka_unit_test(lanes_of_unlike_ranges_keep_to_torch),
        cmocka_unit_test(an_int8_input_of_unlike_lanes_is_named),
        cmocka_unit_test(a_result_far_from_zero_keeps_what_varies),
        cmocka_unit_test(what_an_int8_result_far_from_zero_keeps_is_told),
        cmocka_unit_test(numbers_without_end_are_refused_by_their_node),
        cmocka_unit_test(an_output_too_fine_for_its_sums_gets_a_coarser_grid),
        cmocka_unit_test(calibration_data_of_zeros_is_told),
        cmocka_unit_test(bytes_for_a_float_input_are_told),
        cmocka_unit_test(arrays_of_foreign_names_are_told),
        cmocka_unit_test(calibration_data_without_end_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
