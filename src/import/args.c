/* Arguments of a node by the schema of its operator's row. The archive's union (as_int, as_tensors
 * ...) must agree with the schema's type; what comes out of here can be read by node_int() and the
 * like without any further check. */
#include "import/pt2.h"

#include <math.h>
#include <string.h>

typedef struct {
    Pt2 *p;
    const Scope *scope;
    const Loc *loc;
    const char *op;
    const SchemaArg *schema;
    bool pointwise;
} Reader;

static bool mismatch(Reader *r, const char *kind) {
    static const char *const type_names[] = {
        [T_TENSOR] = "Tensor",       [T_INT] = "int",         [T_FLOAT] = "float",
        [T_BOOL] = "bool",           [T_STRING] = "str",      [T_SCALAR] = "Scalar",
        [T_DTYPE] = "ScalarType",    [T_LAYOUT] = "Layout",   [T_DEVICE] = "Device",
        [T_GENERATOR] = "Generator", [T_DIMNAME] = "Dimname", [T_MEMORY_FORMAT] = "MemoryFormat",
        [T_GRAPH] = "Graph",
    };
    const SchemaArg *a = r->schema;
    diag_error(r->p->c, DIAG_INPUT, r->loc, "argument '%s' of %s must be %s%s%s%s, found %s",
               a->name, r->op, type_names[a->type], a->item_optional ? "?" : "",
               a->list ? "[]" : "", a->optional ? "?" : "", kind);
    return false;
}

Value *scope_value(Pt2 *p, const Scope *scope, const char *name, const Loc *loc) {
    const json_t *id = json_object_get(scope->values, name);
    if (!id) {
        diag_error(p->c, DIAG_INPUT, loc, "'%s' is read, but no input or earlier node defines it",
                   name);
        return NULL;
    }
    return p->g->value[json_integer_value(id)];
}

void report_run_time_number(Pt2 *p, const Loc *loc, const char *what, const char *symbol) {
    p->made_up = true;
    if (p->dynamic_reported || p->dynamic_inputs > 0) {
        return; /* followers of what was already said */
    }
    p->dynamic_reported = true;
    diag_error(p->c, DIAG_MODEL, loc, "%s depends on data (%s): sizes and numbers must be fixed",
               what, symbol);
}

double number_read(Pt2 *p, const json_t *j) {
    if (json_is_number(j)) {
        return json_number_value(j);
    }
    const char *s = json_string_value(j);
    if (text_equal(s, "Infinity")) {
        return INFINITY;
    }
    if (text_equal(s, "-Infinity")) {
        return -INFINITY;
    }
    if (text_equal(s, "NaN")) {
        return NAN;
    }
    archive_malformed(p, "a number is needed, found %s", json_kind(j));
}

/* {"as_name": "sym_size_int"} or {"as_int": 3}: the name is that of a number known at run time. */
static bool read_symbolic(Reader *r, const json_t *u, Arg *out) {
    json_t *content;
    const char *kind = get_union(r->p, u, &content);
    if (json_is_integer(content)) {
        *out = arg_int(json_integer_value(content));
    } else if (json_is_real(content)) {
        *out = arg_float(json_real_value(content));
    } else if (json_is_boolean(content)) {
        *out = arg_bool(json_is_true(content));
    } else if (text_equal(kind, "as_name") && json_is_string(content)) {
        report_run_time_number(r->p, r->loc,
                               c_format(r->p->c, "argument '%s' of %s", r->schema->name, r->op),
                               json_string_value(content));
        return false;
    } else {
        return mismatch(r, kind);
    }
    return true;
}

static bool read_tensor(Reader *r, const json_t *tensor, Arg *out) {
    Value *v = scope_value(r->p, r->scope, get_string(r->p, tensor, "name"), r->loc);
    *out = arg_value(v);
    return v != NULL;
}

/* A number as the archive has it, before the schema's type is known to fit. */
static bool read_number(Reader *r, const char *kind, const json_t *content, Arg *out) {
    if (strncmp(kind, "as_sym_", 7) == 0 && json_is_object(content)) {
        return read_symbolic(r, content, out);
    }
    if (text_equal(kind, "as_int") && json_is_integer(content)) {
        *out = arg_int(json_integer_value(content));
    } else if (text_equal(kind, "as_float")) {
        *out = arg_float(number_read(r->p, content));
    } else if (text_equal(kind, "as_bool") && json_is_boolean(content)) {
        *out = arg_bool(json_is_true(content));
    } else {
        return mismatch(r, kind);
    }
    return true;
}

