/* The operator table: the rows of all families, found by name. Rows are written once per operator;
 * its in-place, out= and *_copy twins are derived here from PyTorch's naming of overloads, and an
 * overload that neither the table nor that naming has is not guessed. The index is built once and
 * read by all threads. */
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
    const char **key;
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
    registry.key = NEW_ARRAY(c, const char *, count + 1);
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
    for (int i = 0; i < count; i++) {
        registry.key[i] = registry.by_key[i].key;
        if (i > 0 && text_equal(registry.key[i], registry.key[i - 1]))
            fatal(c, DIAG_BUG, NULL, "two rows for %s in the operator table", registry.key[i]);
    }
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

void node_infer(C *c, Node *n) {
    if (n->op->shape)
        n->op->shape(c, n);
    else if (n->op->map)
        shape_broadcast(c, n);
    else
        fatal(c, DIAG_BUG, &n->loc, "%.*s has no shape function", (int)strcspn(n->op->schema, "("),
              n->op->schema);
}

/* ---- targets of an archive ---------------------------------------------------------------- */

/* "torch.ops.aten.add_.Tensor" as namespace, name and overload ("default" is the empty one);
 * "_operator.mul" and "torch.ops.higher_order.cond" have none; "aten::add_.Tensor" is taken too. */
static bool target_split(C *c, const char *target, char **space, char **name, char **overload) {
    const char *p = strncmp(target, "torch.ops.", 10) == 0 ? target + 10 : target;
    char *s = c_strdup(c, p);
    char *colon = strstr(s, "::");
    char *dot = colon ? colon : strchr(s, '.');
    if (!dot)
        return false;
    *dot = 0;
    *space = s;
    *name = dot + (colon ? 2 : 1);
    *overload = strchr(*name, '.');
    if (*overload)
        *(*overload)++ = 0;
    if (!*overload || text_equal(*overload, "default"))
        *overload = "";
    return **space && **name;
}

static const Entry *entry_named(C *c, const char *space, const char *name, const char *overload) {
    return entry_of_key(*overload ? c_format(c, "%s::%s.%s", space, name, overload)
                                  : c_format(c, "%s::%s", space, name));
}

static bool takes_tensor_first(const Entry *e) {
    return e && e->schema->arg_count > 0 && e->schema->arg[0].type == T_TENSOR &&
           !e->schema->arg[0].list;
}

/* "silu_" is silu, "__iand__" is __and__. NULL: not an in-place name. */
static const char *name_without_inplace(C *c, const char *name) {
    size_t n = strlen(name);
    if (n > 5 && strncmp(name, "__i", 3) == 0 && text_ends_with(name, "__"))
        return c_format(c, "__%s", name + 3);
    if (n > 1 && name[n - 1] == '_' && name[n - 2] != '_')
        return c_strndup(c, name, n - 1);
    return NULL;
}

/* Argument 0 of an in-place operator is a tensor, so PyTorch drops it from the overload:
 * pow_.Scalar is pow.Tensor_Scalar; and leaves out what is not ambiguous then: transpose_ is
 * transpose.int, ldexp_ is ldexp.Tensor. The reverse holds for binary operators:
 * floor_divide_.Tensor is floor_divide. */
static const Entry *inplace_base(C *c, const char *space, const char *name, const char *overload) {
    bool none = !*overload;
    const char *const candidate[] = {overload, none ? "int" : c_format(c, "Tensor_%s", overload),
                                     none ? "Tensor" : overload};
    for (size_t i = 0; i < COUNT_OF(candidate); i++) {
        const Entry *e = entry_named(c, space, name, candidate[i]);
        if (takes_tensor_first(e))
            return e;
    }
    const Entry *e = text_equal(overload, "Tensor") ? entry_named(c, space, name, "") : NULL;
    return takes_tensor_first(e) && e->schema->arg_count == 2 ? e : NULL;
}

static const Entry *with_one_result(const Entry *e) {
    return e && e->schema->return_count == 1 && !e->schema->ret[0].list ? e : NULL;
}

/* "out" stands for the overload with most arguments that returns one tensor: max.other, mean.dim,
 * else the empty one or Tensor; "Scalar_out" for Scalar, "out_mode" for Tensor_mode. */
static const Entry *out_base(C *c, const char *space, const char *name, const char *overload) {
    static const char *const candidate[] = {"other", "dim", "", "Tensor"};
    const Entry *e = NULL;
    for (size_t i = 0; i < COUNT_OF(candidate) && !e && text_equal(overload, "out"); i++)
        e = with_one_result(entry_named(c, space, name, candidate[i]));
    if (text_ends_with(overload, "_out")) {
        const char *base = c_strndup(c, overload, strlen(overload) - 4);
        e = entry_named(c, space, name, c_format(c, "%s_step", base)); /* of arange */
        e = e ? e : entry_named(c, space, name, base);
    }
    if (strncmp(overload, "out_", 4) == 0)
        e = entry_named(c, space, name, c_format(c, "Tensor_%s", overload + 4));
    return with_one_result(e);
}

/* A view: PyTorch's text says that output 0 shares argument 0's memory and writes nothing. */
static bool is_view(const Schema *s) {
    return s->arg_count > 0 && s->return_count > 0 && s->arg[0].alias && !s->arg[0].write &&
           s->ret[0].alias;
}

static bool match_is(OpMatch *out, const Entry *e, bool inplace, bool writes_out, bool copy) {
    if (e)
        *out = (OpMatch){e->op, e->schema, inplace, writes_out, copy};
    return e != NULL;
}

bool op_match(C *c, const char *target, OpMatch *out) {
    char *space, *name, *overload;
    if (!target_split(c, target, &space, &name, &overload))
        return false;
    const Entry *row = entry_named(c, space, name, overload);
    if (row)
        return match_is(out, row, row->schema->arg_count > 0 && row->schema->arg[0].write, false,
                        false);
    const char *base = name_without_inplace(c, name);
    if (base)
        return match_is(out, inplace_base(c, space, base, overload), true, false, false);
    if (match_is(out, out_base(c, space, name, overload), false, true, false))
        return true;
    if (text_ends_with(name, "_copy")) {
        base = c_strndup(c, name, strlen(name) - strlen("_copy"));
        row = entry_named(c, space, base, overload);
        return row && is_view(row->schema) && match_is(out, row, false, false, true);
    }
    return false;
}

const char *op_nearest(const char *name) {
    registry_open();
    char word[128];
    const char *p = strncmp(name, "torch.ops.", 10) == 0 ? name + 10 : name;
    const char *dot = strstr(p, "::") ? NULL : strchr(p, '.');
    if (dot)
        snprintf(word, sizeof word, "%.*s::%s", (int)(dot - p), p, dot + 1);
    else
        snprintf(word, sizeof word, "%s", p);
    char *tail = strstr(word, ".default");
    if (tail)
        *tail = 0;
    return text_nearest(word, registry.key, registry.count);
}
