/* Archives as torch writes them become the graph that their golden text shows, with torch's own
 * numbers; spoilt ones give exactly the diagnostics beside them. Run from tests/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/import.h"

typedef struct {
    const char *path;
    Graph *graph;
} Job;

static void import_job(C *c, void *user) {
    Job *job = user;
    job->graph = import_pt2(c, job->path);
}

static Graph *import_good(C *c, const char *path) {
    Job job = {.path = path};
    int code = c_try(c, import_job, &job);
    if (code != 0)
        diag_print(c, stderr, false, false);
    assert_int_equal(code, 0);
    return job.graph;
}

static Node *find_node(const Graph *g, const char *name) {
    for (Node *n = g->first; n; n = n->next)
        if (text_equal(n->name, name))
            return n;
    fail_msg("no node %s", name);
    return NULL;
}

static Value *find_value(const Graph *g, const char *fqn) {
    for (int i = 0; i < g->value_count; i++)
        if (text_equal(g->value[i]->fqn, fqn))
            return g->value[i];
    return NULL;
}

/* ---- good archives ------------------------------------------------------------------------ */

/* Transposed, channels_last, broadcast and shared storages, bfloat16, float16, float64, bool, int8:
 * in logical order, as torch has them. Returns how many were compared. */
static int compare_weights(C *c, const Graph *g, const char *npz) {
    ArrayList list = npz_read(c, npz);
    int compared = 0;
    for (int i = 0; i < list.count; i++) {
        const Array *want = list.item[i].array;
        const Value *v = find_value(g, list.item[i].name);
        if (!v)
            continue;
        const Array *have = v->constant;
        assert_int_equal(have->dtype, want->dtype);
        assert_int_equal(array_count(have), array_count(want));
        assert_int_equal(have->rank, want->rank);
        for (int64_t k = 0; k < array_count(have); k++)
            assert_true(array_get(have, k) == array_get(want, k));
        compared++;
    }
    return compared;
}

static void weights_are_torchs(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int count;
    } archives[] = {
        {"everything", 15}, {"everything_strict", 15}, {"region", 2}, {"functional", 1}};
    for (size_t i = 0; i < COUNT_OF(archives); i++) {
        C *c = c_new();
        Graph *g = import_good(c, c_format(c, "import/%s.pt2", archives[i].name));
        const char *npz = c_format(c, "import/%s.npz", archives[i].name);
        assert_int_equal(compare_weights(c, g, npz), archives[i].count);
        c_free(c);
    }
}

static void graphs_are_the_golden_ones(void **state) {
    (void)state;
    static const char *const names[] = {"everything", "everything_strict", "region", "functional"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        C *c = c_new();
        Graph *g = import_good(c, c_format(c, "import/%s.pt2", names[i]));
        size_t bytes;
        const char *path = c_format(c, "import/%s.txt", names[i]), *text = graph_print(g);
        if (getenv("CORTEN_UPDATE"))
            file_write(c, path, text, strlen(text));
        const char *golden = file_read(c, path, &bytes);
        assert_string_equal(text, c_strndup(c, golden, bytes));
        c_free(c);
    }
}

static void unread_buffers_and_tied_repeats_have_no_value(void **state) {
    (void)state;
    C *c = c_new();
    Graph *g = import_good(c, "import/everything.pt2");
    assert_null(find_value(g, "unused"));
    assert_true(!find_value(g, "blocks.1.weight") != !find_value(g, "tied.weight"));
    c_free(c);
}

static void inplace_twins_write_their_operand(void **state) {
    (void)state;
    C *c = c_new();
    Graph *g = import_good(c, "import/everything.pt2");
    const Node *silu = find_node(g, "silu_");
    assert_true(node_is(silu, "aten::silu"));
    assert_true(silu->writes);
    assert_int_equal(silu->written_arg, 0);
    assert_false(find_node(g, "add")->writes);
    c_free(c);
}