static bool read_dtype(Reader *r, const char *kind, const json_t *content, Arg *out) {
    DType stored;
    if ((!text_equal(kind, "as_scalar_type") && !text_equal(kind, "as_int")) ||
        !json_is_integer(content)) {
        return mismatch(r, kind);
    }
    const char *what = c_format(r->p->c, "argument '%s' of %s", r->schema->name, r->op);
    if (!dtype_read(r->p, json_integer_value(content), r->loc, what, &stored)) {
        return false;
    }
    *out = arg_dtype(dtype_meant(stored));
    return true;
}

static bool read_number_as(Reader *r, const char *kind, const json_t *content, Arg *out) {
    if (!read_number(r, kind, content, out)) {
        return false;
    }
    switch (r->schema->type) {
    case T_INT:
        if (out->kind == ARG_BOOL) {
            *out = arg_int(out->u.b);
        }
        return out->kind == ARG_INT || mismatch(r, kind);
    case T_FLOAT:
        if (out->kind == ARG_INT) {
            *out = arg_float((double)out->u.i);
        }
        return out->kind == ARG_FLOAT || mismatch(r, kind);
    case T_BOOL:
        if (out->kind == ARG_INT && (out->u.i == 0 || out->u.i == 1)) {
            *out = arg_bool(out->u.i == 1);
        }
        return out->kind == ARG_BOOL || mismatch(r, kind);
    default: /* T_SCALAR */
        return true;
    }
}

static bool read_optional_tensor(Reader *r, const json_t *u, Arg *out) {
    json_t *content;
    const char *kind = get_union(r->p, u, &content);
    if (text_equal(kind, "as_none")) {
        *out = arg_none();
        return true;
    }
    return text_equal(kind, "as_tensor") ? read_tensor(r, content, out) : mismatch(r, kind);
}

/* A pointwise row takes a number where its schema says Tensor; others get a constant of rank 0. */
static bool read_number_as_tensor(Reader *r, const char *kind, const json_t *content, Arg *out) {
    if (!read_number(r, kind, content, out)) {
        return false;
    }
    if (r->pointwise) {
        return true;
    }
    DType dtype = out->kind == ARG_INT ? DT_I64 : out->kind == ARG_BOOL ? DT_BOOL : DT_F32;
    Array *a = array_new(r->p->c, dtype, 0, NULL);
    if (out->kind == ARG_INT) {
        array_set_int(a, 0, out->u.i);
    } else {
        array_set(a, 0, out->kind == ARG_BOOL ? out->u.b : out->u.f);
    }
    *out = arg_value(
        value_constant(r->p->g, c_format(r->p->c, "%s_%s", r->loc->node, r->schema->name), a));
    return true;
}

/* One argument that is no list, of the schema's type. */
static bool read_single(Reader *r, const char *kind, const json_t *content, Arg *out) {
    switch (r->schema->type) {
    case T_TENSOR:
        if (text_equal(kind, "as_tensor")) {
            return read_tensor(r, content, out);
        }
        if (text_equal(kind, "as_optional_tensor")) {
            return read_optional_tensor(r, content, out);
        }
        return read_number_as_tensor(r, kind, content, out);
    case T_STRING:
        if (!text_equal(kind, "as_string") || !json_is_string(content)) {
            return mismatch(r, kind);
        }
        *out = arg_string(c_strdup(r->p->c, json_string_value(content)));
        return true;
    case T_DEVICE:
        if (!text_equal(kind, "as_device")) {
            return mismatch(r, kind);
        }
        *out = arg_string(c_strdup(r->p->c, get_string(r->p, content, "type")));
        return true;
    case T_DTYPE:
        return read_dtype(r, kind, content, out);
    case T_LAYOUT:
    case T_MEMORY_FORMAT:
        if ((!text_equal(kind, "as_layout") && !text_equal(kind, "as_memory_format")) ||
            !json_is_integer(content)) {
            return mismatch(r, kind);
        }
        *out = arg_int(json_integer_value(content));
        return true;
    case T_GENERATOR:
    case T_DIMNAME:
    case T_GRAPH:
        return mismatch(r, kind);
    default:
        return read_number_as(r, kind, content, out);
    }
}

