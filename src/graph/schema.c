/* The parser of PyTorch's schema text. It accepts what `torch.ops.aten.x.y._schema` prints and what
 * native_functions.yaml writes (enum defaults by name), for the types that a Graph can hold. The
 * text is a row's, so a malformed one is a bug of ours. */
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

typedef struct {
    C *c;
    const char *text, *p;
} Parser;

_Noreturn static void parser_fail(Parser *s, const char *what) {
    fatal(s->c, DIAG_BUG, NULL, "schema \"%s\": %s needed at column %d", s->text, what,
          (int)(s->p - s->text) + 1);
}

static void skip_space(Parser *s) {
    while (*s->p == ' ' || *s->p == '\n' || *s->p == '\t')
        s->p++;
}

static bool accept(Parser *s, const char *token) {
    skip_space(s);
    size_t n = strlen(token);
    if (strncmp(s->p, token, n) != 0)
        return false;
    s->p += n;
    return true;
}

static void expect(Parser *s, const char *token) {
    if (!accept(s, token))
        parser_fail(s, token);
}

static bool is_word(char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_';
}

/* The letters, digits and '_' at the cursor, and ':' when it may be a qualified name. */
static const char *parse_word(Parser *s, bool qualified, const char *what) {
    skip_space(s);
    const char *start = s->p;
    while (is_word(*s->p) || (qualified && *s->p == ':'))
        s->p++;
    if (s->p == start)
        parser_fail(s, what);
    return c_strndup(s->c, start, (size_t)(s->p - start));
}

static const struct {
    const char *name;
    SchemaType type;
} type_names[] = {
    {"Tensor", T_TENSOR},       {"int", T_INT},
    {"SymInt", T_INT},          {"float", T_FLOAT},
    {"SymFloat", T_FLOAT},      {"bool", T_BOOL},
    {"SymBool", T_BOOL},        {"str", T_STRING},
    {"Scalar", T_SCALAR},       {"number", T_SCALAR},
    {"ScalarType", T_DTYPE},    {"Layout", T_LAYOUT},
    {"Device", T_DEVICE},       {"MemoryFormat", T_MEMORY_FORMAT},
    {"Generator", T_GENERATOR}, {"Dimname", T_DIMNAME},
    {"DimnameList", T_DIMNAME}, {"Graph", T_GRAPH},
};

static SchemaType parse_type_name(Parser *s) {
    const char *name = parse_word(s, false, "a type");
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (text_equal(type_names[i].name, name))
            return type_names[i].type;
    parser_fail(s, "a known type");
}

/* "(a)", "(a!)", "(a -> *)", "(a|b)": the first name is the set. */
static void parse_alias(Parser *s, SchemaArg *a) {
    if (*s->p != '(')
        return;
    s->p++;
    a->alias = accept(s, "*") ? "*" : parse_word(s, false, "an alias set");
    while (*s->p && *s->p != ')') {
        if (*s->p == '!')
            a->write = true;
        s->p++;
    }
    expect(s, ")");
}

static void parse_type(Parser *s, SchemaArg *a) {
    a->type = parse_type_name(s);
    parse_alias(s, a);
    for (;;) {
        if (*s->p == '?') {
            s->p++;
            a->optional = true;
        } else if (*s->p == '[') {
            s->p++;
            a->list = true;
            a->item_optional = a->optional;
            a->optional = false;
            a->list_size = *s->p == ']' ? 0 : (int)strtol(s->p, (char **)&s->p, 10);
            expect(s, "]");
        } else {
            break;
        }
    }
    parse_alias(s, a);
}

static const struct {
    const char *name;
    SchemaType type;
    int value;
} constant_names[] = {
    /* memory formats and layouts by the archive's numbers */
    {"contiguous_format", T_MEMORY_FORMAT, 1},
    {"channels_last", T_MEMORY_FORMAT, 2},
    {"preserve_format", T_MEMORY_FORMAT, 4},
    {"strided", T_LAYOUT, 7},
    {"float", T_DTYPE, DT_F32},
    {"double", T_DTYPE, DT_F64},
    {"long", T_DTYPE, DT_I64},
    {"int", T_DTYPE, DT_I32},
    {"bool", T_DTYPE, DT_BOOL},
    {"Mean", T_INT, 1},
    {"Sum", T_INT, 2},
};

static Arg parse_named_default(Parser *s, const SchemaArg *a) {
    const char *word = parse_word(s, false, "a default");
    if (text_equal(word, "None"))
        return arg_none();
    if (text_equal(word, "True") || text_equal(word, "False"))
        return arg_bool(text_equal(word, "True"));
    if (text_equal(word, "inf"))
        return arg_float(strtod("inf", NULL));
    for (size_t i = 0; i < COUNT_OF(constant_names); i++)
        if (constant_names[i].type == a->type && text_equal(constant_names[i].name, word))
            return a->type == T_DTYPE ? arg_dtype((DType)constant_names[i].value)
                                      : arg_int(constant_names[i].value);
    if (a->type == T_DEVICE || a->type == T_STRING)
        return arg_string(word);
    parser_fail(s, "a known default");
}

