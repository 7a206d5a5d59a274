/* Pass precision: says which nodes stay in float and finds those that have no integer form while
 * all of them can still be reported together. */
#include "passes/passes.h"
#include "quant/quant.h"

#include <string.h>

/* "float32[1, 16, 48, 48]" */
static const char *type_text(C *c, const Type *t) {
    return c_format(c, "%s%s", dtype_name(t->dtype), shape_text(c, t->rank, t->dim));
}

static const char *op_bare_name(const Node *n) {
    const char *name = op_schema(n->op)->name;
    const char *colons = strstr(name, "::");
    return colons ? colons + 2 : name;
}

/* A pointwise node may still become part of a table, so only `quantize` can judge it. */
static bool has_form(const Node *n, bool pointwise_counts) {
    return n->op->lower || n->fused || n->float_kept || (pointwise_counts && n->op->map);
}

static void report_missing(C *c, const Node *n) {
    Loc loc = n->loc;
    if (!loc.node)
        loc.node = n->name;
    if (n->out_count > 0)
        loc.output = type_text(c, &n->out[0]->type);
    diag_error(c, DIAG_MODEL, &loc, "%s has no integer form", op_bare_name(n));
    if (n->op->no_integer_form)
        diag_detail(c, "%s", n->op->no_integer_form);
}

void report_missing_forms(C *c, Graph *g, const Options *o, bool pointwise_counts) {
    (void)o;
    for (Node *n = g->first; n; n = n->next)
        if (!has_form(n, pointwise_counts))
            report_missing(c, n);
}

static void keep_float(Node *n, const char *reason) {
    n->float_kept = true;
    n->float_reason = reason;
}

static void apply_rules(C *c, Node *n, const Options *o) {
    for (int i = 0; i < o->precision_count; i++) {
        const PrecisionRule *rule = &o->precision[i];
        const char *module = n->loc.module ? n->loc.module : "";
        if (!glob_match(rule->pattern, n->name) && !glob_match(rule->pattern, module))
            continue;
        if (strcmp(rule->precision, "float") == 0)
            keep_float(n, "asked for by --precision");
        else if (strcmp(rule->precision, "int8") != 0)
            diag_error(c, DIAG_USAGE, &n->loc, "precision %s for '%s' cannot be given",
                       rule->precision, rule->pattern);
    }
}

void pass_precision(C *c, Graph *g, const Options *o) {
    if (o->accuracy_budget_db > 0)
        diag_error(c, DIAG_USAGE, NULL,
                   "--accuracy-budget cannot be given: there are no int16 kernels for weights");
    for (Node *n = g->first; n; n = n->next) {
        apply_rules(c, n, o);
        if (o->allow_float && !has_form(n, true))
            keep_float(n, n->op->no_integer_form ? n->op->no_integer_form : "no integer form");
    }
    report_missing_forms(c, g, o, true);
}
