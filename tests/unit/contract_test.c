/* What users and scripts rely on: what is written and what is not, options that are given or
 * refused but never ignored, the report's keys, and passes from and to text. What is refused is in
 * findings_test.c, how arrays are read and written in arrays_test.c. */
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

/* ---- what is written ----------------------------------------------------------------------- */

/* Under another limit the plan would be another one than what was emitted. */
static void memory_limit_is_part_of_the_report(void **state) {
    (void)state;
    CortenOptions o = example_options(flow_path("limited"));
    o.ram = 100000000;
    assert_code(flow_run(corten_compile, o), 0);
    json_t *taken = json_object_get(flow_report(o.out), "options");
    assert_int_equal(json_integer_value(json_object_get(taken, "ram")), o.ram);
}

static void second_compile_replaces_only_files_of_the_first(void **state) {
    (void)state;
    const char *out = flow_path("again");
    CortenOptions o = example_options(out);
    assert_code(flow_run(corten_compile, o), 0);
    text_write(flow_text("%s/notes.txt", out), "mine");
    text_write(flow_text("%s/shared_silu_inplace.c.new", out), "mine too");
    o.model = "pains/flatten_linear.pt2";
    o.calibrate = (const char *const[]){"pains/flatten_linear.npz"};
    assert_code(flow_run(corten_compile, o), 0);
    assert_true(file_exists(flow_text("%s/flatten_linear.c", out)));
    assert_false(file_exists(flow_text("%s/shared_silu_inplace.c", out)));
    assert_false(file_exists(flow_text("%s/runtime/conv2d_s8.c", out)));
    assert_string_equal(file_text(flow_text("%s/notes.txt", out)), "mine");
    assert_string_equal(file_text(flow_text("%s/shared_silu_inplace.c.new", out)), "mine too");
}

static void foreign_files_are_never_overwritten(void **state) {
    (void)state;
    const char *out = flow_path("foreign"), *mine = flow_path("foreign/shared_silu_inplace.h");
    assert_int_equal(mkdir(out, 0777), 0);
    text_write(mine, "mine");
    Said said = flow_run(corten_compile, example_options(out));
    assert_code(said, 3);
    assert_says(said.messages, "shared_silu_inplace.h: error: this file is not from an earlier");
    const char **left;
    assert_int_equal(folder_list(flow_c(), out, &left), 1);
    assert_string_equal(file_text(mine), "mine");
    unlink(mine);
    assert_int_equal(symlink("nowhere", mine), 0); /* leads to nothing, but is someone's */
    said = flow_run(corten_compile, example_options(out));
    assert_code(said, 3);
    assert_says(said.messages, "shared_silu_inplace.h: error: this file is not from an earlier");
    unlink(mine);
    text_write(flow_text("%s/report.json", out), "{\"files\": 3}");
    assert_code(flow_run(corten_compile, example_options(out)), 3);
}

static void edited_report_removes_nothing_outside_of_its_folder(void **state) {
    (void)state;
    const char *out = flow_path("edited"), *mine = flow_path("precious"), *report;
    assert_code(flow_run(corten_compile, example_options(out)), 0);
    text_write(mine, "mine");
    report = flow_text("%s/report.json", out);
    json_t *json = json_load_file(report, 0, NULL), *files = json_object_get(json, "files");
    json_array_append_new(files, json_string("../precious"));
    json_array_append_new(files, json_string(mine));
    assert_int_equal(json_dump_file(json, report, 0), 0);
    json_decref(json);
    assert_code(flow_run(corten_compile, example_options(out)), 0);
    assert_string_equal(file_text(mine), "mine");
}

static void failing_second_compile_leaves_the_first(void **state) {
    (void)state;
    const char *out = flow_path("kept_first");
    CortenOptions o = example_options(out);
    assert_code(flow_run(corten_compile, o), 0);
    o.ram = 10;
    assert_code(flow_run(corten_compile, o), 1);
    assert_null(folders_differ(out, example_compiled()));
}

static Said build(const char *out, const char *name) {
    return flow_shell("cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I%s -I%s/runtime -c %s/%s.c "
                      "-o %s",
                      out, out, out, name, flow_path("%s.o", name));
}

