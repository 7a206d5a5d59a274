/* Every row of the operator table for an operator of torch has fixtures: archives under tests/op
 * that use it, itself or by a derived twin. */
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

enum { FEWEST_FIXTURES = 2 };

typedef struct {
    const char *archive;
    int *uses; /* by row: how many fixtures */
} Walk;

static int row_index(const Op *op) {
    for (int i = 0; i < op_count(); i++)
        if (op_at(i) == op)
            return i;
    return -1;
}

static void archive_count(C *c, void *user) {
    Walk *w = user;
    Graph *g = import_pt2(c, w->archive);
    bool *seen = NEW_ARRAY(c, bool, op_count());
    for (const Node *n = g->first; n; n = n->next) {
        int row = row_index(n->op);
        if (!seen[row])
            w->uses[row]++;
        seen[row] = true;
    }
}

static int visible(const struct dirent *d) {
    return d->d_name[0] != '.';
}

/* A fixture that does not import is fixture_test's business. */
static void folder_count(const char *folder, int *uses) {
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

/* Rows that compute nothing (assertions, those that are always refused) have nothing to compare. */
static bool wants_fixtures(const Op *op) {
    return strncmp(op->schema, "aten::", 6) == 0 && (op->eval || op->map || op->decompose);
}

static void every_row_has_fixtures(void **state) {
    (void)state;
    struct dirent **entry;
    int count = scandir("op", &entry, visible, alphasort), missing = 0;
    int *uses = calloc((size_t)op_count(), sizeof *uses);
    assert_true(count > 0 && uses);
    for (int i = 0; i < count; i++) {
        folder_count(entry[i]->d_name, uses);
        free(entry[i]);
    }
    free(entry);
    for (int i = 0; i < op_count(); i++) {
        if (!wants_fixtures(op_at(i)) || uses[i] >= FEWEST_FIXTURES)
            continue;
        print_message("%d fixtures: %.*s\n", uses[i], (int)strcspn(op_at(i)->schema, "("),
                      op_at(i)->schema);
        missing++;
    }
    free(uses);
    assert_int_equal(missing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_has_fixtures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