/* An item of as_ints is a bare number, one of as_tensors {"name"}, one of as_optional_tensors and
 * as_sym_ints a union of its own. */
static bool read_item(Reader *r, const char *kind, const json_t *item, Arg *out) {
    bool tensors = r->schema->type == T_TENSOR;
    if (tensors && text_equal(kind, "as_tensors")) {
        return read_tensor(r, item, out);
    }
    if (tensors && text_equal(kind, "as_optional_tensors")) {
        return read_optional_tensor(r, item, out);
    }
    if (tensors) {
        return mismatch(r, kind);
    }
    static const char *const single[][2] = {
        {"as_ints", "as_int"},
        {"as_floats", "as_float"},
        {"as_bools", "as_bool"},
        {"as_sym_ints", "as_sym_int"},
        {"as_sym_floats", "as_sym_float"},
        {"as_strings", "as_string"},
        {"as_sym_bools", "as_sym_bool"},
    };
    for (size_t i = 0; i < COUNT_OF(single); i++) {
        if (text_equal(kind, single[i][0])) {
            return read_single(r, single[i][1], item, out);
        }
    }
    return mismatch(r, kind);
}

static bool read_list(Reader *r, const char *kind, const json_t *content, Arg *out) {
    Pt2 *p = r->p;
    *out = (Arg){.kind = ARG_LIST};
    if (!json_is_array(content)) { /* "int[2] stride" may be given as one int */
        if (r->schema->type == T_TENSOR) {
            return mismatch(r, kind);
        }
        out->u.list.count = 1;
        out->u.list.item = NEW_ARRAY(p->c, Arg, 1);
        return read_single(r, kind, content, &out->u.list.item[0]);
    }
    size_t count = json_array_size(content);
    if (count > INT32_MAX) {
        return mismatch(r, "a list that is too long");
    }
    out->u.list.count = (int)count;
    out->u.list.item = NEW_ARRAY(p->c, Arg, count);
    for (size_t i = 0; i < count; i++) {
        if (!read_item(r, kind, json_array_get(content, i), &out->u.list.item[i])) {
            return false;
        }
    }
    return true;
}

static bool read_arg(Reader *r, const json_t *u, Arg *out) {
    json_t *content;
    const char *kind = get_union(r->p, u, &content);
    if (text_equal(kind, "as_none")) {
        *out = arg_none();
        return r->schema->optional || mismatch(r, "None");
    }
    return r->schema->list ? read_list(r, kind, content, out) : read_single(r, kind, content, out);
}

static int schema_index(const Schema *s, const char *name) {
    for (int i = 0; i < s->arg_count; i++) {
        if (text_equal(s->arg[i].name, name)) {
            return i;
        }
    }
    return -1;
}

/* ---- the arguments before a row is known ---------------------------------------------------- */

static const struct {
    const char *name; /* of the union's member */
    ArgKind kind, item;
} given_kinds[] = {
    {"as_none", ARG_NONE, ARG_NONE},       {"as_tensor", ARG_VALUE, ARG_NONE},
    {"as_tensors", ARG_LIST, ARG_VALUE},   {"as_optional_tensors", ARG_LIST, ARG_VALUE},
    {"as_int", ARG_INT, ARG_NONE},         {"as_ints", ARG_LIST, ARG_INT},
    {"as_sym_int", ARG_INT, ARG_NONE},     {"as_sym_ints", ARG_LIST, ARG_INT},
    {"as_float", ARG_FLOAT, ARG_NONE},     {"as_floats", ARG_LIST, ARG_FLOAT},
    {"as_sym_float", ARG_FLOAT, ARG_NONE}, {"as_sym_floats", ARG_LIST, ARG_FLOAT},
    {"as_bool", ARG_BOOL, ARG_NONE},       {"as_bools", ARG_LIST, ARG_BOOL},
    {"as_sym_bool", ARG_BOOL, ARG_NONE},   {"as_sym_bools", ARG_LIST, ARG_BOOL},
    {"as_string", ARG_STRING, ARG_NONE},   {"as_strings", ARG_LIST, ARG_STRING},
    {"as_device", ARG_STRING, ARG_NONE},   {"as_scalar_type", ARG_DTYPE, ARG_NONE},
    {"as_layout", ARG_INT, ARG_NONE},      {"as_memory_format", ARG_INT, ARG_NONE},
};

