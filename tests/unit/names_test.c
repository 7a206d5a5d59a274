/* Names that the user gives and that end up in emitted C: of the model, of memories, of arrays of
 * the program's. What C, C++ or the emitted code has for something else is refused; with all that
 * is not, the emitted files compile as C and as C++. */
#include "flow/flow.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#define MODEL "flow/image"

static CortenOptions options(const char *out) {
    static const char *data = MODEL ".npz";
    return (CortenOptions){.model = MODEL ".pt2",
                           .calibrate = &data,
                           .calibrate_count = 1,
                           .target = "cortex-m4",
                           .isa = "c",
                           .out = out};
}

static Said with_name(const char *name) {
    CortenOptions o = options(flow_path("named"));
    o.name = name;
    return flow_run(corten_compile, o);
}

static Said with_arena(const char *symbol) {
    CortenOptions o = options(flow_path("arena_%s", word_is_identifier(symbol) ? symbol : "none"));
    o.arena = symbol;
    return flow_run(corten_compile, o);
}

static Said with_memory(const char *text) {
    CortenOptions o = options(flow_path("memory"));
    o.memory_text = text;
    return flow_run(corten_compile, o);
}

/* Both halves of what is emitted, and a unit of C++ that takes the header; warnings are errors. */
static void compiles(const char *out, const char *name) {
    assert_code(flow_shell("cd %s && cc -std=c11 -fsyntax-only -Wall -Wextra -Wpedantic -Werror "
                           "-Iruntime %s.c",
                           out, name),
                0);
    assert_code(
        flow_shell("cd %s && echo '#include \"%s.h\"' | c++ -x c++ -std=c++11 -fsyntax-only "
                   "-Wall -Wextra -Wpedantic -Werror -Iruntime -I. -",
                   out, name),
        0);
}

/* ---- of C and C++ -------------------------------------------------------------------------- */

static const char *const taken[] = {
    "int",  "register", "_Bool",       "class",     "template", "co_await", "constexpr", "and",
    "asm",  "nullptr",  "__builtin_x", "uint8_t",   "size_t",   "NULL",     "INT8_MAX",  "memcpy",
    "main", "sinf",     "powl",        "CTN_ARENA", "ctn_move", "CtnFrame", "offsetof",  "assert",
};

static void arena_that_c_or_cpp_has_for_something_else_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(taken); i++) {
        Said said = with_arena(taken[i]);
        assert_code(said, 2);
        assert_says(said.messages, flow_text("--arena \"%s\" is taken in C, C++", taken[i]));
    }
}

static void memory_that_c_or_cpp_has_for_something_else_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(taken); i++) {
        Said said = with_memory(flow_text("{\"memories\": [{\"name\": \"%s\"}, {\"name\": \"x\", "
                                          "\"symbol\": \"%s\"}]}",
                                          taken[i], taken[i]));
        assert_code(said, 3);
        assert_says(said.messages, flow_text("memory %s: the name is taken in C", taken[i]));
        assert_says(said.messages, flow_text("memory x: \"symbol\" %s is taken in C", taken[i]));
    }
}

static void model_whose_name_c_has_for_something_else_is_refused(void **state) {
    (void)state;
    const char *const names[] = {"int",     "class", "int8", "size", "stdio",
                                 "ctn_npu", "2d",    "a-b",  ""};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        Said said = with_name(names[i]);
        assert_code(said, 2);
        assert_says(said.messages, flow_text("--name \"%s\"", names[i]));
    }
}

static void model_is_called_what_was_asked_for(void **state) {
    (void)state;
    const char *out = flow_path("named");
    assert_code(with_name("wake_word"), 0);
    compiles(out, "wake_word");
    assert_says(file_text(flow_text("%s/wake_word.h", out)),
                "void wake_word_run(wake_word_t *self);");
    Said said =
        flow_run(corten_verify, (CortenOptions){.model = out, .input = MODEL ".npz", .limit = 2});
    assert_code(said, 0);
}

/* A file's name is not the user's choice of a name in C: it is made one. */
static void archive_of_any_name_becomes_a_model_that_compiles(void **state) {
    (void)state;
    const char *const stems[] = {"int", "int8", "size", "math", "co_await",
                                 "2d",  "a-b",  "_X",   "ctn"};
    for (size_t i = 0; i < COUNT_OF(stems); i++) {
        const char *path = flow_path("%s.pt2", stems[i]), *out = flow_path("stem%zu", i);
        assert_code(flow_shell("cp " MODEL ".pt2 %s", path), 0);
        CortenOptions o = options(out);
        o.model = path;
        assert_code(flow_run(corten_compile, o), 0);
        compiles(out, json_string_value(json_object_get(flow_report(out), "name")));
    }
}

static void model_that_would_take_a_kernels_file_in_an_export_is_refused(void **state) {
    (void)state;
    const char *exports = "arduino";
    CortenOptions o = options(flow_path("exp"));
    o.name = "fix";
    o.exports = &exports;
    o.exports_count = 1;
    Said said = flow_run(corten_compile, o);
    assert_code(said, 2);
    assert_says(said.messages, "--export arduino has the model beside the kernels, and");
    assert_says(said.messages, "fix.h is one of theirs too");
}

