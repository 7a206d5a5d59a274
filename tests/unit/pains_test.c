/* What has hurt users of other tool chains: the small modules of tests/pains (tools/make_pains.py),
 * each compiled, run and compared with torch's own outputs, and what else a line of those reports
 * asks for. What needs a simulated chip is in flow/chip_test.c. */
#include "flow/flow.h"

#include "ctn.h"
#include "emit/names.h"
#include "fix.h"
#include "graph/graph.h"
#include "lower/lower.h"
#include "run/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *archive_of(const char *name) {
    return flow_text("pains/%s.pt2", name);
}

static const char *data_of(const char *name) {
    return flow_text("pains/%s.npz", name);
}

/* A folder with the module compiled for plain C, made once. */
static const char *compiled(const char *name) {
    const char *out = flow_path("%s", name);
    if (!file_exists(out))
        assert_non_null(flow_compiled(archive_of(name), data_of(name), "cortex-m0plus", out));
    return out;
}

static const json_t *node_named(const json_t *report, const char *name) {
    size_t i;
    json_t *node;
    json_array_foreach(json_object_get(report, "nodes"), i,
                       node) if (strcmp(json_string_value(json_object_get(node, "name")), name) ==
                                 0) return node;
    fail_msg("no node %s in the report", name);
    return NULL;
}

static const char *fate_of(const json_t *report, const char *name) {
    return json_string_value(json_object_get(node_named(report, name), "fate"));
}

static long long number(const json_t *report, const char *key) {
    return json_integer_value(json_object_get(report, key));
}

/* Calls that compute; the others only bring inputs and outputs into another order. */
static int computing_calls(const json_t *report) {
    size_t i;
    json_t *call;
    int count = 0;
    json_array_foreach(json_object_get(report, "calls"), i, call) count +=
        !strstr(json_string_value(json_object_get(call, "kernel")), "ctn_copy");
    return count;
}

/* ---- every module -------------------------------------------------------------------------- */

static int compare_outputs(const char *name, const ArrayList *want, const ArrayList *got,
                           double least) {
    int faults = 0;
    for (int k = 0; k < got->count; k++) {
        const Array *a = flow_array(want, flow_text("out%d", k)), *b = got->item[k].array;
        double db = a && array_count(a) == array_count(b) ? flow_sqnr(a, b) : -1;
        if (db >= least)
            continue;
        fprintf(stderr, "%s: output %d: %.1f dB, %.0f are needed\n", name, k, db, least);
        faults++;
    }
    return faults + (got->count == 0);
}

static int check_module(const char *name) {
    ArrayList torch = flow_arrays(data_of(name));
    ArrayList real = flow_outputs(archive_of(name), data_of(name), NULL);
    int faults = compare_outputs(name, &torch, &real, 100);
    const char *out = flow_path("module");
    json_t *report = flow_compiled(archive_of(name), data_of(name), "cortex-m55", out);
    if (!report || number(report, "float_nodes") != 0) {
        fprintf(stderr, "%s: not in integers\n", name);
        return faults + 1;
    }
    ArrayList integer = flow_outputs(out, data_of(name), NULL);
    return faults + compare_outputs(name, &torch, &integer, 33);
}

static void modules_are_integer_and_close_to_torch(void **state) {
    (void)state;
    const char **name;
    int count = folder_list(flow_c(), "pains", &name), faults = 0, seen = 0;
    for (int i = 0; i < count; i++) {
        const char *stem = path_stem(flow_c(), name[i]);
        if (!text_ends_with(name[i], ".pt2") || strcmp(stem, "dynamic_batch") == 0)
            continue;
        faults += check_module(stem);
        seen++;
    }
    assert_int_equal(faults, 0);
    assert_true(seen > 30);
}

/* ---- in-place, decomposition --------------------------------------------------------------- */

static void shared_silu_inplace_becomes_two_tables_in_stores(void **state) {
    (void)state;
    const json_t *report = flow_report(compiled("shared_silu_inplace"));
    assert_string_equal(fate_of(report, "silu_"), "fused");
    assert_string_equal(fate_of(report, "silu__1"), "fused");
    assert_int_equal(computing_calls(report), 2);
}

