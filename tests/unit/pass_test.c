/* tests/pass/<pass>/<what it shows>.in through that pass gives .out, or the diagnostics of .err.
 * With CORTEN_UPDATE set, .out and .err are written instead, to be read before they are committed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/passes.h"

typedef struct {
    const char *pass, *path; /* the path without its suffix */
    const char *text;        /* out: the graph after the pass */
} Case;

static void pass_body(C *c, void *user) {
    Case *k = user;
    Graph *g = graph_load(c, c_format(c, "%s.in", k->path));
    Options o = {.threads = 1};
    PipelineControl control = {.from = k->pass, .stop_after = k->pass};
    pipeline_run(c, g, &o, &control);
    k->text = graph_print(g);
}

/* What diag_print would show. */
static const char *diagnostics(C *c) {
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    diag_print(c, f, false, false);
    fclose(f);
    const char *copy = c_strdup(c, text);
    free(text);
    return copy;
}

/* NULL if there is no such file. */
static const char *read_text(C *c, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fclose(f);
    size_t bytes;
    return file_read(c, path, &bytes);
}

static void compare(C *c, const char *path, const char *got) {
    if (getenv("CORTEN_UPDATE")) {
        if (got[0])
            file_write(c, path, got, strlen(got));
        return;
    }
    const char *want = read_text(c, path);
    if (!text_equal(want ? want : "", got))
        print_message("%s differs; got:\n%s\n", path, got);
    assert_string_equal(want ? want : "", got);
}

static void check_case(const char *pass, const char *name) {
    C *c = c_new();
    Case k = {.pass = pass, .path = c_format(c, "pass/%s/%s", pass, name)};
    int code = c_try(c, pass_body, &k);
    compare(c, c_format(c, "%s.err", k.path), diagnostics(c));
    compare(c, c_format(c, "%s.out", k.path), code == 0 && k.text ? k.text : "");
    c_free(c);
}

static int check_pass(C *c, const char *pass) {
    const char **files;
    int count = folder_list(c, path_join(c, "pass", pass), &files), cases = 0;
    for (int i = 0; i < count; i++)
        if (text_ends_with(files[i], ".in")) {
            check_case(pass, c_strndup(c, files[i], strlen(files[i]) - 3));
            cases++;
        }
    return cases;
}

static void every_pass_does_what_its_cases_show(void **state) {
    (void)state;
    C *c = c_new();
    const char **passes;
    int count = folder_list(c, "pass", &passes), cases = 0;
    for (int i = 0; i < count; i++)
        cases += check_pass(c, passes[i]);
    assert_true(cases > 0);
    c_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pass_does_what_its_cases_show),
    };
    return cmocka_run_group_tests_name("pass", tests, NULL, NULL);
}