static void names_of_an_archive_stay_inside_of_comments(void **state) {
    (void)state;
    const char *text = flow_path("names.txt"), *evil = "*/ int broken; /*\\x0aint line;";
    const char *out = flow_path("names"), *grid = "grid int8/8 (0x1p-4 3)";
    text_write(
        text,
        flow_text("corten 1\ngraph names quantized {\n  source \"%s\" \"aten.relu\" "
                  "module \"%s\" at ( file \"%s\" line 3 )\n"
                  "  value %%x int8[4] input\n  value %%\"%s\" float32[4] buffer \"%s\" %s initial "
                  "{1, 2, 3, 4}\n  input \"%s\" %%x\n"
                  "  node \"%s\" %%y float32[4] %s = corten::copy(%%\"%s\") from [0]\n"
                  "  state \"%s\" %%\"%s\" %%y\n  output \"%s\" %%y\n}\n",
                  evil, evil, evil, evil, evil, grid, evil, evil, grid, evil, evil, evil, evil));
    CortenOptions o = example_options(out);
    o.model = text;
    o.from = "layout";
    o.calibrate_count = 0;
    assert_code(flow_run(corten_compile, o), 0);
    assert_code(build(out, "names"), 0);
    assert_says(file_text(flow_text("%s/names.c", out)), "int broken");
    assert_says(file_text(flow_text("%s/names.h", out)), "int broken");
}

static void any_file_name_becomes_a_usable_identifier(void **state) {
    (void)state;
    static const char *const stems[] = {"my model-v1.2", "2x", "int", "main", "ctn", "weights"};
    static const char *const names[] = {"my_model_v1_2", "model_2x",  "model_int",
                                        "model_main",    "model_ctn", "weights"};
    for (size_t i = 0; i < COUNT_OF(stems); i++) {
        const char *model = flow_path("%s.pt2", stems[i]), *out = flow_path("stem %zu", i);
        assert_code(flow_shell("cp pains/one_pixel.pt2 '%s'", model), 0);
        assert_non_null(flow_compiled(model, "pains/one_pixel.npz", "cortex-m0plus", out));
        assert_code(flow_shell("cd '%s' && cc -std=c11 -Wall -Wextra -Werror -Iruntime -I. "
                               "-fsyntax-only %s.c",
                               out, names[i]),
                    0);
    }
}

static void header_is_c_plus_plus_too(void **state) {
    (void)state;
    if (!flow_has("c++"))
        skip();
    const char *out = example_compiled(), *source = flow_path("user.cpp");
    text_write(source, "#include \"shared_silu_inplace.h\"\n"
                       "static uint8_t arena[SHARED_SILU_INPLACE_ARENA_BYTES];\n"
                       "int main() { shared_silu_inplace_t m;\n"
                       "return SHARED_SILU_INPLACE_INIT(&m, arena, nullptr); }\n");
    assert_code(flow_shell("c++ -Wall -Wextra -Werror -I%s -I%s/runtime -fsyntax-only %s", out, out,
                           source),
                0);
}

static void init_macro_refuses_an_array_that_is_too_small(void **state) {
    (void)state;
    const char *out = example_compiled(), *source = flow_path("small.c");
    text_write(source,
               "#include \"shared_silu_inplace.h\"\n"
               "static _Alignas(16) uint8_t arena[SHARED_SILU_INPLACE_ARENA_BYTES - LESS];\n"
               "int main(void) { shared_silu_inplace_t m;\n"
               "return SHARED_SILU_INPLACE_INIT(&m, arena, 0); }\n");
    const char *cc = flow_text("cc -I%s -I%s/runtime -fsyntax-only %s", out, out, source);
    assert_code(flow_shell("%s -DLESS=0", cc), 0);
    assert_int_not_equal(flow_shell("%s -DLESS=16", cc).code, 0);
}