enum { GIVEN_BY_KEYWORD = 2 }; /* the archive's ArgumentKind */

OpGiven *args_given(Pt2 *p, const json_t *inputs) {
    OpGiven *given = NEW_ARRAY(p->c, OpGiven, json_array_size(inputs) + 1);
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        json_t *content;
        const char *kind = get_union(p, get_object(p, input, "arg"), &content);
        given[i] = (OpGiven){.name = get_string(p, input, "name"), .kind = ARG_GRAPH};
        given[i].keyword = json_integer_value(json_object_get(input, "kind")) == GIVEN_BY_KEYWORD;
        if (text_equal(kind, "as_optional_tensor"))
            kind = get_union(p, content, &content);
        for (size_t k = 0; k < COUNT_OF(given_kinds); k++)
            if (text_equal(kind, given_kinds[k].name)) {
                given[i].kind = given_kinds[k].kind;
                given[i].item = given_kinds[k].item;
            }
        if (given[i].kind == ARG_LIST && json_array_size(content) == 0)
            given[i].item = ARG_NONE;
    }
    return given;
}

/* ---- all arguments -------------------------------------------------------------------------- */

/* A target of an out= overload, or a list of them, which the row's schema does not have. */
static bool read_out_arg(Reader *r, const char *name, const json_t *u, CallArgs *out) {
    json_t *content;
    bool list = text_equal(get_union(r->p, u, &content), "as_tensors");
    SchemaArg schema = {.name = name, .type = T_TENSOR, .list = list};
    Arg arg;
    r->schema = &schema;
    if (!read_arg(r, u, &arg))
        return false;
    int count = list ? arg.u.list.count : 1;
    const Arg *item = list ? arg.u.list.item : &arg;
    out->out = (Value **)c_grow(r->p->c, (void *)out->out, out->out_count, &out->out_capacity,
                                out->out_count + count, sizeof(Value *));
    for (int i = 0; i < count; i++) {
        if (item[i].kind != ARG_VALUE)
            return mismatch(r, "no tensor");
        out->out[out->out_count++] = item[i].u.value;
    }
    return true;
}

static bool fill_defaults(Reader *r, const Schema *s, const bool *given, Arg *arg) {
    bool good = true;
    for (int i = 0; i < s->arg_count; i++) {
        if (!given[i] && s->arg[i].has_default) {
            arg[i] = s->arg[i].default_value;
        } else if (!given[i]) {
            diag_error(r->p->c, DIAG_INPUT, r->loc, "argument '%s' of %s is missing",
                       s->arg[i].name, r->op);
            good = false;
        }
    }
    return good;
}

bool args_read(Pt2 *p, const Scope *scope, const json_t *inputs, const OpMatch *match,
               const Loc *loc, const char *op, CallArgs *out) {
    const Schema *s = match->schema;
    Reader r = {
        .p = p, .scope = scope, .loc = loc, .op = op, .pointwise = op_is_pointwise(match->op)};
    bool *given = NEW_ARRAY(p->c, bool, s->arg_count);
    bool good = true;
    *out = (CallArgs){.arg = NEW_ARRAY(p->c, Arg, s->arg_count)};
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *name = get_string(p, input, "name");
        const json_t *u = get_object(p, input, "arg");
        int k = schema_index(s, name);
        if (k < 0 && match->inplace && i == 0)
            k = schema_written_in_place(s); /* dropout(input), but dropout_(self) */
        if (k < 0 && match->out) {
            good &= read_out_arg(&r, name, u, out);
        } else if (k < 0) {
            diag_error(p->c, DIAG_INPUT, loc, "%s has no argument '%s'", op, name);
            good = false;
        } else if (given[k]) {
            diag_error(p->c, DIAG_INPUT, loc, "argument '%s' of %s is given twice", name, op);
            good = false;
        } else {
            given[k] = true;
            r.schema = &s->arg[k];
            good &= read_arg(&r, u, &out->arg[k]);
        }
    }
    good &= fill_defaults(&r, s, given, out->arg);
    return good;
}
