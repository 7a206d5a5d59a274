/* The operator table: the rows of all families, found by name; twins of rows are found in match.c.
 * The index is built once and read by all threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ops/ops.h"

#include "families.h"

typedef struct {
    const char *key; /* "aten::add.Tensor", "aten::relu" */
    const Op *op;
    const Schema *schema;
} Entry;

static pthread_once_t registry_once = PTHREAD_ONCE_INIT;
static struct {
    C *c; /* owns schemas and keys; lives as long as the process */
    int count;
    Entry *by_key;
    Entry *by_row; /* sorted by address of the row */
    const Op **row;
} registry;

static int compare_key(const void *a, const void *b) {
    return strcmp(((const Entry *)a)->key, ((const Entry *)b)->key);
}

static int compare_row(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const Entry *)a)->op, y = (uintptr_t)((const Entry *)b)->op;
    return (x > y) - (x < y);
}

static void registry_build(C *c, void *user) {
    (void)user;
    int count = 0, k = 0;
    for (int f = 0; family_table[f].name; f++)
        count += *family_table[f].count;
    registry.by_key = NEW_ARRAY(c, Entry, count + 1);
    registry.row = NEW_ARRAY(c, const Op *, count + 1);
    for (int f = 0; family_table[f].name; f++)
        for (int i = 0; i < *family_table[f].count; i++, k++) {
            const Op *op = *family_table[f].rows + i;
            const Schema *schema = schema_parse(c, op->schema);
            const char *key = *schema->overload
                                  ? c_format(c, "%s.%s", schema->name, schema->overload)
                                  : schema->name;
            registry.row[k] = op;
            registry.by_key[k] = (Entry){key, op, schema};
        }
    registry.by_row = c_memdup(c, registry.by_key, ((size_t)count + 1) * sizeof(Entry));
    qsort(registry.by_row, (size_t)count, sizeof(Entry), compare_row);
    qsort(registry.by_key, (size_t)count, sizeof(Entry), compare_key);
    for (int i = 1; i < count; i++)
        if (text_equal(registry.by_key[i].key, registry.by_key[i - 1].key))
            fatal(c, DIAG_BUG, NULL, "two rows for %s in the operator table",
                  registry.by_key[i].key);
    registry.count = count;
}

/* A broken row is a bug of ours that no caller could handle. */
static void registry_init(void) {
    registry.c = c_new();
    int code = c_try(registry.c, registry_build, NULL);
    if (code != 0) {
        diag_print(registry.c, stderr, false, false);
        exit(code);
    }
}

static void registry_open(void) {
    pthread_once(&registry_once, registry_init);
}

static const Entry *entry_of_key(const char *key) {
    Entry wanted = {.key = key};
    registry_open();
    return bsearch(&wanted, registry.by_key, (size_t)registry.count, sizeof wanted, compare_key);
}

static const Entry *entry_of_row(const Op *op) {
    Entry wanted = {.op = op};
    registry_open();
    return bsearch(&wanted, registry.by_row, (size_t)registry.count, sizeof wanted, compare_row);
}

int op_count(void) {
    registry_open();
    return registry.count;
}

const Op *op_at(int i) {
    registry_open();
    return registry.row[i];
}

const Schema *op_schema(const Op *op) {
    const Entry *e = entry_of_row(op);
    return e ? e->schema : NULL;
}

const char *op_key(const Op *op) {
    const Entry *e = entry_of_row(op);
    return e ? e->key : NULL;
}

const Op *op_find(const char *schema_name) {
    const Entry *e = entry_of_key(schema_name);
    return e ? e->op : NULL;
}

bool op_is_pointwise(const Op *op) {
    return op->map != NULL;
}

bool node_is(const Node *n, const char *schema_name) {
    size_t length = strlen(schema_name);
    if (strncmp(n->op->schema, schema_name, length) != 0)
        return false;
    char next = n->op->schema[length];
    return next == '(' || next == '.';
}

const char *operator_bare(C *c, const char *op) {
    const char *dot = strchr(op, '.');
    const char *name = dot && dot[1] ? dot + 1 : op;
    return c_strndup(c, name, strcspn(name, "."));
}

const char *node_operator(const Node *n) {
    return n->loc.op ? n->loc.op : strstr(op_schema(n->op)->name, "::") + 2;
}

void node_infer(C *c, Node *n) {
    if (n->op->shape)
        n->op->shape(c, n);
    else if (n->op->map)
        shape_broadcast(c, n);
    else
        fatal(c, DIAG_BUG, &n->loc, "%.*s has no shape function", (int)strcspn(n->op->schema, "("),
              n->op->schema);
}
