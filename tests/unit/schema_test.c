/* The schema parser. What torch itself prints is parsed in torch_schemas_test.c. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(plain_arguments_and_keywords),
        TEST(writes_and_aliases),
        TEST(lists_and_optionals),
        TEST(defaults_of_every_type),
        TEST(malformed_text_is_a_bug_and_names_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
