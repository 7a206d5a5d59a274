/* The command line as people and shells use it: help that teaches, suggestions for mistyped words,
 * completions and manual pages that hold every row of the tables, JSON wherever it is offered, and
 * the doctor. */
#include "flow/flow.h"

#include "../cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define MODEL "pains/shared_silu_inplace.pt2"
#define DATA "pains/shared_silu_inplace.npz"

static const char *compiled(void) {
    const char *out = flow_path("compiled");
    if (!file_exists(out))
        assert_code(flow_compile(MODEL, DATA, "cortex-m4", out), 0);
    return out;
}

/* ---- help ---------------------------------------------------------------------------------- */

static void every_help_explains_and_gives_examples(void **state) {
    (void)state;
    const char *whole = flow_shell("%s --help", CORTEN_EXE).results;
    for (int i = 0; i < command_count; i++) {
        const Command *command = &command_table[i];
        const char *help = flow_shell("%s %s --help", CORTEN_EXE, command->name).results;
        assert_says(whole, command->name);
        assert_says(help, command->purpose);
        assert_says(help, "\nExample");
        assert_says(help, flow_text("  corten %s", command->name));
        assert_string_equal(flow_shell("%s help %s", CORTEN_EXE, command->name).results, help);
        for (int k = 0; k < option_count; k++)
            if (option_is_of(&option_table[k], command))
                assert_says(help, flow_text("--%s", option_table[k].name));
    }
}

static void lines_of_the_help_fit_a_terminal(void **state) {
    (void)state;
    for (int i = 0; i < command_count; i++) {
        Said said =
            flow_shell("%s %s --help | sed '/^Example/,$d'", CORTEN_EXE, command_table[i].name);
        for (const char *line = said.results; *line; line += strcspn(line, "\n") + 1)
            if (strcspn(line, "\n") > 100)
                fail_msg("%s --help: a line of %zu", command_table[i].name, strcspn(line, "\n"));
    }
}

/* Runs what the help shows: no file of those names is there, but nothing may be a mistake of use.
 */
static void examples_are_understood(void **state) {
    (void)state;
    assert_int_equal(mkdir(flow_path("out"), 0777), 0);
    for (int i = 0; i < command_count; i++) {
        const char *line = command_table[i].example;
        for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
            const char *what = strstr(line, "  ");
            char *arguments = c_strndup(flow_c(), line, (size_t)(what - line));
            arguments[strcspn(arguments, ">|")] = 0;
            Said said = flow_shell("cd %s && %s %s %s", flow_path("."), CORTEN_EXE,
                                   command_table[i].name, arguments);
            if (said.code == 2)
                fail_msg("corten %s %s: %s", command_table[i].name, arguments, said.messages);
        }
    }
}

static void passes_are_listed_where_the_help_says(void **state) {
    (void)state;
    assert_says(flow_shell("%s compile --help", CORTEN_EXE).results, "--help-passes");
    Said said = flow_shell("%s compile --help-passes", CORTEN_EXE);
    assert_code(said, 0);
    assert_says(said.results, "functionalize in-place writes and views become values\n");
    assert_code(flow_shell("%s compile --help-passes --json", CORTEN_EXE), 0);
}

/* The words of the tables are those that the library takes. */
static void words_of_options_are_the_librarys(void **state) {
    (void)state;
    const char *out = compiled();
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        const Command *compile = command_find("compile");
        if (o->kind == HEADING || !o->values || o->values[0] == '@')
            continue;
        bool run = option_is_of(o, command_find("run"));
        Said said =
            option_is_of(o, compile)
                ? flow_shell("%s compile %s -c %s -t cortex-m4 -o x --%s nonsense", CORTEN_EXE,
                             MODEL, DATA, o->name)
                : flow_shell("%s %s %s -i %s %s --%s nonsense", CORTEN_EXE, run ? "run" : "verify",
                             out, DATA, run ? "-o x.npz" : "", o->name);
        Text words = text_new(flow_c());
        for (const char *p = o->values; *p; p++)
            text_add(&words, *p == '|' ? ", " : "%c", *p);
        assert_says(said.messages, flow_text("one of: %s\n", text_string(&words)));
        assert_code(said, 2);
    }
}