static Arg parse_number(Parser *s, const SchemaArg *a) {
    char *end, *int_end;
    double f = strtod(s->p, &end);
    if (end == s->p)
        parser_fail(s, "a number");
    int64_t i = strtoll(s->p, &int_end, 10);
    bool is_int = int_end == end;
    s->p = end;
    if (a->type == T_FLOAT || !is_int)
        return arg_float(f);
    if (a->type == T_MEMORY_FORMAT) { /* printed by c10's numbers: contiguous, preserve, ... */
        static const int archived[] = {1, 4, 2, 3};
        if (i < 0 || i >= (int64_t)COUNT_OF(archived))
            parser_fail(s, "a memory format before this");
        return arg_int(archived[i]);
    }
    if (a->type == T_DTYPE) /* c10's numbers are one less than the archive's */
        return arg_dtype((DType)(i + 1));
    return arg_int(i);
}

static Arg parse_quoted(Parser *s) {
    char quote = *s->p++;
    Text t = text_new(s->c);
    while (*s->p && *s->p != quote) {
        if (*s->p == '\\' && s->p[1]) {
            s->p++;
            char ch = *s->p == 'n' ? '\n' : *s->p == 't' ? '\t' : *s->p;
            text_add_bytes(&t, &ch, 1);
        } else {
            text_add_bytes(&t, s->p, 1);
        }
        s->p++;
    }
    if (*s->p != quote)
        parser_fail(s, "a closing quote");
    s->p++;
    return arg_string(text_string(&t));
}

static Arg parse_item(Parser *s, const SchemaArg *a) {
    skip_space(s);
    if (*s->p == '"' || *s->p == '\'')
        return parse_quoted(s);
    if ((*s->p >= '0' && *s->p <= '9') || *s->p == '-' || *s->p == '.')
        return parse_number(s, a);
    return parse_named_default(s, a);
}

/* A list's default is always an ARG_LIST: the 1 of "int[2] stride=1" becomes [1]. */
static Arg parse_default(Parser *s, const SchemaArg *a) {
    Arg list = {.kind = ARG_LIST};
    int capacity = 0;
    if (!accept(s, "[")) {
        Arg item = parse_item(s, a);
        if (!a->list || item.kind == ARG_NONE)
            return item;
        list.u.list.item = c_memdup(s->c, &item, sizeof item);
        list.u.list.count = 1;
        return list;
    }
    while (!accept(s, "]")) {
        int count = list.u.list.count;
        list.u.list.item = c_grow(s->c, list.u.list.item, count, &capacity, count + 1, sizeof(Arg));
        list.u.list.item[count] = parse_item(s, a);
        list.u.list.count++;
        if (!accept(s, ",") && *s->p != ']')
            parser_fail(s, "',' or ']'");
    }
    return list;
}

static void parse_args(Parser *s, Schema *schema) {
    int capacity = 0;
    bool kwarg_only = false;
    expect(s, "(");
    while (!accept(s, ")")) {
        if (accept(s, "*")) {
            kwarg_only = true;
        } else {
            int k = schema->arg_count++;
            schema->arg = c_grow(s->c, schema->arg, k, &capacity, k + 1, sizeof(SchemaArg));
            SchemaArg *a = &schema->arg[k];
            *a = (SchemaArg){.kwarg_only = kwarg_only};
            skip_space(s);
            parse_type(s, a);
            a->name = parse_word(s, false, "an argument name");
            if (accept(s, "=")) {
                a->has_default = true;
                a->default_value = parse_default(s, a);
            }
        }
        if (!accept(s, ",") && *s->p != ')')
            parser_fail(s, "',' or ')'");
    }
}

static void parse_return(Parser *s, Schema *schema, int *capacity) {
    int k = schema->return_count++;
    schema->ret = c_grow(s->c, schema->ret, k, capacity, k + 1, sizeof(SchemaArg));
    SchemaArg *r = &schema->ret[k];
    *r = (SchemaArg){0};
    skip_space(s);
    parse_type(s, r);
    skip_space(s);
    r->name = is_word(*s->p) ? parse_word(s, false, "a name") : "";
}

static void parse_returns(Parser *s, Schema *schema) {
    int capacity = 0;
    if (!accept(s, "(")) {
        parse_return(s, schema, &capacity);
        return;
    }
    while (!accept(s, ")")) {
        parse_return(s, schema, &capacity);
        if (!accept(s, ",") && *s->p != ')')
            parser_fail(s, "',' or ')'");
    }
}

Schema *schema_parse(C *c, const char *text) {
    Parser s = {c, text, text};
    Schema *schema = NEW(c, Schema);
    schema->name = parse_word(&s, true, "an operator name");
    schema->overload = accept(&s, ".") ? parse_word(&s, false, "an overload") : "";
    parse_args(&s, schema);
    expect(&s, "->");
    parse_returns(&s, schema);
    skip_space(&s);
    if (*s.p)
        parser_fail(&s, "the end");
    return schema;
}
