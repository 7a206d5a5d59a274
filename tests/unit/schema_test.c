/* The schema parser, and the operator table against the schemas that torch itself prints
 * (data/torch_schemas.txt, written by tools/dump_schemas.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"

static int set_up(void **state) {
    *state = c_new();
    return 0;
}

static int tear_down(void **state) {
    c_free(*state);
    return 0;
}

/* ---- single texts ------------------------------------------------------------------------- */

static void plain_arguments_and_keywords(void **state) {
    Schema *s =
        schema_parse(*state, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
                             "Tensor");
    assert_string_equal(s->name, "aten::add");
    assert_string_equal(s->overload, "Tensor");
    assert_int_equal(s->arg_count, 3);
    assert_int_equal(s->arg[1].type, T_TENSOR);
    assert_false(s->arg[1].kwarg_only);
    assert_true(s->arg[2].kwarg_only);
    assert_int_equal(s->arg[2].type, T_SCALAR);
    assert_int_equal(s->arg[2].default_value.kind, ARG_INT);
    assert_int_equal(s->arg[2].default_value.u.i, 1);
    assert_int_equal(s->return_count, 1);
    assert_null(s->ret[0].alias);
}

static void writes_and_aliases(void **state) {
    Schema *s = schema_parse(*state, "aten::relu_(Tensor(a!) self) -> Tensor(a!)");
    assert_string_equal(s->overload, "");
    assert_true(s->arg[0].write);
    assert_string_equal(s->arg[0].alias, "a");
    s = schema_parse(*state,
                     "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> "
                     "Tensor(a)[]");
    assert_string_equal(s->arg[0].alias, "a");
    assert_false(s->arg[0].write);
    assert_true(s->ret[0].list);
    assert_string_equal(s->ret[0].alias, "a");
    s = schema_parse(*state, "aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()");
    assert_true(s->arg[0].write && s->arg[0].list);
    assert_int_equal(s->return_count, 0);
}

static void lists_and_optionals(void **state) {
    Schema *s = schema_parse(
        *state, "aten::x(int[2] stride=1, int[]? dim=None, SymInt[2] padding=[3, -4], Tensor?[] "
                "indices, bool[3] mask, float[]? scales, int? n=None, SymInt[1]? size=None, "
                "Scalar? min=None) -> Tensor");
    assert_true(s->arg[0].list);
    assert_int_equal(s->arg[0].list_size, 2);
    assert_int_equal(s->arg[0].default_value.kind, ARG_LIST);
    assert_int_equal(s->arg[0].default_value.u.list.count, 1);
    assert_true(s->arg[1].list && s->arg[1].optional);
    assert_int_equal(s->arg[1].default_value.kind, ARG_NONE);
    assert_int_equal(s->arg[2].default_value.u.list.count, 2);
    assert_int_equal(s->arg[2].default_value.u.list.item[1].u.i, -4);
    assert_true(s->arg[3].list && s->arg[3].item_optional && !s->arg[3].optional);
    assert_false(s->arg[3].has_default);
    assert_int_equal(s->arg[4].type, T_BOOL);
    assert_int_equal(s->arg[4].list_size, 3);
    assert_int_equal(s->arg[5].type, T_FLOAT);
    assert_false(s->arg[6].list);
    assert_true(s->arg[6].optional && s->arg[6].has_default);
    assert_true(s->arg[7].optional && s->arg[7].list_size == 1);
}