/* ---- suggestions --------------------------------------------------------------------------- */

static void mistyped_words_are_suggested(void **state) {
    (void)state;
    static const char *const mistyped[][3] = {
        {"compil x", "2", "did you mean compile?"},
        {"help verfy", "2", "did you mean verify?"},
        {"compile x --observr y", "2", "did you mean --observer?"},
        {"run x --observer y", "2", "--observer is an option of corten compile"},
        {"compile " MODEL " -c " DATA " -o x -t cortex-m5", "2", "did you mean \"cortex-m"},
        {"compile " MODEL " -c " DATA " -o x -t cortex-m4 --dump fus", "2", "did you mean 'fuse'?"},
        {"ops silv", "2", "did you mean silu?"},
        {"manual complie", "2", "did you mean compile?"},
        {"completion bahs", "2", "one of: bash, zsh, fish"},
        {"inspect pains/shared_silu_inplac.pt2", "3", "did you mean " MODEL "?"},
        {"compile " MODEL " -c pains/shared_silu_inplace.npy -o x -t cortex-m4", "3",
         "did you mean " DATA "?"},
        {"report pain", "3", "did you mean pains?"},
    };
    for (size_t i = 0; i < COUNT_OF(mistyped); i++) {
        Said said = flow_shell("%s %s", CORTEN_EXE, mistyped[i][0]);
        assert_says(said.messages, mistyped[i][2]);
        assert_code(said, atoi(mistyped[i][1]));
    }
}

/* Names of nodes and of arrays. */
static void mistyped_names_are_suggested(void **state) {
    (void)state;
    const char *rules = flow_path("rules");
    text_write(rules, "sil_ = int16\n");
    Said said = flow_shell("%s compile %s -c %s -t cortex-m4 -o %s --precision %s", CORTEN_EXE,
                           MODEL, DATA, flow_path("ruled"), rules);
    assert_code(said, 0);
    assert_says(said.messages, "is called sil_; did you mean silu_?");
    said = flow_shell("%s verify %s -i %s --labels ou0", CORTEN_EXE, compiled(), DATA);
    assert_code(said, 3);
    assert_says(said.messages, "no array named ou0 for the labels; did you mean out0?");
}

static void nothing_near_is_not_suggested(void **state) {
    (void)state;
    assert_silent_on(flow_shell("%s inspect zzzzzzzzzz.pt2", CORTEN_EXE).messages, "did you mean");
    assert_silent_on(flow_shell("%s inspect no/such/folder.pt2", CORTEN_EXE).messages,
                     "did you mean");
    assert_silent_on(flow_shell("%s qqqqqqqq", CORTEN_EXE).messages, "did you mean");
}

/* ---- completions and manual pages ---------------------------------------------------------- */

static const char *bash_completes(const char *words) {
    const char *script = flow_path("completion.bash");
    if (!file_exists(script))
        assert_code(flow_shell("%s completion bash >%s", CORTEN_EXE, script), 0);
    return flow_shell("PATH=$(dirname %s):$PATH bash -c '. %s; COMP_WORDS=(%s); "
                      "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; _corten; "
                      "printf \"%%s\\n\" \"${COMPREPLY[@]}\"'",
                      CORTEN_EXE, script, words)
        .results;
}

static void bash_completes_commands_options_and_words(void **state) {
    (void)state;
    assert_string_equal(bash_completes("corten comp"), "compile\ncompletion\n");
    assert_string_equal(bash_completes("corten compile --obs"), "--observer\n");
    assert_string_equal(bash_completes("corten compile --observer m"), "minmax\nmse\n");
    assert_string_equal(bash_completes("corten compile -t cortex-m5"), "cortex-m55\n");
    assert_string_equal(bash_completes("corten compile --dump func"), "functionalize\n");
    assert_string_equal(bash_completes("corten run --on f"), "float\n");
    assert_string_equal(bash_completes("corten verify --on f"), "\n");
    assert_string_equal(bash_completes("corten inspect pains/shared_silu"), MODEL "\n" DATA "\n");
}