/* ---- report -------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *list) {
    for (; word && *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static const char *text_of(const json_t *o, const char *key) {
    return json_string_value(json_object_get(o, key));
}

static bool has_call(const json_t *report, const char *name) {
    size_t i;
    json_t *call;
    json_array_foreach(json_object_get(report, "calls"), i,
                       call) if (strcmp(text_of(call, "name"), name) == 0) return true;
    return false;
}

static void check_node(const json_t *report, const json_t *node) {
    static const char *const numerics[] = {"int8", "int16", "int32", "int64",
                                           "bool", "float", "none",  NULL};
    static const char *const fates[] = {"kernel", "fused", "folded", "moved", "removed", NULL};
    static const char *const keys[] = {"name", "op",   "module", "source",  "numeric",
                                       "fate", "into", "macs",   "sqnr_db", NULL};
    const char *name = text_of(node, "name"), *fate = text_of(node, "fate");
    for (int k = 0; keys[k]; k++)
        if (!json_object_get(node, keys[k]))
            fail_msg("%s has no key %s", name, keys[k]);
    assert_true(is_one_of(text_of(node, "numeric"), numerics));
    assert_true(is_one_of(fate, fates));
    const json_t *into = json_object_get(node, "into");
    size_t i;
    json_t *call;
    json_array_foreach(into, i, call) {
        if (!has_call(report, json_string_value(call)))
            fail_msg("%s goes into %s, which is no call", name, json_string_value(call));
    }
    if (strcmp(fate, "kernel") == 0 && json_array_size(into) == 0)
        fail_msg("%s is a kernel but goes into no call", name);
}

/* As `corten inspect` lists the archive, which looks at it on its own. */
static void check_nodes(const char *archive, const json_t *report) {
    Said said = flow_run(corten_inspect, (CortenOptions){.model = archive, .json = true});
    assert_code(said, 0);
    json_t *inspected = flow_json(said);
    json_t *all = json_object_get(inspected, "nodes"), *nodes = json_object_get(report, "nodes");
    assert_int_equal(json_array_size(nodes), json_array_size(all));
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *node = json_array_get(nodes, i);
        assert_string_equal(text_of(node, "name"), text_of(json_array_get(all, i), "name"));
        check_node(report, node);
    }
}

static void report_has_every_key_and_every_node_once(void **state) {
    (void)state;
    static const char *const keys[] = {"corten",      "model",         "model_sha256",
                                       "target",      "isa",           "inputs",
                                       "outputs",     "nodes",         "calls",
                                       "macs",        "float_nodes",   "arena_bytes",
                                       "state_bytes", "weights_bytes", "peak_node",
                                       "seconds",     "files",         "arena_lower_bound_bytes",
                                       NULL};
    static const char *const calls[] = {"name",          "kernel",        "macs", "arena",
                                        "scratch_bytes", "weights_bytes", NULL};
    static const char *const boundary[] = {"name", "shape", "dtype", "scale", "zero_point", NULL};
    static const char *const times[] = {"import", "calibrate", "quantize", "lower",
                                        "plan",   "emit",      NULL};
    static const char *const model[] = {"pains/shared_silu_inplace",
                                        "pains/pad_same_asymmetric",
                                        "pains/norm_after_cat",
                                        "pains/permutations",
                                        "pains/lstm_stream",
                                        "flow/boundary",
                                        "flow/counter",
                                        "flow/embedder"};
    for (size_t m = 0; m < COUNT_OF(model); m++) {
        const char *archive = flow_text("%s.pt2", model[m]);
        json_t *report =
            flow_compiled(archive, flow_text("%s.npz", model[m]), "cortex-m55", flow_path("keys"));
        assert_non_null(report);
        for (int k = 0; keys[k]; k++)
            assert_non_null(json_object_get(report, keys[k]));
        for (int k = 0; times[k]; k++)
            assert_true(
                json_is_number(json_object_get(json_object_get(report, "seconds"), times[k])));
        size_t i;
        json_t *o;
        json_array_foreach(json_object_get(report, "calls"), i, o) for (int k = 0; calls[k]; k++)
            assert_non_null(json_object_get(o, calls[k]));
        for (int side = 0; side < 2; side++)
            json_array_foreach(json_object_get(report, side ? "outputs" : "inputs"), i,
                               o) for (int k = 0; boundary[k]; k++)
                assert_non_null(json_object_get(o, boundary[k]));
        check_nodes(archive, report);
    }
}