static void defaults_of_every_type(void **state) {
    Schema *s = schema_parse(
        *state,
        "aten::x(float eps=1e-05, float slope=0.01, bool a=True, bool b=False, str "
        "mode=\"linear\", "
        "str sep='\\n', int reduction=Mean, MemoryFormat f=contiguous_format, MemoryFormat g=0, "
        "ScalarType t=long, float one=1., Scalar s=0.5, int[] none=[], Layout? layout=None, "
        "Device? "
        "device=None, bool? pin=None, Generator? generator=None) -> (Tensor values, Tensor "
        "indices)");
    const SchemaArg *a = s->arg;
    assert_true(a[0].default_value.kind == ARG_FLOAT && a[0].default_value.u.f == 1e-05);
    assert_true(a[1].default_value.u.f == 0.01);
    assert_true(a[2].default_value.kind == ARG_BOOL && a[2].default_value.u.b);
    assert_false(a[3].default_value.u.b);
    assert_string_equal(a[4].default_value.u.s, "linear");
    assert_string_equal(a[5].default_value.u.s, "\n");
    assert_int_equal(a[6].default_value.u.i, 1);
    assert_int_equal(a[7].default_value.u.i, 1);
    assert_int_equal(a[8].default_value.u.i, 1); /* torch prints contiguous as 0 */
    assert_int_equal(a[9].default_value.u.dtype, DT_I64);
    assert_true(a[10].default_value.kind == ARG_FLOAT && a[10].default_value.u.f == 1);
    assert_true(a[11].default_value.kind == ARG_FLOAT && a[11].default_value.u.f == 0.5);
    assert_true(a[12].default_value.kind == ARG_LIST && a[12].default_value.u.list.count == 0);
    assert_int_equal(a[13].type, T_LAYOUT);
    assert_int_equal(a[14].type, T_DEVICE);
    assert_int_equal(a[16].type, T_GENERATOR);
    assert_int_equal(s->return_count, 2);
    assert_string_equal(s->ret[1].name, "indices");
}

static const char *const malformed[] = {
    "aten::x",
    "aten::x(Tensor self",
    "aten::x(Tensor self) ->",
    "aten::x(Tenser self) -> Tensor",
    "aten::x(Tensor) -> Tensor",
    "aten::x(int[2 stride) -> Tensor",
    "aten::x(int n=) -> Tensor",
    "aten::x(str s=\"a) -> Tensor",
    "aten::x(Tensor self) -> Tensor Tensor extra",
    "aten::x(int[] n=[1 2]) -> Tensor",
};

static void parse_text(C *c, void *text) {
    schema_parse(c, text);
}

static void malformed_text_is_a_bug_and_names_the_text(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(malformed); i++) {
        C *c = c_new();
        assert_int_equal(c_try(c, parse_text, (void *)malformed[i]), DIAG_BUG);
        assert_non_null(strstr(c->first_diag->message, malformed[i]));
        c_free(c);
    }
}

/* ---- torch's own list --------------------------------------------------------------------- */

typedef struct {
    int count;
    char **line;
} Lines;

static Lines torch_lines(C *c) {
    size_t bytes;
    char *text = file_read(c, "data/torch_schemas.txt", &bytes), *next = NULL;
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
    Lines lines = torch_lines(c);
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
    Lines lines = torch_lines(c);
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
    for (int k = 1; k < twin->arg_count; k++)
        if (!same_argument(&twin->arg[k], &m->schema->arg[k]))
            return false;
    return m->schema->arg[0].type == T_TENSOR;
}

/* All but `out` are the row's; the row may have more (a factory's dtype), with defaults. */
static bool out_agrees(const Schema *twin, const OpMatch *m) {
    const SchemaArg *out = argument_named(twin, "out");
    if (!out || !out->write)
        return false;
    for (int k = 0; k < twin->arg_count; k++) {
        const SchemaArg *own = argument_named(m->schema, twin->arg[k].name);
        if (&twin->arg[k] != out && (!own || !same_argument(own, &twin->arg[k])))
            return false;
    }
    for (int k = 0; k < m->schema->arg_count; k++)
        if (!m->schema->arg[k].has_default && !argument_named(twin, m->schema->arg[k].name))
            return false;
    return true;
}

static bool copy_agrees(const Schema *twin, const OpMatch *m) {
    for (int k = 0; k < twin->arg_count; k++)
        if (twin->arg[k].write || !same_argument(&twin->arg[k], &m->schema->arg[k]))
            return false;
    return twin->arg_count == m->schema->arg_count && !twin->ret[0].alias;
}

