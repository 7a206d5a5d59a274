/* What the whole compiler takes for granted of memory, diagnostics, text, arrays and files. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state) {
    *state = c_new();
    return 0;
}

static int tear_down(void **state) {
    c_free(*state);
    return 0;
}

/* Everything that c would print. */
static const char *printed(C *c, bool colour, bool quiet) {
    char *text = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&text, &length);
    assert_non_null(f);
    diag_print(c, f, colour, quiet);
    assert_int_equal(fclose(f), 0);
    const char *copy = c_strndup(c, text, length);
    free(text);
    return copy;
}

/* ---- memory */

static void test_allocations_are_zeroed_and_aligned(void **state) {
    C *c = *state;
    const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 65536, 65537, 300000, 3, 1 << 20, 7};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        unsigned char *p = c_alloc(c, sizes[i]);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0xff, sizes[i]);
    }
}

static void test_grow_keeps_items(void **state) {
    C *c = *state;
    int *items = NULL, capacity = 0;
    for (int i = 0; i < 1000; i++) {
        items = c_grow(c, items, i, &capacity, i + 1, sizeof *items);
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_in_range(capacity, 1000, 2000);
}

static void allocate_too_much(C *c, void *user) {
    c_alloc(c, *(size_t *)user);
}

static void allocate_overflow(C *c, void *user) {
    (void)user;
    c_calloc(c, SIZE_MAX / 2, 4);
}

static void test_out_of_memory_unwinds_with_exit_1(void **state) {
    (void)state;
    size_t too_much = ((size_t)16 << 30) + 1;
    C *c = c_new();
    assert_int_equal(c_try(c, allocate_too_much, &too_much), DIAG_MODEL);
    assert_non_null(strstr(c->first_diag->message, "out of memory"));
    c_free(c);
    c = c_new();
    assert_int_equal(c_try(c, allocate_overflow, NULL), DIAG_MODEL);
    c_free(c);
}

static void append_mark(void *what) {
    char **end = what;
    *(*end)++ = 'x';
}

static void test_deferred_releases_run_when_the_arena_is_freed(void **state) {
    (void)state;
    char marks[4] = "", *end = marks;
    C *c = c_new();
    c_defer(c, append_mark, &end);
    c_defer(c, append_mark, &end);
    assert_string_equal(marks, "");
    c_free(c);
    assert_string_equal(marks, "xx");
}

/* ---- diagnostics */

static void test_error_prints_in_the_form_of_a_compiler(void **state) {
    C *c = *state;
    Loc loc = {.file = "model.py",
               .line = 41,
               .source_text = "        y = F.interpolate(x, mode=\"bicubic\")",
               .node = "upsample_bicubic2d",
               .module = "head.up",
               .output = "float32[1, 16, 48, 48]"};
    diag_error(c, DIAG_MODEL, &loc, "%s has no integer form", "upsample_bicubic2d");
    diag_detail(c, "first detail");
    diag_detail(c, "second %s", "detail");
    assert_string_equal(printed(c, false, false),
                        "model.py:41: error: upsample_bicubic2d has no integer form\n"
                        "    y = F.interpolate(x, mode=\"bicubic\")\n"
                        "    node upsample_bicubic2d in head.up, output float32[1, 16, 48, 48]\n"
                        "    first detail\n"
                        "    second detail\n");
    assert_int_equal(diag_exit_code(c), DIAG_MODEL);
}

/* Many nodes may stand for one of the archive. */
static void test_the_same_of_one_node_is_said_once(void **state) {
    C *c = *state;
    for (int i = 0; i < 3; i++)
        diag_error(c, DIAG_MODEL, &(Loc){.node = i < 2 ? "sdpa" : "sdpa_1"}, "no form");
    assert_string_equal(printed(c, false, false), "corten: error: no form\n    node sdpa\n"
                                                  "corten: error: no form\n    node sdpa_1\n");
    assert_int_equal(diag_error_count(c), 3);
}

static void test_place_in_an_archive_is_printed(void **state) {
    C *c = *state;
    Loc loc = {.file = "model.pt2", .member = "models/model.json", .byte = 812};
    diag_error(c, DIAG_INPUT, &loc, "a comma is needed");
    diag_error(c, DIAG_USAGE, NULL, "unknown CPU");
    assert_string_equal(printed(c, false, false), "model.pt2: error: a comma is needed\n"
                                                  "    at models/model.json, byte 812\n"
                                                  "corten: error: unknown CPU\n");
    assert_int_equal(diag_exit_code(c), DIAG_INPUT);
    assert_int_equal(diag_error_count(c), 2);
}

static void test_warnings_are_no_errors_and_quiet_hides_them(void **state) {
    C *c = *state;
    diag_warning(c, &(Loc){.node = "relu"}, "range of %d samples", 1);
    assert_string_equal(printed(c, false, true), "");
    assert_string_equal(printed(c, false, false),
                        "corten: warning: range of 1 samples\n    node relu\n");
    assert_string_equal(printed(c, true, false),
                        "\033[1mcorten:\033[0m \033[1;35mwarning:\033[0m "
                        "\033[1mrange of 1 samples\033[0m\n    node relu\n");
    assert_int_equal(diag_exit_code(c), 0);
    diag_stop_if_errors(c);
}

static void test_control_characters_do_not_reach_the_terminal(void **state) {
    C *c = *state;
    diag_error(c, DIAG_INPUT, &(Loc){.file = "a\033[2J"}, "bad name \"\r\n\"");
    assert_string_equal(printed(c, false, false), "a?[2J: error: bad name \"??\"\n");
}

static void fail_within(C *c, void *user) {
    fatal(c, DIAG_TOOL, NULL, "%s", (const char *)user);
}

static void try_nested(C *c, void *user) {
    int *inner = user;
    *inner = c_try(c, fail_within, "inner");
    diag_stop_if_errors(c);
    *inner = -1;
}

static void test_fatal_unwinds_to_the_nearest_try(void **state) {
    C *c = *state;
    int inner = 0;
    assert_int_equal(c_try(c, try_nested, &inner), DIAG_TOOL);
    assert_int_equal(inner, DIAG_TOOL);
    assert_null(c->unwind);
}

/* ---- text */

static void test_text_grows(void **state) {
    C *c = *state;
    Text t = text_new(c);
    assert_string_equal(text_string(&t), "");
    for (int i = 0; i < 100; i++)
        text_add(&t, "%d,", i);
    text_add_bytes(&t, "", 0);
    text_add_bytes(&t, "xyz", 2);
    assert_int_equal(t.length, 10 * 2 + 90 * 3 + 2);
    assert_int_equal(strlen(t.data), t.length);
    assert_true(text_ends_with(text_string(&t), "98,99,xy"));
    assert_false(text_ends_with("a", "ba"));
    assert_true(text_equal(NULL, NULL));
    assert_false(text_equal(NULL, ""));
}

static void test_globs(void **state) {
    (void)state;
    assert_true(glob_match("", ""));
    assert_true(glob_match("*", ""));
    assert_true(glob_match("head.*", "head.up.conv"));
    assert_true(glob_match("*.conv?", "a.b.conv2"));
    assert_true(glob_match("a*b*c", "aXbbYbc"));
    assert_false(glob_match("a*b*c", "aXbbYbcd"));
    assert_false(glob_match("conv?", "conv"));
    assert_false(glob_match("head.*", "heads.up"));
    assert_false(glob_match("a", ""));
}

static void test_globs_take_no_exponential_time(void **state) {
    (void)state;
    char s[2001], pattern[81];
    memset(s, 'a', 2000);
    s[2000] = '\0';
    for (int i = 0; i < 40; i++)
        memcpy(pattern + 2L * i, "*a", 2);
    pattern[79] = 'b';
    pattern[80] = '\0';
    assert_false(glob_match(pattern, s));
}

static void test_nearest_word_is_suggested_only_when_near(void **state) {
    (void)state;
    const char *const cpus[] = {"cortex-m0plus", "cortex-m4", "cortex-m55", "cortex-m85"};
    assert_string_equal(text_nearest("cortex-m5", cpus, 4), "cortex-m55");
    assert_string_equal(text_nearest("m4", cpus, 4), "cortex-m4");
    assert_string_equal(text_nearest("cortexm55", cpus, 4), "cortex-m55");
    assert_string_equal(text_nearest("cotrex-m85", cpus, 4), "cortex-m85");
    assert_null(text_nearest("avr", cpus, 4));
    assert_null(text_nearest("x", (const char *const[]){"y"}, 1));
    assert_null(text_nearest("cortex-m55", cpus, 0));
}

/* ---- arrays */

static Array *one(C *c, DType dtype, double value) {
    Array *a = array_new(c, dtype, 0, NULL);
    array_set(a, 0, value);
    return a;
}

static void test_set_rounds_to_even_and_saturates(void **state) {
    C *c = *state;
    static const struct {
        DType dtype;
        double value;
        int64_t expected;
    } cases[] = {
        {DT_I8, 2.5, 2},
        {DT_I8, 3.5, 4},
        {DT_I8, -2.5, -2},
        {DT_I8, 127.5, 127},
        {DT_I8, -1e30, -128},
        {DT_U8, -0.6, 0},
        {DT_U8, 255.5, 255},
        {DT_I16, 40000, 32767},
        {DT_I32, 1e10, INT32_MAX},
        {DT_I32, -1e10, INT32_MIN},
        {DT_I64, 1e19, INT64_MAX},
        {DT_I64, -1e19, INT64_MIN},
        {DT_I64, 0x1p63, INT64_MAX},
        {DT_BOOL, 0.25, 1},
        {DT_BOOL, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(array_get_int(one(c, cases[i].dtype, cases[i].value), 0),
                         cases[i].expected);
    assert_int_equal(array_get_int(one(c, DT_I8, NAN), 0), 0);
    assert_int_equal(array_get_int(one(c, DT_I8, INFINITY), 0), 127);
    assert_int_equal(array_get_int(one(c, DT_F64, -INFINITY), 0), INT64_MIN);
}

static void test_half_floats_round_to_even(void **state) {
    C *c = *state;
    static const struct {
        DType dtype;
        double value;
        uint16_t bits;
    } cases[] = {
        {DT_F16, 1, 0x3c00},         {DT_F16, -2, 0xc000},          {DT_F16, 65504, 0x7bff},
        {DT_F16, 65519, 0x7bff},     {DT_F16, 65520, 0x7c00},       {DT_F16, -1e300, 0xfc00},
        {DT_F16, 0x1p-14, 0x0400},   {DT_F16, 0x1p-24, 0x0001},     {DT_F16, 0x1p-25, 0x0000},
        {DT_F16, 0x1.8p-25, 0x0001}, {DT_F16, 2049, 0x6800},        {DT_F16, 2051, 0x6802},
        {DT_F16, -0.0, 0x8000},      {DT_F16, 0x1.ff8p-15, 0x03ff}, {DT_F16, 0x1.ffcp-15, 0x0400},
        {DT_BF16, 1, 0x3f80},        {DT_BF16, 257, 0x4380},        {DT_BF16, 259, 0x4382},
        {DT_BF16, 1e39, 0x7f80},     {DT_BF16, 0x1p-133, 0x0001},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(*(uint16_t *)one(c, cases[i].dtype, cases[i].value)->data, cases[i].bits);
}

static void test_every_half_float_survives(void **state) {
    C *c = *state;
    for (int k = 0; k < 2; k++) {
        Array *a = array_new(c, k == 0 ? DT_F16 : DT_BF16, 0, NULL);
        for (unsigned bits = 0; bits < 65536; bits++) {
            *(uint16_t *)a->data = (uint16_t)bits;
            double value = array_get(a, 0);
            if (isnan(value))
                continue;
            array_set(a, 0, value);
            assert_int_equal(*(uint16_t *)a->data, bits);
        }
    }
}

static void test_convert_keeps_large_integers(void **state) {
    C *c = *state;
    Array *a = array_new(c, DT_I64, 1, (int64_t[]){2});
    array_set_int(a, 0, INT64_MAX - 1);
    array_set_int(a, 1, 300);
    assert_int_equal(array_get_int(array_convert(c, a, DT_I64), 0), INT64_MAX - 1);
    assert_int_equal(array_get_int(array_convert(c, a, DT_I32), 0), INT32_MAX);
    assert_int_equal(array_get_int(array_convert(c, a, DT_U8), 1), 255);
    assert_true(array_get(array_convert(c, a, DT_F32), 1) == 300);
}

static void test_counts_never_overflow(void **state) {
    C *c = *state;
    const int64_t huge[] = {INT64_MAX / 2, 3, 1}, empty[] = {INT64_MAX, INT64_MAX, 0};
    assert_int_equal(dims_count(0, NULL), 1);
    assert_int_equal(dims_count(2, huge), INT64_MAX);
    assert_int_equal(dims_count(3, empty), 0);
    Array a = {.dtype = DT_F32, .rank = 1, .dim = {INT64_MAX / 2}};
    assert_int_equal(array_bytes(&a), INT64_MAX);
    assert_string_equal(shape_text(c, 3, (int64_t[]){1, 16, 48}), "[1, 16, 48]");
    assert_string_equal(shape_text(c, 0, NULL), "[]");
}

static void test_dtype_names(void **state) {
    (void)state;
    const DType all[] = {DT_U8,  DT_I8,  DT_I16, DT_I32,  DT_I64,
                         DT_F16, DT_F32, DT_F64, DT_BOOL, DT_BF16};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        assert_int_equal(dtype_from_name(dtype_name(all[i])), all[i]);
    assert_int_equal(dtype_from_name("complex64"), DT_NONE);
    assert_int_equal(dtype_size(DT_BF16), 2);
    assert_true(dtype_is_float(DT_BF16));
    assert_false(dtype_is_float(DT_BOOL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_allocations_are_zeroed_and_aligned),
        TEST(test_grow_keeps_items),
        TEST(test_out_of_memory_unwinds_with_exit_1),
        TEST(test_deferred_releases_run_when_the_arena_is_freed),
        TEST(test_error_prints_in_the_form_of_a_compiler),
        TEST(test_the_same_of_one_node_is_said_once),
        TEST(test_place_in_an_archive_is_printed),
        TEST(test_warnings_are_no_errors_and_quiet_hides_them),
        TEST(test_control_characters_do_not_reach_the_terminal),
        TEST(test_fatal_unwinds_to_the_nearest_try),
        TEST(test_text_grows),
        TEST(test_globs),
        TEST(test_globs_take_no_exponential_time),
        TEST(test_nearest_word_is_suggested_only_when_near),
        TEST(test_set_rounds_to_even_and_saturates),
        TEST(test_half_floats_round_to_even),
        TEST(test_every_half_float_survives),
        TEST(test_convert_keeps_large_integers),
        TEST(test_counts_never_overflow),
        TEST(test_dtype_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