static void source_is_the_users_line_or_null(void **state) {
    (void)state;
    size_t i;
    json_t *node;
    json_array_foreach(json_object_get(flow_report(example_compiled()), "nodes"), i, node)
        assert_memory_equal(text_of(node, "source"), "model.py:", 9);
    json_t *report =
        flow_compiled("flow/image.pt2", "flow/image.npz", "cortex-m4", flow_path("im"));
    json_array_foreach(json_object_get(report, "nodes"), i, node)
        assert_true(json_is_null(json_object_get(node, "source"))); /* Sequential: torch's own */
    report = flow_compiled("flow/counter.pt2", "flow/counter.npz", "cortex-m4", flow_path("st"));
    json_array_foreach(json_object_get(report, "nodes"), i, node) /* a strict export */
        assert_memory_equal(text_of(node, "source"), "model.py:", 9);
}

static void constants_of_a_call_are_inputs_of_no_dtype(void **state) {
    (void)state;
    const json_t *report =
        flow_compiled("flow/boundary.pt2", "flow/boundary.npz", "cortex-m4", flow_path("boundary"));
    const json_t *inputs = json_object_get(report, "inputs");
    assert_string_equal(text_of(json_array_get(inputs, 0), "dtype"), "int8");
    assert_string_equal(text_of(json_array_get(inputs, 1), "dtype"), "none");
}

static void report_command_shows_what_compile_showed(void **state) {
    (void)state;
    const char *out = flow_path("shown");
    Said first = flow_run(corten_compile, example_options(out));
    Said again = flow_run(corten_report, (CortenOptions){.model = out});
    assert_code(again, 0);
    assert_string_equal(first.results, again.results);
    assert_says(again.results, "0 of 4 nodes in float");
    Said json = flow_run(corten_report, (CortenOptions){.model = out, .json = true});
    json_t *root = flow_json(json);
    assert_non_null(root);
    assert_code(flow_run(corten_report, (CortenOptions){.model = "nothing"}), 3);
    assert_code(flow_run(corten_report, (CortenOptions){.model = "pains"}), 3);
}

static void folder_can_be_taken_up_from_another_folder(void **state) {
    (void)state;
    Said said = flow_shell("cd %s && %s verify %s -i %s/%s", flow_path("."), CORTEN_EXE,
                           example_compiled(), getcwd((char[4096]){0}, 4096), EXAMPLE_DATA);
    assert_code(said, 0);
}

static void another_archive_than_the_compiled_one_is_refused(void **state) {
    (void)state;
    Said said = flow_run(corten_verify, (CortenOptions){.model = example_compiled(),
                                                        .input = EXAMPLE_DATA,
                                                        .archive = "pains/one_pixel.pt2"});
    assert_code(said, 3);
    assert_says(said.messages, "is not the one that was compiled");
}

/* ---- options that change the result -------------------------------------------------------- */

static double output_db(CortenOptions o, const char *torch_data) {
    const char *out = flow_path("option");
    o.out = out;
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    ArrayList torch = flow_arrays(torch_data), got = flow_outputs(out, torch_data, NULL);
    assert_int_not_equal(got.count, 0);
    return flow_sqnr(flow_array(&torch, "out0"), got.item[0].array);
}

static void io_types_cross_the_boundary_as_asked(void **state) {
    (void)state;
    static const char *const types[] = {"int8", "int16", "float"};
    static const char *const dtypes[] = {"int8", "int16", "float32"};
    static const char *const c_types[] = {"int8_t *", "int16_t *", "float *"};
    double as_quantized = output_db(example_options(NULL), EXAMPLE_DATA);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        CortenOptions o = example_options(NULL);
        o.io = types[i];
        assert_true(output_db(o, EXAMPLE_DATA) > as_quantized - 0.5);
        json_t *report = flow_report(flow_path("option"));
        for (int side = 0; side < 2; side++) {
            const json_t *b =
                json_array_get(json_object_get(report, side ? "outputs" : "inputs"), 0);
            assert_string_equal(text_of(b, "dtype"), dtypes[i]);
        }
        const char *header = file_text(flow_path("option/shared_silu_inplace.h"));
        assert_says(header, flow_text("%sshared_silu_inplace_input0", c_types[i]));
        assert_says(header, flow_text("%sshared_silu_inplace_output0", c_types[i]));
    }
}