static void command_library_and_second_run_give_the_same_bytes(void **state) {
    (void)state;
    const char *name = "shared_silu_inplace", *by_command = flow_path("by_command");
    Said said = flow_shell("%s compile %s -c %s -t cortex-m0plus -o %s -q", CORTEN_EXE,
                           archive_of(name), data_of(name), by_command);
    assert_code(said, 0);
    assert_null(folders_differ(by_command, compiled(name)));
}

/* BLAS adds in another order on another CPU. What it is for ends with the quantized graph: from
 * there on the bytes are the same; before it, the number of calls and memory are. */
static void another_hosts_blas_changes_no_byte_behind_quantization(void **state) {
    (void)state;
    static const char *const core[] = {"Prescott", "Haswell"};
    const char *name = "conv_norm_relu_inplace", *graph = flow_path("quantized.txt"), *made[2];
    const json_t *report[2];
    assert_code(flow_shell("%s compile %s -c %s -t cortex-m4 --dump=quantize > %s", CORTEN_EXE,
                           archive_of(name), data_of(name), graph),
                0);
    for (int i = 0; i < 2; i++) {
        const char *whole = flow_path("whole_on_%s", core[i]);
        made[i] = flow_path("from_graph_on_%s", core[i]);
        assert_code(flow_shell("OPENBLAS_CORETYPE=%s %s compile %s --from=layout -t cortex-m4 "
                               "-o %s -q",
                               core[i], CORTEN_EXE, graph, made[i]),
                    0);
        assert_code(flow_shell("OPENBLAS_CORETYPE=%s %s compile %s -c %s -t cortex-m4 -o %s -q",
                               core[i], CORTEN_EXE, archive_of(name), data_of(name), whole),
                    0);
        report[i] = flow_report(whole);
    }
    assert_null(folders_differ(made[0], made[1]));
    assert_int_equal(computing_calls(report[0]), computing_calls(report[1]));
    assert_int_equal(number(report[0], "arena_bytes"), number(report[1], "arena_bytes"));
    assert_int_equal(number(report[0], "weights_bytes"), number(report[1], "weights_bytes"));
}

static void number_of_threads_changes_no_byte(void **state) {
    (void)state;
    const char *name = "conv_norm_relu_inplace", *data = data_of(name);
    for (int threads = 1; threads <= 3; threads++) {
        Said said =
            flow_run(corten_compile, (CortenOptions){.model = archive_of(name),
                                                     .calibrate = &data,
                                                     .calibrate_count = 1,
                                                     .target = "cortex-m4",
                                                     .threads = threads,
                                                     .out = flow_path("threads%d", threads)});
        assert_code(said, 0);
        assert_null(folders_differ(flow_path("threads1"), flow_path("threads%d", threads)));
    }
}

static void residual_add_and_its_relu_cost_one_call(void **state) {
    (void)state;
    const json_t *report = flow_report(compiled("residual_relu_inplace"));
    assert_string_equal(fate_of(report, "relu_"), "fused");
    assert_int_equal(computing_calls(report), 2);
}

static void norms_fold_and_relus_fuse(void **state) {
    (void)state;
    const json_t *report = flow_report(compiled("conv_norm_relu_inplace"));
    assert_int_equal(computing_calls(report), 3);
}

/* ---- layout, padding ----------------------------------------------------------------------- */

/* The C of a module and its header, under a name that does not depend on it. */
static const char *c_of_net(const char *name) {
    const char *model = flow_path("%s/net.pt2", name), *out = flow_path("%s_c", name);
    assert_code(
        flow_shell("mkdir -p %s && cp %s %s", flow_path("%s", name), archive_of(name), model), 0);
    assert_non_null(flow_compiled(model, data_of(name), "cortex-m55", out));
    return flow_text("%s\n%s", file_text(flow_text("%s/net.h", out)),
                     file_text(flow_text("%s/net.c", out)));
}

static void memory_format_of_the_example_changes_no_line_of_c(void **state) {
    (void)state;
    assert_string_equal(c_of_net("layout_contiguous"), c_of_net("layout_channels_last"));
    assert_string_equal(c_of_net("layout_blocks_contiguous"),
                        c_of_net("layout_blocks_channels_last"));
}