static void other_shells_take_their_scripts(void **state) {
    (void)state;
    static const char *const check[][2] = {{"zsh", "zsh -n"}, {"fish", "fish --no-execute"}};
    for (size_t i = 0; i < COUNT_OF(check); i++) {
        const char *file = flow_path("completion.%s", check[i][0]);
        assert_code(flow_shell("%s completion %s >%s", CORTEN_EXE, check[i][0], file), 0);
        const char *text = file_text(file);
        for (int k = 0; k < option_count; k++)
            if (option_table[k].kind != HEADING)
                assert_says(text, option_table[k].name);
        if (flow_has(check[i][0]))
            assert_code(flow_shell("%s %s", check[i][1], file), 0);
    }
    if (flow_has("fish"))
        assert_says(flow_shell("fish -c 'source %s; complete -C \"corten compile --observer mi\"'",
                               flow_path("completion.fish"))
                        .results,
                    "minmax\t");
}

static void every_command_has_a_manual_page(void **state) {
    (void)state;
    const char *whole = flow_shell("%s manual", CORTEN_EXE).results;
    assert_int_equal(strncmp(whole, ".TH \"corten\" 1", 14), 0);
    for (int i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;
        Said said = flow_shell("%s manual %s", CORTEN_EXE, name);
        assert_code(said, 0);
        assert_says(whole, flow_text("corten\\-%s (1)", name));
        assert_says(said.results, ".SH EXAMPLES\n");
        for (int k = 0; k < option_count; k++)
            if (option_is_of(&option_table[k], &command_table[i]) &&
                !strchr(option_table[k].name, '-'))
                assert_says(said.results, flow_text("\\fB\\-\\-%s\\fR", option_table[k].name));
    }
    if (flow_has("groff"))
        assert_string_equal(
            flow_shell("%s manual compile | groff -man -ww -Tascii >/dev/null", CORTEN_EXE).results,
            "");
}

/* ---- scripts ------------------------------------------------------------------------------- */

/* A script that reads standard output finds JSON there, whatever went wrong. */
static void json_of_a_failure_says_what_failed(void **state) {
    (void)state;
    const char *const lines[][2] = {
        {"3", "inspect nothing.pt2 --json"},
        {"1", "inspect bad/operators_unknown.pt2 --json"},
        {"1", "compile " MODEL " -t cortex-m4 -o none --json"},
        {"2", "compile " MODEL " -c " DATA " -t cortex-m4 --json"},
        {"2", "compile " MODEL " -c " DATA " -t cortex-m4 --json --dump fuse"},
        {"2", "compile " MODEL " --jsn --json"},
        {"2", "compile --json"},
        {"2", "compil --json"},
        {"3", "report nothing --json"},
        {"3", "verify nothing -i x --json"},
        {"3", "run nothing -i x -o y.npz --json"},
        {"1", "sensitivity " MODEL " --json"},
        {"2", "ops silv --json"},
        {"0", "compile " MODEL " -c " DATA " -t cortex-m4 --json --stop-after fuse"},
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        const char *messages = flow_path("messages");
        Said said = flow_shell("%s %s 2>%s", CORTEN_EXE, lines[i][1], messages);
        assert_code(said, atoi(lines[i][0]));
        json_error_t error;
        json_t *json = json_loads(said.results, 0, &error);
        if (!json)
            fail_msg("%s: %s", lines[i][1], error.text);
        if (said.code != 0 &&
            !json_object_get(json, "nodes")) /* which inspect lists all the same */
            assert_int_equal(json_integer_value(json_object_get(json, "exit_code")), said.code);
        const json_t *first = json_array_get(json_object_get(json, "errors"), 0);
        if (first)
            assert_says(file_text(messages), json_string_value(json_object_get(first, "message")));
        json_decref(json);
    }
}

/* Every option that may be given again is taken twice without harm. */
static void options_that_repeat_can_be_given_twice(void **state) {
    (void)state;
    for (int k = 0; k < option_count; k++)
        for (int i = 0; i < command_count; i++) {
            if (option_table[k].kind != REPEATED ||
                !option_is_of(&option_table[k], &command_table[i]))
                continue;
            Said said =
                flow_shell("%s %s nothing --%s=a=1 --%s=b=2", CORTEN_EXE, command_table[i].name,
                           option_table[k].name, option_table[k].name);
            assert_in_range(said.code, 1, 3);
            assert_says(said.messages, "error: ");
        }
}

