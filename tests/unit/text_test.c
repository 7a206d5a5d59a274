/* The text form: what is printed reads back to the same text, saved graphs too; malformed text
 * names its line and never crashes. Run from tests/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/import.h"

typedef struct {
    const char *text;
    const ArrayList *constants;
    Graph *graph;
} Job;

static void parse_job(C *c, void *user) {
    Job *job = user;
    job->graph = graph_parse(c, "net.txt", job->text, job->constants);
}

static Graph *parse_good(C *c, const char *text, const ArrayList *constants) {
    Job job = {.text = text, .constants = constants};
    if (c_try(c, parse_job, &job) != 0)
        diag_print(c, stderr, false, false);
    assert_int_equal(diag_error_count(c), 0);
    return job.graph;
}

/* Everything that a quantized graph can hold. */
static const char quantized[] =
    "corten 1\n"
    "graph net quantized {\n"
    "  archive \"net.pt2\" sha256 \"00ff\"\n"
    "  source \"conv\" \"aten.conv2d\" module \"body.0\" at ( file \"model.py\" line 7 text "
    "\"y = self.conv(x)  # \\\"quoted\\\" \\\\ \\x09\" output \"float32[1, 2, 4, 4]\" )\n"
    "  source \"relu_\" \"aten.relu_\" at ( ) fused into 0\n"
    "  source \"dropout\" \"aten.dropout\" at ( ) removed reason \"does nothing\"\n"
    "  value %w float32[2, 1, 1, 2] parameter \"body.0.weight\" grid int8/8 (0x1p-7 0 axis 0 0:1, "
    "0x1.8p-6 0 axis 0 1:2) data {1, -127, 3, 127}\n"
    "  value %b float32[2] constant grid int32/32 (0x1p-14 0 axis 0 0:1, 0x1.8p-13 0 axis 0 1:2) "
    "data {-5, 100000}\n"
    "  value %x float32[1, 1, 4, 5] input grid int8/8 pinned (0x1p-7 -128) seen(0x0p+0 "
    "0x1.fcp-1 80) order [0, 2, 3, 1]\n"
    "  value %old float32[1, 2, 4, 4] buffer \"cache\" grid int16/16 (0x1.4p-9 0) data npz\n"
    "  value %\"odd name\" int64[] constant data {-9223372036854775808}\n"
    "  input x %x\n"
    "  input scale 0x1.8p+1\n"
    "  input flag none\n"
    "  node conv %conv#7 float32[1, 2, 4, 4] grid int8/8 (0x1.2p-5 3) seen(-0x1p+0 0x1.8p+0 16 bad "
    "2 "
    "bins 2048 -0x1p+1 0x1p-9) unstored order [0, 2, 3, 1] = aten::conv2d(%x, %w, %b, [1, 1], [0, "
    "0], "
    "[1, 1], 1) sqnr 0x1.4p+5 from [0]\n"
    "  node relu %relu float32[1, 2, 4, 4] grid int8/8 (0x1p-5 -128) = aten::relu(%conv) fused "
    "from [1] at ( file \"model.py\" line 9 node \"relu_\" )\n"
    "  node views %a#5 float32[1, 1, 4, 4], %c float32[1, 1, 4, 4] = aten::chunk(%relu, 2, 1) "
    "copies npu\n"
    "  node again %again float32[1, 2, 4, 4] = aten::relu(%relu) writes 0 float reason \"asked\"\n"
    "  node sum %sum float32[1, 2, 4, 4] = aten::add.Tensor(%old, %again, 0x1.8p+0) out %old\n"
    "  node t %t float32[1, 2, 4, 4] = aten::relu(%sum) body {\n"
    "    value %x float32[] input\n"
    "    value %k float32[2] constant data {nan, -inf}\n"
    "    input x %x\n"
    "    node mul %mul float32[2] = aten::mul.Tensor(%x, %k)\n"
    "    output y %mul\n"
    "  }\n"
    "  node cast %cast int64[1, 2, 4, 4] = aten::to.dtype(%t, @int64, false, true, none)\n"
    "  state \"cache\" %old %sum\n"
    "  output y %cast\n"
    "  output none none\n"
    "  output three 3\n"
    "  output \"\" %\"odd name\"\n"
    "}\n";