/* Its text without the digest, which covers comments too. */
static char *without_digest(const char *text) {
    char *copy = c_strdup(flow_c(), text), *digest = strstr(copy, "_SOURCE_SHA256");
    char *end = digest ? strchr(digest, '\n') : NULL;
    assert_non_null(end);
    memmove(digest, end, strlen(end) + 1);
    return copy;
}

/* The input and the boxes; neither the softmax over bins nor the mean of them needs one. */
static void means_of_distributions_take_pixels_as_they_lie(void **state) {
    (void)state;
    const json_t *report = flow_report(compiled("distributed_boxes"));
    assert_int_equal(flow_transposes(report), 2);
}

static void aliases_of_cat_give_the_same_c(void **state) {
    (void)state;
    char *twin = without_digest(c_of_net("concatenate"));
    for (char *p = twin; (p = strstr(p, "concatenate"));) /* comments have the node's name */
        memmove(p + 6, p + 11, strlen(p + 11) + 1);
    assert_string_equal(without_digest(c_of_net("concat")), twin);
}

static void zero_padding_folds_and_other_padding_does_not(void **state) {
    (void)state;
    const json_t *zeros = flow_report(compiled("pad_same_asymmetric"));
    const json_t *ones = flow_report(compiled("pad_with_one"));
    assert_string_equal(fate_of(zeros, "pad"), "folded");
    assert_string_not_equal(fate_of(ones, "pad"), "folded");
    assert_int_equal(computing_calls(zeros), 1);
}

/* ---- kernels and numerics ------------------------------------------------------------------ */

static void accumulators_near_the_limit_keep_their_sign(void **state) {
    (void)state;
    static const int32_t limit[] = {INT32_MAX, INT32_MAX - 1, INT32_MIN, INT32_MIN + 1, 1 << 30};
    for (size_t i = 0; i < COUNT_OF(limit); i++) {
        int32_t q = ctn_requantize(limit[i], INT32_MAX, 0);
        assert_true(limit[i] > 0 ? q > (1 << 29) : q < -(1 << 29));
        union {
            int32_t word[8];
            uint8_t byte[32];
        } memory = {{0, limit[i], INT32_MAX, 0}};
        CtnFrame frame = {{memory.byte, memory.byte, memory.byte}};
        CtnLinearS8Args args = {.input = 0,
                                .output = 16,
                                .weights = 1,
                                .bias = 4,
                                .multiplier = 8,
                                .shift = 12,
                                .table = CTN_NONE,
                                .scratch = CTN_NONE,
                                .rows = 1,
                                .depth = 1,
                                .columns = 1,
                                .clamp_min = -128,
                                .clamp_max = 127};
        ctn_linear_s8(&args, &frame);
        assert_int_equal((int8_t)memory.byte[16], limit[i] > 0 ? 127 : -128);
    }
}

/* A graph that permutes its input of these sizes, as the text of stage quantized. */
static Graph *permuting_graph(const int *dim, const int *order) {
    int out[4];
    for (int d = 0; d < 4; d++)
        out[d] = dim[order[d]];
    const char *grid = "grid int8/8 (0x1p-3 3)";
    const char *text =
        flow_text("corten 1\ngraph permute quantized {\n"
                  "  value %%x float32[%d, %d, %d, %d] input %s\n  input x %%x\n"
                  "  node p %%y float32[%d, %d, %d, %d] %s = aten::permute(%%x, [%d, %d, %d, %d])\n"
                  "  output p %%y\n}\n",
                  dim[0], dim[1], dim[2], dim[3], grid, out[0], out[1], out[2], out[3], grid,
                  order[0], order[1], order[2], order[3]);
    return graph_parse(flow_c(), "permute.txt", text, &(ArrayList){0});
}