static void output_of_several_parts_crosses_in_float_and_int16(void **state) {
    (void)state;
    const char *samples = "pains/boxes_and_scores.npz";
    CortenOptions o = example_options(NULL);
    o.model = "pains/boxes_and_scores.pt2";
    o.calibrate = &samples;
    o.io = "float";
    assert_true(output_db(o, samples) > 33);
    ArrayList torch = flow_arrays(samples);
    ArrayList got = flow_outputs(flow_path("option"), samples, NULL);
    const Array *want = flow_array(&torch, "out0"), *is = got.item[0].array;
    for (int64_t i = 0; i < array_count(want); i++)
        if (i / 16 % 12 >= 4) /* a score: [sample, 12, 4, 4] */
            assert_true(fabs(array_get(want, i) - array_get(is, i)) < 0.02);
    o.io = "int16";
    assert_true(output_db(o, samples) > 33);
}

static void nhwc_boundary_needs_no_copies_and_gives_the_same_numbers(void **state) {
    (void)state;
    CortenOptions o = example_options(NULL);
    o.io_layout = "nhwc";
    double db = output_db(o, EXAMPLE_DATA);
    o.io_layout = "nchw";
    assert_true(output_db(o, EXAMPLE_DATA) == db);
    o.io_layout = "nhwc";
    o.out = flow_path("nhwc");
    assert_code(flow_run(corten_compile, o), 0);
    json_t *report = flow_report(o.out);
    assert_int_equal(json_array_size(json_object_get(report, "calls")), 2);
    assert_says(file_text(flow_path("nhwc/shared_silu_inplace.h")), "stored channels last");
}

static void input_scale_is_taken_as_given(void **state) {
    (void)state;
    const char *fixed = "inputs_0=0.0625,3";
    CortenOptions o = example_options(NULL);
    o.input_scale = &fixed;
    o.input_scale_count = 1;
    assert_true(output_db(o, EXAMPLE_DATA) > 25);
    const json_t *in =
        json_array_get(json_object_get(flow_report(flow_path("option")), "inputs"), 0);
    assert_true(json_real_value(json_object_get(in, "scale")) == 0.0625);
    assert_int_equal(json_integer_value(json_object_get(in, "zero_point")), 3);
    fixed = "x=0.0625,3";
    example_refused(o, 2, "there is no input \"x\"");
    example_refused(o, 2, "the inputs: inputs_0");
    fixed = "inputs_0=0.0625";
    example_refused(o, 2, "NAME=SCALE,ZP or NAME=pixels is needed");
    fixed = "inputs_0=0,3";
    example_refused(o, 2, "a scale above 0");
    fixed = "inputs_0=1,300";
    example_refused(o, 2, "a zero point of -128..127");
}

static void precision_file_is_obeyed_or_refused(void **state) {
    (void)state;
    const char *file = flow_path("precision.txt");
    CortenOptions o = example_options(NULL);
    o.precision_file = file;
    text_write(file, "# all of it\n* = int8 # as ever\n");
    assert_true(output_db(o, EXAMPLE_DATA) == output_db(example_options(NULL), EXAMPLE_DATA));
    text_write(file, "\nconv2_d = int8\n");
    o.out = flow_path("unmatched");
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.messages, "precision.txt:2: warning: no node and no module");
    text_write(file, "* int8\n");
    example_refused(o, 3, "precision.txt:1: error: ");
    text_write(file, "\n* = int12\n");
    example_refused(o, 2, "unknown precision \"int12\"");
}

/* ---- the command line ---------------------------------------------------------------------- */

