/* What every row of the operator table has: a shape, a float reference, a way into integers or the
 * reason why there is none, and fixtures: archives under tests/op whose outputs depend on it,
 * itself or by a derived twin. That the fixtures agree with torch is fixture_test's and
 * integer_test's business. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "import/import.h"
#include "passes/passes.h"

enum { FEWEST_FIXTURES = 2, MOST_FIXTURES = 64 };

typedef struct { /* the fixtures of a row, by a hash of the archive: copies count once */
    int count;
    uint64_t hash[MOST_FIXTURES];
} Uses;

typedef struct {
    const char *archive;
    Uses *uses; /* by row */
} Walk;

static int row_index(const Op *op) {
    for (int i = 0; i < op_count(); i++)
        if (op_at(i) == op)
            return i;
    return -1;
}

/* FNV-1a */
static uint64_t hash_of(const char *bytes, size_t count) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < count; i++)
        h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    return h;
}

static void use(Uses *u, uint64_t hash) {
    for (int i = 0; i < u->count; i++)
        if (u->hash[i] == hash)
            return;
    if (u->count < MOST_FIXTURES)
        u->hash[u->count++] = hash;
}

/* Rows that leave no node once views and writes are values. */
static bool vanishes(const Op *op) {
    return op->traits & (OP_ASSERTS | OP_EFFECT_FREE_IDENTITY | OP_MAY_RETURN_INPUT);
}

static void archive_count(C *c, void *user) {
    Walk *w = user;
    size_t bytes;
    const char *data = file_read(c, w->archive, &bytes);
    uint64_t hash = hash_of(data, bytes);
    Graph *g = import_pt2(c, w->archive);
    for (const Node *n = g->first; n; n = n->next)
        if (vanishes(n->op))
            use(&w->uses[row_index(n->op)], hash);
    Options options = {0};
    PipelineControl control = {.stop_after = "functionalize"};
    pipeline_run(c, g, &options, &control);
    graph_index(g);
    graph_sweep(g); /* what no output depends on is no use of a row */
    for (const Node *n = g->first; n; n = n->next)
        use(&w->uses[row_index(n->op)], hash);
}

static int visible(const struct dirent *d) {
    return d->d_name[0] != '.';
}

/* A fixture that does not import is fixture_test's business. */
static void folder_count(const char *folder, Uses *uses) {
    char path[512], archive[1024];
    snprintf(path, sizeof path, "op/%s", folder);
    struct dirent **entry;
    int count = scandir(path, &entry, visible, alphasort);
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(entry[i]->d_name, '.');
        if (dot && strcmp(dot, ".pt2") == 0) {
            snprintf(archive, sizeof archive, "%s/%s", path, entry[i]->d_name);
            Walk w = {archive, uses};
            C *c = c_new();
            c_try(c, archive_count, &w);
            c_free(c);
        }
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
}

static bool is_of_torch(const Op *op) {
    return strncmp(op->schema, "corten::", 8) != 0;
}

/* Rows that are always refused have nothing to compare. */
static bool wants_fixtures(const Op *op) {
    return is_of_torch(op) && (op->eval || op->map || op->decompose);
}

static int told(const Op *op, const char *what) {
    print_message("%s: %.*s\n", what, (int)strcspn(op->schema, "("), op->schema);
    return 1;
}

static void every_row_has_fixtures(void **state) {
    (void)state;
    struct dirent **entry;
    int count = scandir("op", &entry, visible, alphasort), missing = 0;
    Uses *uses = calloc((size_t)op_count(), sizeof *uses);
    assert_true(count > 0 && uses);
    for (int i = 0; i < count; i++) {
        folder_count(entry[i]->d_name, uses);
        free(entry[i]);
    }
    free(entry);
    for (int i = 0; i < op_count(); i++)
        if (wants_fixtures(op_at(i)) && uses[i].count < FEWEST_FIXTURES)
            missing += told(op_at(i), uses[i].count ? "one fixture" : "no fixture");
    free(uses);
    assert_int_equal(missing, 0);
}

/* A pointwise row's map is all of them; a quantization rule has a default for every operand. */
static void every_row_is_whole(void **state) {
    (void)state;
    int missing = 0;
    for (int i = 0; i < op_count(); i++) {
        const Op *op = op_at(i);
        bool refused = op->no_integer_form && !op->lower && !op->map && !op->decompose;
        bool integers = op->lower || op->map || op->decompose || vanishes(op);
        if (!op->shape && !op->map && !(op->traits & OP_ASSERTS))
            missing += told(op, "no shape");
        if (!op->eval && !op->map && !op->decompose && !refused && !(op->traits & OP_ASSERTS))
            missing += told(op, "no float reference");
        if (!integers && !refused)
            missing += told(op, "neither an integer form nor a reason why not");
        if (op->no_integer_form && !*op->no_integer_form)
            missing += told(op, "an empty reason");
    }
    assert_int_equal(missing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(every_row_has_fixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