static void check_permutation(const int *dim, const int *order) {
    C *c = flow_c();
    Graph *g = permuting_graph(dim, order);
    Options options = {.cpu = cpu_find("cortex-m4"), .isa = "dsp"};
    PipelineControl control = {.from = "layout"};
    pipeline_run(c, g, &options, &control);
    Array *x = array_new(c, DT_I8, 4, g->input[0].u.value->type.dim), *y;
    for (int64_t i = 0; i < array_count(x); i++)
        array_set_int(x, i, i - 40);
    Simulator *simulator = simulator_new(c, g);
    simulator_run(c, simulator, &x, &y);
    simulator_free(simulator);
    int64_t stride[4] = {dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
    for (int64_t i = 0; i < array_count(y); i++) {
        int64_t rest = i, from = 0;
        for (int d = 3; d >= 0; d--) {
            from += rest % dim[order[d]] * stride[order[d]];
            rest /= dim[order[d]];
        }
        assert_int_equal(array_get_int(y, i), array_get_int(x, from));
    }
}

static void all_permutations_of_sizes_1_to_3_move_right(void **state) {
    (void)state;
    int checked = 0;
    for (int sizes = 0; sizes < 81; sizes++)
        for (int code = 0; code < 256; code++) {
            int dim[4] = {1 + sizes % 3, 1 + sizes / 3 % 3, 1 + sizes / 9 % 3, 1 + sizes / 27};
            int order[4] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6}, bits = 0;
            for (int d = 0; d < 4; d++)
                bits |= 1 << order[d];
            if (bits != 15)
                continue;
            check_permutation(dim, order);
            checked++;
        }
    assert_int_equal(checked, 81 * 24);
}

/* Steps [first, first + 3) of each sample's six. */
static Array *three_steps(const Array *six, int first) {
    int64_t dim[] = {six->dim[0], 3, six->dim[2]};
    Array *three = array_new(flow_c(), six->dtype, 3, dim);
    for (int64_t i = 0; i < array_count(three); i++) {
        int64_t in_step = i % dim[2], step = i / dim[2] % 3, sample = i / (3 * dim[2]);
        array_set(three, i, array_get(six, (sample * 6 + first + step) * dim[2] + in_step));
    }
    return three;
}

static void write_three_steps(const char *data, const Array *x, const Array *h, const Array *c) {
    NamedArray in[] = {{"in0", (Array *)x}, {"in1", (Array *)h}, {"in2", (Array *)c}};
    npz_write(flow_c(), data, &(ArrayList){3, in});
}

