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

/* The target of an out= overload, which the row's schema does not have. */
static bool read_out_arg(Reader *r, const json_t *u, Value **out_arg) {
    static const SchemaArg out_schema = {.name = "out", .type = T_TENSOR};
    Arg arg;
    r->schema = &out_schema;
    if (!read_arg(r, u, &arg)) {
        return false;
    }
    if (arg.kind != ARG_VALUE) {
        return mismatch(r, "no tensor");
    }
    *out_arg = arg.u.value;
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

Arg *args_read(Pt2 *p, const Scope *scope, const json_t *inputs, const OpMatch *match,
               const Loc *loc, const char *op, Value **out_arg) {
    const Schema *s = match->schema;
    Reader r = {
        .p = p, .scope = scope, .loc = loc, .op = op, .pointwise = op_is_pointwise(match->op)};
    Arg *arg = NEW_ARRAY(p->c, Arg, s->arg_count);
    bool *given = NEW_ARRAY(p->c, bool, s->arg_count);
    bool good = true;
    *out_arg = NULL;
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *name = get_string(p, input, "name");
        const json_t *u = get_object(p, input, "arg");
        int k = schema_index(s, name);
        if (k < 0 && match->inplace && i == 0)
            k = 0; /* dropout(input), but dropout_(self) */
        if (k < 0 && match->out && text_equal(name, "out")) {
            good &= read_out_arg(&r, u, out_arg);
        } else if (k < 0) {
            diag_error(p->c, DIAG_INPUT, loc, "%s has no argument '%s'", op, name);
            good = false;
        } else if (given[k]) {
            diag_error(p->c, DIAG_INPUT, loc, "argument '%s' of %s is given twice", name, op);
            good = false;
        } else {
            given[k] = true;
            r.schema = &s->arg[k];
            good &= read_arg(&r, u, &arg[k]);
        }
    }
    if (match->out && !*out_arg && good) {
        diag_error(p->c, DIAG_INPUT, loc, "argument 'out' of %s is missing", op);
        good = false;
    }
    good &= fill_defaults(&r, s, given, arg);
    return good ? arg : NULL;
}
