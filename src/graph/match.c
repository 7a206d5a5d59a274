/* Calls in archives on rows of the operator table: a row itself, or a twin of one. Twins (in-place,
 * out=, *_copy) are derived from what PyTorch keeps to: a twin has the arguments of its functional
 * operator, an in-place one is named with "_", and an out= one has a further keyword argument for
 * each result. So the arguments that a call is given decide which row it is a twin of, whatever its
 * overload is called; a call that fits no row is not guessed. */
#include <string.h>

#include "graph/graph.h"

typedef struct {
    const char *space, *name, *overload; /* "default" is the empty overload */
} Target;

/* "torch.ops.aten.add_.Tensor"; "_operator.mul" and "torch.ops.higher_order.cond" have no overload;
 * "aten::add_.Tensor" is taken too. */
static bool target_split(C *c, const char *target, Target *out) {
    const char *p = strncmp(target, "torch.ops.", 10) == 0 ? target + 10 : target;
    char *s = c_strdup(c, p);
    char *colon = strstr(s, "::");
    char *dot = colon ? colon : strchr(s, '.');
    if (!dot)
        return false;
    *dot = 0;
    char *name = dot + (colon ? 2 : 1), *overload = strchr(name, '.');
    if (overload)
        *overload++ = 0;
    *out = (Target){s, name, !overload || text_equal(overload, "default") ? "" : overload};
    return *s && *name;
}