/* ---- of the emitted code ------------------------------------------------------------------- */

/* Every word that the emitted files are made of, without what stands before it in the model's
 * names, in small letters: what a memory or array could be called by accident. */
static int words_of(const char *text, const char **word, int count, int room) {
    for (const char *p = text; *p;) {
        if (!isalpha((unsigned char)*p) && *p != '_') {
            p++;
            continue;
        }
        size_t length =
            strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        const char *own = length > 6 && strncasecmp(p, "image_", 6) == 0 ? p + 6 : p;
        char *w = c_strndup(flow_c(), own, length - (size_t)(own - p));
        for (char *q = w; own > p && *q; q++)
            *q = (char)tolower((unsigned char)*q);
        int i = 0;
        while (i < count && strcmp(word[i], w) != 0)
            i++;
        if (i == count && count < room && !isdigit((unsigned char)*w))
            word[count++] = w;
        p += length;
    }
    return count;
}

/* Before any data is read: 1 is "no calibration data". */
static bool is_refused(const char *memory_text) {
    CortenOptions o = options(flow_path("refused"));
    o.calibrate_count = 0;
    o.memory_text = memory_text;
    Said said = flow_run(corten_compile, o);
    assert_true(said.code == 1 || said.code == 3);
    return said.code == 3;
}

static const char *without_comments(const char *path) {
    Said said = flow_shell("cc -fpreprocessed -dD -E -P %s", path);
    assert_code(said, 0);
    return said.results;
}

static void names_that_are_not_refused_compile(void **state) {
    (void)state;
    enum { ROOM = 2000, GROUP = 4 };
    const char *out = flow_path("memory"), *word[ROOM];
    assert_code(with_memory("{\"memories\": [{\"name\": \"fast\", \"bytes\": 1024}, {\"name\": "
                            "\"slow\", \"constants\": \".c\"}]}"),
                0);
    int count = words_of(without_comments(flow_text("%s/image.h", out)), word, 0, ROOM);
    const char *source = without_comments(flow_text("%s/image.c", out));
    count = words_of(strstr(source, "_reset("), word, count, ROOM);
    assert_in_range(count, 80, ROOM - 1);
    Text group = text_new(flow_c());
    int in_group = 0, accepted = 0, refused = 0;
    for (int i = 0; i < count; i++) {
        const char *one =
            flow_text("{\"name\": \"%s\", \"symbol\": \"%s\", \"bytes\": 640}", word[i], word[i]);
        bool no = is_refused(flow_text("{\"memories\": [%s]}", one));
        refused += no;
        accepted += !no;
        if (!no)
            text_add(&group, "%s%s", in_group++ ? ", " : "", one);
        if (in_group == 0 || (in_group < GROUP && i + 1 < count))
            continue;
        assert_code(with_memory(flow_text("{\"memories\": [%s, {\"name\": \"zz\", \"constants\": "
                                          "\".c\"}]}",
                                          text_string(&group))),
                    0);
        compiles(out, "image");
        group = text_new(flow_c());
        in_group = 0;
    }
    print_message("%d of %d names are taken\n", refused, count);
    assert_true(accepted > 20 && refused > 20);
}

/* ---- of each other ------------------------------------------------------------------------- */

static void names_that_would_meet_in_the_emitted_code_are_refused(void **state) {
    (void)state;
    static const char *const faults[][2] = {
        {"{\"name\": \"a_b\"}, {\"name\": \"aB\"}",
         "memory aB: another's name differs in nothing but"},
        {"{\"name\": \"a\"}, {\"name\": \"a\"}", "memory a: the name is taken"},
        {"{\"name\": \"a\", \"symbol\": \"s\"}, {\"name\": \"b\", \"symbol\": \"s\"}",
         "memory b: \"symbol\" s is memory a already"},
        {"{\"name\": \"a\", \"symbol\": \"Image_b\"}", "names that begin with image_ are"},
        {"{\"name\": \"a\", \"load\": \"flsh\"}, {\"name\": \"flash\"}",
         "memory a: \"load\": no memory is called flsh; did you mean flash?"},
        {"{\"name\": \"a\", \"load\": \"a\"}", "memory a: \"load\" must be another memory"},
    };
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        Said said = with_memory(flow_text("{\"memories\": [%s]}", faults[i][0]));
        assert_code(said, 3);
        assert_says(said.messages, faults[i][1]);
    }
    Said said = with_arena("IMAGE_ARENA");
    assert_code(said, 2);
    assert_says(said.messages, "names that begin with image_ are the model's");
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_that_c_or_cpp_has_for_something_else_is_refused),
        cmocka_unit_test(memory_that_c_or_cpp_has_for_something_else_is_refused),
        cmocka_unit_test(model_whose_name_c_has_for_something_else_is_refused),
        cmocka_unit_test(model_is_called_what_was_asked_for),
        cmocka_unit_test(archive_of_any_name_becomes_a_model_that_compiles),
        cmocka_unit_test(model_that_would_take_a_kernels_file_in_an_export_is_refused),
        cmocka_unit_test(names_that_are_not_refused_compile),
        cmocka_unit_test(names_that_would_meet_in_the_emitted_code_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