static ArrayList quantized_arrays(C *c) {
    static const int64_t cache[] = {1, 2, 4, 4}, bins[] = {HISTOGRAM_BINS};
    ArrayList list = {2, NEW_ARRAY(c, NamedArray, 2)};
    list.item[0] = (NamedArray){"old", array_new(c, DT_I16, 4, cache)};
    list.item[1] = (NamedArray){"conv:histogram", array_new(c, DT_I64, 1, bins)};
    for (int i = 0; i < 32; i++)
        array_set_int(list.item[0].array, i, i * 1000 - 16000);
    for (int i = 0; i < 4; i++)
        array_set_int(list.item[1].array, i, (int64_t)1 << (10 * i));
    return list;
}

static void a_quantized_graph_prints_as_it_was_read(void **state) {
    (void)state;
    C *c = c_new();
    ArrayList arrays = quantized_arrays(c);
    Graph *g = parse_good(c, quantized, &arrays);
    assert_string_equal(graph_print(g), quantized);
    c_free(c);
}

static void what_was_read_is_in_the_graph(void **state) {
    (void)state;
    C *c = c_new();
    ArrayList arrays = quantized_arrays(c);
    Graph *g = parse_good(c, quantized, &arrays);
    assert_int_equal(g->stage, STAGE_QUANTIZED);
    assert_int_equal(g->node_count, 7);
    const Node *conv = g->first, *relu = conv->next;
    assert_int_equal(conv->loc.line, 7);
    assert_string_equal(conv->loc.module, "body.0");
    assert_int_equal(relu->loc.line, 9);
    assert_true(relu->fused);
    const Value *y = conv->out[0];
    assert_int_equal(y->id, 7);
    assert_ptr_equal(g->value[7], y);
    assert_true(y->unstored);
    assert_int_equal(y->order[1], 2);
    assert_true(y->observed->bin[3] == (int64_t)1 << 30);
    assert_int_equal(y->grid->part[0].zero_point, 3);
    assert_true(y->grid->part[0].scale == 0x1.2p-5);
    assert_int_equal(y->user_count, 1);
    const Value *w = node_in(conv, "weight");
    assert_int_equal(w->grid->part_count, 2);
    assert_int_equal(array_get_int(w->constant, 1), -127);
    assert_int_equal(g->archive[2].fate, FATE_REMOVED);
    assert_int_equal(g->archive[1].into, 0);
    assert_int_equal(g->state_count, 1);
    assert_int_equal(g->last->prev->body->node_count, 1);
    c_free(c);
}

static void saved_graphs_load_as_they_were(void **state) {
    (void)state;
    C *c = c_new();
    ArrayList arrays = quantized_arrays(c);
    Graph *g = parse_good(c, quantized, &arrays);
    graph_save(g, "text_test.corten");
    Graph *back = graph_load(c, "text_test.corten");
    assert_string_equal(graph_print(back), quantized);
    for (int i = 0; i < 32; i++)
        assert_int_equal(array_get_int(back->state[0].before->constant, i), i * 1000 - 16000);
    size_t first_bytes, second_bytes;
    const char *first = file_read(c, "text_test.corten", &first_bytes);
    graph_save(back, "text_test.corten");
    const char *second = file_read(c, "text_test.corten", &second_bytes);
    assert_int_equal(first_bytes, second_bytes);
    assert_memory_equal(first, second, first_bytes);
    remove("text_test.corten");
    c_free(c);
}

static void plain_text_finds_its_arrays_beside_it(void **state) {
    (void)state;
    C *c = c_new();
    ArrayList arrays = quantized_arrays(c);
    file_write(c, "text_test_plain.txt", quantized, strlen(quantized));
    npz_write(c, "text_test_plain.npz", &arrays);
    Graph *g = graph_load(c, "text_test_plain.txt");
    assert_string_equal(graph_print(g), quantized);
    remove("text_test_plain.txt");
    remove("text_test_plain.npz");
    c_free(c);
}