static const Op *row_named(C *c, const Target *t) {
    return op_find(*t->overload ? c_format(c, "%s::%s.%s", t->space, t->name, t->overload)
                                : c_format(c, "%s::%s", t->space, t->name));
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

/* ---- does an argument fit? ------------------------------------------------------------------ */

enum { NO_FIT = -1, FITS, FITS_EXACTLY };

static int fit_number(SchemaType type, ArgKind kind) {
    bool exact = type == T_SCALAR || (type == T_INT && kind == ARG_INT) ||
                 (type == T_FLOAT && kind == ARG_FLOAT) || (type == T_BOOL && kind == ARG_BOOL);
    if (exact)
        return FITS_EXACTLY;
    switch (type) {
    case T_INT:
        return kind == ARG_BOOL ? FITS : NO_FIT;
    case T_FLOAT:
    case T_BOOL:
    case T_DTYPE:
    case T_LAYOUT:
    case T_MEMORY_FORMAT:
        return kind == ARG_INT ? FITS : NO_FIT;
    case T_TENSOR: /* "x + 1" as add.Tensor */
        return FITS;
    default:
        return NO_FIT;
    }
}

static int fit_single(SchemaType type, ArgKind kind) {
    switch (kind) {
    case ARG_VALUE:
        return type == T_TENSOR ? FITS_EXACTLY : NO_FIT;
    case ARG_STRING:
        return type == T_STRING || type == T_DEVICE ? FITS_EXACTLY : NO_FIT;
    case ARG_DTYPE:
        return type == T_DTYPE ? FITS_EXACTLY : NO_FIT;
    case ARG_INT:
    case ARG_FLOAT:
    case ARG_BOOL:
        return fit_number(type, kind);
    default:
        return NO_FIT;
    }
}

static int fit_argument(const SchemaArg *a, const OpGiven *g) {
    if (g->kind == ARG_NONE)
        return a->optional ? FITS_EXACTLY : NO_FIT;
    if (g->kind != ARG_LIST) {
        int fit = a->type == T_TENSOR && a->list ? NO_FIT : fit_single(a->type, g->kind);
        return !a->list ? fit : fit >= FITS && a->list_size > 0 ? FITS : NO_FIT;
    }
    if (!a->list)
        return NO_FIT;
    return g->item == ARG_NONE ? FITS_EXACTLY : fit_single(a->type, g->item);
}

/* ---- does a row fit? ------------------------------------------------------------------------ */

static int argument_named(const Schema *s, const char *name) {
    for (int i = 0; i < s->arg_count; i++)
        if (text_equal(s->arg[i].name, name))
            return i;
    return -1;
}

static bool can_be_result(const OpGiven *g, bool list) {
    if (!g->keyword)
        return false;
    return list ? g->kind == ARG_LIST && (g->item == ARG_VALUE || g->item == ARG_NONE)
                : g->kind == ARG_VALUE;
}

int schema_written_in_place(const Schema *s) {
    for (int k = 0; k < s->arg_count; k++)
        if (s->arg[k].type == T_TENSOR)
            return s->arg[k].list ? -1 : k;
    return -1;
}

/* How many arguments of the call fit `s` exactly, for the twin of kind *m; -1: it is none of s. In
 * place the first argument is what is written, by whatever name: dropout(input), but
 * dropout_(self). */
static int fit_row(const Schema *s, int count, const OpGiven *given, const OpMatch *m) {
    bool has[64] = {false}, list = s->return_count == 1 && s->ret[0].list;
    int exact = 0, results = 0;
    if (s->arg_count > (int)COUNT_OF(has))
        return -1;
    int written = m->inplace ? schema_written_in_place(s) : -1;
    if (m->inplace && written < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        int k = m->inplace && i == 0 ? written : argument_named(s, given[i].name);
        if (k < 0 && m->out && can_be_result(&given[i], list)) {
            results++;
            continue;
        }
        int fit = k < 0 || has[k] ? NO_FIT : fit_argument(&s->arg[k], &given[i]);
        if (fit < FITS)
            return -1;
        has[k] = true;
        exact += fit;
    }
    for (int k = 0; k < s->arg_count; k++)
        if (!has[k] && !s->arg[k].has_default)
            return -1;
    return m->out && (results == 0 || results != s->return_count) ? -1 : exact;
}

/* A view: PyTorch's text says that output 0 shares argument 0's memory and writes nothing. */
static bool is_view(const Schema *s) {
    return s->arg_count > 0 && s->return_count > 0 && s->arg[0].alias && !s->arg[0].write &&
           s->ret[0].alias;
}

/* Is it a row for the operator `name`, whatever its overload? */
static bool is_called(const Op *op, const char *space, const char *name) {
    size_t space_length = strlen(space), name_length = strlen(name);
    const char *text = op->schema;
    return strncmp(text, space, space_length) == 0 && strncmp(text + space_length, "::", 2) == 0 &&
           strncmp(text + space_length + 2, name, name_length) == 0 &&
           strchr("(.", text[space_length + 2 + name_length]);
}

/* The row for `name` that fits: that of the same overload if it does, else the one that fits best,
 * of equally good ones that with the fewest arguments. */
static bool row_fitting(const Target *t, const char *name, int count, const OpGiven *given,
                        OpMatch *m) {
    int best = -1;
    for (int i = 0; i < op_count(); i++) {
        if (!is_called(op_at(i), t->space, name))
            continue;
        const Schema *s = op_schema(op_at(i));
        int fit = m->copy && !is_view(s) ? -1 : fit_row(s, count, given, m);
        if (fit >= 0 && text_equal(s->overload, t->overload))
            fit = s->arg_count * FITS_EXACTLY + 1;
        if (fit > best || (fit >= 0 && fit == best && s->arg_count < m->schema->arg_count)) {
            best = fit;
            m->op = op_at(i);
            m->schema = s;
        }
    }
    return best >= 0;
}

/* Where the plain name is the twin's, PyTorch calls its row normal_functional. */
static bool twin_fitting(C *c, const Target *t, const char *name, int count, const OpGiven *given,
                         OpMatch *m) {
    return row_fitting(t, name, count, given, m) ||
           row_fitting(t, c_format(c, "%s_functional", name), count, given, m);
}

bool op_match(C *c, const char *target, int count, const OpGiven *given, OpMatch *out) {
    Target t;
    if (!target_split(c, target, &t))
        return false;
    *out = (OpMatch){.op = row_named(c, &t)};
    if (out->op) {
        out->schema = op_schema(out->op);
        out->inplace = out->schema->arg_count > 0 && out->schema->arg[0].write;
        return true;
    }
    const char *base = name_without_inplace(c, t.name);
    if (base) {
        out->inplace = true;
        return twin_fitting(c, &t, base, count, given, out);
    }
    out->out = true;
    if (twin_fitting(c, &t, t.name, count, given, out))
        return true;
    if (!text_ends_with(t.name, "_copy"))
        return false;
    out->copy = true;
    base = c_strndup(c, t.name, strlen(t.name) - strlen("_copy"));
    if (row_fitting(&t, base, count, given, out))
        return true;
    out->out = false;
    return row_fitting(&t, base, count, given, out);
}

const char *op_namesakes(C *c, const char *target) {
    Target t;
    const char *list = NULL;
    if (!target_split(c, target, &t))
        return NULL;
    const char *base = name_without_inplace(c, t.name);
    for (int i = 0; i < op_count(); i++)
        if (is_called(op_at(i), t.space, base ? base : t.name)) {
            const Schema *s = op_schema(op_at(i));
            list = c_format(c, "%s%s%s.%s%s%s", list ? list : "", list ? ", " : "", t.space,
                            strstr(s->name, "::") + 2, *s->overload ? "." : "", s->overload);
        }
    return list;
}