static void quiet_compile_says_nothing(void **state) {
    (void)state;
    CortenOptions o = example_options(flow_path("quiet"));
    o.quiet = true;
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_string_equal(said.results, "");
    assert_string_equal(said.messages, "");
    said = flow_shell("%s compile nothing.pt2 -c %s -t cortex-m4 -o %s -q", CORTEN_EXE,
                      EXAMPLE_DATA, o.out);
    assert_code(said, 3);
    assert_says(said.messages, "nothing.pt2: error:");
}

static void colours_need_a_terminal_and_no_no_color(void **state) {
    (void)state;
    const char *bad = flow_text("%s inspect nothing.pt2", CORTEN_EXE);
    assert_silent_on(flow_shell("%s", bad).messages, "\033");
    if (!flow_has("script"))
        skip();
    assert_says(flow_shell("env -u NO_COLOR script -qec '%s' /dev/null", bad).messages, "\033[");
    assert_silent_on(flow_shell("NO_COLOR=1 script -qec '%s' /dev/null", bad).messages, "\033");
}

static void command_line_mistakes_are_exit_2(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "compil x",
        "compile",
        "compile a b",
        "compile " EXAMPLE_MODEL " --frobnicate",
        "compile " EXAMPLE_MODEL " -t",
        "compile " EXAMPLE_MODEL " --ram 1x -t cortex-m4",
        "run " EXAMPLE_MODEL " -i " EXAMPLE_DATA " -o x.txt",
        "run " EXAMPLE_MODEL " -i " EXAMPLE_DATA,
        "run " EXAMPLE_MODEL " -i " EXAMPLE_DATA " -o x.npz --on moon",
        "run " EXAMPLE_MODEL " -i " EXAMPLE_DATA " -o x.npz --on qemu"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        Said said = flow_shell("%s %s", CORTEN_EXE, wrong[i]);
        if (said.code != 2)
            fail_msg("corten %s: exit code %d: %s", wrong[i], said.code, said.messages);
    }
    assert_false(file_exists("x.npz"));
}

static void help_and_version_are_exit_0(void **state) {
    (void)state;
    static const char *const good[] = {"--help",         "--version",  "compile --help",
                                       "inspect -h",     "run --help", "verify --help",
                                       "report --help",  "ops --help", "targets --help",
                                       "targets --json", "ops --json"};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_code(flow_shell("%s %s >%s", CORTEN_EXE, good[i], flow_path("help")), 0);
}

/* ---- passes as text ------------------------------------------------------------------------ */

static const char *dumped(const char *model, const char *samples, const char *pass) {
    CortenOptions o = example_options(NULL);
    o.model = model;
    o.calibrate = &samples;
    o.dump = pass;
    o.stop_after = pass;
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    return said.results;
}

/* The C that comes out when the pipeline is cut behind `pass`. */
static const char *c_behind(const char *name, const char *samples, int pass) {
    const char *text = flow_path("%s.txt", name), *out = flow_path("cut");
    const char *from = pass_table[pass + 1].name;
    text_write(text, dumped(flow_text("pains/%s.pt2", name), samples, pass_table[pass].name));
    CortenOptions o = example_options(out);
    o.model = text;
    o.from = from;
    o.calibrate = &samples;
    Said said = flow_run(corten_compile, o);
    if (said.code != 0)
        fail_msg("%s, from %s: exit code %d: %s", name, from, said.code, said.messages);
    ArrayList whole = flow_outputs(flow_path("%s_whole", name), samples, NULL);
    ArrayList cut = flow_outputs(out, samples, NULL);
    assert_true(flow_sqnr(whole.item[0].array, cut.item[0].array) > 300);
    return file_text(flow_text("%s/%s.c", out, name));
}