/* Calibrated with both halves, the second from the states that float leaves after the first. */
static const char *lstm_of_halves(const ArrayList *torch) {
    const char *first = flow_path("first.npz"), *second = flow_path("second.npz");
    const char *archive = archive_of("lstm_of_3"), *out = flow_path("halves");
    const Array *x = flow_array(torch, "in0");
    write_three_steps(first, three_steps(x, 0), flow_array(torch, "in1"), flow_array(torch, "in2"));
    ArrayList half = flow_outputs(archive, first, NULL);
    write_three_steps(second, three_steps(x, 3), half.item[1].array, half.item[2].array);
    CortenOptions o = {.model = archive,
                       .calibrate = (const char *const[]){first, second},
                       .calibrate_count = 2,
                       .target = "cortex-m0plus",
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static void two_lstm_calls_of_three_steps_equal_one_of_six(void **state) {
    (void)state;
    ArrayList torch = flow_arrays(data_of("lstm_of_6"));
    const Array *x = flow_array(&torch, "in0"), *want = flow_array(&torch, "out0");
    const char *out = lstm_of_halves(&torch), *second = flow_path("second.npz");
    ArrayList half = flow_outputs(out, flow_path("first.npz"), NULL);
    assert_true(flow_sqnr(three_steps(want, 0), half.item[0].array) > 30);
    write_three_steps(second, three_steps(x, 3), half.item[1].array, half.item[2].array);
    half = flow_outputs(out, second, NULL);
    assert_true(flow_sqnr(three_steps(want, 3), half.item[0].array) > 30);
    assert_true(flow_sqnr(flow_array(&torch, "out2"), half.item[2].array) > 30);
}

static void lstm_state_in_buffers_lives_from_call_to_call(void **state) {
    (void)state;
    const char *out = compiled("lstm_stream"), *last = flow_path("last.npy");
    ArrayList torch = flow_arrays(data_of("lstm_stream")); /* call after call */
    ArrayList stream = flow_outputs(out, data_of("lstm_stream"), NULL);
    const Array *want = flow_array(&torch, "out0"), *x = flow_array(&torch, "in0");
    assert_true(flow_sqnr(want, stream.item[0].array) > 30);
    int64_t one = array_count(x) / x->dim[0];
    Array *a = array_new(flow_c(), DT_F32, 2, x->dim + 1),
          *b = array_new(flow_c(), DT_F32, 2, x->dim + 1);
    for (int64_t i = 0; i < one; i++) {
        array_set(a, i, array_get(x, 3 * one + i));
        array_set(b, i, array_get(want, 3 * one + i));
    }
    npy_write(flow_c(), last, a);
    ArrayList alone = flow_outputs(out, last, NULL); /* from a state of zeros */
    assert_true(flow_sqnr(b, alone.item[0].array) < 20);
    assert_true(number(flow_report(out), "state_bytes") > 0);
}

/* ---- memory -------------------------------------------------------------------------------- */

static long long section_bytes(const char *sizes, const char *section) {
    const char *line = strstr(sizes, section);
    return line ? strtoll(line + strlen(section), NULL, 10) : 0;
}

static Said build_for_chip(const char *out, const char *name, const char *more) {
    return flow_shell(
        "arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb -std=c11 -Wall -Wextra -Werror "
        "-O2 -I%s -I%s/runtime %s -c %s/%s.c -o %s && arm-none-eabi-size -A %s",
        out, out, more, out, name, flow_path("%s.o", name), flow_path("%s.o", name));
}

static void reported_memory_equals_the_linked_bss(void **state) {
    (void)state;
    static const char *const name[] = {"shared_silu_inplace", "lstm_stream", "flatten_linear"};
    if (!flow_has("arm-none-eabi-gcc"))
        skip();
    for (size_t i = 0; i < COUNT_OF(name); i++) {
        const char *out = compiled(name[i]);
        const json_t *report = flow_report(out);
        Said said = build_for_chip(out, name[i], "");
        assert_code(said, 0);
        assert_int_equal(section_bytes(said.results, ".bss"),
                         number(report, "arena_bytes") + number(report, "state_bytes"));
    }
}

static void arena_16_bytes_too_small_does_not_compile(void **state) {
    (void)state;
    const char *name = "shared_silu_inplace", *out = compiled(name);
    long long bytes = number(flow_report(out), "arena_bytes");
    if (!flow_has("arm-none-eabi-gcc"))
        skip();
    const char *size = "-DSHARED_SILU_INPLACE_ARENA_SIZE=%lld";
    assert_code(build_for_chip(out, name, flow_text(size, bytes)), 0);
    Said said = build_for_chip(out, name, flow_text(size, bytes + 48));
    assert_code(said, 0);
    assert_int_equal(section_bytes(said.results, ".bss"), bytes + 48);
    said = build_for_chip(out, name, flow_text(size, bytes - 16));
    assert_int_not_equal(said.code, 0);
    assert_says(said.results, "the arena is too small");
}

static void arena_and_constants_go_to_the_sections_that_are_asked_for(void **state) {
    (void)state;
    const char *name = "shared_silu_inplace", *out = compiled(name);
    const json_t *report = flow_report(out);
    if (!flow_has("arm-none-eabi-gcc"))
        skip();
    Said said = build_for_chip(
        out, name,
        "'-DSHARED_SILU_INPLACE_ARENA_SECTION=__attribute__((section(\".dtcm\")))' "
        "'-DSHARED_SILU_INPLACE_WEIGHTS_SECTION=__attribute__((section(\".itcm\")))'");
    assert_code(said, 0);
    assert_int_equal(section_bytes(said.results, ".dtcm"), number(report, "arena_bytes"));
    assert_in_range(section_bytes(said.results, ".itcm"), number(report, "weights_bytes"),
                    number(report, "weights_bytes") + 15);
}

/* The model's C with a program of tests/flow around it, built for and run on this machine. */
static Said run_firmware(const char *program, const char *out, const char *name) {
    const char *exe = flow_path("%s_%s", name, program);
    return flow_shell("cc -std=gnu11 -DCTN_EMULATE -Wall -Wextra -Werror -g -I" CORTEN_RUNTIME
                      " -I%s -I%s/runtime "
                      "-DMODEL_H='\"%s.h\"' -DMODEL=%s -DARENA_BYTES=%s_ARENA_BYTES "
                      "-DINPUT_BYTES=%s_INPUT0_BYTES -DOUTPUT_BYTES=%s_OUTPUT0_BYTES "
                      "flow/%s.c %s/%s.c %s/runtime/*.c -o %s && %s",
                      out, out, name, name, upper_name(flow_c(), name), upper_name(flow_c(), name),
                      upper_name(flow_c(), name), program, out, name, out, exe, exe);
}

static void arena_of_the_reported_size_is_enough_and_a_misaligned_one_refused(void **state) {
    (void)state;
    Said said = run_firmware("arena", compiled("shared_silu_inplace"), "shared_silu_inplace");
    assert_code(said, 0);
}

static void kept_input_is_unchanged_after_two_runs(void **state) {
    (void)state;
    const char *name = "squeeze_excite", *data = data_of(name), *out = flow_path("kept");
    CortenOptions o = {.model = archive_of(name),
                       .calibrate = &data,
                       .calibrate_count = 1,
                       .target = "cortex-m0plus",
                       .keep_inputs = true,
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    assert_code(run_firmware("twice", out, name), 0);
}

/* Bytes of everything but int8 weights: biases, factors per channel, tables. */
static void flash_is_integer_weights_and_factors(void **state) {
    (void)state;
    const json_t *report = flow_report(compiled("wide_conv1d"));
    long long weights = 16 * 64 * 7 + 64 * 64 * 7 + 64 * 29, channels = 64 + 64 + 29;
    long long all = number(report, "weights_bytes");
    assert_true(all >= weights);
    assert_true((double)all <= 1.01 * (double)(weights + channels * (4 + 4 + 4)));
}

/* ---- accuracy and calibration -------------------------------------------------------------- */

static void boxes_and_scores_keep_scales_of_their_own(void **state) {
    (void)state;
    const char *out = compiled("boxes_and_scores"), *data = data_of("boxes_and_scores");
    const json_t *output = json_array_get(json_object_get(flow_report(out), "outputs"), 0);
    assert_int_equal(json_array_size(json_object_get(output, "parts")), 2);
    assert_says(file_text(flow_text("%s/boxes_and_scores.h", out)), "for indices 4 to 11 of dim 1");
    ArrayList torch = flow_arrays(data), got = flow_outputs(out, data, NULL);
    const Array *want = flow_array(&torch, "out0"), *is = got.item[0].array;
    for (int64_t i = 0; i < array_count(want); i++)
        if (i / 16 % 12 >= 4) /* a score: [sample, 12, 4, 4] */
            assert_true(fabs(array_get(want, i) - array_get(is, i)) < 0.02);
}

/* Scores are the last numbers of each row of `width`. */
static void check_rows(const char *name, int width, int parts, const char *says) {
    const char *out = compiled(name), *data = data_of(name);
    const json_t *output = json_array_get(json_object_get(flow_report(out), "outputs"), 0);
    assert_int_equal(json_array_size(json_object_get(output, "parts")), parts);
    assert_says(file_text(flow_text("%s/%s.h", out, name)), says);
    ArrayList torch = flow_arrays(data), got = flow_outputs(out, data, NULL);
    const Array *want = flow_array(&torch, "out0"), *is = got.item[0].array;
    for (int64_t i = 0; i < array_count(want); i++)
        if (i % width >= 4)
            assert_true(fabs(array_get(want, i) - array_get(is, i)) < 0.02);
}

static void scores_keep_their_scale_through_data_movement(void **state) {
    (void)state;
    check_rows("boxes_and_scores_moved", 12, 2, "for indices 4 to 11 of dim 2");
}

static void scores_of_two_scales_share_one(void **state) {
    (void)state;
    check_rows("boxes_and_scores_of_two_scales", 7, 3, "for indices 4 to 6 of dim 2");
}

static double outlier_db(const char *observer, const char *precision) {
    const char *name = "outlier_channel", *data = data_of(name), *out = flow_path("outlier");
    CortenOptions o = {.model = archive_of(name),
                       .calibrate = &data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .observer = observer,
                       .precision_file = precision,
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    ArrayList torch = flow_arrays(data), got = flow_outputs(out, data, NULL);
    return flow_sqnr(flow_array(&torch, "out0"), got.item[0].array);
}

static void outlier_channel_does_not_drown_the_others(void **state) {
    (void)state;
    assert_true(outlier_db("minmax", NULL) > 30);
    assert_true(outlier_db("mse", NULL) > 30);
    assert_true(outlier_db("percentile", NULL) > 20); /* cuts the largest off, as asked */
    const char *wide = flow_path("wide.precision");
    file_write(flow_c(), wide, "* = int16\n", strlen("* = int16\n"));
    assert_true(outlier_db("minmax", wide) > 45);
}

static void nothing_in_integers_is_a_failure(void **state) {
    (void)state;
    const char *out = flow_path("nothing");
    Said said = flow_compile(archive_of("shared_silu_inplace"), NULL, "cortex-m55", out);
    assert_code(said, 1);
    assert_says(said.messages, "calibrat");
    assert_says(said.messages, "-c");
    assert_false(file_exists(out));
}

static void norm_that_follows_no_conv_is_integer(void **state) {
    (void)state;
    const json_t *before = flow_report(compiled("norm_before_conv"));
    const json_t *after = flow_report(compiled("norm_after_cat"));
    assert_int_equal(number(before, "float_nodes") + number(after, "float_nodes"), 0);
}

static void dynamic_batch_is_refused_with_the_remedy(void **state) {
    (void)state;
    const char *out = flow_path("dynamic");
    Said said = flow_compile(archive_of("dynamic_batch"), NULL, "cortex-m55", out);
    assert_code(said, 1);
    assert_says(said.messages, "dimension 0 of input 'input' is dynamic");
    assert_says(said.messages, "export without dynamic_shapes");
    int lines = 0;
    for (const char *p = said.messages; (p = strstr(p, "error:")); p++)
        lines++;
    assert_int_equal(lines, 1);
    assert_false(file_exists(out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_integer_and_close_to_torch),
        cmocka_unit_test(shared_silu_inplace_becomes_two_tables_in_stores),
        cmocka_unit_test(command_library_and_second_run_give_the_same_bytes),
        cmocka_unit_test(another_hosts_blas_changes_no_byte_behind_quantization),
        cmocka_unit_test(number_of_threads_changes_no_byte),
        cmocka_unit_test(residual_add_and_its_relu_cost_one_call),
        cmocka_unit_test(norms_fold_and_relus_fuse),
        cmocka_unit_test(aliases_of_cat_give_the_same_c),
        cmocka_unit_test(memory_format_of_the_example_changes_no_line_of_c),
        cmocka_unit_test(means_of_distributions_take_pixels_as_they_lie),
        cmocka_unit_test(zero_padding_folds_and_other_padding_does_not),
        cmocka_unit_test(accumulators_near_the_limit_keep_their_sign),
        cmocka_unit_test(all_permutations_of_sizes_1_to_3_move_right),
        cmocka_unit_test(two_lstm_calls_of_three_steps_equal_one_of_six),
        cmocka_unit_test(lstm_state_in_buffers_lives_from_call_to_call),
        cmocka_unit_test(reported_memory_equals_the_linked_bss),
        cmocka_unit_test(arena_16_bytes_too_small_does_not_compile),
        cmocka_unit_test(arena_and_constants_go_to_the_sections_that_are_asked_for),
        cmocka_unit_test(arena_of_the_reported_size_is_enough_and_a_misaligned_one_refused),
        cmocka_unit_test(kept_input_is_unchanged_after_two_runs),
        cmocka_unit_test(flash_is_integer_weights_and_factors),
        cmocka_unit_test(boxes_and_scores_keep_scales_of_their_own),
        cmocka_unit_test(scores_keep_their_scale_through_data_movement),
        cmocka_unit_test(scores_of_two_scales_share_one),
        cmocka_unit_test(outlier_channel_does_not_drown_the_others),
        cmocka_unit_test(nothing_in_integers_is_a_failure),
        cmocka_unit_test(norm_that_follows_no_conv_is_integer),
        cmocka_unit_test(dynamic_batch_is_refused_with_the_remedy),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