static void dead_values_are_not_printed_and_the_rest_keep_their_order(void **state) {
    (void)state;
    C *c = c_new();
    static const int64_t dim[] = {3};
    Type type = type_make(DT_F32, 1, dim);
    Graph *g = graph_new(c, "net");
    g->stage = STAGE_CORE;
    value_new(g, "dead", type);
    Value *x = value_new(g, "x", type);
    Value *later = value_new(g, "later", type);
    Node *n = node_insert(g, NULL, op_find("aten::relu"), "r", (Arg[]){arg_value(x)}, 1, &type);
    g->output_count = 2;
    g->output = NEW_ARRAY(c, Arg, 2);
    g->output_name = NEW_ARRAY(c, const char *, 2);
    g->output[0] = arg_value(n->out[0]);
    g->output[1] = arg_value(later);
    g->output_name[0] = g->output_name[1] = "y";
    const char *text = graph_print(g);
    assert_null(strstr(text, "dead"));
    Graph *back = parse_good(c, text, NULL);
    assert_string_equal(graph_print(back), text);
    assert_string_equal(back->value[0]->name, "x");
    assert_string_equal(back->value[1]->name, "later");
    c_free(c);
}

static void load_job(C *c, void *user) {
    Graph *g = import_pt2(c, user);
    const char *text = graph_print(g);
    graph_save(g, "text_test_archive.corten");
    assert_string_equal(graph_print(graph_load(c, "text_test_archive.corten")), text);
}

static void imported_archives_survive_the_round_trip(void **state) {
    (void)state;
    static const char *const names[] = {"import/everything.pt2", "import/everything_strict.pt2",
                                        "import/region.pt2", "import/functional.pt2"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        C *c = c_new();
        assert_int_equal(c_try(c, load_job, (void *)(uintptr_t)names[i]), 0);
        c_free(c);
    }
    remove("text_test_archive.corten");
}

/* ---- malformed text ----------------------------------------------------------------------- */

static void expect_error(const char *text, int line, const char *message) {
    C *c = c_new();
    Job job = {.text = text};
    int code = c_try(c, parse_job, &job);
    if (code != DIAG_INPUT || c->first_diag->loc.line != line ||
        !strstr(c->first_diag->message, message))
        fail_msg("exit %d, line %d: %s; wanted line %d: %s", code,
                 c->first_diag ? c->first_diag->loc.line : 0,
                 c->first_diag ? c->first_diag->message : "nothing", line, message);
    c_free(c);
}

#define HEAD "corten 1\ngraph net core {\n"
#define X HEAD "value %x float32[2, 3] input\n"