static void every_pass_can_go_through_text(void **state) {
    (void)state;
    static const char *const names[] = {"shared_silu_inplace", "conv_norm_relu_inplace",
                                        "lstm_stream", "norm_after_cat"};
    for (size_t m = 0; m < COUNT_OF(names); m++) {
        const char *name = names[m], *samples = flow_text("pains/%s.npz", name);
        const char *whole = flow_path("%s_whole", name);
        assert_non_null(
            flow_compiled(flow_text("pains/%s.pt2", name), samples, "cortex-m0plus", whole));
        const char *want = file_text(flow_text("%s/%s.c", whole, name));
        for (int pass = 0; strcmp(pass_table[pass].name, "lower") != 0; pass++)
            if (strcmp(want, c_behind(name, samples, pass)) != 0)
                fail_msg("%s: other C when cut behind %s", name, pass_table[pass].name);
    }
}

static void dump_alone_prints_and_dump_with_a_folder_goes_on(void **state) {
    (void)state;
    CortenOptions o = example_options(NULL);
    o.dump = "fuse";
    Said alone = flow_run(corten_compile, o);
    assert_code(alone, 0);
    assert_string_equal(alone.results, dumped(EXAMPLE_MODEL, EXAMPLE_DATA, "fuse"));
    o.out = flow_path("dumped");
    Said with = flow_run(corten_compile, o);
    assert_code(with, 0);
    assert_string_equal(with.results, alone.results);
    assert_null(folders_differ(o.out, example_compiled()));
    o.out = flow_path("stopped");
    o.stop_after = "fuse";
    assert_code(flow_run(corten_compile, o), 0);
    assert_false(file_exists(o.out));
}

static void text_of_a_wrong_stage_is_refused(void **state) {
    (void)state;
    const char *text = flow_path("early.txt");
    text_write(text, dumped(EXAMPLE_MODEL, EXAMPLE_DATA, "fold"));
    CortenOptions o = example_options(NULL);
    o.model = text;
    o.from = "layout";
    example_refused(o, 2, "pass 'layout' cannot start");
    o.from = NULL;
    example_refused(o, 2, "--from");
    o.from = "fuse";
    o.stop_after = "fold";
    example_refused(o, 2, "nothing to run");
    text_write(text, "corten 1\ngraph broken quantized {\n  node\n");
    o.from = "layout";
    o.stop_after = NULL;
    example_refused(o, 3, "early.txt:");
}

/* ---- inspect, verify ----------------------------------------------------------------------- */

static void inspect_lists_writes_and_what_has_no_integer_form(void **state) {
    (void)state;
    Said said = flow_run(corten_inspect, (CortenOptions){.model = EXAMPLE_MODEL});
    assert_code(said, 0);
    assert_says(said.results, "4 nodes, 2 in-place writes");
    said = flow_run(corten_inspect, (CortenOptions){.model = "flow/several_faults.pt2"});
    assert_code(said, 0);
    assert_says(said.results, "2 of them have no integer form");
}

static void verify_prints_the_keys_of_the_contract(void **state) {
    (void)state;
    const char *out = flow_path("labelled"), *samples = flow_path("labelled.npz");
    assert_non_null(flow_compiled("pains/linear_of_tiny_inputs.pt2",
                                  "pains/linear_of_tiny_inputs.npz", "cortex-m4", out));
    ArrayList torch = flow_arrays("pains/linear_of_tiny_inputs.npz");
    Array *label = array_new(flow_c(), DT_I64, 1, (int64_t[]){4});
    const Array *scores = flow_array(&torch, "out0");
    for (int s = 0; s < 4; s++) {
        int best = 0;
        for (int k = 1; k < 10; k++)
            if (array_get(scores, s * 10 + k) > array_get(scores, s * 10 + best))
                best = k;
        array_set_int(label, s, s == 0 ? (best + 1) % 10 : best); /* one label is wrong */
    }
    NamedArray item[] = {{"in0", (Array *)flow_array(&torch, "in0")}, {"digit", label}};
    npz_write(flow_c(), samples, &(ArrayList){2, item});
    Said said =
        flow_run(corten_verify,
                 (CortenOptions){.model = out, .input = samples, .labels = "digit", .json = true});
    assert_code(said, 0);
    json_t *root = flow_json(said);
    assert_true(json_real_value(json_array_get(json_object_get(root, "output_sqnr_db"), 0)) > 30);
    assert_true(json_is_null(json_object_get(root, "bit_exact"))); /* nothing ran on a chip */
    json_t *top1 = json_object_get(root, "top1");
    assert_true(json_real_value(json_object_get(top1, "float")) == 0.75);
    assert_true(json_real_value(json_object_get(top1, "integer")) == 0.75);
    CortenOptions o = {.model = out, .input = samples, .labels = "nothing"};
    assert_code(flow_run(corten_verify, o), 3);
    o = (CortenOptions){.model = out};
    assert_code(flow_run(corten_verify, o), 2);
    o = (CortenOptions){.model = "pains", .input = samples};
    assert_code(flow_run(corten_verify, o), 3);
}