static void derived_twins_are_those_of_torch(void **state) {
    C *c = *state;
    Lines lines = torch_lines(c);
    int inplace = 0, wrong = 0;
    for (int i = 0; i < lines.count; i++) {
        Schema *twin = schema_parse(c, lines.line[i]);
        OpMatch m;
        if (op_find(c_format(c, "%.*s", (int)strcspn(lines.line[i], "("), lines.line[i])) ||
            !op_match(c, target_of(c, twin), &m))
            continue;
        bool agrees = m.inplace ? inplace_agrees(twin, &m)
                      : m.out   ? out_agrees(twin, &m)
                                : m.copy && copy_agrees(twin, &m);
        inplace += m.inplace;
        if (!agrees) {
            print_error("twin:  %s\nof row %s\n", lines.line[i], m.op->schema);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(inplace > 0);
}

/* A row that is pointwise on a first tensor has an in-place twin wherever torch has one. */
static void no_inplace_twin_is_missed(void **state) {
    C *c = *state;
    Lines lines = torch_lines(c);
    for (int i = 0; i < op_count(); i++) {
        const Schema *row = op_schema(op_at(i));
        if (!op_is_pointwise(op_at(i)) || row->arg_count == 0 || row->arg[0].list ||
            row->arg[0].type != T_TENSOR)
            continue;
        const char *twin =
            c_format(c, "%s_%s%s(", row->name, *row->overload ? "." : "", row->overload);
        const char *line = torch_line_of(&lines, twin);
        OpMatch m;
        if (line && !op_match(c, target_of(c, schema_parse(c, line)), &m))
            fail_msg("%s is not found", line);
    }
}

static void assert_twin(C *c, const char *target, const char *row, bool inplace, bool out,
                        bool copy) {
    OpMatch m;
    if (!op_match(c, target, &m))
        fail_msg("%s is not found", target);
    assert_ptr_equal(m.op, op_find(row));
    assert_true(m.inplace == inplace && m.out == out && m.copy == copy);
}

static void twins_are_found_by_the_naming_of_overloads(void **state) {
    C *c = *state;
    assert_twin(c, "torch.ops.aten.relu.default", "aten::relu", false, false, false);
    assert_twin(c, "torch.ops.aten.relu_.default", "aten::relu", true, false, false);
    assert_twin(c, "torch.ops.aten.add_.Tensor", "aten::add.Tensor", true, false, false);
    assert_twin(c, "torch.ops.aten.add.out", "aten::add.Tensor", false, true, false);
    assert_twin(c, "torch.ops.aten.pow_.Scalar", "aten::pow.Tensor_Scalar", true, false, false);
    assert_twin(c, "torch.ops.aten.transpose_.default", "aten::transpose.int", true, false, false);
    assert_twin(c, "torch.ops.aten.view_copy.default", "aten::view", false, false, true);
    assert_twin(c, "torch.ops.aten.slice_copy.Tensor", "aten::slice.Tensor", false, false, true);
}

static void overloads_are_not_guessed(void **state) {
    OpMatch m;
    assert_false(op_match(*state, "torch.ops.aten.add.Nonsense", &m));
    assert_false(op_match(*state, "torch.ops.aten.add_.Nonsense", &m));
    assert_false(op_match(*state, "torch.ops.aten.no_such_operator.default", &m));
    assert_false(op_match(*state, "", &m));
    assert_false(op_match(*state, "torch.ops.", &m));
    assert_false(op_match(*state, "torch.ops.aten.", &m));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(plain_arguments_and_keywords),
        TEST(writes_and_aliases),
        TEST(lists_and_optionals),
        TEST(defaults_of_every_type),
        TEST(malformed_text_is_a_bug_and_names_the_text),
        TEST(every_schema_of_torch_parses),
        TEST(rows_say_what_torch_says),
        TEST(derived_twins_are_those_of_torch),
        TEST(no_inplace_twin_is_missed),
        TEST(twins_are_found_by_the_naming_of_overloads),
        TEST(overloads_are_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
