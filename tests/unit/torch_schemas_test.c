/* The operator table against torch's own lists: the schemas that it prints (data/torch_schemas.txt,
 * written by tools/dump_schemas.py; 2.13.0 and 2.14.1 print the same), and which in-place and out=
 * overload belongs to which functional one (data/torch_twins.txt, by tools/dump_twins.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"

#define SCHEMAS "data/torch_schemas.txt"
#define TWINS "data/torch_twins.txt"

static int set_up(void **state) {
    *state = c_new();
    return 0;
}

static int tear_down(void **state) {
    c_free(*state);
    return 0;
}

typedef struct {
    int count;
    char **line;
} Lines;

static Lines lines_of(C *c, const char *path) {
    size_t bytes;
    char *text = file_read(c, path, &bytes), *next = NULL;
    Lines lines = {0};
    int capacity = 0;
    for (char *p = c_strndup(c, text, bytes); *p; p = next) {
        next = p + strcspn(p, "\n");
        if (*next)
            *next++ = 0;
        lines.line = (char **)c_grow(c, (void *)lines.line, lines.count, &capacity, lines.count + 1,
                                     sizeof(char *));
        lines.line[lines.count++] = p;
    }
    return lines;
}

/* Commas outside of brackets in the text's argument list: an independent count of arguments. */
static int count_by_commas(const char *text) {
    int depth = 0, count = 0;
    const char *p = strchr(text, '(');
    if (p[1] == ')')
        return 0;
    for (bool quoted = false; *p; p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (quoted && *p == '\\')
            p++;
        if (quoted)
            continue;
        depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
        count += *p == ',' && depth == 1;
        count -= *p == '*' && depth == 1;
        if (depth == 0)
            break;
    }
    return count + 1;
}

static void every_schema_of_torch_parses(void **state) {
    C *c = *state;
    Lines lines = lines_of(c, SCHEMAS);
    assert_true(lines.count > 3000);
    for (int i = 0; i < lines.count; i++) {
        Schema *s = schema_parse(c, lines.line[i]);
        if (s->arg_count != count_by_commas(lines.line[i]))
            fail_msg("%d arguments in %s", s->arg_count, lines.line[i]);
        size_t name = strlen(s->name);
        assert_memory_equal(lines.line[i], s->name, name);
        for (int k = 0; k < s->arg_count; k++)
            assert_non_null(strstr(lines.line[i], c_format(c, " %s", s->arg[k].name) + (k == 0)));
    }
}

static const char *without_space(C *c, const char *s) {
    char *out = c_strdup(c, s), *to = out;
    for (; *s; s++)
        if (*s != ' ' && *s != '\n')
            *to++ = *s;
    *to = 0;
    return out;
}

static const char *torch_line_of(const Lines *lines, const char *schema) {
    size_t key = strcspn(schema, "(") + 1;
    for (int i = 0; i < lines->count; i++)
        if (strncmp(lines->line[i], schema, key) == 0)
            return lines->line[i];
    return NULL;
}

static bool is_torch_row(const char *schema) {
    return strncmp(schema, "aten::", 6) == 0 || strncmp(schema, "quantized_decomposed::", 22) == 0;
}