static void labels_go_with_the_first_output_that_has_scores(void **state) {
    (void)state;
    const char *out = flow_path("scores"), *labels = flow_path("labels.npy");
    assert_non_null(flow_compiled("flow/boundary.pt2", "flow/boundary.npz", "cortex-m4", out));
    npy_write(flow_c(), labels, array_new(flow_c(), DT_I64, 1, (int64_t[]){5}));
    CortenOptions o = {.model = out, .input = "flow/boundary.npz", .labels = labels};
    assert_code(flow_run(corten_verify, o), 0);
    npy_write(flow_c(), labels, array_new(flow_c(), DT_I64, 1, (int64_t[]){4}));
    Said said = flow_run(corten_verify, o);
    assert_code(said, 3);
    assert_says(said.messages, "4 labels for 5 samples");
}

static void missing_tools_are_exit_4(void **state) {
    (void)state;
    Said said = flow_shell("PATH=/nowhere %s verify %s -i %s --on qemu", CORTEN_EXE,
                           example_compiled(), EXAMPLE_DATA);
    assert_code(said, 4);
    assert_says(said.messages, "arm-none-eabi-gcc was not found; on Debian: apt-get install");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_limit_is_part_of_the_report),
        cmocka_unit_test(second_compile_replaces_only_files_of_the_first),
        cmocka_unit_test(foreign_files_are_never_overwritten),
        cmocka_unit_test(edited_report_removes_nothing_outside_of_its_folder),
        cmocka_unit_test(failing_second_compile_leaves_the_first),
        cmocka_unit_test(names_of_an_archive_stay_inside_of_comments),
        cmocka_unit_test(any_file_name_becomes_a_usable_identifier),
        cmocka_unit_test(header_is_c_plus_plus_too),
        cmocka_unit_test(init_macro_refuses_an_array_that_is_too_small),
        cmocka_unit_test(report_has_every_key_and_every_node_once),
        cmocka_unit_test(source_is_the_users_line_or_null),
        cmocka_unit_test(constants_of_a_call_are_inputs_of_no_dtype),
        cmocka_unit_test(report_command_shows_what_compile_showed),
        cmocka_unit_test(folder_can_be_taken_up_from_another_folder),
        cmocka_unit_test(another_archive_than_the_compiled_one_is_refused),
        cmocka_unit_test(io_types_cross_the_boundary_as_asked),
        cmocka_unit_test(output_of_several_parts_crosses_in_float_and_int16),
        cmocka_unit_test(nhwc_boundary_needs_no_copies_and_gives_the_same_numbers),
        cmocka_unit_test(input_scale_is_taken_as_given),
        cmocka_unit_test(precision_file_is_obeyed_or_refused),
        cmocka_unit_test(quiet_compile_says_nothing),
        cmocka_unit_test(colours_need_a_terminal_and_no_no_color),
        cmocka_unit_test(command_line_mistakes_are_exit_2),
        cmocka_unit_test(help_and_version_are_exit_0),
        cmocka_unit_test(every_pass_can_go_through_text),
        cmocka_unit_test(dump_alone_prints_and_dump_with_a_folder_goes_on),
        cmocka_unit_test(text_of_a_wrong_stage_is_refused),
        cmocka_unit_test(inspect_lists_writes_and_what_has_no_integer_form),
        cmocka_unit_test(verify_prints_the_keys_of_the_contract),
        cmocka_unit_test(labels_go_with_the_first_output_that_has_scores),
        cmocka_unit_test(missing_tools_are_exit_4),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