/* Where both go to one file the table stands there whole, and what is to be said of it behind. */
static void results_come_before_messages_in_one_file(void **state) {
    (void)state;
    Said said = flow_shell("%s inspect bad/operators_unknown.pt2 2>&1", CORTEN_EXE);
    const char *table = strstr(said.results, "\nnode "), *error = strstr(said.results, "error: ");
    assert_non_null(table);
    assert_non_null(error);
    assert_true(table < error);
}

static void json_is_json_wherever_it_is_offered(void **state) {
    (void)state;
    const char *out = compiled();
    const char *command[] = {
        "ops --json",
        "ops silu --json",
        "targets --json",
        "doctor --json",
        "inspect " MODEL " --json",
        flow_text("report %s --json", out),
        flow_text("verify %s -i " DATA " --json", out),
        flow_text("compile " MODEL " -c " DATA " -t cortex-m4 -o %s --json", flow_path("json")),
        "compile --help-passes --json",
        flow_text("run %s -i " DATA " -o %s --json", out, flow_path("run.npz")),
        flow_text("sensitivity " MODEL " -c " DATA " --json"),
    };
    for (size_t i = 0; i < COUNT_OF(command); i++) {
        Said said = flow_shell("%s %s 2>/dev/null", CORTEN_EXE, command[i]);
        json_error_t error;
        json_t *json = json_loads(said.results, 0, &error);
        if (!json)
            fail_msg("corten %s: line %d: %s", command[i], error.line, error.text);
        json_decref(json);
    }
}

static void lists_do_not_change_from_run_to_run(void **state) {
    (void)state;
    static const char *const lists[] = {"ops", "targets", "compile --help-passes",
                                        ("inspect " MODEL)};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const char *once = flow_shell("%s %s", CORTEN_EXE, lists[i]).results;
        assert_string_equal(once, flow_shell("%s %s | cat", CORTEN_EXE, lists[i]).results);
        assert_null(strchr(once, '\033'));
    }
}

static void doctor_names_what_is_missing_and_how_to_get_it(void **state) {
    (void)state;
    Said said = flow_shell("PATH=/nonexistent %s doctor", CORTEN_EXE);
    assert_code(said, 4);
    assert_says(said.results, "missing  qemu-system-arm");
    assert_says(said.results, "apt-get install qemu-system-arm");
    assert_says(said.results, "absent   chromium");
    assert_says(said.results, "found    runtime");
    said = flow_shell("CORTEN_SHARE=/nonexistent %s doctor", CORTEN_EXE);
    assert_code(said, 4);
    assert_says(said.results, "missing  runtime");
    if (flow_has("qemu-system-arm") && flow_has("arm-none-eabi-gcc"))
        assert_code(flow_shell("%s doctor", CORTEN_EXE), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_help_explains_and_gives_examples),
        cmocka_unit_test(lines_of_the_help_fit_a_terminal),
        cmocka_unit_test(examples_are_understood),
        cmocka_unit_test(passes_are_listed_where_the_help_says),
        cmocka_unit_test(words_of_options_are_the_librarys),
        cmocka_unit_test(mistyped_words_are_suggested),
        cmocka_unit_test(mistyped_names_are_suggested),
        cmocka_unit_test(nothing_near_is_not_suggested),
        cmocka_unit_test(bash_completes_commands_options_and_words),
        cmocka_unit_test(other_shells_take_their_scripts),
        cmocka_unit_test(every_command_has_a_manual_page),
        cmocka_unit_test(json_is_json_wherever_it_is_offered),
        cmocka_unit_test(json_of_a_failure_says_what_failed),
        cmocka_unit_test(options_that_repeat_can_be_given_twice),
        cmocka_unit_test(results_come_before_messages_in_one_file),
        cmocka_unit_test(lists_do_not_change_from_run_to_run),
        cmocka_unit_test(doctor_names_what_is_missing_and_how_to_get_it),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