static void malformed_text_names_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        int line;
    } cases[] = {
        {"", "'corten'", 1},
        {"corten 2\n", "version 2", 1},
        {"corten 1\ngraph net planned {}", "a stage", 2},
        {HEAD, "the text ends", 3},
        {HEAD "}\nmore", "the end", 4},
        {HEAD "values\n}", "found 'values'", 3},
        {HEAD "value %x float33[2]\n}", "'float33' is no dtype", 3},
        {HEAD "value %x float32[-2]\n}", "out of range", 3},
        {HEAD "value %x float32[1099511627777]\n}", "out of range", 3},
        {HEAD "value %x float32[1099511627776, 1099511627776]\n}", "too large", 3},
        {HEAD "value %x float32[1, 1, 1, 1, 1, 1, 1, 1, 1]\n}", "more than 8", 3},
        {HEAD "value %x float32[2] data npz\n}", "the array 'x' is missing", 3},
        {HEAD "value %x float32[2] data {1}\n}", "',' is needed", 3},
        {HEAD "value %x float32[9999999, 9999] data {1}\n}", "data npz is needed", 3},
        {HEAD "value %x float32[2] \"no end\n}", "has no end", 3},
        {HEAD "value %x float32[2] grid uint8/8 (1 0)\n}", "int8, int16 or int32", 3},
        {HEAD "value %x float32[2] grid int8/8 (nan 0)\n}", "the scale", 3},
        {HEAD "value %x float32[2] grid int8/8 (1 0 axis 0 0:1)\n}", "end at 1, the axis at 2", 3},
        {HEAD "value %x float32[2] grid int8/8 (1 0 axis 1 0:2)\n}", "does not follow", 3},
        {HEAD "value %x float32[2, 3] order [0, 0]\n}", "each of the 2 dimensions once", 3},
        {HEAD "value %x float32[2, 3] strides [1]\n}", "a stride is needed", 3},
        {HEAD "value %x float32[2] seen(0 1 9 bins 2048 -1024 1)\n}", "'x:histogram' is missing",
         3},
        {HEAD "value %x float32[2] seen(0 1 9 bins 4 -2 1)\n}", "2048 bins", 3},
        {HEAD "value %x float32[2] seen(0 1 9 bins 2048 0 1)\n}", "half of them below zero", 3},
        {HEAD "value %x float32[2] seen(0 9 9 bins 2048 -1 0x1p-10)\n}", "the largest", 3},
        {X "value %x float32[2]\n}", "%x is defined twice", 4},
        {X "value %y#5 float32[2]\n}", "below 2", 5},
        {X "input x %z\n}", "%z is read before it is defined", 4},
        {X "output y [1]\n}", "a value, a number or none", 4},
        {X "node a %a float32[2] = aten::frobnicate(%x)\n}", "aten::frobnicate is not known", 4},
        {X "node a %a float32[2] = aten::relu()\n}", "argument 'self' of aten::relu is missing", 4},
        {X "node a %a float32[2] = aten::relu(%x, 1)\n}", "only 1 arguments", 4},
        {X "node a %a float32[2] = aten::relu(\"x\")\n}", "of another kind", 4},
        {X "node a %a float32[2] = aten::relu(none)\n}", "of another kind", 4},
        {X "node a %a float32[2] = aten::relu(%a2)\n}", "%a2 is read before", 4},
        {X "node a = aten::relu(%x)\n}", "has 1 outputs, not 0", 4},
        {X "node a %a float32[2] = aten::relu(1.5) writes 0\n}", "written, but is no value", 4},
        {X "node a %a float32[2] = aten::relu(%x) writes 1\n}", "out of range", 4},
        {X "node a %a float32[2] = aten::relu(%x) from [0]\n}", "source 0 of 0", 5},
        {X "node a %a float32[2] = aten::relu(%x) from [3, 3]\n}", "out of range", 4},
        {X "node a %a float32[2] = aten::relu(%x)\nnode a %b float32[2] = aten::relu(%x)\n}",
         "two nodes have the name a", 5},
        {HEAD "source \"a\" \"b\" into 7\n}", "source 7 of 1", 4},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_error(cases[i].text, cases[i].line, cases[i].message);
}

static const char *repeated(C *c, const char *head, const char *what, int count) {
    Text t = text_new(c);
    text_add(&t, "%s", head);
    for (int i = 0; i < count; i++)
        text_add(&t, "%s", what);
    return text_string(&t);
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    C *c = c_new();
    const char *lists = repeated(c, HEAD "input x ", "[", 100000);
    expect_error(lists, 3, "lists are nested too deeply");
    const char *bodies = repeated(
        c, HEAD, "value %x float32[2]\nnode a %a float32[2] = aten::relu(%x) body {\n", 1000);
    expect_error(bodies, 20, "bodies are nested too deeply");
    c_free(c);
}

/* Every prefix, and every byte changed: a diagnostic or a graph. */
static void no_damage_crashes(void **state) {
    (void)state;
    size_t length = strlen(quantized);
    char *text = strdup(quantized);
    for (size_t i = 0; i < 2 * length; i++) {
        C *c = c_new();
        ArrayList arrays = quantized_arrays(c);
        size_t at = i / 2;
        char kept = text[at];
        text[at] = i % 2 ? 0 : (char)(kept ^ 0x11);
        Job job = {.text = text, .constants = &arrays};
        assert_int_not_equal(c_try(c, parse_job, &job), DIAG_BUG);
        text[at] = kept;
        c_free(c);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantized_graph_prints_as_it_was_read),
        cmocka_unit_test(what_was_read_is_in_the_graph),
        cmocka_unit_test(saved_graphs_load_as_they_were),
        cmocka_unit_test(plain_text_finds_its_arrays_beside_it),
        cmocka_unit_test(dead_values_are_not_printed_and_the_rest_keep_their_order),
        cmocka_unit_test(imported_archives_survive_the_round_trip),
        cmocka_unit_test(malformed_text_names_its_line),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(no_damage_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