static void rows_say_what_torch_says(void **state) {
    C *c = *state;
    Lines lines = lines_of(c, SCHEMAS);
    int wrong = 0;
    for (int i = 0; i < op_count(); i++) {
        const char *row = op_at(i)->schema;
        if (!is_torch_row(row))
            continue;
        const char *torch = torch_line_of(&lines, row);
        if (!torch || !text_equal(without_space(c, row), without_space(c, torch))) {
            print_error("row:   %s\ntorch: %s\n", row, torch ? torch : "no such overload");
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* "aten::add_.Tensor" as an archive's target. */
static const char *target_of(C *c, const Schema *s) {
    return c_format(c, "torch.ops.%.*s.%s.%s", (int)(strstr(s->name, "::") - s->name), s->name,
                    strstr(s->name, "::") + 2, *s->overload ? s->overload : "default");
}

static bool same_argument(const SchemaArg *a, const SchemaArg *b) {
    return text_equal(a->name, b->name) && a->type == b->type && a->list == b->list &&
           a->optional == b->optional;
}

static const SchemaArg *argument_named(const Schema *s, const char *name) {
    for (int i = 0; i < s->arg_count; i++)
        if (text_equal(s->arg[i].name, name))
            return &s->arg[i];
    return NULL;
}

static bool inplace_agrees(const Schema *twin, const OpMatch *m) {
    if (!twin->arg[0].write || twin->arg_count != m->schema->arg_count)
        return false;
    for (int k = 1; k < twin->arg_count; k++) {
        const SchemaArg *own = argument_named(m->schema, twin->arg[k].name);
        if (!own || !same_argument(own, &twin->arg[k]))
            return false;
    }
    return m->schema->arg[schema_written_in_place(m->schema)].type == T_TENSOR;
}

/* All but what is written are the row's; the row may have more (a factory's dtype), with defaults.
 */
static bool out_agrees(const Schema *twin, const OpMatch *m) {
    int written = 0;
    for (int k = 0; k < twin->arg_count; k++) {
        const SchemaArg *own = argument_named(m->schema, twin->arg[k].name);
        written += twin->arg[k].write;
        if (!twin->arg[k].write && (!own || !same_argument(own, &twin->arg[k])))
            return false;
    }
    for (int k = 0; k < m->schema->arg_count; k++)
        if (!m->schema->arg[k].has_default && !argument_named(twin, m->schema->arg[k].name))
            return false;
    return written == m->schema->return_count;
}

/* The call of `s` with all its arguments, as an archive would give them. */
static OpGiven *call_of(C *c, const Schema *s) {
    static const ArgKind kinds[] = {
        [T_TENSOR] = ARG_VALUE,   [T_INT] = ARG_INT,       [T_FLOAT] = ARG_FLOAT,
        [T_BOOL] = ARG_BOOL,      [T_STRING] = ARG_STRING, [T_SCALAR] = ARG_FLOAT,
        [T_DTYPE] = ARG_DTYPE,    [T_LAYOUT] = ARG_INT,    [T_DEVICE] = ARG_STRING,
        [T_GENERATOR] = ARG_NONE, [T_DIMNAME] = ARG_NONE,  [T_MEMORY_FORMAT] = ARG_INT,
        [T_GRAPH] = ARG_GRAPH,
    };
    OpGiven *given = NEW_ARRAY(c, OpGiven, s->arg_count + 1);
    for (int i = 0; i < s->arg_count; i++) {
        const SchemaArg *a = &s->arg[i];
        given[i] = (OpGiven){a->name, kinds[a->type], ARG_NONE, a->kwarg_only};
        if (a->list && given[i].kind != ARG_NONE)
            given[i] = (OpGiven){a->name, ARG_LIST, kinds[a->type], a->kwarg_only};
    }
    return given;
}

static bool line_match(C *c, const char *line, OpMatch *m) {
    const Schema *s = schema_parse(c, line);
    return op_match(c, target_of(c, s), s->arg_count, call_of(c, s), m);
}

static bool copy_agrees(const Schema *twin, const OpMatch *m) {
    for (int k = 0; k < twin->arg_count; k++)
        if (twin->arg[k].write || !same_argument(&twin->arg[k], &m->schema->arg[k]))
            return false;
    return twin->arg_count == m->schema->arg_count && !twin->ret[0].alias;
}

/* "aten::add_.Tensor" and a space: the line's twin; behind it, the functional overload or "-". */
static const char *functional_of(const char *line) {
    return strchr(line, ' ') + 1;
}

/* Gives one of its row's two results and writes the noise, which only training does. */
#define OF_NO_ROW "aten::rrelu_with_noise.out"

/* Torch's own grouping says of which row each of its twins is one; twins that have no row there are
 * of none, or of one whose arguments they have, or it is said why not. */
static void every_twin_of_torch_is_of_its_row_or_has_a_reason(void **state) {
    C *c = *state;
    Lines schemas = lines_of(c, SCHEMAS), twins = lines_of(c, TWINS);
    int derived = 0, excluded = 0, wrong = 0;
    for (int i = 0; i < twins.count; i++) {
        const char *functional = functional_of(twins.line[i]);
        const char *name = c_strndup(c, twins.line[i], strcspn(twins.line[i], " "));
        const char *line = torch_line_of(&schemas, c_format(c, "%s(", name));
        if (!line) /* on types that no exported graph has */
            continue;
        OpMatch m;
        const Op *row = strcmp(name, OF_NO_ROW) != 0 ? op_find(functional) : NULL;
        const Op *own = op_find(name);
        const char *target = target_of(c, schema_parse(c, line));
        bool found = line_match(c, line, &m);
        bool fits = found && (m.op == own || !row || m.op == row);
        if (fits)
            derived++;
        else if (!found && !row && op_excluded(c, target))
            excluded++;
        else
            print_error("%s\n  is %s, found %s\n", line, functional, found ? m.op->schema : "none");
        wrong += !fits && (found || row || !op_excluded(c, target));
    }
    print_message("%d twins derived, %d excluded\n", derived, excluded);
    assert_int_equal(wrong, 0);
    assert_true(derived > 0 && excluded > 0);
}

static void derived_twins_have_the_arguments_of_their_rows(void **state) {
    C *c = *state;
    Lines lines = lines_of(c, SCHEMAS);
    int inplace = 0, out = 0, wrong = 0;
    for (int i = 0; i < lines.count; i++) {
        Schema *twin = schema_parse(c, lines.line[i]);
        OpMatch m;
        if (op_find(c_format(c, "%.*s", (int)strcspn(lines.line[i], "("), lines.line[i])) ||
            !line_match(c, lines.line[i], &m))
            continue;
        bool agrees = m.inplace ? inplace_agrees(twin, &m)
                      : m.out   ? out_agrees(twin, &m)
                                : m.copy && copy_agrees(twin, &m);
        inplace += m.inplace;
        out += m.out;
        if (!agrees) {
            print_error("twin:  %s\nof row %s\n", lines.line[i], m.op->schema);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(inplace > 0 && out > 0);
}

/* By the schema's text with all arguments. */
static void assert_twin(C *c, const char *name, const char *row, bool inplace, bool out,
                        bool copy) {
    Lines lines = lines_of(c, SCHEMAS);
    OpMatch m;
    if (!line_match(c, torch_line_of(&lines, c_format(c, "%s(", name)), &m))
        fail_msg("%s is not found", name);
    assert_ptr_equal(m.op, op_find(row));
    assert_true(m.inplace == inplace && m.out == out && m.copy == copy);
}

static void twins_are_found_by_their_arguments(void **state) {
    C *c = *state;
    assert_twin(c, "aten::relu", "aten::relu", false, false, false);
    assert_twin(c, "aten::relu_", "aten::relu", true, false, false);
    assert_twin(c, "aten::add_.Tensor", "aten::add.Tensor", true, false, false);
    assert_twin(c, "aten::add.out", "aten::add.Tensor", false, true, false);
    assert_twin(c, "aten::pow_.Scalar", "aten::pow.Tensor_Scalar", true, false, false);
    assert_twin(c, "aten::transpose_", "aten::transpose.int", true, false, false);
    assert_twin(c, "aten::sum.IntList_out", "aten::sum.dim_IntList", false, true, false);
    assert_twin(c, "aten::max.dim_max", "aten::max.dim", false, true, false);
    assert_twin(c, "aten::topk.values", "aten::topk", false, true, false);
    assert_twin(c, "aten::view_copy", "aten::view", false, false, true);
    assert_twin(c, "aten::view_copy.out", "aten::view", false, true, true);
    assert_twin(c, "aten::slice_copy.Tensor", "aten::slice.Tensor", false, false, true);
}

static void calls_are_not_guessed(void **state) {
    C *c = *state;
    const OpGiven self = {"self", ARG_VALUE, ARG_NONE, false};
    const OpGiven add[] = {self, {"other", ARG_VALUE, ARG_NONE, false}};
    const OpGiven strange[] = {self, {"weight", ARG_VALUE, ARG_NONE, false}};
    const OpGiven text[] = {self, {"other", ARG_STRING, ARG_NONE, false}};
    OpMatch m;
    assert_true(op_match(c, "torch.ops.aten.add_.Tensor", 2, add, &m));
    assert_false(op_match(c, "torch.ops.aten.add.Nonsense", 2, add, &m));
    assert_false(op_match(c, "torch.ops.aten.add_.Tensor", 2, strange, &m));
    assert_false(op_match(c, "torch.ops.aten.add_.Tensor", 2, text, &m));
    assert_false(op_match(c, "torch.ops.aten.add_.Tensor", 1, add, &m));
    assert_false(op_match(c, "torch.ops.aten.no_such_operator.default", 1, add, &m));
    assert_false(op_match(c, "", 1, add, &m));
    assert_false(op_match(c, "torch.ops.", 1, add, &m));
    assert_false(op_match(c, "torch.ops.aten.", 1, add, &m));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(every_schema_of_torch_parses),
        TEST(rows_say_what_torch_says),
        TEST(every_twin_of_torch_is_of_its_row_or_has_a_reason),
        TEST(derived_twins_have_the_arguments_of_their_rows),
        TEST(twins_are_found_by_their_arguments),
        TEST(calls_are_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