static void strict_and_plain_exports_have_the_same_places(void **state) {
    (void)state;
    C *c = c_new();
    Graph *plain = import_good(c, "import/everything.pt2");
    Graph *strict = import_good(c, "import/everything_strict.pt2");
    assert_int_equal(plain->archive_count, strict->archive_count);
    for (int i = 0; i < plain->archive_count; i++) {
        const Loc *a = &plain->archive[i].loc, *b = &strict->archive[i].loc;
        assert_string_equal(a->file, "model.py");
        assert_string_equal(b->file, "model.py");
        assert_int_equal(a->line, b->line);
        assert_string_equal(a->source_text, b->source_text);
        assert_true(text_equal(a->module, b->module));
    }
    c_free(c);
}

static void names_of_models_are_identifiers(void **state) {
    (void)state;
    C *c = c_new();
    size_t bytes;
    const char *data = file_read(c, "import/region.pt2", &bytes);
    static const char *const names[][2] = {
        {"float", "model_float"}, {"3-net v2", "model_3_net_v2"}, {"math", "model_math"}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *path = c_format(c, "%s.pt2", names[i][0]);
        file_write(c, path, data, bytes);
        assert_string_equal(import_good(c, path)->name, names[i][1]);
        remove(path);
    }
    c_free(c);
}

/* ---- spoilt archives ---------------------------------------------------------------------- */

static const char *import_bad(const char *path, char *out, size_t capacity) {
    C *c = c_new();
    Job job = {.path = path};
    int code = c_try(c, import_job, &job);
    FILE *f = fmemopen(out, capacity, "w");
    fprintf(f, "exit %d\n", code);
    diag_print(c, f, false, false);
    fclose(f);
    c_free(c);
    return out;
}

static void spoilt_archives_give_their_messages(void **state) {
    (void)state;
    C *c = c_new();
    const char **names;
    int count = folder_list(c, "bad", &names), archives = 0;
    for (int i = 0; i < count; i++) {
        if (!text_ends_with(names[i], ".pt2"))
            continue;
        const char *path = path_join(c, "bad", names[i]);
        const char *stem = path_stem(c, path);
        size_t bytes;
        const char *golden = file_read(c, c_format(c, "bad/%s.err", stem), &bytes);
        char got[8192] = "";
        import_bad(path, got, sizeof got);
        if (strlen(got) != bytes || memcmp(got, golden, bytes) != 0)
            fail_msg("%s: wanted\n%.*s\ngot\n%s", path, (int)bytes, golden, got);
        archives++;
    }
    assert_true(archives >= 60);
    c_free(c);
}

static void a_missing_file_and_a_folder_are_input_errors(void **state) {
    (void)state;
    char got[1024];
    assert_non_null(strstr(import_bad("no/such.pt2", got, sizeof got), "exit 3\n"));
    assert_non_null(strstr(import_bad("bad", got, sizeof got), "exit 3\n"));
}

/* Every prefix of an archive, and every byte of one flipped: a diagnostic or a graph, no crash. */
static void no_damage_crashes(void **state) {
    (void)state;
    C *c = c_new();
    size_t bytes;
    char *data = file_read(c, "import/functional.pt2", &bytes);
    const char *path = "import_test_damaged.pt2";
    char got[8192];
    for (size_t cut = 0; cut < bytes; cut += 37) {
        file_write(c, path, data, cut);
        import_bad(path, got, sizeof got);
        assert_null(strstr(got, "exit 70"));
    }
    for (size_t at = 0; at < bytes; at += 11) {
        data[at] ^= 0x5a;
        file_write(c, path, data, bytes);
        data[at] ^= 0x5a;
        import_bad(path, got, sizeof got);
        assert_null(strstr(got, "exit 70"));
    }
    remove(path);
    c_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_torchs),
        cmocka_unit_test(graphs_are_the_golden_ones),
        cmocka_unit_test(unread_buffers_and_tied_repeats_have_no_value),
        cmocka_unit_test(inplace_twins_write_their_operand),
        cmocka_unit_test(strict_and_plain_exports_have_the_same_places),
        cmocka_unit_test(names_of_models_are_identifiers),
        cmocka_unit_test(spoilt_archives_give_their_messages),
        cmocka_unit_test(a_missing_file_and_a_folder_are_input_errors),
        cmocka_unit_test(no_damage_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
